"""Measures the memory, the disk space and the time that stores need for pages and claims."""
