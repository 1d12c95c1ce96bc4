"""An array of rows that is made of pieces: growth copies nothing and halts no crawl."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_PIECE_BITS = 20
#: Rows of a piece. The system gives memory to those alone that were written to.
PIECE_ROWS = 1 << _PIECE_BITS


class GrowingRows:
    """Rows of one type by their numbers, from 0 on.

    :param dtype: of a row, or of each of its columns.
    :param columns: how many columns a row has; none where its type says it all.
    """

    def __init__(self, dtype: npt.DTypeLike, *columns: int) -> None:
        self._dtype = np.dtype(dtype)
        self._columns = columns
        # Numbers far apart leave whole pieces out.
        self._pieces: dict[int, npt.NDArray[Any]] = {}

    def __contains__(self, number: int) -> bool:
        """Return whether this row can be read; it need not have been written."""
        return number >> _PIECE_BITS in self._pieces

    def __setitem__(self, number: int, row: bytes) -> None:
        piece, place = divmod(number, PIECE_ROWS)
        values = np.frombuffer(row, self._dtype).reshape(-1, *self._columns)
        self._piece(piece)[place : place + 1] = values

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

    def _piece(self, piece: int) -> npt.NDArray[Any]:
        if piece not in self._pieces:
            self._pieces[piece] = np.empty((PIECE_ROWS, *self._columns), self._dtype)
        return self._pieces[piece]

    def take(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Copies of rows that were written to, in the order of these numbers."""
        pieces, places = numbers >> _PIECE_BITS, numbers & (PIECE_ROWS - 1)
        used = np.flatnonzero(np.bincount(pieces)).tolist()
        if len(used) == 1:
            return self._pieces[used[0]].take(places, axis=0)
        out = np.empty((numbers.size, *self._columns), self._dtype)
        for piece in used:
            here = pieces == piece
            out[here] = self._pieces[piece].take(places[here], axis=0)
        return out
