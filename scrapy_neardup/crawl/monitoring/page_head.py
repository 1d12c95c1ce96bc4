"""Reads what the head of a page declares: its canonical URL, and the picture that previews show."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urljoin

from lxml.html import HtmlElement

_PICTURES = frozenset("og:image og:image:url og:image:secure_url twitter:image".split())


class PageHead(NamedTuple):
    """The declarations in the head of a page.

    :ivar canonical: absolute URL; ``None`` where there is none, or there are several.
    :ivar pictures: addresses of pictures, as they are written.
    """

    canonical: str | None = None
    pictures: frozenset[str] = frozenset()


def page_head(tree: HtmlElement, url: str) -> PageHead:
    """Return what the head of a page at a URL declares."""
    canonical, pictures = set(), set()
    for link in tree.iter("link"):
        rel, href = (link.get("rel") or "").lower().split(), (link.get("href") or "").strip()
        if "canonical" in rel and href:
            try:
                canonical.add(urljoin(url, href).partition("#")[0])
            except ValueError:
                continue  # no URL
        elif "image_src" in rel and href:
            pictures.add(href)
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name in _PICTURES:
            pictures.add((meta.get("content") or "").strip())
    only = canonical.pop() if len(canonical) == 1 else None
    return PageHead(only, frozenset(pictures - {""}))
