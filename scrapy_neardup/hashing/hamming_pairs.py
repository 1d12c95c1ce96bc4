"""Which two of many fingerprints lie within Hamming distance *k*? All such pairs, exactly.

The 64 bits are cut into blocks of nearly equal width. Two fingerprints that differ in at most
*k* bits are equal in all but *k* of *B* blocks at least, so for each choice of *B* - *k* blocks
the fingerprints that are equal in those are compared with each other (Manku, Jain, Das Sarma,
WWW 2007, section 3). A pair that several choices find is told by the first of them alone. More
blocks make more choices, with fewer comparisons each: what takes the least time is worked out
from how many fingerprints there are, and how many of them are near each other.

::

    5 blocks, 2 of them chosen:    block   4             3             2             1     0
    chosen ones lifted to the top          2      4      | 3             1             0

To lift the chosen blocks to the top of each word and sort the words puts those to compare side
by side. Distances stay what they are when bits change places, so nothing has to be carried along:
the few words that are found are put back and looked up. Each choice begins with parting the words
by its first block; what follows is done for some thousand words at a time, which stay in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._util.arrays import borders_of_runs
from .simhash_index import MAX_DISTANCE

_Words = npt.NDArray[np.uint64]
_Places = npt.NDArray[np.intp]

#: Pairs that are handed out together, at most.
MAX_BATCH = 1 << 16

_WORD_BITS = 64
#: numpy sorts short integers by radix.
_KEY_BITS = 16
#: Words that are lifted and compared together; and, of those, the ones that are sorted together.
#: There are more where more are equal in a block. The larger is a multiple of the smaller.
_CHUNK = 1 << 15
_RUN = 1 << 11
#: When no more than one word in so many has a partner left, only those are looked at.
_FEW = 4
#: Blocks that may be chosen, at most, unless more are asked for.
_MOST_CHOSEN = 5
#: What takes how long, in nanoseconds a word: to part the words by a block, to lift and to sort
#: them, to compare each with another, and to see to a pair that was found.
_PARTING, _SORTING, _COMPARING, _FINDING = 45.0, 35.0, 1.6, 40.0
#: Words of which it is counted how many are near each other.
_SAMPLE = 1024


class NearPairs(NamedTuple):
    """Some of the pairs, in no order that means anything.

    :ivar first: shape ``(n,)``, the place of one fingerprint of each pair.
    :ivar second: shape ``(n,)``, the place of the other, always the greater one.
    :ivar distances: shape ``(n,)``, their Hamming distances, 0 to 11.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    distances: npt.NDArray[np.uint8]


def near_pairs(
    fingerprints: npt.NDArray[np.uint64], distance: int, blocks: int | None = None
) -> Iterator[NearPairs]:
    """Every pair of fingerprints within a distance, each once.

    :param fingerprints: shape ``(n,)``, in any order, equal ones included; below 2**32 of them.
    :param distance: 0 to 11.
    :param blocks: how many the bits are cut into, from ``distance`` (each is then compared with
        each) to 64; changes nothing but the time it takes, and is found out unless given.
    :returns: batches of at most :data:`MAX_BATCH` pairs. The same fingerprints give the same
        batches. Besides them some 40 bytes a fingerprint are held.
    :raises ValueError: when the distance or the number of blocks is out of bounds.
    """
    if not 0 <= distance <= MAX_DISTANCE:
        raise ValueError(f"distance must lie between 0 and {MAX_DISTANCE}, got {distance}")
    if blocks is not None and not distance <= blocks <= _WORD_BITS:
        raise ValueError(f"blocks must lie between {distance} and {_WORD_BITS}, got {blocks}")
    return _all_pairs(fingerprints, distance, blocks)


def _all_pairs(fingerprints: _Words, distance: int, blocks: int | None) -> Iterator[NearPairs]:
    distinct = _Distinct.of(fingerprints)
    yield from distinct.equal_pairs()
    if distance == 0 or distinct.words.size < 2:
        return
    if blocks is None:
        blocks = _number_of_blocks(distinct.words, distance)
    for a, b in _batches(_near_words(distinct.words, _Blocks(blocks), distance)):
        yield from distinct.pairs(a, b)


