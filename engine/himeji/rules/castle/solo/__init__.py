"""Solitaire: the base game for one seat against the rival clan."""
