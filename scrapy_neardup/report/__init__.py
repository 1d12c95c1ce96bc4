"""Writes the offline HTML report."""
