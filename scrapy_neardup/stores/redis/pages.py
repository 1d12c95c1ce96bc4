"""The pages of one part of a namespace in Redis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...exceptions import NearDupError, StoreUnreachable
from ...hashing.simhash_index import Candidates
from ...signatures.signature import PageSignature
from ..codec import ROW, packed, with_items
from .connection import RedisConnection, Script
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

#: The server compares so many new pages with the one to be reserved; more are judged again here.
_MOST_NEW = 64
#: Work for a script, or numbers for a command, at once.
_AT_ONCE = 200

_RESERVE, _COMMIT, _RELEASE, _ADD, _FORGET, _EXPIRE, _CONFIRM, _REAP = map(
    Script, ("reserve", "commit", "release", "add", "forget", "expire", "confirm", "reap")
)
_COMPLETE = Script("complete")
_NONE_NEAR = Candidates(np.empty(0, np.intp), np.empty(0, np.intp))
#: So many rows or pages are read at once.
_ROWS_AT_ONCE = 2048
_PAGES_AT_ONCE = 256
#: So often a part is begun that does not stay so, because its server is being emptied.
_TRIES = 4


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
    :ivar buckets: those that were asked for of passages.
    """

    seen: int
    known: bytes
    reserved: bytes
    near: Candidates
    buckets: Sequence[bytes | None] = ()


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
    """Reads the pages of one part of a namespace."""

    def __init__(self, connection: RedisConnection, part: KeySpace) -> None:
        self.part = part
        self._connection = connection

    def __len__(self) -> int:
        return int(self._connection.command("HGET", self.part.count, "size") or 0)

    def look(
        self, fingerprint: int | None, distance: int, key: bytes, passages: Sequence[bytes] = ()
    ) -> Lookup:
        """Return what has to be known before a page is judged.

        :param fingerprint: ``None`` for a page that was not read in full.
        :param passages: fields of the buckets in which its passages stand.
        """
        place = place_of(int.from_bytes(key, "little"))
        wanted = [] if fingerprint is None else fields(fingerprint, distance)
        in_tables = [
            ("HMGET", table, *asked)
            for table, asked in zip(self.part.blocks, wanted, strict=False)
            if asked
        ]
        seen, known, reserved, *found = self._connection.commands(
            # This first: what comes later than it is noticed when the page is reserved.
            ("HGET", self.part.count, "next"),
            ("HGET", self.part.known, place.field),
            ("HGET", self.part.reserved, key),
            # Before the tables: a page that is completed meanwhile is in one of the two at least.
            *([("HMGET", self.part.passages, *passages)] if passages else []),
            *in_tables,
        )
        buckets = found.pop(0) if passages else ()
        found += [[]] * (len(self.part.blocks) - len(found))
        return Lookup(
            int(seen or 0),
            number_in(known, place.rest),
            unpacked_numbers(reserved)[0] if reserved else b"",
            _NONE_NEAR if fingerprint is None else near(fingerprint, distance, found),
            buckets,
        )

    def stored(self, number: bytes) -> StoredRow | None:
        """Return a page; ``None`` when it is there no more."""
        rows = [row for row in self.rows([number]) if row is not None]
        return next(self._with_pages([number], rows), None) if rows else None

    def stored_many(self, numbers: Sequence[bytes]) -> list[StoredRow | None]:
        """Return a few pages, read at once; ``None`` for each that is there no more."""
        if not numbers:
            return []
        rows, pages = self._connection.commands(
            ("HMGET", self.part.rows, *numbers), ("HMGET", self.part.pages, *numbers)
        )
        return [
            None if row is None or page is None else _stored_row(row, page)
            for row, page in zip(rows, pages, strict=True)
        ]

    def present(self, key: bytes) -> bytes:
        """Return the number of the page that is reserved or else committed under a key."""
        return next(iter(self.versions(key)), b"")

    def versions(self, key: bytes) -> list[bytes]:
        """Return the numbers of the pages under a key: the reserved one, then the committed one."""
        place = place_of(int.from_bytes(key, "little"))
        reserved, known = self._connection.commands(
            ("HGET", self.part.reserved, key), ("HGET", self.part.known, place.field)
        )
        numbers = unpacked_numbers(reserved)[:1] if reserved else []
        return [number for number in (*numbers, number_in(known, place.rest)) if number]

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
        for row, page in zip(rows, self.pages(numbers), strict=True):
            if page is not None:
                yield _stored_row(row, page)

    def _many(self, key: bytes, numbers: Sequence[bytes], most: int) -> list[bytes | None]:
        found: list[bytes | None] = []
        for piece in pieces(numbers, most):
            found += self._connection.command("HMGET", key, *piece)
        return found


class NewPage(NamedTuple):
    """A page as it is written.

    :ivar key: digest of what it is known by.
    :ivar row: see :data:`~scrapy_neardup.stores.codec.ROW`.
    :ivar page: packed.
    :ivar recipe: by which it was signed.
    """

    key: bytes
    row: bytes
    page: bytes
    recipe: str


class NamespaceOfPart(Protocol):
    """The namespace of a part, as its pages need it."""

    def begin(self, part: KeySpace) -> None:
        """Let a part have pages of the adopted recipe."""

    def mismatch(self, known: str, recipe: str) -> NearDupError:
        """Return the error for pages of another recipe."""


