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

from .._util.urls import is_page_of_list
from ..text.normalization import normalize
from ..text.titles import LIST_KINDS, title_parts
from .links.addresses import joined
from .page_lines import INLINE, solid

#: Words that say of a line that it names a list.
_OF_NAMES = (
    "a about all and articles browsing by day entries filed for from in items listed month months "
    "of on posted posts results showing stories tagged the under viewing with year years"
)
_NAMES_LIST = re.compile(
    rf"\b(?:{'|'.join([*_OF_NAMES.split(), *LIST_KINDS])})\b|"
    "正在|查看|浏览|显示|文章|分类|目录|标签|归档|存档|所有|全部|下|的|年|月|日"
)
_WORD = re.compile(r"[a-z]+|\d+|[^\W\da-z]+")
_LETTER = re.compile(r"\w")
#: The longest line that does.
_MAX_NAME = 80
#: Entries that the main text names by so many characters must make up this part of it: the links of
#: a menu, and the terms of delivery, are shown with any list.
_MIN_NAME, _MIN_SHARE = 8, 0.5
#: Characters of the main text that are searched for entries, all in all.
_MAX_SEARCHED = 1 << 26
#: Values of ``rel`` of links to the pages before and behind.
_OTHER_PAGE = frozenset(("prev", "previous", "next"))


class Entry(NamedTuple):
    """A link, and the lines behind it up to the next link.

    :ivar address: absolute; empty before the first link.
    """

    address: str
    text: str
    lines: list[str]


class ListedEntries(NamedTuple):
    """The entries of a list, and its main text without the line that repeats its title."""

    text: str
    entries: Sequence[Entry]


def listed_entries(
    body: HtmlElement, title: str, main: str, url: str, base: str
) -> ListedEntries | None:
    """Return the entries of a list; ``None`` if its main text says little of them.

    Scripts may show the entries of such a list.

    :param body: of the page, from which invisible elements have been removed.
    :param main: the main text.
    :param url: of the list.
    :param base: the address, relative to the URL, that addresses are relative to.
    """
    name, base = None, joined(url, base)
    of_title = _words_of(title)
    entries = [Entry("", "", [])]
    for item in _lines_and_links(body):
        if isinstance(item, Entry):
            address = joined(base, item.address)
            if not is_page_of_list(address, url):
                entries.append(item._replace(address=address))
        elif name is None and _only_repeats(item, of_title):
            name = solid(item)
        else:
            entries[-1].lines.append(item)
    lines = main.split("\n")
    text = "\n".join(line for line in lines if name is None or solid(line) != name)
    return ListedEntries(text, entries) if _tells(text, entries) else None


def _tells(main: str, entries: Iterable[Entry]) -> bool:
    """Return whether entries make up at least half of a text."""
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
            if _OTHER_PAGE.isdisjoint(element.get("rel", "").lower().split()):
                text = _line(cast("Iterator[str]", element.itertext()))
                yield Entry(element.get("href", ""), text, [])
        elif event == "start":
            pieces.append(element.text or "")
        elif element is not body:
            pieces.append(element.tail or "")
    if line := _line(pieces):
        yield line


def _leads_to_page(element: HtmlElement) -> bool:
    """Return whether an element is a link, and not one to a place in its own page."""
    return element.tag == "a" and not element.get("href", "#").startswith("#")


def _line(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())


def _words_of(title: str) -> re.Pattern[str]:
    """Return a pattern for the words of a title without its last part, mostly the site's name."""
    parts = title_parts(title)
    words = sorted(_WORD.findall(" ".join(parts[:-1] or parts)), key=len, reverse=True)
    return re.compile(rf"(?<![a-z\d])(?:{'|'.join(words)})(?![a-z\d])" if words else "(?!)")


def _only_repeats(line: str, of_title: re.Pattern[str]) -> bool:
    """Return whether a line has words of a title, and besides them only words that name a list."""
    if len(line) > _MAX_NAME:
        return False
    rest, n_repeated = of_title.subn(" ", normalize(line))
    return n_repeated > 0 and _LETTER.search(_NAMES_LIST.sub(" ", rest)) is None
