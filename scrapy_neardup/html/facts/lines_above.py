"""Finds short lines between the heading of a page and its main text: dates, places, and the like.

Extractors leave them out if they stand in elements that are no paragraphs. Many templates have
labels for them in classes only: ``<div class="location">Leeds</div>``. Dates are left out too,
because most are those of articles; recurring events have one title and one description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from lxml.html import HtmlElement

from ...text.counters import names_a_counter
from ...text.normalization import normalize
from ...text.signs.currencies import prices_in
from ...text.signs.visits import is_date_of_visit
from ...text.titles import LIST_KINDS
from ..links.addresses import is_anchor
from ..page_lines import solid
from .content import MAX_FACTS, Content, Fact, Stated, line_text, without_numbers
from .labels import date_of_event, has_date, is_byline
from .names import names_of

_HEADINGS = ("h1", "h2", "h3", "h4")
_TAGS = ("div", "span", "p", "section", "li", "time", *_HEADINGS)
#: What has more characters is no line, and with so many the main text begins.
_MAX_LINE, _TELLING = 60, 20
#: What visitors use, whose texts are none of a line.
_CONTROLS = frozenset(("a", "button", "select", "label", "textarea"))
_INPUTS, _MAX_BESIDE_LABEL = frozenset(("input", "select", "textarea")), 50
#: What has no line of words above the content, either.
_NO_LINES = frozenset(("form", "time"))
#: Words of classes and ids of what is about the page and not what it is about, or is for visitors.
_OF_PAGE = (
    r"authors?|by|byline|credits?|posted|published|updated|share|sharing|social|counts?|counter|"
    r"stats|views|ads?|advert\w*|promo|weather|greeting|breadcrumbs?|crumbs?|toc|toolbar|user|"
    r"login|account"
)
#: Names that have these words and are of what a page is about.
_OF_SUBJECT = (
    r"(?!elementor|user[-_]?(?:content|text)|"
    r"(?:match|game|team|player|key|quick|vehicle|car|property)[-_]?stats)"
)
_NO_WORDS = re.compile(
    rf"{_OF_SUBJECT}(?:.*[-_])?(?:{_OF_PAGE}|date|time|meta|sponsored|tools|actions?|buttons?|btn|hidden|sr-only|"
    r"tooltip|alert|notice|message|rating|stars|badge)(?:[-_].*)?",
    re.IGNORECASE,
)
#: Also those of the dates of comments, and of articles as a whole.
_NO_DATE = re.compile(
    rf"{_OF_SUBJECT}(?:.*[-_])?(?:{_OF_PAGE}|dateline|pubdate|modified|created|edited|now|delivery|"
    r"shipping|stock|ticker|sidebar|widget|data[-_]time|comment\w*|visit\w*|clock|today)(?:[-_].*)?|"
    r"(?:(?:site|page|main|global|top|entry|post|article|blog|news|story|content)[-_]?)?header"
    r"(?:[-_]?(?:bar|top|inner|wrap\w*|meta|date|info|right|left|links?|nav|main))?|"
    r"(?:.*[-_])?top[-_]?(?:bar|nav|menu|line|links?|header|strip|info|date)(?:[-_].*)?|"
    r"(?:.*[-_])?(?:current|print)(?:[-_]?(?:date|time|day|info|footer|header|only|links?))?|"
    r"date(?:published|modified|created)|"
    r"(?:.*[-_])?(?:entry|post|article|blog|news|story|content|page)[-_]?(?:date|time|meta|info)\w*",
    re.IGNORECASE,
)
#: How many elements around a line, and around a date, are looked at.
_MAX_AROUND_WORDS, _MAX_AROUND_DATE = 6, 4
#: Authors, and several facts in one line.
_UNTOLD = re.compile(r"\b(?:by|von|par|por|di|door)\b|[|·•/›»>](?!\d)", re.IGNORECASE)
#: In lines of words, times from now, several facts whatever follows, and labels as well.
_UNTOLD_IN_WORDS = re.compile(r"\b(?:ago|vor|il y a|hace|назад)\b|前|[|·•/›»>@:：]", re.IGNORECASE)


def lines_above(content: Content, main: str) -> Iterator[Stated]:
    """Yield dates that may be those of events, and lines of words.

    They count even if the main text has them. They are fields, and lines have no label: an
    invitation to listen to an article is on some pages only.

    :param main: :func:`~scrapy_neardup.html.page_lines.solid` main text.
    """
    for element in islice(content.lines(*_TAGS), MAX_FACTS):
        beginning = solid(element.text or "")
        if len(beginning) >= _TELLING and beginning[:_MAX_LINE] in main:
            return
        text = line_text(element)
        if not text or len(text) > _MAX_LINE or _UNTOLD.search(text):
            continue
        # "Harbour view" is a name as a heading.
        may_count = element.tag not in _HEADINGS or any(map(str.isdigit, text))
        if may_count and names_a_counter(text):
            continue
        date = date_of_event(text)
        if date is not None:
            fact = None if is_date_of_page(element, text) else Fact("date", date, is_field=True)
        else:
            fact = _words(element, text) if beginning else None
        if fact is not None:
            yield Stated(element, "", text, fact, has_place=True)


def is_date_of_page(element: HtmlElement, text: str) -> bool:
    """Return whether the date in a line is that of the page or of a visit, not of an event.

    The words of the line say so, or the names of elements around it or in it.
    """
    around = islice(element.iterancestors(), _MAX_AROUND_DATE)
    return is_date_of_visit(text) or any(
        any(map(_NO_DATE.fullmatch, [*names_of(each), each.get("itemprop", "")]))
        for each in chain([element], around, element.iterdescendants())
        if each.tag != "body"
    )


def is_control(element: HtmlElement) -> bool:
    """Return whether an element is a link or another control, or the label of one.

    An ``<a>`` that is an anchor, or a mark of one beside a heading, is no link, and a ``<label>``
    may stand before a value.
    """
    if element.tag == "a":
        return not is_anchor(element)
    if element.tag == "label":
        parent = element.getparent()
        around = (element if parent is None else parent).iter()
        return any(each.tag in _INPUTS for each in islice(around, _MAX_BESIDE_LABEL))
    return element.tag in _CONTROLS


def _words(element: HtmlElement, text: str) -> Fact | None:
    """Return what a line says that is the same in each copy of the page, if anything."""
    # A number in a line may be a counter.
    words = text if element.tag in _HEADINGS else without_numbers(text)
    is_told = any(map(str.isalpha, words)) and not _UNTOLD_IN_WORDS.search(text)
    if normalize(text) in LIST_KINDS:
        return None
    # Prices are facts of their own.
    if not is_told or is_byline(text) or has_date(text) or prices_in(text):
        return None
    return None if _is_no_content(element) else Fact("", words, is_field=True)


def _is_no_content(element: HtmlElement) -> bool:
    # Items of lists stand in the main text, or are those of a menu.
    if element.tag == "li" or any(map(_has_no_line, element.iter())):
        return True
    around = islice(element.iterancestors(), _MAX_AROUND_WORDS)
    return any(
        _has_no_line(each) or (each.tag != "body" and any(map(_NO_WORDS.fullmatch, names_of(each))))
        for each in chain([element], around)
    )


def _has_no_line(element: HtmlElement) -> bool:
    return element.tag in _NO_LINES or is_control(element)
