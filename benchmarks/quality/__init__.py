"""Measures how well this and other packages find near-duplicates."""
