"""Simhash fingerprints, MinHash sketches, and the indexes that search them."""
