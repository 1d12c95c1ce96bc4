"""Counts of bit patterns in a file (Sadowski, Levin, "SimHash", 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .._util.encoding import utf8
from .base import Method
from .words import PIECE

#: The patterns, 8 bits each: far from each other and from runs of one bit, which padding has.
_TAGS = tuple(bytes.fromhex("17 1d 2b 35 4d 53 65 69 8b 96 9c a6 b2 c5 d4 e8"))
_COUNT = np.dtype("<u4")


@dataclass(frozen=True, kw_only=True)
class Tags(Method):
    """Counts 16 patterns of 8 bits in a file, at any bit.

    The similarity is one less the sum of the differences divided by the sum of the greater counts.
    The report's abstract describes counts of tags and a key to sort by; which tags it takes, and
    the key's weights, are ours. Sorting is of no use here: all values are compared.

    Good for: files in which little was changed. Bad for: texts, all of which have nearly the
    letters of their language.
    """

    name: ClassVar[str] = "tags"
    reads = "bytes"
    min_similarity: float = 0.98

    def value(self, content: str | bytes) -> bytes:
        counts = tag_counts(utf8(content))
        return counts.astype(_COUNT).tobytes() if counts.any() else b""

    def similarity(self, new: bytes, known: bytes) -> float:
        ours, theirs = (np.frombuffer(value, _COUNT).astype(np.int64) for value in (new, known))
        return 1 - float(np.abs(ours - theirs).sum() / np.maximum(ours, theirs).sum())

    def describe(self, value: bytes) -> str:
        return f"{int(np.frombuffer(value, _COUNT).sum()):,} tags"


def tag_counts(data: bytes) -> npt.NDArray[np.int64]:
    """Return how often each tag stands in the bits of some bytes, overlapping ones included."""
    # Each byte with the one behind it; the last byte has none, and only its own eight bits count.
    counts = np.bincount(np.frombuffer(data[-1:], np.uint8), minlength=256)
    for start in range(0, len(data), PIECE):
        piece = np.frombuffer(data[start : start + PIECE + 1], np.uint8).astype(np.uint16)
        pairs = piece[:-1] << 8 | piece[1:]
        for shift in range(8):
            counts += np.bincount(pairs >> (8 - shift) & 255, minlength=256)
    return counts[list(_TAGS)]
