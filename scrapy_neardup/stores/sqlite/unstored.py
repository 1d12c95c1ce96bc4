"""The signatures of pages that were not stored, in a store's SQLite file.

A page that was dropped is fetched again by the next crawl. While its body stays the same, its
signature holds, and it need not be read again.

The table is made with the first row that is written; versions of this package that do not know it
leave it alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import xxhash

from ..._util.encoding import utf8
from .format import opened, sealed

#: Signatures of a namespace; beyond this the oldest are removed.
MAX_UNSTORED = 1 << 18

_TABLE = """
CREATE TABLE IF NOT EXISTS unstored(
    namespace INTEGER, page INTEGER, signature BLOB NOT NULL, seen_at INTEGER NOT NULL,
    UNIQUE(namespace, page)
)
"""
_PUT = "INSERT OR REPLACE INTO unstored VALUES (?, ?, ?, ?)"
_GET = "SELECT signature, seen_at FROM unstored WHERE namespace = ? AND page = ?"
_FORGET = "DELETE FROM unstored WHERE namespace = ? AND seen_at < ?"
_TRIM = """
DELETE FROM unstored WHERE namespace = :namespace AND rowid <= (
    SELECT rowid FROM unstored WHERE namespace = :namespace
    ORDER BY rowid DESC LIMIT 1 OFFSET :most
)
"""

#: A namespace's number, and the digest of a page's key, as SQLite has it: with a sign.
UnstoredKey = tuple[int, int]
#: A sealed signature, and when its page was seen, in seconds since 1970.
Unstored = tuple[bytes, int]


def key_of(namespace: int, digest: int) -> UnstoredKey:
    """Return the key of a page in the table.

    :param digest: of the page's own key, in ``[0, 2**64)``.
    """
    return namespace, digest - (digest >> 63 << 64)


def sealed_signature(digest: int, recipe: str, packed: bytes) -> bytes:
    """Return a packed signature that :func:`signature_in` opens."""
    return sealed(_seed(digest, recipe), packed)


def signature_in(digest: int, recipe: str, data: bytes) -> bytes | None:
    """Return the packed signature; ``None`` if it is damaged, or was made by another recipe."""
    return opened(_seed(digest, recipe), data)


def is_there(connection: sqlite3.Connection) -> bool:
    """Return whether the table was made."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'unstored'"
    return connection.execute(query).fetchone() is not None


def find(connection: sqlite3.Connection, key: UnstoredKey) -> Unstored | None:
    """Return what there is of a page, if anything; the table must have been made."""
    found: Unstored | None = connection.execute(_GET, key).fetchone()
    return found


def write(connection: sqlite3.Connection, pages: Mapping[UnstoredKey, Unstored]) -> None:
    """Write signatures; each replaces an earlier one of its page."""
    connection.execute(_TABLE)
    connection.executemany(_PUT, ((*key, *page) for key, page in pages.items()))


def trim(connection: sqlite3.Connection, namespace: int) -> None:
    """Remove the oldest signatures beyond the bound; the table must have been made."""
    connection.execute(_TRIM, {"namespace": namespace, "most": MAX_UNSTORED})


def forget_before(connection: sqlite3.Connection, namespace: int, time: int) -> None:
    """Remove the signatures of pages seen before this time, in seconds since 1970."""
    if is_there(connection):
        connection.execute(_FORGET, (namespace, time))


def _seed(digest: int, recipe: str) -> int:
    return xxhash.xxh3_64_intdigest(utf8(recipe), digest)
