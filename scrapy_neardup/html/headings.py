"""Finds the heading of a page, which names its content where the title does not."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from .page_lines import BESIDE, short_text, solid

#: What stands for a heading where there is none, as in references made by Doxygen or Sandcastle.
_TITLED = ("div", "span", "p")
_TITLE = re.compile(r"(?:^|[ \t\r\n])title(?:[ \t\r\n]|$)")
#: Elements above a text that may name it if the page has no first heading, and words of classes
#: and ids of others that do. So many elements are looked at, and a text begins with so many
#: characters.
_SECTION_HEADINGS = frozenset(("h2", "h3", "h4"))
_NAMED = re.compile(r"(?:[\w-]*[-_])?(?:name|title|heading|headline)", re.IGNORECASE)
_MAX_ABOVE, _TELLING = 2000, 20
#: Characters of an element, and of the text, that are compared: those at the beginning.
_MAX_BEGINNING, _MAX_START = 60, 50_000
#: So many headings are looked at.
_MAX_HEADINGS = 200
#: What has more elements, not counting spans, more spans, or more characters is no heading.
_MAX_ELEMENTS, _MAX_SPANS, _MAX_LENGTH = 8, 64, 160


def main_heading(body: HtmlElement, title: str) -> HtmlElement | None:
    """Return the heading that the title repeats most of, or else the first one of the page.

    An element whose class or id says title stands for a heading if there is none, or if it contains
    all of the page's title while the headings do not.
    """
    first, best, most = None, None, 1
    titled = solid(title)
    for heading in islice(body.iter("h1", "h2"), _MAX_HEADINGS):
        name = solid(heading_text(heading))
        if len(name) > most and name in titled:
            best, most = heading, len(name)
        if first is None and heading.tag == "h1":
            first = heading
    if best is not None:
        return best
    others = islice(filter(_is_titled, body.iter(*_TITLED)), _MAX_HEADINGS)
    if first is None:
        return next(filter(heading_text, others), None)
    # The headings may be those of sections, as in references made by Sandcastle.
    return next((each for each in others if titled and titled in solid(heading_text(each))), first)


def _is_titled(element: HtmlElement) -> bool:
    """Return whether a class or the id of an element says that it is a title."""
    name = element.get("id", "")
    return name == "title" or "Title" in name or bool(_TITLE.search(element.get("class", "")))


def heading_above(body: HtmlElement, main: str) -> HtmlElement | None:
    """Return what may be the heading of a text on a page without a first heading.

    It is the last one above the text: others may be those of a banner or of a box.

    :param main: :func:`~scrapy_neardup.html.page_lines.solid` main text.
    """
    found, start = None, main[:_MAX_START]
    for element in islice(body.iter(etree.Element), _MAX_ABOVE):
        beginning = solid(element.text or "")[:_MAX_BEGINNING]
        if len(beginning) >= _TELLING and beginning in start:
            break
        # The text of a heading may be that of a link in it.
        is_named = beginning or element.tag in _SECTION_HEADINGS
        if is_named and _may_name(element) and heading_text(element):
            found = element
    return found


def beginning_of_text(body: HtmlElement, main: str) -> HtmlElement | None:
    """Return the element that is, or is right before, the first text of the main text.

    :param main: :func:`~scrapy_neardup.html.page_lines.solid` main text.
    """
    start = main[:_MAX_START]
    for element in islice(body.iter(etree.Element), _MAX_ABOVE):
        for text in (element.text, element.tail):
            beginning = solid(text or "")[:_MAX_BEGINNING]
            if len(beginning) >= _TELLING and beginning in start:
                return element
    return None


def _may_name(element: HtmlElement) -> bool:
    if element.tag not in _SECTION_HEADINGS:
        names = f"{element.get('class', '')} {element.get('id', '')}".split()
        if not any(map(_NAMED.fullmatch, names)):
            return False
    return not any(each.tag in BESIDE for each in element.iterancestors())


def heading_text(heading: HtmlElement) -> str:
    """Return the text of a heading; empty if it has too much in it for one.

    Each sign may be in a span of its own, and long names have many places to break them.
    """
    others = (each for each in heading.iterdescendants() if each.tag not in ("span", "wbr", "br"))
    if next(islice(others, _MAX_ELEMENTS, None), None) is not None:
        return ""
    return short_text(heading, _MAX_SPANS, _MAX_LENGTH) or ""
