"""Pages in a SQLite file, written in batches by a thread; lookups stay in memory.

A commit is on disk at most :data:`BATCH_SECONDS` later, or after :data:`BATCH_PAGES` of them, and
the time that the disk takes; what a crash of the machine loses counts as not stored. While the
disk takes nothing (it is full, or gone) what is to be written waits in memory and is tried again.

A file holds any number of namespaces. Only one process may have it; within that, all crawls share
one connection. It must lie on a disk of this machine: on a network's, neither SQLite's shared
memory nor the lock can be relied on. Beside it lie its lock (``.lock``, which stays) and, while it
is open or after an unclean stop, SQLite's logs (``-wal``, ``-shm``), which belong to it and are
to be copied or moved with it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...exceptions import StoreError
from .. import better_urls, hints
from ..archive import Archive
from ..better_urls import BetterUrlChanges, packed
from ..body_cache import BodyCache
from ..codec import site_in
from ..hints import MemoryHints, changed, known_at, newest, packed_name
from ..in_process import InProcessStore
from ..visits import Histories, Visits
from . import hint_tables, unstored
from .bodies import FileBodyCache, bodies_of
from .file import FilePages, SqliteFile
from .format import FORMAT, NUMBER_MASK, Space, address_of
from .writer import BATCH_PAGES, BATCH_SECONDS, REMOVE, Page

__all__ = ["BATCH_PAGES", "BATCH_SECONDS", "FORMAT", "SqliteStore"]


logger = logging.getLogger(__name__)


class SqliteStore(InProcessStore):
    """A namespace of a file.

    A process that was forked off (``os.fork`` without ``exec``) must not use it: neither SQLite
    nor the writing thread goes along, and the lock is held until both processes have ended.

    :param path: of the file, which is made unless it is there; its folder must be.
    :param namespace: see :func:`~scrapy_neardup.stores.open_store`, like ``ttl`` and ``secret``.
    :raises StoreInUse: when another process has the file, or this one the namespace.
    :raises StoreError: when the file cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        namespace: str = "default",
        ttl: float | None = None,
        secret: bytes | None = None,
    ) -> None:
        self._path, self._namespace = Path(path), namespace
        file = SqliteFile.of(self._path)
        try:
            space = file.enter(namespace, secret)
        except BaseException:
            file.close()
            raise
        try:
            self._pages = archive = _SqliteArchive(file, space)
            super().__init__(address_of(Path(path)), archive, space.secret, ttl)
        except BaseException:
            file.leave(space.id)
            raise

    @property
    def n_unwritten(self) -> int:
        """Number of pages that wait in memory to be written; all if the file is gone."""
        return len(self) if self._pages.is_gone else self._pages.n_unwritten()

    def _new_body_cache(self, max_bytes: int) -> BodyCache:
        path = bodies_of(self._path)
        try:
            return FileBodyCache(path, self._namespace, max_bytes, self._body_evicted)
        except (sqlite3.Error, OSError) as error:
            logger.warning("Cannot use %s, keeping bodies of pages in memory: %s", path, error)
            return super()._new_body_cache(max_bytes)


class _SqliteHints(MemoryHints):
    """Rules and best URLs in memory and in the file, the other hints in the file alone."""

    def __init__(self, file: SqliteFile, namespace: int) -> None:
        with file.reading() as connection:
            super().__init__(
                hint_tables.rules(connection, namespace),
                hint_tables.best_urls(connection, namespace),
            )
        self._file = file
        self._namespace = namespace

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        with self._lock, self._file.writer.later() as waiting:
            for name in changed(self._rules, rules, hints.MAX_RULES):
                waiting.named["rules", self._namespace, packed_name(name)] = rules[name]

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        with self._file.reading() as connection:
            known = [hint_tables.known(connection, self._namespace, since)]
            for batch in self._file.writer.pending():
                known += [noted for where, noted in batch.noted if where == self._namespace]
        return newest(np.concatenate(known), since)

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        with self._file.writer.later() as waiting:
            waiting.noted.append((self._namespace, known_at(copies, seen_at)))

    def forget_duplicates(self, before: int) -> None:
        self._file.writer.flush()
        with self._file.writer.changing() as connection:
            hint_tables.forget_before(connection, self._namespace, before)

    def visits(self) -> Histories:
        self._file.writer.flush()
        with self._file.reading() as connection:
            return hint_tables.visits(connection, self._namespace)

    def note_visits(self, visits: Visits) -> None:
        with self._file.writer.later() as waiting:
            waiting.visits.append((self._namespace, visits))

    def note_better_urls(self, changes: BetterUrlChanges) -> None:
        with self._lock, self._file.writer.later() as waiting:
            for original in changed(self._better_urls, changes, better_urls.MAX_BETTER_URLS):
                name = packed_name(original)
                waiting.named["better_urls", self._namespace, name] = packed(changes[original])

    def forget_visits(self, before: int) -> None:
        self._file.writer.flush()
        with self._file.writer.changing() as connection:
            hint_tables.forget_visits(connection, self._namespace, before)


