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
#: Properties that tell pages of one title apart; of an object, its name or its value counts.
_OF_ONE_TITLE = frozenset(
    "validthrough employmenttype basesalary hiringorganization softwareversion mileagefromodometer "
    "vehiclemodeldate modeldate dateoffirstregistration datevehiclefirstregistered fueltype "
    "vehicletransmission vehicleidentificationnumber floorsize numberofrooms numberofbedrooms "
    "numberofbathroomstotal bookformat bookedition numberofpages telephone eventstatus location "
    "recipeyield recipeingredient totaltime duration identifier director seller weight "
    "openinghours latitude longitude".split()
)
#: What an object says of itself, and how many objects and lists are looked into for it.
_OF_OBJECT, _MAX_DEPTH = ("name", "value", "minValue", "maxValue"), 3
#: A validity may end so many days after the visit: of its time only the day counts.
_ENDS, _DAY = "validthrough", len("2024-06-01")
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
        is_known = name in _PROPERTIES or name in _OF_ONE_TITLE
        if is_known and not is_beside(element, tree if body is None else body):
            stated = element.get("content") or element.get("value") or line_text(element)
            if stated:
                yield _property(name, stated)


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
        for key, stated in value.items() if isinstance(value, dict) else [("", v) for v in value]:
            name = key.lower()
            if isinstance(stated, (dict, list)):
                left += [] if name in _OF_OTHERS else [stated]
            elif name in _PROPERTIES and stated is not None:
                yield _property(name, str(stated))
            if name in _OF_ONE_TITLE and (text := _text_of(stated)):
                yield _property(name, text)


def _property(name: str, stated: str) -> Fact:
    if name in _PROPERTIES:
        return Fact(name, stated[:MAX_STATED])
    text = stated[: _DAY if name == _ENDS else MAX_STATED]
    return Fact(name, text, is_field=True, is_around=True, is_line=True)


def _text_of(stated: Any, depth: int = _MAX_DEPTH) -> str:
    """Return what a value says in one line: that of a list, or of an object's name or value."""
    if isinstance(stated, dict):
        stated = [stated.get(name) for name in _OF_OBJECT]
    if not isinstance(stated, list):
        return "" if stated is None else str(stated)
    parts = (_text_of(part, depth - 1) for part in islice(stated, MAX_FACTS)) if depth else ()
    return " ".join(filter(None, parts))
