"""Reads a SQLite file as it is at one moment; a crawl may be writing it.

No lock is taken, nothing is written. SQLite may leave two files beside it by which its users
agree, one of them empty; the next crawl takes them away.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...matching.candidates import site_digest
from ..archive import Archive
from ..better_urls import BetterUrl
from ..body_cache import BodyCache
from ..codec import unpacked
from ..hints import MemoryHints, newest
from ..in_process import InProcessStore
from ..reading import Figures, Namespace, StoredPage
from . import hint_tables
from .bodies import OverlaidBodyCache, bodies_of
from .file import FilePages, connected_for_reading
from .format import FORMAT, SPACES, Space, address_of, complaining, require_store, space_of

_PAGES_AT_ONCE = 256


#: What is read of all pages before they are read one by one.
_TOLD = np.dtype([("number", "<u4"), ("stored_at", "<u4"), ("items", "<u8")])


class SqliteReader:
    """See :class:`~scrapy_neardup.stores.reading.StoreReader`.

    All answers are about the moment at which it was opened.

    :raises StoreMissing: when there is no such file.
    :raises StoreError: when it is no store, or a damaged one.
    """

    is_remote = False
    format = FORMAT

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).resolve()
        self.name = address_of(self._path)
        self._connection = connected_for_reading(self._path)
        self.close = self._connection.close
        try:
            require_store(self._connection, self._path)
            with complaining(self._path):
                # What one statement finds, the next must find as well.
                self._connection.execute("BEGIN")
                spaces = map(space_of, self._connection.execute(f"{SPACES} ORDER BY name"))
                self._spaces = {space.name: space for space in spaces}
        except BaseException:
            self.close()
            raise

    @property
    def n_bytes(self) -> int:
        """Bytes of the file, of the bodies and of what SQLite keeps beside them."""
        bodies = bodies_of(self._path)
        files = (self._path, Path(f"{self._path}-wal"), bodies, Path(f"{bodies}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def namespaces(self) -> list[Namespace]:
        return list(self._spaces.values())

    def figures(self, namespace: str) -> Figures:
        pages, number = self._pages(namespace), self._spaces[namespace].id
        with complaining(self._path):
            rules, known = (
                hint_tables.count(self._connection, table, number) for table in ("rules", "copies")
            )
        times = (rows["summary"]["stored_at"].copy() for _, rows in pages.load())
        return Figures.of(times, len(pages.unconfirmed()), rules, known)

    def pages(self, namespace: str, site: str | None = None) -> Iterator[StoredPage]:
        recipe, stored = self._spaces[namespace].recipe, self._pages(namespace)
        unconfirmed = set(stored.unconfirmed())
        told = _oldest_first(stored, None if site is None else site_digest(site))
        for start in range(0, len(told), _PAGES_AT_ONCE):
            some = told[start : start + _PAGES_AT_ONCE].tolist()
            pages = stored.read([number for number, _, _ in some])
            for (number, stored_at, items), page in zip(some, pages, strict=True):
                signature = unpacked(page, recipe)
                if site is None or signature.site == site:
                    is_confirmed = number not in unconfirmed
                    yield StoredPage(signature, stored_at, items, is_confirmed)

    def rules(self, namespace: str) -> dict[str, bytes]:
        with complaining(self._path):
            return hint_tables.rules(self._connection, self._spaces[namespace].id)

    def visits(self, namespace: str) -> npt.NDArray[np.void]:
        with complaining(self._path):
            return hint_tables.visits(self._connection, self._spaces[namespace].id)

    def better_urls(self, namespace: str) -> dict[str, BetterUrl]:
        with complaining(self._path):
            return hint_tables.best_urls(self._connection, self._spaces[namespace].id)

    def known_duplicates(self, namespace: str, since: int) -> npt.NDArray[np.void]:
        """Return known duplicates seen at this time or later, in no order."""
        with complaining(self._path):
            return hint_tables.known(self._connection, self._spaces[namespace].id, since)

    def overlay(self, namespace: str, ttl: float | None = None) -> InProcessStore:
        space = self._spaces[namespace]
        archive = _OverlayArchive(self, space, self._pages(namespace))
        return _OverlayStore(self._path, space, archive, ttl)

    def _pages(self, namespace: str) -> FilePages:
        return FilePages(self._path, self._read, self._spaces[namespace].id)

    def _read(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with complaining(self._path):
            return self._connection.execute(query, values).fetchall()


def _oldest_first(pages: FilePages, site: int | None) -> npt.NDArray[np.void]:
    """Return number, time and items of pages, or of those of one site, the oldest first.

    :param site: its digest.
    """
    found = [np.empty(0, _TOLD)]
    for numbers, rows in pages.load():
        summaries = rows["summary"]
        told = np.empty(len(numbers), _TOLD)
        told["number"] = numbers
        told["stored_at"], told["items"] = summaries["stored_at"], summaries["items"]
        found.append(told if site is None else told[summaries["site"] == site])
    joined = np.concatenate(found)
    return joined[np.argsort(joined["stored_at"], kind="stable")]


class _OverlayStore(InProcessStore):
    """A namespace of a file; what is committed, and what is read in full, stays in memory."""

    def __init__(
        self, path: Path, space: Space, archive: _OverlayArchive, ttl: float | None
    ) -> None:
        super().__init__(address_of(path), archive, space.secret, ttl)
        self._path, self._namespace = bodies_of(path), space.name

    def _new_body_cache(self, max_bytes: int) -> BodyCache:
        return OverlaidBodyCache(self._path, self._namespace, max_bytes, self._body_evicted)


class _OverlayArchive(Archive):
    """The confirmed pages of a file and, in memory, those that were added since.

    :ivar left_out: numbers of the other pages of the file.
    """

    def __init__(self, reader: SqliteReader, space: Space, pages: FilePages) -> None:
        self._file = pages
        self.left_out = frozenset(pages.unconfirmed())
        hints = _OverlayHints(reader, space.name)
        super().__init__(hints, space.recipe, space.parts, len(self.left_out))
        self._close = reader.close

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        for numbers, rows in self._file.load():
            kept = ~np.isin(numbers, list(self.left_out))
            if kept.any():
                yield numbers[kept], rows[kept]

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        of_file = [number for number in numbers if number not in self._pages]
        found = dict(zip(of_file, self._file.read(of_file), strict=True))
        return [self._pages.get(number) or found[number] for number in numbers]

    def of_site(self, digest: int, most: int) -> Sequence[int]:
        of_file = [n for n in self._file.of_site(digest, most) if n not in self.left_out]
        return [*of_file, *super().of_site(digest, most)][-most:]

    def remove(self, numbers: Sequence[int]) -> None:
        # Nothing of the file is removed.
        for number in numbers:
            self._pages.pop(number, None)

    def close(self) -> None:
        self._close()


class _OverlayHints(MemoryHints):
    """The hints of a file and, in memory, those that were added since."""

    def __init__(self, reader: SqliteReader, namespace: str) -> None:
        super().__init__(reader.rules(namespace), reader.better_urls(namespace))
        self._of_file = partial(reader.known_duplicates, namespace)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        return newest(np.concatenate([self._of_file(since), super().known_duplicates(since)]))
