"""Collects the facts that a page states: headings, prices, tables, terms, labels, and lines.

Two products may have one title and one description, and differ in the price or the colour that
stand in a box beside it, or in their size. Copies of a page differ outside the text too: in
counters, clocks and recommended pages. So only facts of the page's own content count, between its
heading and the end of its text, and around it only fields, which a copy may lack.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import partial
from itertools import chain, islice
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

from ...text.characters import with_plain_quotes
from ...text.signs.currencies import prices_in
from ..headings import beginning_of_text, heading_above, heading_text
from ..page_lines import last_line, solid
from .choices import choices
from .content import (
    CODE_BLOCK,
    HEADING,
    HEADING_IN_TITLE,
    HEADINGS,
    MAX_DESCENDANTS,
    MAX_FACTS,
    MAX_LABEL,
    Content,
    Fact,
    Stated,
    broken_lines,
    line_text,
    without_numbers,
)
from .files import files
from .labels import is_byline, is_dated_byline, telling_value
from .lines_above import lines_above
from .lines_beside import IsInText, line_beside, lines_beside, rows_beside, rows_of_two
from .linked_lists import linked_lists
from .pictures import pictures
from .prices import prices
from .side_columns import own_boxes
from .stable_lines import stable_text_behind
from .table_rows import table_rows

_LABEL_ENDS = ":： "
#: A line that is longer behind its label, or has another one there, is a sentence or several facts.
#: The colon of "12:30" is none of a label.
_LABELLED = re.compile(
    rf"([^:：]{{0,{MAX_LABEL}}}[^\d\s:：]) ?[:：] ?"
    rf"([^\s:：](?:[^:：]|(?<=\d):(?=\d\d)){{0,{MAX_LABEL}}})"
)
_LINES, _MAX_LINE = ("p", "li", "div"), 100
_BROKEN = etree.XPath("descendant-or-self::*[br]")
#: With so many characters, the main text says the same whatever label stands before it.
_TELLING = 12
#: So many places of the main text are looked at for a price.
_MAX_PLACES = 50
#: Characters of a block of code by which it is told from others.
_MAX_CODE = 4000
#: The name at the end of a heading, as in "Function load" and "load(3)".
_NAME = re.compile(r"(operator[^\w\s]{1,3}|\w{3,})(?:\(\w*\))?$")
#: A heading of more words is a sentence, and a longer block of code an example.
_MAX_NAME_WORDS, _MAX_DECLARATION = 4, 1000


def page_facts(body: HtmlElement, heading: HtmlElement | None, title: str, text: str) -> list[Fact]:
    """Return the facts that a page states outside its main text, and its fields and heading.

    :param body: as parsed.
    :param heading: :func:`~scrapy_neardup.html.headings.main_heading` of the page.
    :param text: main text of the page.
    """
    main = solid(text)
    last = last_line(body, main)
    if last is None:
        return []
    if heading is None:
        heading = heading_above(body, main)
    start = beginning_of_text(body, main) if heading is None else heading
    has_heading = heading is not None
    content = Content(body, start, last, has_heading=has_heading, own_boxes=own_boxes)
    # What stands beside the text cannot be told without its beginning; prices are rarely others'.
    stated = [prices(content)]
    if heading is not None:
        stated += [_name(heading, title), _declaration(content, heading)]
        stated.append(_name_above(body, heading, title, main))
    if start is not None:
        stated.append(_labels(content))
        is_in_text = partial(_has_line, main, _lines_of(text))
        stated += [_rows(content, is_in_text), _terms(content), _broken_labels(content)]
        stated += [_rows_of_two(content), _code(content)]
        stated += [lines_above(content, main), lines_beside(content, is_in_text)]
        stated += [pictures(content), files(content), choices(content)]
        stated.append(linked_lists(content, is_in_text))
    found = (
        each.fact
        for each in chain.from_iterable(stated)
        if (each.has_place or not _is_in(each, main))
        # Some themes have the heading in a box that they call after the path above it.
        and (each.element is heading or not content.is_beside(each.element))
    )
    return list(dict.fromkeys(found))


def _name(heading: HtmlElement, title: str) -> Iterator[Stated]:
    """Yield what a heading says, as on a site with one title.

    A title may have the headings of several pages in it: "Plumber in Leeds, Bath and Hull".
    """
    if name := heading_text(heading):
        own, whole = (solid(with_plain_quotes(text)) for text in (name, title))
        label = HEADING_IN_TITLE if own in whole else HEADING
        # It counts even if the main text has it: articles have their headings within.
        yield Stated(heading, "", name, Fact(label, name), has_place=True)


def _name_above(body: HtmlElement, heading: HtmlElement, title: str, main: str) -> Iterator[Stated]:
    """Yield the heading right above the text if the page's first heading is that of its site.

    Such a site has one title, which is that first heading as well.
    """
    if solid(heading_text(heading)) != solid(title):
        return
    above = heading_above(body, main)
    if above is not None and above is not heading and above.tag in HEADINGS:
        name = heading_text(above)
        yield Stated(above, "", name, Fact("heading above", name, is_field=True), has_place=True)


def _is_in(stated: Stated, main: str) -> bool:
    """Return whether the main text has a label and its text, or the text alone if it is long."""
    text = solid(stated.text)
    return _has(main, solid(stated.label) + text) or (len(text) >= _TELLING and text in main)


def _has(main: str, text: str) -> bool:
    """Return whether the main text has a text, and not as a part of a longer number."""
    place = main.find(text)
    for _ in range(_MAX_PLACES):
        if place < 0 or not text:
            break
        around = ((main[place - 1 : place], text[0]), (main[place + len(text) :][:1], text[-1]))
        if not any(each.isdigit() and end.isdigit() for each, end in around):
            return True
        place = main.find(text, place + 1)
    return not text


def _has_line(main: str, lines: Container[str], line: str, is_in_content: bool) -> bool:
    """Return whether the main text has a line.

    Within the content the line must be a line of the text, or long and anywhere in it; around the
    content it must be long and a line of the text.
    """
    if line in lines and is_in_content:
        # Most lines are found so, which takes a part of the time.
        return True
    if not is_in_content and line not in lines:
        # The text names all branches, and the line says which one this is.
        return False
    text = solid(line)
    return len(text) >= _TELLING and _has(main, text)


def _lines_of(text: str) -> set[str]:
    """Return the lines of a text and the cells of its tables, without marks of lists."""
    lines = text.splitlines()
    return {part.strip(" -*•") for line in lines for part in [line, *line.split("|")]}


def _rows(content: Content, is_in_text: IsInText) -> Iterator[Stated]:
    rows = [*table_rows([*islice(content.rows_and_rest("tr"), MAX_FACTS)], line_text)]
    for row in rows:
        is_own = content.is_behind_heading(row.element)
        if is_own:
            yield from _stated(row.element, row.label, row.stated, has_place=row.has_gaps)
        if row.n_stated == 1:
            yield from _field(row.element, row.label, row.stated, is_around=not is_own)
    yield from rows_beside(content, rows, is_in_text)


def _terms(content: Content) -> Iterator[Stated]:
    for term in islice(content.rows_and_rest("dt"), MAX_FACTS):
        described = term.getnext()
        if described is not None and described.tag == "dd":
            label, text = line_text(term) or "", line_text(described) or ""
            is_own = content.is_behind_heading(term)
            if is_own:
                yield from _stated(term, label, text)
            yield from _field(term, label, text, is_around=not is_own)


def _rows_of_two(content: Content) -> Iterator[Stated]:
    for row, label, value in rows_of_two(content):
        if not is_dated_byline(label, value):
            yield from _field(row, label, value, is_around=not content.is_behind_heading(row))


def _code(content: Content) -> Iterator[Stated]:
    """Yield blocks of code: extractors leave some of them out."""
    for block, text in _blocks_of_code(content):
        yield Stated(block, "", text, Fact(CODE_BLOCK, text))


def _declaration(content: Content, heading: HtmlElement) -> Iterator[Stated]:
    """Yield the code that declares what a heading names: overloads have one title and heading.

    As in a reference, it is the first code behind the heading.
    """
    words = heading_text(heading).split()
    name = _NAME.search(words[-1]) if words and len(words) <= _MAX_NAME_WORDS else None
    if name is None:
        return
    block, text = next(_blocks_of_code(content), (heading, ""))
    if len(text) <= _MAX_DECLARATION and re.search(rf"(?<![^\W_]){re.escape(name[1])}(?!\w)", text):
        # Unlike other facts it counts even if the main text has it.
        yield Stated(block, "", text, Fact(HEADING, solid(text)), has_place=True)


def _blocks_of_code(content: Content) -> Iterator[tuple[HtmlElement, str]]:
    """Yield blocks of code and their beginnings, in one line. Numbers alone are those of lines."""
    for block in islice(content.rows("pre"), MAX_FACTS):
        text = " ".join("".join(cast("Iterator[str]", block.itertext())).split())[:_MAX_CODE]
        if any(map(str.isalpha, text)):
            yield block, text


def _labels(content: Content) -> Iterator[Stated]:
    """Yield lines such as "Colour: red"."""
    if ":" not in content.text and "：" not in content.text:
        return
    count = 0
    for line in content.rows_and_rest(*_LINES):
        beginning = (line.text or "").lstrip()
        if len(beginning) > _MAX_LINE or len(line) >= MAX_DESCENDANTS:
            continue
        for element in line[:2]:
            beginning += f"{element.text}{element.tail}"
        if ":" in beginning or "：" in beginning:
            found = _LABELLED.fullmatch(line_text(line) or "")
            is_own = content.is_before_end(line)
            # A time is no statement without its numbers.
            if found and is_own and ":" not in found[2] and not is_byline(found[1]):
                yield from _stated(line, found[1], found[2])
            if found:
                yield from _field(line, found[1], found[2], is_around=not is_own)
            count += 1
            if count == MAX_FACTS:
                return


def _broken_labels(content: Content) -> Iterator[Stated]:
    """Yield lines such as "Colour: red" of elements that ``<br>`` breaks into lines."""
    broken = (cast("list[HtmlElement]", _BROKEN(part)) for part in content.parts)
    for element in islice(chain.from_iterable(broken), MAX_FACTS):
        for text in broken_lines(element):
            if found := _LABELLED.fullmatch(text):
                is_around = not content.is_before_end(element)
                yield from _field(element, found[1], found[2], is_around=is_around)


def _stated(
    element: HtmlElement, label: str, stated: str, *, has_place: bool = False
) -> Iterator[Stated]:
    """Yield a fact without its numbers, if words, prices or its place are left.

    :param has_place: whether it matters where cells stand; a 0 then stands for each number.
    """
    priced = [price.replace(" ", "") for price in prices_in(stated)]
    words = without_numbers(stated, " 0 " if has_place else " ")
    if priced or has_place or any(map(str.isalpha, words)):
        fact = Fact(label.rstrip(_LABEL_ENDS), " ".join([*priced, words]))
        yield Stated(element, label, stated, fact, has_place)


def _field(element: HtmlElement, label: str, stated: str, *, is_around: bool) -> Iterator[Stated]:
    """Yield a short value that tells pages of a form apart, such as a size, whole.

    It counts even if the main text has it: there, one word or number may have been edited.
    """
    label = label.rstrip(_LABEL_ENDS)
    value = telling_value(label, stated)
    if value is not None:
        fact = Fact(label, value, is_field=True, is_around=is_around)
        yield Stated(element, label, stated, fact, has_place=True)
    elif (value := stable_text_behind(label, stated)) is not None:
        yield line_beside(element, label, value)
