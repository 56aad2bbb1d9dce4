"""Benchmarks of the engine and the server: figures to compare, never assertions."""
