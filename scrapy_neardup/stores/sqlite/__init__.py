"""Stores signatures in a SQLite file."""
