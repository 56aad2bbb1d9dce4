"""The ladder: queues and pairing, ratings and standings, tournaments, administration."""
