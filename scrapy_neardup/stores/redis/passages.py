"""The passages of pages in Redis: the buckets that have them, and the pages that share them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...hashing.postings import Sharers
from ...signatures.passages import Passages
from ...signatures.signature import PageSignature
from ..codec import unpacked
from .layout import NUMBER_BYTES, packed_number
from .pages import PageReader, StoredRow

#: Of the third byte of a hash, a field has what is left after the division by this: 18 bits in all.
_LOW = 4
_HASH_BYTES, _TAG_BYTES = 8, 4
_RECORD_BYTES = _TAG_BYTES + NUMBER_BYTES
#: The upper half of a passage's hash, and the number of a page.
_RECORD = np.dtype([("tag", "<u4"), ("number", "u1", (NUMBER_BYTES,))])
_WORD = np.dtype("<u8")


def bucket_fields(passages: bytes) -> list[bytes]:
    """Return the fields of the buckets in which passages stand.

    :param passages: hashes of 8 bytes, one after the other.
    """
    return [
        passages[at : at + 2] + bytes([passages[at + 2] % _LOW])
        for at in range(0, len(passages), _HASH_BYTES)
    ]


class FoundSharers:
    """The pages that have passages of a page, as they were read from the buckets.

    See :class:`~scrapy_neardup.matching.passage_candidates.PassageIndex`.

    :param buckets: those of :func:`bucket_fields`.
    """

    def __init__(self, buckets: Sequence[bytes | None]) -> None:
        self._buckets = buckets

    def sharers(self, hashes: Passages) -> Sharers:
        """Return the pages that have these passages, those whose buckets were read."""
        records = np.frombuffer(b"".join(filter(None, self._buckets)), _RECORD)
        sizes = [len(bucket or b"") // _RECORD_BYTES for bucket in self._buckets]
        places = np.repeat(np.arange(hashes.size), sizes)
        is_it = records["tag"] == (hashes >> np.uint64(32))[places]
        words = np.zeros((int(is_it.sum()), _WORD.itemsize), np.uint8)
        words[:, :NUMBER_BYTES] = records["number"][is_it]
        return Sharers(places[is_it], words.view(_WORD).ravel().astype(np.intp))


class SharingPage(NamedTuple):
    """A page that shares passages with another, and its row."""

    number: int
    row: StoredRow
    page: PageSignature


class SharingPages:
    """Reads pages that share passages, with who holds them.

    See :class:`~scrapy_neardup.matching.passage_candidates.StoredPages`.
    """

    def __init__(self, reader: PageReader, recipe: str) -> None:
        self._reader = reader
        self._recipe = recipe
        self._rows: dict[int, StoredRow | None] = {}
        self._pages: dict[int, PageSignature] = {}

    def pages(self, numbers: Sequence[int]) -> list[PageSignature | None]:
        """Return these pages; ``None`` for one that is there no more."""
        missing = [number for number in numbers if number not in self._rows]
        rows = self._reader.stored_many([packed_number(number) for number in missing])
        for number, row in zip(missing, rows, strict=True):
            self._rows[number] = row
            if row is not None:
                self._pages[number] = unpacked(row.page, self._recipe)
        return [self._pages.get(number) for number in numbers]

    def found(self, numbers: Sequence[int]) -> Iterator[SharingPage]:
        """Yield those of these pages that are there still."""
        for number, page in zip(numbers, self.pages(numbers), strict=True):
            row = self._rows[number]
            if row is not None and page is not None:
                yield SharingPage(number, row, page)
