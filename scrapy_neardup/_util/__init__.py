"""Helpers for arrays, numbers, text on a terminal and URLs."""
