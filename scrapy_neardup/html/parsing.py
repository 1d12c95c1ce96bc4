"""Parses a page's repaired HTML to a tree, as browsers do where libxml2 does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from lxml import etree
from lxml.html import HtmlComment, HtmlElement, HtmlEntity, HtmlProcessingInstruction, fromstring

from .limits import PageLimits

#: Elements that may stand in the head.
_OF_HEAD = frozenset("title base meta link script style noscript template object".split())
#: lxml's own parser for HTML looks the class of each element up in Python; trafilatura, which asks
#: for elements again and again, takes a twentieth more time with it.
_ELEMENT_CLASSES = etree.ElementDefaultClassLookup(
    HtmlElement, HtmlComment, HtmlProcessingInstruction, HtmlEntity
)


def parsed(html: str, limits: PageLimits) -> HtmlElement | None:
    """Parse as trafilatura does, but with libxml2's limits on depth and text length relaxed.

    :returns: ``None`` if there is no element.
    :raises LimitExceeded: if it would take long to parse or is too deep.
    """
    limits.check_markup(html)
    # A new parser for each page: a parser must not be used by two threads at once.
    parser = etree.HTMLParser(
        collect_ids=False,
        encoding="utf-8",
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )
    parser.set_element_class_lookup(_ELEMENT_CLASSES)
    try:
        tree = fromstring(html.encode(), parser=parser)
    except etree.ParserError:
        return None
    limits.check_tree(tree)
    _move_content_to_body(tree)
    for menu in tree.iter("menu"):
        if next(menu.iterchildren("li"), None) is not None:
            # A list by another name (HTML, section 4.4.7), which extractors would leave out.
            menu.tag = "ul"
    return tree


def _move_content_to_body(tree: HtmlElement) -> None:
    """Move what stands in the head behind its end to the body.

    The tags of head and body may be left out (HTML, section 13.1.2.4), and libxml2 does not know
    that ``<main>`` and other elements of HTML 5 end the head.
    """
    others = tree.iterfind("head/*")
    first = next((each for each in others if each.tag not in _OF_HEAD and _has_text(each)), None)
    if first is None:
        return
    content = [first, *first.itersiblings()]
    body = tree.find("body")
    if body is None:
        body = etree.SubElement(tree, "body")
    for place, element in enumerate(content):
        body.insert(place, element)


def _has_text(element: HtmlElement) -> bool:
    return any(not text.isspace() for text in cast("Iterator[str]", element.itertext()))
