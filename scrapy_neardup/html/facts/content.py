"""The part of a page that is its own content, and what is stated in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, filterfalse
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
    r"breadcrumbs?|side-?bar|carousel|recent(?:ly)?-?viewed|also-(?:bought|viewed|like)|more-from|"
    r"you-may-(?:also-)?like|best-?sellers?)"
    r"(?:[-_](?:products?|items?|posts?|pages?|articles?|offers?|lists?|areas?|box|content|wrapper|"
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
    """The part of a page from its heading to the end of its main text, and what is around it.

    :param heading: ``None`` if the page has none; the whole body is its content then.
    :param last: last line of the main text.
    :ivar root: smallest element that has all of it.
    :ivar around: the ``main`` element that has the text, else the body. A table or a price may
        stand in a column of its own.
    :ivar whole: the larger one of the two.
    :ivar text: text of that, nothing between its elements; tells what to look for.
    """

    def __init__(self, body: HtmlElement, heading: HtmlElement | None, last: Line) -> None:
        self.root = body if heading is None else _around(heading, last.around)
        own = last.around if heading is None else self.root
        self.around = next(filter(_is_main, chain([own], own.iterancestors())), body)
        self.whole = body if heading is None else self.around
        self.text = cast("str", _TEXT(self.whole))
        self._places = {element: place for place, element in enumerate(self.whole.iter())}
        self._start = self._places[self.root if heading is None else heading]
        self._in_root, self._in_around = map(self._places_in, (self.root, self.around))
        end = self._places[last.before]
        # A heading may stand behind the text, or be its last line.
        is_behind = end < self._start or last.around is heading
        self._end = self._in_root.stop - 1 if is_behind else end

    def is_before_end(self, element: HtmlElement) -> bool:
        """Is an element between the heading and the end of the text?"""
        return self._start < self._places[element] <= self._end

    def is_behind_heading(self, element: HtmlElement) -> bool:
        """Is an element of the root behind the heading? Rows may stand below the text."""
        return self._start < self._places[element] < self._in_root.stop

    def is_above_heading(self, element: HtmlElement) -> bool:
        """Is an element before the heading?"""
        return self._places[element] < self._start

    def is_own(self, element: HtmlElement) -> bool:
        """Is an element around the content, and in no part that is about other pages?"""
        is_around = self._places[element] in self._in_around
        return is_around and not is_beside(element, self.root, self.around)

    def lines(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements between the heading and the end of the text."""
        return filter(self.is_before_end, self.root.iter(*tags))

    def rows(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements of the root behind the heading."""
        return filter(self.is_behind_heading, self.root.iter(*tags))

    def rows_and_rest(self, *tags: str) -> Iterator[HtmlElement]:
        """Yield elements of the root behind the heading, and then those around it."""
        rest = filterfalse(self.is_behind_heading, self.around.iter(*tags))
        return chain(self.rows(*tags), rest)

    def _places_in(self, element: HtmlElement) -> range:
        start = self._places[element]
        return range(start, start + sum(1 for _ in element.iter()))


def _is_main(element: HtmlElement) -> bool:
    is_main: bool = element.tag == "main" or element.get("role") == "main"
    return is_main


def _around(heading: HtmlElement, line: HtmlElement) -> HtmlElement:
    """Return the smallest element that has both."""
    around = {*heading.iterancestors()}
    return next(each for each in chain([line], line.iterancestors()) if each in around)


def is_beside(element: HtmlElement, *contents: HtmlElement) -> bool:
    """Is an element of the content in a part of it that is about other pages?

    :param contents: elements that have content of their own; the innermost one counts.
    """
    for each in chain([element], element.iterancestors()):
        if each in contents:
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
