"""Games as the arena plays them: use cases without transport, on top of rules and store."""
