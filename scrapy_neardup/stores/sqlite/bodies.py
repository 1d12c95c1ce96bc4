"""Keeps the bodies of pages that were read quickly in a file beside that of their store."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

from ...sources.record import Record
from ..body_cache import BodyCache, record_of_head, size_of, told_head

#: Seconds to wait for another crawl that writes to the same file.
_LOCK_SECONDS = 0.5


class FileBodyCache(BodyCache):
    """Bodies in a SQLite file, for later runs as well.

    The file is a cache: what the disk or a kill loses, the store only cannot compare any more. One
    that cannot be read is made anew, and while it cannot be written no bodies are kept.

    :param path: of the file, which is made unless it is there.
    :param namespace: of the store; a file has the bodies of all namespaces, with a bound for each.
    """

    def __init__(
        self, path: Path, namespace: str, max_bytes: int, on_evicted: Callable[[str], None]
    ) -> None:
        super().__init__(max_bytes, on_evicted)
        self._namespace = namespace
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

    def close(self) -> None:
        self._file.close()

    def _write(self, key: str, record: Record, packed: bytes) -> bool:
        row = (self._namespace, key, told_head(record), packed)
        try:
            self._file.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?, ?)", row)
        except sqlite3.Error:
            return False
        return True

    def _read(self, key: str) -> tuple[Record, bytes] | None:
        query = "SELECT record, body FROM bodies WHERE namespace = ? AND key = ?"
        try:
            found = self._file.execute(query, (self._namespace, key)).fetchone()
        except sqlite3.Error:
            return None
        record = record_of_head(found[0]) if found is not None else None
        return None if record is None else (record, found[1])

    def _remove(self, key: str) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._file.execute(
                "DELETE FROM bodies WHERE namespace = ? AND key = ?", (self._namespace, key)
            )


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
