"""The pages of a store that lives in one process, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..hashing.minhash import SKETCH_BINS
from ..matching.candidates import FIRST_BINS, SUMMARY_DTYPE, Summaries
from ..signatures.signature import PageSignature
from .archive import PageArchive
from .base import Entry, Ticket
from .codec import parts_of, sketch_in, unpacked
from .digests import KeyTable
from .growing_rows import GrowingRows


@dataclass(slots=True)
class Reservation:
    """A claimed page.

    :ivar digest: of its key.
    :ivar row: see :func:`~scrapy_neardup.stores.codec.row_of`.
    :ivar outcome: for those who wait for it.
    """

    number: int
    page: PageSignature
    digest: int
    row: bytes
    packed: bytes
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

    def __init__(self, archive: PageArchive, recipe: str) -> None:
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
        return np.isin(numbers, [reserved.number for reserved in self.reserved.values()])

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
        stored = [number for number in numbers if number not in self.reserved]
        found = dict(zip(stored, self._archive.read(stored), strict=True))
        return [
            found[number] if number in found else self.reserved[number].packed for number in numbers
        ]
