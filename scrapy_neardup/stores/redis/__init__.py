"""Stores signatures in Redis, for any number of processes."""
