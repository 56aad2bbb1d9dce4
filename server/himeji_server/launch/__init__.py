"""Starts and supervises the processes of an arena: servers, the embedded Redis, house bots."""
