"""The code of the contract: made from proto/ by proto/generate.py, never edited."""
