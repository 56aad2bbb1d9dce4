"""How fast ratings find the truth: bots of known strength, the real matchmaking, three ratings."""
