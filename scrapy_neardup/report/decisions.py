"""Decisions on pages: from the verdicts files of ``scrapy neardup scan`` and crawls, or a store.

Also a table on disk for what is noted of their URLs.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from .._util.encoding import utf8
from ..exceptions import InputError
from ..matching.rule import Rule
from ..matching.verdict import Verdict
from ..sources.readers import LineReader
from ..stores.in_process import InProcessStore

_REQUIRED = ("url", "verdict", "reason")
#: The highest values; the lowest is 0. Dates in JavaScript can represent the latest time.
_MAX = {"distance": 64, "similarity": 1, "bytes": 2**53, "time": 2**40}
# `bytes` is the name of a field below.
_Bytes = bytes
_KINDS = ("new", "duplicate", "revisit", "undecided", "stored", "pair")
#: Space for the compressed texts of pages.
_TEXT_BYTES = 32 * 10**6


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a page; the fields have the names used in verdicts files.

    :ivar url: URL of the page.
    :ivar verdict: ``"new"``, ``"duplicate"``, ``"revisit"`` or ``"undecided"``; ``"stored"`` for a
        page found in a store, ``"pair"`` for one that has a near-duplicate there.
    :ivar reason: why; see :class:`~scrapy_neardup.reasons.Reason`.
    :ivar id: the user's id of the page; ``None`` if it is the URL.
    :ivar duplicate_of: URL of the other page of a pair.
    :ivar duplicate_of_id: id of the other page; ``None`` if it is the URL.
    :ivar look_alike: URL of the page most similar to one that was kept.
    :ivar look_alike_id: id of the look-alike; ``None`` if it is the URL.
    :ivar objection: why the look-alike is not the original.
    :ivar distance: Hamming distance of the two, 0 to 64.
    :ivar similarity: estimated resemblance of the two, 0.0 to 1.0.
    :ivar title: title of the page; empty if it is unknown.
    :ivar bytes: size of the page's body.
    :ivar time: when it was judged or stored, in seconds since 1970.
    """

    url: str
    verdict: str
    reason: str
    id: str | int | None = None
    duplicate_of: str | None = None
    duplicate_of_id: str | int | None = None
    look_alike: str | None = None
    look_alike_id: str | int | None = None
    objection: str | None = None
    distance: int | None = None
    similarity: int | float | None = None
    title: str = ""
    bytes: int | None = None
    time: int | float | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> Decision:
        """Return the decision of a verdict."""
        look_alike = verdict.look_alike
        other = verdict if look_alike is None else look_alike
        similarity = other.similarity
        return cls(
            url=verdict.url,
            verdict=verdict.kind,
            reason=verdict.reason,
            duplicate_of=verdict.duplicate_of,
            look_alike=None if look_alike is None else look_alike.url,
            objection=None if look_alike is None else look_alike.objection,
            distance=other.distance,
            similarity=None if similarity is None else round(similarity, 4),
        )

    @property
    def other(self) -> str | None:
        """URL of the original or look-alike."""
        return self.duplicate_of if self.look_alike is None else self.look_alike

    @property
    def other_id(self) -> str | int | None:
        """Id of the original or look-alike; ``None`` if it is the URL."""
        return self.duplicate_of_id if self.look_alike is None else self.look_alike_id

    @classmethod
    def from_line(cls, line: str | _Bytes) -> Decision:
        """Return the decision in a line of JSON; other fields are ignored.

        :raises ValueError: when the line is not a decision.
        """
        given = json.loads(line)
        if not isinstance(given, dict) or not all(name in given for name in _REQUIRED):
            raise ValueError(f"the fields {', '.join(_REQUIRED)} are required")
        values = {name: given[name] for name in _TYPES if name in given}
        for name, value in values.items():
            if not _is_valid(name, value):
                raise ValueError(f"{name} cannot be {value!r}")
        return cls(**values)

    def line(self) -> str:
        """Return the decision as a line of JSON, without unknown values."""
        known = {name: value for name in _TYPES if (value := getattr(self, name)) not in (None, "")}
        return json.dumps({"reason": self.reason, **known})


