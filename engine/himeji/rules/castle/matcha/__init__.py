"""Matcha: the expansion of the base game, for several seats and as a solitaire."""
