"""Owners, bots and tokens: who calls, and what they may do."""
