"""Locks, makes and connects to a store's SQLite file."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from pathlib import Path

from filelock import FileLock, Timeout

from ...exceptions import StoreError, StoreInUse, StoreMissing
from .format import EMPTY, address_of, complaining

#: How long another connection, a tool's, may keep the file locked before writing is put off.
_BUSY_SECONDS = 5.0
#: The log of what is not yet in the file itself: pages of 4 KB that are moved there at a time, and
#: bytes to which it is cut back after a burst.
_LOG_PAGES = 4000
_LOG_BYTES = 1 << 26
#: What SQLite says where it cannot make its files beside the store.
_NO_PLACE = re.compile("unable to open|readonly")


def locked(path: Path) -> FileLock:
    """Keep other processes out, until this one ends in whatever way.

    :raises StoreInUse: when another process has the file.
    """
    name = address_of(path)
    if not path.parent.is_dir():
        raise StoreError(name, f"there is no folder {path.parent}; make it first")
    lock = FileLock(f"{path}.lock", mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if not Path(lock.lock_file).exists():
            raise StoreError(name, "its lock cannot be made beside it; give another path") from None
        raise StoreInUse(
            name,
            "another process has it open. Wait until that is done, or give each its own store; "
            "several processes at once can share a redis:// store",
        ) from None
    except (OSError, NotImplementedError) as error:
        raise StoreError(name, f"cannot be locked: {error}") from error
    return lock


def make(path: Path) -> None:
    """Make the file unless it is there: at once whole and its owner's alone, for its secrets.

    SQLite's logs of a file have its permissions.
    """
    name = address_of(path)
    if path.exists():
        if not os.access(path, os.R_OK | os.W_OK):
            raise StoreError(name, "it cannot be read and written by this user")
        if not path.is_file():
            raise StoreError(name, "it is no file; give another path")
        return
    draft = Path(f"{path}.new")
    try:
        # A log without its file would be taken for the new one's.
        for base in (draft, path):
            for log in ("-wal", "-shm"):
                Path(f"{base}{log}").unlink(missing_ok=True)
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with complaining(path), contextlib.closing(connected(draft)) as connection:
            [mode] = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode != "wal":
                raise StoreError(name, "SQLite cannot share memory on this file system; use a disk")
            connection.executescript(EMPTY)
        draft.replace(path)
    except OSError as error:
        raise StoreError(name, f"cannot be made: {error}") from error


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection whose transactions reach the disk, not only the system's memory."""
    connection = _connection(str(path))
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
    return connection


def connected_for_reading(path: Path) -> sqlite3.Connection:
    """Return a connection that takes no lock and writes nothing.

    :raises StoreMissing: when there is no such file.
    """
    name = address_of(path)
    if not path.exists():
        raise StoreMissing(name, "there is no such file")
    if not path.is_file():
        raise StoreError(name, "it is no file; give the path of a store's file")
    uri = f"{path.as_uri()}?mode=ro"
    with complaining(path):
        connection = _connection(uri)
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if Path(f"{path}-wal").exists() or not _NO_PLACE.search(str(error)):
                raise
            # In a folder where nothing can be written there is no place for the table by which
            # SQLite's users agree; nobody writes there, so nobody has to be agreed with.
            return _connection(f"{uri}&immutable=1")
        return connection


def _connection(place: str) -> sqlite3.Connection:
    return sqlite3.connect(
        place,
        uri=place.startswith("file:"),
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