class _SqliteArchive(Archive):
    """The pages in the file and those that wait to be written."""

    def __init__(self, file: SqliteFile, space: Space) -> None:
        self._file = file
        self._space = space
        self._written = FilePages(file.path, file.read, space.id)
        unconfirmed = [(self._written.base | n,) for n in self._written.unconfirmed()]
        if unconfirmed:
            with file.writer.changing() as connection:
                for statement in REMOVE:
                    connection.executemany(statement, unconfirmed)
        self._has_unstored = False
        own_hints = _SqliteHints(file, space.id)
        super().__init__(own_hints, space.recipe, space.parts, len(unconfirmed))

    @property
    def problem(self) -> str | None:
        return self._file.writer.problem

    @property
    def is_gone(self) -> bool:
        """Whether the path no longer has the file."""
        return self._file.writer.gone is not None

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        with self._file.writer.changing() as connection:
            connection.execute(
                "UPDATE namespaces SET recipe = ?, parts = ? WHERE id = ?",
                (recipe, json.dumps(dict(parts)), self._space.id),
            )
        super().adopt(recipe, parts)

    def n_unwritten(self) -> int:
        """Return the number of pages that wait to be written."""
        first, last = self._written.range
        with self._file.lock:
            batches = self._file.writer.pending()
            return len({id_ for batch in batches for id_ in batch.pages if first <= id_ <= last})

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        return self._written.load()

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        base = self._written.base
        with self._file.lock:
            batches = [batch for batch in self._file.writer.pending() if batch.pages]
            if not batches:
                return self._written.read(numbers)
            found = {
                number: page.page
                for batch in batches
                for number in numbers
                if (page := batch.pages.get(base | number)) and page.page is not None
            }
            written = [number for number in numbers if number not in found]
            found.update(zip(written, self._written.read(written), strict=True))
        return [found[number] for number in numbers]

    def of_site(self, digest: int, most: int) -> Sequence[int]:
        first, last = self._written.range
        with self._file.lock:
            found = self._written.of_site(digest, most)
            waiting = [
                page.id & NUMBER_MASK
                for batch in self._file.writer.pending()
                for page in batch.pages.values()
                if page.site == digest and first <= page.id <= last
            ]
        return sorted({*found, *waiting})[-most:]

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        id_ = self._written.base | number
        with self._file.writer.later() as waiting:
            waiting.pages[id_] = Page(id_, site_in(row), row, page, mark)

    def replace(self, number: int, row: bytes, page: bytes) -> None:
        id_ = self._written.base | number
        with self._file.writer.later() as waiting:
            before = waiting.pages.get(id_)
            waiting.pages[id_] = Page(id_, site_in(row), row, page, before and before.mark)

    def renew(self, number: int, row: bytes, mark: int) -> None:
        id_ = self._written.base | number
        with self._file.writer.later() as waiting:
            before = waiting.pages.get(id_)
            waiting.pages[id_] = Page(id_, site_in(row), row, before and before.page, mark)

    def remove(self, numbers: Sequence[int]) -> None:
        with self._file.writer.later() as waiting:
            for number in numbers:
                waiting.remove(self._written.base | number)

    def note_unstored(self, digest: int, page: bytes) -> None:
        key = unstored.key_of(self._space.id, digest)
        signature = unstored.sealed_signature(digest, self.recipe[0], page)
        with self._file.writer.later() as waiting:
            waiting.unstored[key] = (signature, int(time.time()))

    def find_unstored(self, digest: int) -> tuple[bytes, int] | None:
        key, found = unstored.key_of(self._space.id, digest), None
        # Where the table is damaged, pages are read again.
        with contextlib.suppress(StoreError), self._file.reading() as connection:
            self._has_unstored = self._has_unstored or unstored.is_there(connection)
            if self._has_unstored:
                found = unstored.find(connection, key)
        if found is None:
            return None
        page = unstored.signature_in(digest, self.recipe[0], found[0])
        return None if page is None else (page, found[1])

    def forget_unstored(self, before: int) -> None:
        self._file.writer.flush()
        with self._file.writer.changing() as connection:
            unstored.forget_before(connection, self._space.id, before)

    def confirm(self, mark: int) -> None:
        with self._file.writer.later() as waiting:
            waiting.confirm(self._written.range, mark)

    def compact(self) -> None:
        self._file.compact()

    def flush(self) -> None:
        self._file.writer.flush()

    def close(self) -> None:
        self._file.leave(self._space.id)
