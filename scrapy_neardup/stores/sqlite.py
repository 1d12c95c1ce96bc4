"""Pages in a SQLite file, written in batches by a thread; lookups stay in memory.

A commit is on disk at most :data:`BATCH_SECONDS` later, or after :data:`BATCH_PAGES` of them, and
the time that the disk takes; what a crash of the machine loses counts as not stored. While the
disk takes nothing (it is full, or gone) what is to be written waits in memory and is tried again.

A file holds any number of namespaces. Only one process may have it; within that, all crawls share
one connection.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from ..exceptions import StoreError, StoreInUse
from .local import ROW, LocalStore

#: Version of the tables; a file of a later one is refused.
FORMAT = 1
#: "NDup": how a file says that it is a store.
_APPLICATION = 0x4E447570

#: What every SQLite file begins with.
_HEADER = b"SQLite format 3\0"

BATCH_SECONDS = 0.5
BATCH_PAGES = 1000
#: Between two tries to write what the disk did not take.
_RETRY_SECONDS = 2.0
#: How long another connection, a tool's, may keep the file locked before writing is put off.
_BUSY_SECONDS = 5.0
_ROWS_AT_ONCE = 1 << 16

_NUMBER_BITS = 32
_NUMBER_MASK = (1 << _NUMBER_BITS) - 1

_TABLES = """
CREATE TABLE namespaces(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL, recipe TEXT,
    parts TEXT
);
-- An id is the namespace's, in the upper 32 bits, and the page's number.
CREATE TABLE rows(id INTEGER PRIMARY KEY, site INTEGER NOT NULL, row BLOB NOT NULL);
CREATE INDEX rows_site ON rows(site);
CREATE TABLE pages(id INTEGER PRIMARY KEY, page BLOB NOT NULL);
CREATE TABLE unconfirmed(id INTEGER PRIMARY KEY, mark INTEGER NOT NULL);
"""

_PUT = (
    "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)",
    "INSERT OR REPLACE INTO pages VALUES (?, ?)",
    "INSERT OR REPLACE INTO unconfirmed VALUES (?, ?)",
)
_REMOVE = tuple(f"DELETE FROM {table} WHERE id = ?" for table in ("rows", "pages", "unconfirmed"))
_CONFIRM = "DELETE FROM unconfirmed WHERE id BETWEEN ? AND ? AND mark <= ?"


class SqliteStore(LocalStore):
    """A namespace of a file.

    :param path: of the file, which is made unless it is there; its folder must be.
    :param namespace: pages of one namespace are compared with each other only.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    :raises StoreInUse: when another process has the file.
    :raises StoreError: when the file cannot be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], namespace: str = "default", ttl: float | None = None
    ) -> None:
        file = _File.of(Path(path))
        try:
            archive = _Archive(file, namespace)
            super().__init__(f"sqlite:///{path}", archive, archive.secret, ttl)
        except BaseException:
            file.close()
            raise


class _Archive:
    """See :class:`~scrapy_neardup.stores.local.Archive`."""

    def __init__(self, file: _File, namespace: str) -> None:
        self._file = file
        number, self.secret, self._recipe, parts = file.namespace(namespace)
        self._parts: Mapping[str, str] = json.loads(parts or "{}")
        self._base = number << _NUMBER_BITS
        self._range = (self._base, self._base | _NUMBER_MASK)
        self.forgotten = file.forget_unconfirmed(*self._range)

    @property
    def problem(self) -> str | None:
        return self._file.problem

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        for found in self._file.rows(*self._range):
            ids, rows = zip(*found, strict=True)
            numbers = (np.array(ids, np.int64) & _NUMBER_MASK).astype(np.uint32)
            yield numbers, np.frombuffer(b"".join(rows), ROW)

    def read(self, number: int) -> bytes:
        return self._file.page(self._base | number)

    def of_site(self, digest: int, most: int) -> list[int]:
        return [id_ & _NUMBER_MASK for id_ in self._file.of_site(digest, most, *self._range)]

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        site = int(np.frombuffer(row, ROW)["traits"]["site"][0])
        self._file.put(_Put(self._base | number, site, row, page, mark))

    def remove(self, number: int) -> None:
        self._file.remove(self._base | number)

    def numbers(self) -> Iterator[int]:
        for id_ in self._file.ids(*self._range):
            yield id_ & _NUMBER_MASK

    def confirm(self, mark: int) -> None:
        self._file.confirm(*self._range, mark)

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        if self._recipe and next(self.numbers(), None) is not None:
            return self._recipe, self._parts
        self._file.adopt(self._base >> _NUMBER_BITS, recipe, json.dumps(dict(parts)))
        return recipe, parts

    def compact(self) -> None:
        self._file.compact()

    def close(self) -> None:
        self._file.close()


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # A full disk may have ended the transaction already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class _Put(NamedTuple):
    """A page to be written."""

    id: int
    site: int
    row: bytes
    page: bytes
    mark: int


#: A statement and its arguments.
_Statement = tuple[str, tuple[object, ...]]


