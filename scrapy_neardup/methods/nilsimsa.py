"""Nilsimsa (cmeclax 2001; Damiani et al., PDCS 2004): which triples of bytes a text has most of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .._util.encoding import utf8
from ..exceptions import InvalidOption
from ..hashing.simhash import distance_of_bytes
from .base import Method
from .words import PIECE

_BITS = 256
_HALF = _BITS // 2
#: The triples that end at a byte: how many bytes each of their members lies back, and their salt.
_TRIPLES = (
    *((0, 1, 2, 0), (0, 1, 3, 1), (0, 2, 3, 2), (0, 1, 4, 3)),
    *((0, 2, 4, 4), (0, 3, 4, 5), (4, 1, 0, 6), (4, 3, 0, 7)),
)


@dataclass(frozen=True, kw_only=True)
class Nilsimsa(Method):
    """A code of 256 bits of which texts with equal parts share more than half.

    Its window is five bytes. A bit is set where more triples fall than on average. The score of two
    codes is 128 less the number of bits that differ: 128 for equal ones, around 0, with a standard
    deviation of 8, for unrelated random ones. Pages have so much in common that 13 % of all pairs
    score above 24, the bound that its author names.

    Good for: mails with random insertions. Bad for: pages, at whatever score; it has no index.

    :ivar min_score: least score of near-duplicates, -128 to 128.
    """

    name: ClassVar[str] = "nilsimsa"
    min_score: int = 100

    def __post_init__(self) -> None:
        if not -_HALF <= self.min_score <= _HALF:
            raise InvalidOption("min_score", self.min_score, f"{-_HALF} to {_HALF}")

    @property
    def min_similarity(self) -> float:  # type: ignore[override]
        return (self.min_score + _HALF) / _BITS

    def value(self, content: str | bytes) -> bytes:
        data = utf8(content)
        return code(data) if len(data) > 2 and content.strip() else b""

    def similarity(self, new: bytes, known: bytes) -> float:
        return (score(new, known) + _HALF) / _BITS

    def explain(self, new: bytes, known: bytes) -> str:
        return f"score {score(new, known)} of {_HALF}"

    @property
    def requirement(self) -> str:
        return f"score at least {self.min_score}"


def score(a: bytes, b: bytes) -> int:
    """Return 128 less the number of bits in which two codes differ."""
    return _HALF - distance_of_bytes(a, b)


def code(data: bytes) -> bytes:
    """Return the code of some bytes, 32 bytes, the highest bit first.

    Fewer than three bytes have no triples, and the code is zero.
    """
    counts = np.zeros(_BITS, np.int64)
    for start in range(0, len(data), PIECE):
        for *lags, salt in _TRIPLES:
            longest = max(lags)
            piece = np.frombuffer(data[start : start + PIECE + longest], np.uint8).astype(np.intp)
            size = max(piece.size - longest, 0)
            a, b, c = (piece[longest - lag :][:size] for lag in lags)
            counts += np.bincount(_hash(a, b, c, salt), minlength=_BITS)
    return np.packbits(counts > counts.sum() / _BITS, bitorder="little")[::-1].tobytes()


def _hash(
    a: npt.NDArray[np.intp], b: npt.NDArray[np.intp], c: npt.NDArray[np.intp], salt: int
) -> npt.NDArray[np.intp]:
    table = _table()
    mixed = table[(a + salt) & 255] ^ table[b] * (2 * salt + 1)
    hashes: npt.NDArray[np.intp] = (mixed + table[c ^ table[salt]]) & 255
    return hashes


@cache
def _table() -> npt.NDArray[np.intp]:
    """Return the permutation of the bytes that the multiplier 53 gives."""
    table: list[int] = []
    value = 0
    for _ in range(_BITS):
        value = (value * 53 + 1) & 255
        value += value
        if value > 255:
            value -= 255
        while value in table:
            value = (value + 1) & 255
        table.append(value)
    return np.array(table, np.intp)
