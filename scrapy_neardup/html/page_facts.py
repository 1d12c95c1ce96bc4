"""Collects the facts that a page states beside its text: in tables, terms, labels and prices.

Two products may have one title and one description, and differ in the price, the colour or the size
that stand in a box beside it. Copies of a page differ beside the text too, in counters and in what
other pages are recommended; these are left out where they can be told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple, cast

import regex
from lxml import etree
from lxml.html import HtmlElement

#: Of each kind, so many are looked at.
_MAX_FACTS = 200
#: An element with more descendants is no line.
_MAX_DESCENDANTS = 8
_MAX_LABEL, _MAX_STATED = 40, 120
_LABELLED = re.compile(rf"([^:：]{{1,{_MAX_LABEL}}})[:：] ?(\S.{{0,{_MAX_STATED}}})")
_LINES = ("p", "li", "div")

_CURRENCIES = "$€£¥￥₹₽₩₺₴₫฿₪元円원"
_WITH_SIGN = etree.XPath("descendant::text()[contains(., $sign)]", smart_strings=True)
_PRICE = regex.compile(
    r"(?:\p{Sc} ?\d[\d.,]{0,20}+|(?<![\d.,])\d[\d.,]{0,20}+ ?(?:\p{Sc}|[元円원]))", regex.V1
)
#: A price may have its sign and its digits in elements of their own.
_MAX_LEVELS = 3

#: Properties of schema.org that tell products apart.
_PROPERTIES = frozenset(
    "sku mpn gtin gtin8 gtin12 gtin13 gtin14 isbn productid price lowprice highprice pricecurrency "
    "color size material pattern model serialnumber weight".split()
)
_WITH_PROPERTY = etree.XPath("descendant::*/@itemprop/..")
#: Properties with other products.
_OF_OTHERS = frozenset("isrelatedto issimilarto itemlistelement isaccessoryorsparepartfor".split())
_MAX_JSON = 1 << 18

#: Elements, and words in classes and ids, of what is shown beside a page's own content.
_BESIDE = frozenset("nav header footer aside menu template noscript".split())
_BESIDE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:related|recommend\w*|similar|upsells?|cross-?sells?|also|carousel|slider|"
    r"side-?bar|widgets?|comments?|reviews?|recent\w*|popular|trending|breadcrumbs?|footer|nav\w*|"
    r"menu|ads?|advert\w*|sponsor\w*)(?=$|[\s_-])",
    re.IGNORECASE,
)


_NOT_SOLID = dict.fromkeys(map(ord, "|:："))


class Fact(NamedTuple):
    """Something that a page states.

    :ivar label: of what; empty for a price.
    :ivar stated: the rest.
    """

    label: str
    stated: str

    @property
    def is_number(self) -> bool:
        """Are only numbers, dates or times stated? One of them may be a counter."""
        return not any(map(str.isalpha, self.stated)) and not _PRICE.search(self.stated)


def page_facts(body: HtmlElement, shown: str, text: str, linked: Iterable[Fact]) -> list[Fact]:
    """Return the facts that a page states outside its main text.

    :param body: as parsed.
    :param shown: all text of the body.
    :param text: main text of the page.
    :param linked: see :func:`linked_data`.
    """
    signs = [sign for sign in _CURRENCIES if sign in shown]
    kinds = _rows(body), _terms(body), _labels(body), _microdata(body), _prices(body, signs)
    found = chain.from_iterable(islice(kind, _MAX_FACTS) for kind in kinds)
    beside = _Beside()
    own = dict.fromkeys(fact for element, fact in found if not beside.has(element))
    if not own:
        return [*linked]
    main = _solid(text)
    return [*(fact for fact in own if _solid("".join(fact)) not in main), *linked]


def linked_data(tree: HtmlElement, html: str) -> list[Fact]:
    """Return the properties of products that a page states for machines, in JSON-LD.

    :param html: source of the page, searched first to skip needless work on the tree.
    """
    if "ld+json" not in html:
        return []
    found: list[Fact] = []
    for script in tree.iter("script"):
        source = script.text or ""
        if "ld+json" in (script.get("type") or "") and len(source) <= _MAX_JSON:
            try:
                found += islice(_properties(json.loads(source)), _MAX_FACTS)
            except (ValueError, RecursionError):
                continue
    return list(dict.fromkeys(found))


def _properties(data: Any) -> Iterator[Fact]:
    left = [data] if isinstance(data, (dict, list)) else []
    while left:
        value = left.pop()
        for name, stated in value.items() if isinstance(value, dict) else [("", v) for v in value]:
            if isinstance(stated, (dict, list)):
                left += [] if name.lower() in _OF_OTHERS else [stated]
            elif name.lower() in _PROPERTIES and stated is not None:
                yield Fact(name.lower(), str(stated)[:_MAX_STATED])


class _Beside:
    """Tells elements beside a page's own content, by what they are in."""

    def __init__(self) -> None:
        self._known: dict[HtmlElement, bool] = {}

    def has(self, element: HtmlElement) -> bool:
        path = []
        is_beside = False
        for each in chain([element], element.iterancestors()):
            if each in self._known:
                is_beside = self._known[each]
                break
            path.append(each)
            if each.tag in _BESIDE or _BESIDE_NAMES.search(
                f"{each.get('class', '')} {each.get('id', '')}"
            ):
                is_beside = True
                break
        self._known.update(dict.fromkeys(path, is_beside))
        return is_beside


