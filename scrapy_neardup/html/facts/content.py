"""The part of a page that is its own content, and what is stated in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

from ..page_lines import BESIDE, Line, short_text

#: Of each kind of facts, so many are looked at.
MAX_FACTS = 200
#: An element with more descendants is no line.
MAX_DESCENDANTS = 8
MAX_LABEL, MAX_STATED = 40, 120
#: Characters of classes, and of an id, that are looked at.
_MAX_NAMES = 200
#: Numbers that are no part of a name such as AB-12.
_NUMBER = re.compile(r"(?<![A-Za-zА-я_\d])(?<![A-Za-zА-я]-)\d[\d.,:/-]*")
_TEXT = etree.XPath("string()", smart_strings=False)
#: Words of classes and ids of what a page shows beside its own content.
_BESIDE_NAME = re.compile(
    r"(?!no[-_]|has[-_]|with)(?:[\w-]*[-_])?"
    r"(?:related|recommend(?:ed|ations?)?|similar|up-?sells?|cross-?sells?|comments?|respond|"
    r"breadcrumbs?|side-?bar|carousel)"
    r"(?:[-_](?:products?|items?|posts?|pages?|articles?|lists?|areas?|box|content|wrapper|"
    r"container|block|section|module))?",
    re.IGNORECASE,
)


#: Label of the fact that is a page's heading.
HEADING = "heading"


class Fact(NamedTuple):
    """Something that a page states.

    :ivar label: of what; empty for a price and for a line above the text.
    :ivar stated: the rest, numbers masked unless it is a price, a property or a field's value.
    :ivar is_field: whether pages differ only if both have the label, and each another value. Else
        they differ also if only one of them states it.
    """

    label: str
    stated: str
    is_field: bool = False


class Stated(NamedTuple):
    """A fact, and where and how it is stated.

    :ivar has_place: does it matter where it stands? The main text does not tell then.
    """

    element: HtmlElement
    label: str
    text: str
    fact: Fact
    has_place: bool = False


class Content:
    """The part of a page from its heading to the end of its main text, and what is below it.

    :param heading: ``None`` if the page has none; the whole body is its content then.
    :param last: last line of the main text.
    :ivar root: smallest element that has all of it.
    :ivar text: text of the root, nothing between its elements; tells what to look for.
    """

    def __init__(self, body: HtmlElement, heading: HtmlElement | None, last: Line) -> None:
        self.root = body if heading is None else _around(heading, last.around)
        self.text = cast("str", _TEXT(self.root))
        self._places = {element: place for place, element in enumerate(self.root.iter())}
        self._start = self._places[self.root if heading is None else heading]
        end = self._places[last.before]
        # A heading may stand behind the text, or be its last line.
        is_behind = end < self._start or last.around is heading
        self._end = len(self._places) if is_behind else end

    def is_before_end(self, element: HtmlElement) -> bool:
        """Is an element between the heading and the end of the text?"""
        return self._start < self._places.get(element, -1) <= self._end

    def lines(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements between the heading and the end of the text."""
        return filter(self.is_before_end, self.root.iter(*tags))

    def rows(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements behind the heading; rows may stand below the text."""
        return (row for row in self.root.iter(*tags) if self._places[row] > self._start)


def _around(heading: HtmlElement, line: HtmlElement) -> HtmlElement:
    """Return the smallest element that has both."""
    around = {*heading.iterancestors()}
    return next(each for each in chain([line], line.iterancestors()) if each in around)


def is_beside(element: HtmlElement, content: HtmlElement) -> bool:
    """Is an element of the content in a part of it that is about other pages?"""
    for each in chain([element], element.iterancestors()):
        if each is content:
            return False
        if each.tag in BESIDE or any(map(_BESIDE_NAME.fullmatch, names_of(each))):
            return True
    return False


def names_of(element: HtmlElement) -> list[str]:
    """Return the names of an element's classes and its id, as far as they are not too long."""
    names = f"{element.get('class', '')[:_MAX_NAMES]} {element.get('id', '')[:_MAX_NAMES]}"
    return names.split()


def line_text(element: HtmlElement) -> str | None:
    """Return the text of an element in one line; ``None`` if it has too much in it for a fact."""
    return short_text(element, MAX_DESCENDANTS, MAX_LABEL + MAX_STATED)


def without_numbers(text: str, mark: str = " ") -> str:
    """Return a line with a mark in place of its numbers."""
    return " ".join(_NUMBER.sub(mark, text).split())
