"""Benchmarks: figures to compare, never assertions. `make bench` runs them."""