@dataclass(frozen=True)
class _Distinct:
    """Distinct fingerprints, and where each of them stands.

    :ivar words: ascending.
    :ivar order: places, by fingerprint and then by place.
    :ivar starts: where in ``order`` the places of each word begin, and the end of the last.
    """

    words: _Words
    order: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, fingerprints: _Words) -> _Distinct:
        order, words = _sorted_order(fingerprints)
        starts = borders_of_runs(words).astype(np.uint32)
        if starts.size <= words.size:
            words = words[starts[:-1]]
        return cls(words, order, starts)

    def equal_pairs(self) -> Iterator[NearPairs]:
        """All pairs of equal fingerprints."""
        several = np.flatnonzero(np.diff(self.starts) > 1)
        begins, counts = self._entries(several)
        # Each place makes a pair with those of its word that come after it.
        entries = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        later = np.repeat(begins + counts - 1, counts) - entries
        for row, nth in _spread(later):
            first = entries[row]
            yield self._found(first, first + 1 + nth, np.zeros(row.size, np.uint8))

    def pairs(self, a: _Words, b: _Words) -> Iterator[NearPairs]:
        """All pairs of a place of one word with a place of the other, for each pair of words."""
        distances = np.bitwise_count(a ^ b)
        begins_a, counts_a = self._entries(np.searchsorted(self.words, a))
        begins_b, counts_b = self._entries(np.searchsorted(self.words, b))
        for row, nth in _spread(counts_a * counts_b):
            nth_a, nth_b = np.divmod(nth, counts_b[row])
            yield self._found(begins_a[row] + nth_a, begins_b[row] + nth_b, distances[row])

    def _entries(self, ranks: _Places) -> tuple[_Places, _Places]:
        """Where in ``order`` the places of words begin, and how many each has."""
        begins = self.starts[ranks].astype(np.intp)
        return begins, self.starts[ranks + 1] - begins

    def _found(
        self, entries: _Places, others: _Places, distances: npt.NDArray[np.uint8]
    ) -> NearPairs:
        places, other_places = (self.order[e].astype(np.intp) for e in (entries, others))
        return NearPairs(
            np.minimum(places, other_places), np.maximum(places, other_places), distances
        )


def _sorted_order(words: _Words) -> tuple[npt.NDArray[np.uint32], _Words]:
    """Places in the order of their words, of equal ones by place; and the words in that order.

    Upper bits of a word and the place below them make one number, and numbers are sorted several
    times as fast as places. Words that are equal in the upper bits are put right afterwards.
    """
    place_bits = np.uint64(max(1, int(words.size - 1).bit_length()))
    keys = words >> place_bits
    keys <<= place_bits
    keys |= np.arange(words.size, dtype=np.uint64)
    keys.sort()
    keys &= (np.uint64(1) << place_bits) - np.uint64(1)
    order = keys.astype(np.uint32)
    ordered = np.take(words, order, out=keys, mode="clip")
    begins_alike = ordered[1:] ^ ordered[:-1] < np.uint64(1) << place_bits
    tied = np.flatnonzero(np.append(begins_alike, False) | np.append(False, begins_alike))
    right = tied[np.argsort(ordered[tied], kind="stable")]
    order[tied], ordered[tied] = order[right], ordered[right]
    return order, ordered


