"""Finds the documents, players and contacts of a page's own content.

The minutes of two meetings may have one text, and differ in the document that it links to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from lxml.html import HtmlElement

from ..links.addresses import leads_to_file, leads_to_page, path_of, said_by, unprotected
from ..links.file_names import name_of_file
from .content import HEADINGS, MAX_FACTS, Content, Stated
from .lines_beside import is_for_visitors, line_beside
from .names import names_of
from .pictures import source_of

_LINKS, _FRAMES = ("a", "area"), ("iframe", "embed", "object")
_MEDIA = ("video", "audio", "source")
#: Frames of what a page is about, as far as their addresses tell, and of what it is not.
_PLAYER = re.compile(
    r"(?:^|[/_.-])(?:embed\w*|players?|videos?|audio|listen|watch|podcasts?|episodes?|tracks?|"
    r"viewers?|gview|show|models?|maps?|datawrapper)(?:[/_.?-]|$)|"
    r"[?&]embed(?:ded)?=|\.(?:pdf|mp[34]|swf)(?:[?#&]|$)",
    re.IGNORECASE,
)
_NO_PLAYER = re.compile(
    r"(?<![a-z])(?:ads?|adserv\w*|advert\w*|banners?|doubleclick|(?:google)?syndication|"
    r"sponsor\w*|(?:re-?)?captcha|consent|cookies?|comments?|like|likebox|share|follow|button|"
    r"tweet_button|newsletter|subscribe|login|chat|tagmanager|ns\.html|weather|"
    r"fan|page\.php)(?![a-z])",
    re.IGNORECASE,
)
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?|heic)$", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:-\d{3,4}p)?\.[a-z][a-z\d]{2,4}$", re.IGNORECASE)
#: Cloudflare's address of a protected address of mail.
_PROTECTED = re.compile(r".*/cdn-cgi/l/email-protection#")
#: How many elements around a file, and in each of them, are looked at.
_MAX_AROUND, _MAX_WITHIN = 4, 50
_MAX_ADDRESS = 2000


def files(content: Content) -> Iterator[Stated]:
    """Yield the documents, players and contacts in the content and around it."""
    is_card = cache(_is_card)
    elements = content.rows_and_rest(*_LINKS, *_FRAMES, *_MEDIA)
    found = ((each, *named) for each in elements if (named := _named(each)))
    for element, kind, name in islice(found, MAX_FACTS):
        if content.is_beside(element) or is_for_visitors(content, element):
            continue
        is_within = content.is_behind_heading(element) and content.is_before_end(element)
        around = (each for each in element.iterancestors() if not content.is_around(each))
        if is_within or not any(map(is_card, islice(around, _MAX_AROUND))):
            yield line_beside(element, kind, name)


def _named(element: HtmlElement) -> tuple[str, str] | None:
    """Return the kind of a document, a player or a contact, and its name."""
    if element.tag in _LINKS:
        kind, name = _behind(element)
    elif element.tag in _FRAMES:
        kind, name = "player", _in_frame(element)
    else:
        around = element.getparent()
        kind = str(around.tag if element.tag == "source" and around is not None else element.tag)
        name = _name(source_of(element)) if kind in _MEDIA else ""
    return (kind, name) if name else None


def _behind(link: HtmlElement) -> tuple[str, str]:
    """Return what a link leads to that is no page: a document or a contact."""
    href = link.get("href") or ""
    if protected := _PROTECTED.match(href):
        href = f"mailto:{unprotected(href[protected.end() :])}"
    if said := said_by(href):
        kind, _, name = said.partition(":")
        return kind, name
    is_document = leads_to_file(link) and not _PICTURE.search(path_of(href))
    return "document", _name(href) if is_document else ""


def _in_frame(element: HtmlElement) -> str:
    address = (source_of(element) or element.get("data") or "")[:_MAX_ADDRESS]
    names = " ".join([address, *names_of(element)])
    is_player = _PLAYER.search(address) and not _NO_PLAYER.search(names)
    return _name(address) if is_player else ""


def _name(address: str) -> str:
    is_within = address[:5].lower() in ("data:", "blob:", "about")
    return "" if is_within else name_of_file(address, _without_suffix)


def _without_suffix(name: str) -> str:
    return _SUFFIX.sub("", name)


def _is_card(box: HtmlElement) -> bool:
    """Return whether a box is a card that leads to another page.

    It has a link to a page, and so has its heading, or a box of its class beside it.
    """
    if not _leads_on(box):
        return False
    if any(each.tag in HEADINGS and _leads_on(each) for each in box):
        return True
    alike = (each for each in (box.getprevious(), box.getnext()) if _is_alike(each, box))
    return any(map(_leads_on, alike))


def _is_alike(element: HtmlElement | None, other: HtmlElement) -> bool:
    if element is None:
        return False
    return (element.tag, element.get("class")) == (other.tag, other.get("class"))


def _leads_on(element: HtmlElement) -> bool:
    within = islice(element.iter(), _MAX_WITHIN)
    return any(each.tag == "a" and leads_to_page(each) for each in within)
