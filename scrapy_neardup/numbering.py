"""Numbers for tokens that are given by their places: all of a page at once, and no string made."""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt
import xxhash

from .arrays import up_to_the_next, with_more
from .tokens import Places, Spans

#: Longer tokens are hashed one by one; there are few.
_LONGEST = 64

_FIRST_BITS = 12
#: For each number so many slots at least: nearly every token is found where it is looked for first.
_SLOTS_FOR_ONE = 8
_NOBODY = -1

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]


class SpanNumbers:
    """Numbers tokens in the order in which they come, from 0 on.

    A token is known by a key of 64 bits, a multilinear hash of its characters: each is multiplied
    by a random number of its place, and all are added (Carter, Wegman 1979; Lemire, Kaser,
    "Strongly universal string hashing is fast", 2014). The numbers are drawn anew for each object
    and told to nobody, so whoever writes pages cannot know which two tokens would have one key: for
    any two the chance is one in 2**44 at most, and mostly one in 2**60.
    """

    def __init__(self) -> None:
        drawn = secrets.token_bytes(8 * (2 * _LONGEST + 1))
        self._of_place, self._of_length = np.split(np.frombuffer(drawn[8:], np.uint64), 2)
        self._seed = int.from_bytes(drawn[:8], "little")
        self._count = 0
        self._key_of = np.zeros(1, np.uint64)
        self._make_room(_FIRST_BITS)

    def __len__(self) -> int:
        return self._count

    def of(self, spans: Spans) -> tuple[Numbers, list[str]]:
        """The number of each token, and the tokens that are new, in the order of their numbers."""
        keys = self._keys(spans)
        numbers = self._find(keys)
        unknown = np.flatnonzero(numbers == _NOBODY)
        if not unknown.size:
            return numbers, []
        of_unknown, new, places = keys[unknown].tolist(), dict[int, int](), list[int]()
        for key, place in zip(of_unknown, unknown.tolist(), strict=True):
            if key not in new:
                new[key] = self._count + len(new)
                places.append(place)
        numbers[unknown] = list(map(new.__getitem__, of_unknown))
        self._add(np.fromiter(new, np.uint64, len(new)))
        return numbers, spans.tokens(np.array(places))

    def _keys(self, spans: Spans) -> Keys:
        starts, lengths = spans.starts, spans.lengths
        if not starts.size:
            return np.empty(0, np.uint64)
        # Of each character its place in its token; what stands between tokens is not asked for.
        first, end = int(starts[0]), int(starts[-1] + lengths[-1])
        places = np.arange(first, end)
        places -= starts.repeat(up_to_the_next(starts, end))
        sums = np.zeros(end - first + 1, np.uint64)
        np.multiply(self._of_place.take(places, mode="clip"), spans.codes[first:end], out=sums[1:])
        np.add.accumulate(sums, out=sums)
        begins = starts - first
        keys: Keys = sums.take(begins + lengths)
        keys -= sums.take(begins)
        keys += self._of_length.take(lengths, mode="clip")
        for number in np.flatnonzero(lengths >= _LONGEST).tolist():
            start = int(starts[number])
            token = spans.text[start : start + int(lengths[number])]
            keys[number] = xxhash.xxh3_64_intdigest(
                token.encode("utf-8", "surrogatepass"), self._seed
            )
        return keys

    def _find(self, keys: Keys) -> Numbers:
        """The number of each key; :data:`_NOBODY` of one that has none."""
        slots = self._slots_of(keys)
        numbers = self._numbers_at.take(slots)
        # An empty slot is clipped to the first number, whose key never comes to an empty one.
        going_on = np.flatnonzero(self._key_of.take(numbers, mode="clip") != keys)
        while going_on.size:
            # Behind what stands there, if anything does.
            going_on = going_on[numbers[going_on] != _NOBODY]
            slots[going_on] = behind = self._behind(slots[going_on])
            numbers[going_on] = found = self._numbers_at[behind]
            going_on = going_on[self._key_of.take(found, mode="clip") != keys[going_on]]
        return numbers

    def _add(self, keys: Keys) -> None:
        """Number keys that are not there; they are distinct."""
        first, self._count = self._count, self._count + keys.size
        self._key_of = with_more(self._key_of, first, keys)
        if self._count * _SLOTS_FOR_ONE > self._numbers_at.size:
            self._make_room((self._count * _SLOTS_FOR_ONE).bit_length())
            first = 0
        numbers = np.arange(first, self._count, dtype=np.int32)
        slots = self._slots_of(self._key_of[first : self._count])
        while numbers.size:
            # Of several that come to a free slot the last one gets it.
            free = self._numbers_at[slots] == _NOBODY
            self._numbers_at[slots[free]] = numbers[free]
            left = self._numbers_at[slots] != numbers
            slots, numbers = self._behind(slots[left]), numbers[left]

    def _make_room(self, bits: int) -> None:
        """Empty slots, ``2**bits``: open addressing, linear (Knuth, volume 3, section 6.4)."""
        self._shift = np.uint64(64 - bits)
        self._numbers_at = np.full(1 << bits, _NOBODY, np.int32)

    def _slots_of(self, keys: Keys) -> Places:
        """Where each key is looked for first."""
        return (keys >> self._shift).astype(np.intp)

    def _behind(self, slots: Places) -> Places:
        return (slots + 1) & (self._numbers_at.size - 1)
