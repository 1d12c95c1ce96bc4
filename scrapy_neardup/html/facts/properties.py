"""Reads what a page states for machines: its name, and properties of products and events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

from lxml import etree
from lxml.html import HtmlElement

from ..embedded.content import has_rdfa
from .content import MAX_FACTS, MAX_STATED, Fact, is_beside, line_text
from .pictures import picture_name

#: Properties of schema.org that tell products, events and offers apart.
_PROPERTIES = frozenset(
    "sku mpn gtin gtin8 gtin12 gtin13 gtin14 isbn productid price lowprice highprice pricecurrency "
    "color size material pattern model serialnumber startdate enddate streetaddress "
    "addresslocality postalcode product:price:amount product:retailer_item_id".split()
)
_WITH_PROPERTY = etree.XPath("descendant::*[@itemprop or @property]")
_META = etree.XPath("descendant::meta[@property]")
#: Properties with other products.
_OF_OTHERS = frozenset("isrelatedto issimilarto itemlistelement isaccessoryorsparepartfor".split())
#: The property that names the page, and how many ``<meta>`` elements are looked at.
TITLE_PROPERTY, _PICTURE_PROPERTY, _MAX_META = "og:title", "og:image", 64
_MAX_JSON = 1 << 18


def page_properties(tree: HtmlElement, html: str) -> list[Fact]:
    """Return the properties of products and events that a page states for machines, and its name.

    The name (``og:title``) counts as a field: a copy may have none.

    :param html: source of the page, searched first to skip needless work on the tree.
    """
    found: list[Fact] = []
    if "ld+json" in html:
        found += islice(_linked_data(tree), MAX_FACTS)
    if "itemprop" in html or has_rdfa(html):
        found += islice(_of_elements(tree), MAX_FACTS)
    if "product:" in html or TITLE_PROPERTY in html or _PICTURE_PROPERTY in html:
        for meta in islice(cast("list[HtmlElement]", _META(tree)), _MAX_META):
            name, whole = meta.get("property", "").lower(), meta.get("content", "")
            stated = whole[:MAX_STATED]
            if name in _PROPERTIES or (name == TITLE_PROPERTY and stated.strip()):
                found.append(Fact(name, stated, is_field=name == TITLE_PROPERTY))
            elif name == _PICTURE_PROPERTY and (picture := picture_name(whole)):
                found.append(Fact(name, picture, is_field=True, is_around=True, is_line=True))
    return list(dict.fromkeys(found))


def _of_elements(tree: HtmlElement) -> Iterator[Fact]:
    """Yield the properties in microdata and RDFa, whose names may have a prefix: "schema:price"."""
    body = tree.find(".//body")
    for element in cast("list[HtmlElement]", _WITH_PROPERTY(tree)):
        name = element.get("itemprop") or element.get("property", "").rpartition(":")[2]
        name = name.strip().lower()
        if name in _PROPERTIES and not is_beside(element, tree if body is None else body):
            stated = element.get("content") or element.get("value") or line_text(element)
            if stated:
                yield Fact(name, stated[:MAX_STATED])


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
                yield Fact(name.lower(), str(stated)[:MAX_STATED])
