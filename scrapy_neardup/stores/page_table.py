"""The pages of a store that lives in one process: tables of them by number and by key."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..hashing.minhash import SKETCH_BINS
from ..matching.candidates import FIRST_BINS, SUMMARY_DTYPE, Summaries
from ..signatures.signature import PageSignature
from .archive import Archive
from .base import Entry, Ticket
from .codec import parts_of, sketch_in, unpacked, was_read

_BUCKETS = 1 << 16
_NUMBER_BYTES = 4
_PIECE_BITS = 20
#: Rows of a piece. The system gives memory to those alone that were written to.
PIECE_ROWS = 1 << _PIECE_BITS


@dataclass(slots=True)
class Reservation:
    """A claimed page.

    :ivar digest: of its key.
    :ivar row: see :func:`~scrapy_neardup.stores.codec.row_of`.
    :ivar renews: number of the committed page that is stored once more as it is, if it is one; row
        and packed signature are that one's and are empty here.
    :ivar outcome: for those who wait for it.
    """

    number: int
    page: PageSignature
    digest: int
    row: bytes = b""
    packed: bytes = b""
    renews: int | None = None
    outcome: Future[None] | None = None

    def settle(self) -> None:
        if self.outcome is not None:
            self.outcome.set_result(None)


class PageTable:
    """See :class:`~scrapy_neardup.matching.candidates.SignatureSource`.

    What is asked of many pages at once is held in arrays; the rest is read one by one.

    :param archive: has the committed pages.
    :ivar keys: numbers of the committed pages by the digests of their keys.
    :ivar reserved: the other pages.
    :ivar recipe: of all pages.
    """

    def __init__(self, archive: Archive, recipe: str) -> None:
        self.keys = KeyTable()
        self.reserved: dict[Ticket, Reservation] = {}
        self.recipe = recipe
        self._archive = archive
        self._summaries = GrowingRows(SUMMARY_DTYPE)
        # Separate, because looking at them in many pages then moves little memory.
        self._first_bins = GrowingRows(np.uint8, FIRST_BINS)

    def put(self, number: int, row: bytes) -> None:
        _, self._summaries[number], self._first_bins[number] = parts_of(row)

    def extend(self, numbers: npt.NDArray[np.uint32], rows: npt.NDArray[np.void]) -> None:
        self._summaries.put(numbers, rows["summary"])
        self._first_bins.put(numbers, rows["first_bins"])

    def page(self, number: int) -> PageSignature:
        [page] = self.pages([number])
        return page

    def pages(self, numbers: Sequence[int]) -> list[PageSignature]:
        return [unpacked(data, self.recipe) for data in self._read(numbers)]

    def is_committed(self, number: int) -> bool:
        return number in self._summaries and self.keys.has(int(self.summary(number)["key"]), number)

    def are_reserved(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        # By the few numbers asked of: a slow pipeline may hold thousands of reservations.
        is_reserved = map(self.reserved.__contains__, numbers.tolist())
        return np.fromiter(is_reserved, bool, numbers.size)

    def summary(self, number: int) -> Summaries:
        return self._summaries[number]

    def items(self, number: int) -> int:
        return int(self._summaries[number]["items"])

    def entry(self, number: int, page: PageSignature) -> Entry:
        return Entry(page, int(self._summaries[number]["stored_at"]), self.items(number))

    def summaries(self, numbers: npt.NDArray[np.intp]) -> Summaries:
        return self._summaries.take(numbers)

    def first_bins(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        return self._first_bins.take(numbers)

    def sketches(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        joined = b"".join(map(sketch_in, self._read(numbers.tolist())))
        return np.frombuffer(joined, np.uint8).reshape(numbers.size, SKETCH_BINS)

    def _read(self, numbers: Sequence[int]) -> list[bytes]:
        if self.reserved.keys().isdisjoint(numbers):
            return self._archive.read(numbers)
        stored = [number for number in numbers if number not in self.reserved]
        found = dict(zip(stored, self._archive.read(stored), strict=True))
        return [
            found[number] if number in found else self.reserved[number].packed for number in numbers
        ]


class UnreadPages:
    """The pages of a table that were not read in full; the others are taken for removed."""

    def __init__(self, table: PageTable) -> None:
        self._table = table

    def pages(self, numbers: Sequence[int]) -> list[PageSignature | None]:
        is_read = was_read(self._table.summaries(np.array(numbers, np.intp))).tolist()
        left = zip(numbers, is_read, strict=True)
        return [None if known else self._table.page(number) for number, known in left]


class KeyTable:
    """Finds the page numbers that may belong to a key.

    Numbers are dealt to buckets by the last 16 bits of their key's digest. A bucket does not hold
    the digests themselves: whoever asks has them elsewhere and compares.
    """

    def __init__(self) -> None:
        # Nothing in reserve: a growing array keeps an eighth, and leaves holes behind.
        self._buckets = [b""] * _BUCKETS
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, digest: int, number: int) -> None:
        """Add a number, in ``[0, 2**32)``, under a digest, in ``[0, 2**64)``."""
        self._buckets[digest % _BUCKETS] += number.to_bytes(_NUMBER_BYTES, "little")
        self._size += 1

    def extend(self, digests: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint32]) -> None:
        """Add many numbers at once; both of shape ``(n,)``."""
        places = digests.astype(np.uint16)
        order = np.argsort(places, kind="stable")
        data = numbers[order].astype("<u4").tobytes()
        ends = np.cumsum(np.bincount(places, minlength=_BUCKETS)) * _NUMBER_BYTES
        start = 0
        for place, end in enumerate(ends.tolist()):
            if end > start:
                self._buckets[place] += data[start:end]
                start = end
        self._size += numbers.size

    def remove(self, digest: int, number: int) -> None:
        """Remove a number that was added under this digest.

        :raises KeyError: when it was not.
        """
        place = digest % _BUCKETS
        kept = self.numbers(digest)
        if number not in kept:
            raise KeyError((digest, number))
        self._buckets[place] = kept[kept != number].astype("<u4").tobytes()
        self._size -= 1

    def all(self) -> npt.NDArray[np.intp]:
        """Return all numbers, in no order."""
        return np.frombuffer(b"".join(self._buckets), "<u4").astype(np.intp)

    def has(self, digest: int, number: int) -> bool:
        """Return whether this number was added under this digest, or one of its bucket."""
        return bool((self.numbers(digest) == number).any())

    def numbers(self, digest: int) -> npt.NDArray[np.intp]:
        """Return the numbers that may have been added under this digest."""
        return np.frombuffer(self._buckets[digest % _BUCKETS], "<u4").astype(np.intp)


class GrowingRows:
    """Rows of one type by their numbers, from 0 on, in pieces: growth copies and halts nothing.

    :param dtype: of a row, or of each of its columns.
    :param columns: how many columns a row has; none where its type says it all.
    """

    def __init__(self, dtype: npt.DTypeLike, *columns: int) -> None:
        self._dtype = np.dtype(dtype)
        self._columns = columns
        # Numbers far apart leave whole pieces out.
        self._pieces: dict[int, npt.NDArray[Any]] = {}
        #: The same memory, which a single row is written to much faster.
        self._bytes: dict[int, memoryview] = {}

    def __contains__(self, number: int) -> bool:
        """Return whether this row can be read; it need not have been written."""
        return number >> _PIECE_BITS in self._pieces

    def __setitem__(self, number: int, row: bytes) -> None:
        piece, place = divmod(number, PIECE_ROWS)
        self._piece(piece)
        start = place * len(row)
        self._bytes[piece][start : start + len(row)] = row

    def put(self, numbers: npt.NDArray[Any], rows: npt.NDArray[Any]) -> None:
        """Write many rows at once.

        :param numbers: ascending, shape ``(n,)``.
        :param rows: shape ``(n, *columns)``.
        """
        pieces = numbers >> _PIECE_BITS
        for piece in np.unique(pieces).tolist():
            here = slice(*np.searchsorted(pieces, [piece, piece + 1]))
            self._piece(piece)[numbers[here] & (PIECE_ROWS - 1)] = rows[here]

    def __getitem__(self, number: int) -> npt.NDArray[Any]:
        piece, place = divmod(number, PIECE_ROWS)
        row: npt.NDArray[Any] = self._pieces[piece][place]
        return row

    def take(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Copies of rows that were written to, in the order of these numbers."""
        if numbers.size == 1:
            # As it is most often, and then three times as fast.
            piece, place = divmod(int(numbers[0]), PIECE_ROWS)
            return self._pieces[piece][place : place + 1].copy()
        pieces, places = numbers >> _PIECE_BITS, numbers & (PIECE_ROWS - 1)
        if numbers.size and (pieces == pieces[0]).all():
            return self._pieces[int(pieces[0])].take(places, axis=0)
        out = np.empty((numbers.size, *self._columns), self._dtype)
        for piece in np.unique(pieces).tolist():
            here = pieces == piece
            out[here] = self._pieces[piece].take(places[here], axis=0)
        return out

    def _piece(self, piece: int) -> npt.NDArray[Any]:
        """Return the rows of a piece, which is made unless it is there."""
        if piece not in self._pieces:
            rows = self._pieces[piece] = np.empty((PIECE_ROWS, *self._columns), self._dtype)
            self._bytes[piece] = rows.view(np.uint8).reshape(-1).data
        return self._pieces[piece]
