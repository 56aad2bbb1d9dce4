"""Plays pairs of games that differ in nothing but their chance keys, and compares what shows.

Two arenas, the worlds, run in processes of their own. In both of them the same bots play the same
games by the same actions, and chance gives the same results up to a stated decision, the cut; what
it would give after that differs. Everything that the two arenas say up to the cut has to be equal,
byte by byte: messages, pages, pictures, metrics. If anything depends on the key, or on what chance
will give, it differs.
"""
