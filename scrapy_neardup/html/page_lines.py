"""Cuts a page into lines, and finds the last line of its main text.

A line is the text between two elements that break it, whatever words in it are bold or links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import islice, product, tee
from typing import NamedTuple, cast
from unicodedata import normalize

from lxml.html import HtmlElement

#: Elements that do not break a word or a line.
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q rp ruby s samp "
    "small span strike strong sub sup time tt u var wbr nobr slot blink noindex".split()
)
#: Elements of what a page shows beside its own content.
BESIDE = frozenset("nav footer aside menu template noscript".split())
#: Characters of a line by which it is recognised; the second if there is no longer line.
_LENGTHS = (range(12, 1 << 30), range(4, 12))
#: So many lines behind it are looked at for the rest of the text, if it ends with shorter ones, and
#: what extractors put before them, as in a list, has so many characters at most.
_MAX_SHORT, _MAX_MARK = 32, 3
#: Characters of the main text that are searched for lines, all in all.
_MAX_SEARCHED = 1 << 26
#: A backslash stands before bars in cells of tables.
_SEPARATORS = re.compile(r"\\?\||[:：␤]")
#: How often a character reference may be escaped, as ``&amp;amp;lt;`` is twice.
_MAX_ESCAPED = 3


class Line(NamedTuple):
    """A line of a page.

    :ivar around: innermost element around it that breaks lines.
    :ivar before: last element that begins before its text.
    :ivar texts: its text nodes.
    :ivar is_beside: whether it is in a part such as a footer.
    """

    around: HtmlElement
    before: HtmlElement
    texts: list[str]
    is_beside: bool


def last_line(body: HtmlElement, main: str) -> Line | None:
    """Return the line of the page that is closest to the end of its main text.

    A footer may repeat a line of the text. So its place in the text counts, and of equal lines the
    last one that is not in a part such as a footer.

    :param main: :func:`solid` main text.
    """
    turned = main[::-1]
    n_lines = _MAX_SEARCHED // (len(main) + 1)
    choices = [*product(_LENGTHS, (False, True))]
    # Mostly one of the first lines is found, and the rest of the page is not walked through.
    copies = tee(_lines_backwards(body), len(choices))
    for lines, (lengths, is_beside) in zip(copies, choices, strict=True):
        part = (line for line in lines if line.is_beside is is_beside)
        found, n_rest = _closest(islice(part, n_lines), turned, lengths)
        if found is not None:
            return _with_rest(body, found, main[len(main) - n_rest :])
    return None


def _with_rest(body: HtmlElement, last: Line, rest: str) -> Line:
    """Return the line of the page with which a text ends.

    :param last: its last line that is not short.
    :param rest: the text behind it, as of "Size: M" below a description.
    """
    behind: list[Line] = []
    for line in _lines_backwards(body) if rest else ():
        if (line.around, line.before) == (last.around, last.before):
            break
        behind.append(line)
    for line in islice(reversed(behind), _MAX_SHORT):
        text = solid("".join(line.texts))
        place = rest.find(text, 0, len(text) + _MAX_MARK) if text and not line.is_beside else -1
        if place >= 0:
            last, rest = line, rest[place + len(text) :]
    return last


def _closest(lines: Iterable[Line], turned: str, lengths: range) -> tuple[Line | None, int]:
    """Return the first line that is closest to the beginning of a text, both from right to left.

    The number is that of the characters before it.
    """
    best, least = None, len(turned)
    for line in lines:
        for text in _recognisable(line, lengths):
            if -1 < (place := turned.find(text[::-1])) < least:
                best, least = line, place
        if not least:
            break
    return best, least


def _recognisable(line: Line, lengths: range) -> Iterator[str]:
    """Yield a line, and the longest part of it: an extractor may leave a part out."""
    whole = solid("".join(line.texts))
    if len(whole) in lengths:
        yield whole
        if len(line.texts) > 1 and len(part := solid(max(line.texts, key=len))) in lengths:
            yield part


def _lines_backwards(body: HtmlElement) -> Iterator[Line]:
    """Yield the lines that have a text, from the last one on."""
    texts: list[str] = []
    n_beside = 0
    for is_start, element in _tags_backwards(body):
        text = element.text if is_start else element.tail
        if text and not text.isspace() and (is_start or element is not body):
            texts.append(text)
            first = is_start, element
        if element.tag not in INLINE:
            if texts:
                around = element if is_start else _parent(element, body)
                yield Line(around, _begun_before(*first), texts[::-1], n_beside > 0)
                texts = []
            if element.tag in BESIDE:
                n_beside += -1 if is_start else 1
    if texts:
        yield Line(body, _begun_before(*first), texts[::-1], is_beside=False)


def _tags_backwards(root: HtmlElement) -> Iterator[tuple[bool, HtmlElement]]:
    """Yield each element twice, from the last tag of the source on, and whether it starts there."""
    element: HtmlElement | None = root
    while element is not None:
        yield False, element
        within = next(element.iterchildren(reversed=True), None)
        while within is None:
            yield True, element
            if element is root:
                return
            within = element.getprevious()
            if within is None:
                element = cast("HtmlElement", element.getparent())
        element = within


def _begun_before(is_start: bool, element: HtmlElement) -> HtmlElement:
    """Return the last element that begins before the text behind a tag of an element."""
    if is_start:
        return element
    while (within := next(element.iterchildren(reversed=True), None)) is not None:
        element = within
    return element


def _parent(element: HtmlElement, body: HtmlElement) -> HtmlElement:
    parent = element.getparent()
    return body if parent is None or element is body else parent


def short_text(element: HtmlElement, n_elements: int, length: int) -> str | None:
    """Return the text of an element in one line; ``None`` if it has too much in it for a line.

    :param n_elements: so many elements may be in it.
    :param length: so many characters are allowed.
    """
    if next(islice(element.iterdescendants(), n_elements, None), None) is not None:
        return None
    text = one_line(element)
    return text if len(text) <= length else None


def one_line(element: HtmlElement) -> str:
    """Return the text of an element in one line, with a blank between the texts of elements."""
    return " ".join(" ".join(cast("Iterator[str]", element.itertext())).split())


def solid(text: str) -> str:
    """Return a text in lower case, without white space, colons, and the bars between cells.

    Extractors leave invisible characters out, compose letters with their accents and resolve
    character references that are text, so this does as well. Otherwise no line would be found of a
    Persian page, which has joiners, or of one whose links have ``&region=``.
    """
    if "&" in text:
        for _ in range(_MAX_ESCAPED):
            text = unescape(text)
    text = "".join(text.split())
    if not text.isprintable():
        text = "".join(filter(str.isprintable, text))
    return _SEPARATORS.sub("", normalize("NFC", text)).casefold()
