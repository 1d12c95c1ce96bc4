"""Helpers for arrays, option values, terminal output and URLs."""
