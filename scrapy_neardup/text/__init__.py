"""Normalizes text, cuts it into tokens, and weights them."""
