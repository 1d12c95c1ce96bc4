"""Decides whether two pages have one content."""
