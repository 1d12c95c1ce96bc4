"""Decodes HTML and extracts its main text, within limits."""
