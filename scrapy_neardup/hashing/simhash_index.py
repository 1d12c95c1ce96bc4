"""Finds the stored fingerprints within Hamming distance *k*, exactly for every *k* up to 11.

There are four tables, one for each 16-bit block of the fingerprint; a bucket holds the
fingerprints that share the block's value. For *k* = 3, at least one of the four blocks is equal
(Manku, Jain, Das Sarma, WWW 2007, section 3). For a larger *k*, buckets of nearby values are
probed as well: if two fingerprints differ in at most *k* bits and the blocks are given radii with
``sum(radius + 1) = k + 1``, some block differs in no more bits than its radius (Norouzi,
Punjani, Fleet, CVPR 2012, section 2.1). So the same tables serve every *k*, which is a parameter
of each lookup.

==  ============  =======        ==  ============  =======
k   radii         buckets        k   radii         buckets
==  ============  =======        ==  ============  =======
0   0, -, -, -          1        6   1, 1, 1, 0         52
1   0, 0, -, -          2        7   1, 1, 1, 1         68
2   0, 0, 0, -          3        8   2, 1, 1, 1        188
3   0, 0, 0, 0          4        9   2, 2, 1, 1        308
4   1, 0, 0, 0         20        10  2, 2, 2, 1        428
5   1, 1, 0, 0         36        11  2, 2, 2, 2        548
==  ============  =======        ==  ============  =======
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import combinations
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: Largest distance that a lookup supports.
MAX_DISTANCE = 11

_BLOCKS = 4
_BLOCK_BITS = 16
_BLOCK_MASK = (1 << _BLOCK_BITS) - 1
_BUCKETS = 1 << _BLOCK_BITS
_WORD_BYTES = 8
_KEY_BYTES = 4
_KEY_BITS = 8 * _KEY_BYTES
_WORD: np.dtype[np.uint64] = np.dtype("<u8")
_KEY: np.dtype[np.uint32] = np.dtype("<u4")
_BLOCK: np.dtype[np.uint16] = np.dtype("<u2")


def require_distance(distance: int) -> None:
    """Check that a lookup supports a distance.

    :raises ValueError: if it is out of bounds.
    """
    if not 0 <= distance <= MAX_DISTANCE:
        raise ValueError(f"distance must lie between 0 and {MAX_DISTANCE}, got {distance}")


class Candidates(NamedTuple):
    """The stored fingerprints near the one looked up, sorted by distance and then by key.

    :ivar keys: shape ``(n,)``, the keys they are stored under.
    :ivar distances: shape ``(n,)``, Hamming distances, 0 to 11.
    """

    keys: npt.NDArray[np.intp]
    distances: npt.NDArray[np.intp]


#: The result of most lookups.
_NOTHING = Candidates(np.empty(0, np.intp), np.empty(0, np.intp))


class SimhashIndex:
    """An index of fingerprints, each stored under a key that the caller chooses.

    One fingerprint may be stored under several keys. Buckets are flat byte strings of
    8-byte words, which numpy reads in one pass; keys are stored only for block 0's buckets, where
    every fingerprint that was found can be looked up again. The index is never rebuilt, which
    would pause a crawl.

    Each addition makes a new byte string, so a bucket has no spare room. A fingerprint takes 36
    bytes, and with the overhead some 42 at ten million.
    """

    def __init__(self) -> None:
        # The four tables, concatenated.
        self._buckets = [b""] * (_BLOCKS * _BUCKETS)
        self._keys = [b""] * _BUCKETS
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, fingerprint: int, key: int) -> None:
        """Store a fingerprint under a key.

        :param fingerprint: in ``[0, 2**64)``.
        :param key: in ``[0, 2**32)``.
        """
        word, places = fingerprint.to_bytes(_WORD_BYTES, "little"), _places(fingerprint)
        buckets = self._buckets
        for place in places:
            buckets[place] += word
        self._keys[places[0]] += key.to_bytes(_KEY_BYTES, "little")
        self._size += 1

    def extend(self, fingerprints: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint32]) -> None:
        """Store many fingerprints at once, each under its key; both of shape ``(n,)``."""
        if not fingerprints.size:
            return
        for block in range(_BLOCKS):
            values = (fingerprints >> np.uint64(block * _BLOCK_BITS)).astype(np.uint16)
            order = np.argsort(values, kind="stable")
            ends = np.cumsum(np.bincount(values, minlength=_BUCKETS))
            _append_runs(self._buckets, block * _BUCKETS, fingerprints[order].astype(_WORD), ends)
            if block == 0:
                _append_runs(self._keys, 0, keys[order].astype(_KEY), ends)
        self._size += fingerprints.size

    def remove(self, fingerprint: int, key: int) -> None:
        """Remove a fingerprint that was stored under a key.

        :raises KeyError: if this pair is not stored.
        """
        first, *others = _places(fingerprint)
        words, keys = self._buckets[first], self._keys[first]
        is_it = (np.frombuffer(words, _WORD) == fingerprint) & (np.frombuffer(keys, _KEY) == key)
        if not is_it.any():
            raise KeyError((fingerprint, key))
        number = int(is_it.argmax())
        _delete(self._keys, first, number, _KEY_BYTES)
        _delete(self._buckets, first, number, _WORD_BYTES)
        for place in others:
            number = int((np.frombuffer(self._buckets[place], _WORD) == fingerprint).argmax())
            _delete(self._buckets, place, number, _WORD_BYTES)
        self._size -= 1

    def near(self, fingerprint: int, distance: int) -> Candidates:
        """Return all stored fingerprints within ``distance`` bits, 0 to 11.

        :raises ValueError: if the distance is out of bounds.
        """
        require_distance(distance)
        query = np.frombuffer(fingerprint.to_bytes(_WORD_BYTES, "little"), _WORD)
        words = self._probed_words(fingerprint, query, distance)
        found = words[np.bitwise_count(words ^ query) <= distance]
        return self._candidates(found, fingerprint, distance) if found.size else _NOTHING

    def entries(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
        """Return all fingerprints and their keys, in no fixed order; both of shape ``(n,)``."""
        words = np.frombuffer(b"".join(self._buckets[:_BUCKETS]), _WORD).astype(np.uint64)
        keys = np.frombuffer(b"".join(self._keys), _KEY).astype(np.uint32)
        return words, keys

    def _probed_words(
        self, fingerprint: int, query: npt.NDArray[np.uint64], distance: int
    ) -> npt.NDArray[np.uint64]:
        """Return the words of the probed buckets.

        :param query: shape ``(1,)``, the fingerprint.
        """
        if distance < _BLOCKS:
            # All radii are 0. At least two places: itemgetter makes no tuple of a single one.
            places: Iterable[int] = _places(fingerprint)[: max(distance + 1, 2)]
        else:
            blocks, flips = _probing(distance)
            places = (query.view(_BLOCK)[blocks] ^ flips).tolist()
        return np.frombuffer(b"".join(itemgetter(*places)(self._buckets)), _WORD)

    def _candidates(
        self, found: npt.NDArray[np.uint64], fingerprint: int, distance: int
    ) -> Candidates:
        """Return the keys and distances of the fingerprints that were found.

        Each bucket of block 0 that holds some of them is read once, however many it holds: a flood
        of near fingerprints costs one pass over it.
        """
        values = set(found.astype(np.uint16).tolist())
        words = np.frombuffer(b"".join(map(self._buckets.__getitem__, values)), _WORD)
        keys = np.frombuffer(b"".join(map(self._keys.__getitem__, values)), _KEY)
        distances = np.bitwise_count(words ^ np.uint64(fingerprint))
        [near] = (distances <= distance).nonzero()
        if near.size == 1:
            return Candidates(keys[near].astype(np.intp), distances[near].astype(np.intp))
        # Sort keys: the distance in the upper bits, the key in the lower ones.
        ranks = distances[near].astype(np.uint64) << np.uint64(_KEY_BITS) | keys[near]
        ranks.sort()
        return Candidates(
            ranks.astype(_KEY).astype(np.intp), (ranks >> np.uint64(_KEY_BITS)).astype(np.intp)
        )


def _places(fingerprint: int) -> tuple[int, int, int, int]:
    """Return the indices of a fingerprint's buckets, least significant block first."""
    # Unrolled, because every lookup calls this.
    return (
        fingerprint & _BLOCK_MASK,
        fingerprint >> 16 & _BLOCK_MASK | _BUCKETS,
        fingerprint >> 32 & _BLOCK_MASK | 2 * _BUCKETS,
        fingerprint >> 48 | 3 * _BUCKETS,
    )


