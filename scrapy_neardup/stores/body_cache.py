"""Keeps the bodies of pages that were read quickly, compressed and within a bound."""

from __future__ import annotations

import json
import pickle
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, replace

from ..sources.compression import decompression_errors, unpacked_body
from ..sources.record import Record

#: What a body takes besides its compressed content and texts, roughly: objects, places in tables.
OVERHEAD_BYTES = 1000
#: A text and bytes are told apart by this field of a record.
_IS_TEXT = "is_text"


class BodyCache:
    """Bodies in memory by the keys of their pages, see ``PageSignature.key``.

    When there are too many, the oldest are evicted.

    :param max_bytes: bound of the compressed bodies and what is kept beside them; 0 keeps none.
    :param on_evicted: called with the key of each page whose body is no longer kept.
    :ivar n_bytes: bytes that the bodies take.
    :ivar n_evicted: number of bodies that were evicted.
    :ivar reading: the pages whose bodies were removed to be read in full, by their keys; each is
        done when its page has been completed.
    """

    def __init__(self, max_bytes: int, on_evicted: Callable[[str], None]) -> None:
        self.n_bytes = 0
        self.n_evicted = 0
        self.reading: dict[str, Future[None]] = {}
        self._max_bytes = max_bytes
        self._on_evicted = on_evicted
        #: The sizes of the bodies, the oldest first.
        self._sizes: OrderedDict[str, int] = OrderedDict()
        #: Records and bodies, pickled: the garbage collector, which stops the event loop of a crawl
        #: for longer the more objects there are, skips bytes.
        self._bodies: dict[str, bytes] = {}

    def allow(self, max_bytes: int) -> None:
        """Raise the bound to this, if it is lower."""
        self._max_bytes = max(self._max_bytes, max_bytes)

    def put(self, key: str, record: Record, packed: bytes) -> None:
        """Keep the body of a page; it replaces one of the same key.

        :param packed: the content of the record, see
            :func:`~scrapy_neardup.sources.compression.packed_body`.
        """
        self.discard(key)
        # An empty content of the same type: text stays text.
        head = replace(record, content=record.content[:0])
        size = size_of(key, len(head_as_json(head)), len(packed))
        # One that is too large by itself must not evict all others first.
        if size <= self._max_bytes and self._write(key, head, packed):
            self._add(key, size)
        else:
            self._evicted(key)

    def take(self, key: str) -> Record | None:
        """Return the record of a page that is to be read in full; ``None`` if it is not kept.

        A cache of one process removes the body. One of several keeps it until the page has been
        completed.
        """
        record = self.peek(key)
        self.discard(key)
        return record

    def peek(self, key: str) -> Record | None:
        """Return the record of a page whose body may be wanted once more; ``None`` without it."""
        found = self._read(key) if key in self._sizes else None
        return None if found is None else self._unpacked(*found)

    def keeps(self, key: str) -> bool:
        """Return whether the body of a page need not be put again as long as it stays the same."""
        return key in self._sizes

    def discard(self, key: str) -> None:
        """Remove the body of a page, if it is kept."""
        if (size := self._sizes.pop(key, None)) is not None:
            self.n_bytes -= size
            self._remove(key)

    def compact(self, is_stored: Callable[[str], bool]) -> None:
        """Remove the bodies of pages that are not stored, or no longer, and free their space."""
        for key in list(self._sizes):
            if not is_stored(key):
                self.discard(key)

    def close(self) -> None:
        """Release the resources of the cache."""

    @staticmethod
    def _unpacked(record: Record, packed: bytes) -> Record | None:
        """Return a record with its content."""
        try:
            data = unpacked_body(packed)
        except decompression_errors():
            # It is damaged, or was compressed where other packages are installed.
            return None
        is_text = isinstance(record.content, str)
        return replace(record, content=data.decode("utf-8", "surrogatepass") if is_text else data)

    def _add(self, key: str, size: int) -> None:
        self._sizes[key] = size
        self.n_bytes += size
        while self.n_bytes > self._max_bytes:
            oldest = next(iter(self._sizes))
            self.discard(oldest)
            self._evicted(oldest)

    def _evicted(self, key: str) -> None:
        self.n_evicted += 1
        self._on_evicted(key)

    def _write(self, key: str, record: Record, packed: bytes) -> bool:
        """Return whether the body could be written."""
        self._bodies[key] = pickle.dumps((record, packed), pickle.HIGHEST_PROTOCOL)
        return True

    def _read(self, key: str) -> tuple[Record, bytes] | None:
        found: tuple[Record, bytes] = pickle.loads(self._bodies[key])
        return found

    def _remove(self, key: str) -> None:
        del self._bodies[key]


def size_of(key: str, n_head: int, n_packed: int) -> int:
    """Return the bytes that a body takes, roughly: its key is kept several times.

    :param n_head: characters of :func:`head_as_json`.
    :param n_packed: bytes of its compressed content.
    """
    return n_packed + 3 * len(key) + n_head + OVERHEAD_BYTES


def head_as_json(record: Record) -> str:
    """Return all of a record but its content, as JSON."""
    is_text = isinstance(record.content, str)
    return json.dumps({**asdict(record), "content": "", _IS_TEXT: is_text})


def record_from_head(head: str) -> Record | None:
    """Return the record of :func:`head_as_json`, without content; ``None`` if it is damaged."""
    try:
        fields = json.loads(head)
        is_text = fields.pop(_IS_TEXT)
        return Record(**fields | {"content": "" if is_text else b""})
    except (ValueError, TypeError, KeyError):
        return None
