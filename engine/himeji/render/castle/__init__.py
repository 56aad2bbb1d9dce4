"""How positions of the castle family are drawn."""
