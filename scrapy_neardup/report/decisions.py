"""One decision: what became of a page, as ``scrapy neardup scan`` and a crawl write it down."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from ..exceptions import InputError
from ..matching.verdict import Verdict
from ..sources.readers import LineReader

_TYPES: dict[str, tuple[type, ...]] = {
    "id": (str, int),
    "url": (str,),
    "verdict": (str,),
    "reason": (str,),
    "duplicate_of": (str, type(None)),
    "duplicate_of_id": (str, int, type(None)),
    "look_alike": (str, type(None)),
    "look_alike_id": (str, int, type(None)),
    "objection": (str, type(None)),
    "distance": (int, type(None)),
    "similarity": (int, float, type(None)),
    "title": (str,),
    "bytes": (int, type(None)),
    "time": (int, float, type(None)),
}
# `bytes` is the name of a field below.
_Bytes = bytes

_REQUIRED = ("url", "verdict", "reason")
#: None is below 0. A time is one that every calendar knows.
_MOST = {"distance": 64, "similarity": 1, "bytes": 2**53, "time": 2**40}
_KINDS = ("new", "duplicate", "revisit", "undecided", "stored", "pair")


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a page. The names are those of the lines of a verdicts file.

    :ivar verdict: ``"new"``, ``"duplicate"``, ``"revisit"`` or ``"undecided"``; ``"stored"`` for a
        page that was found in a store, ``"pair"`` for one that is like another one there.
    :ivar reason: one word.
    :ivar id: what the page's owner calls it; ``None`` where that is its address.
    :ivar duplicate_of: address of the other page of a pair.
    :ivar duplicate_of_id: the other page's id, likewise.
    :ivar look_alike: address of the page nearest to one that was kept all the same.
    :ivar look_alike_id: that page's id, likewise.
    :ivar objection: why the look-alike is not the original.
    :ivar distance: Hamming distance of the two, 0 to 64.
    :ivar similarity: estimated resemblance of the two, 0.0 to 1.0.
    :ivar title: of the page; empty where nobody knows.
    :ivar bytes: of its body.
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
    similarity: float | None = None
    title: str = ""
    bytes: int | None = None
    time: float | None = None

    @classmethod
    def of(cls, verdict: Verdict) -> Decision:
        """From the verdict on a page."""
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
        """Address of the page that it was compared with."""
        return self.duplicate_of if self.look_alike is None else self.look_alike

    @property
    def other_id(self) -> str | int | None:
        """That page's id, likewise."""
        return self.duplicate_of_id if self.look_alike is None else self.look_alike_id

    @classmethod
    def from_line(cls, line: str | _Bytes) -> Decision:
        """From a line of JSON; what it has besides is passed over.

        :raises ValueError: when it is no decision.
        """
        given = json.loads(line)
        if not isinstance(given, dict) or not all(name in given for name in _REQUIRED):
            raise ValueError("no verdict")
        values = {name: given[name] for name in _NAMES if name in given}
        for name, value in values.items():
            if not _may_be(name, value):
                raise ValueError(f"{name} cannot be {value!r}")
        if values["verdict"] not in _KINDS:
            raise ValueError(f"there is no verdict {values['verdict']!r}")
        return cls(**values)

    def line(self) -> str:
        """The same as a line of JSON, without what is not known."""
        known = {name: value for name in _NAMES if (value := getattr(self, name)) not in (None, "")}
        return json.dumps({"reason": self.reason, **known})


_NAMES = tuple(field.name for field in fields(Decision))


def _may_be(name: str, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, _TYPES[name]):
        return False
    return name not in _MOST or value is None or 0 <= value <= _MOST[name]  # type: ignore[operator]


class DecisionReader:
    """The decisions in verdicts files, in order. Can be iterated over once.

    :param sources: files, plain or packed, or ``"-"`` for standard input.
    :raises InputError: while iterating, when one cannot be read to its end or holds anything else.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = [(source, LineReader(source)) for source in sources]

    def __iter__(self) -> Iterator[Decision]:
        for source, lines in self._sources:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    yield Decision.from_line(line)
                except (ValueError, RecursionError) as error:
                    what = f"line {number} is no verdict, as `scan -o` writes them ({error})"
                    raise InputError(source, what) from None

    @property
    def bytes_read(self) -> int:
        """Bytes read so far, as they are stored."""
        return sum(lines.bytes_read for _, lines in self._sources)

    @property
    def total_bytes(self) -> int | None:
        """Bytes that there are to read; ``None`` when that cannot be known."""
        sizes = [lines.total_bytes for _, lines in self._sources]
        return None if None in sizes else sum(size for size in sizes if size is not None)
