"""Unary calls to an arena: the client, its handles of games and the retries around them."""
