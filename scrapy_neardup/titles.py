"""A page's title as its parts: ``Kettle X200 | Shop`` is two, and the second is the site's."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from .normalization import normalize

#: One part of a title, as its words.
Segment = tuple[str, ...]
#: The parts of a title in order; a part without a word is left out.
Title = tuple[Segment, ...]

#: Between parts stand bars, dots, brackets, a long dash, or a dash or slash between blanks.
_SEPARATOR = regex.compile(r"\s[-–−~/\\]+\s|[|•·»«›‹_()\[\]【】—―]+")


def title_parts(title: str) -> list[str]:
    """Cut a title at its separators; the parts are normalised."""
    return _SEPARATOR.split(normalize(title))


def title_of(parts: Iterable[Iterable[str]]) -> Title:
    """The title whose parts have these words."""
    return tuple(filter(None, map(tuple, parts)))


def title_words(title: Title) -> frozenset[str]:
    """All words of a title."""
    return frozenset(word for segment in title for word in segment)
