"""What a page says of its own address: the canonical one, and those of its other languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from urllib.parse import urljoin

from scrapy.http import HtmlResponse, Response

#: How much of a page is looked through.
_HEAD_BYTES = 65536
#: Languages of one page that are taken note of.
_MAX_ALTERNATES = 100

_HEAD_END = re.compile(rb"</head|<body", re.I)
_LINK = re.compile(rb"<(?:link|base)\b[^<>]{1,4000}>", re.I)
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]{1,30})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
# A link value (RFC 8288, section 3): <URI>, then parameters, quoted or not.
_TARGET = re.compile(r"[\s,]*<([^>]*)>")
_PARAMETER = re.compile(
    r"""\s*;\s*([^\s=;,"<>]+)\*?\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?"""
)
_QUOTED_PAIR = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Absolute URLs.

    :ivar canonical: what the page names as its address; ``None`` where it names none, or several.
    :ivar alternates: the page in other languages, or for other regions.
    """

    canonical: str | None = None
    alternates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page, or of a header, with what is said of it in lower case.

    :ivar rel: relation types.
    """

    target: str
    rel: frozenset[str]
    has_language: bool


def page_links(response: Response) -> PageLinks:
    """Read the head of a page, and its ``Link`` headers."""
    canonical: dict[str, None] = {}
    alternates: dict[str, None] = {}
    for link in _links(response):
        try:
            url = urljoin(response.url, link.target).partition("#")[0]
        except ValueError:
            continue
        if "canonical" in link.rel:
            canonical[url] = None
        elif "alternate" in link.rel and link.has_language and len(alternates) < _MAX_ALTERNATES:
            alternates[url] = None
    only = next(iter(canonical)) if len(canonical) == 1 else None
    return PageLinks(only, tuple(alternates))


def header_links(value: str) -> Iterator[Link]:
    """The links of a ``Link`` header (RFC 8288, section 3 and appendix B.2).

    What cannot be read ends the reading.
    """
    at = 0
    while target := _TARGET.match(value, at):
        at = target.end()
        parameters: dict[str, str] = {}
        while parameter := _PARAMETER.match(value, at):
            at = parameter.end()
            quoted, plain = parameter.group(2), parameter.group(3)
            text = _QUOTED_PAIR.sub(r"\1", quoted) if quoted is not None else plain or ""
            # Of each, the first one counts.
            parameters.setdefault(parameter.group(1).rstrip("*").lower(), text)
        # A link with another context says nothing of this page.
        if "anchor" not in parameters:
            yield _link(target.group(1).strip(), parameters)


def _links(response: Response) -> Iterator[Link]:
    for header in response.headers.getlist("Link"):
        if header is not None:
            yield from header_links(header.decode("latin-1"))
    if isinstance(response, HtmlResponse):
        yield from _head_links(response.body[:_HEAD_BYTES])


def _head_links(html: bytes) -> Iterator[Link]:
    if (end := _HEAD_END.search(html)) is not None:
        html = html[: end.start()]
    lower = html.lower()
    if b"canonical" not in lower and b"hreflang" not in lower:
        return
    base = ""
    html = _without(_without(html, b"<!--", b"-->"), b"<script", b"</script")
    for tag in _LINK.findall(html):
        text = tag.decode("utf-8", "replace")
        found = _ATTRIBUTE.findall(text)
        attributes = {name.lower(): unescape("".join(values)) for name, *values in reversed(found)}
        target = attributes.get("href", "").strip()
        if not target:
            continue
        if text[1:5].lower() == "base":
            base = base or target
        else:
            yield _link(urljoin(base, target) if base else target, attributes)


def _without(html: bytes, start: bytes, end: bytes) -> bytes:
    """What is not between these marks, of any case; what has no end goes to the end."""
    lower, pieces, at = html.lower(), [], 0
    while (begin := lower.find(start, at)) >= 0:
        pieces.append(html[at:begin])
        finish = lower.find(end, begin)
        if finish < 0:
            return b"".join(pieces)
        at = finish + len(end)
    return b"".join([*pieces, html[at:]])


def _link(target: str, attributes: dict[str, str]) -> Link:
    rel = frozenset(attributes.get("rel", "").lower().split())
    return Link(target, rel, "hreflang" in attributes)
