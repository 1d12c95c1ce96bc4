"""Finds the pictures of a page's own content: two ads of one text may show two lamps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml.html import HtmlElement

from .content import MAX_FACTS, Content, Fact, Stated, names_of

#: Label of the facts that are pictures.
PICTURE = "picture"
#: Where the address of a picture stands that is loaded late.
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
#: What is the same on many pages, changes with the visit, or is a stand-in.
_NO_PICTURE = re.compile(
    r"(?<![a-z])(?:avatar|emoji|icon|logo|sprite|badge|button|banner|captcha|placeholder|blank|"
    r"spacer|lazy|loading|loader|pixel|transparent|default|no[-_]?image|gravatar|smil(?:ey|ie)|qr|"
    r"advert|sponsor)s?(?![a-z])",
    re.IGNORECASE,
)
_QUERY = re.compile(r"[?#].*")
#: Suffixes, and sizes of one picture: "lamp-300x200.jpg.webp", "lamp@2x.png".
_SIZE = re.compile(
    r"(?:[-_@.]?\d{2,4}x\d{0,4}|[-_]\d{2,4}[wh]|@\dx|[-_](?:scaled|thumb\w*|small|large))*$", re.I
)
_SUFFIX = re.compile(r"\.[a-z]{3,5}$", re.IGNORECASE)
#: Pixels of the smaller side of what is no picture of its own.
_MAX_ICON = 64
_MIN_NAME = 3


def pictures(content: Content) -> Iterator[Stated]:
    """Yield the pictures between the heading of a page and the end of its text."""
    for element in islice(content.lines("img"), MAX_FACTS):
        name = "" if _is_small(element) or _is_stand_in(element) else picture_name(_source(element))
        if name:
            fact = Fact(PICTURE, name, is_field=True, is_around=True, is_line=True)
            yield Stated(element, "", name, fact, has_place=True)


def picture_name(address: str) -> str:
    """Return the name of a picture, whatever its size and format; empty if it has none."""
    if address[:5].lower() == "data:":
        return ""
    name = _QUERY.sub("", address).rpartition("/")[2]
    for _ in range(2):
        name = _SUFFIX.sub("", name)
    name = _SIZE.sub("", name)
    is_told = len(name) >= _MIN_NAME and not _NO_PICTURE.search(name)
    return name if is_told else ""


def _source(element: HtmlElement) -> str:
    return next(filter(None, map(element.get, _SOURCES)), "")


def _is_stand_in(element: HtmlElement) -> bool:
    return _NO_PICTURE.search(" ".join(names_of(element))) is not None


def _is_small(element: HtmlElement) -> bool:
    sides = (element.get("width", ""), element.get("height", ""))
    return any(side.isdecimal() and int(side) <= _MAX_ICON for side in sides)
