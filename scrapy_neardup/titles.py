"""A page's title as its parts: ``Kettle X200 | Shop`` is two, and the second is the site's."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import regex

from .tokens import normalize

#: One part of a title, as its words.
Segment = tuple[str, ...]
#: The parts of a title in order; a part without a word is left out.
Title = tuple[Segment, ...]

#: Between parts stand bars, dots, brackets, a long dash, or a dash or slash between blanks.
_SEPARATOR = regex.compile(r"\s[-–−~/\\]+\s|[|•·»«›‹_()\[\]【】—―]+")


def title_segments(title: str, tokenize: Callable[[str], Iterable[str]]) -> Title:
    """Cut a title at its separators and each part into words."""
    parts = (tuple(tokenize(part)) for part in _SEPARATOR.split(normalize(title)))
    return tuple(part for part in parts if part)


def title_words(title: Title) -> frozenset[str]:
    """All words of a title."""
    return frozenset(word for segment in title for word in segment)
