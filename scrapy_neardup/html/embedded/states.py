"""Finds what a page marks as chosen, sold out, struck or ticked.

Only that may tell two pages apart.

Each variant of a product may have a page that shows all sizes and marks its own. Menus mark the
entry of their page likewise, and each tab or slide the first of several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, filterfalse, islice
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

from ..class_search import elements_by_class
from ..page_lines import one_line, short_text

_ATTRIBUTES = ("aria-checked", "aria-selected", "aria-pressed", "aria-disabled")
#: Names of states in classes, as in ``size--sold-out`` and ``is-active``.
_STATE = re.compile(
    r"(?:in)?active|(?:un|de)?selected|chosen|checked|current|disabled|(?:un)?available|"
    r"(?:sold|crossed)-?out|(?:in|out-?of)-?stock|oos"
)
_BETWEEN_NAMES = re.compile(r"\s+|--|__")
_STRUCK = frozenset(("s", "del", "strike"))
_STATE_WITHIN = re.compile(
    "active|selected|chosen|check|current|disabled|available|out|stock|oos|"
    "times|mark|cross|tick|close|remove|-(?:ok|yes|no|x)"
)
#: Icons of what there is and what there is not, as in ``fa fa-check``: they have no text.
_ICONS = ("i", "span", "svg", "em")
_TICK = re.compile(
    r"(?:[a-z]+-)*(check|checkmark|tick|ok|yes|times|xmark|cross|close|remove|no|x)"
    r"(?:-(?:circle|square|lg|alt|mark|bold|thick|fill|outline|o|line|solid))*"
)
_SAID = etree.XPath(
    "descendant::*[@aria-checked = 'true' or @aria-selected = 'true' or @aria-pressed = 'true' or "
    "@aria-disabled = 'true']"
)
#: Words of classes around what a visitor has chosen for the visit, not of what a page is about.
_OF_CONTROLS = re.compile(
    r"(?<![a-z])(?:lang\w*|locales?|currenc\w+|countr\w+|themes?|menus?|nav\w*|tabs?|pager|"
    r"paginat\w+|(?:bread)?crumbs?|steps?|slid\w+|carousel|galler\w+|filters?|sort\w*|views?|modal|"
    r"share|player|accordion|collaps\w+|search)(?![a-z])",
    re.IGNORECASE,
)
#: Characters of what is marked, and elements within it; so many elements around it are looked at.
_MAX_LENGTH, _MAX_WITHIN, _MAX_AROUND = 80, 8, 4
#: Elements in a row of a table, or a line, with an icon.
_MAX_WITHIN_ROW = 32


def marked_states(body: HtmlElement, html: str) -> Iterator[str]:
    """Yield each state that is marked, and the text that has it, such as one of several sizes.

    :param html: source of the page, searched first to skip needless work on the tree.
    """
    for element in _marked(body, html):
        if tick := _tick_of(element):
            yield tick
            continue
        is_struck = element.tag in _STRUCK
        state = element.tag if is_struck else _state_of(element)
        text = short_text(element, _MAX_WITHIN, _MAX_LENGTH) if state else ""
        is_long = text is None
        if is_long and is_struck:
            text = _long_text(element)
        if text and not _is_of_controls(element):
            if is_long:
                # Two lines: a page in which this is not struck is none that lacks an element.
                yield ""
            yield f"{state}: {text}"


def _marked(body: HtmlElement, html: str) -> Iterator[HtmlElement]:
    """Yield the elements that may have a state, in reading order."""
    found = set(body.iter(*_STRUCK))
    found.update(elements_by_class(body, _STATE_WITHIN))
    if any(name in html for name in _ATTRIBUTES):
        found.update(cast("list[HtmlElement]", _SAID(body)))
    found = set(filterfalse(_is_of_menu, found))
    # Most pages mark one at most.
    yield from found if len(found) < 2 else filter(found.__contains__, body.iter())


def _is_of_menu(element: HtmlElement) -> bool:
    """Return whether an element is an entry of a menu: in ``nav`` or a link, or with a link."""
    is_linked = element.tag == "a" or next(element.iterancestors("a", "nav"), None) is not None
    has_link = element.tag not in _STRUCK and next(element.iter("a"), None) is not None
    return is_linked or has_link


def _long_text(element: HtmlElement) -> str:
    """Return a struck text, in one line; that of one within another is a part of it."""
    if next(element.iterancestors(*_STRUCK), None) is not None:
        return ""
    return one_line(element)


def _state_of(element: HtmlElement) -> str:
    """Return the state that attributes or classes of an element name; empty if they name none."""
    said = (name for name in _ATTRIBUTES if element.get(name) == "true")
    names = _BETWEEN_NAMES.split(element.get("class", "").lower())
    named = filter(_STATE.fullmatch, (name.removeprefix("is-") for name in names))
    return next(chain(said, named), "")


def _tick_of(element: HtmlElement) -> str:
    """Return the name of an icon that is a tick or a cross, and the text it stands in."""
    if element.tag not in _ICONS or one_line(element):
        return ""
    found = next(filter(None, map(_TICK.fullmatch, element.get("class", "").lower().split())), None)
    around = islice(element.iterancestors(), _MAX_AROUND) if found else ()
    texts = (short_text(each, _MAX_WITHIN_ROW, _MAX_LENGTH) for each in around)
    # If the first element with a text has too much of it, the icon is none of a line.
    text = next((each for each in texts if each != ""), None)
    return f"{found[1]}: {text}" if found and text and not _is_of_controls(element) else ""


def _is_of_controls(element: HtmlElement) -> bool:
    around = islice(chain([element], element.iterancestors()), _MAX_AROUND)
    return any(_OF_CONTROLS.search(each.get("class", "")) for each in around)
