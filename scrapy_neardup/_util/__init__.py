"""Helpers for arrays, option values, terminal output, counting and URLs."""
