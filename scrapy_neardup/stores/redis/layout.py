"""The layout of pages in Redis: names of keys, buckets of records, numbers.

A part of a namespace is a handful of keys whose names share a hash tag, and so one slot of a
cluster. The scripts in ``lua/`` write it; what is read is taken apart here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from ...hashing.simhash_index import Candidates, probes

T = TypeVar("T")

#: What a field leaves of a 64-bit digest, and a number: a record of a bucket.
REST_BYTES = 6
NUMBER_BYTES = 5
_RECORD_BYTES = REST_BYTES + NUMBER_BYTES
_BLOCKS = 4
_DIGEST_BYTES = 8
_WORD = np.dtype("<u8")


class KeySpace:
    """The keys of a namespace, or of one site's pages in it.

    :param namespace: of any characters.
    :param site: where each site's pages are kept apart.
    """

    def __init__(self, namespace: str, site: str | None = None) -> None:
        names = [namespace] if site is None else [namespace, site]
        # A brace would end the hash tag, a colon make one of two names.
        quoted = ":".join(quote(name, safe="", errors="surrogatepass") for name in names)
        self.site = site
        self._prefix = f"{{neardup:{quoted}}}:".encode()
        self.count = self.key("count")
        self.blocks = [self.key(f"block{n}") for n in range(_BLOCKS)]
        self.known = self.key("known")
        self.reserved = self.key("reserved")
        self.rows = self.key("rows")
        self.pages = self.key("pages")
        self.sites = self.key("sites")
        self.passages = self.key("passages")
        self.rules = self.key("rules")
        self.copies = self.key("copies")
        self.visits = self.key("visits")
        self.better_urls = self.key("better-urls")
        self.site_names = self.key("site-names")
        #: Bodies, the order in which they came, and their number of bytes; of all sites together.
        self.bodies = [self.key(name) for name in ("bodies", "body-order", "body-sizes")]

    def key(self, name: str) -> bytes:
        return self._prefix + name.encode()

    def keys(self, run: bytes) -> list[bytes]:
        """Return the keys of a script that works for a run, in their order."""
        return [
            self.count,
            *self.blocks,
            self.known,
            self.reserved,
            self.rows,
            self.pages,
            self.sites,
            self.passages,
            self.key(f"held:{run.hex()}"),
            self.key(f"unconfirmed:{run.hex()}"),
        ]


class Place(NamedTuple):
    """The place of a digest in a table: the field of its bucket, and the rest of the digest."""

    field: bytes
    rest: bytes


def place_of(digest: int, block: int = 0) -> Place:
    """Return the place of a 64-bit digest in the table of one of its 16-bit blocks."""
    data = digest.to_bytes(_DIGEST_BYTES, "little")
    start, end = 2 * block, 2 * block + 2
    return Place(data[start:end], data[:start] + data[end:])


def fields(fingerprint: int, distance: int) -> list[list[bytes]]:
    """Return, for each table, the fields of the buckets that hold all within a distance."""
    return [
        _split((_block(fingerprint, block) ^ np.array(flips, "<u2")).tobytes(), 2)
        for block, flips in enumerate(probes(distance))
    ]


def _block(fingerprint: int, block: int) -> np.uint16:
    return np.uint16(fingerprint >> 16 * block & 0xFFFF)


def near(fingerprint: int, distance: int, buckets: Sequence[Sequence[bytes | None]]) -> Candidates:
    """Return those within a distance among the buckets of :func:`fields`."""
    numbers, distances = zip(
        *(
            _near_in_table(place_of(fingerprint, block).rest, flips, distance, found)
            for block, (flips, found) in enumerate(zip(probes(distance), buckets, strict=True))
        ),
        strict=True,
    )
    keys, first = np.unique(np.concatenate(numbers), return_index=True)
    apart = np.concatenate(distances)[first]
    order = np.argsort(apart, kind="stable")
    return Candidates(keys[order], apart[order])


def _near_in_table(
    rest: bytes, flips: Sequence[int], distance: int, buckets: Sequence[bytes | None]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return numbers and distances of what is near in one table."""
    records = np.frombuffer(b"".join(filter(None, buckets)), np.uint8).reshape(-1, _RECORD_BYTES)
    counts = [len(bucket or b"") // _RECORD_BYTES for bucket in buckets]
    in_field = np.repeat(np.bitwise_count(np.array(flips, np.uint16)), counts)
    own = np.frombuffer(rest.ljust(_WORD.itemsize, b"\0"), _WORD)
    distances = np.bitwise_count(_words(records[:, :REST_BYTES]) ^ own) + in_field
    kept = np.flatnonzero(distances <= distance)
    numbers = _words(records[kept, REST_BYTES:]).astype(np.intp)
    return numbers, distances[kept].astype(np.intp)


def _words(columns: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return rows of a few bytes as whole numbers, little end first."""
    wide = np.zeros((len(columns), _WORD.itemsize), np.uint8)
    wide[:, : columns.shape[1]] = columns
    return wide.view(_WORD).ravel()


def number_in(bucket: bytes | None, rest: bytes) -> bytes:
    """Return the number, in bytes, of the first record with this rest, or ``b""``."""
    for record in _split(bucket or b"", _RECORD_BYTES):
        if record.startswith(rest):
            return record[REST_BYTES:]
    return b""


def packed_number(number: int) -> bytes:
    """Return a number, in ``[0, 2**40)``, as scripts and fields have it."""
    return number.to_bytes(NUMBER_BYTES, "little")


def unpacked_numbers(data: bytes | None) -> list[bytes]:
    """Split packed numbers that follow each other."""
    return _split(data or b"", NUMBER_BYTES)


def pieces(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield so many at a time, for no call to take long."""
    for start in range(0, len(items), most):
        yield items[start : start + most]


def _split(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
