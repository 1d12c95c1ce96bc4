"""A thread that writes to a SQLite file, a batch at a time.

While the disk takes nothing (it is full, or gone), what is to be written waits in memory and is
tried again.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from ...exceptions import StoreError
from . import hint_tables, unstored
from .format import Place, address_of, complaining, sealed
from .hint_tables import NamedKey, Noted
from .unstored import Unstored, UnstoredKey

logger = logging.getLogger(__name__)

#: A commit is on disk so much later at most, or after so many of them.
BATCH_SECONDS = 0.5
BATCH_PAGES = 1000
#: Between two tries to write what the disk did not take.
_RETRY_SECONDS = 2.0
#: After so many more, those known duplicates or signatures are removed that are too many.
_NOTED_UNTIL_TRIM = 1 << 16


_PUT_ROW = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
_PUT_PAGE = "INSERT OR REPLACE INTO pages VALUES (?, ?)"
_PUT_MARK = "INSERT OR REPLACE INTO unconfirmed VALUES (?, ?)"
_CLEAR_MARK = "DELETE FROM unconfirmed WHERE id = ?"
#: Each takes the id of a page that is to go.
REMOVE = tuple(f"DELETE FROM {table} WHERE id = ?" for table in ("rows", "pages", "unconfirmed"))
_CONFIRM = "DELETE FROM unconfirmed WHERE id BETWEEN ? AND ? AND mark <= ?"


class Page(NamedTuple):
    """A page to be written.

    :ivar page: its packed signature; ``None`` where it stays as it was written before.
    :ivar mark: see :meth:`~scrapy_neardup.stores.archive.Archive.put`; ``None`` where the page
        stays as confirmed as it is.
    """

    id: int
    site: int
    row: bytes
    page: bytes | None
    mark: int | None


#: First and last id, both included.
Range = tuple[int, int]


@dataclass(slots=True)
class Batch:
    """Pending writes, in any order: an id may be put again, but not once it was removed."""

    pages: dict[int, Page] = field(default_factory=dict)
    removed: list[int] = field(default_factory=list)
    confirmed: dict[Range, int] = field(default_factory=dict)
    named: dict[NamedKey, bytes] = field(default_factory=dict)
    noted: list[Noted] = field(default_factory=list)
    visits: list[Noted] = field(default_factory=list)
    unstored: dict[UnstoredKey, Unstored] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.has_pages or self.has_hints or self.unstored)

    @property
    def has_pages(self) -> bool:
        """Whether it is about pages, and not hints alone."""
        return bool(self.pages or self.removed or self.confirmed)

    @property
    def has_hints(self) -> bool:
        return bool(self.named or self.noted or self.visits)

    def __len__(self) -> int:
        return len(self.pages) + len(self.removed) + len(self.unstored)

    def remove(self, id_: int) -> None:
        self.pages.pop(id_, None)
        # It may have been written before, and replaced in this batch.
        self.removed.append(id_)

    def confirm(self, ids: Range, mark: int) -> None:
        self.confirmed[ids] = max(mark, self.confirmed.get(ids, 0))

    def put_before(self, earlier: Batch) -> None:
        """Add an earlier batch that could not be written, without signatures of unstored pages."""
        removed = set(self.removed)
        old = {id_: page for id_, page in earlier.pages.items() if id_ not in removed}
        for id_, page in self.pages.items():
            before = old.get(id_, page)
            mark = before.mark if page.mark is None else page.mark
            data = before.page if page.page is None else page.page
            old[id_] = page._replace(page=data, mark=mark)
        self.pages = old
        self.removed = earlier.removed + self.removed
        for ids, mark in earlier.confirmed.items():
            self.confirm(ids, mark)
        self.named = earlier.named | self.named
        self.noted = earlier.noted + self.noted
        self.visits = earlier.visits + self.visits

    def write(self, connection: sqlite3.Connection) -> None:
        pages = self.pages.values()
        connection.executemany(_PUT_ROW, ((page.id, page.site, page.row) for page in pages))
        signed = ((page.id, page.page) for page in pages if page.page is not None)
        connection.executemany(_PUT_PAGE, ((id_, sealed(id_, data)) for id_, data in signed))
        connection.executemany(_PUT_MARK, ((page.id, page.mark) for page in pages if page.mark))
        connection.executemany(_CLEAR_MARK, ((page.id,) for page in pages if page.mark == 0))
        for statement in REMOVE:
            connection.executemany(statement, ((id_,) for id_ in self.removed))
        connection.executemany(_CONFIRM, ((*ids, mark) for ids, mark in self.confirmed.items()))
        if self.has_hints:
            hint_tables.write(connection, self.named, self.noted, self.visits)


class BatchWriter:
    """Gathers what is to be written, and writes it in a thread of its own.

    :param connection: to write by; no other thread uses it at the same time.
    :param lock: guards what waits. Who has it never waits for the disk.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: threading.RLock) -> None:
        #: What the disk said when it last refused, until it takes something again.
        self._refused: str | None = None
        self._path = path
        self._place = Place(path)
        self._connection = connection
        self._lock = lock
        self._wake = threading.Condition(lock)
        self._writing = threading.Lock()
        self._waiting = Batch()
        self._under_way = Batch()
        self._since = 0.0
        #: Known duplicates, and signatures of unstored pages, noted in each namespace since they
        #: were trimmed.
        self._noted: Counter[int] = Counter()
        self._unstored: Counter[int] = Counter()
        self._has_warned = False
        self._is_closing = False
        self._thread = threading.Thread(target=self._write_on, name="neardup-store", daemon=True)
        self._thread.start()

    @property
    def gone(self) -> str | None:
        """What is wrong if the path no longer has the file, so that nothing of it remains."""
        return self._place.problem

    @property
    def problem(self) -> str | None:
        """Why nothing can be written at present."""
        return self.gone or self._refused

    def pending(self) -> tuple[Batch, Batch]:
        """Return what is not written yet, the older batch first. The lock must be held."""
        return self._under_way, self._waiting

    def trim_soon(self, namespace: int) -> None:
        """Remove known duplicates and signatures that are too many with the next ones written."""
        with self._lock:
            self._noted[namespace] = self._unstored[namespace] = _NOTED_UNTIL_TRIM

    @contextlib.contextmanager
    def later(self) -> Iterator[Batch]:
        """Return the batch that waits, to add to it."""
        with self._wake:
            if self._is_closing:
                raise StoreError(address_of(self._path), "it has been closed")
            if is_first := not self._waiting:
                self._since = monotonic()
            yield self._waiting
            # To wake the thread for each page would cost more than the page.
            if is_first or len(self._waiting) >= BATCH_PAGES:
                self._wake.notify()

    @contextlib.contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Return the connection, in a transaction of its own."""
        with self.alone() as connection, _transaction(connection):
            yield connection

    @contextlib.contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """Return the connection; meanwhile the thread does not write."""
        with self._writing, complaining(self._path):
            yield self._connection

    def flush(self) -> None:
        """Write what waits, now.

        :raises StoreError: when it cannot be written; it goes on waiting.
        """
        with complaining(self._path):
            while self._write():
                pass

    def stop(self) -> None:
        """Accept nothing more, and end the thread."""
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        self._thread.join()

    def _write_on(self) -> None:
        while self._wait_for_a_batch():
            try:
                self._write()
            except Exception:
                # Whatever it is: what waits is not lost, and is tried again.
                with self._wake:
                    self._wake.wait_for(lambda: self._is_closing, _RETRY_SECONDS)

    def _wait_for_a_batch(self) -> bool:
        """Wait for a batch that is due; return false when none will come."""
        with self._wake:
            while not self._is_closing:
                left = self._since + BATCH_SECONDS - monotonic() if self._waiting else None
                if len(self._waiting) >= BATCH_PAGES or (left is not None and left <= 0):
                    return True
                self._wake.wait(left)
            return False

    def _write(self) -> bool:
        """Write a batch in one transaction; return whether there was one.

        When that fails, all of it goes on waiting.
        """
        with self._writing:
            with self._lock:
                self._under_way, self._waiting = self._waiting, Batch()
                batch = self._under_way
            if not batch:
                return False
            try:
                if gone := self.gone:
                    # SQLite would separate a file that was moved from its log.
                    raise sqlite3.OperationalError(gone)
                with _transaction(self._connection):
                    batch.write(self._connection)
                    self._trim(batch)
            except BaseException as error:
                with self._lock:
                    self._waiting.put_before(batch)
                    self._under_way = Batch()
                    self._refused = str(error)
                raise
            if batch.unstored:
                self._write_unstored(batch.unstored)
            with self._lock:
                self._under_way = Batch()
                self._refused = None
            return True

    def _write_unstored(self, pages: dict[UnstoredKey, Unstored]) -> None:
        """Write signatures of unstored pages; where that fails, these pages are read again.

        In a transaction of its own, because it must not keep pages from being written.
        """
        noted = Counter(namespace for namespace, _ in pages)
        self._unstored += noted
        try:
            with _transaction(self._connection):
                unstored.write(self._connection, pages)
                for namespace in noted:
                    if self._unstored[namespace] > _NOTED_UNTIL_TRIM:
                        unstored.trim(self._connection, namespace)
                        self._unstored[namespace] = 0
        except sqlite3.Error as error:
            if not self._has_warned:
                self._has_warned = True
                logger.warning(
                    "Cannot keep the signatures of duplicates in %s; later crawls read these pages "
                    "again (logged once): %s",
                    self._path,
                    error,
                )

    def _trim(self, batch: Batch) -> None:
        """Remove known duplicates that are too many, now and then."""
        for namespace, noted in batch.noted:
            self._noted[namespace] += len(noted)
            if self._noted[namespace] > _NOTED_UNTIL_TRIM:
                hint_tables.trim(self._connection, namespace)
                self._noted[namespace] = 0


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all or nothing."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
