"""MinHash in both forms (Broder 1997): the least hash of k functions, or the k least of one.

Two sets have the same least hash with the probability of their resemblance, the Jaccard measure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import xxhash

from ..exceptions import InvalidOption
from .words import WORD, Hashes, PackedSetKeys, WordMethod, members, packed_set, share_of_larger

#: Words in a shingle, here and in the benchmarks' resemblance.
WIDTH = 5
_HALF = np.uint64(32)


@dataclass(frozen=True, kw_only=True)
class MinHash(WordMethod):
    """The least hash of each of k functions (Broder, "On the resemblance and containment of
    documents", 1997).

    The share of equal ones estimates the resemblance, with the standard error
    ``sqrt(r * (1 - r) / k)``. Bands of ``rows`` hashes find the candidates (Leskovec, Rajaraman,
    Ullman, "Mining of massive datasets", section 3.4): of pages with resemblance .8, all but one in
    20 million with 128 hashes.

    Good for: resemblance itself. Bad for: memory; bottom-k needs less time for the same.

    :ivar hashes: number of functions.
    :ivar width: units in a shingle.
    :ivar rows: hashes in a band; 0 compares all values.
    """

    name: ClassVar[str] = "minhash"
    counts: ClassVar[tuple[str, ...]] = ("hashes", "width")
    hashes: int = 128
    width: int = WIDTH
    rows: int = 4
    min_similarity: float = 0.8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.rows <= self.hashes:
            raise InvalidOption("rows", self.rows, f"0 to {self.hashes}")

    def value(self, content: str | bytes) -> bytes:
        shingles = self.shingles(content, self.width)
        return least_hashes(shingles, self.hashes) if shingles.size else b""

    def similarity(self, new: bytes, known: bytes) -> float:
        return float((members(new) == members(known)).mean())

    def keys(self, value: bytes) -> Iterable[int] | None:
        if not self.rows:
            return None
        size = self.rows * WORD.itemsize
        # A band's place seeds its hash.
        return (
            xxhash.xxh3_64_intdigest(value[start : start + size], start)
            for start in range(0, len(value) - size + 1, size)
        )


@dataclass(frozen=True, kw_only=True)
class BottomK(PackedSetKeys, WordMethod):
    """The k least hashes of one function (Broder 1997, section 4).

    Of the k least hashes of the union, the share that both sets have estimates the resemblance
    without bias. (Equal hashes divided by k, which is seen as well, estimates ``J / (2 - J)`` or
    less; taking all of both samples for the union gives .783 where the resemblance is .8.)

    Good for: resemblance, in less time than MinHash. Bad for: the same pages as resemblance:
    forms, lists of a site.

    :ivar hashes: how many are kept, ``k``.
    :ivar width: units in a shingle.
    """

    name: ClassVar[str] = "bottomk"
    counts: ClassVar[tuple[str, ...]] = ("hashes", "width")
    hashes: int = 128
    width: int = WIDTH
    min_similarity: float = 0.73

    def value(self, content: str | bytes) -> bytes:
        least = members(packed_set(self.shingles(content, self.width)))[: self.hashes]
        return least.tobytes()

    def similarity(self, new: bytes, known: bytes) -> float:
        ours, theirs = members(new), members(known)
        union = np.union1d(ours, theirs)[: self.hashes]
        both = np.intersect1d(ours, theirs, assume_unique=True)
        return float(np.isin(union, both, assume_unique=True).mean())

    def is_near(self, new: bytes, known: bytes) -> bool:
        # The part of the union that is compared has at least the hashes of the larger sample.
        may_be_near = share_of_larger(new, known) >= self.min_similarity
        return may_be_near and super().is_near(new, known)


def least_hashes(elements: Hashes, number: int) -> bytes:
    """Return the least 32-bit hash of a set under each of several functions.

    The functions multiply an element by odd numbers, add others, and keep the upper half
    (Dietzfelbinger, STACS 1996: multiply-add-shift is 2-independent).

    :param elements: shape ``(n,)``, at least one, well mixed.
    """
    factors, terms = _functions(number)
    least = np.empty(number, WORD)
    for place in range(number):
        least[place] = ((elements * factors[place] + terms[place]) >> _HALF).min()
    return least.tobytes()


@cache
def _functions(number: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    drawn = np.random.default_rng(1997).integers(0, 1 << 64, (2, number), np.uint64)
    return drawn[0] | np.uint64(1), drawn[1]
