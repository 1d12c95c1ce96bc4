"""Pages that a claim looks at, read from Redis when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...hashing.minhash import SKETCH_BINS
from ...hashing.simhash_index import Candidates
from ...matching.candidates import Summaries
from ...signatures.signature import PageSignature
from ..codec import ROW, sketch_in, unpacked
from .connection import Link
from .layout import KeySpace, packed_number, pieces

#: So many rows or pages are read at once.
_ROWS_AT_ONCE = 2048
_PAGES_AT_ONCE = 256


class Changed(Exception):
    """What a claim looks at was changed meanwhile; it has to look again."""


class Holder(NamedTuple):
    """Who may still take a page back.

    :ivar is_reserved: or else it is stored, and not confirmed.
    :ivar run: whose page it is.
    """

    is_reserved: bool
    run: bytes


class RedisSignatureSource:
    """See :class:`~scrapy_neardup.matching.candidates.SignatureSource`."""

    def __init__(self, link: Link, part: KeySpace, recipe: str) -> None:
        self._link = link
        self._part = part
        self._recipe = recipe
        self._rows = np.empty(0, ROW)
        self._places: dict[int, int] = {}
        self._pages: dict[int, bytes] = {}

    def load(self, near: Candidates) -> tuple[Candidates, list[Holder | None]]:
        """Read rows: of which pages are there some, and who holds these?"""
        rows = rows_of(self._link, self._part, [packed_number(n) for n in near.keys.tolist()])
        there = [place for place, row in enumerate(rows) if row is not None]
        found = [row for row in rows if row is not None]
        self._rows = parsed_rows(found)
        kept = Candidates(near.keys[there], near.distances[there])
        self._places = {number: place for place, number in enumerate(kept.keys.tolist())}
        return kept, [holder_of(row) for row in found]

    def summaries(self, numbers: npt.NDArray[np.intp]) -> Summaries:
        summaries: Summaries = self._rows["summaries"][self._at(numbers)]
        return summaries

    def first_bins(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        bins: npt.NDArray[np.uint8] = self._rows["first_bins"][self._at(numbers)]
        return bins

    def sketches(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        self._read(numbers.tolist())
        joined = b"".join([sketch_in(self._pages[number]) for number in numbers.tolist()])
        return np.frombuffer(joined, np.uint8).reshape(numbers.size, SKETCH_BINS)

    def page(self, number: int) -> PageSignature:
        self._read([number])
        return unpacked(self._pages[number], self._recipe)

    def _at(self, numbers: npt.NDArray[np.intp]) -> list[int]:
        return [self._places[number] for number in numbers.tolist()]

    def _read(self, numbers: list[int]) -> None:
        """Have these pages here.

        :raises Changed: when one of them is there no more.
        """
        missing = [number for number in numbers if number not in self._pages]
        if not missing:
            return
        found = pages_of(self._link, self._part, [packed_number(n) for n in missing])
        for number, page in zip(missing, found, strict=True):
            if page is None:
                raise Changed
            self._pages[number] = page


def rows_of(link: Link, part: KeySpace, numbers: Sequence[bytes]) -> list[bytes | None]:
    """Rows of these pages, with their holders."""
    return _many(link, part.rows, numbers, _ROWS_AT_ONCE)


def pages_of(link: Link, part: KeySpace, numbers: Sequence[bytes]) -> list[bytes | None]:
    """These pages, packed."""
    return _many(link, part.pages, numbers, _PAGES_AT_ONCE)


def _many(link: Link, key: bytes, numbers: Sequence[bytes], most: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    for piece in pieces(numbers, most):
        found += link.command("HMGET", key, *piece)
    return found


def parsed_rows(rows: Sequence[bytes]) -> npt.NDArray[np.void]:
    """Rows without their holders, of type :data:`~scrapy_neardup.stores.codec.ROW`."""
    return np.frombuffer(b"".join([row[: ROW.itemsize] for row in rows]), ROW)


def holder_of(row: bytes) -> Holder | None:
    """Who may still take a page back; ``None`` for one that is confirmed."""
    tail = row[ROW.itemsize :]
    return Holder(tail[:1] == b"r", tail[1:]) if tail else None
