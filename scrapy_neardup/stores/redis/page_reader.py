"""Reads the pages of one part of a namespace in Redis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...hashing.simhash_index import Candidates
from ..codec import ROW
from .connection import RedisConnection
from .layout import (
    KeySpace,
    fields,
    near,
    number_in,
    packed_number,
    pieces,
    place_of,
    unpacked_numbers,
)

#: So many rows or pages are read at once.
_ROWS_AT_ONCE = 2048
_PAGES_AT_ONCE = 256


class Holder(NamedTuple):
    """The run that may still take a page back.

    :ivar is_reserved: or else it is stored, and not confirmed.
    :ivar run: whose page it is.
    """

    is_reserved: bool
    run: bytes


class Lookup(NamedTuple):
    """The state that a claim reads before a page is judged.

    :ivar seen: how many numbers had been given.
    :ivar known: number of the page that was committed under the key; empty where there is none.
    :ivar reserved: the same of a page that is reserved.
    :ivar near: pages with near fingerprints.
    """

    seen: int
    known: bytes
    reserved: bytes
    near: Candidates


class StoredRow(NamedTuple):
    """A page as it was read.

    :ivar stored_at: seconds since 1970.
    :ivar items: what was stored of it, see :data:`~scrapy_neardup.matching.stored_items.NO_ITEMS`.
    """

    page: bytes
    stored_at: int
    items: int
    holder: Holder | None


class PageReader:
    """See the module."""

    def __init__(self, connection: RedisConnection, part: KeySpace) -> None:
        self.part = part
        self._connection = connection

    def __len__(self) -> int:
        return int(self._connection.command("HGET", self.part.count, "size") or 0)

    def look(self, fingerprint: int, distance: int, key: bytes) -> Lookup:
        """Return what has to be known before a page is judged."""
        place = place_of(int.from_bytes(key, "little"))
        seen, known, reserved, *buckets = self._connection.commands(
            # This first: what comes later than it is noticed when the page is reserved.
            ("HGET", self.part.count, "next"),
            ("HGET", self.part.known, place.field),
            ("HGET", self.part.reserved, key),
            *(
                ("HMGET", table, *wanted)
                for table, wanted in zip(
                    self.part.blocks, fields(fingerprint, distance), strict=True
                )
                if wanted
            ),
        )
        buckets += [[]] * (len(self.part.blocks) - len(buckets))
        return Lookup(
            int(seen or 0),
            number_in(known, place.rest),
            unpacked_numbers(reserved)[0] if reserved else b"",
            near(fingerprint, distance, buckets),
        )

    def stored(self, number: bytes) -> StoredRow | None:
        """Return a page; ``None`` when it is there no more."""
        rows = [row for row in self.rows([number]) if row is not None]
        return next(self._with_pages([number], rows), None) if rows else None

    def known(self, key: bytes) -> bytes:
        """Return the number of the page committed under a key; empty where there is none."""
        place = place_of(int.from_bytes(key, "little"))
        return number_in(self._connection.command("HGET", self.part.known, place.field), place.rest)

    def of_site(self, site: int) -> list[bytes]:
        """Return the newest pages of a site, oldest first, packed."""
        field = site.to_bytes(4, "little")
        numbers = unpacked_numbers(self._connection.command("HGET", self.part.sites, field))
        return [page for page in self.pages(numbers) if page is not None]

    def rows(self, numbers: Sequence[bytes]) -> list[bytes | None]:
        return self._many(self.part.rows, numbers, _ROWS_AT_ONCE)

    def pages(self, numbers: Sequence[bytes]) -> list[bytes | None]:
        """Return these pages, packed."""
        return self._many(self.part.pages, numbers, _PAGES_AT_ONCE)

    def all(self) -> Iterator[StoredRow]:
        """Yield the committed pages, oldest first."""
        for numbers, rows in self.committed():
            yield from self._with_pages(numbers, rows)

    def committed(self, at_once: int = _PAGES_AT_ONCE) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Yield numbers and rows of committed pages, oldest first, so many at a time at most."""
        end = int(self._connection.command("HGET", self.part.count, "next") or 0)
        for piece in pieces(range(end), at_once):
            numbers = [packed_number(number) for number in piece]
            there = [
                (number, row)
                for number, row in zip(numbers, self.rows(numbers), strict=True)
                if row is not None and not ((holder := holder_of(row)) and holder.is_reserved)
            ]
            if there:
                yield [number for number, _ in there], [row for _, row in there]

    def _with_pages(self, numbers: Sequence[bytes], rows: Sequence[bytes]) -> Iterator[StoredRow]:
        """Yield those that are there still."""
        summaries = parsed_rows(rows)["summary"][["stored_at", "items"]].tolist()
        pages = self.pages(numbers)
        for row, page, (stored_at, items) in zip(rows, pages, summaries, strict=True):
            if page is not None:
                yield StoredRow(page, stored_at, items, holder_of(row))

    def _many(self, key: bytes, numbers: Sequence[bytes], most: int) -> list[bytes | None]:
        found: list[bytes | None] = []
        for piece in pieces(numbers, most):
            found += self._connection.command("HMGET", key, *piece)
        return found


def parsed_rows(rows: Sequence[bytes]) -> npt.NDArray[np.void]:
    """Return rows without their holders, of type :data:`~scrapy_neardup.stores.codec.ROW`."""
    return np.frombuffer(b"".join([row[: ROW.itemsize] for row in rows]), ROW)


def holder_of(row: bytes) -> Holder | None:
    """Return who may still take a page back; ``None`` for a confirmed page."""
    tail = row[ROW.itemsize :]
    return Holder(tail[:1] == b"r", tail[1:]) if tail else None
