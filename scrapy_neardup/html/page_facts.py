"""Collects the facts that a page states beside its main text: in tables, terms, labels and prices.

Two products may have one title and one description, and differ in the price or the colour that
stand in a box beside it. Copies of a page differ outside the text too: in counters, clocks and
recommended pages. So only facts of the page's own content count, between its heading and the end of
its text, and only their words and prices.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

from ..text.signs.currencies import price_places, prices_in, without_direction
from .fact_labels import is_byline, tells_pages_apart
from .headings import heading_text, main_heading
from .page_lines import BESIDE, Line, last_line, short_text, solid
from .table_rows import table_rows

#: Of each kind, so many are looked at.
_MAX_FACTS = 200
#: An element with more descendants is no line.
_MAX_DESCENDANTS = 8
_MAX_LABEL, _MAX_STATED, _MAX_LINE = 40, 120, 100
_LABEL_ENDS = ":： "
#: A line that is longer behind its label, or has another one there, is a sentence or several facts.
#: The colon of "12:30" is none of a label.
_LABELLED = re.compile(
    rf"([^:：]{{0,{_MAX_LABEL}}}[^\d\s:：]) ?[:：] ?([^\s:：][^:：]{{0,{_MAX_LABEL}}})"
)
_LINES = ("p", "li", "div")
#: Numbers that are no part of a name such as AB-12.
_NUMBER = re.compile(r"(?<![A-Za-zА-я_\d])(?<![A-Za-zА-я]-)\d[\d.,:/-]*")
_TEXTS = etree.XPath("descendant::text()", smart_strings=False)
#: The same that know their elements.
_PLACED_TEXTS = etree.XPath("descendant::text()", smart_strings=True)
_TEXT = etree.XPath("string()", smart_strings=False)
#: A price may have its sign, its digits and its cents in elements of their own.
_MAX_LEVELS, _MAX_ANCESTORS = 2, 6

#: Properties of schema.org that tell products, events and offers apart.
_PROPERTIES = frozenset(
    "sku mpn gtin gtin8 gtin12 gtin13 gtin14 isbn productid price lowprice highprice pricecurrency "
    "color size material pattern model serialnumber startdate enddate streetaddress "
    "addresslocality postalcode product:price:amount product:retailer_item_id".split()
)
_WITH_PROPERTY = etree.XPath("descendant::*[@itemprop]")
_META = etree.XPath("descendant::meta[@property]")
#: Properties with other products.
_OF_OTHERS = frozenset("isrelatedto issimilarto itemlistelement isaccessoryorsparepartfor".split())
_MAX_JSON = 1 << 18

#: Words of classes and ids of what a page shows beside its own content.
_BESIDE_NAME = re.compile(
    r"(?!no[-_]|has[-_]|with)(?:[\w-]*[-_])?"
    r"(?:related|recommend(?:ed|ations?)?|similar|up-?sells?|cross-?sells?|comments?|respond|"
    r"breadcrumbs?|side-?bar|carousel)"
    r"(?:[-_](?:products?|items?|posts?|pages?|articles?|lists?|areas?|box|content|wrapper|"
    r"container|block|section|module))?",
    re.IGNORECASE,
)
#: With so many characters, the main text says the same whatever label stands before it.
_TELLING = 12
#: So many places of the main text are looked at for a price.
_MAX_PLACES = 50


#: Label of the fact that is a page's heading.
HEADING = "heading"
#: Characters of a block of code by which it is told from others.
_MAX_CODE = 4000
#: The name at the end of a heading, as in "Function load" and "load(3)".
_NAME = re.compile(r"(operator[^\w\s]{1,3}|\w{3,})(?:\(\w*\))?$")
#: A heading of more words is a sentence, and a longer block of code an example.
_MAX_NAME_WORDS, _MAX_DECLARATION = 4, 1000


class Fact(NamedTuple):
    """Something that a page states.

    :ivar label: of what; empty for a price.
    :ivar stated: the rest, numbers masked unless it is a price or a property.
    """

    label: str
    stated: str


class _Stated(NamedTuple):
    """A fact, and where and how it is stated.

    :ivar has_place: does it matter where it stands? The main text does not tell then.
    """

    element: HtmlElement
    label: str
    text: str
    fact: Fact
    has_place: bool = False


class _Content:
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


def page_facts(body: HtmlElement, title: str, text: str) -> list[Fact]:
    """Return the facts that a page states outside its main text.

    :param body: as parsed.
    :param text: main text of the page.
    """
    main = solid(text)
    last = last_line(body, main)
    if last is None:
        return []
    heading = main_heading(body, title)
    content = _Content(body, heading, last)
    # What stands beside the text cannot be told without a heading; prices are rarely others' then.
    stated = [_prices(content)]
    if heading is not None:
        stated += [_name(heading, title), _declaration(content, heading), _labels(content)]
        stated += [_rows(content), _terms(content), _code(content)]
    found = (
        each.fact
        for each in chain.from_iterable(stated)
        if (each.has_place or not _is_in(each, main)) and not _is_beside(each.element, content.root)
    )
    return list(dict.fromkeys(found))


def _around(heading: HtmlElement, line: HtmlElement) -> HtmlElement:
    """Return the smallest element that has both."""
    around = {*heading.iterancestors()}
    return next(each for each in chain([line], line.iterancestors()) if each in around)


def page_properties(tree: HtmlElement, html: str) -> list[Fact]:
    """Return the properties of products and events that a page states for machines.

    :param html: source of the page, searched first to skip needless work on the tree.
    """
    found: list[Fact] = []
    if "ld+json" in html:
        found += islice(_linked_data(tree), _MAX_FACTS)
    if "itemprop" in html:
        found += islice(_microdata(tree), _MAX_FACTS)
    if "product:" in html:
        for meta in islice(cast("list[HtmlElement]", _META(tree)), _MAX_FACTS):
            if (name := meta.get("property", "").lower()) in _PROPERTIES:
                found.append(Fact(name, meta.get("content", "")[:_MAX_STATED]))
    return list(dict.fromkeys(found))


def _name(heading: HtmlElement, title: str) -> Iterator[_Stated]:
    """Yield what a heading says if the title does not say it, as on a site with one title."""
    name = heading_text(heading)
    if name and solid(name) not in solid(title):
        # It counts even if the main text has it: articles have their headings within.
        yield _Stated(heading, "", name, Fact(HEADING, name), has_place=True)


def _is_in(stated: _Stated, main: str) -> bool:
    """Does the main text say the same, in the same way or with the label in another line?"""
    text = solid(stated.text)
    return _has(main, solid(stated.label) + text) or (len(text) >= _TELLING and text in main)


def _has(main: str, text: str) -> bool:
    """Does the main text have a text, and not as a part of a longer number?"""
    place = main.find(text)
    for _ in range(_MAX_PLACES):
        if place < 0 or not text:
            break
        around = ((main[place - 1 : place], text[0]), (main[place + len(text) :][:1], text[-1]))
        if not any(each.isdigit() and end.isdigit() for each, end in around):
            return True
        place = main.find(text, place + 1)
    return not text


def _is_beside(element: HtmlElement, content: HtmlElement) -> bool:
    """Is an element of the content in a part of it that is about other pages?"""
    for each in chain([element], element.iterancestors()):
        if each is content:
            return False
        names = f"{each.get('class', '')} {each.get('id', '')}".split()
        if each.tag in BESIDE or any(map(_BESIDE_NAME.fullmatch, names)):
            return True
    return False


def _rows(content: _Content) -> Iterator[_Stated]:
    for row in table_rows([*islice(content.rows("tr"), _MAX_FACTS)], _short_text):
        yield from _stated(row.element, row.label, row.stated, has_place=row.has_gaps)
        if row.n_stated == 1:
            yield from _field(row.element, row.label, row.stated)


def _terms(content: _Content) -> Iterator[_Stated]:
    for term in islice(content.rows("dt"), _MAX_FACTS):
        described = term.getnext()
        if described is not None and described.tag == "dd":
            label, text = _short_text(term) or "", _short_text(described) or ""
            yield from _stated(term, label, text)
            yield from _field(term, label, text)


def _code(content: _Content) -> Iterator[_Stated]:
    """Yield blocks of code: extractors leave some of them out."""
    for block, text in _blocks_of_code(content):
        yield _Stated(block, "", text, Fact("code", text))


def _declaration(content: _Content, heading: HtmlElement) -> Iterator[_Stated]:
    """Yield the code that declares what a heading names: overloads have one title and heading.

    As in a reference, it is the first code behind the heading.
    """
    words = heading_text(heading).split()
    name = _NAME.search(words[-1]) if words and len(words) <= _MAX_NAME_WORDS else None
    if name is None:
        return
    block, text = next(_blocks_of_code(content), (heading, ""))
    if len(text) <= _MAX_DECLARATION and re.search(rf"(?<![^\W_]){re.escape(name[1])}(?!\w)", text):
        # Unlike other facts it counts even if the main text has it.
        yield _Stated(block, "", text, Fact(HEADING, solid(text)), has_place=True)


def _blocks_of_code(content: _Content) -> Iterator[tuple[HtmlElement, str]]:
    """Yield blocks of code and their beginnings, in one line. Numbers alone are those of lines."""
    for block in islice(content.rows("pre"), _MAX_FACTS):
        text = " ".join("".join(cast("Iterator[str]", block.itertext())).split())[:_MAX_CODE]
        if any(map(str.isalpha, text)):
            yield block, text


def _labels(content: _Content) -> Iterator[_Stated]:
    """Yield lines such as "Colour: red"."""
    if ":" not in content.text and "：" not in content.text:
        return
    count = 0
    for line in content.lines(*_LINES):
        beginning = (line.text or "").lstrip()
        if len(beginning) > _MAX_LINE or len(line) >= _MAX_DESCENDANTS:
            continue
        for element in line[:2]:
            beginning += f"{element.text}{element.tail}"
        if ":" in beginning or "：" in beginning:
            found = _LABELLED.fullmatch(_short_text(line) or "")
            if found and not is_byline(found[1]):
                yield from _stated(line, found[1], found[2])
                yield from _field(line, found[1], found[2])
            count += 1
            if count == _MAX_FACTS:
                return


def _stated(
    element: HtmlElement, label: str, stated: str, *, has_place: bool = False
) -> Iterator[_Stated]:
    """Yield a fact without its numbers, if words, prices or its place are left.

    :param has_place: does it matter where cells stand? Then it says where there was a number.
    """
    prices = [price.replace(" ", "") for price in prices_in(stated)]
    words = " ".join(_NUMBER.sub(" 0 " if has_place else " ", stated).split())
    if prices or has_place or any(map(str.isalpha, words)):
        fact = Fact(label.rstrip(_LABEL_ENDS), " ".join([*prices, words]))
        yield _Stated(element, label, stated, fact, has_place)


def _field(element: HtmlElement, label: str, stated: str) -> Iterator[_Stated]:
    """Yield a short value that tells pages of a form apart, such as a size, whole.

    It counts even if the main text has it: there, one word or number may have been edited.
    """
    label = label.rstrip(_LABEL_ENDS)
    if tells_pages_apart(label, stated):
        yield _Stated(element, label, stated, Fact(label, stated), has_place=True)


def _prices(content: _Content) -> Iterator[_Stated]:
    """Yield the prices that are not within links; their parts may be in several elements."""
    own = (each for each in _elements_of_prices(content) if content.is_before_end(each))
    for element in islice(own, _MAX_FACTS):
        around = chain([element], islice(element.iterancestors(), _MAX_LEVELS))
        found = (prices_in(_short_text(each) or "") for each in around)
        for price in next(filter(None, found), []):
            yield _Stated(element, "", price, Fact("", price.replace(" ", "")))


def _elements_of_prices(content: _Content) -> Iterator[HtmlElement]:
    """Yield the elements of all texts that a price is or begins in, or extends to."""
    if not any(map(str.isdigit, content.text)):
        return
    texts = [text for text in cast("list[str]", _TEXTS(content.root)) if not text.isspace()]
    # What is too long keeps those around it apart.
    pieces = [" ".join(text.split()) if len(text) <= _MAX_STATED else "\n" for text in texts]
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
    is_price = len(text) <= _MAX_STATED and not any(each.tag == "a" for each in around)
    return element if is_price else None


def _microdata(tree: HtmlElement) -> Iterator[Fact]:
    body = tree.find(".//body")
    for element in cast("list[HtmlElement]", _WITH_PROPERTY(tree)):
        name = element.get("itemprop", "").strip().lower()
        if name in _PROPERTIES and not _is_beside(element, tree if body is None else body):
            stated = element.get("content") or element.get("value") or _short_text(element)
            if stated:
                yield Fact(name, stated[:_MAX_STATED])


def _linked_data(tree: HtmlElement) -> Iterator[Fact]:
    size = 0
    for script in tree.iter("script"):
        source = script.text or ""
        size += len(source)
        if "ld+json" in (script.get("type") or "") and size <= _MAX_JSON:
            try:
                yield from _properties(json.loads(source))
            except (ValueError, RecursionError):
                continue


def _properties(data: Any) -> Iterator[Fact]:
    left = [data] if isinstance(data, (dict, list)) else []
    while left:
        value = left.pop()
        for name, stated in value.items() if isinstance(value, dict) else [("", v) for v in value]:
            if isinstance(stated, (dict, list)):
                left += [] if name.lower() in _OF_OTHERS else [stated]
            elif name.lower() in _PROPERTIES and stated is not None:
                yield Fact(name.lower(), str(stated)[:_MAX_STATED])


def _short_text(element: HtmlElement) -> str | None:
    return short_text(element, _MAX_DESCENDANTS, _MAX_LABEL + _MAX_STATED)
