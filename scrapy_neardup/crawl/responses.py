"""Reads responses and items: what is judged of them, and what a page says of its own URL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin

from itemadapter.adapter import ItemAdapter
from lxml import etree
from lxml.html import HtmlElement
from scrapy.http import HtmlResponse, Response, TextResponse

from ..html.encoding_detection import decode
from ..html.limits import PageLimits
from ..html.page_outline import PageOutline, page_outline
from ..html.parsing import parsed
from ..html.sanitizing import repaired
from ..reasons import Reason
from ..sources.record import Record

#: How much of a page is searched for links.
_HEAD_BYTES = 65536
_MAX_ALTERNATES = 100

_HEAD_END = re.compile(rb"</head|<body", re.IGNORECASE)
_TAGS = b"<base", b"<link"
_LINK_TAG = re.compile(rb"<(?:base|link)\b(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*>")
_TELLING = re.compile(rb"canonical|hreflang")
#: What begins and what ends a part of a head whose tags are none.
_HIDING = (
    (b"<!--", b"-->"),
    (b"<script", b"</script"),
    (b"<style", b"</style"),
    (b"<title", b"</title"),
)
# A link value (RFC 8288, section 3): <URI>, then parameters, quoted or not.
_TARGET = re.compile(r"[\s,]*<([^>]*)>")
_PARAMETER = re.compile(
    r"""\s*;\s*([^\s=;,"<>]+)\*?\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?"""
)
_QUOTED_PAIR = re.compile(r"\\(.)")


def why_not_judged(response: Response) -> str | None:
    """Return the reason why a response is not judged; ``None`` for a page of HTML or plain text."""
    if not 200 <= response.status < 300:
        return "status"
    if isinstance(response, HtmlResponse):
        return None
    media_type = _content_type(response).partition(";")[0].strip().lower()
    plain = type(response) is TextResponse and media_type in ("", "text/plain")
    return None if plain else Reason.NOT_TEXT


def page_record(response: Response, *, is_lazy: bool = False) -> Record:
    """Return the bytes of a page, and what Scrapy was told about their encoding.

    The reader of the record decodes them: that can take long, and a label can be wrong.

    :param is_lazy: whether pages of HTML are first read quickly.
    """
    is_html = isinstance(response, HtmlResponse)
    return Record(
        id=response.url,
        url=response.url,
        content=response.body,
        kind="html" if is_html else "text",
        content_type=_content_type(response),
        # The encoding that the response was created with, such as by a renderer that encoded its
        # text anew. It has no public name, and ``response.encoding`` would guess and decode.
        encoding=getattr(response, "_encoding", None),
        quick=is_lazy and is_html,
    )


def item_record(url: str, item: Any, field: str) -> Record:
    """Return the text in a field of an item; empty where there is none."""
    value = ItemAdapter(item).get(field)
    if isinstance(value, (list, tuple)):
        value = " ".join(map(str, value))
    return Record(url, url, value if isinstance(value, str) else "", "fragment")


def outline_of(record: Record, limits: PageLimits) -> PageOutline | None:
    """Return the outline of a page; ``None`` if it exceeds a limit. Takes a while: use a thread."""
    try:
        content = _decoded(record, limits)
        if record.kind != "html":
            return PageOutline.of_text(content)
        return page_outline(content, limits)
    except Exception:
        # The judge says what is wrong with it.
        return None


def tree_of(record: Record, limits: PageLimits) -> HtmlElement | None:
    """Return the tree of a page; ``None`` if it is no HTML or exceeds a limit."""
    try:
        is_html = record.kind == "html"
        return parsed(repaired(_decoded(record, limits)), limits) if is_html else None
    except Exception:
        # The judge says what is wrong with it.
        return None


def _decoded(record: Record, limits: PageLimits) -> str:
    limits.check_body(record.content)
    if isinstance(record.content, str):
        return record.content
    return decode(record.content, record.content_type, record.encoding)


def _content_type(response: Response) -> str:
    return (response.headers.get("Content-Type") or b"").decode("latin-1")


class PageLinks(NamedTuple):
    """Absolute URLs.

    :ivar canonical: the canonical URL; ``None`` where a page names none, or several.
    :ivar alternates: the page in other languages, or for other regions.
    """

    canonical: str | None = None
    alternates: tuple[str, ...] = ()


class Link(NamedTuple):
    """A link element, or a link of a header.

    :ivar rel: relation types, in lower case.
    """

    target: str
    rel: list[str]
    has_language: bool


def page_links(response: Response) -> PageLinks:
    """Return what the head of a page and its ``Link`` headers say of its URL."""
    canonical: dict[str, None] = {}
    alternates: dict[str, None] = {}
    for link in _links(response):
        is_canonical = "canonical" in link.rel
        # Most links are of style sheets and icons.
        if not is_canonical and not ("alternate" in link.rel and link.has_language):
            continue
        try:
            url = urljoin(response.url, link.target).partition("#")[0]
        except ValueError:
            continue
        if is_canonical:
            canonical[url] = None
        elif len(alternates) < _MAX_ALTERNATES:
            alternates[url] = None
    only = next(iter(canonical)) if len(canonical) == 1 else None
    return PageLinks(only, tuple(alternates))


def header_links(value: str) -> Iterator[Link]:
    """Yield the links of a ``Link`` header (RFC 8288, section 3 and appendix B.2).

    Stops at the first malformed one.
    """
    at = 0
    while target := _TARGET.match(value, at):
        at = target.end()
        parameters: dict[str, str] = {}
        while parameter := _PARAMETER.match(value, at):
            at = parameter.end()
            quoted, plain = parameter.group(2), parameter.group(3)
            text = _QUOTED_PAIR.sub(r"\1", quoted) if quoted is not None else plain or ""
            # The first of each name counts.
            parameters.setdefault(parameter.group(1).rstrip("*").lower(), text)
        # With an anchor, the link is one of another page.
        if "anchor" not in parameters:
            rel = parameters.get("rel", "").lower().split()
            yield Link(target.group(1).strip(), rel, "hreflang" in parameters)


def _links(response: Response) -> Iterator[Link]:
    for header in response.headers.getlist("Link"):
        if header is not None:
            yield from header_links(header.decode("latin-1"))
    if isinstance(response, HtmlResponse):
        yield from _head_links(response.body[:_HEAD_BYTES])


def _head_links(html: bytes) -> Iterator[Link]:
    """Yield the links of a page's head that may tell of its URL, and maybe others.

    :param html: the first bytes of the page: the parser's time grows with their number.
    """
    end = _HEAD_END.search(html)
    head = html[: end.start()] if end else html
    lower = head.lower()
    if not _TELLING.search(lower):
        return
    tags = _telling_tags(head, lower)
    text = (head if tags is None else tags).decode("utf-8", "replace").replace("\0", "")
    root = etree.fromstring(text.encode(), etree.HTMLParser(encoding="utf-8"))
    base = ""
    for element in root.iter("base", "link") if root is not None else ():
        target = element.get("href", "").strip()
        if not target:
            continue
        if element.tag == "base":
            base = base or target
        else:
            url = urljoin(base, target) if base else target
            rel = element.get("rel", "").lower().split()
            yield Link(url, rel, "hreflang" in element.attrib)


def _telling_tags(head: bytes, lower: bytes) -> bytes | None:
    """Return the tags of a head that may tell of the page's URL, which are parsed much faster.

    ``None`` where only a parser can say whether all of them are tags.
    """
    found = list(_LINK_TAG.finditer(lower))
    if len(found) != sum(map(lower.count, _TAGS)):
        return None
    tags = [tag for tag in found if _TELLING.search(tag[0]) or tag[0].startswith(b"<base")]
    at = 0
    for tag in tags:
        for opening, closing in _HIDING:
            if lower.rfind(opening, at, tag.start()) > lower.rfind(closing, at, tag.start()):
                return None
        at = tag.end()
    return b"".join(head[slice(*tag.span())] for tag in tags)
