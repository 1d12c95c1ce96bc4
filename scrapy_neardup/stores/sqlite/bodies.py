"""Keeps the bodies of pages that were read quickly in a file beside that of their store."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from ...exceptions import StoreError
from ...sources.record import Record
from ..body_cache import BodyCache, head_as_json, record_from_head, size_of
from .file import connected_for_reading

logger = logging.getLogger(__name__)

#: Seconds to wait for another crawl that writes to the same file.
_LOCK_SECONDS = 0.5


def bodies_of(path: Path) -> Path:
    """Return the file of the bodies of a store's file."""
    return Path(f"{path}-bodies")


class FileBodyCache(BodyCache):
    """Bodies in a SQLite file, for later runs as well.

    The file is a cache: what the disk or a kill loses, the store only cannot compare any more. One
    that cannot be read is made anew, and while it cannot be written bodies are in memory, within
    the same bound.

    :param path: of the file, which is made unless it is there.
    :param namespace: of the store; a file has the bodies of all namespaces, with a bound for each.
    """

    def __init__(
        self, path: Path, namespace: str, max_bytes: int, on_evicted: Callable[[str], None]
    ) -> None:
        super().__init__(max_bytes, on_evicted)
        self._namespace = namespace
        self._path = path
        self._has_warned = False
        #: Pages whose bodies are still in the file, because it could not be written.
        self._left: set[str] = set()
        try:
            self._file = _opened(path)
        except sqlite3.Error:
            for name in (path, *(Path(f"{path}{end}") for end in ("-wal", "-shm"))):
                name.unlink(missing_ok=True)
            self._file = _opened(path)
        query = (
            "SELECT key, length(record), length(body) FROM bodies WHERE namespace = ? "
            "ORDER BY rowid"
        )
        for key, n_head, n_packed in self._file.execute(query, (namespace,)).fetchall():
            self._add(key, size_of(key, n_head, n_packed))

    def compact(self, is_stored: Callable[[str], bool]) -> None:
        super().compact(is_stored)
        # While another process reads the file its space cannot be freed.
        with contextlib.suppress(sqlite3.Error):
            self._file.execute("VACUUM")
            self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        # A later run would take them for the bodies of what these pages are now.
        for key in list(self._left):
            self._remove_from_file(key)
        self._file.close()

    def _write(self, key: str, record: Record, packed: bytes) -> bool:
        row = (self._namespace, key, head_as_json(record), packed)
        try:
            self._file.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            if not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "Cannot write to %s, keeping bodies of pages in memory; later runs do not have "
                    "them (logged once): %s",
                    self._path,
                    error,
                )
            return super()._write(key, record, packed)
        self._left.discard(key)
        return True

    def _read(self, key: str) -> tuple[Record, bytes] | None:
        if key in self._bodies:
            return super()._read(key)
        return _body_in(self._file, self._namespace, key)

    def _remove(self, key: str) -> None:
        if key in self._bodies:
            super()._remove(key)
        else:
            self._remove_from_file(key)

    def _remove_from_file(self, key: str) -> None:
        try:
            self._file.execute(
                "DELETE FROM bodies WHERE namespace = ? AND key = ?", (self._namespace, key)
            )
        except sqlite3.Error:
            self._left.add(key)
        else:
            self._left.discard(key)


class OverlaidBodyCache(BodyCache):
    """Bodies in memory above those of a store's file, which stays as it is.

    :param path: of the file of the bodies; without one there are none but those in memory.
    """

    def __init__(
        self, path: Path, namespace: str, max_bytes: int, on_evicted: Callable[[str], None]
    ) -> None:
        super().__init__(max_bytes, on_evicted)
        self._namespace = namespace
        self._file: sqlite3.Connection | None = None
        #: Pages whose bodies in the file have been taken, or are of earlier versions.
        self._passed: set[str] = set()
        with contextlib.suppress(StoreError, sqlite3.Error):
            self._file = connected_for_reading(path)
            # A crawl may be removing bodies.
            self._file.execute("BEGIN")
            self._file.execute("SELECT 1 FROM bodies LIMIT 1").fetchall()

    def take(self, key: str) -> Record | None:
        is_in_file = not (self.keeps(key) or key in self._passed)
        if not is_in_file or self._file is None:
            return super().take(key)
        self.discard(key)
        found = _body_in(self._file, self._namespace, key)
        return None if found is None else self._unpacked(*found)

    def discard(self, key: str) -> None:
        super().discard(key)
        self._passed.add(key)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _body_in(file: sqlite3.Connection, namespace: str, key: str) -> tuple[Record, bytes] | None:
    """Return the record and the compressed body of a page, if both can be read."""
    query = "SELECT record, body FROM bodies WHERE namespace = ? AND key = ?"
    try:
        found = file.execute(query, (namespace, key)).fetchone()
    except sqlite3.Error:
        return None
    record = None if found is None else record_from_head(found[0])
    return None if record is None else (record, found[1])


def _opened(path: Path) -> sqlite3.Connection:
    """Open the file of the bodies.

    :raises sqlite3.Error: if it cannot be read, or its table is another.
    """
    # Nobody else may read the pages.
    path.touch(mode=0o600)
    # Calls come from the event loop, and at the end of a crawl from a thread; never from two.
    # Each body is a transaction of its own, so that crawls that share the file never wait long.
    file = sqlite3.connect(
        path, timeout=_LOCK_SECONDS, check_same_thread=False, isolation_level=None
    )
    try:
        # What a crash loses is only a cache.
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA synchronous = OFF")
        file.execute(
            "CREATE TABLE IF NOT EXISTS bodies(namespace TEXT, key TEXT, record TEXT, body BLOB, "
            "UNIQUE (namespace, key))"
        )
        file.execute("SELECT namespace, key, record, body FROM bodies LIMIT 1").fetchall()
    except BaseException:
        file.close()
        raise
    return file
