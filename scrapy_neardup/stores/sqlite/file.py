"""One SQLite file, open in this process: a connection to read by, and a thread that writes."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from ...exceptions import StoreError, StoreInUse
from ..hints import newest, packed_name
from . import hints as sqlite_advice
from .batch import REMOVE, Batch, Put
from .format import (
    EMPTY,
    NUMBER_BITS,
    NUMBER_MASK,
    Space,
    address_of,
    columns,
    complaining,
    opened,
    require_header,
    require_store,
    space_of,
)

logger = logging.getLogger(__name__)

BATCH_SECONDS = 0.5
BATCH_PAGES = 1000
#: What one transaction writes at most: when much waits, the disk takes at least a part of it.
_MOST_AT_ONCE = 10 * BATCH_PAGES
#: Between two tries to write what the disk did not take.
_RETRY_SECONDS = 2.0
#: How long another connection, a tool's, may keep the file locked before writing is put off.
_BUSY_SECONDS = 5.0
_ROWS_AT_ONCE = 1 << 11
_IDS_AT_ONCE = 1 << 16
#: SQLite takes 999 values in a statement at least.
_PAGES_AT_ONCE = 512
#: After so many more, those known duplicates are let go of that are too many.
_NOTED_UNTIL_TRIM = 1 << 16
#: The log of what is not yet in the file itself: pages of 4 KB that are moved there at a time, and
#: bytes to which it is cut back after a burst.
_LOG_PAGES = 4000
_LOG_BYTES = 1 << 26

_GIVE_SECRET = f"""
UPDATE namespaces SET secret = ?, recipe = NULL, parts = NULL
WHERE name = ? AND secret != ? AND NOT EXISTS (
    SELECT 1 FROM rows WHERE rows.id BETWEEN namespaces.id << {NUMBER_BITS}
    AND namespaces.id << {NUMBER_BITS} | {NUMBER_MASK}
)
"""


class File:
    """See the module.

    All that is written goes through one connection, guarded by ``_writing``; all that is read
    through another, guarded by ``_lock`` as is what waits. Who has ``_lock`` never waits for
    ``_writing``, so a reader waits for no slow disk but its own. Neither outlives ``os.fork``.
    """

    _open: dict[Path, File] = {}  # noqa: RUF012 (one table for all, on purpose)
    _opening = threading.Lock()

    @classmethod
    def of(cls, path: Path) -> File:
        """The file at a path, opened unless it is open; each user closes it."""
        with cls._opening:
            place = path.resolve()
            if (file := cls._open.get(place)) is None:
                file = cls._open[place] = cls(place)
            file._users += 1
            return file

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = os.getpid()
        self._users = 0
        self._namespaces: set[int] = set()
        self._lock = threading.RLock()
        self._wake = threading.Condition(self._lock)
        self._writing = threading.Lock()
        self._waiting = Batch()
        self._under_way = Batch()
        self._since = 0.0
        #: Known duplicates noted in each namespace since they were trimmed.
        self._noted: Counter[int] = Counter()
        self._is_closing = False
        #: What the disk said when it last refused, until it takes something again.
        self.problem: str | None = None
        with contextlib.ExitStack() as undo:
            undo.callback(self._only_here().release)
            self._make()
            self._reader = undo.enter_context(contextlib.closing(self._connected()))
            require_store(self._reader, path)
            self._writer = undo.enter_context(contextlib.closing(self._connected()))
            self._let_go = undo.pop_all()
        self._thread = threading.Thread(target=self._write_on, name="neardup-store", daemon=True)
        self._thread.start()
        atexit.register(self._at_exit)

    # --- namespaces ---

    def enter(self, name: str, secret: bytes | None = None) -> Space:
        """A namespace, which is made unless it is there.

        :param secret: which it is given unless it has pages.
        :raises StoreInUse: when somebody in this process has it.
        """
        # Of who had it before, perhaps.
        self.flush()
        if (found := self._namespace(name)) is None or secret not in (None, found.secret):
            with self._changing() as connection:
                connection.execute(
                    "INSERT OR IGNORE INTO namespaces(name, secret) VALUES (?, ?)",
                    (name, secret or secrets.token_bytes(32)),
                )
                connection.execute(_GIVE_SECRET, (secret, name, secret))
            found = self._namespace(name)
            assert found is not None
        with self._lock:
            if found.id in self._namespaces:
                raise StoreInUse(
                    self._name,
                    f"this process has its namespace {name!r} open already; open_store() shares it",
                )
            self._namespaces.add(found.id)
            # Of who had it before there may be more than there is room for.
            self._noted[found.id] = _NOTED_UNTIL_TRIM
        return found

    def _namespace(self, name: str) -> Space | None:
        known = "SELECT id, name, secret, recipe, parts FROM namespaces WHERE name = ?"
        with self._complaining():
            for row in self._read(known, (name,)):
                return space_of(row)
        return None

    def leave(self, namespace: int) -> None:
        """Let another have the namespace."""
        with self._lock:
            self._namespaces.discard(namespace)

    def adopt(self, namespace: int, recipe: str, parts: str) -> None:
        with self._changing() as connection:
            connection.execute(
                "UPDATE namespaces SET recipe = ?, parts = ? WHERE id = ?",
                (recipe, parts, namespace),
            )

    def forget_unconfirmed(self, first: int, last: int) -> int:
        """Leave out what nobody knows to be on disk; how many pages?"""
        with self._lock, self._complaining():
            ids = self._reader.execute(
                "SELECT id, id FROM unconfirmed WHERE id BETWEEN ? AND ?", (first, last)
            ).fetchall()
        if ids:
            with self._changing() as connection:
                for statement in REMOVE:
                    connection.executemany(statement, ids)
        return len(ids)

    # --- to read ---

    def rows(self, first: int, last: int) -> Iterator[list[tuple[int, bytes]]]:
        """Ids and rows in order, some thousands at a time; without what waits to be written."""
        while found := self._read(
            "SELECT id, row FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
            (first, last, _ROWS_AT_ONCE),
        ):
            yield found
            first = found[-1][0] + 1

    def columns(
        self, found: Sequence[tuple[int, bytes]]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]:
        """Numbers of pages and their rows, of some that :meth:`rows` found."""
        with self._complaining():
            return columns(found)

    def ids(self, first: int, last: int) -> Iterator[list[int]]:
        """Ids of all pages in order, some thousands at a time; also of some just removed."""
        while first <= last:
            with self._lock:
                found = self._read(
                    "SELECT id FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
                    (first, last, _IDS_AT_ONCE),
                )
                end = found[-1][0] if len(found) == _IDS_AT_ONCE else last
                waiting = [put.id for put in self._not_written() if first <= put.id <= end]
            yield sorted({*(id_ for (id_,) in found), *waiting})
            first = end + 1

    def of_site(self, digest: int, most: int, first: int, last: int) -> list[int]:
        """Ids of a site's newest pages, the oldest of them first; also of some just removed."""
        with self._lock:
            found = self._read(
                "SELECT id FROM rows WHERE site = ? AND id BETWEEN ? AND ? ORDER BY id DESC "
                "LIMIT ?",
                (digest, first, last, most),
            )
            waiting = [
                put.id
                for put in self._not_written()
                if put.site == digest and first <= put.id <= last
            ]
        return sorted({*(id_ for (id_,) in found), *waiting})[-most:]

    def page(self, id_: int) -> bytes:
        [page] = self.pages([id_])
        return page

    def pages(self, ids: Sequence[int]) -> list[bytes]:
        """Pages in the order of these ids.

        :raises StoreError: when one is missing, or not as it was written.
        """
        found: dict[int, bytes | None] = {}
        with self._lock:
            for batch in (self._under_way, self._waiting):
                found |= {id_: batch.puts[id_].page for id_ in ids if id_ in batch.puts}
            written = [id_ for id_ in ids if id_ not in found]
            for start in range(0, len(written), _PAGES_AT_ONCE):
                some = written[start : start + _PAGES_AT_ONCE]
                places = ",".join("?" * len(some))
                query = f"SELECT id, page FROM pages WHERE id IN ({places})"
                found |= {id_: opened(id_, data) for id_, data in self._read(query, tuple(some))}
        return [found.get(id_) or self._refuse(id_) for id_ in ids]

    def _refuse(self, id_: int) -> bytes:
        raise self._error(
            f"page {id_ & NUMBER_MASK} of namespace {id_ >> NUMBER_BITS} is missing or not as "
            "it was written: the file is damaged; put a whole copy in its place"
        )

    def rules(self, namespace: int) -> dict[str, bytes]:
        """Rules of a namespace; without what waits to be written."""
        with self._lock, self._complaining():
            return sqlite_advice.rules(self._reader, namespace)

    def known_duplicates(self, namespace: int, since: int) -> npt.NDArray[np.void]:
        with self._lock, self._complaining():
            known = [sqlite_advice.known(self._reader, namespace, since)]
            for batch in (self._under_way, self._waiting):
                known += [noted for where, noted in batch.noted if where == namespace]
        return newest(np.concatenate(known), since)

    # --- to write ---

    def put(self, page: Put) -> None:
        with self._later() as waiting:
            waiting.puts[page.id] = page

    def remove(self, first: int, last: int) -> None:
        with self._later() as waiting:
            waiting.remove(first, last)

    def confirm(self, first: int, last: int, mark: int) -> None:
        with self._later() as waiting:
            waiting.confirm((first, last), mark)

    def put_rules(self, namespace: int, rules: Mapping[str, bytes]) -> None:
        with self._later() as waiting:
            waiting.rules |= {(namespace, packed_name(name)): body for name, body in rules.items()}

    def note_duplicates(self, namespace: int, known: npt.NDArray[np.void]) -> None:
        with self._later() as waiting:
            waiting.noted.append((namespace, known))

    def forget_duplicates(self, namespace: int, before: int) -> None:
        self.flush()
        with self._changing() as connection:
            sqlite_advice.forget_before(connection, namespace, before)

    def flush(self) -> None:
        """Write what waits, now.

        :raises StoreError: when it cannot be written; it goes on waiting.
        """
        with self._complaining():
            while self._write():
                pass

    def compact(self) -> None:
        """Give room back; meanwhile the file is there twice, and what is written waits.

        :raises StoreError: when there is no room for that.
        """
        self.flush()
        with self._writing, self._complaining():
            self._writer.execute("VACUUM")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """One user less; writes what waits.

        :raises StoreError: when it cannot be written, with the number of pages.
        """
        with File._opening:
            self._users -= 1
            if self._users:
                self._flush_or_count("cannot be written at present")
                return
            File._open.pop(self._path, None)
            self._stop_thread()
            atexit.unregister(self._at_exit)
            with self._let_go:
                self._flush_or_count("were not written and will be taken for new ones")

    def _stop_thread(self) -> None:
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        self._thread.join()

    def _at_exit(self) -> None:
        """Nobody closed the file, and Python ends."""
        if os.getpid() != self._process:
            return
        self._stop_thread()
        try:
            self._flush_or_count("were not written")
        except StoreError as error:
            logger.error("%s", error)

    def _flush_or_count(self, outcome: str) -> None:
        try:
            self.flush()
        except StoreError as error:
            if not self._waiting.has_pages:
                logger.warning("%s; all pages are written, rules and known duplicates not", error)
                return
            pages = len(self._waiting.puts)
            raise self._error(f"{pages:,} pages {outcome}: {error.problem}") from error

    @contextlib.contextmanager
    def _later(self) -> Iterator[Batch]:
        """What waits to be written, to add to it."""
        with self._wake:
            if self._is_closing:
                raise self._error("it has been closed")
            if is_first := not self._waiting:
                self._since = monotonic()
            yield self._waiting
            # To wake the thread for each page would cost more than the page.
            if is_first or len(self._waiting) >= BATCH_PAGES:
                self._wake.notify()

    def _write_on(self) -> None:
        """The thread's work: a batch at a time until the file is closed."""
        while self._wait_for_a_batch():
            try:
                self._write()
            except Exception:
                # Whatever it is: what waits is not lost, and is tried again.
                with self._wake:
                    self._wake.wait_for(lambda: self._is_closing, _RETRY_SECONDS)

    def _wait_for_a_batch(self) -> bool:
        """Is there one? None more comes once the file is being closed."""
        with self._wake:
            while not self._is_closing:
                left = self._since + BATCH_SECONDS - monotonic() if self._waiting else None
                if len(self._waiting) >= BATCH_PAGES or (left is not None and left <= 0):
                    return True
                self._wake.wait(left)
            return False

    def _write(self) -> bool:
        """Write a batch in one transaction; all of it waits on where that fails. Was there one?"""
        with self._writing:
            with self._lock:
                self._under_way = batch = self._waiting.take(_MOST_AT_ONCE)
            if not batch:
                return False
            try:
                with _transaction(self._writer):
                    batch.write(self._writer)
                    self._trim(batch)
            except BaseException as error:
                with self._lock:
                    self._waiting.take_back(batch)
                    self._under_way = Batch()
                    self.problem = str(error)
                raise
            with self._lock:
                self._under_way = Batch()
                self.problem = None
            return True

    def _trim(self, batch: Batch) -> None:
        """Let go of known duplicates that are too many, now and then."""
        for namespace, noted in batch.noted:
            self._noted[namespace] += len(noted)
            if self._noted[namespace] > _NOTED_UNTIL_TRIM:
                sqlite_advice.trim(self._writer, namespace)
                self._noted[namespace] = 0

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """The connection that writes, in a transaction of its own."""
        with self._writing, self._complaining(), _transaction(self._writer):
            yield self._writer

    def _read(self, query: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock, self._complaining():
            return self._reader.execute(query, values).fetchall()

    def _not_written(self) -> Iterator[Put]:
        yield from self._under_way.puts.values()
        yield from self._waiting.puts.values()

    # --- to open ---

    def _only_here(self) -> FileLock:
        """Keep other processes out, until this one ends in whatever way."""
        if not self._path.parent.is_dir():
            raise self._error(f"there is no folder {self._path.parent}; make it first")
        lock = FileLock(f"{self._path}.lock", mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if not Path(lock.lock_file).exists():
                raise self._error("its lock cannot be made beside it; give another path") from None
            raise StoreInUse(
                self._name,
                "another process has it open. Wait until that is done, or give each its own store; "
                "several processes at once can share a redis:// store",
            ) from None
        except (OSError, NotImplementedError) as error:
            raise self._error(f"cannot be locked: {error}") from error
        return lock

    def _make(self) -> None:
        """Make a new file, at once whole and its owner's alone, for its secrets' sake.

        SQLite's logs of a file have its permissions.
        """
        if self._path.exists():
            if not os.access(self._path, os.R_OK | os.W_OK):
                raise self._error("it cannot be read and written by this user")
            if not self._path.is_file():
                raise self._error("it is no file; give another path")
            require_header(self._path)
            return
        draft = Path(f"{self._path}.new")
        try:
            # A log without its file would be taken for the new one's.
            for base in (draft, self._path):
                for log in ("-wal", "-shm"):
                    Path(f"{base}{log}").unlink(missing_ok=True)
            draft.unlink(missing_ok=True)
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with contextlib.closing(self._connected(draft)) as connection, self._complaining():
                [mode] = connection.execute("PRAGMA journal_mode = WAL").fetchone()
                if mode != "wal":
                    raise self._error("SQLite cannot share memory on this file system; use a disk")
                connection.executescript(EMPTY)
            draft.replace(self._path)
        except OSError as error:
            raise self._error(f"cannot be made: {error}") from error

    def _connected(self, path: Path | None = None) -> sqlite3.Connection:
        with self._complaining():
            connection = sqlite3.connect(
                path or self._path,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            # Each batch reaches the disk itself, not only the system's memory.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
            return connection

    def _complaining(self) -> contextlib.AbstractContextManager[None]:
        return complaining(self._path)

    def _error(self, problem: str) -> StoreError:
        return StoreError(self._name, problem)

    @property
    def _name(self) -> str:
        return address_of(self._path)


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
