"""A table of values by URL, in a temporary file of bounded size."""

from __future__ import annotations

import sqlite3


class UrlTable:
    """Values by URL, in a temporary file that is deleted on :meth:`close`.

    Any thread may call the methods, one at a time.

    :param most_bytes: space for the values; the oldest are dropped first.
    :ivar dropped: how many values were dropped for lack of space.
    """

    def __init__(self, most_bytes: int) -> None:
        self.dropped = 0
        self._most = most_bytes
        self._size = 0
        # An empty name means a private temporary file, in which SQLite reuses freed space.
        self._file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = OFF")
        self._file.execute(
            "CREATE TABLE t(number INTEGER PRIMARY KEY, url BLOB UNIQUE, value BLOB)"
        )
        self._file.execute("BEGIN")
        self.close = self._file.close

    def put(self, url: str, value: bytes) -> None:
        """Set the value of a URL, which is then the newest."""
        self._delete("url = ?", _blob(url))
        self._file.execute("INSERT INTO t(url, value) VALUES (?, ?)", (_blob(url), value))
        self._size += len(value)
        while self._size > self._most:
            self._delete("number = (SELECT min(number) FROM t)")
            self.dropped += 1

    def get(self, url: str) -> bytes | None:
        """Return the value of a URL, if it is there."""
        row = self._file.execute("SELECT value FROM t WHERE url = ?", (_blob(url),)).fetchone()
        return None if row is None else bytes(row[0])

    def _delete(self, which: str, *values: bytes) -> None:
        rows = self._file.execute(f"SELECT length(value) FROM t WHERE {which}", values)
        if (row := rows.fetchone()) is not None:
            self._file.execute(f"DELETE FROM t WHERE {which}", values)
            self._size -= row[0]


def _blob(url: str) -> bytes:
    # URLs of crawled pages may contain surrogates, which SQLite's texts cannot.
    return url.encode("utf-8", "surrogatepass")
