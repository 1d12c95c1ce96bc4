"""The pages of one namespace of a SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..codec import ROW
from .format import NUMBER_BITS, NUMBER_MASK, columns, complaining, opened, page_is_damaged

#: Rows that are loaded at a time, at most.
_LOADED_ROWS = 1 << 17
#: Rows that are read at a time.
_ROWS_AT_ONCE = 1 << 11
#: SQLite takes 999 values in a statement at least.
_PAGES_AT_ONCE = 512


class FilePages:
    """The pages as they stand in the file; see :class:`~scrapy_neardup.stores.archive.Archive`.

    :param read: returns what a query with these values finds.
    """

    def __init__(
        self,
        path: Path,
        read: Callable[[str, tuple[object, ...]], list[tuple[Any, ...]]],
        namespace: int,
    ) -> None:
        self._path = path
        self._read = read
        self.base = namespace << NUMBER_BITS
        self.range = (self.base, self.base | NUMBER_MASK)

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        # Read in pieces that stay in the processor's cache, handed on in larger ones.
        numbers, rows = np.empty(_LOADED_ROWS, np.uint32), np.empty(_LOADED_ROWS, ROW)
        end = 0
        for found in self._rows():
            if end + len(found) > _LOADED_ROWS:
                yield numbers[:end], rows[:end]
                end = 0
            some = slice(end, end := end + len(found))
            with complaining(self._path):
                numbers[some], rows[some] = columns(found)
        if end:
            yield numbers[:end], rows[:end]

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        """See :meth:`~scrapy_neardup.stores.archive.Archive.read`.

        :raises StoreError: when one is missing, or not as it was written.
        """
        ids = [self.base | number for number in numbers]
        found: dict[int, bytes | None] = {}
        for start in range(0, len(ids), _PAGES_AT_ONCE):
            some = ids[start : start + _PAGES_AT_ONCE]
            query = f"SELECT id, page FROM pages WHERE id IN ({','.join('?' * len(some))})"
            found |= {id_: opened(id_, data) for id_, data in self._read(query, tuple(some))}
        return [found.get(id_) or page_is_damaged(self._path, id_) for id_ in ids]

    def of_site(self, digest: int, most: int) -> list[int]:
        query = "SELECT id FROM rows WHERE site = ? AND id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?"
        found = self._read(query, (digest, *self.range, most))
        return [id_ & NUMBER_MASK for (id_,) in reversed(found)]

    def unconfirmed(self) -> list[int]:
        """Return the numbers of pages that are not known to be on disk."""
        query = "SELECT id FROM unconfirmed WHERE id BETWEEN ? AND ?"
        return [id_ & NUMBER_MASK for (id_,) in self._read(query, self.range)]

    def _rows(self) -> Iterator[list[tuple[Any, ...]]]:
        first, last = self.range
        query = "SELECT id, row FROM rows WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
        while found := self._read(query, (first, last, _ROWS_AT_ONCE)):
            yield found
            first = found[-1][0] + 1
