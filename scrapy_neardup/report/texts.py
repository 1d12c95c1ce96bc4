"""Texts of pages for the report, in bounded space."""

from __future__ import annotations

import sqlite3

#: Space for compressed texts, in MB of 10**6 bytes; the oldest are dropped first.
KEPT_MB = 32


class KeptTexts:
    """Compressed texts of pages by URL, in a temporary file that is deleted on :meth:`close`.

    Any thread may call the methods, one at a time.

    :param most_bytes: space for the compressed texts.
    """

    def __init__(self, most_bytes: int = KEPT_MB * 10**6) -> None:
        #: How many texts were dropped for lack of space.
        self.dropped = 0
        self._most = most_bytes
        self._size = 0
        # An empty name means a private temporary file, in which SQLite reuses freed space.
        self._table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._table.execute("PRAGMA journal_mode = OFF")
        self._table.execute(
            "CREATE TABLE texts(number INTEGER PRIMARY KEY, url BLOB UNIQUE, text BLOB)"
        )
        self._table.execute("BEGIN")

    def put(self, url: str, text: bytes) -> None:
        """Keep the compressed text of a page, in place of an earlier one."""
        self._forget("url = ?", _blob(url))
        self._table.execute("INSERT INTO texts(url, text) VALUES (?, ?)", (_blob(url), text))
        self._size += len(text)
        while self._size > self._most:
            self._forget("number = (SELECT min(number) FROM texts)")
            self.dropped += 1

    def get(self, url: str) -> bytes | None:
        """Return the compressed text of a page, if it was kept."""
        found = self._table.execute("SELECT text FROM texts WHERE url = ?", (_blob(url),))
        row = found.fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """Delete the file."""
        self._table.close()

    def _forget(self, which: str, *values: bytes) -> None:
        rows = self._table.execute(f"SELECT length(text) FROM texts WHERE {which}", values)
        if (row := rows.fetchone()) is not None:
            self._table.execute(f"DELETE FROM texts WHERE {which}", values)
            self._size -= row[0]


def _blob(url: str) -> bytes:
    return url.encode("utf-8", "surrogatepass")
