"""Which paths of a site are of one shape, learned from the paths that were met.

A segment that varies is written ``*``: one with digits, escapes or several hyphens at once, any
other when its place has held many different ones.
"""

from __future__ import annotations

import re

#: A family: the segments of a path, ``"*"`` for each that varies.
Pattern = tuple[str, ...]

#: A place that held more different segments than this holds any,
MAX_SIBLINGS = 24
#: but for those that were met so often: they have pages of their own below them.
MIN_MET = 25
#: Of so many places of a site is remembered what they held; beyond, all segments vary.
MAX_PLACES = 1000
#: Paths whose patterns are kept, for being asked for again.
_MAX_NAMES = 20_000

VARIES = "*"

_FIXED = re.compile(r"[A-Za-z_.]{0,24}(?:-[A-Za-z_.]{1,24})?\Z")


class _Place:
    """What stood at a place of a path, and how often."""

    __slots__ = ("met", "varies")

    def __init__(self) -> None:
        self.met: dict[str, int] = {}
        self.varies = False

    def is_fixed(self, text: str) -> bool:
        return not self.varies or text in self.met

    def meet(self, text: str) -> bool:
        """Does it vary from now on?"""
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
        self._names: dict[tuple[str, ...], str] = {}
        self._same: dict[str, str] = {}

    def name(self, segments: tuple[str, ...]) -> str:
        """The family of a path in one string, such as ``"/news/*"``."""
        name = self._names.get(segments)
        if name is None:
            if len(self._names) >= _MAX_NAMES:
                self._forget_names()
            # One string for each family: they are looked up in dicts, and compared there.
            pattern = "/" + "/".join(self.of(segments))
            name = self._names[segments] = self._same.setdefault(pattern, pattern)
        return name

    def _forget_names(self) -> None:
        self._names.clear()
        self._same.clear()

    def of(self, segments: tuple[str, ...]) -> Pattern:
        """The family of a path, as far as is known."""
        pattern: Pattern = ()
        for text in segments:
            place = self._places.get(pattern)
            is_fixed = _FIXED.match(text) and (place is None or place.is_fixed(text))
            pattern = (*pattern, text if is_fixed else VARIES)
        return pattern

    def learn(self, segments: tuple[str, ...]) -> bool:
        """Learn from a path; does that change the family of any other?"""
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
                    self._forget_names()
                    return True
                is_fixed = place.is_fixed(text)
            pattern = (*pattern, text if is_fixed else VARIES)
        return False
