"""Filters requests that are expected to yield nothing new."""