def _rows(body: HtmlElement) -> Iterator[tuple[HtmlElement, Fact]]:
    """Yield the rows of tables that have no other table in them."""
    for row in body.iter("tr"):
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        if 1 < len(cells) <= _MAX_DESCENDANTS:
            texts = [_short_text(cell) for cell in cells]
            if all(text is not None for text in texts) and any(texts[1:]):
                yield row, Fact(texts[0] or "", " ".join(filter(None, texts[1:])))


def _terms(body: HtmlElement) -> Iterator[tuple[HtmlElement, Fact]]:
    for terms in body.iter("dl"):
        parts = (part for part in terms.iter("dt", "dd"))
        for term, described in pairwise(parts):
            if term.tag == "dt" and described.tag == "dd":
                label, stated = _short_text(term), _short_text(described)
                if label and stated:
                    yield terms, Fact(label.rstrip(":： "), stated)


def _labels(body: HtmlElement) -> Iterator[tuple[HtmlElement, Fact]]:
    """Yield lines such as "Colour: red"; those with a number alone may be counters."""
    for line in body.iter(*_LINES):
        beginning = line.text or ""
        for element in line[:2]:
            beginning += f"{element.text}{element.tail}"
        if ":" not in beginning and "：" not in beginning:
            continue
        found = _LABELLED.fullmatch(_short_text(line) or "")
        if found and not (fact := Fact(found[1].strip(), found[2])).is_number:
            yield line, fact


def _prices(body: HtmlElement, signs: Iterable[str]) -> Iterator[tuple[HtmlElement, Fact]]:
    texts = (cast("list[Any]", _WITH_SIGN(body, sign=sign)) for sign in signs)
    for text in islice(chain.from_iterable(texts), _MAX_FACTS):
        element = text.getparent()
        if text.is_tail:
            element = element.getparent()
        inner = element
        for _ in range(_MAX_LEVELS):
            found = _PRICE.findall(_short_text(inner) or "")
            if found or inner.getparent() is None:
                break
            inner = inner.getparent()
        if not any(each.tag in ("a", "li") for each in chain([element], element.iterancestors())):
            yield from ((element, Fact("", price.replace(" ", ""))) for price in found)


def _microdata(body: HtmlElement) -> Iterator[tuple[HtmlElement, Fact]]:
    for element in cast("list[HtmlElement]", _WITH_PROPERTY(body)):
        name = element.get("itemprop", "").strip().lower()
        if name in _PROPERTIES:
            stated = element.get("content") or element.get("value") or _short_text(element)
            if stated:
                yield element, Fact(name, stated[:_MAX_STATED])


def _short_text(element: HtmlElement) -> str | None:
    """Return the text of an element in one line; ``None`` if it has too much in it for a line."""
    if next(islice(element.iterdescendants(), _MAX_DESCENDANTS, None), None) is not None:
        return None
    text = " ".join(" ".join(cast("Iterator[str]", element.itertext())).split())
    return text if len(text) <= _MAX_LABEL + _MAX_STATED else None


def _solid(text: str) -> str:
    """Return a text without white space, colons, and the bars between the cells of a table."""
    return "".join(text.translate(_NOT_SOLID).split())
