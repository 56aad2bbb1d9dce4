"""Measures how fast ratings converge: bots of known strength, real pairing, simulated time."""
