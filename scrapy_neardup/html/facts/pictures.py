"""Finds the pictures of a page's own content: two ads of one text may show two lamps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml.html import HtmlElement

from ..links.file_names import name_of_file
from .content import MAX_FACTS, Content, Fact, Stated
from .names import names_of

#: Label of the facts that are pictures.
PICTURE = "picture"
#: Where the address of a picture stands that is loaded late.
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
#: What is the same on many pages, changes with the visit, or is a stand-in.
_NO_PICTURE = re.compile(
    r"(?<![a-z])(?:avatar|emoji|icon|logo|sprite|badge|button|banner|captcha|placeholder|blank|"
    r"spacer|lazy|loading|loader|pixel|transparent|default|no[-_]?image|gravatar|smil(?:ey|ie)|qr|"
    r"advert|sponsor|1x1)s?(?![a-z])",
    re.IGNORECASE,
)
#: Suffixes, and sizes of one picture: "lamp-300x200.jpg.webp", "lamp@2x.png", "220px-lamp.jpg".
_WIDTH = re.compile(r"^\d{2,4}px-")
_SIZE = re.compile(
    r"(?:(?:[-_@.]|(?<!\d))\d{2,4}x\d{0,4}|[-_]\d{2,4}[wh]|@\dx|"
    r"[-_](?:scaled|thumb[^\W_]*|small|large))*$",
    re.I,
)
_SUFFIX = re.compile(r"\.[a-z]{3,5}$", re.IGNORECASE)
#: Pixels of the smaller side of what is no picture of its own.
_MAX_ICON = 64
_MIN_NAME = 3


def pictures(content: Content) -> Iterator[Stated]:
    """Yield the pictures between the heading of a page and the end of its text."""
    for element in islice(content.lines("img"), MAX_FACTS):
        name = (
            "" if _is_small(element) or _is_stand_in(element) else picture_name(source_of(element))
        )
        if name:
            fact = Fact(PICTURE, name, is_field=True, is_around=True, is_line=True)
            yield Stated(element, "", name, fact, has_place=True)


def picture_name(address: str) -> str:
    """Return the name of a picture, whatever its size and format; empty if it has none."""
    name = "" if address[:5].lower() == "data:" else name_of_file(address, _without_size)
    # "x.gif" is a stand-in in any folder, but a number in one of an ad's.
    is_short = len(name if any(map(str.isdecimal, name)) else name.rpartition("/")[2]) < _MIN_NAME
    return "" if is_short or _NO_PICTURE.search(name) else name


def _without_size(name: str) -> str:
    for _ in range(2):
        name = _SUFFIX.sub("", name)
    return _SIZE.sub("", _WIDTH.sub("", name))


def source_of(element: HtmlElement) -> str:
    """Return the address of what an element shows, be it loaded late or not."""
    return next(filter(None, map(element.get, _SOURCES)), "")


def _is_stand_in(element: HtmlElement) -> bool:
    return _NO_PICTURE.search(" ".join(names_of(element))) is not None


def _is_small(element: HtmlElement) -> bool:
    sides = (element.get("width", ""), element.get("height", ""))
    return any(side.isdecimal() and int(side) <= _MAX_ICON for side in sides)
