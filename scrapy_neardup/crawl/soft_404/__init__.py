"""Finds soft 404s: answers with status 200 to addresses that do not exist."""
