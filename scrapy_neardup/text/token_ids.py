"""Numbers for tokens that are given by their places: all of a page at once, and no string made."""

from __future__ import annotations

import secrets

import numpy as np
import numpy.typing as npt
import xxhash

from .._util.arrays import append_values
from .characters import LAST_OF_BMP, CodePoints
from .tokenization import Places, Spans

#: Longer tokens are hashed one by one; a page has one of them, if any.
_LONGEST = 21

_BITS = 64
_LAST_BIT = _BITS - 1
#: A table for the basic plane's characters, another one for the planes.
_IN_PLANE, _PLANES = LAST_OF_BMP + 1, 17
#: Characters that are turned at once; by how much, that is the same for as many after them.
_TOGETHER = 64 * _BITS
_TURNS = np.arange(_TOGETHER, dtype=np.uint64) % _BITS
_REST_OF_TURNS = -_TURNS % _BITS

#: For each number so many slots of the first table at least: nearly every token is found there.
_SLOTS_FOR_ONE = 8
_FIRST_BITS, _FEWEST_BITS = 12, 6
#: Each further table has an eighth of the slots, for a sixteenth of the numbers or less.
_BITS_FEWER = 3
_NOBODY = -1

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]


class TokenIdTable:
    """Numbers tokens in the order in which they come, from 0 on.

    A token is known by a key of 64 bits, a cyclic polynomial of its characters: each has a random
    number, turned by as many bits as it stands behind the token's first one, and of all the
    exclusive or is taken (Cohen 1997, "Recursive hashing functions for n-grams"; Lemire, Kaser
    2010, "Recursive n-gram hashing is pairwise independent, at best"). What stands before two
    places in a text then gives the key of what stands between them, so nothing need be known of a
    character but where it stands in the text.

    The numbers are drawn anew for each object and told to nobody, so whoever writes pages cannot
    know which two tokens would have one key: for any two the chance is one in 2**44 at most, and
    mostly one in 2**60.

    Numbers are found by keys in tables, one smaller than the other: what has no free place in one
    of them is in a later one (Broder, Karlin 1990, "Multilevel adaptive hashing").
    """

    def __init__(self) -> None:
        self._marks = _drawn(_IN_PLANE)
        self._marks_of_planes = _drawn(_PLANES)
        # A character has one mark, however wide the text that it stands in.
        self._marks_of_planes[0] = 0
        self._seed = secrets.randbits(_BITS)
        self._count = 0
        self._key_of = np.empty(0, np.uint64)
        self._tables: list[_Table] = []

    def __len__(self) -> int:
        return self._count

    def of(self, spans: Spans) -> tuple[Numbers, list[str]]:
        """The number of each token, and the tokens that are new, in the order of their numbers."""
        keys = self._keys(spans)
        numbers, unknown = self._find(keys)
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
        first, end = int(starts[0]), int(starts[-1] + lengths[-1])
        before = self._before(spans.codes[first:end])
        begins = starts - first
        keys: Keys = before.take(begins + lengths)
        keys ^= before.take(begins)
        # Turned back, to where the token would stand first.
        turned = keys << (-begins & _LAST_BIT).view(np.uint64)
        keys >>= (begins & _LAST_BIT).view(np.uint64)
        keys |= turned
        for number in (lengths > _LONGEST).nonzero()[0].tolist():
            start = int(starts[number])
            token = spans.text[start : start + int(lengths[number])]
            keys[number] = xxhash.xxh3_64_intdigest(
                token.encode("utf-8", "surrogatepass"), self._seed
            )
        return keys

    def _before(self, codes: CodePoints) -> Keys:
        """Of what stands before each place, and before the end, the key that it would have."""
        before = np.zeros(1 + codes.size, np.uint64)
        marks = before[1:]
        if codes.itemsize == 2:
            self._marks.take(codes, mode="clip", out=marks)
        else:
            self._marks.take(codes & LAST_OF_BMP, mode="clip", out=marks)
            marks ^= self._marks_of_planes.take(codes >> 16)
        for start in range(0, codes.size, _TOGETHER):
            part = marks[start : start + _TOGETHER]
            over_the_end = part >> _REST_OF_TURNS[: part.size]
            part <<= _TURNS[: part.size]
            part |= over_the_end
        np.bitwise_xor.accumulate(marks, out=marks)
        return before

    def _find(self, keys: Keys) -> tuple[Numbers, Places]:
        """The number of each key, and the places of those that have none."""
        if not self._tables:
            return np.empty(keys.size, np.int32), np.arange(keys.size)
        first, *others = self._tables
        numbers = first.at(keys)
        # A free slot is clipped to the first number, whose key never comes to a free one.
        left = (self._key_of.take(numbers, mode="clip") != keys).nonzero()[0]
        for table in others:
            if not left.size:
                break
            of_left = keys.take(left)
            numbers[left] = found = table.at(of_left)
            left = left[self._key_of.take(found, mode="clip") != of_left]
        return numbers, left

    def _add(self, keys: Keys) -> None:
        """Number keys that are not there; they are distinct."""
        first, self._count = self._count, self._count + keys.size
        self._key_of = append_values(self._key_of, first, keys)
        if not self._tables or self._count * _SLOTS_FOR_ONE > self._tables[0].size:
            bits = (self._count * _SLOTS_FOR_ONE).bit_length()
            self._tables = [_Table(max(bits, _FIRST_BITS))]
            first = 0
        # From the last one on, so that of several that come to one slot the first one gets it:
        # words that are met early are those that come often.
        numbers: Numbers = np.arange(self._count - 1, first - 1, -1, dtype=np.int32)
        depth = 0
        while numbers.size:
            if depth == len(self._tables):
                bits = self._tables[-1].bits - _BITS_FEWER
                self._tables.append(_Table(max(bits, _FEWEST_BITS)))
            numbers = self._tables[depth].put(numbers, self._key_of.take(numbers))
            depth += 1


class _Table:
    """Slots for numbers, one for all keys that come to it.

    Which one that is is told by the highest bits of a product with a random odd number
    (Dietzfelbinger et al. 1997, "A reliable randomized algorithm for the closest-pair problem").

    :param bits: ``2**bits`` slots.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._factor = np.uint64(secrets.randbits(_BITS) | 1)
        self._shift = np.uint64(_BITS - bits)
        self._numbers = np.full(1 << bits, _NOBODY, np.int32)

    @property
    def size(self) -> int:
        return self._numbers.size

    def at(self, keys: Keys) -> Numbers:
        """The number in each key's slot, another one's maybe; :data:`_NOBODY` of a free slot."""
        return self._numbers.take(self._slots_of(keys))

    def put(self, numbers: Numbers, keys: Keys) -> Numbers:
        """Put numbers into free slots, and return those that got none.

        Of several that come to a free slot the last one gets it.
        """
        slots = self._slots_of(keys)
        free = self._numbers.take(slots) == _NOBODY
        self._numbers[slots[free]] = numbers[free]
        left: Numbers = numbers[self._numbers.take(slots) != numbers]
        return left

    def _slots_of(self, keys: Keys) -> Places:
        return (keys * self._factor >> self._shift).view(np.intp)


def _drawn(count: int) -> Keys:
    """Random numbers that nobody knows, shape ``(count,)``."""
    return np.frombuffer(bytearray(secrets.token_bytes(_BITS // 8 * count)), np.uint64)