def _append_runs(
    buckets: list[bytes], first: int, values: npt.NDArray[Any], ends: npt.NDArray[Any]
) -> None:
    """Append to each bucket from ``first`` on its run of values.

    :param ends: index in ``values`` at which each run ends.
    """
    data, start = memoryview(values.data).cast("B"), 0
    for place, end in enumerate((ends * values.itemsize).tolist(), first):
        if end > start:
            buckets[place] = b"".join((buckets[place], data[start:end]))
            start = end


def _delete(buckets: list[bytes], place: int, number: int, width: int) -> None:
    bucket, start = buckets[place], number * width
    buckets[place] = bucket[:start] + bucket[start + width :]


@cache
def probes(distance: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each block, the XOR patterns that lead from the query's value to the buckets."""
    whole, rest = divmod(distance + 1, _BLOCKS)
    radii = [whole if block < rest else whole - 1 for block in range(_BLOCKS)]
    return tuple(
        tuple(
            sum(1 << bit for bit in bits)
            for flips in range(radius + 1)
            for bits in combinations(range(_BLOCK_BITS), flips)
        )
        for radius in radii
    )


@cache
def _probing(distance: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return, for each bucket to probe, its block and an XOR mask; both of shape ``(n,)``.

    The mask turns the block's value in the query into the bucket's index in all four tables.
    """
    patterns = probes(distance)
    blocks = np.repeat(np.arange(_BLOCKS), list(map(len, patterns)))
    return blocks, np.concatenate(patterns).astype(np.intp) | blocks * _BUCKETS