def _spread(counts: _Places) -> Iterator[tuple[_Places, _Places]]:
    """Each row as often as its count says, with 0, 1, 2 … beside it; a batch at a time."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, MAX_BATCH):
        numbers = np.arange(start, min(start + MAX_BATCH, total))
        row = np.searchsorted(ends, numbers, "right")
        yield row, numbers - (ends - counts)[row]


def _batches(found: Iterator[tuple[_Words, _Words]]) -> Iterator[tuple[_Words, _Words]]:
    """Pairs of words, many at a time."""
    waiting: list[tuple[_Words, _Words]] = []
    size = 0
    for pair in found:
        waiting.append(pair)
        size += pair[0].size
        if size >= MAX_BATCH:
            yield _joined(waiting)
            waiting, size = [], 0
    if waiting:
        yield _joined(waiting)


def _joined(pairs: list[tuple[_Words, _Words]]) -> tuple[_Words, _Words]:
    a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return a, b


def _number_of_blocks(words: _Words, distance: int) -> int:
    """With how many blocks all pairs are found in the least time.

    Besides those that are near each other, words are taken to be spread evenly.
    """
    near = _near_share(words, distance)

    def cost(chosen: int) -> float:
        n_blocks = distance + chosen
        alike = words.size / float(1 << _WORD_BITS * chosen // n_blocks)
        compared = alike / 2 * _COMPARING + near * words.size / 2 * (_COMPARING + _FINDING)
        parted = (distance + 1) * _PARTING if chosen else 0
        return parted + comb(n_blocks, chosen) * (_SORTING + compared)

    return distance + min(range(_MOST_CHOSEN + 1), key=cost)


def _near_share(words: _Words, distance: int) -> float:
    """How many of all pairs are within a distance, as a share; from a sample."""
    drawn = np.random.default_rng(0).integers(0, words.size, min(words.size, _SAMPLE))
    sample = np.unique(words[drawn])
    near = np.bitwise_count(sample[:, None] ^ sample) <= distance
    n_pairs = sample.size * (sample.size - 1)
    return float((np.count_nonzero(near) - sample.size) / max(1, n_pairs))


class _Blocks:
    """The bits of a word, cut into blocks; block 0 is the lowest."""

    def __init__(self, number: int) -> None:
        edges = [_WORD_BITS * block // number for block in range(number + 1)]
        self.number = number
        self.starts = edges[:-1]
        self.widths = [end - start for start, end in pairwise(edges)]

    def layout(self, chosen: tuple[int, ...]) -> list[int]:
        """Blocks from the top down when these have been lifted."""
        return [*chosen, *(b for b in reversed(range(self.number)) if b not in chosen)]

    def lifted(self, words: _Words, chosen: tuple[int, ...], block: int) -> _Words:
        """Lift one more block to the top, just below those that have been chosen."""
        layout = self.layout(chosen)
        place = layout.index(block)
        width = self.widths[block]
        passed = sum(self.widths[b] for b in layout[len(chosen) : place])
        low = _WORD_BITS - sum(self.widths[b] for b in layout[: place + 1])
        if not passed:
            return words
        up, down = np.uint64(passed), np.uint64(width)
        moved = words << up
        moved &= np.uint64(_ones(width) << low + passed)
        pushed = words >> down
        pushed &= np.uint64(_ones(passed) << low)
        moved |= pushed
        still = words & np.uint64(_ones(_WORD_BITS) ^ _ones(width + passed) << low)
        moved |= still
        return moved

    def restored(self, words: _Words, chosen: tuple[int, ...]) -> _Words:
        """The words with all blocks where they belong."""
        whole = np.zeros_like(words)
        low = _WORD_BITS
        for block in self.layout(chosen):
            low -= self.widths[block]
            bits = (words >> np.uint64(low)) & np.uint64(_ones(self.widths[block]))
            whole |= bits << np.uint64(self.starts[block])
        return whole

    def passed_over(self, chosen: tuple[int, ...]) -> list[np.uint64]:
        """Blocks above the last one chosen that were not: of a pair that is equal in one of them,
        another choice comes first.
        """
        return [
            np.uint64(_ones(self.widths[b]) << self.starts[b])
            for b in range(chosen[-1])
            if b not in chosen
        ]


def _ones(bits: int) -> int:
    return (1 << bits) - 1


def _near_words(words: _Words, blocks: _Blocks, distance: int) -> Iterator[tuple[_Words, _Words]]:
    """All pairs of distinct words within a distance, each once."""
    n_chosen = blocks.number - distance
    if not n_chosen:
        yield from _side_by_side(words, 0, distance)
        return
    for block in range(distance + 1):
        for places, runs in _parted(words, blocks.starts[block], blocks.widths[block]):
            chunk = blocks.lifted(words[places], (), block)
            for chosen, lifted in _choices(chunk, blocks, (block,), n_chosen):
                for run in runs:
                    lifted[run].sort()
                yield from _near_by(lifted, blocks, chosen, distance)


def _parted(words: _Words, start: int, width: int) -> Iterator[tuple[_Places, list[slice]]]:
    """Places of words, a chunk at a time, so that those that are equal in a block come together.

    With each chunk come the parts of it that are to be sorted by themselves.
    """
    bits = min(width, _KEY_BITS)
    values = np.empty(words.size, np.uint16)
    np.right_shift(words, np.uint64(start + width - bits), out=values, casting="unsafe")
    values &= np.uint16(_ones(bits))
    ends = np.cumsum(np.bincount(values))
    order = np.argsort(values, kind="stable")
    del values
    runs, begin = _about_every(_RUN, ends), 0
    for end in _about_every(_CHUNK, ends).tolist():
        within = runs[(runs > begin) & (runs <= end)] - begin
        yield order[begin:end], list(map(slice, [0, *within[:-1].tolist()], within.tolist()))
        begin = end


def _about_every(size: int, ends: _Places) -> _Places:
    """Of ascending numbers the last, and before it those that come next to each multiple."""
    multiples = np.arange(size, ends[-1], size)
    return np.unique(np.append(ends[np.searchsorted(ends, multiples)], ends[-1]))


def _choices(
    words: _Words, blocks: _Blocks, chosen: tuple[int, ...], n_chosen: int
) -> Iterator[tuple[tuple[int, ...], _Words]]:
    """All choices that begin with these blocks, and the words with the chosen blocks on top."""
    if len(chosen) == n_chosen:
        yield chosen, words
        return
    still_to_come = n_chosen - len(chosen) - 1
    for block in range(chosen[-1] + 1, blocks.number - still_to_come):
        lifted = blocks.lifted(words, chosen, block)
        yield from _choices(lifted, blocks, (*chosen, block), n_chosen)


def _near_by(
    words: _Words, blocks: _Blocks, chosen: tuple[int, ...], distance: int
) -> Iterator[tuple[_Words, _Words]]:
    """Pairs of sorted words that no choice before this one finds, with the bits put back."""
    passed_over = blocks.passed_over(chosen)
    for found in _side_by_side(words, sum(blocks.widths[b] for b in chosen), distance):
        a, b = (blocks.restored(side, chosen) for side in found)
        is_first = np.ones(a.size, bool)
        for mask in passed_over:
            is_first &= (a ^ b) & mask != 0
        if is_first.any():
            yield a[is_first], b[is_first]


def _side_by_side(
    words: _Words, prefix_bits: int, distance: int
) -> Iterator[tuple[_Words, _Words]]:
    """Pairs within a distance among those of sorted words that begin alike.

    Each word is compared with the next, then with the one after that, as long as that begins
    alike.
    """
    rest = np.uint64(_ones(_WORD_BITS - prefix_bits))
    for start in range(0, words.size, _CHUNK):
        end = min(start + _CHUNK, words.size)
        # Those that are still looked at, once they are few.
        places: _Places | None = None
        for lag in range(1, words.size):
            if places is None:
                stop = min(end, words.size - lag)
                a, b = words[start:stop], words[start + lag : stop + lag]
            else:
                places = places[: np.searchsorted(places, words.size - lag)]
                a, b = words[places], words[places + lag]
            different = a ^ b
            begins_alike = different <= rest
            near = (np.bitwise_count(different) <= distance).nonzero()[0]
            near = near[begins_alike[near]]
            if near.size:
                yield a[near], b[near]
            left = np.count_nonzero(begins_alike)
            if not left:
                break
            if places is not None:
                places = places[begins_alike]
            elif left * _FEW <= _CHUNK:
                places = begins_alike.nonzero()[0] + start
