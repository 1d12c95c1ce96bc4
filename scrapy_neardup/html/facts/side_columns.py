"""Finds what a column beside the text says of the page itself, such as its price and its mileage.

A column is an ``<aside>``, or its class says ``sidebar``. Most of what stands there is about other
pages, to which its boxes have links, or for visitors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lxml.html import HtmlElement

from ..page_lines import INLINE
from .content import HEADINGS
from .lines_beside import FOR_VISITORS, has_own_text, is_contact
from .names import BESIDE_AROUND, is_side_name, names_of

#: In so many elements around them the boxes of a column may stand.
_MAX_LEVELS = 8
_PARTS_OF_ROW, _MAX_IN_ROW = ("div", "span"), 3
_UNSEEN = frozenset("script style br hr template noscript".split())
#: Elements that are one box, whatever number of others they have.
_LISTS = frozenset("ul ol dl table a".split())
_TITLED = re.compile(r"(?:.*[-_])?(?:title|heading|headline|head)", re.IGNORECASE)
_WIDGET = re.compile(r"widgets?[-_]?", re.IGNORECASE)
#: Links by which visitors do something about the page itself.
_ACTION = re.compile(
    r"(?<![a-z])(?:btn|button|cta|apply|book|buy|order|enrol|register|reserve|contact|enquire|"
    r"bewerben|buchen|kaufen|postuler|contacter|solicitar|reservar|comprar)(?![a-z])",
    re.IGNORECASE,
)
_MAX_ACTION = 40


def own_boxes(column: HtmlElement) -> list[HtmlElement]:
    """Return the boxes of a column beside the text that are about the page itself."""
    level = column
    for _ in range(_MAX_LEVELS):
        if _is_for_visitors(level):
            return []
        boxes = _seen(level)
        is_box = level is not column
        if has_own_text(level) or (is_box and _is_row(boxes)):
            # Words of a column itself are those of an offer or a note more often.
            return [level] if is_box and _is_own([level]) else []
        if len(boxes) != 1 or boxes[0].tag in _LISTS:
            break
        level = boxes[0]
    return [box for part in _parts(boxes) if _is_own(part) for box in part]


def _is_row(boxes: Sequence[HtmlElement]) -> bool:
    """Return whether boxes are a label and a value alone, and maybe an icon."""
    are_parts = all(not len(box) and box.tag in _PARTS_OF_ROW for box in boxes)
    return are_parts and 2 <= len(boxes) <= _MAX_IN_ROW


def _seen(element: HtmlElement) -> list[HtmlElement]:
    return [each for each in element if each.tag not in _UNSEEN]


def _parts(boxes: Sequence[HtmlElement]) -> Iterator[list[HtmlElement]]:
    """Yield the boxes below a heading together, and also paragraphs and words without one.

    A date may stand beside the link to another page, and not in one box with it.
    """
    lines: list[HtmlElement] = []
    part = lines
    for box in boxes:
        if _is_heading(box):
            if part is not lines:
                yield part
            part = [box]
        elif part is not lines or box.tag == "p" or box.tag in INLINE:
            part.append(box)
        else:
            yield [box]
    yield from ([lines] if part is lines else [part, lines])


def _is_heading(box: HtmlElement) -> bool:
    return box.tag in HEADINGS or any(map(_TITLED.fullmatch, names_of(box)))


def _is_own(boxes: Sequence[HtmlElement]) -> bool:
    """Return whether boxes are neither for visitors nor about pages that they link to."""
    if any(map(_is_for_visitors, boxes)):
        return False
    return not any(_leads_on(link) for box in boxes for link in box.iter("a"))


def _is_for_visitors(box: HtmlElement) -> bool:
    names = names_of(box)
    # That it is a widget says nothing about what is in it.
    others = (_WIDGET.sub("", each) for each in names if not is_side_name(each))
    return FOR_VISITORS.search(" ".join(names)) is not None or any(
        map(BESIDE_AROUND.fullmatch, others)
    )


def _leads_on(link: HtmlElement) -> bool:
    """Return whether a link leads to another page, and is neither a contact nor a button."""
    address = link.get("href", "").strip().lower()
    if not address or address.startswith(("#", "javascript:")) or is_contact(link):
        return False
    text = " ".join(link.itertext())[:_MAX_ACTION]
    is_button = link.get("role") == "button" or _ACTION.search(f"{link.get('class', '')} {text}")
    return not is_button
