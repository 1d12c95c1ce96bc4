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
    """Return a pattern for the address of a page, with its host or without."""
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    paths = {path, unquote(path), parts.path, unquote(parts.path)} - {"", "/"}
    host, any_path = re.escape(parts.netloc), "|".join(map(re.escape, sorted(paths)[::-1]))
    with_host = rf"(?:https?://)?{host}(?:{any_path or '/'}|/)?"
    return re.compile(rf"{with_host}|(?<![\w/])(?:{any_path})(?![\w/])" if paths else with_host)
