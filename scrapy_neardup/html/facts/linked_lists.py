"""Finds the lists of links in a page's own content, as in a register of names.

Extractors leave most of them out. The pages of a register have one title and one introduction, so
only their entries tell one from another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import cast

from lxml.html import HtmlElement

from .content import MAX_LINE, Content, Stated, line_text
from .lines_beside import (
    IsInText,
    has_own_text,
    is_for_visitors,
    line_beside,
)
from .names import names_of_line
from .stable_lines import stable_text

#: Links that are looked at, and elements around each of which one may be an entry of a list.
_MAX_LINKS, _MAX_AROUND = 2000, 5
#: Entries of a list, at least, and lists of a page.
_MIN_ENTRIES, _MAX_LISTS = 3, 16
#: What an entry is of: its list, and how it is made.
_Kind = tuple[HtmlElement, str, str]


def linked_lists(content: Content, is_in_text: IsInText) -> Iterator[Stated]:
    """Yield the entries of each list that the main text has not, in any order."""
    for around, entries in islice(_lists(content), _MAX_LISTS):
        if content.is_beside(around) or is_for_visitors(content, around):
            continue
        texts = {text for entry, link in entries if (text := _stable_entry(entry, link))}
        if len(texts) < _MIN_ENTRIES or all(is_in_text(text, True) for text in texts):
            continue
        for names in names_of_line(around, ""):
            yield line_beside(around, f"links {names}", "\n".join(sorted(texts)))


def _lists(content: Content) -> Iterator[tuple[HtmlElement, list[tuple[HtmlElement, HtmlElement]]]]:
    """Yield the elements around lists, with their entries and the first link of each."""
    links = filter(content.is_behind_heading, content.surroundings.iter("a"))
    places = [(link, [*_places_of(content, link)]) for link in islice(links, _MAX_LINKS)]
    entries: defaultdict[_Kind, dict[HtmlElement, HtmlElement]] = defaultdict(dict)
    for link, kinds in places:
        for kind, entry in kinds:
            entries[kind].setdefault(entry, link)
    # The smallest elements of several like it are the entries, and not the columns around them.
    found: dict[_Kind, None] = {}
    for _, kinds in places:
        several = (kind for kind, _ in kinds if len(entries[kind]) >= _MIN_ENTRIES)
        found.update(dict.fromkeys(islice(several, 1)))
    for kind in found:
        yield kind[0], [*entries[kind].items()]


def _places_of(content: Content, link: HtmlElement) -> Iterator[tuple[_Kind, HtmlElement]]:
    """Yield the elements that may be the entry of a link, the smallest first, with their kinds."""
    entry = link
    for _ in range(_MAX_AROUND):
        around = entry.getparent()
        if around is None or content.is_around(entry):
            return
        yield (around, str(entry.tag), entry.get("class", "")), entry
        entry = around


def _stable_entry(entry: HtmlElement, link: HtmlElement) -> str | None:
    """Return what an entry says in each copy of a list: all of it, or its link if that is much."""
    text = line_text(entry)
    if text is None or len(text) > MAX_LINE:
        # Words in a sentence may lead on, too.
        text = None if has_own_text(cast("HtmlElement", link.getparent())) else line_text(link)
    return stable_text(text) if text and len(text) <= 2 * MAX_LINE else None
