"""Removes the address of a page from what it shows."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

#: Stands for a value of the request, or for the page's address.
MASK = "\0"


def without_address(text: str, url: str) -> str:
    """Return a text, quoted as in a URL or not, with a mask for the address of a page."""
    return address_of(url).sub(MASK, unquote(text))


def address_of(url: str) -> re.Pattern[str]:
    """Return a pattern for the address of a page, its path or its host.

    A match has a group if it has the path.
    """
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    paths = {path, unquote(path), parts.path, unquote(parts.path)} - {"", "/"}
    host, any_path = re.escape(parts.netloc), "|".join(map(re.escape, sorted(paths)[::-1]))
    if not paths:
        return re.compile(rf"(?:https?://)?{host}/?")
    with_host = rf"(?:https?://)?{host}(?:({any_path})|/)?"
    return re.compile(rf"{with_host}|(?<![\w/])({any_path})(?![\w/])")
