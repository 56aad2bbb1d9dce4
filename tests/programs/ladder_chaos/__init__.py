"""Plays a whole ladder with many bots while its server processes are killed, and checks it."""
