"""Records which contents the files store has, in a SQLite file or in memory.

Each change is one transaction, so a killed process leaves the file whole and several processes may
share it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ...exceptions import StoreError
from .signature import MIN_FINGERPRINTS, FileSignature, keys_of, similarity

#: "NDfi": how a file says that it is such an index.
_APPLICATION = 0x4E446669
_FORMAT = 1
#: Paths to which a file was being written. An index of before has no such table.
_UNFINISHED = "CREATE TABLE IF NOT EXISTS unfinished(path TEXT PRIMARY KEY) WITHOUT ROWID"
_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, asked TEXT NOT NULL, url TEXT NOT NULL,
    digest BLOB NOT NULL, md5 TEXT NOT NULL, size INTEGER NOT NULL, one_in INTEGER NOT NULL,
    fingerprints BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS files_digest ON files(digest);
CREATE TABLE IF NOT EXISTS keys(key INTEGER, file INTEGER, PRIMARY KEY(key, file)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links(
    asked TEXT, url TEXT, file INTEGER NOT NULL, checked REAL NOT NULL, PRIMARY KEY(asked, url)
);
CREATE INDEX IF NOT EXISTS links_file ON links(file);
{_UNFINISHED};
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_FORMAT};
COMMIT;
"""
_COLUMNS = "files.id, path, files.asked, files.url, digest, md5, size, one_in, fingerprints"
#: Another process may be writing for so long. While one writes for longer, each change waits for a
#: tenth of a second only: each file makes several.
_BUSY_SECONDS, _STILL_BUSY_SECONDS = 10.0, 0.1
#: A fingerprint that more files have is a part of their format, and is not looked up.
_MAX_FILES_PER_KEY = 1000
#: Files that are compared at most, those that share most keys first.
_MAX_COMPARED = 50


