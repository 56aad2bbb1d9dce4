"""Load tests: a mixed load with Locust, and the capacity of a machine (docs/load.md)."""
