"""Restarts arenas behind a load balancer one by one while bots play."""
