"""Decides whether two pages have the same content."""
