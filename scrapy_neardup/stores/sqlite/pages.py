"""The pages of one namespace of a SQLite file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from ..codec import ROW, site_in
from .batch import REMOVE, Page
from .file import SqliteFile
from .format import NUMBER_BITS, NUMBER_MASK, columns, complaining, opened, page_is_damaged

#: Rows that are loaded at a time, at most.
_LOADED_ROWS = 1 << 17
#: Rows and ids that are read at a time.
_ROWS_AT_ONCE = 1 << 11
_IDS_AT_ONCE = 1 << 16
#: SQLite takes 999 values in a statement at least.
_PAGES_AT_ONCE = 512


class SqlitePages:
    """See :class:`~scrapy_neardup.stores.archive.PageArchive`.

    :ivar forgotten: how many pages were dropped because nobody knew them to be on disk.
    """

    def __init__(self, file: SqliteFile, namespace: int) -> None:
        self._file = file
        self._base = namespace << NUMBER_BITS
        self._range = (self._base, self._base | NUMBER_MASK)
        self.forgotten = self._forget_unconfirmed()

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        # Read in pieces that stay in the processor's cache, handed on in larger ones.
        numbers, rows = np.empty(_LOADED_ROWS, np.uint32), np.empty(_LOADED_ROWS, ROW)
        end = 0
        for found in self._rows():
            if end + len(found) > _LOADED_ROWS:
                yield numbers[:end], rows[:end]
                end = 0
            some = slice(end, end := end + len(found))
            with complaining(self._file.path):
                numbers[some], rows[some] = columns(found)
        if end:
            yield numbers[:end], rows[:end]

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        """See :meth:`~scrapy_neardup.stores.archive.PageArchive.read`.

        :raises StoreError: when one is missing, or not as it was written.
        """
        ids = [self._base | number for number in numbers]
        found: dict[int, bytes | None] = {}
        with self._file.lock:
            for batch in self._file.writer.pending():
                found |= {id_: batch.pages[id_].page for id_ in ids if id_ in batch.pages}
            written = [id_ for id_ in ids if id_ not in found]
            for start in range(0, len(written), _PAGES_AT_ONCE):
                some = written[start : start + _PAGES_AT_ONCE]
                query = f"SELECT id, page FROM pages WHERE id IN ({','.join('?' * len(some))})"
                stored = self._file.read(query, tuple(some))
                found |= {id_: opened(id_, data) for id_, data in stored}
        return [found.get(id_) or page_is_damaged(self._file.path, id_) for id_ in ids]

    def of_site(self, digest: int, most: int) -> list[int]:
        query = "SELECT id FROM rows WHERE site = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?"
        first, last = self._range
        with self._file.lock:
            found = self._file.read(query, (digest, *self._range, most))
            waiting = [
                page.id
                for page in self._not_written()
                if page.site == digest and first <= page.id <= last
            ]
        ids = sorted({*chain.from_iterable(found), *waiting})[-most:]
        return [id_ & NUMBER_MASK for id_ in ids]

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        id_ = self._base | number
        with self._file.writer.later() as waiting:
            waiting.pages[id_] = Page(id_, site_in(row), row, page, mark)

    def remove(self, first: int, last: int) -> None:
        with self._file.writer.later() as waiting:
            waiting.remove(self._base | first, self._base | last)

    def numbers(self) -> Iterator[npt.NDArray[np.intp]]:
        first, last = self._range
        while first <= last:
            with self._file.lock:
                found = self._file.read(
                    "SELECT id FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
                    (first, last, _IDS_AT_ONCE),
                )
                end = found[-1][0] if len(found) == _IDS_AT_ONCE else last
                waiting = [page.id for page in self._not_written() if first <= page.id <= end]
            ids = sorted({*chain.from_iterable(found), *waiting})
            yield np.array(ids, np.int64) & NUMBER_MASK
            first = end + 1

    def confirm(self, mark: int) -> None:
        with self._file.writer.later() as waiting:
            waiting.confirm(self._range, mark)

    def _forget_unconfirmed(self) -> int:
        """Remove what nobody knows to be on disk; return how many pages that were."""
        ids = self._file.read(
            "SELECT id, id FROM unconfirmed WHERE id BETWEEN ? AND ?", self._range
        )
        if ids:
            with self._file.writer.changing() as connection:
                for statement in REMOVE:
                    connection.executemany(statement, ids)
        return len(ids)

    def _rows(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield ids and rows in order, without what waits to be written."""
        first, last = self._range
        query = "SELECT id, row FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        while found := self._file.read(query, (first, last, _ROWS_AT_ONCE)):
            yield found
            first = found[-1][0] + 1

    def _not_written(self) -> Iterator[Page]:
        for batch in self._file.writer.pending():
            yield from batch.pages.values()
