"""The castle family: the base game, and what is made from it by adding words and steps."""
