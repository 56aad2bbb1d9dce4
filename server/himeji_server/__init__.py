"""The arena: a gRPC server that keeps games in Redis and enforces the rules."""
