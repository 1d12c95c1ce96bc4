"""The SQLite file in which the folder of ``--cache`` keeps what commands read of pages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import xxhash
from filelock import FileLock

from ...exceptions import InputError
from ...sources.compression import error_text
from .output import print_message

#: Name of the file in the folder.
FILE = "pages.sqlite"
#: Marks the file as a cache (``application_id``), and the version of its tables.
_APPLICATION, _VERSION = 0x4E644361, 1
#: Seconds that another process may keep the file locked. One that writes a batch takes much less.
_BUSY_SECONDS = 30.0
_DIGEST_BYTES = 8
#: What SQLite raises. A message of it that quotes a damaged name need not be UTF-8.
_FAILURES = (sqlite3.Error, UnicodeError)

_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE signatures (key BLOB PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE texts (key BLOB PRIMARY KEY, value BLOB NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""


class Entry(NamedTuple):
    """An entry of the cache: a value under its key.

    :ivar table: signatures and texts lie apart, so that who looks for signatures only does not
        have to read past the texts.
    """

    table: Literal["signatures", "texts"]
    key: bytes
    value: bytes


class CacheFile:
    """Keeps values by their keys; several processes may use the file at once.

    A damaged value is missing. If the file fails later on, a message says so once, and from then on
    nothing is found or kept.

    :param folder: made unless it exists; its parent must exist. The file in it can be read by its
        owner only, as it holds the texts of pages.
    :raises InputError: if the folder or the file cannot be used.
    """

    def __init__(self, folder: str) -> None:
        self.path = Path(folder, FILE)
        self._works = True
        try:
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            # Two processes that make one file would see each other's halves.
            with FileLock(f"{self.path}.lock", timeout=_BUSY_SECONDS, mode=0o600):
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
                self._connection = sqlite3.connect(
                    self.path, timeout=_BUSY_SECONDS, isolation_level=None
                )
                try:
                    self._prepare()
                except BaseException:
                    self._connection.close()
                    raise
        except (OSError, NotImplementedError, *_FAILURES) as error:
            problem = f"the cache cannot be used: {_problem(error)}"
            raise InputError(str(self.path), problem) from error

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return the value of a key; ``None`` if it is missing or damaged."""
        if not self._works:
            return None
        try:
            query = f"SELECT value FROM {table} WHERE key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
        except _FAILURES as error:
            self._give_up(error)
            return None
        if row is None or not isinstance(row[0], bytes):
            return None
        value = row[0][:-_DIGEST_BYTES]
        return value if _sealed(key, value) == row[0] else None

    def put(self, entries: Iterable[Entry]) -> None:
        """Keep values, all in one transaction; each replaces the one of its key."""
        if not self._works:
            return
        try:
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                for table, key, value in entries:
                    statement = f"INSERT OR REPLACE INTO {table} VALUES (?, ?)"
                    self._connection.execute(statement, (key, _sealed(key, value)))
        except _FAILURES as error:
            self._give_up(error)

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._connection.close()

    def _prepare(self) -> None:
        """Make the tables of a new file, and check those of another one."""
        application, version, tables = (
            self._connection.execute(query).fetchone()[0]
            for query in (
                "PRAGMA application_id",
                "PRAGMA user_version",
                "SELECT count(*) FROM sqlite_master",
            )
        )
        if not (application or version or tables):
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(_TABLES)
        elif (application, version) != (_APPLICATION, _VERSION):
            raise sqlite3.DatabaseError("it was made by something else")
        # A cache may lose its last entries when the system crashes, and no more than these.
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _give_up(self, error: Exception) -> None:
        self._works = False
        print_message(
            f"warning: {self.path}: the cache is not used any more: {_named(error)}; if this comes "
            "again, remove the file"
        )


def _problem(error: Exception) -> str:
    """Describe why the file cannot be opened, and what to do if the file is the reason."""
    if not isinstance(error, _FAILURES):
        return error_text(error)
    if isinstance(error, sqlite3.OperationalError):
        # Such as a full disk, or a lock; but an unknown version in the file's head is one as well.
        return f"{error}; if this comes again, remove the file"
    return f"{_named(error)}; remove the file, or name another folder"


def _named(error: Exception) -> str:
    return "it is damaged" if isinstance(error, UnicodeError) else str(error)


def _sealed(key: bytes, value: bytes) -> bytes:
    """Return a value with a digest: SQLite reads what was cut off a file as zeros."""
    return value + xxhash.xxh3_64_digest(key + value)
