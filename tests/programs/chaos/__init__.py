"""Games that are played while their arenas and their Redis are killed, and what became of them."""
