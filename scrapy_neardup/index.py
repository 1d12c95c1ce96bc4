"""Which stored fingerprints lie within Hamming distance *k*? Exact for every *k* up to 11.

Four tables, one for each 16-bit block of the fingerprint; a bucket holds the fingerprints
that share the block's value. For *k* = 3, of four blocks at least one is equal (Manku,
Jain, Das Sarma, WWW 2007, section 3). For a larger *k* a block may differ as well: if two
fingerprints differ in at most *k* bits and the blocks are given radii with
``sum(radius + 1) = k + 1``, some block differs in no more bits than its radius (Norouzi,
Punjani, Fleet, CVPR 2012, section 2.1). So the same tables serve every *k*, which is asked
with each lookup.

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

from functools import cache
from itertools import combinations
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: Largest distance that can be asked for.
MAX_DISTANCE = 11

_BLOCKS = 4
_BLOCK_BITS = 16
_BLOCK_MASK = (1 << _BLOCK_BITS) - 1
_BUCKETS = 1 << _BLOCK_BITS
_WORD_BYTES = 8
_KEY_BYTES = 4
_KEY_BITS = 8 * _KEY_BYTES
_KEY_MASK = (1 << _KEY_BITS) - 1
#: Bytes by which a bucket's room grows; smaller ones have no room to spare.
_STEP = 32
_WORD: np.dtype[np.uint64] = np.dtype("<u8")
_KEY: np.dtype[np.uint32] = np.dtype("<u4")


#: Words or keys one after the other; all that have been empty so far are one.
_Bucket = bytes | bytearray


class Candidates(NamedTuple):
    """Stored fingerprints near the one asked for, nearest first, of equals the smallest key first.

    :ivar keys: shape ``(n,)``, the keys they are stored under.
    :ivar distances: shape ``(n,)``, Hamming distances, 0 to 11.
    """

    keys: npt.NDArray[np.intp]
    distances: npt.NDArray[np.intp]


#: What most lookups find.
_NOTHING = Candidates(np.empty(0, np.intp), np.empty(0, np.intp))


class SimhashIndex:
    """Fingerprints, each with a key of the caller's.

    One fingerprint may be stored under several keys. Buckets are flat byte strings of
    8-byte words, read by one pass of numpy; keys stand only beside block 0's buckets, where
    a fingerprint that was found can always be found again. There is no rebuilding that would
    pause a crawl.

    A bucket's room grows by four words. Left to itself it would grow by an eighth, and leave holes
    behind that are too small for the others. So a fingerprint takes 36 bytes, and with all else
    some 46 where there are ten million.
    """

    def __init__(self) -> None:
        self._tables: list[list[_Bucket]] = [[b""] * _BUCKETS for _ in range(_BLOCKS)]
        self._keys: list[_Bucket] = [b""] * _BUCKETS
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, fingerprint: int, key: int) -> None:
        """Store a fingerprint under a key.

        :param fingerprint: in ``[0, 2**64)``.
        :param key: in ``[0, 2**32)``.
        """
        word, values = fingerprint.to_bytes(_WORD_BYTES, "little"), _block_values(fingerprint)
        for table, value in zip(self._tables, values, strict=True):
            _append(table, value, word)
        _append(self._keys, values[0], key.to_bytes(_KEY_BYTES, "little"))
        self._size += 1

    def extend(self, fingerprints: npt.NDArray[np.uint64], keys: npt.NDArray[np.uint32]) -> None:
        """Store many fingerprints at once, each under its key; both of shape ``(n,)``."""
        if not fingerprints.size:
            return
        for block, table in enumerate(self._tables):
            values = (fingerprints >> np.uint64(block * _BLOCK_BITS)).astype(np.uint16)
            order = np.argsort(values, kind="stable")
            ends = np.cumsum(np.bincount(values, minlength=_BUCKETS))
            _append_runs(table, fingerprints[order].astype(_WORD), ends)
            if block == 0:
                _append_runs(self._keys, keys[order].astype(_KEY), ends)
        self._size += fingerprints.size

    def remove(self, fingerprint: int, key: int) -> None:
        """Take out what was stored under exactly this pair.

        :raises KeyError: when it is not there.
        """
        values = _block_values(fingerprint)
        words, keys = self._tables[0][values[0]], self._keys[values[0]]
        is_it = (np.frombuffer(words, _WORD) == fingerprint) & (np.frombuffer(keys, _KEY) == key)
        if not is_it.any():
            raise KeyError((fingerprint, key))
        place = int(is_it.argmax())
        _delete(self._keys, values[0], place, _KEY_BYTES)
        _delete(self._tables[0], values[0], place, _WORD_BYTES)
        for table, value in zip(self._tables[1:], values[1:], strict=True):
            place = int((np.frombuffer(table[value], _WORD) == fingerprint).argmax())
            _delete(table, value, place, _WORD_BYTES)
        self._size -= 1

    def near(self, fingerprint: int, distance: int) -> Candidates:
        """All that is stored within ``distance`` bits, 0 to 11.

        :raises ValueError: when the distance is out of bounds.
        """
        if not 0 <= distance <= MAX_DISTANCE:
            raise ValueError(f"distance must lie between 0 and {MAX_DISTANCE}, got {distance}")
        words = np.frombuffer(b"".join(self._probed(_block_values(fingerprint), distance)), _WORD)
        found = words[np.bitwise_count(words ^ np.uint64(fingerprint)) <= distance]
        return self._with_keys(found, fingerprint, distance) if found.size else _NOTHING

    def entries(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
        """All fingerprints and their keys, in no order; both of shape ``(n,)``."""
        words = np.frombuffer(b"".join(self._tables[0]), _WORD).astype(np.uint64)
        keys = np.frombuffer(b"".join(self._keys), _KEY).astype(np.uint32)
        return words, keys

    def _probed(self, values: list[int], distance: int) -> list[_Bucket]:
        """The buckets to look into."""
        if distance < _BLOCKS:
            # Without a flip, and of no more blocks than needed.
            return list(map(getitem, self._tables[: distance + 1], values))
        buckets: list[_Bucket] = []
        for table, value, flips in zip(self._tables, values, probes(distance), strict=True):
            buckets += map(table.__getitem__, map(value.__xor__, flips))
        return buckets

    def _with_keys(
        self, found: npt.NDArray[np.uint64], fingerprint: int, distance: int
    ) -> Candidates:
        """What was found, with its keys.

        The buckets of block 0 that hold it are read once each, however many fingerprints of a
        bucket were found: a flood of near fingerprints costs one pass over it.
        """
        values = np.unique(found.astype(np.uint16)).tolist()
        words = np.frombuffer(b"".join(map(self._tables[0].__getitem__, values)), _WORD)
        keys = np.frombuffer(b"".join(map(self._keys.__getitem__, values)), _KEY)
        distances = np.bitwise_count(words ^ np.uint64(fingerprint))
        near = np.flatnonzero(distances <= distance)
        # Distance above, key below: one number, by which they are sorted.
        ranks = distances[near].astype(np.uint64) << np.uint64(_KEY_BITS) | keys[near]
        ranks.sort()
        return Candidates(
            (ranks & np.uint64(_KEY_MASK)).astype(np.intp),
            (ranks >> np.uint64(_KEY_BITS)).astype(np.intp),
        )


def _block_values(fingerprint: int) -> list[int]:
    """The four 16-bit blocks, least significant first."""
    # Written out, because each lookup asks for them.
    return [
        fingerprint & _BLOCK_MASK,
        fingerprint >> 16 & _BLOCK_MASK,
        fingerprint >> 32 & _BLOCK_MASK,
        fingerprint >> 48,
    ]


def _append(table: list[_Bucket], value: int, data: bytes) -> None:
    bucket = table[value]
    size = len(bucket)
    if size < _STEP or not size % _STEP:
        # It has no room left; left to itself, it would take an eighth more than it needs.
        bucket = table[value] = _with_room(bucket, _STEP if size >= _STEP else len(data))
    bucket += data


def _with_room(bucket: _Bucket, room: int) -> bytearray:
    """The same in a place of its own, where so many bytes more fit without another."""
    roomy = bytearray(len(bucket) + room)
    roomy[: len(bucket)] = bucket
    del roomy[len(bucket) :]
    return roomy


def _append_runs(table: list[_Bucket], values: npt.NDArray[Any], ends: npt.NDArray[Any]) -> None:
    """To each bucket its run of values, which ends where ``ends`` says."""
    data, start = memoryview(values.data).cast("B"), 0
    for place, end in enumerate((ends * values.itemsize).tolist()):
        if end > start:
            table[place] = bytearray().join((table[place], data[start:end]))
            start = end


def _delete(table: list[_Bucket], value: int, place: int, width: int) -> None:
    bucket, start = table[value], place * width
    table[value] = bucket[:start] + bucket[start + width :]


@cache
def probes(distance: int) -> tuple[tuple[int, ...], ...]:
    """For each block, the bit patterns by which a bucket's value may differ from the query's."""
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
