"""The format of a store's SQLite file, and the checks of a file."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import xxhash

from ...exceptions import StoreError
from ..codec import ROW
from ..reading import Namespace

#: Version of the tables; a file of another one is refused.
FORMAT = 8
#: "NDup": how a file says that it is a store.
APPLICATION = 0x4E447570

#: How every SQLite file begins.
_START = b"SQLite format 3\0"

#: Of an id, the bits of the page's number; those above are its namespace's.
NUMBER_BITS = 32
NUMBER_MASK = (1 << NUMBER_BITS) - 1

#: All statements that make an empty store.
EMPTY = f"""
BEGIN;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
CREATE TABLE namespaces(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL, recipe TEXT,
    parts TEXT
);
-- An id is the namespace's, in the upper 32 bits, and the page's number.
CREATE TABLE rows(id INTEGER PRIMARY KEY, site INTEGER NOT NULL, row BLOB NOT NULL);
CREATE INDEX rows_site ON rows(site);
CREATE TABLE pages(id INTEGER PRIMARY KEY, page BLOB NOT NULL);
CREATE TABLE unconfirmed(id INTEGER PRIMARY KEY, mark INTEGER NOT NULL);
COMMIT;
"""

#: Selects what :func:`space_of` takes.
SPACES = "SELECT id, name, secret, recipe, parts FROM namespaces"

_DIGEST_BYTES = 8
_SECRET_BYTES = range(16, 65)


class Damaged(sqlite3.DatabaseError):
    """Raised when SQLite reads something that no store wrote."""

    def __init__(self, what: str) -> None:
        super().__init__(f"malformed {what}")


@dataclass(frozen=True, slots=True)
class Space(Namespace):
    """A namespace as the file has it.

    :ivar id: upper bits of its pages' ids.
    """

    id: int


def space_of(row: Sequence[Any]) -> Space:
    """Return the namespace in a row of ``namespaces``.

    :raises Damaged: when no store wrote it.
    """
    id_, name, secret, recipe, parts = row
    try:
        told = json.loads(parts or "{}")
        is_whole = (
            isinstance(name, str)
            and isinstance(secret, bytes)
            and len(secret) in _SECRET_BYTES
            and isinstance(recipe or "", str)
            and all(isinstance(part, str) for part in told.values())
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        is_whole = False
    if not is_whole or not 0 <= id_ < 1 << NUMBER_BITS - 1:
        raise Damaged(f"namespace {name!r}")
    return Space(name, secret, recipe or "", told, id_)


def columns(
    found: Sequence[tuple[int, bytes]],
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]:
    """Return numbers and rows, of type :data:`~scrapy_neardup.stores.codec.ROW`, of ``rows``.

    :raises Damaged: when no store wrote one of them.
    """
    ids, rows = zip(*found, strict=True)
    try:
        # Not only their sum: of two, one may be too long by what the other lacks.
        is_whole = set(map(len, rows)) == {ROW.itemsize}
        data = b"".join(rows)
    except TypeError:
        is_whole = False
    if not is_whole:
        raise Damaged("index")
    return (np.array(ids, np.int64) & NUMBER_MASK).astype(np.uint32), np.frombuffer(data, ROW)


def sealed(id_: int, page: bytes) -> bytes:
    """Return a packed page with a digest: SQLite reads what was cut off a file as zeros."""
    return page + xxhash.xxh3_64_digest(page, id_)


def opened(id_: int, data: Any) -> bytes | None:
    """Return the page that was sealed under this id; ``None`` when these are not its bytes."""
    if not isinstance(data, bytes):
        return None
    page = data[:-_DIGEST_BYTES]
    return page if sealed(id_, page) == data else None


def page_is_damaged(path: Path, id_: int) -> NoReturn:
    """Raise the error of a page that is missing or damaged."""
    raise StoreError(
        address_of(path),
        f"page {id_ & NUMBER_MASK} of namespace {id_ >> NUMBER_BITS} is missing or not as it was "
        "written: the file is damaged; put a whole copy in its place",
    )


def address_of(path: Path) -> str:
    """Return the name of a file in errors."""
    return f"sqlite:///{path}"


@contextlib.contextmanager
def complaining(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as errors of the store."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # What stands in a damaged file may be no text, and what SQLite says of it neither.
        hint = ""
        if isinstance(error, UnicodeDecodeError) or any(
            word in str(error) for word in ("not a database", "malformed", "not decode")
        ):
            hint = ": it is damaged or no store at all; put a whole copy in its place, or "
            hint += "give another path"
        elif "locked" in str(error):
            hint = ": another program is writing to it; wait until that is done"
        elif "disk I/O" in str(error):
            hint = ": its disk, or that of SQLITE_TMPDIR, may be full or failing"
        raise StoreError(address_of(path), f"{error}{hint}") from error


class Place:
    """The place of a file that has been opened.

    A file that is deleted or moved while it is open can be written as before, but whoever opens
    the path later finds nothing of that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened = self._there()

    @property
    def problem(self) -> str | None:
        """What is wrong if the file is no longer there."""
        try:
            if self._there() == self._opened:
                return None
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            return None  # nobody can tell
        return (
            "the file was deleted, moved or replaced while it was open; the pages of this crawl "
            "are not remembered unless it is put back"
        )

    def _there(self) -> tuple[int, int]:
        found = self._path.stat()
        return found.st_dev, found.st_ino


def require_database(path: Path) -> None:
    """Refuse a file of something else that is no database, before a lock is made beside it.

    :raises StoreError: when it is none; whoever opens it finds what else is wrong.
    """
    # With a log beside it, SQLite may restore even the first bytes.
    if not path.is_file() or Path(f"{path}-wal").exists():
        return
    with complaining(path):
        try:
            with path.open("rb") as file:
                start = file.read(len(_START))
        except OSError:
            return
        if start not in (b"", _START):
            raise sqlite3.DatabaseError("file is not a database")


def require_store(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is none of ours, of another format, or damaged.

    :raises StoreError: with what is wrong, and what would help.
    """
    name = address_of(path)
    with complaining(path):
        application, version, pages, size = (
            connection.execute(f"PRAGMA {pragma}").fetchone()[0]
            for pragma in ("application_id", "user_version", "page_count", "page_size")
        )
    # SQLite takes a file of some bytes for an empty one.
    if not pages:
        raise StoreError(
            name,
            "it is empty, which a store never is: put a whole copy in its place, or remove it for "
            "a new store",
        )
    if application != APPLICATION:
        raise StoreError(name, "it is a database of something else; give another path")
    if version != FORMAT:
        age, help_ = ("later", "upgrade, or ") if version > FORMAT else ("earlier", "")
        raise StoreError(
            name,
            f"it has format {version}, from a{'n' * (age == 'earlier')} {age} scrapy-neardup than "
            f"this one, which reads format {FORMAT}; {help_}crawl again, into a new store",
        )
    log = Path(f"{path}-wal")
    is_logged = log.exists() and log.stat().st_size
    if not is_logged and path.stat().st_size < pages * size:
        raise StoreError(name, "it has been cut off; put a whole copy in its place")
