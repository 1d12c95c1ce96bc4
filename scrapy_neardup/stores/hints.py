"""Hints that a store keeps: URL rules, known duplicates, visits and best URLs.

Rules and known duplicates are for the request filter, visits for ``scrapy neardup changes``, and
best URLs for whoever mends links.

Losing hints costs fetches and advice, never pages. So nothing waits for them to be on disk, and a
store with no room for more goes on without.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .._util.encoding import utf8
from . import better_urls as best
from .base import HintStore, require_time
from .better_urls import BetterUrl, BetterUrlChanges
from .visits import Histories, MemoryVisits, Visits

V = TypeVar("V")

#: Rules that a namespace keeps at most; when it has as many, it takes no further names. (None makes
#: way: it could be one that was withdrawn, or that the operator switched off.)
MAX_RULES = 100_000
#: Known duplicates that a namespace keeps at most, the newest.
MAX_KNOWN = 1_000_000

#: The digests of an address that leads to a duplicate, of its original's address, and of the text
#: that was stored for the original. Without a text it is the ending of an original, see
#: ``ending_of``.
COPY = np.dtype([("digest", "<u8"), ("original", "<u8"), ("content", "<u8")])
#: The same, and when that was last seen, in seconds since 1970.
KNOWN = np.dtype([*((name, "<u8") for name in COPY.names or ()), ("seen_at", "<u4")])


def ending_of(original: int) -> tuple[int, int, int]:
    """Return a row of :data:`COPY` that ends all that was noted of an original before.

    So nothing needs to be deleted, and what other crawls note meanwhile ends as well.

    :param original: the digest of its address.
    """
    return original ^ (2**64 - 1), original, 0


def ending_of_copy(digest: int) -> tuple[int, int, int]:
    """Return a row of :data:`COPY` that ends what was noted of one address before."""
    return digest, 0, 0


def without_ended(known: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Return known duplicates without endings and without those seen before their ending.

    :param known: of type :data:`KNOWN`.
    """
    is_ending = known["content"] == 0
    copies: npt.NDArray[np.void] = known[~is_ending]
    if len(copies) == len(known):
        return copies
    endings = np.sort(known[is_ending], order=["original", "seen_at"])
    last = np.searchsorted(endings["original"], copies["original"], side="right") - 1
    ended = endings[np.maximum(last, 0)]
    is_ended = (ended["original"] == copies["original"]) & (copies["seen_at"] < ended["seen_at"])
    kept: npt.NDArray[np.void] = copies[~is_ended]
    return kept


def in_order(changes: Mapping[str, V]) -> list[tuple[str, V]]:
    """Return changes of named values, deletions first because they make room."""
    return sorted(changes.items(), key=lambda change: bool(change[1]))


def changed(values: dict[str, V], changes: Mapping[str, V | None], most: int) -> list[str]:
    """Change named values as far as there is room, and return the names of those that changed.

    :param changes: by names; what is empty deletes a value.
    :param most: values at which no further names are taken.
    """
    taken = []
    for name, value in in_order(changes):
        if not value:
            values.pop(name, None)
        elif name in values or len(values) < most:
            values[name] = value
        else:
            continue
        taken.append(name)
    return taken


def packed_name(name: str) -> bytes:
    """Return the name of a value as bytes; backends accept no lone surrogate."""
    return utf8(name)


def unpacked_name(data: bytes) -> str:
    """Return the name that was packed."""
    return data.decode("utf-8", "surrogatepass")


def known_at(copies: npt.NDArray[np.void], seen_at: npt.ArrayLike) -> npt.NDArray[np.void]:
    """Return copies, of type :data:`COPY`, as :data:`KNOWN`, with one time or a time for each."""
    known = np.empty(len(copies), KNOWN)
    for name in COPY.fields or ():
        known[name] = copies[name]
    known["seen_at"] = seen_at
    return known


def newest(known: npt.NDArray[np.void], since: int = 0) -> npt.NDArray[np.void]:
    """Return the last entry of each digest, not before ``since``: the newest, in order of time."""
    known = known[known["seen_at"] >= since]
    known = known[np.lexsort((known["seen_at"], known["digest"]))]
    is_last = np.diff(known["digest"], append=~known["digest"][-1:]) != 0
    known = known[is_last]
    return known[np.argsort(known["seen_at"], kind="stable")[-MAX_KNOWN:]]


class MemoryHints(MemoryVisits):
    """The hints of a namespace in memory, for any thread; see :class:`HintStore`.

    Known duplicates take 28 bytes each, and as much again in reserve.
    """

    def __init__(
        self,
        rules: Mapping[str, bytes] | None = None,
        better_urls: Mapping[str, BetterUrl] | None = None,
    ) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._rules = dict(rules or {})
        self._better_urls = dict(better_urls or {})
        self._room = np.empty(0, KNOWN)
        self._end = 0

    def rules(self) -> dict[str, bytes]:
        with self._lock:
            return dict(self._rules)

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        with self._lock:
            changed(self._rules, rules, MAX_RULES)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        with self._lock:
            return newest(self._room[: self._end], since)

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        known = known_at(copies, seen_at)[-MAX_KNOWN:]
        with self._lock:
            if self._end + len(known) > len(self._room):
                self._keep(newest(self._room[: self._end]), room_for=len(known))
            self._room[self._end : self._end + len(known)] = known
            self._end += len(known)

    def forget_duplicates(self, before: int) -> None:
        """Remove known duplicates last seen before this time, in seconds since 1970."""
        with self._lock:
            self._keep(newest(self._room[: self._end], before))

    def better_urls(self) -> dict[str, BetterUrl]:
        with self._lock:
            return dict(self._better_urls)

    def note_better_urls(self, changes: BetterUrlChanges) -> None:
        with self._lock:
            changed(self._better_urls, changes, best.MAX_BETTER_URLS)

    def _keep(self, known: npt.NDArray[np.void], room_for: int = 0) -> None:
        self._room = np.empty(2 * (len(known) + room_for), KNOWN)
        self._room[: len(known)] = known
        self._end = len(known)


class HintMethods:
    """The hint methods of a store, passed on to the object that has the hints.

    :ivar hints: see :class:`~scrapy_neardup.stores.base.HintStore`.
    """

    hints: HintStore

    def rules(self) -> dict[str, bytes]:
        return self.hints.rules()

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        self.hints.put_rules(rules)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        return self.hints.known_duplicates(since)

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        require_time("seen_at", seen_at)
        self.hints.note_duplicates(copies, seen_at)

    def visits(self) -> Histories:
        return self.hints.visits()

    def note_visits(self, visits: Visits) -> None:
        self.hints.note_visits(visits)

    def better_urls(self) -> dict[str, BetterUrl]:
        return self.hints.better_urls()

    def note_better_urls(self, changes: BetterUrlChanges) -> None:
        self.hints.note_better_urls(changes)