_TYPES: dict[str, Any] = get_type_hints(Decision)


def _is_valid(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, _TYPES[name]):
        return False
    if name == "verdict":
        return value in _KINDS
    return name not in _MAX or value is None or 0 <= value <= _MAX[name]


def stored_decisions(store: InProcessStore, rule: Rule) -> Iterator[Decision]:
    """Yield the pairs of near-duplicates in a store, then all of its pages, oldest first."""
    for pair in store.pairs(rule):
        first, second = pair.pages
        yield Decision(
            url=second.url,
            verdict="pair",
            reason=pair.match.reason,
            duplicate_of=first.url,
            distance=pair.match.distance,
            similarity=round(pair.match.similarity, 4),
        )
    for entry in store.entries():
        yield Decision(entry.signature.url, "stored", "", time=entry.stored_at)


class DecisionReader:
    """Iterates once over the decisions in verdicts files, in order.

    :param sources: files, plain or compressed, or ``"-"`` for standard input.
    :ivar empty: the sources that were read and have no decision.
    :raises InputError: while iterating, when a file cannot be read or contains anything else.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self.empty: list[str] = []
        self._sources = [(source, LineReader(source)) for source in sources]

    def __iter__(self) -> Iterator[Decision]:
        for source, lines in self._sources:
            is_empty = True
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                is_empty = False
                try:
                    yield Decision.from_line(line)
                except (ValueError, RecursionError) as error:
                    wanted = "give the output of `scan -o`, or a store"
                    problem = f"line {number} is no verdict ({error}); {wanted}"
                    raise InputError(source, problem) from None
            if is_empty:
                self.empty.append(source)

    @property
    def bytes_read(self) -> int:
        """Bytes read so far, before decompression."""
        return sum(lines.bytes_read for _, lines in self._sources)

    @property
    def total_bytes(self) -> int | None:
        """Size of all sources, before decompression; ``None`` if it is unknown."""
        sizes = [lines.total_bytes for _, lines in self._sources]
        return None if None in sizes else sum(size for size in sizes if size is not None)


class UrlTable:
    """Values by URL, in a temporary file that is deleted on :meth:`close`.

    Any thread may call the methods, one at a time.

    :param most_bytes: space for the values; the oldest are dropped first.
    :ivar dropped: how many values were dropped for lack of space.
    """

    def __init__(self, most_bytes: int = _TEXT_BYTES) -> None:
        self.dropped = 0
        self._most = most_bytes
        self._size = 0
        # An empty name means a private temporary file, in which SQLite reuses freed space.
        self._file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = OFF")
        # URLs of crawled pages may contain surrogates, which SQLite's texts cannot.
        self._file.execute(
            "CREATE TABLE t(number INTEGER PRIMARY KEY, url BLOB UNIQUE, value BLOB)"
        )
        self._file.execute("BEGIN")
        self.close = self._file.close

    def put(self, url: str, value: bytes) -> None:
        """Set the value of a URL, which is then the newest."""
        self._delete("url = ?", utf8(url))
        self._file.execute("INSERT INTO t(url, value) VALUES (?, ?)", (utf8(url), value))
        self._size += len(value)
        while self._size > self._most:
            self._delete("number = (SELECT min(number) FROM t)")
            self.dropped += 1

    def get(self, url: str) -> bytes | None:
        """Return the value of a URL, if it is there."""
        row = self._file.execute("SELECT value FROM t WHERE url = ?", (utf8(url),)).fetchone()
        return None if row is None else bytes(row[0])

    def _delete(self, which: str, *values: bytes) -> None:
        rows = self._file.execute(f"SELECT length(value) FROM t WHERE {which}", values)
        if (row := rows.fetchone()) is not None:
            self._file.execute(f"DELETE FROM t WHERE {which}", values)
            self._size -= row[0]
