"""Encodes the texts of pages."""

from __future__ import annotations


def utf8(text: str | bytes) -> bytes:
    """Return a text in UTF-8, and bytes as they are; pages may have lone surrogates.

    Where many words or passages are hashed, each is encoded in place: the call takes nearly as long
    as encoding a word.
    """
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
