"""Shingles of a text and a small sample of them (Broder, "On the resemblance and
containment of documents", 1997, sections 2 and 4).

A document is the set of its *w*-shingles, runs of *w* consecutive tokens. Its sketch
keeps the *k* smallest values of one hash function over that set ("bottom-k"). Sketches
made with one secret are samples by the same rule, so the resemblance (Jaccard measure)
of two documents can be estimated from them alone.

The hash is keyed. Without the secret nobody can write a page whose sketch comes near
another page's, however much of this code and of the fingerprints they have read.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

#: Tokens in a shingle.
SHINGLE_TOKENS = 3

#: Values in a sketch. The standard error of an estimate near 0.75 is 0.05 for 64 values.
SKETCH_SIZE = 64

Sketch = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class ShingleKey:
    """Numbers drawn from a secret, with which tokens and shingles are hashed.

    :ivar seed: seed for the hash of a single token, 64 bits.
    :ivar factors: shape ``(SHINGLE_TOKENS,)``, odd 64-bit factors, one for each place.
    """

    seed: int
    factors: npt.NDArray[np.uint64]

    @classmethod
    def from_secret(cls, secret: bytes) -> ShingleKey:
        """Derive the numbers; equal secrets give equal keys."""
        size = 8 * (1 + SHINGLE_TOKENS)
        drawn = np.frombuffer(
            blake2b(key=secret, person=b"neardup-shingle", digest_size=size).digest(), "<u8"
        )
        return cls(int(drawn[0]), drawn[1:].astype(np.uint64) | np.uint64(1))


def shingle_hashes(tokens: npt.NDArray[np.uint64], key: ShingleKey) -> Sketch:
    """Hash every shingle of a document.

    :param tokens: shape ``(n,)``, the seeded hash of each token in reading order.
    :returns: shape ``(max(n - 2, 1),)``, or empty for ``n = 0``; not sorted, with repeats. A text
        of one or two tokens is one shingle by itself.

    A shingle's hash is a multilinear form of its tokens' hashes, mixed, upper half kept.
    """
    if tokens.size == 0:
        return np.empty(0, np.uint32)
    width = min(SHINGLE_TOKENS, tokens.size)
    count = tokens.size - width + 1
    mixed = np.zeros(count, np.uint64)
    for place in range(width):
        mixed += tokens[place : place + count] * key.factors[place]
    return (_avalanche(mixed) >> np.uint64(32)).astype(np.uint32)


def _avalanche(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every bit moves every bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def bottom_k(hashes: Sketch, size: int = SKETCH_SIZE) -> Sketch:
    """The ``size`` smallest distinct values, ascending; all of them when there are fewer."""
    return np.unique(hashes)[:size]


def resemblance(a: Sketch, b: Sketch, size: int = SKETCH_SIZE) -> float:
    """Estimate the Jaccard measure, 0.0 to 1.0, of two documents from their sketches.

    A full sketch knows all of its document's values up to its own greatest one; a sketch with
    fewer than ``size`` values knows its document wholly. Up to the lesser of the two bounds both
    documents are known, and there the measure is counted. For two short documents that is all of
    them and the result is exact (up to collisions of 32-bit hashes).
    """
    if a.size == 0 or b.size == 0:
        return 0.0
    bound = min(int(s[-1]) if s.size >= size else 0xFFFFFFFF for s in (a, b))
    known_a = a[: np.searchsorted(a, bound, side="right")]
    known_b = b[: np.searchsorted(b, bound, side="right")]
    shared = np.intersect1d(known_a, known_b, assume_unique=True).size
    return float(shared / (known_a.size + known_b.size - shared))
