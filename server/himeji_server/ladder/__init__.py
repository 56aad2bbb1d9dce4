"""The ladder: who meets whom, what a result says about strength, and the tables that follow."""
