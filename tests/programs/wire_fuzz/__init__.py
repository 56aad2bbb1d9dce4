"""Sends mutated messages to every RPC of an arena, and checks how each of them is answered.

A message is made field by field from its descriptor: names and ids that exist, values at the edges
of their types, texts that nobody expects, unknown enum values. One in eight has its bytes mutated
on top of that.
"""
