"""Duel: the stand-alone game for two."""
