"""Benchmarks of quality, speed, stores, crawls and URL rules, and of the design decisions."""
