"""Replays: written after a local game, read, stepped through and verified."""
