"""Reference bots that dial in like any other bot."""
