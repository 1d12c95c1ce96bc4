"""One SQLite file, open in this process: a connection to read by, and a thread that writes."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from ...exceptions import StoreError, StoreInUse, StoreMissing
from ..codec import ROW
from .format import (
    EMPTY,
    NUMBER_BITS,
    NUMBER_MASK,
    SPACES,
    Space,
    address_of,
    columns,
    complaining,
    opened,
    page_is_damaged,
    require_database,
    require_store,
    space_of,
)
from .writer import BatchWriter

logger = logging.getLogger(__name__)

#: Rows that are loaded at a time, at most.
_LOADED_ROWS = 1 << 17
#: Rows that are read at a time.
_ROWS_AT_ONCE = 1 << 11
#: SQLite takes 999 values in a statement at least.
_PAGES_AT_ONCE = 512
#: How long another connection, a tool's, may keep the file locked before writing is put off.
_BUSY_SECONDS = 5.0
#: The log of what is not yet in the file itself: pages of 4 KB that are moved there at a time, and
#: bytes to which it is cut back after a burst.
_LOG_PAGES = 4000
_LOG_BYTES = 1 << 26
#: What SQLite says where it cannot make its files beside the store.
_NO_PLACE = re.compile("unable to open|readonly")

_GIVE_SECRET = f"""
UPDATE namespaces SET secret = ?, recipe = NULL, parts = NULL
WHERE name = ? AND secret != ? AND NOT EXISTS (
    SELECT 1 FROM rows WHERE rows.id BETWEEN namespaces.id << {NUMBER_BITS}
    AND namespaces.id << {NUMBER_BITS} | {NUMBER_MASK}
)
"""


class SqliteFile:
    """See the module.

    All that is written goes through one connection, the writer's; all that is read through
    another, guarded by ``lock`` as is what waits to be written. Who has ``lock`` never waits for
    the writer, so a reader waits for no slow disk but its own. Neither outlives ``os.fork``.
    """

    _open: dict[Path, SqliteFile] = {}  # noqa: RUF012 (one table for all, on purpose)
    _opening = threading.Lock()

    @classmethod
    def of(cls, path: Path) -> SqliteFile:
        """Return the file at a path, opened unless it is open; each user closes it."""
        with cls._opening:
            place = path.resolve()
            if (file := cls._open.get(place)) is None:
                file = cls._open[place] = cls(place)
            file._users += 1
            return file

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._process = os.getpid()
        self._users = 0
        self._namespaces: set[int] = set()
        require_database(path)
        with contextlib.ExitStack() as undo:
            undo.callback(locked(path).release)
            make(path)
            self._reader = undo.enter_context(contextlib.closing(self._connected()))
            require_store(self._reader, path)
            connection = undo.enter_context(contextlib.closing(self._connected()))
            self._let_go = undo.pop_all()
        self.writer = BatchWriter(path, connection, self.lock)
        atexit.register(self._at_exit)

    def enter(self, name: str, secret: bytes | None = None) -> Space:
        """Return a namespace, which is made unless it is there.

        :param secret: which it is given unless it has pages.
        :raises StoreInUse: when somebody in this process has it.
        """
        # Of who had it before, perhaps.
        self.writer.flush()
        if (found := self._namespace(name)) is None or secret not in (None, found.secret):
            with self.writer.changing() as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO namespaces(name, secret) VALUES (?, ?)",
                    (name, secret or secrets.token_bytes(32)),
                )
                connection.execute(_GIVE_SECRET, (secret, name, secret))
            found = self._namespace(name)
            assert found is not None
        with self.lock:
            if found.id in self._namespaces:
                raise StoreInUse(
                    address_of(self.path),
                    f"this process has its namespace {name!r} open already; open_store() shares it",
                )
            self._namespaces.add(found.id)
        # Of who had it before there may be more than there is room for.
        self.writer.trim_soon(found.id)
        return found

    def leave(self, namespace: int) -> None:
        """Let another have the namespace, and close the file for this user."""
        with self.lock:
            self._namespaces.discard(namespace)
        self.close()

    def read(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        """Return what a query finds, without what waits to be written."""
        with self.lock, complaining(self.path):
            return self._reader.execute(query, values).fetchall()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Return the connection to read by; no other thread uses it."""
        with self.lock, complaining(self.path):
            yield self._reader

    def compact(self) -> None:
        """Free unused space; meanwhile the file is there twice, and what is written waits.

        :raises StoreError: when there is no room for that.
        """
        self.writer.flush()
        with self.writer.alone() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Write what waits; the last user closes the file.

        :raises StoreError: when it cannot be written, with the number of pages.
        """
        with SqliteFile._opening:
            self._users -= 1
            if self._users:
                self._flush_or_count("cannot be written at present")
                return
            SqliteFile._open.pop(self.path, None)
            self.writer.stop()
            atexit.unregister(self._at_exit)
            with self._let_go:
                self._flush_or_count("were not written and will be taken for new ones")

    def _at_exit(self) -> None:
        if os.getpid() != self._process:
            return
        self.writer.stop()
        try:
            self._flush_or_count("were not written")
        except StoreError as error:
            logger.error("%s", error)

    def _flush_or_count(self, outcome: str) -> None:
        try:
            self.writer.flush()
        except StoreError as error:
            if gone := self.writer.gone:
                raise StoreError(address_of(self.path), gone) from error
            _, waiting = self.writer.pending()
            if not waiting.has_pages:
                logger.warning(
                    "%s; all pages were written, but not all rules and known duplicates", error
                )
                return
            pages = len(waiting.pages)
            raise StoreError(
                address_of(self.path), f"{pages:,} pages {outcome}: {error.problem}"
            ) from error
        # All was written, but perhaps to a file that nobody finds.
        if gone := self.writer.gone:
            raise StoreError(address_of(self.path), gone)

    def _namespace(self, name: str) -> Space | None:
        with complaining(self.path):
            return next(map(space_of, self.read(f"{SPACES} WHERE name = ?", (name,))), None)

    def _connected(self) -> sqlite3.Connection:
        with complaining(self.path):
            return connected(self.path)


class FilePages:
    """The pages as they stand in the file; see :class:`~scrapy_neardup.stores.archive.Archive`.

    :param read: returns what a query with these values finds.
    """

    def __init__(
        self,
        path: Path,
        read: Callable[[str, tuple[object, ...]], list[tuple[Any, ...]]],
        namespace: int,
    ) -> None:
        self._path = path
        self._read = read
        self.base = namespace << NUMBER_BITS
        self.range = (self.base, self.base | NUMBER_MASK)

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        # Read in pieces that stay in the processor's cache, handed on in larger ones.
        numbers, rows = np.empty(_LOADED_ROWS, np.uint32), np.empty(_LOADED_ROWS, ROW)
        end = 0
        for found in self._rows():
            if end + len(found) > _LOADED_ROWS:
                yield numbers[:end], rows[:end]
                end = 0
            some = slice(end, end := end + len(found))
            with complaining(self._path):
                numbers[some], rows[some] = columns(found)
        if end:
            yield numbers[:end], rows[:end]

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        """See :meth:`~scrapy_neardup.stores.archive.Archive.read`.

        :raises StoreError: when one is missing, or not as it was written.
        """
        ids = [self.base | number for number in numbers]
        found: dict[int, bytes | None] = {}
        for start in range(0, len(ids), _PAGES_AT_ONCE):
            some = ids[start : start + _PAGES_AT_ONCE]
            query = f"SELECT id, page FROM pages WHERE id IN ({','.join('?' * len(some))})"
            for id_, data in self._read(query, tuple(some)):
                found[id_] = opened(id_, data)
        return [found.get(id_) or page_is_damaged(self._path, id_) for id_ in ids]

    def of_site(self, digest: int, most: int) -> list[int]:
        query = "SELECT id FROM rows WHERE site = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?"
        found = self._read(query, (digest, *self.range, most))
        return [id_ & NUMBER_MASK for (id_,) in reversed(found)]

    def unconfirmed(self) -> list[int]:
        """Return the numbers of pages that are not known to be on disk."""
        query = "SELECT id FROM unconfirmed WHERE id BETWEEN ? AND ?"
        return [id_ & NUMBER_MASK for (id_,) in self._read(query, self.range)]

    def _rows(self) -> Iterator[list[tuple[Any, ...]]]:
        first, last = self.range
        query = "SELECT id, row FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        while found := self._read(query, (first, last, _ROWS_AT_ONCE)):
            yield found
            first = found[-1][0] + 1


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
