"""The services of the contract: each handler decodes, calls one use case and encodes."""
