"""Puts numbers into words, for messages."""

from __future__ import annotations


def quantity(number: int, noun: str) -> str:
    """Return a number with its noun, such as ``"3 pages"``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