class RedisPages(PageReader):
    """Changes them, by scripts that the server runs.

    :param run: on whose behalf everything is done.
    :param namespace: of the part.
    """

    def __init__(
        self, connection: RedisConnection, part: KeySpace, run: bytes, namespace: NamespaceOfPart
    ) -> None:
        super().__init__(connection, part)
        self._run = run
        self._namespace = namespace
        self._keys = part.keys(run)

    def is_settled(self, holder: Holder | None) -> bool:
        """Return whether a page stays as long as this process lives, whatever becomes of others.

        What another process has stored and not confirmed is lost when that one is killed. To drop
        a page for its sake would be wrong, so one waits until it is confirmed.
        """
        return holder is None or (not holder.is_reserved and holder.run == self._run)

    def reserve(self, page: NewPage, token: bytes, lookup: Lookup, distance: int) -> bytes | None:
        """Reserve a page; return its number, or ``None`` when it is to be judged again.

        :param token: of the attempt: asked again with it, the server answers the same.
        :raises SignatureMismatch: when the pages that are there were signed in another way.
        """
        keys = [*self._keys, self._given_up(token)]
        answer = self._write(
            _RESERVE, keys, page, token, lookup.seen, lookup.known, distance, _MOST_NEW
        )
        return answer if isinstance(answer, bytes) else None

    def commit(self, number: bytes, page: NewPage, mark: int, items: int) -> bool:
        """Commit a reserved page; with a mark above 0 it is not confirmed.

        Return whether the reservation was there.
        """
        row = with_items(page.row, items)
        return bool(
            self._connection.run(_COMMIT, self._keys, number, self._run, mark, page.row, row)
        )

    def complete(self, number: bytes, before: bytes, row: bytes, page: bytes) -> bool:
        """Put a page in the place of what was read of it quickly; return whether it was done.

        :param before: what was read of it quickly, packed. If the page is another one now, it
            stays as it is.
        """
        return bool(self._connection.run(_COMPLETE, self._keys, number, before, row, page))

    def give_up(self, number: bytes, before: bytes, page: PageSignature) -> None:
        """Exclude a page that was read quickly from all comparisons.

        :param before: the page packed, see :meth:`complete`.
        """
        bare = packed(replace(page, passages=b""))
        # An empty row: it keeps the one that it has.
        self._connection.run(_COMPLETE, self._keys, number, before, b"", bare)

    def add(self, page: NewPage, mark: int = 0) -> None:
        """Record a page without judging it.

        :raises SignatureMismatch: when the pages that are there were signed in another way.
        """
        self._write(_ADD, self._keys, page, self._run, mark)

    def release(self, key: bytes, token: bytes, for_milliseconds: int = 0) -> None:
        """Remove what was reserved with a token.

        :param for_milliseconds: how long an attempt that is still on its way gets nothing.
        """
        keys = [*self._keys, self._given_up(token)]
        self._connection.run(_RELEASE, keys, key, token, for_milliseconds)

    def forget(self, key: bytes) -> bool:
        return bool(self._connection.run(_FORGET, self._keys, key))

    def confirm(self, mark: int) -> None:
        """Confirm what this run committed up to a mark."""
        while self._connection.run(_CONFIRM, self._keys, self._run, mark, _AT_ONCE):
            pass

    def has_unconfirmed(self) -> bool:
        return bool(self._connection.command("EXISTS", self._keys[-1]))

    def reap(self, run: bytes) -> int:
        """Remove a dead run's pages; return how many of them had been committed."""
        forgotten, left = 0, 1
        while left:
            count, left = self._connection.run(_REAP, self.part.keys(run), run, _AT_ONCE)
            forgotten += count
        return forgotten

    def expire(self, oldest: int) -> int:
        """Remove pages stored before a time, in seconds since 1970; return how many."""
        forgotten = 0
        for numbers, rows in self.committed(_AT_ONCE):
            is_old = parsed_rows(rows)["summary"]["stored_at"] < oldest
            old = [number for number, is_it in zip(numbers, is_old, strict=True) if is_it]
            forgotten += self._connection.run(_EXPIRE, self._keys, oldest, *old)
        return forgotten

    def _given_up(self, token: bytes) -> bytes:
        return self.part.key(f"given-up:{token.hex()}")

    def _write(self, script: Script, keys: Sequence[bytes], page: NewPage, *others: Any) -> Any:
        """Write a page, and begin the part if need be; return the script's answer.

        :raises SignatureMismatch: when the pages that are there were signed in another way.
        :raises StoreError: when the namespace was made anew, with another secret.
        """
        for _ in range(_TRIES):
            answer = self._connection.run(script, keys, page.row, page.page, page.recipe, *others)
            if not isinstance(answer, list):
                return answer
            if answer:
                raise self._namespace.mismatch(answer[0].decode(), page.recipe)
            self._namespace.begin(self.part)
        raise StoreUnreachable(self._connection.name, "it is being emptied again and again")


def parsed_rows(rows: Sequence[bytes]) -> npt.NDArray[np.void]:
    """Return rows without their holders, of type :data:`~scrapy_neardup.stores.codec.ROW`."""
    return np.frombuffer(b"".join([row[: ROW.itemsize] for row in rows]), ROW)


def _stored_row(row: bytes, page: bytes) -> StoredRow:
    [(stored_at, items)] = parsed_rows([row])["summary"][["stored_at", "items"]].tolist()
    return StoredRow(page, stored_at, items, holder_of(row))


def holder_of(row: bytes) -> Holder | None:
    """Return who may still take a page back; ``None`` for a confirmed page."""
    tail = row[ROW.itemsize :]
    return Holder(tail[:1] == b"r", tail[1:]) if tail else None
