"""A whole ladder end to end: many bots, several processes, and kills all the time."""