class _File:
    """One SQLite file, open in this process: a connection to read by, and a thread that writes."""

    _open: dict[Path, _File] = {}  # noqa: RUF012 (one table for all, on purpose)
    _opening = threading.Lock()

    @classmethod
    def of(cls, path: Path) -> _File:
        """The file at a path, opened unless it is open; each user closes it."""
        with cls._opening:
            place = path.resolve()
            if (file := cls._open.get(place)) is None:
                file = cls._open[place] = cls(place)
            file._users += 1
            return file

    def __init__(self, path: Path) -> None:
        self._path = path
        self._users = 0
        self._lock = threading.RLock()
        self._wake = threading.Condition(self._lock)
        self._writing = threading.Lock()
        self._to_write: list[_Statement] = []
        self._unwritten: dict[int, bytes] = {}
        self._removed: set[int] = set()
        self._since = 0.0
        self._is_closing = False
        #: What the disk said when it last refused, until it takes everything again.
        self.problem: str | None = None
        self._process_lock = self._only_here()
        try:
            self._keep_private()
            self._reader = self._connected()
            self._prepare()
        except BaseException:
            self._process_lock.release()
            raise
        self._writer = threading.Thread(target=self._write_on, name="neardup-store", daemon=True)
        self._writer.start()

    def namespace(self, name: str) -> tuple[int, bytes, str, str]:
        """Number, secret, recipe and parts of a namespace, which is made unless it is there."""
        with self._lock, self._complaining():
            self._reader.execute(
                "INSERT OR IGNORE INTO namespaces(name, secret) VALUES (?, ?)",
                (name, secrets.token_bytes(32)),
            )
            found: tuple[int, bytes, str, str] = self._reader.execute(
                "SELECT id, secret, recipe, parts FROM namespaces WHERE name = ?", (name,)
            ).fetchone()
            return found

    def adopt(self, namespace: int, recipe: str, parts: str) -> None:
        with self._lock, self._complaining():
            self._reader.execute(
                "UPDATE namespaces SET recipe = ?, parts = ? WHERE id = ?",
                (recipe, parts, namespace),
            )

    def forget_unconfirmed(self, first: int, last: int) -> int:
        """Leave out what nobody knows to be on disk; how many pages?"""
        with self._lock, self._complaining(), _transaction(self._reader):
            ids = self._reader.execute(
                "SELECT id FROM unconfirmed WHERE id BETWEEN ? AND ?", (first, last)
            ).fetchall()
            for statement in _REMOVE:
                self._reader.executemany(statement, ids)
            return len(ids)

    def rows(self, first: int, last: int) -> Iterator[list[tuple[int, bytes]]]:
        """Ids and rows in order, some thousands at a time."""
        with self._lock, self._complaining():
            cursor = self._reader.execute(
                "SELECT id, row FROM rows WHERE id BETWEEN ? AND ? ORDER BY id", (first, last)
            )
            while found := cursor.fetchmany(_ROWS_AT_ONCE):
                yield found

    def ids(self, first: int, last: int) -> list[int]:
        self.flush()
        with self._lock, self._complaining():
            cursor = self._reader.execute(
                "SELECT id FROM rows WHERE id BETWEEN ? AND ? ORDER BY id", (first, last)
            )
            return [id_ for (id_,) in cursor]

    def of_site(self, digest: int, most: int, first: int, last: int) -> list[int]:
        """Ids of a site's newest pages, the oldest of them first."""
        with self._lock, self._complaining():
            cursor = self._reader.execute(
                "SELECT id FROM rows WHERE site = ? AND id BETWEEN ? AND ? ORDER BY id DESC "
                "LIMIT ?",
                (digest, first, last, most),
            )
            found = [id_ for (id_,) in reversed(cursor.fetchall())]
            return [id_ for id_ in found if id_ not in self._removed]

    def page(self, id_: int) -> bytes:
        with self._lock, self._complaining():
            if (waiting := self._unwritten.get(id_)) is not None:
                return waiting
            found = self._reader.execute("SELECT page FROM pages WHERE id = ?", (id_,)).fetchone()
        if found is None:
            raise self._error("a page is missing that its index has; the file is damaged")
        data: bytes = found[0]
        return data

    def put(self, page: _Put) -> None:
        statements: list[_Statement] = [
            (_PUT[0], (page.id, page.site, page.row)),
            (_PUT[1], (page.id, page.page)),
        ]
        if page.mark:
            statements.append((_PUT[2], (page.id, page.mark)))
        with self._lock:
            self._unwritten[page.id] = page.page
            self._later(statements)

    def remove(self, id_: int) -> None:
        with self._lock:
            self._unwritten.pop(id_, None)
            self._removed.add(id_)
            self._later([(statement, (id_,)) for statement in _REMOVE])

    def confirm(self, first: int, last: int, mark: int) -> None:
        with self._lock:
            self._later([(_CONFIRM, (first, last, mark))])

    def flush(self) -> None:
        """Write what waits, now.

        :raises StoreError: when it cannot be written.
        """
        with self._complaining():
            self._write(self._reader)

    def compact(self) -> None:
        self.flush()
        with self._lock, self._complaining():
            self._reader.execute("VACUUM")
            self._reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """One user less; the last one writes what waits.

        :raises StoreError: when it cannot be written.
        """
        with _File._opening:
            self._users -= 1
            if self._users:
                return
            _File._open.pop(self._path, None)
            with self._wake:
                self._is_closing = True
                self._wake.notify()
            self._writer.join()
            try:
                self.flush()
            finally:
                self._reader.close()
                self._process_lock.release()

    def _later(self, statements: list[_Statement]) -> None:
        if not self._to_write:
            self._since = monotonic()
        self._to_write += statements
        self._wake.notify()

    def _write_on(self) -> None:
        """The thread's work: a batch at a time until the file is closed."""
        connection = self._connected()
        try:
            while self._wait_for_a_batch():
                try:
                    self._write(connection)
                except Exception as error:
                    # Whatever it is: what waits is not lost, and is tried again.
                    self.problem = str(error)
                    with self._wake:
                        self._wake.wait_for(lambda: self._is_closing, _RETRY_SECONDS)
        finally:
            connection.close()

    def _wait_for_a_batch(self) -> bool:
        """Is there one? None more comes once the file is being closed."""
        with self._wake:
            while not self._is_closing:
                if len(self._to_write) >= BATCH_PAGES:
                    return True
                left = self._since + BATCH_SECONDS - monotonic() if self._to_write else None
                if left is not None and left <= 0:
                    return True
                self._wake.wait(left)
            return False

    def _write(self, connection: sqlite3.Connection) -> None:
        """Write what waits in one transaction; all of it stays where that fails."""
        with self._writing:
            with self._lock:
                batch = list(self._to_write)
                written, removed = dict(self._unwritten), set(self._removed)
            if not batch:
                return
            with _transaction(connection):
                for statement, values in batch:
                    connection.execute(statement, values)
            with self._lock:
                del self._to_write[: len(batch)]
                self._since = monotonic()
                self._removed -= removed
                for id_, page in written.items():
                    if self._unwritten.get(id_) is page:
                        del self._unwritten[id_]
                self.problem = None

    def _only_here(self) -> FileLock:
        """Keep other processes out, until this one ends in whatever way."""
        if not self._path.parent.is_dir():
            raise self._error(f"there is no folder {self._path.parent}; make it first")
        lock = FileLock(f"{self._path}.lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise StoreInUse(
                self._name,
                "another process has it open. Wait until that is done, or give each its own store; "
                "several processes at once can share a redis:// store",
            ) from None
        except OSError as error:
            raise self._error(f"cannot be locked: {error}") from error
        return lock

    def _keep_private(self) -> None:
        """A new file is its owner's alone, for its secrets' sake; SQLite's logs of it follow."""
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            self._require_header()
        except OSError as error:
            raise self._error(f"cannot be made: {error}") from error

    def _require_header(self) -> None:
        """SQLite itself takes a short file of anything for an empty one, and writes over it."""
        with self._path.open("rb") as file:
            begin = file.read(len(_HEADER))
        if begin not in (b"", _HEADER):
            raise self._error("it is no SQLite file; give another path")

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        # Each batch reaches the disk itself, not only the system's memory.
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self) -> None:
        """Make the tables in a new file; refuse a file that is none of ours, or is damaged."""
        with self._complaining():
            is_new = not self._reader.execute("PRAGMA schema_version").fetchone()[0]
            if is_new:
                self._reader.execute("PRAGMA journal_mode = WAL")
                self._reader.executescript(
                    f"BEGIN; PRAGMA application_id = {_APPLICATION}; "
                    f"PRAGMA user_version = {FORMAT}; {_TABLES} COMMIT;"
                )
            application, version, pages, size = (
                self._reader.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version", "page_count", "page_size")
            )
        if application != _APPLICATION:
            raise self._error("it is a database of something else; give another path")
        if version > FORMAT:
            raise self._error(
                f"it has format {version}, from a later scrapy-neardup than this one, which reads "
                f"formats up to {FORMAT}; upgrade, or export it there and import it here"
            )
        log = Path(f"{self._path}-wal")
        is_logged = log.exists() and log.stat().st_size
        if not is_logged and self._path.stat().st_size < pages * size:
            raise self._error("it has been cut off; put a whole copy in its place")

    @contextlib.contextmanager
    def _complaining(self) -> Iterator[None]:
        """Say what SQLite says as an error of the store."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            hint = ""
            if "not a database" in str(error) or "malformed" in str(error):
                hint = ": it is damaged or no store at all; put a whole copy in its place, or "
                hint += "give another path"
            raise self._error(f"{error}{hint}") from error

    def _error(self, problem: str) -> StoreError:
        return StoreError(self._name, problem)

    @property
    def _name(self) -> str:
        return f"sqlite:///{self._path}"
