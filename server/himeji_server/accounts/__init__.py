"""Owners, bots and tokens: authentication, authorisation, and idempotency keys."""
