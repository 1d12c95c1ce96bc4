"""The tables of rules, known duplicates, visits and best URLs in a store's SQLite file.

They are made with the first row that is written; versions of this package that do not know the
tables leave them alone.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import better_urls, hints
from ..better_urls import BetterUrl
from ..hints import KNOWN, unpacked_name
from ..visits import HISTORY, VISIT
from .format import Damaged

_TABLES = (
    "CREATE TABLE IF NOT EXISTS rules(namespace INTEGER, name BLOB, body BLOB NOT NULL, "
    "PRIMARY KEY(namespace, name)) WITHOUT ROWID",
    # SQLite's whole numbers have a sign, so a digest's first bit is one.
    "CREATE TABLE IF NOT EXISTS copies(namespace INTEGER, digest INTEGER, "
    "original INTEGER NOT NULL, content INTEGER NOT NULL, seen_at INTEGER NOT NULL, "
    "PRIMARY KEY(namespace, digest)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS visits(namespace INTEGER, page INTEGER, "
    "first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, visits INTEGER NOT NULL, "
    "changes INTEGER NOT NULL, changed_at INTEGER NOT NULL, change REAL NOT NULL, "
    "moved_to INTEGER NOT NULL, moved_at INTEGER NOT NULL, "
    "PRIMARY KEY(namespace, page)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS better_urls(namespace INTEGER, name BLOB, body BLOB NOT NULL, "
    "PRIMARY KEY(namespace, name)) WITHOUT ROWID",
)
#: The time of a move in a table of visits that was made without them: the latest possible one.
_LATEST_MOVE = "iif(moved_to = 0, 0, last_at)"
_ADD_MOVES = (
    "ALTER TABLE visits ADD COLUMN moved_at INTEGER NOT NULL DEFAULT 0",
    f"UPDATE visits SET moved_at = {_LATEST_MOVE}",
)
_PUT = "INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)"
_TAKE_AWAY = "DELETE FROM {table} WHERE namespace = ? AND name = ?"
_NOTE = """
INSERT INTO copies VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE
SET original = excluded.original, content = excluded.content, seen_at = excluded.seen_at
WHERE excluded.seen_at >= seen_at
"""
_FIRST_VISIT = """
INSERT INTO visits SELECT
    :namespace, :page, :seen_at, :seen_at, :change >= 0, :change >= 0,
    iif(:change >= 0, :seen_at, 0), max(:change, 0), 0, 0
WHERE :moved_to = 0
ON CONFLICT DO NOTHING
"""
_NEXT_VISIT = """
UPDATE visits SET
    last_at = :seen_at, visits = visits + 1, moved_to = :moved_to,
    moved_at = iif(:moved_to = moved_to, moved_at, iif(:moved_to = 0, 0, :seen_at)),
    changes = changes + (:change >= 0),
    changed_at = iif(:change >= 0, :seen_at, changed_at),
    change = iif(:change >= 0, :change, change)
