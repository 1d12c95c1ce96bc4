"""Finds the dates between the heading of a page and its main text, such as that of a class.

Recurring events have one title and one description. Extractors leave dates out, because most are
those of articles. These are left out here too if their class or their line says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from lxml.html import HtmlElement

from ...text.counters import is_date_of_visit, names_a_counter
from ..page_lines import solid
from .content import MAX_FACTS, Content, Fact, Stated, line_text, names_of
from .labels import date_of_event

_TAGS = ("time", "div", "span", "p", "li", "section")
#: What has more characters is no line, and with so many the main text begins.
_MAX_LINE, _TELLING = 60, 20
#: How many elements around a date are looked at.
_MAX_ANCESTORS = 4
#: Words of classes and ids of the dates of pages and comments, and of what is for visitors.
_OF_PAGE = re.compile(
    r"(?:.*[-_])?(?:authors?|by|byline|dateline|credits?|posted|published|pubdate|updated|modified|"
    r"created|edited|share|sharing|social|counts?|counter|stats|views?|ads?|advert\w*|promo|weather|"
    r"greeting|top|current|header|now|print|delivery|shipping|stock|ticker|sidebar|widget|"
    r"data[-_]time|breadcrumbs?|crumbs?|toc|toolbar|login|account|user|comment\w*|visit\w*|clock|today)"
    r"(?:[-_].*)?|"
    r"date(?:published|modified|created)|"
    r"(?:.*[-_])?(?:entry|post|article|blog|news|story|content|page)[-_]?(?:date|time|meta|info)\w*",
    re.IGNORECASE,
)
#: Authors, and several facts in one line.
_UNTOLD = re.compile(r"\b(?:by|von|par|por|di|door)\b|[|·•/›»>](?!\d)", re.IGNORECASE)


def dates_above(content: Content, main: str) -> Iterator[Stated]:
    """Yield dates that may be those of events, each as a field.

    :param main: :func:`~scrapy_neardup.html.page_lines.solid` main text.
    """
    for element in islice(content.lines(*_TAGS), MAX_FACTS):
        beginning = solid(element.text or "")
        if len(beginning) >= _TELLING and beginning[:_MAX_LINE] in main:
            return
        text = line_text(element)
        if not text or len(text) > _MAX_LINE:
            continue
        date = date_of_event(text)
        if date is not None and not (_says_of_page(text) or _is_of_page(element)):
            yield Stated(element, "", text, Fact("date", date, is_field=True), has_place=True)


def _says_of_page(text: str) -> bool:
    """Does a line say that its date is that of a page, or stand beside the counters of one?"""
    return _UNTOLD.search(text) is not None or is_date_of_visit(text) or names_a_counter(text)


def _is_of_page(element: HtmlElement) -> bool:
    around = islice(element.iterancestors(), _MAX_ANCESTORS)
    return any(
        any(map(_OF_PAGE.fullmatch, [*names_of(each), each.get("itemprop", "")]))
        for each in chain([element], around, element.iterdescendants())
        if each.tag != "body"
    )
