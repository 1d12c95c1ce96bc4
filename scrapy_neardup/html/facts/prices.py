"""Finds the prices of a page's content; a price may be spread over several elements."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, filterfalse, islice
from typing import Any, cast

from lxml import etree
from lxml.html import HtmlElement

from ...text.signs.currencies import price_places, prices_in, without_direction
from .content import HEADINGS, MAX_FACTS, MAX_STATED, Content, Fact, Stated, line_text

_TEXTS = etree.XPath("descendant::text()", smart_strings=False)
#: The same that know their elements.
_PLACED_TEXTS = etree.XPath("descendant::text()", smart_strings=True)
#: A price may have its sign, its digits and its cents in elements of their own.
_MAX_LEVELS, _MAX_ANCESTORS = 2, 6
#: So many prices around the content are looked at.
_MAX_AROUND = 10


def prices(content: Content) -> Iterator[Stated]:
    """Yield the prices that are not within links; their parts may be in several elements.

    If the content has none, the next one around it counts, as a field.
    """
    elements = [*_elements_of_prices(content)]
    own = [*islice(filter(content.is_before_end, elements), MAX_FACTS)]
    for element in own:
        for price in _prices_at(element):
            yield Stated(element, "", price, Fact("", price))
    nearest = None if own else _nearest(content, elements)
    if nearest is not None:
        for price in _prices_at(nearest)[:1]:
            fact = Fact("price", price, is_field=True, is_around=True)
            yield Stated(nearest, "", price, fact)


def _prices_at(element: HtmlElement) -> list[str]:
    """Return the prices of which an element has a part."""
    around = chain([element], islice(element.iterancestors(), _MAX_LEVELS))
    found = (prices_in(line_text(each) or "") for each in around)
    return [price.replace(" ", "") for price in next(filter(None, found), [])]


def _nearest(content: Content, elements: Sequence[HtmlElement]) -> HtmlElement | None:
    """Return the first element that is not above the heading, or else the last one that is."""
    below = filterfalse(content.is_above, elements)
    above = filter(content.is_above, reversed(elements))
    for part in (below, above):
        for element in islice(part, _MAX_AROUND):
            if content.is_of_surroundings(element, _heading_of_price(element)):
                return element
    return None


def _heading_of_price(element: HtmlElement) -> HtmlElement | None:
    """Return the heading that has nothing but the prices of an element: ``<h3>£250,000</h3>``."""
    around = chain([element], islice(element.iterancestors(), _MAX_LEVELS))
    heading = next((each for each in around if each.tag in HEADINGS), None)
    text = "" if heading is None else line_text(heading) or ""
    if not (places := [range(*place) for place in price_places(text)]):
        return None
    letters = (place for place, sign in enumerate(text) if sign.isalpha())
    is_alone = all(any(letter in place for place in places) for letter in letters)
    return heading if is_alone else None


def _elements_of_prices(content: Content) -> Iterator[HtmlElement]:
    """Yield the elements of all texts that a price is or begins in, or extends to."""
    if not any(map(str.isdigit, content.text)):
        return
    texts = [text for text in cast("list[str]", _TEXTS(content.whole)) if not text.isspace()]
    # What is too long keeps those around it apart.
    pieces = [" ".join(text.split()) if len(text) <= MAX_STATED else "\n" for text in texts]
    joined = " ".join(pieces)
    if without_direction(joined) != joined:
        pieces = [*map(without_direction, pieces)]
        joined = " ".join(pieces)
    if not (prices := price_places(joined)):
        return
    placed = [
        text for text in cast("list[Any]", _PLACED_TEXTS(content.whole)) if not text.isspace()
    ]
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