WHERE namespace = :namespace AND page = :page AND :seen_at > last_at
"""
_TRIM = """
DELETE FROM copies WHERE namespace = :namespace AND digest IN (
    SELECT digest FROM copies WHERE namespace = :namespace
    ORDER BY seen_at DESC LIMIT -1 OFFSET :most
)
"""

_TABLE_NAME = re.compile(r"FROM (\w+)")

#: Rows of known duplicates with signed integers, as SQLite stores them.
_SIGNED = np.dtype([("digest", "<i8"), ("original", "<i8"), ("content", "<i8"), ("seen_at", "<u4")])

_SIGNED_VISIT, _SIGNED_HISTORY = (
    np.dtype([(name, kind.replace("<u8", "<i8")) for name, kind, *_ in dtype.descr])
    for dtype in (VISIT, HISTORY)
)

#: A table of named values, a namespace's number, and a name in it: of a rule, or the URL of an
#: original.
NamedKey = tuple[Literal["rules", "better_urls"], int, bytes]
#: A namespace's number, and what was noted in it, of type :data:`KNOWN` or :data:`VISIT`.
Noted = tuple[int, npt.NDArray[np.void]]


def rules(connection: sqlite3.Connection, namespace: int) -> dict[str, bytes]:
    """Return all rules of a namespace."""
    return dict(_named(connection, "rules", namespace))


def best_urls(connection: sqlite3.Connection, namespace: int) -> dict[str, BetterUrl]:
    """Return the best URLs of contents, by the URLs of their originals."""
    named = _named(connection, "better_urls", namespace)
    try:
        return {original: better_urls.unpacked(body) for original, body in named}
    except ValueError:
        raise Damaged("better URL") from None


def known(connection: sqlite3.Connection, namespace: int, since: int) -> npt.NDArray[np.void]:
    """Return known duplicates seen at this time or later, of type :data:`KNOWN`, in no order."""
    found = _found(
        connection,
        "SELECT digest, original, content, seen_at FROM copies "
        "WHERE namespace = ? AND seen_at >= ?",
        namespace,
        since,
    )
    try:
        return np.fromiter(found, _SIGNED).view(KNOWN)
    except (TypeError, ValueError, OverflowError):
        raise Damaged("known duplicate") from None


def visits(connection: sqlite3.Connection, namespace: int) -> npt.NDArray[np.void]:
    """Return the histories of pages, of type :data:`~scrapy_neardup.stores.visits.HISTORY`."""
    columns = ", ".join(HISTORY.names or ())
    if not _has_moves(connection):
        columns = columns.replace("moved_at", _LATEST_MOVE)
    query = f"SELECT {columns} FROM visits WHERE namespace = ?"
    try:
        return np.fromiter(_found(connection, query, namespace), _SIGNED_HISTORY).view(HISTORY)
    except (TypeError, ValueError, OverflowError):
        raise Damaged("visit") from None


def forget_visits(connection: sqlite3.Connection, namespace: int, time: int) -> None:
    """Remove the histories of pages last visited before this time, in seconds since 1970."""
    _found(connection, "DELETE FROM visits WHERE namespace = ? AND last_at < ?", namespace, time)


def count(connection: sqlite3.Connection, table: str, namespace: int) -> int:
    """Return how many of ``rules`` or ``copies`` a namespace has."""
    query = f"SELECT count(*) FROM {table} WHERE namespace = ?"
    return sum(number for (number,) in _found(connection, query, namespace))


def write(
    connection: sqlite3.Connection,
    named: Mapping[NamedKey, bytes],
    notes: Iterable[Noted],
    visited: Iterable[Noted],
) -> None:
    """Write named values, delete those that are empty, and write known duplicates and visits."""
    for statement in _TABLES:
        connection.execute(statement)
    if not _has_moves(connection):
        for statement in _ADD_MOVES:
            connection.execute(statement)
    for (table, *name), body in named.items():
        if body:
            connection.execute(_PUT.format(table=table), (*name, body))
        else:
            connection.execute(_TAKE_AWAY.format(table=table), name)
    for namespace, noted in notes:
        signed = np.ascontiguousarray(noted).view(_SIGNED)
        connection.executemany(_NOTE, ((namespace, *one) for one in signed.tolist()))
    for namespace, noted in visited:
        names, rows = VISIT.names or (), np.ascontiguousarray(noted).view(_SIGNED_VISIT).tolist()
        for row in rows:
            values = dict(zip(names, row, strict=True), namespace=namespace)
            # In this order a first visit is not counted twice: the next one must be later.
            connection.execute(_NEXT_VISIT, values)
            connection.execute(_FIRST_VISIT, values)


def trim(connection: sqlite3.Connection, namespace: int) -> None:
    """Remove the oldest known duplicates beyond the bound."""
    if count(connection, "copies", namespace) > hints.MAX_KNOWN:
        connection.execute(_TRIM, {"namespace": namespace, "most": hints.MAX_KNOWN})


def forget_before(connection: sqlite3.Connection, namespace: int, time: int) -> None:
    """Remove known duplicates last seen before this time, in seconds since 1970."""
    _found(connection, "DELETE FROM copies WHERE namespace = ? AND seen_at < ?", namespace, time)


def _has_moves(connection: sqlite3.Connection) -> bool:
    """Return whether the table of visits has the times of moves."""
    query = "SELECT 1 FROM pragma_table_info('visits') WHERE name = 'moved_at'"
    return connection.execute(query).fetchone() is not None


def _named(connection: sqlite3.Connection, table: str, namespace: int) -> list[tuple[str, bytes]]:
    """Return the named values of a namespace."""
    query = f"SELECT name, body FROM {table} WHERE namespace = ?"
    found = list(_found(connection, query, namespace))
    if not all(isinstance(value, bytes) for row in found for value in row):
        raise Damaged("rule" if table == "rules" else "better URL")
    return [(unpacked_name(name), body) for name, body in found]


def _found(connection: sqlite3.Connection, query: str, *values: int) -> Iterable[Any]:
    """Return the rows of a statement; nothing is done where its table was never written."""
    [table] = _TABLE_NAME.findall(query)
    is_there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return connection.execute(query, values) if is_there else ()
