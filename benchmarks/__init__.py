"""Benchmarks: what the package finds, how fast it is, and what its decisions rest on."""
