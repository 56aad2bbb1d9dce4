"""How positions of Duel are drawn."""
