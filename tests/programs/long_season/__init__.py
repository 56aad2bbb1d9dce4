"""A season of many synthetic results, and what voiding and recomputing costs everybody else."""
