"""Reads a SQLite file that a crawl may be writing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...matching.candidates import site_digest
from ..codec import unpacked
from ..hints import MemoryHintLog, newest
from ..in_process import InProcessStore
from ..memory import MemoryArchive, MemoryPages
from ..reading import Figures, Namespace, StoredPage
from . import hint_tables
from .format import FORMAT, address_of, complaining
from .snapshot import Snapshot, SnapshotPages


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
        self._snapshot = Snapshot(self._path)
        self.close = self._snapshot.close
        try:
            self._spaces = {space.name: space for space in self._snapshot.spaces()}
        except BaseException:
            self.close()
            raise

    @property
    def n_bytes(self) -> int:
        """Bytes of the file and of what SQLite keeps beside it."""
        files = (self._path, Path(f"{self._path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def namespaces(self) -> list[Namespace]:
        return [
            Namespace(space.name, space.secret, space.recipe, space.parts)
            for space in self._spaces.values()
        ]

    def figures(self, namespace: str) -> Figures:
        pages, number = self._pages(namespace), self._spaces[namespace].id
        with complaining(self._path):
            rules, known = (
                hint_tables.count(self._snapshot.connection, table, number)
                for table in ("rules", "copies")
            )
        return sum(
            (Figures.of(rows["summary"]["stored_at"]) for _, rows in pages.rows(unconfirmed=True)),
            Figures(unconfirmed=pages.count_unconfirmed(), rules=rules, known_duplicates=known),
        )

    def pages(self, namespace: str, site: str | None = None) -> Iterator[StoredPage]:
        recipe = self._spaces[namespace].recipe
        digest = None if site is None else site_digest(site)
        for record in self._pages(namespace).all(digest):
            signature = unpacked(record.page, recipe)
            if site is None or signature.site == site:
                summary = record.row["summary"]
                stored_at, items = int(summary["stored_at"]), int(summary["items"])
                yield StoredPage(signature, stored_at, record.is_confirmed, items)

    def rules(self, namespace: str) -> dict[str, bytes]:
        with complaining(self._path):
            return hint_tables.rules(self._snapshot.connection, self._spaces[namespace].id)

    def known_duplicates(self, namespace: str, since: int) -> npt.NDArray[np.void]:
        """Return known duplicates seen at this time or later, in no order."""
        number = self._spaces[namespace].id
        with complaining(self._path):
            return hint_tables.known(self._snapshot.connection, number, since)

    def overlay(self, namespace: str, ttl: float | None = None) -> InProcessStore:
        space, pages = self._spaces[namespace], self._pages(namespace)
        archive = MemoryArchive(
            _OverlayPages(pages),
            _OverlayHints(self, namespace),
            space.recipe,
            space.parts,
            forgotten=pages.count_unconfirmed(),
            at_close=self.close,
        )
        return InProcessStore(self.name, archive, space.secret, ttl)

    def _pages(self, namespace: str) -> SnapshotPages:
        return SnapshotPages(self._snapshot, self._spaces[namespace].id)


class _OverlayPages(MemoryPages):
    """The confirmed pages of a snapshot and, in memory, those that were added since."""

    def __init__(self, pages: SnapshotPages) -> None:
        super().__init__()
        self._file = pages

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        return self._file.rows(unconfirmed=False)

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        return [self._pages.get(number) or self._file.page(number) for number in numbers]

    def of_site(self, digest: int, most: int) -> Sequence[int]:
        return [*self._file.of_site(digest, most), *super().of_site(digest, most)][-most:]

    def remove(self, first: int, last: int) -> None:
        # Nothing of the file is removed; it may be a great deal that has expired.
        for number in range(first, last + 1) if self._pages else ():
            self._pages.pop(number, None)

    def numbers(self) -> Iterator[npt.NDArray[np.intp]]:
        for numbers, _ in self._file.rows(unconfirmed=False):
            yield numbers.astype(np.intp)
        yield from super().numbers()


class _OverlayHints(MemoryHintLog):
    """The hints of a reader and, in memory, those that were added since."""

    def __init__(self, reader: SqliteReader, namespace: str) -> None:
        super().__init__()
        self._reader = reader
        self._namespace = namespace

    def rules(self) -> dict[str, bytes]:
        return self._reader.rules(self._namespace)

    def since(self, time: int) -> npt.NDArray[np.void]:
        of_file = self._reader.known_duplicates(self._namespace, time)
        return newest(np.concatenate([of_file, super().since(time)]))
