"""Recognises equal and nearly equal files while a files pipeline stores them."""
