"""Reads a SQLite file as it is at one moment; a crawl may be writing it.

No lock is taken, nothing is written. SQLite may leave two files beside it by which its users
agree, one of them empty; the next crawl takes them away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...exceptions import StoreError, StoreMissing
from .format import (
    NUMBER_BITS,
    NUMBER_MASK,
    Space,
    address_of,
    columns,
    complaining,
    opened,
    page_is_damaged,
    require_store,
    space_of,
)
from .opening import connected_for_reading

_ROWS_AT_ONCE = 1 << 16
_PAGES_AT_ONCE = 256

_IN_RANGE = "BETWEEN :first AND :last"
_ROWS = f"""
SELECT id, row FROM rows
WHERE id {_IN_RANGE} AND (:all OR id NOT IN (SELECT id FROM unconfirmed)) ORDER BY id
"""
_PAGES = f"""
SELECT rows.id, rows.row, pages.page, unconfirmed.id IS NULL
FROM rows JOIN pages USING(id) LEFT JOIN unconfirmed USING(id)
WHERE rows.id {_IN_RANGE} AND (:site IS NULL OR rows.site = :site) ORDER BY rows.id
"""
_OF_SITE = f"""
SELECT id FROM rows
WHERE site = :site AND id {_IN_RANGE} AND id NOT IN (SELECT id FROM unconfirmed)
ORDER BY id DESC LIMIT :most
"""


class PageRecord(NamedTuple):
    """A packed page with its row, of type :data:`~scrapy_neardup.stores.codec.ROW`."""

    page: bytes
    row: npt.NDArray[np.void]
    is_confirmed: bool


class Snapshot:
    """A connection that sees the file as it was when it was opened.

    :raises StoreMissing: when there is no such file.
    :raises StoreError: when it is no store, or a damaged one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        name = address_of(path)
        if not path.exists():
            raise StoreMissing(name, "there is no such file")
        if not path.is_file():
            raise StoreError(name, "it is no file; give the path of a store's file")
        if not path.stat().st_size:
            raise StoreError(name, "it is empty; no store was made in it yet")
        with complaining(path):
            self.connection = connected_for_reading(path)
        try:
            require_store(self.connection, path)
            with complaining(path):
                # What one statement finds, the next must find as well.
                self.connection.execute("BEGIN")
        except BaseException:
            self.close()
            raise

    def fetch(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        """Return all that a query finds."""
        with complaining(self.path):
            return self.connection.execute(query, values).fetchall()

    def stream(self, query: str, at_once: int, **values: object) -> Iterator[list[tuple[Any, ...]]]:
        """Yield what a query finds, read some at a time."""
        with complaining(self.path):
            cursor = self.connection.execute(query, values)
        while True:
            with complaining(self.path):
                found = cursor.fetchmany(at_once)
            if not found:
                return
            yield found

    def spaces(self) -> Iterator[Space]:
        """Yield all namespaces, by name."""
        for row in self.fetch(
            "SELECT id, name, secret, recipe, parts FROM namespaces ORDER BY name"
        ):
            with complaining(self.path):
                space = space_of(row)
            yield space

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


class SnapshotPages:
    """The pages of one namespace in a snapshot."""

    def __init__(self, snapshot: Snapshot, namespace: int) -> None:
        self._snapshot = snapshot
        self._base = namespace << NUMBER_BITS
        self._range: Mapping[str, int] = {"first": self._base, "last": self._base | NUMBER_MASK}

    def rows(
        self, *, unconfirmed: bool
    ) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        """Yield numbers and rows in order, some thousands at a time."""
        values = {**self._range, "all": unconfirmed}
        for found in self._snapshot.stream(_ROWS, _ROWS_AT_ONCE, **values):
            yield self._columns(found)

    def all(self, site: int | None = None) -> Iterator[PageRecord]:
        """Yield pages, oldest first, or those of the site with this digest."""
        values = {**self._range, "site": site}
        for found in self._snapshot.stream(_PAGES, _PAGES_AT_ONCE, **values):
            for id_, row, page, is_confirmed in found:
                _, [parsed] = self._columns([(id_, row)])
                yield PageRecord(self._whole(id_, page), parsed, bool(is_confirmed))

    def page(self, number: int) -> bytes:
        """Return a page, packed."""
        id_ = self._base | number
        found = self._snapshot.fetch("SELECT page FROM pages WHERE id = :id", id=id_)
        return self._whole(id_, found[0][0] if found else b"")

    def of_site(self, digest: int, most: int) -> list[int]:
        """Return the numbers of a site's newest confirmed pages, the oldest of them first."""
        found = self._snapshot.fetch(_OF_SITE, **self._range, site=digest, most=most)
        return [id_ & NUMBER_MASK for (id_,) in reversed(found)]

    def count_unconfirmed(self) -> int:
        """Return how many pages are not known to be on disk."""
        query = f"SELECT count(*) FROM unconfirmed WHERE id {_IN_RANGE}"
        [[count]] = self._snapshot.fetch(query, **self._range)
        return int(count)

    def _columns(
        self, found: list[tuple[Any, ...]]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]:
        with complaining(self._snapshot.path):
            return columns(found)

    def _whole(self, id_: int, data: bytes) -> bytes:
        return opened(id_, data) or page_is_damaged(self._snapshot.path, id_)
