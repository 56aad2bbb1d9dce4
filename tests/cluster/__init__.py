"""A real Redis Cluster on loopback, and arenas on it."""
