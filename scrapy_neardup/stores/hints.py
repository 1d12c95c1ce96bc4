"""Hints that a store keeps for the request filter: URL rules and known duplicates.

Losing hints costs fetches, never pages. So nothing waits for them to be on disk, and a store with
no room for more goes on without.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .._util.validation import require_number
from ..exceptions import StoreError
from .base import HintStore

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
_LATEST = np.iinfo(KNOWN["seen_at"]).max


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


def take_changes(
    rules: MutableMapping[str, bytes], changes: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Change rules as far as there is room, and return the changes that were made."""
    taken = {}
    for name, body in in_order(changes):
        if not body:
            rules.pop(name, None)
        elif name in rules or len(rules) < MAX_RULES:
            rules[name] = body
        else:
            continue
        taken[name] = body
    return taken


def in_order(changes: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    """Return changes of rules, deletions first because they make room."""
    return sorted(changes.items(), key=lambda change: bool(change[1]))


def packed_name(name: str) -> bytes:
    """Return a rule's name as bytes; backends accept no lone surrogate."""
    return name.encode("utf-8", "surrogatepass")


def unpacked_name(data: bytes) -> str:
    """Return the name that was packed."""
    return data.decode("utf-8", "surrogatepass")


def known_at(copies: npt.NDArray[np.void], seen_at: int) -> npt.NDArray[np.void]:
    """Return copies, of type :data:`COPY`, seen at one time, as an array of :data:`KNOWN`.

    :raises InvalidOption: when ``seen_at`` is out of range.
    """
    require_time(seen_at)
    return with_times(copies, seen_at)


def require_time(seen_at: int) -> None:
    """Check that this is a time that can be kept.

    :raises InvalidOption: when it is not.
    """
    require_number("seen_at", seen_at, int, 0, _LATEST, unit="seconds since 1970")


def with_times(copies: npt.NDArray[np.void], seen_at: npt.ArrayLike) -> npt.NDArray[np.void]:
    """Return copies as :data:`KNOWN`, with one time or a time for each."""
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


class HintLog(Protocol):
    """Keeps the hints of one namespace."""

    def rules(self) -> dict[str, bytes]:
        """Return all rules by their names, as they were put before the log was opened."""

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        """Keep rules, each in the place of what its name held; ``b""`` deletes one."""

    def note(self, known: npt.NDArray[np.void]) -> None:
        """Add known duplicates, of type :data:`KNOWN`."""

    def since(self, time: int) -> npt.NDArray[np.void]:
        """Return those last seen at this time or later; see :func:`newest`."""

    def forget_before(self, time: int) -> None:
        """Remove those last seen before this time, in seconds since 1970."""


class MemoryHintLog:
    """Known duplicates in memory: 28 bytes each, and as much again in reserve.

    See :class:`HintLog`.
    """

    def __init__(self) -> None:
        self._room = np.empty(0, KNOWN)
        self._end = 0

    def rules(self) -> dict[str, bytes]:
        return {}

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        """Do nothing: :class:`InProcessHints` has them in memory."""

    def note(self, known: npt.NDArray[np.void]) -> None:
        known = known[-MAX_KNOWN:]
        if self._end + len(known) > len(self._room):
            self._keep(newest(self._noted), room_for=len(known))
        self._room[self._end : self._end + len(known)] = known
        self._end += len(known)

    def since(self, time: int) -> npt.NDArray[np.void]:
        return newest(self._noted, time)

    def forget_before(self, time: int) -> None:
        self._keep(self.since(time))

    @property
    def _noted(self) -> npt.NDArray[np.void]:
        return self._room[: self._end]

    def _keep(self, known: npt.NDArray[np.void], room_for: int = 0) -> None:
        self._room = np.empty(2 * (len(known) + room_for), KNOWN)
        self._room[: len(known)] = known
        self._end = len(known)


class InProcessHints:
    """See :class:`~scrapy_neardup.stores.base.HintStore`: rules in memory, both kept by a log.

    :param store: the name of the store, for errors.
    """

    def __init__(self, store: str, log: HintLog) -> None:
        self._store = store
        self._log = log
        self._rules = log.rules()
        self._lock = threading.Lock()
        self._is_closed = False

    def rules(self) -> dict[str, bytes]:
        with self._lock:
            return dict(self._rules)

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        with self._open():
            self._log.put_rules(take_changes(self._rules, rules))

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        with self._lock:
            return self._log.since(since)

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        known = known_at(copies, seen_at)
        with self._open():
            self._log.note(known)

    def forget_duplicates(self, before: int) -> None:
        """Remove known duplicates last seen before this time, in seconds since 1970."""
        with self._lock:
            self._log.forget_before(before)

    def close(self) -> None:
        """Accept nothing more."""
        with self._lock:
            self._is_closed = True

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        with self._lock:
            if self._is_closed:
                raise StoreError(self._store, "it has been closed")
            yield


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
        self.hints.note_duplicates(copies, seen_at)
