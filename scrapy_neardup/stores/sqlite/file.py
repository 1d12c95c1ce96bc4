"""One SQLite file, open in this process: a connection to read by, and a thread that writes."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...exceptions import StoreError, StoreInUse
from .format import (
    NUMBER_BITS,
    NUMBER_MASK,
    SPACES,
    Space,
    address_of,
    complaining,
    require_store,
    space_of,
)
from .opening import connected, locked, make
from .writer import BatchWriter

logger = logging.getLogger(__name__)

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
        with self.reading() as connection:
            return connection.execute(query, values).fetchall()

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
            _, waiting = self.writer.pending()
            if not waiting.has_pages:
                logger.warning("%s; all pages are written, rules and known duplicates not", error)
                return
            pages = len(waiting.pages)
            raise StoreError(
                address_of(self.path), f"{pages:,} pages {outcome}: {error.problem}"
            ) from error

    def _namespace(self, name: str) -> Space | None:
        with complaining(self.path):
            return next(map(space_of, self.read(f"{SPACES} WHERE name = ?", (name,))), None)

    def _connected(self) -> sqlite3.Connection:
        with complaining(self.path):
            return connected(self.path)
