"""Reads classes and ids, and tells by them which parts of a page stand beside its content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml.html import HtmlElement

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]+")
#: Columns on either side of a content that are looked at.
MAX_COLUMNS = 16
#: Characters of classes, and of an id, that are looked at.
_MAX_NAMES = 200
#: What other pages of a site may be, behind words such as "related" in a name.
_OF_TEXTS = r"(?:[-_](?:topics?|threads?|stories|questions?|links?|news|videos?))?"
#: Words of classes and ids of what a page shows beside its own content.
_BESIDE = (
    rf"(?:related|recommended|similar|suggested){_OF_TEXTS}|recommend(?:ations?)?|up-?sells?|"
    r"cross-?sells?|comments?|respond|breadcrumbs?|side-?bar|carousel"
)
_OF_OTHERS = (
    r"products?|items?|posts?|pages?|articles?|lists?|areas?|box|content|wrapper|container|block|"
    r"section|module"
)
#: Words before them in a name, but none that deny those behind them.
_OTHER_WORDS = r"(?!no[-_]|has[-_]|with)(?:[\w-]*[-_])?"
BESIDE_NAME = re.compile(
    rf"{_OTHER_WORDS}(?:{_BESIDE})(?:[-_]{{1,2}}(?:{_OF_OTHERS}))?", re.IGNORECASE
)
#: The same for elements around the content.
BESIDE_AROUND = re.compile(
    rf"(?!no[-_]|has[-_]|with|elementor)(?:[\w-]*[-_])?(?:{_BESIDE}|ads?|advert\w*|sponsor\w*|promo\w*|"
    r"banners?|popular|trending|featured|latest|newest|recent|deals?|tickers?|weather|cart|basket|"
    r"slider|swiper|polls?|widgets?|bought-together|(?:last|recently)-?viewed|best-?sellers?|"
    r"also-(?:bought|viewed|like)|you-may-(?:also-)?like|more{_OF_TEXTS}|others?|header|footer|menu|top-?bar)"
    rf"(?:[-_]{{1,2}}(?:{_OF_OTHERS}|offers?|ads?|from))?",
    re.IGNORECASE,
)
#: Classes and ids of a column beside a text.
_COLUMN_NAME = re.compile(rf"{_OTHER_WORDS}side-?bar(?:[-_](?:{_OF_OTHERS}))?", re.IGNORECASE)


def is_column(element: HtmlElement) -> bool:
    """Return whether an element is a column beside a text, which may have boxes about the page."""
    names = names_of(element)
    others = [each for each in names if not is_side_name(each)]
    has_name = element.tag == "aside" or len(others) < len(names)
    return has_name and not any(map(BESIDE_AROUND.fullmatch, others))


def columns_beside(content: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the columns next to the element of the content, and boxes about the page.

    Before it stand summaries; behind it, boxes without a name are often for visitors.
    """
    for box in islice(content.itersiblings(preceding=True), MAX_COLUMNS):
        if is_column(box) or _is_own_box(box):
            yield box
    for box in islice(content.itersiblings(), MAX_COLUMNS):
        if is_column(box) or (_is_own_box(box) and names_of(box)):
            yield box


def _is_own_box(element: HtmlElement) -> bool:
    """Return whether an element is a box whose names, if any, say nothing of other pages."""
    is_box = element.tag in ("div", "section")
    return is_box and not any(map(BESIDE_AROUND.fullmatch, names_of(element)))


def is_side_name(name: str) -> bool:
    """Return whether a class or an id is that of a column."""
    return _COLUMN_NAME.fullmatch(name) is not None


def names_of(element: HtmlElement) -> list[str]:
    """Return the names of an element's classes and its id, as far as they are not too long."""
    names = f"{element.get('class', '')[:_MAX_NAMES]} {element.get('id', '')[:_MAX_NAMES]}"
    return names.split()


def names_of_line(element: HtmlElement, value: str) -> list[str]:
    """Return the names that tell a line from others: its element's, or else the parent's.

    A name that has a word of the value may differ with it (``status-sold``) or not (``street``), so
    the names without it are returned as well.
    """
    parent = element.getparent()
    names = names_of(element)
    if not names and parent is not None:
        names = names_of(parent) or [str(parent.tag)]
    words = set(_WORD.findall(value.casefold()))
    others = [name for name in names if words.isdisjoint(_WORD.findall(name.casefold()))]
    # Elements are numbered, too.
    told = (" ".join([*sorted(each), str(element.tag)]) for each in (names, others))
    return list(dict.fromkeys(_NUMBER.sub("", each) for each in told))
