"""Finds short lines between the heading of a page and its main text, such as the place of a job.

Extractors leave them out if they stand in elements that are no paragraphs. Many templates have
labels for them in classes only: ``<div class="location">Leeds</div>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from lxml.html import HtmlElement

from ...text.counters import names_a_counter
from ...text.signs.currencies import prices_in
from ..page_lines import solid
from .content import MAX_FACTS, Content, Fact, Stated, line_text, names_of, without_numbers
from .labels import has_date, is_byline

_TAGS = ("div", "span", "p", "section")
#: What has more characters is no line, and with so many the main text begins.
_MAX_LINE, _TELLING = 60, 20
#: What visitors use or follow, and how many elements around a line are looked at.
_USED = frozenset(("a", "button", "select", "label", "form", "time"))
_MAX_ANCESTORS = 6
#: Words of classes and ids of what is about the page and not what it is about, or is for visitors.
_NO_CONTENT = re.compile(
    r"(?:.*[-_])?(?:authors?|by|byline|credits?|date|time|posted|published|updated|meta|share|"
    r"sharing|social|counts?|counter|stats|views?|ads?|advert\w*|promo|sponsored|weather|greeting|"
    r"breadcrumbs?|crumbs?|toc|toolbar|tools|actions?|buttons?|btn|hidden|sr-only|tooltip|alert|"
    r"notice|message|user|login|account|rating|stars|badge)(?:[-_].*)?",
    re.IGNORECASE,
)
#: Bylines without a colon, paths of links, and several facts in one line.
_UNTOLD = re.compile(
    r"\b(?:by|von|par|por|di|door|ago|vor|il y a|hace|назад)\b|前|[|·•/›»>@:：]", re.IGNORECASE
)


def lines_above(content: Content, main: str) -> Iterator[Stated]:
    """Yield lines of words, even if the main text has them; a number alone may be a counter.

    They are fields without a label: an invitation to listen to an article is on some pages only.

    :param main: :func:`~scrapy_neardup.html.page_lines.solid` main text.
    """
    for element in islice(content.lines(*_TAGS), MAX_FACTS):
        beginning = solid(element.text or "")
        if len(beginning) >= _TELLING and beginning[:_MAX_LINE] in main:
            return
        text = line_text(element) if beginning else None
        if text is None or len(text) > _MAX_LINE or _is_no_content(element):
            continue
        words = without_numbers(text)
        if any(map(str.isalpha, words)) and _tells(text):
            yield Stated(element, "", text, Fact("", words, is_field=True), has_place=True)


def _is_no_content(element: HtmlElement) -> bool:
    if any(each.tag in _USED for each in element.iter()):
        return True
    for each in chain([element], islice(element.iterancestors(), _MAX_ANCESTORS)):
        if each.tag in _USED or (
            each.tag != "body" and any(map(_NO_CONTENT.fullmatch, names_of(each)))
        ):
            return True
    return False


def _tells(text: str) -> bool:
    """Does a line say something that is the same in each copy of the page?"""
    is_untold = _UNTOLD.search(text) or names_a_counter(text) or is_byline(text) or has_date(text)
    # Prices are facts of their own.
    return not (is_untold or prices_in(text))
