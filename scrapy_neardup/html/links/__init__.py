"""Reads the addresses in a page, and tells what they lead to."""
