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

from lxml.html import HtmlElement

from ...text.counters import names_a_counter
from ...text.signs.currencies import prices_in
from ..page_lines import INLINE
from .content import (
    MAX_FACTS,
    Content,
    Fact,
    Stated,
    broken_lines,
    line_text,
    names_of,
    without_numbers,
)
from .labels import date_of_event, has_date, is_byline, is_measure, n_columns
from .lines_above import (
    FOR_VISITORS,
    is_date_of_page,
    is_for_visitors,
    is_part_for_visitors,
    says_several,
)
from .table_rows import Row

#: Tells whether the main text has a line, which stands in the content or not.
IsInText = Callable[[str, bool], bool]
#: What has more characters is no line, and more columns that end with a full stop are a sentence.
_MAX_LINE, _MAX_SENTENCE = 60, 24
#: Characters before the first element in another one that has a line, white space included.
_MAX_TEXT = 400
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "…")
#: Elements that are looked at, at most.
_MAX_LOOKED_AT = 400
#: Elements of no line, and those that break none.
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_ELSEWHERE = _HEADINGS | frozenset(
    "script style br img input tr dt dd pre code a button option select".split()
)
_CELLS = ("td", "th")
_WITHIN_LINE = INLINE | {"br"}
_OF_ROWS = ("div", "p", "li", "span")
_NUMBER = re.compile(r"\d+")


def rows_of_two(content: Content) -> Iterator[tuple[HtmlElement, str, str]]:
    """Yield elements of two others alone, and what these say: a label and a value."""
    rows = (each for each in content.elements() if each.tag in _OF_ROWS and len(each) == 2)
    for row in islice(rows, MAX_FACTS):
        if _has_own_text(row) or any(each.tag in _HEADINGS for each in row):
            continue
        label, value = map(line_text, row)
        if label and value and not is_for_visitors(row):
            yield row, label, value


def rows_beside(content: Content, rows: Iterable[Row], is_in_text: IsInText) -> Iterator[Stated]:
    """Yield rows of more than two cells that the main text has not, and numbers alone by table."""
    numbers: defaultdict[HtmlElement, list[str]] = defaultdict(list)
    counted = set()
    for row in rows:
        table = next(row.element.iterancestors("table"), row.element)
        line = f"{row.label} {row.stated}"
        if names_a_counter(line):
            counted.add(table)
        elif is_in_text(line, content.is_behind_heading(row.element)):
            continue
        elif not any(map(str.isalpha, line)):
            numbers[table].append(line)
        elif row.n_stated > 1 and not is_for_visitors(row.element):
            yield _line(row.element, row.label, row.stated)
    for table, lines in numbers.items():
        if table not in counted:
            yield _line(table, _names(table), " ".join(lines))


def lines_beside(content: Content, is_in_text: IsInText) -> Iterator[Stated]:
    """Yield lines that the main text has not, under the names of their elements.

    Left out are sentences, prices, numbers of counters, and what visitors use.
    """
    for element, lines in islice(_elements_of_lines(content), _MAX_LOOKED_AT):
        is_in_content = content.is_before_end(element)
        rest = [line for line in lines if not is_in_text(line, is_in_content)]
        if not rest or content.is_beside(element):
            continue
        told = [value for line in rest if (value := _told(element, line))]
        if told and not (content.is_of_another(element) or is_part_for_visitors(element)):
            for value in told:
                yield _line(element, _names(element), value)


def _line(element: HtmlElement, label: str, value: str) -> Stated:
    fact = Fact(label, value, is_field=True, is_around=True, is_line=True)
    return Stated(element, "", value, fact, has_place=True)


def _elements_of_lines(content: Content) -> Iterator[tuple[HtmlElement, list[str]]]:
    """Yield the elements that no other one breaks into lines, and the lines of each."""
    elements = list(content.elements())
    broken = {each.getparent() for each in elements if each.tag not in _WITHIN_LINE}
    has_own_text = cache(_has_own_text)
    found: set[HtmlElement] = set()
    for element in elements:
        parent = element.getparent()
        is_elsewhere = element.tag in _ELSEWHERE or (element.tag in _CELLS and len(parent) > 1)
        if is_elsewhere or element in broken or len(element.text or "") > _MAX_TEXT:
            continue
        # A word in a longer text is no line, nor is a part of one.
        if parent in found or (element.tag in INLINE and has_own_text(parent)):
            found.add(element)
            continue
        lines = broken_lines(element, without=FOR_VISITORS)
        if lines and max(map(len, lines)) <= _MAX_LINE:
            found.add(element)
            yield element, lines


def _has_own_text(element: HtmlElement) -> bool:
    """Has an element a text that is in none of those in it?"""
    texts = chain([element.text], (each.tail for each in element))
    return any(text and not text.isspace() for text in texts)


def _told(element: HtmlElement, line: str) -> str | None:
    """Return what a line says that is the same in each copy of a page, if anything."""
    if (date := date_of_event(line)) is not None:
        return None if is_date_of_page(element, line) else date
    if says_several(line) or is_byline(line) or has_date(line) or prices_in(line):
        return None
    if n_columns(line) > _MAX_SENTENCE and line.endswith(_SENTENCE_ENDS):
        return None
    # A counter's word may be part of a name, but its number is that of the visit.
    is_counter = names_a_counter(line) and not is_measure(line)
    told = without_numbers(line) if is_counter else line
    return told if any(map(str.isalpha, told)) else None


def _names(element: HtmlElement) -> str:
    """Return the names by which a line is told from others, those of what is around it if none."""
    parent = element.getparent()
    names = names_of(element)
    if not names and parent is not None:
        names = names_of(parent) or [str(parent.tag)]
    # Elements are numbered, too.
    return _NUMBER.sub("", " ".join([*sorted(names), str(element.tag)]))
