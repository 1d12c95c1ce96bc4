"""Measures the distributed search for near-duplicates on made-up signed pages."""
