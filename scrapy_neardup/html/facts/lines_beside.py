"""Finds short lines beside the main text, and rows of two elements.

An address or a size may stand in an element of its own that says what it is by its class only, or
not at all: ``<p class="address">12 High Street</p>``. Copies of a page have the same lines there,
but for counters and the like.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import cast

from lxml.html import HtmlElement

from ...text.counters import names_only_a_counter
from ..page_lines import INLINE
from .content import MAX_FACTS, MAX_LINE, Content, Fact, Stated, broken_lines, line_text, names_of
from .labels import date_of_event
from .lines_above import is_date_of_page
from .table_rows import Row
from .told_lines import is_passage, told, told_within

#: Tells whether the main text has a line, which stands in the content or not.
IsInText = Callable[[str, bool], bool]
#: Characters before the first element in another one that has a line, white space included.
_MAX_TEXT = 400
#: Characters of the longest passage within the content, and elements in it.
_MAX_PASSAGE, _MAX_WITHIN = 1000, 50
#: Elements whose lines are searched for in the main text, and of these that are looked at.
_MAX_SEARCHED, _MAX_LOOKED_AT = 5000, 1000
#: Elements of no line, and those that break none.
_ELSEWHERE = frozenset(
    "script style br img svg input tr dt pre code a button option select textarea label h1".split()
)
_WITHIN_LINE = INLINE | {"br", "img", "svg", "picture", "button", "label", "output", "math"}
_OF_ROWS = ("div", "p", "li", "span")
#: What visitors use, whose texts are none of a line.
_USED = frozenset(("a", "button", "select", "label", "textarea"))
#: Words of classes and ids of what is for visitors, and of what is about their visit.
_FOR_VISITORS = re.compile(
    r"(?<![a-z])(?:user|login|account|greeting|welcome|visitors?|share|sharing|social|counter|"
    r"countdown|breadcrumbs?|crumbs?|pagination|toc|toolbar|cookies?|consent|captcha|newsletter|clock|"
    r"posted|byline|weather|wetter|meteo|pogoda|ticker|markets|now-playing|of-the-day|poll|survey|quiz|"
    r"reviews?|testimonials?|replies|answers|kommentare?|commentaires?|comentarios?|commenti|"
    r"pinglun|discussion|likes|claps|votes|availability|stock|switcher|ship-to|statistics|"
    r"werbung|reklama|publicit[ey]|publicidad|pubblicita|guanggao|online|reading-time)(?![a-z])",
    re.IGNORECASE,
)
_OF_EVENT = re.compile(
    r"(?<![a-z])(?:events?|shows?|concerts?|courses?|termine?|when|start|end)(?![a-z])",
    re.IGNORECASE,
)
#: How many elements around a line are looked at.
_MAX_AROUND = 4
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W_]+")


def rows_of_two(content: Content) -> Iterator[tuple[HtmlElement, str, str]]:
    """Yield elements of two others alone, and what these say: a label and a value."""
    rows = (each for each in content.elements() if each.tag in _OF_ROWS and 2 <= len(each) <= 3)
    for row in islice(rows, MAX_FACTS):
        # There may be an icon, too.
        texts = [text for each in row if (text := line_text(each)) != ""]
        if len(texts) != 2 or None in texts or any(each.tag in _USED for each in row[0].iter()):
            continue
        if _has_own_text(row) or _is_for_visitors(content, row):
            continue
        label, value = (text or "" for text in texts)
        if any(map(str.isalpha, label)):
            yield row, label, value
        else:
            # A number may stand above what is counted.
            yield row, value, label


def rows_beside(content: Content, rows: Iterable[Row], is_in_text: IsInText) -> Iterator[Stated]:
    """Yield rows of tables that the main text has not.

    First cells are lines as well, because they may be what a row is about, and no label. Of each
    table, the rows of numbers alone are one line.
    """
    numbers: defaultdict[HtmlElement, list[str]] = defaultdict(list)
    counted = set()
    for row in rows:
        table = next(row.element.iterancestors("table"), row.element)
        line = f"{row.label} {row.stated}"
        if names_only_a_counter(line):
            counted.add(table)
        elif is_in_text(line, content.is_behind_heading(row.element)):
            continue
        elif not any(map(str.isalpha, line)):
            numbers[table].append(line)
        elif not any(each.tag in _USED for each in row.element.iter()):
            yield line_beside(table, _names(table, row.label), row.label)
            if row.n_stated > 1:
                yield line_beside(row.element, row.label, row.stated)
    for table, lines in numbers.items():
        if table not in counted:
            yield line_beside(table, _names(table, ""), " ".join(lines))


def lines_beside(content: Content, is_in_text: IsInText) -> Iterator[Stated]:
    """Yield lines that the main text has not, under the names of their elements."""
    rest = (
        (element, is_within, lines)
        for element, is_within, each in islice(_elements_of_lines(content), _MAX_SEARCHED)
        if (lines := [line for line in each if not is_in_text(line, is_within)])
    )
    for element, is_within, lines in islice(rest, _MAX_LOOKED_AT):
        if content.is_beside(element):
            continue
        said = (
            told_within(line) if is_within and is_passage(line) else told(line)
            for line in _with_labels(lines)
        )
        values = [value for value in said if value is not None]
        if not values or content.is_of_another(element) or _is_for_visitors(content, element):
            continue
        for value in values:
            if date_of_event(value) is None or not _has_date_of_page(content, element):
                yield line_beside(element, _names(element, value), value)


def line_beside(element: HtmlElement, label: str, value: str) -> Stated:
    """Return a line of an element, under a label that tells it from the other lines of a page."""
    fact = Fact(label, value, is_field=True, is_around=True, is_line=True)
    return Stated(element, "", value, fact, has_place=True)


def _elements_of_lines(content: Content) -> Iterator[tuple[HtmlElement, bool, list[str]]]:
    """Yield elements, whether they are within the content, and their lines.

    Of elements that others break into lines, these are their own text only.
    """
    elements = list(content.elements())
    broken = {each.getparent() for each in elements if each.tag not in _WITHIN_LINE}
    has_own_text = cache(_has_own_text)
    found: set[HtmlElement] = set()
    for element in elements:
        parent = element.getparent()
        if _is_elsewhere(element) or len(element.text or "") > _MAX_TEXT:
            continue
        # A word in a longer text is no line, nor is a part of one.
        if parent in found or (element.tag in INLINE and has_own_text(parent)):
            found.add(element)
            continue
        is_within = content.is_before_end(element)
        if element in broken:
            own = [" ".join(" ".join(_own_texts(element)).split())]
            lines = own if has_own_text(element) else []
        elif is_within and (passage := _passage(element)):
            lines = [passage]
        else:
            lines = broken_lines(element, without=_USED)
        if lines and max(map(len, lines)) <= (_MAX_PASSAGE if is_within else MAX_LINE):
            if element not in broken:
                found.add(element)
            yield element, is_within, lines


def _passage(element: HtmlElement) -> str:
    """Return the text of an element if it is a sentence or longer than a line, else nothing."""
    if len(element) > _MAX_WITHIN:
        return ""
    text = " ".join("".join(cast("Iterator[str]", element.itertext())).split())
    return text if is_passage(text) else ""


def _is_elsewhere(element: HtmlElement) -> bool:
    """Is an element none of a line, or looked at with others?"""
    if element.tag in ("td", "th"):
        return len(element.getparent()) > 1
    if element.tag == "dd":
        previous = element.getprevious()
        return previous is None or previous.tag != "dd"
    return element.tag in _ELSEWHERE


def _with_labels(lines: list[str]) -> list[str]:
    """Return lines, those without letters together with the one before, which may be a label."""
    pairs = zip(["", *lines], lines, strict=False)
    return [
        line if any(map(str.isalpha, line)) else f"{before} {line}".strip()
        for before, line in pairs
    ]


def _own_texts(element: HtmlElement) -> Iterator[str]:
    """Yield the texts of an element that are in none of those in it."""
    texts = chain([element.text], (each.tail for each in element))
    return (text for text in texts if text and not text.isspace())


def _has_own_text(element: HtmlElement) -> bool:
    return next(_own_texts(element), None) is not None


def _has_date_of_page(content: Content, element: HtmlElement) -> bool:
    return is_date_of_page(element, "") and not _is_named(content, element, _OF_EVENT)


def _is_for_visitors(content: Content, element: HtmlElement) -> bool:
    around = islice(element.iterancestors(), _MAX_AROUND)
    return _is_named(content, element, _FOR_VISITORS) or any(each.tag in _USED for each in around)


def _is_named(content: Content, element: HtmlElement, words: re.Pattern[str]) -> bool:
    """Has an element, or one around it, one of these words in its classes or its id?

    The names of what is around all of the content say what kind of page it is.
    """
    around = islice(element.iterancestors(), _MAX_AROUND)
    return any(
        words.search(" ".join(names)) is not None
        for each in chain([element], around)
        if not content.is_around(each) and (names := names_of(each))
    )


def _names(element: HtmlElement, value: str) -> str:
    """Return the names by which a line is told from others, those of what is around it if none.

    A name that has a word of the value differs with it: ``status-sold``.
    """
    parent = element.getparent()
    names = names_of(element)
    if not names and parent is not None:
        names = names_of(parent) or [str(parent.tag)]
    words = set(_WORD.findall(value.casefold()))
    names = [name for name in names if words.isdisjoint(_WORD.findall(name.casefold()))]
    # Elements are numbered, too.
    return _NUMBER.sub("", " ".join([*sorted(names), str(element.tag)]))
