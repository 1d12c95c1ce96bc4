"""Sketches the text of a page that was read quickly, to estimate how much two pages have in common.

Passages are whole lines and sentences, so an edited copy may share few of them with its original,
and two other pages of a manual or a template many. The text's shingles tell these apart before
either page is read in full. A sketch is made without a tokenizer, because that would take longer
than all else that is read quickly.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..hashing import minhash
from ..hashing.minhash import ShingleKey, Sketch, shingle_hashes, sketches_of
from ..text.characters import NO_WORD, SPACED, code_points, scripts_of

#: Words in a shingle; a character of a script without spaces is a word.
SHINGLE_WORDS = 3
#: Bins, a byte each, behind the number of distinct shingles.
BINS = 64
_COUNT = struct.Struct("<I")
#: Length of a sketch.
SIZE = _COUNT.size + BINS
#: A text with fewer distinct shingles than this has no sketch: an estimate would say little.
MIN_SHINGLES = 32
#: Version of the sketches, for the recipe.
VERSION = "quick-sketch-1"


class Overlap(NamedTuple):
    """The estimated overlap of two texts.

    :ivar resemblance: shared shingles as a part of those of both, 0.0 to 1.0.
    :ivar containment: the same as a part of those of the shorter text, 0.0 to 1.0.
    """

    resemblance: float
    containment: float


def quick_sketch(text: str, key: ShingleKey) -> bytes:
    """Return the sketch of a normalised text, :data:`SIZE` bytes; none of a very short text."""
    hashes = shingle_hashes(_word_hashes(text, key.seed), key, SHINGLE_WORDS)
    # Arrays of 32-bit integers are sorted in a fraction of the time.
    ordered = np.sort(hashes.astype(np.uint32))
    n_distinct = np.count_nonzero(np.diff(ordered)) + bool(ordered.size)
    if n_distinct < MIN_SHINGLES:
        return b""
    return _COUNT.pack(n_distinct) + sketches_of([hashes], BINS).tobytes()


def bins_of(sketch: bytes) -> Sketch:
    """Return the bins of a sketch, shape ``(BINS,)``; 0 marks an empty one."""
    return np.frombuffer(sketch, np.uint8, offset=_COUNT.size)


def overlap(
    sketch: bytes, other: bytes, counts: npt.NDArray[np.bool_] | None = None
) -> Overlap | None:
    """Compare two texts by their sketches; ``None`` if one has none.

    :param counts: the bins to compare, shape ``(BINS,)``; ``None`` for all. Shingles are spread
        over the bins evenly, so a part of the bins stands for the shingles of a part of the text.
    """
    if not (sketch and other):
        return None
    bins = [bins_of(sketch), bins_of(other)]
    sizes: list[float] = _sizes(sketch, other)
    if counts is not None:
        compared = [each * counts for each in bins]
        sizes = [
            size * np.count_nonzero(left) / np.count_nonzero(each)
            for size, left, each in zip(sizes, compared, bins, strict=True)
        ]
        bins = compared
    resemblance = minhash.resemblance(*bins)
    shared = resemblance * sum(sizes) / (1 + resemblance)
    return Overlap(resemblance, min(1.0, shared / max(1, min(sizes))))


def ratio_of_sizes(sketch: bytes, other: bytes) -> float:
    """Return the size of the shorter of two texts as a part of the longer one's.

    It is 1.0 if one has no sketch.
    """
    sizes = _sizes(sketch, other) if sketch and other else [1]
    return min(sizes) / max(1, *sizes)


def _sizes(*sketches: bytes) -> list[float]:
    """Return the numbers of distinct shingles."""
    return [_COUNT.unpack_from(data)[0] for data in sketches]


def _word_hashes(text: str, seed: int) -> npt.NDArray[np.uint64]:
    """Return a hash of each word, which is the sum of those of its characters."""
    codes = code_points(text)
    scripts = scripts_of(codes)
    is_spaced = scripts == SPACED
    is_start = scripts > SPACED
    is_start[:1] |= is_spaced[:1]
    is_start[1:] |= is_spaced[1:] & ~is_spaced[:-1]
    starts = np.flatnonzero(is_start)
    if not starts.size:
        return np.empty(0, np.uint64)
    hashes = minhash.mixed(codes.astype(np.uint64) ^ np.uint64(seed))
    hashes[scripts == NO_WORD] = 0
    return np.add.reduceat(hashes, starts)
