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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..codec import ROW, site_in
from ..in_process import InProcessStore
from .batch import Put
from .file import BATCH_PAGES, BATCH_SECONDS, File
from .format import FORMAT, NUMBER_BITS, NUMBER_MASK, address_of

__all__ = ["BATCH_PAGES", "BATCH_SECONDS", "FORMAT", "SqliteStore"]

#: Rows that are loaded at a time, at most.
_ROWS = 1 << 17


class SqliteStore(InProcessStore):
    """A namespace of a file.

    A process that was forked off (``os.fork`` without ``exec``) must not use it: neither SQLite
    nor the writing thread goes along, and the lock is held until both processes have ended.

    :param path: of the file, which is made unless it is there; its folder must be.
    :param namespace: pages of one namespace are compared with each other only.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    :param secret: for a namespace without a page, 16 to 64 bytes; one with pages keeps its own.
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
        name = address_of(Path(path))
        archive = _Archive(name, File.of(Path(path)), namespace, secret)
        try:
            super().__init__(name, archive, archive.secret, ttl)
        except BaseException:
            archive.close()
            raise


class _Archive:
    """See :class:`~scrapy_neardup.stores.archive.Archive`; closes its file."""

    def __init__(self, name: str, file: File, namespace: str, secret: bytes | None) -> None:
        self._name = name
        self._file = file
        try:
            space = file.enter(namespace, secret)
        except BaseException:
            file.close()
            raise
        self._namespace, self.secret = space.id, space.secret
        self.recipe: tuple[str, Mapping[str, str]] = (space.recipe, space.parts)
        self._base = self._namespace << NUMBER_BITS
        self._range = (self._base, self._base | NUMBER_MASK)
        self.forgotten = 0

    @property
    def problem(self) -> str | None:
        return self._file.problem

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        self.forgotten = self._file.forget_unconfirmed(*self._range)
        # Read in pieces that stay in the processor's cache, handed on in larger ones.
        numbers, rows, end = np.empty(_ROWS, np.uint32), np.empty(_ROWS, ROW), 0
        for found in self._file.rows(*self._range):
            if end + len(found) > _ROWS:
                yield numbers[:end], rows[:end]
                end = 0
            some = slice(end, end := end + len(found))
            numbers[some], rows[some] = self._file.columns(found)
        if end:
            yield numbers[:end], rows[:end]

    def read(self, number: int) -> bytes:
        return self._file.page(self._base | number)

    def read_all(self, numbers: Sequence[int]) -> list[bytes]:
        return self._file.pages([self._base | number for number in numbers])

    def of_site(self, digest: int, most: int) -> list[int]:
        return [id_ & NUMBER_MASK for id_ in self._file.of_site(digest, most, *self._range)]

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        self._file.put(Put(self._base | number, site_in(row), row, page, mark))

    def remove(self, first: int, last: int) -> None:
        self._file.remove(self._base | first, self._base | last)

    def numbers(self) -> Iterator[npt.NDArray[np.intp]]:
        for ids in self._file.ids(*self._range):
            yield np.array(ids, np.int64) & NUMBER_MASK

    def confirm(self, mark: int) -> None:
        self._file.confirm(*self._range, mark)

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        self._file.adopt(self._namespace, recipe, json.dumps(dict(parts)))
        self.recipe = (recipe, parts)

    def rules(self) -> dict[str, bytes]:
        return self._file.rules(self._namespace)

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        self._file.put_rules(self._namespace, rules)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        return self._file.known_duplicates(self._namespace, since)

    def note_duplicates(self, known: npt.NDArray[np.void]) -> None:
        self._file.note_duplicates(self._namespace, known)

    def forget_duplicates(self, before: int) -> None:
        self._file.forget_duplicates(self._namespace, before)

    def compact(self) -> None:
        self._file.compact()

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.leave(self._namespace)
        self._file.close()
