"""Helpers that several sub-commands share."""
