"""Estimates the resemblance of texts from small sketches of their shingles.

A document is the set of its *w*-shingles, runs of *w* consecutive units (Broder, "On the
resemblance and containment of documents", 1997). One hash function assigns the shingles to
bins, and a sketch keeps a byte of the least hash in each bin: one-permutation hashing (Li,
Owen, Zhang, NIPS 2012) of b-bit values (Li, König, WWW 2010). Two sketches made with one key
can be compared bin by bin, so the bins that all pages of a site share can be left out of both
afterwards.

The hash is keyed. Without the secret nobody can write a page whose sketch comes near
another page's, even with full knowledge of this code and of the fingerprints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate

import numpy as np
import numpy.typing as npt

#: Units (Han characters, or other tokens) in a shingle.
SHINGLE_UNITS = 4

#: Bins of a sketch, a byte each. The standard error of an estimate ``j`` is
#: ``sqrt(j * (1 - j) / SKETCH_BINS)``: 0.023 near 0.73.
SKETCH_BINS = 384

#: Shape ``(SKETCH_BINS,)``; 0 marks a bin that no shingle fell into.
Sketch = npt.NDArray[np.uint8]

_HASH_BITS = np.uint64(32)
_NO_HASH = np.uint64(1 << 32)
#: Values that a filled bin can have, 1 to 255.
_VALUES = np.uint64(255)


@dataclass(frozen=True, slots=True)
class ShingleKey:
    """Numbers drawn from a secret, with which units and shingles are hashed.

    :ivar seed: seed for the hash of a single unit, 64 bits.
    :ivar factors: shape ``(SHINGLE_UNITS,)``, odd 64-bit factors, one for each place.
    """

    seed: int
    factors: npt.NDArray[np.uint64]

    @classmethod
    def from_secret(cls, secret: bytes) -> ShingleKey:
        """Derive the numbers; equal secrets give equal keys."""
        size = 8 * (1 + SHINGLE_UNITS)
        drawn = np.frombuffer(
            blake2b(key=secret, person=b"neardup-shingle", digest_size=size).digest(), "<u8"
        )
        return cls(int(drawn[0]), drawn[1:].astype(np.uint64) | np.uint64(1))


def shingle_hashes(
    units: npt.NDArray[np.uint64], key: ShingleKey, width: int = SHINGLE_UNITS
) -> npt.NDArray[np.uint64]:
    """Hash every shingle of a document.

    :param units: shape ``(n,)``, the seeded hash of each unit in reading order.
    :param width: units in a shingle, 1 to :data:`SHINGLE_UNITS`.
    :returns: 32-bit hashes in reading order. A text shorter than a shingle counts as one shingle;
        an empty text has none.

    A shingle's hash is a multilinear form of its units' hashes, mixed, upper half kept.
    """
    if units.size == 0:
        return np.empty(0, np.uint64)
    width = min(width, units.size)
    count = units.size - width + 1
    sums = units[:count] * key.factors[0]
    for place in range(1, width):
        sums += units[place : place + count] * key.factors[place]
    return mixed(sums) >> _HASH_BITS


def shingle_hashes_of_each(
    documents: Sequence[npt.NDArray[np.uint64]], key: ShingleKey
) -> list[npt.NDArray[np.uint64]]:
    """Hash the shingles of several documents at once, which is faster than one by one.

    :param documents: the unit hashes of each document.
    :returns: for each document what :func:`shingle_hashes` returns.
    """
    sizes = list(map(len, documents))
    if len(sizes) == 1 or min(sizes) < SHINGLE_UNITS:
        return [shingle_hashes(units, key) for units in documents]
    hashes = shingle_hashes(np.concatenate(documents), key)
    # The shingles that overlap two documents are left out.
    return [
        hashes[end - size : end - SHINGLE_UNITS + 1]
        for size, end in zip(sizes, accumulate(sizes), strict=True)
    ]


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Mix 64-bit values by the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    values = values ^ (values >> np.uint64(30))
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def sketches_of(
    documents: Sequence[npt.NDArray[np.uint64]], n_bins: int = SKETCH_BINS
) -> npt.NDArray[np.uint8]:
    """Return the sketches of several documents: one byte of the least hash in each bin.

    :param documents: the hashes of each, as returned by :func:`shingle_hashes`. The upper bits of
        a hash select its bin.
    :returns: shape ``(n, n_bins)``.
    """
    hashes = np.concatenate(documents)
    bins = (hashes * np.uint64(n_bins) >> _HASH_BITS).astype(np.intp)
    # One array holds the bins of all documents, one document after another.
    first_bins = np.arange(0, len(documents) * n_bins, n_bins)
    bins += first_bins.repeat(list(map(len, documents)))
    least = np.full(len(documents) * n_bins, _NO_HASH)
    np.minimum.at(least, bins, hashes)
    sketches = (least % _VALUES + np.uint64(1)).astype(np.uint8)
    sketches[least == _NO_HASH] = 0
    return sketches.reshape(-1, n_bins)


def resemblance(a: Sketch, b: Sketch) -> float:
    """Estimate the Jaccard measure, 0.0 to 1.0, of two documents from their sketches.

    Equal to :func:`resemblances` for one pair. Python's big integers are faster than arrays here.
    """
    one, other = a.tobytes(), b.tobytes()
    bins, number, other_number = len(one), int.from_bytes(one, "big"), int.from_bytes(other, "big")
    empty = (number | other_number).to_bytes(bins, "big").count(0)
    agreeing = (number ^ other_number).to_bytes(bins, "big").count(0) - empty
    filled = bins - empty
    both = 2 * bins - one.count(0) - other.count(0) - filled
    by_chance = (both - agreeing) / (int(_VALUES) - 1)
    return max((agreeing - by_chance) / max(filled, 1), 0.0)


def resemblances(a: Sketch, others: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Estimate the Jaccard measure, 0.0 to 1.0, of a document with each of several others.

    :param a: shape ``(bins,)``, a sketch or the same bins of all sketches. Or shape ``(n, bins)``:
        one for each of the others.
    :param others: shape ``(n, bins)``.

    The estimate is the share of agreeing bins among those filled in either sketch (Li, Owen,
    Zhang, section 4). Two different least hashes have the same byte in one case of 255; that many
    agreements are subtracted. Equal sketches give exactly 1.0, but two empty ones 0.0.
    """
    filled = a.shape[-1] - _count(others | a == 0)
    own = np.count_nonzero(a) if a.ndim == 1 else _count(a != 0)
    both = own + _count(others != 0) - filled
    agreeing = agreements(a, others)
    by_chance = (both - agreeing) / (int(_VALUES) - 1)
    estimates: npt.NDArray[np.float64] = (agreeing - by_chance) / np.maximum(filled, 1)
    return np.maximum(estimates, 0.0)


def agreements(a: Sketch, others: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Count the filled bins in which each of several sketches agrees with ``a``.

    The parameters are those of :func:`resemblances`.
    """
    flags = others == a
    flags &= a != 0
    return _count(flags)


def _count(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Count the true values in each row, of which there are at most 32,767."""
    # Short integers are summed in a third of the time.
    counts: npt.NDArray[np.int64] = flags.sum(axis=1, dtype=np.int16).astype(np.int64)
    return counts
