"""Finds the prices of a page's content; a price may be spread over several elements."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain, islice
from typing import Any, cast

from lxml import etree
from lxml.html import HtmlElement

from ...text.signs.currencies import price_places, prices_in, without_direction
from .content import MAX_FACTS, MAX_STATED, Content, Fact, Stated, line_text

_TEXTS = etree.XPath("descendant::text()", smart_strings=False)
#: The same that know their elements.
_PLACED_TEXTS = etree.XPath("descendant::text()", smart_strings=True)
#: A price may have its sign, its digits and its cents in elements of their own.
_MAX_LEVELS, _MAX_ANCESTORS = 2, 6


def prices(content: Content) -> Iterator[Stated]:
    """Yield the prices that are not within links; their parts may be in several elements."""
    own = (each for each in _elements_of_prices(content) if content.is_before_end(each))
    for element in islice(own, MAX_FACTS):
        around = chain([element], islice(element.iterancestors(), _MAX_LEVELS))
        found = (prices_in(line_text(each) or "") for each in around)
        for price in next(filter(None, found), []):
            yield Stated(element, "", price, Fact("", price.replace(" ", "")))


def _elements_of_prices(content: Content) -> Iterator[HtmlElement]:
    """Yield the elements of all texts that a price is or begins in, or extends to."""
    if not any(map(str.isdigit, content.text)):
        return
    texts = [text for text in cast("list[str]", _TEXTS(content.root)) if not text.isspace()]
    # What is too long keeps those around it apart.
    pieces = [" ".join(text.split()) if len(text) <= MAX_STATED else "\n" for text in texts]
    joined = " ".join(pieces)
    if without_direction(joined) != joined:
        pieces = [*map(without_direction, pieces)]
        joined = " ".join(pieces)
    if not (prices := price_places(joined)):
        return
    placed = [text for text in cast("list[Any]", _PLACED_TEXTS(content.root)) if not text.isspace()]
    ends = [*accumulate(len(piece) + 1 for piece in pieces)]
    last = 0
    for begin, end in prices:
        place = max(last, bisect_right(ends, begin))
        while place < len(ends) and (place == 0 or ends[place - 1] < end):
            last = place + 1
            if (element := _element_of_price(placed[place])) is not None:
                yield element
            place += 1


def _element_of_price(text: Any) -> HtmlElement | None:
    """Return the element of a text; ``None`` in a link or a long text."""
    element: HtmlElement = text.getparent()
    if text.is_tail and (parent := element.getparent()) is not None:
        element = parent
    around = chain([element], islice(element.iterancestors(), _MAX_ANCESTORS))
    is_price = len(text) <= MAX_STATED and not any(each.tag == "a" for each in around)
    return element if is_price else None
