"""Measures the requests that URL rules save on generated sites with known duplicates."""
