"""Texts of pages, for those who want to see what a decision rests on, in a bounded room."""

from __future__ import annotations

import sqlite3

#: Room for packed texts, in MB of 10**6 bytes; beyond it the oldest are let go.
KEPT_MB = 32


class KeptTexts:
    """Titles and packed texts of pages by address, in a temporary file that ends with this object.

    Calls may come from any thread, one at a time.

    :param most_bytes: room for texts, packed.
    """

    def __init__(self, most_bytes: int = KEPT_MB * 10**6) -> None:
        #: How many texts were let go for want of room.
        self.let_go = 0
        self._most = most_bytes
        self._size = 0
        # The name for a file that nobody else sees; SQLite fills the gaps that old texts leave.
        self._table = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._table.execute("PRAGMA journal_mode = OFF")
        self._table.execute(
            "CREATE TABLE texts(number INTEGER PRIMARY KEY, url BLOB UNIQUE, text BLOB)"
        )
        self._table.execute("BEGIN")

    def put(self, url: str, text: bytes) -> None:
        """Keep a packed text, in the place of what was kept of the address."""
        self._forget("url = ?", _blob(url))
        self._table.execute("INSERT INTO texts(url, text) VALUES (?, ?)", (_blob(url), text))
        self._size += len(text)
        while self._size > self._most:
            self._forget("number = (SELECT min(number) FROM texts)")
            self.let_go += 1

    def get(self, url: str) -> bytes | None:
        """The packed text of the page at an address."""
        found = self._table.execute("SELECT text FROM texts WHERE url = ?", (_blob(url),))
        row = found.fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """Let go of the file."""
        self._table.close()

    def _forget(self, which: str, *values: bytes) -> None:
        rows = self._table.execute(f"SELECT length(text) FROM texts WHERE {which}", values)
        if (row := rows.fetchone()) is not None:
            self._table.execute(f"DELETE FROM texts WHERE {which}", values)
            self._size -= row[0]


def _blob(url: str) -> bytes:
    return url.encode("utf-8", "surrogatepass")