class FileRequest(NamedTuple):
    """The request for which a file was stored.

    :ivar asked: the path that ``file_path()`` of the pipeline returned.
    :ivar url: the URL of the request.
    """

    asked: str
    url: str


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that the store had when it was recorded.

    :ivar path: where it is in the store.
    :ivar request: the one for which it was stored.
    """

    id: int
    path: str
    request: FileRequest
    signature: FileSignature


class FileIndex:
    """The contents of a files store. Methods block, and one thread at a time may call them.

    A *link* says that the file of a request is stored under another path. While a file is linked
    to, nothing else may be stored in its place.

    :param path: ``None`` for an index in memory. A file is made when the first is recorded.
    :raises StoreError: when the file is damaged, or is no such index.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        #: Whether another process wrote all the time that the last change waited.
        self._is_busy = False
        if path is None or path.exists():
            self._connection = self._opened()
        elif not path.parent.is_dir():
            raise StoreError(str(path), f"there is no folder {path.parent}; make it first")

    def __len__(self) -> int:
        with self._reading() as connection:
            return 0 if connection is None else int(_one(connection, "SELECT COUNT(*) FROM files"))

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def find(self, digest: bytes) -> list[StoredFile]:
        """Return the files with a content, those recorded first first."""
        with self._reading() as connection:
            if connection is None:
                return []
            query = f"SELECT {_COLUMNS} FROM files WHERE digest = ? ORDER BY id"
            return [_stored(row) for row in connection.execute(query, (digest,))]

    def linked(self, request: FileRequest) -> tuple[StoredFile, float] | None:
        """Return the file that a request is linked to, and when this was last confirmed."""
        with self._reading() as connection:
            if connection is None:
                return None
            query = f"SELECT {_COLUMNS}, checked FROM links JOIN files ON files.id = links.file "
            row = connection.execute(f"{query} WHERE links.asked = ? AND links.url = ?", request)
            return next(((_stored(found[:-1]), float(found[-1])) for found in row), None)

    def link(self, request: FileRequest, file: StoredFile, now: float) -> bool:
        """Link a request to a file; return whether the file is still recorded."""
        with self._writing() as connection:
            query = "SELECT COUNT(*) FROM files WHERE id = ? AND path = ? AND digest = ?"
            if not _one(connection, query, file.id, file.path, file.signature.digest):
                return False
            values = (*request, file.id, now)
            connection.execute("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?)", values)
            return True

    def expected(self, path: str) -> str | None:
        """Return the MD5 digest of the file that was recorded at a path; ``None`` without one.

        :returns: ``""`` if somebody began to write a file there and did not finish.
        """
        with self._reading() as connection:
            if connection is None:
                return None
            if _one(connection, "SELECT COUNT(*) FROM unfinished WHERE path = ?", path):
                return ""
            return next((file.signature.md5 for file in _at(connection, path)), None)

    def make_way(self, path: str, digest: bytes) -> bool:
        """Forget a path before a content is written there, until :meth:`finish`.

        :returns: ``False`` if the path has another content that other requests are linked to.
        """
        with self._writing() as connection:
            for file in _at(connection, path):
                others = "SELECT COUNT(*) FROM links WHERE file = ? AND NOT (asked = ? AND url = ?)"
                if file.signature.digest == digest:
                    continue
                if _one(connection, others, file.id, *file.request):
                    return False
                _remove(connection, file)
            connection.execute("INSERT OR IGNORE INTO unfinished VALUES (?)", (path,))
            return True

    def finish(self, path: str) -> None:
        """Note that a file was written to a path, whether it is recorded or not."""
        with self._writing() as connection:
            connection.execute("DELETE FROM unfinished WHERE path = ?", (path,))

    def record(self, request: FileRequest, path: str, signature: FileSignature, now: float) -> int:
        """Record a file that has been stored; return its number."""
        with self._writing() as connection:
            number = None
            for file in _at(connection, path):
                if file.signature.digest == signature.digest:
                    number = file.id
                else:
                    _remove(connection, file)
            if number is None:
                number = _insert(connection, request, path, signature)
            connection.execute("DELETE FROM links WHERE asked = ? AND url = ?", request)
            if path != request.asked:
                values = (*request, number, now)
                connection.execute("INSERT INTO links VALUES (?, ?, ?, ?)", values)
            return number

    def near(
        self, number: int, signature: FileSignature, min_similarity: float
    ) -> list[tuple[StoredFile, float]]:
        """Return the other files that are nearly equal, and their similarities, best first.

        Files with the number, or with the same content, are left out.
        """
        if len(signature.fingerprints) < 4 * MIN_FINGERPRINTS:
            return []
        shared: Counter[int] = Counter()
        found = []
        with self._reading() as connection:
            if connection is None:
                return []
            for key in keys_of(signature):
                query = "SELECT file FROM keys WHERE key = ? LIMIT ?"
                files = connection.execute(query, (key, _MAX_FILES_PER_KEY + 1)).fetchall()
                if len(files) <= _MAX_FILES_PER_KEY:
                    shared.update(file for (file,) in files if file != number)
            for candidate, _ in shared.most_common(_MAX_COMPARED):
                query = f"SELECT {_COLUMNS} FROM files WHERE id = ?"
                for file in map(_stored, connection.execute(query, (candidate,)).fetchall()):
                    alike = similarity(signature, file.signature)
                    is_other = file.signature.digest != signature.digest
                    if is_other and alike and alike >= min_similarity:
                        found.append((file, alike))
        return sorted(found, key=lambda each: (-each[1], each[0].id))

    def _opened(self) -> sqlite3.Connection:
        with self._complaining():
            if self.path is not None and not self.path.exists():
                # A log without its file would be taken for the new one's.
                for log in ("-wal", "-shm"):
                    Path(f"{self.path}{log}").unlink(missing_ok=True)
            connection = sqlite3.connect(
                ":memory:" if self.path is None else self.path,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                if not self._is_made(connection):
                    # Without waiting for the disk: the stores do not wait for it either.
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.executescript(_TABLES)
                connection.execute(_UNFINISHED)
                connection.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                connection.close()
                raise
        return connection

    def _is_made(self, connection: sqlite3.Connection) -> bool:
        """Return whether the file has the tables.

        :raises StoreError: when it is something else, or of another format.
        """
        application, version, pages = (
            _one(connection, f"PRAGMA {name}")
            for name in ("application_id", "user_version", "page_count")
        )
        # In memory, or made by a process that was killed before it wrote anything.
        if not pages:
            return False
        if application != _APPLICATION:
            raise StoreError(
                str(self.path), "it is a database of something else; give another path"
            )
        if version != _FORMAT:
            raise StoreError(
                str(self.path),
                f"it has format {version}, but this scrapy-neardup reads format {_FORMAT}; "
                "give another path, or remove it",
            )
        [(problem,)] = connection.execute("PRAGMA quick_check(1)").fetchall()
        if problem != "ok":
            raise sqlite3.DatabaseError(f"malformed: {problem}")
        return True

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        with self._complaining():
            yield self._connection

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        if self._connection is None:
            self._connection = self._opened()
        connection = self._connection
        with self._complaining():
            self._begin(connection)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Begin a change, after those of other processes."""
        was_busy, self._is_busy = self._is_busy, True
        seconds = _STILL_BUSY_SECONDS if was_busy else _BUSY_SECONDS
        connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
        connection.execute("BEGIN IMMEDIATE")
        self._is_busy = False

    @contextlib.contextmanager
    def _complaining(self) -> Iterator[None]:
        """Raise SQLite's errors as errors of the store."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError, TypeError, ValueError) as error:
            hint = ""
            if not isinstance(error, (sqlite3.OperationalError, OSError)):
                hint = (
                    ": it is damaged or no index of files. Put a whole copy in its place, or "
                    "remove it: files that are stored already are then not recognised"
                )
            name = "memory" if self.path is None else str(self.path)
            raise StoreError(name, f"{error}{hint}") from error


def _one(connection: sqlite3.Connection, query: str, *values: object) -> Any:
    return connection.execute(query, values).fetchone()[0]


def _stored(row: tuple[Any, ...]) -> StoredFile:
    number, path, asked, url, *signature = row
    return StoredFile(number, path, FileRequest(asked, url), FileSignature(*signature))


def _at(connection: sqlite3.Connection, path: str) -> list[StoredFile]:
    query = f"SELECT {_COLUMNS} FROM files WHERE path = ?"
    return [_stored(row) for row in connection.execute(query, (path,)).fetchall()]


def _insert(
    connection: sqlite3.Connection, request: FileRequest, path: str, signature: FileSignature
) -> int:
    each = (signature.digest, signature.md5, signature.size, signature.one_in)
    query = "INSERT INTO files VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"
    number = connection.execute(query, (path, *request, *each, signature.fingerprints)).lastrowid
    assert number is not None
    keys = [(key, number) for key in keys_of(signature)]
    connection.executemany("INSERT INTO keys VALUES (?, ?)", keys)
    return number


def _remove(connection: sqlite3.Connection, file: StoredFile) -> None:
    keys = [(key, file.id) for key in keys_of(file.signature)]
    connection.executemany("DELETE FROM keys WHERE key = ? AND file = ?", keys)
    connection.execute("DELETE FROM links WHERE file = ?", (file.id,))
    connection.execute("DELETE FROM files WHERE id = ?", (file.id,))
