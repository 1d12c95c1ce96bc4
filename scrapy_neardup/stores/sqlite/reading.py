"""A look at a SQLite file that a crawl may be writing: no lock is taken, nothing is written.

SQLite may leave two files beside it by which its users agree, one of them empty; the next crawl
takes them away.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...exceptions import StoreError, StoreMissing
from ...matching.candidates import site_digest
from ..codec import unpacked
from ..hints import newest
from ..in_process import InProcessStore
from ..memory import Dictionary
from ..reading import Figures, Namespace, StoredPage
from . import hints as sqlite_advice
from .format import (
    NUMBER_BITS,
    NUMBER_MASK,
    address_of,
    columns,
    complaining,
    opened,
    require_store,
    space_of,
)

_ROWS_AT_ONCE = 1 << 16
_BUSY_SECONDS = 5.0
_PAGES_AT_ONCE = 256

#: What SQLite says where it cannot make its files beside the store.
_NO_PLACE = re.compile("unable to open|readonly")

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


class _Space(NamedTuple):
    """A namespace and the ids of its pages."""

    namespace: Namespace
    base: int

    @property
    def number(self) -> int:
        return self.base >> NUMBER_BITS

    @property
    def range(self) -> dict[str, int]:
        return {"first": self.base, "last": self.base | NUMBER_MASK}


class SqliteReader:
    """See :class:`~scrapy_neardup.stores.reading.StoreReader`.

    All answers are about the moment at which it was opened.

    :raises StoreMissing: when there is no such file.
    :raises StoreError: when it is no store, or a damaged one.
    """

    is_remote = False

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).resolve()
        self.name = address_of(self._path)
        if not self._path.exists():
            raise StoreMissing(self.name, "there is no such file")
        if not self._path.is_file():
            raise StoreError(self.name, "it is no file; give the path of a store's file")
        if not self._path.stat().st_size:
            raise StoreError(self.name, "it is empty; no store was made in it yet")
        with complaining(self._path):
            self._connection = self._connected()
        try:
            require_store(self._connection, self._path)
            with complaining(self._path):
                # What one statement finds, the next must find as well.
                self._connection.execute("BEGIN")
                [self.format] = self._connection.execute("PRAGMA user_version").fetchone()
                self._spaces = {space.namespace.name: space for space in self._read_spaces()}
        except BaseException:
            self.close()
            raise

    @property
    def n_bytes(self) -> int:
        """Bytes of the file and of what SQLite keeps beside it."""
        files = (self._path, Path(f"{self._path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def namespaces(self) -> list[Namespace]:
        return [space.namespace for space in self._spaces.values()]

    def figures(self, namespace: str) -> Figures:
        space = self._spaces[namespace]
        found = self.rows(space, unconfirmed=True)
        return sum(
            (Figures.of(rows["summaries"]["stored_at"]) for _, rows in found),
            Figures(
                unconfirmed=self._unconfirmed(space),
                rules=self._count("rules", space),
                known_duplicates=self._count("copies", space),
            ),
        )

    def pages(self, namespace: str, site: str | None = None) -> Iterator[StoredPage]:
        space = self._spaces[namespace]
        digest = None if site is None else site_digest(site)
        for id_, row, page, is_confirmed in self._stream(
            _PAGES, {**space.range, "site": digest}, _PAGES_AT_ONCE
        ):
            signature = unpacked(self._whole(id_, page), space.namespace.recipe)
            if site is None or signature.site == site:
                _, rows = self._columns([(id_, row)])
                [summaries] = rows["summaries"]
                stored_at, items = int(summaries["stored_at"]), int(summaries["items"])
                yield StoredPage(signature, stored_at, bool(is_confirmed), items)

    def rules(self, namespace: str) -> dict[str, bytes]:
        with complaining(self._path):
            return sqlite_advice.rules(self._connection, self._spaces[namespace].number)

    def known_duplicates(self, namespace: str, since: int) -> npt.NDArray[np.void]:
        """See :meth:`~scrapy_neardup.stores.Store.known_duplicates`, in no order."""
        with complaining(self._path):
            return sqlite_advice.known(self._connection, self._spaces[namespace].number, since)

    def overlay(self, namespace: str, ttl: float | None = None) -> InProcessStore:
        space = self._spaces[namespace]
        archive = _Overlay(self, space, self._unconfirmed(space))
        return InProcessStore(self.name, archive, space.namespace.secret, ttl)

    def close(self) -> None:
        self._connection.close()

    def rows(
        self, space: _Space, *, unconfirmed: bool
    ) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        """Numbers and rows in order, some thousands at a time."""
        found: list[tuple[int, bytes]] = []
        for entry in self._stream(_ROWS, {**space.range, "all": unconfirmed}, _ROWS_AT_ONCE):
            found.append(entry)
            if len(found) == _ROWS_AT_ONCE:
                yield self._columns(found)
                found = []
        if found:
            yield self._columns(found)

    def page(self, id_: int) -> bytes:
        """A page, packed."""
        with complaining(self._path):
            found = self._connection.execute(
                "SELECT page FROM pages WHERE id = ?", (id_,)
            ).fetchone()
        return self._whole(id_, found[0] if found else b"")

    def of_site(self, space: _Space, digest: int, most: int) -> list[int]:
        """Ids of a site's newest confirmed pages, the oldest of them first."""
        with complaining(self._path):
            found = self._connection.execute(
                _OF_SITE, {**space.range, "site": digest, "most": most}
            ).fetchall()
        return [id_ for (id_,) in reversed(found)]

    def _columns(
        self, found: Sequence[tuple[int, bytes]]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]:
        with complaining(self._path):
            return columns(found)

    def _whole(self, id_: int, data: bytes) -> bytes:
        """A page as it was packed."""
        if (page := opened(id_, data)) is None:
            raise StoreError(
                self.name,
                f"page {id_ & NUMBER_MASK} of namespace {id_ >> NUMBER_BITS} is missing or not as "
                "it was written: the file is damaged; put a whole copy in its place",
            )
        return page

    def _unconfirmed(self, space: _Space) -> int:
        with complaining(self._path):
            [number] = self._connection.execute(
                f"SELECT count(*) FROM unconfirmed WHERE id {_IN_RANGE}", space.range
            ).fetchone()
        return int(number)

    def _count(self, table: str, space: _Space) -> int:
        with complaining(self._path):
            return sqlite_advice.count(self._connection, table, space.number)

    def _connected(self) -> sqlite3.Connection:
        uri = f"{self._path.as_uri()}?mode=ro"
        connection = self._opened(uri)
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if Path(f"{self._path}-wal").exists() or not _NO_PLACE.search(str(error)):
                raise
            # In a folder where nothing can be written there is no place for the table by which
            # SQLite's users agree; nobody writes there, so nobody has to be agreed with.
            return self._opened(f"{uri}&immutable=1")
        return connection

    def _opened(self, uri: str) -> sqlite3.Connection:
        return sqlite3.connect(
            uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    def _read_spaces(self) -> Iterator[_Space]:
        rows = self._connection.execute(
            "SELECT id, name, secret, recipe, parts FROM namespaces ORDER BY name"
        )
        for row in rows:
            space = space_of(row)
            namespace = Namespace(space.name, space.secret, space.recipe, space.parts)
            yield _Space(namespace, space.id << NUMBER_BITS)

    def _stream(
        self, statement: str, values: Mapping[str, object], at_once: int
    ) -> Iterator[tuple[Any, ...]]:
        with complaining(self._path):
            cursor = self._connection.execute(statement, values)
        while True:
            with complaining(self._path):
                found = cursor.fetchmany(at_once)
            if not found:
                return
            yield from found


class _Overlay(Dictionary):
    """The pages of a file and, in memory, what became of them since; closes its reader."""

    def __init__(self, reader: SqliteReader, space: _Space, forgotten: int) -> None:
        super().__init__()
        self._reader = reader
        self._space = space
        self.forgotten = forgotten
        self.recipe = (space.namespace.recipe, space.namespace.parts)

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        yield from self._reader.rows(self._space, unconfirmed=False)

    def read(self, number: int) -> bytes:
        if (page := self._pages.get(number)) is not None:
            return page
        return self._reader.page(self._space.base | number)

    def of_site(self, digest: int, most: int) -> Sequence[int]:
        known = [id_ & NUMBER_MASK for id_ in self._reader.of_site(self._space, digest, most)]
        return [*known, *super().of_site(digest, most)][-most:]

    def remove(self, first: int, last: int) -> None:
        # Of what the file has, nothing goes; it may be a great deal that has expired.
        for number in range(first, last + 1) if self._pages else ():
            self._pages.pop(number, None)

    def numbers(self) -> Iterator[npt.NDArray[np.intp]]:
        for numbers, _ in self._reader.rows(self._space, unconfirmed=False):
            yield numbers.astype(np.intp)
        yield from super().numbers()

    def rules(self) -> dict[str, bytes]:
        return self._reader.rules(self._space.namespace.name)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        of_file = self._reader.known_duplicates(self._space.namespace.name, since)
        return newest(np.concatenate([of_file, super().known_duplicates(since)]))

    def close(self) -> None:
        self._reader.close()
