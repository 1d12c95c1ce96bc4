"""Collects the entries of a list, by which lists are recognised that have other names.

The archive of a month and the page of a tag may list the same posts. They differ in their titles,
in the line that repeats the title ("Tag: kettles"), in the links to their other pages, and in the
order of the posts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

from ..text.titles import title_parts
from .page_lines import INLINE, solid

#: A link to another page of the same list: it has such a word in ``rel``, or no letter in its text
#: and such an address.
_OTHER_PAGE = frozenset(("prev", "previous", "next"))
_OF_OTHER_PAGE = re.compile(r"\bpage[/_=-]?\d|[?&](?:paged?|pg|p|start|offset)=\d", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
#: Words of ASCII letters, numbers, and words of other letters; Chinese has no blanks between them.
_ASCII_WORD, _NUMBER = re.compile(r"[a-z][a-z\d]+"), re.compile(r"\d+")
_OTHER_WORD = re.compile(r"[^\W\da-z]{2,}")
#: Entries that the main text names by so many characters must make up this part of it: the links of
#: a menu, and the terms of delivery, are shown with any list.
_MIN_NAME, _MIN_SHARE = 8, 0.5
#: Characters of the main text that are searched for entries, all in all.
_MAX_SEARCHED = 1 << 26
#: A line that repeats a title has no more characters than this besides the title's words.
_MAX_MORE = 24


class Entry(NamedTuple):
    """A link, and the lines behind it up to the next link.

    :ivar address: as it is written; empty before the first link.
    """

    address: str
    text: str
    lines: list[str]


class ListedEntries(NamedTuple):
    """The entries of a list, and its main text without the line that repeats its title."""

    text: str
    entries: Sequence[Entry]


def listed_entries(body: HtmlElement, title: str, main: str) -> ListedEntries | None:
    """Return the entries of a list; ``None`` if its main text says little of them.

    Scripts may show the entries of such a list.

    :param body: of the page, from which invisible elements have been removed.
    :param main: the main text.
    """
    parts = title_parts(title)
    # The last part is mostly the name of the site, which other lines repeat as well.
    title = " ".join(parts[:-1] or parts)
    name = None
    entries = [Entry("", "", [])]
    for item in _lines_and_links(body):
        if isinstance(item, Entry):
            entries.append(item)
        elif name is None and _repeats(item.casefold(), title):
            name = solid(item)
        else:
            entries[-1].lines.append(item)
    lines = main.split("\n")
    text = "\n".join(line for line in lines if name is None or solid(line) != name)
    return ListedEntries(text, entries) if _tells(text, entries) else None


def _tells(main: str, entries: Iterable[Entry]) -> bool:
    """Is at least half of a text that of entries?"""
    main = solid(main)
    n_searches, told = _MAX_SEARCHED // (len(main) + 1), 0
    for _, text, lines in entries:
        name = solid(text)
        if len(name) < _MIN_NAME:
            continue
        n_searches -= 1 + len(lines)
        if n_searches < 0:
            break
        if name in main:
            told += len(name) + sum(len(line) for line in map(solid, lines) if line in main)
    return told >= _MIN_SHARE * len(main)


def _lines_and_links(body: HtmlElement) -> Iterator[str | Entry]:
    """Yield the lines outside of links, and the links but for those to other pages of the list."""
    pieces: list[str] = []
    walk = etree.iterwalk(body, events=("start", "end"))
    for event, element in walk:
        is_link = event == "start" and _leads_to_page(element)
        if is_link or element.tag not in INLINE:
            if line := _line(pieces):
                yield line
            pieces.clear()
        if is_link:
            walk.skip_subtree()
            text = _line(cast("Iterator[str]", element.itertext()))
            if not _leads_to_other_page(element, text):
                yield Entry(element.get("href", ""), text, [])
        elif event == "start":
            pieces.append(element.text or "")
        elif element is not body:
            pieces.append(element.tail or "")
    if line := _line(pieces):
        yield line


def _leads_to_page(element: HtmlElement) -> bool:
    """Is this a link, and not one to a place in its own page?"""
    return element.tag == "a" and not element.get("href", "#").startswith("#")


def _line(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())


def _leads_to_other_page(link: HtmlElement, text: str) -> bool:
    """Does a link lead to another page of the list that it is on?"""
    if not _OTHER_PAGE.isdisjoint(link.get("rel", "").lower().split()):
        return True
    return bool(_OF_OTHER_PAGE.search(link.get("href", ""))) and not _LETTER.search(text)


def _repeats(line: str, name: str) -> bool:
    """Does a line repeat words of a name, beside few others and no other number?

    :param line: in lower case, as the name is.
    """
    numbers = set(_NUMBER.findall(name))
    if not numbers.issuperset(_NUMBER.findall(line)):
        return False
    words = numbers.union(_ASCII_WORD.findall(name))
    own = [word for word in (*_ASCII_WORD.findall(line), *_NUMBER.findall(line)) if word in words]
    own += [word for word in _OTHER_WORD.findall(name) if word in line]
    return bool(own) and len(line) - sum(map(len, own)) <= _MAX_MORE
