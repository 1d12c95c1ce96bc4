"""Learns the patterns of a site's paths from the paths of its URLs.

A segment that varies is written ``*``: one with digits, escapes or several hyphens from the start,
any other one when many different ones were met at its place.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache

#: The segments of a path, ``"*"`` for each that varies.
Pattern = tuple[str, ...]

#: At a place with more different segments than this, segments vary,
MAX_SIBLINGS = 24
#: except those that were met so often, which have pages of their own below them.
MIN_MET = 25
#: Places of a site that are learned; beyond, no segment is found to vary.
MAX_PLACES = 1000
#: Paths whose patterns are cached.
_MAX_NAMES = 20_000

VARIES = "*"

_FIXED = re.compile(r"[A-Za-z_.]{0,24}(?:-[A-Za-z_.]{1,24})?\Z")


class _Place:
    """Counts the segments at one position of the paths."""

    __slots__ = ("met", "varies")

    def __init__(self) -> None:
        self.met: dict[str, int] = {}
        self.varies = False

    def is_fixed(self, text: str) -> bool:
        return not self.varies or text in self.met

    def meet(self, text: str) -> bool:
        """Count a segment, and return whether segments vary from now on."""
        if self.is_fixed(text):
            self.met[text] = self.met.get(text, 0) + 1
        if self.varies or len(self.met) <= MAX_SIBLINGS:
            return False
        self.varies = True
        self.met = {text: times for text, times in self.met.items() if times >= MIN_MET}
        return True


class PathPatterns:
    """The patterns of one site."""

    def __init__(self) -> None:
        self._places: dict[Pattern, _Place] = {}
        self.name = lru_cache(_MAX_NAMES)(self._name)

    def _name(self, segments: tuple[str, ...]) -> str:
        """Return the pattern of a path as one string, such as ``"/news/*"``."""
        # The same string for each pattern makes lookups in dicts faster.
        return sys.intern("/" + "/".join(self.of(segments)))

    def of(self, segments: tuple[str, ...]) -> Pattern:
        """Return the pattern of a path, as far as is known."""
        pattern: Pattern = ()
        for text in segments:
            place = self._places.get(pattern)
            is_fixed = _FIXED.match(text) and (place is None or place.is_fixed(text))
            pattern = (*pattern, text if is_fixed else VARIES)
        return pattern

    def learn(self, segments: tuple[str, ...]) -> bool:
        """Learn from a path, and return whether that changes the patterns of others."""
        pattern: Pattern = ()
        for text in segments:
            is_fixed = False
            if _FIXED.match(text):
                place = self._places.get(pattern)
                if place is None:
                    if len(self._places) >= MAX_PLACES:
                        return False
                    place = self._places[pattern] = _Place()
                if place.meet(text):
                    self.name.cache_clear()
                    return True
                is_fixed = place.is_fixed(text)
            pattern = (*pattern, text if is_fixed else VARIES)
        return False
