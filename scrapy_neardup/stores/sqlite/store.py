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

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...exceptions import InvalidOption
from ...matching.rule import Scope
from ..archive import Archive
from ..hints import MemoryHints, known_at, newest, packed_name
from ..in_process import InProcessStore
from ..reading import StoreReader
from . import hint_tables
from .file import SqliteFile
from .format import FORMAT, Space, address_of
from .pages import SqlitePages
from .writer import BATCH_PAGES, BATCH_SECONDS

__all__ = ["BATCH_PAGES", "BATCH_SECONDS", "FORMAT", "SqliteStore"]

_SCHEME = "sqlite:///"


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
        file = SqliteFile.of(Path(path))
        try:
            space = file.enter(namespace, secret)
        except BaseException:
            file.close()
            raise
        try:
            archive = _SqliteArchive(file, space)
            super().__init__(address_of(Path(path)), archive, space.secret, ttl)
        except BaseException:
            file.leave(space.id)
            raise


class _SqliteHints(MemoryHints):
    """Rules in memory and in the file, known duplicates in the file alone."""

    def __init__(self, file: SqliteFile, namespace: int) -> None:
        with file.reading() as connection:
            super().__init__(hint_tables.rules(connection, namespace))
        self._file = file
        self._namespace = namespace

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        with self._lock, self._file.writer.later() as waiting:
            for name, body in self._change(rules).items():
                waiting.rules[self._namespace, packed_name(name)] = body

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


class _SqliteArchive(Archive):
    def __init__(self, file: SqliteFile, space: Space) -> None:
        pages = SqlitePages(file, space.id)
        hints = _SqliteHints(file, space.id)
        super().__init__(pages, hints, space.recipe, space.parts, pages.forgotten)
        self._file = file
        self._namespace = space.id

    @property
    def problem(self) -> str | None:
        return self._file.writer.problem

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        with self._file.writer.changing() as connection:
            connection.execute(
                "UPDATE namespaces SET recipe = ?, parts = ? WHERE id = ?",
                (recipe, json.dumps(dict(parts)), self._namespace),
            )
        super().adopt(recipe, parts)

    def compact(self) -> None:
        self._file.compact()

    def flush(self) -> None:
        self._file.writer.flush()

    def close(self) -> None:
        self._file.leave(self._namespace)


def canonical_address(address: str) -> str:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    path = address.removeprefix(_SCHEME)
    if path in ("", address):
        known = "'sqlite:///relative/path' or 'sqlite:////absolute/path'"
        raise InvalidOption("store", address, known)
    return f"{_SCHEME}{Path(path).resolve()}"


def open_store(
    address: str, namespace: str, ttl: float | None, scope: Scope | None, secret: bytes | None
) -> SqliteStore:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    return SqliteStore(address.removeprefix(_SCHEME), namespace, ttl, secret)


def open_reader(address: str) -> StoreReader:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    from .reading import SqliteReader

    return SqliteReader(canonical_address(address).removeprefix(_SCHEME))
