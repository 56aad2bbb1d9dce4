"""The suite as on a fresh machine: a new clone, hardly any environment, perhaps a new user."""
