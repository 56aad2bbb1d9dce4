"""Attacks on an arena, one after the other, while honest clients use it; see docs/operations.md."""
