"""Assigns ids to the tokens of a page by their positions, all at once, without making strings."""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt
import xxhash

from .._util.arrays import append_values
from .characters import CodePoints
from .tokenization import Places, Spans

#: Longer tokens are hashed one by one; a page has at most a few of them.
_MAX_ROLLED = 21

_BITS = 64
_ROTATION_MASK = _BITS - 1
#: Sizes of the table of random numbers for code points within a plane, and of that for planes.
_IN_PLANE, _PLANES = 1 << 16, 17
#: Characters that are rotated at once; a multiple of 64, so that each block rotates alike.
_BLOCK = 64 * _BITS
_ROTATIONS = np.arange(_BLOCK, dtype=np.uint64) % _BITS
_COUNTER_ROTATIONS = -_ROTATIONS % _BITS

#: Least number of slots for each id, so that nearly all ids have a slot of their own.
_SLOTS_PER_ID = 8
_MIN_BITS = 12
_FREE = -1

Keys = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.int32]


class TokenIdTable:
    """Assigns consecutive ids to tokens, from 0 on, in the order in which they are first seen.

    A token is identified by a 64-bit key, a cyclic polynomial of its characters: each character
    has a random number, which is rotated by the character's offset in the token, and the numbers
    are XORed (Cohen 1997, "Recursive hashing functions for n-grams"; Lemire, Kaser 2010,
    "Recursive n-gram hashing is pairwise independent, at best"). The key of any stretch of a text
    follows from the keys of the two prefixes that end at its borders, so each character of a text
    is hashed once.

    The random numbers are drawn anew for each object and kept secret, so authors of pages cannot
    construct collisions: the probability for any two tokens is at most 2**-44, mostly 2**-60.

    Ids are looked up by key in an array of slots, all at once. A key's slot is given by the highest
    bits of its product with a random odd number (Dietzfelbinger et al. 1997, "A reliable randomized
    algorithm for the closest-pair problem"). Ids whose slot was taken are in a dictionary.
    """

    def __init__(self) -> None:
        self._random = _drawn(_IN_PLANE)
        self._random_of_planes = _drawn(_PLANES)
        # A character must have the same number in texts of 16-bit and of 32-bit code points.
        self._random_of_planes[0] = 0
        self._seed = secrets.randbits(_BITS)
        self._count = 0
        # A random key stands for id 0 until it is assigned.
        self._key_of = _drawn(1)
        self._factor = np.uint64(secrets.randbits(_BITS) | 1)
        self._slots = np.full(1 << _MIN_BITS, _FREE, np.int32)
        self._without_slot: dict[int, int] = {}

    def __len__(self) -> int:
        return self._count

    def of(self, spans: Spans) -> tuple[Ids, list[str]]:
        """Return the id of each token, and the tokens that are new in the order of their ids."""
        keys = self._keys(spans)
        ids: Ids = self._slots.take(self._slots_of(keys))
        # A free slot is clipped to id 0, whose key never leads to a free slot.
        left = (self._key_of.take(ids, mode="clip") != keys).nonzero()[0]
        new, places, found = dict[int, int](), list[int](), list[int]()
        for place, key in zip(left.tolist(), keys[left].tolist(), strict=True):
            number = self._without_slot.get(key)
            if number is None:
                number = new.setdefault(key, self._count + len(new))
                if len(places) < len(new):
                    places.append(place)
            found.append(number)
        ids[left] = found
        if not new:
            return ids, []
        self._add(np.fromiter(new, np.uint64, len(new)))
        return ids, spans.tokens(np.array(places))

    def _keys(self, spans: Spans) -> Keys:
        starts, lengths = spans.starts, spans.lengths
        if not starts.size:
            return np.empty(0, np.uint64)
        first, end = int(starts[0]), int(starts[-1] + lengths[-1])
        prefixes = self._prefix_keys(spans.codes[first:end])
        begins = starts - first
        keys: Keys = prefixes.take(begins + lengths)
        keys ^= prefixes.take(begins)
        # Rotate back by the token's offset in the text.
        rotated = keys << (-begins & _ROTATION_MASK).view(np.uint64)
        keys >>= (begins & _ROTATION_MASK).view(np.uint64)
        keys |= rotated
        for number in (lengths > _MAX_ROLLED).nonzero()[0].tolist():
            start = int(starts[number])
            token = spans.text[start : start + int(lengths[number])]
            keys[number] = xxhash.xxh3_64_intdigest(
                token.encode("utf-8", "surrogatepass"), self._seed
            )
        return keys

    def _prefix_keys(self, codes: CodePoints) -> Keys:
        """Return the keys of all prefixes of a text, the empty one included."""
        prefixes = np.zeros(1 + codes.size, np.uint64)
        terms = prefixes[1:]
        if codes.itemsize == 2:
            self._random.take(codes, mode="clip", out=terms)
        else:
            self._random.take(codes & _IN_PLANE - 1, mode="clip", out=terms)
            terms ^= self._random_of_planes.take(codes >> 16)
        for start in range(0, codes.size, _BLOCK):
            part = terms[start : start + _BLOCK]
            overflow = part >> _COUNTER_ROTATIONS[: part.size]
            part <<= _ROTATIONS[: part.size]
            part |= overflow
        np.bitwise_xor.accumulate(terms, out=terms)
        return prefixes

    def _add(self, keys: Keys) -> None:
        """Assign ids to distinct new keys."""
        first, self._count = self._count, self._count + keys.size
        self._key_of = append_values(self._key_of, first, keys)
        if self._count * _SLOTS_PER_ID > self._slots.size:
            size = 1 << (self._count * _SLOTS_PER_ID).bit_length()
            self._slots, self._without_slot = np.full(size, _FREE, np.int32), {}
            first = 0
        # Descending, so that the least of several ids gets a contested slot: words that are seen
        # early are frequent ones.
        ids: Ids = np.arange(self._count - 1, first - 1, -1, dtype=np.int32)
        slots = self._slots_of(self._key_of.take(ids))
        is_free = self._slots.take(slots) == _FREE
        self._slots[slots[is_free]] = ids[is_free]
        left = ids[self._slots.take(slots) != ids]
        self._without_slot.update(zip(self._key_of.take(left).tolist(), left.tolist(), strict=True))

    def _slots_of(self, keys: Keys) -> Places:
        shift = np.uint64(_BITS + 1 - self._slots.size.bit_length())
        return (keys * self._factor >> shift).view(np.intp)


def _drawn(count: int) -> Keys:
    """Return cryptographically random numbers, shape ``(count,)``."""
    return np.frombuffer(bytearray(secrets.token_bytes(_BITS // 8 * count)), np.uint64)
