"""Load for an arena: mixed behaviour with Locust, and what a machine holds (docs/load.md)."""
