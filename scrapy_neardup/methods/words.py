"""Words and sets of hashes, for methods that compare texts by their words."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from math import ceil

import numpy as np
import numpy.typing as npt

from ..text.idf import token_hashes
from ..text.normalization import normalize
from ..text.tokenization import Tokenizer, shingle_units, shipped_tokenizer
from .base import Method

Hashes = npt.NDArray[np.uint64]
#: A set is packed as its 32-bit hashes, ascending.
WORD = np.dtype("<u4")
#: Bytes of a file that are processed at a time: arrays of numbers take many times their memory.
PIECE = 1 << 16

#: 2**64 divided by the golden ratio, odd.
_MULTIPLIER, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@cache
def _auto() -> Tokenizer:
    return shipped_tokenizer("auto")[0]


@dataclass(frozen=True, kw_only=True)
class WordMethod(Method, ABC):
    """A method that reads words.

    :ivar tokenizer: splits normalised text; no parameter that users write after the name.
    """

    tokenizer: Tokenizer = field(default_factory=_auto, repr=False, metadata={"hidden": True})

    def words(self, content: str | bytes) -> list[str]:
        """Return the words of a text in reading order, normalised."""
        return list(self.tokenizer(normalize(as_text(content))))

    def shingles(self, content: str | bytes, width: int) -> Hashes:
        """Return the distinct hashes of all runs of ``width`` units, ascending.

        A Han character is a unit, and so is any other word. A text of fewer units has one shingle;
        an empty text has none.
        """
        hashes = token_hashes(shingle_units(self.words(content)))
        width = min(width, hashes.size)
        mixed = np.zeros(hashes.size - width + 1 if width else 0, np.uint64)
        for place in range(width):
            mixed = (mixed ^ hashes[place : place + mixed.size]) * _MULTIPLIER
            mixed ^= mixed >> _HALF
        return np.unique(mixed)


class PackedSetKeys:
    """Finds values by the members of a packed set; see :func:`least_common`."""

    min_similarity: float

    def keys(self, value: bytes) -> Iterable[int]:
        return members(value)

    def keys_in_common(self, value: bytes) -> int:
        return least_common(members(value).size, self.min_similarity)


def as_text(content: str | bytes) -> str:
    """Return a text; bytes are taken for UTF-8."""
    return content if isinstance(content, str) else content.decode("utf-8", "replace")


def packed_set(hashes: Hashes) -> bytes:
    """Return a set of hashes as the lower 32 bits of each, ascending."""
    return np.unique(hashes.astype(WORD)).tobytes()


def members(value: bytes) -> npt.NDArray[np.uint32]:
    """Return the hashes of a packed set, ascending."""
    return np.frombuffer(value, WORD)


def shared(a: bytes, b: bytes) -> int:
    """Return the number of hashes that two packed sets have in common."""
    return int(np.intersect1d(members(a), members(b), assume_unique=True).size)


def share_of_larger(a: bytes, b: bytes) -> float:
    """Return the share, 0 to 1, of the larger of two packed sets that is in the other."""
    smaller, larger = sorted((len(a), len(b)))
    return shared(a, b) * WORD.itemsize / larger if smaller else 0.0


def jaccard(a: bytes, b: bytes) -> float:
    """Return the Jaccard measure, 0 to 1, of two packed sets that are not both empty."""
    both = shared(a, b)
    return both / (members(a).size + members(b).size - both)


def least_common(size: int, min_similarity: float) -> int:
    """Return how many members a set of this size shares, at least 1, with each one near it.

    Near are sets that have the share ``min_similarity`` of the larger one in common, as all sets of
    this Jaccard measure.
    """
    return max(ceil(min_similarity * size - 1e-9), 1)
