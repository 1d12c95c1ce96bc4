"""Finds all pairs of fingerprints within Hamming distance *k*, exactly.

The 64 bits are cut into blocks of nearly equal width. Two fingerprints that differ in at most
*k* bits are equal in at least *B* - *k* of *B* blocks, so for each choice of *B* - *k* blocks
the fingerprints that are equal in those are compared with each other (Manku, Jain, Das Sarma,
WWW 2007, section 3). A pair that several choices find is yielded by the first of them only. More
blocks make more choices, with fewer comparisons each: the fastest number is estimated from how
many fingerprints there are, and how many of them are near each other.

::

    5 blocks, 2 of them chosen:    block   4             3             2             1     0
    chosen ones lifted to the top          2      4      | 3             1             0

Lifting the chosen blocks to the top of each word and sorting the words puts those to compare next
to each other. Permuting bits does not change distances, so the words carry no payload: the bits
of the few words that are found are put back, and these words are looked up. Each choice begins by
partitioning the words by its first block; the rest is done for some thousand words at a time,
which stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._util.arrays import run_boundaries
from .simhash_index import require_distance

_Words = npt.NDArray[np.uint64]
_Places = npt.NDArray[np.intp]

#: Largest number of pairs in a batch.
MAX_BATCH = 1 << 16

_WORD_BITS = 64
#: numpy sorts short integers by radix.
_KEY_BITS = 16
#: Words that are lifted and compared together, and words of a chunk that are sorted together.
#: Both grow where more words are equal in a block. The chunk is a multiple of the run.
_CHUNK = 1 << 15
_RUN = 1 << 11
#: When at most one word in so many has a partner left, only those words are compared further.
_SPARSE = 4
#: Largest number of chosen blocks, unless the caller asks for more.
_MAX_CHOSEN = 5
#: Costs in nanoseconds a word: partitioning by a block, lifting and sorting, one comparison, and
#: handling a pair that was found.
_PARTITION_NS, _SORT_NS, _COMPARE_NS, _PAIR_NS = 45.0, 35.0, 1.6, 40.0
#: Number of words from which the share of near pairs is estimated.
_SAMPLE = 1024


class NearPairs(NamedTuple):
    """A batch of pairs, in no particular order.

    :ivar first: shape ``(n,)``, the index of one fingerprint of each pair.
    :ivar second: shape ``(n,)``, the index of the other, always the greater one.
    :ivar distances: shape ``(n,)``, their Hamming distances, 0 to 11.
    """

    first: npt.NDArray[np.intp]
    second: npt.NDArray[np.intp]
    distances: npt.NDArray[np.uint8]


def near_pairs(
    fingerprints: npt.NDArray[np.uint64], distance: int, blocks: int | None = None
) -> Iterator[NearPairs]:
    """Yield every pair of fingerprints within a distance, each once.

    :param fingerprints: shape ``(n,)``, in any order, equal ones included; below 2**32 of them.
    :param distance: 0 to 11.
    :param blocks: number of blocks that the bits are cut into, from ``distance`` (which compares
        all with all) to 64. It affects the running time only; estimated unless given.
    :returns: batches of at most :data:`MAX_BATCH` pairs, the same for the same fingerprints. The
        search takes some 40 bytes a fingerprint besides.
    :raises ValueError: if the distance or the number of blocks is out of bounds.
    """
    require_distance(distance)
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
    for a, b in _batched(_near_words(distinct.words, _Blocks(blocks), distance)):
        yield from distinct.pairs(a, b)


@dataclass(frozen=True)
class _Distinct:
    """The distinct fingerprints, and the indices at which each occurs.

    :ivar words: ascending.
    :ivar order: indices, sorted by fingerprint and then by index.
    :ivar starts: where in ``order`` the indices of each word begin, and where the last ones end.
    """

    words: _Words
    order: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, fingerprints: _Words) -> _Distinct:
        order, words = _sorted_order(fingerprints)
        starts = run_boundaries(words).astype(np.uint32)
        if starts.size <= words.size:
            words = words[starts[:-1]]
        return cls(words, order, starts)

    def equal_pairs(self) -> Iterator[NearPairs]:
        """Yield all pairs of equal fingerprints."""
        several = np.flatnonzero(np.diff(self.starts) > 1)
        begins, counts = self._entries(several)
        # Each index makes a pair with those of its word that come after it.
        entries = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
        later = np.repeat(begins + counts - 1, counts) - entries
        for row, nth in _numbered_repeats(later):
            first = entries[row]
            yield self._index_pairs(first, first + 1 + nth, np.zeros(row.size, np.uint8))

    def pairs(self, a: _Words, b: _Words) -> Iterator[NearPairs]:
        """Yield, for each pair of words, every index of one with every index of the other."""
        distances = np.bitwise_count(a ^ b)
        begins_a, counts_a = self._entries(np.searchsorted(self.words, a))
        begins_b, counts_b = self._entries(np.searchsorted(self.words, b))
        for row, nth in _numbered_repeats(counts_a * counts_b):
            nth_a, nth_b = np.divmod(nth, counts_b[row])
            yield self._index_pairs(begins_a[row] + nth_a, begins_b[row] + nth_b, distances[row])

    def _entries(self, ranks: _Places) -> tuple[_Places, _Places]:
        """Return where in ``order`` the indices of words begin, and how many each word has."""
        begins = self.starts[ranks].astype(np.intp)
        return begins, self.starts[ranks + 1] - begins

    def _index_pairs(
        self, entries: _Places, others: _Places, distances: npt.NDArray[np.uint8]
    ) -> NearPairs:
        a, b = (self.order[e].astype(np.intp) for e in (entries, others))
        return NearPairs(np.minimum(a, b), np.maximum(a, b), distances)


def _sorted_order(words: _Words) -> tuple[npt.NDArray[np.uint32], _Words]:
    """Return the indices that sort the words, stably, and the sorted words.

    The upper bits of each word and its index below them make one number, and numbers are sorted
    several times as fast as indices. Words that are equal in these bits are sorted afterwards.
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


def _numbered_repeats(counts: _Places) -> Iterator[tuple[_Places, _Places]]:
    """Repeat each row number by its count, numbering the repeats from 0; yield in batches."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, MAX_BATCH):
        numbers = np.arange(start, min(start + MAX_BATCH, total))
        row = np.searchsorted(ends, numbers, "right")
        yield row, numbers - (ends - counts)[row]


def _batched(found: Iterator[_Words]) -> Iterator[_Words]:
    """Concatenate pairs of words into larger batches; shapes ``(2, n)``."""
    batch, size = list[_Words](), 0
    for pairs in found:
        batch.append(pairs)
        size += pairs.shape[1]
        if size >= MAX_BATCH:
            yield np.concatenate(batch, axis=1)
            batch, size = [], 0
    if batch:
        yield np.concatenate(batch, axis=1)


def _number_of_blocks(words: _Words, distance: int) -> int:
    """Estimate the number of blocks with which the search takes the least time.

    Except for those that are near each other, words are assumed to be evenly distributed.
    """
    drawn = np.random.default_rng(0).integers(0, words.size, min(words.size, _SAMPLE))
    sample = np.unique(words[drawn])
    n_near = np.count_nonzero(np.bitwise_count(sample[:, None] ^ sample) <= distance)
    # Of all pairs of the sample, the share that is within the distance.
    near = float((n_near - sample.size) / max(1, sample.size * (sample.size - 1)))

    def cost(chosen: int) -> float:
        n_blocks = distance + chosen
        alike = words.size / float(1 << _WORD_BITS * chosen // n_blocks)
        compared = alike / 2 * _COMPARE_NS + near * words.size / 2 * (_COMPARE_NS + _PAIR_NS)
        partitioned = (distance + 1) * _PARTITION_NS if chosen else 0
        return partitioned + comb(n_blocks, chosen) * (_SORT_NS + compared)

    return distance + min(range(_MAX_CHOSEN + 1), key=cost)


class _Blocks:
    """The bits of a word, cut into blocks; block 0 is the lowest."""

    def __init__(self, number: int) -> None:
        edges = [_WORD_BITS * block // number for block in range(number + 1)]
        self.number = number
        self.starts = edges[:-1]
        self.widths = [end - start for start, end in pairwise(edges)]

    def lows(self, chosen: tuple[int, ...]) -> dict[int, int]:
        """Return the lowest bit of each block after these have been lifted."""
        layout = [*chosen, *(b for b in reversed(range(self.number)) if b not in chosen)]
        ends = accumulate(self.widths[block] for block in layout)
        return {block: _WORD_BITS - end for block, end in zip(layout, ends, strict=True)}

    def moved(self, words: _Words, lifted: tuple[int, ...], chosen: tuple[int, ...]) -> _Words:
        """Return words of which some blocks are lifted as words of which others are."""
        lows, masks = self.lows(chosen), dict[int, int]()
        for block, low in self.lows(lifted).items():
            up = lows[block] - low
            masks[up] = masks.get(up, 0) | _ones(self.widths[block]) << low
        moved = words & np.uint64(masks.pop(0, 0))
        for up, mask in masks.items():
            part = words & np.uint64(mask)
            if up > 0:
                part <<= np.uint64(up)
            else:
                part >>= np.uint64(-up)
            moved |= part
        return moved


def _ones(bits: int) -> int:
    return (1 << bits) - 1


def _near_words(words: _Words, blocks: _Blocks, distance: int) -> Iterator[_Words]:
    """Yield all pairs of distinct words within a distance, each once; shapes ``(2, n)``."""
    n_chosen = blocks.number - distance
    if not n_chosen:
        yield from _prefix_pairs(words, 0, distance)
        return
    for block in range(distance + 1):
        for places, runs in _partitioned(words, blocks.starts[block], blocks.widths[block]):
            chunk = blocks.moved(words[places], (), (block,))
            for chosen, lifted in _choices(chunk, blocks, (block,), n_chosen):
                for run in runs:
                    lifted[run].sort()
                yield from _first_found(lifted, blocks, chosen, distance)


def _partitioned(words: _Words, start: int, width: int) -> Iterator[tuple[_Places, list[slice]]]:
    """Group the indices of words by the value of a block; yield them a chunk at a time.

    With each chunk come the slices of it that have to be sorted separately.
    """
    bits = min(width, _KEY_BITS)
    values = np.empty(words.size, np.uint16)
    np.right_shift(words, np.uint64(start + width - bits), out=values, casting="unsafe")
    values &= np.uint16(_ones(bits))
    ends = np.cumsum(np.bincount(values))
    order = np.argsort(values, kind="stable")
    del values
    runs, begin = _ends_about_every(_RUN, ends), 0
    for end in _ends_about_every(_CHUNK, ends).tolist():
        within = runs[(runs > begin) & (runs <= end)] - begin
        yield order[begin:end], list(map(slice, [0, *within[:-1].tolist()], within.tolist()))
        begin = end


def _ends_about_every(size: int, ends: _Places) -> _Places:
    """Select, from ascending ends, the first at or above each multiple of a size, and the last."""
    multiples = np.arange(size, ends[-1], size)
    return np.unique(np.append(ends[np.searchsorted(ends, multiples)], ends[-1]))


def _choices(
    words: _Words, blocks: _Blocks, chosen: tuple[int, ...], n_chosen: int
) -> Iterator[tuple[tuple[int, ...], _Words]]:
    """Yield all choices that begin with these blocks, and the words with the chosen ones on top."""
    if len(chosen) == n_chosen:
        yield chosen, words
        return
    remaining = n_chosen - len(chosen) - 1
    for block in range(chosen[-1] + 1, blocks.number - remaining):
        longer = (*chosen, block)
        yield from _choices(blocks.moved(words, chosen, longer), blocks, longer, n_chosen)


def _first_found(
    words: _Words, blocks: _Blocks, chosen: tuple[int, ...], distance: int
) -> Iterator[_Words]:
    """Yield the pairs of sorted words that no earlier choice finds, with the bits put back.

    A pair that is equal in a block before the last chosen one that was not chosen itself is found
    by an earlier choice.
    """
    skipped = [
        np.uint64(_ones(blocks.widths[block]) << blocks.starts[block])
        for block in range(chosen[-1])
        if block not in chosen
    ]
    for found in _prefix_pairs(words, sum(blocks.widths[b] for b in chosen), distance):
        pairs = blocks.moved(found, chosen, ())
        is_first = np.ones(pairs.shape[1], bool)
        for mask in skipped:
            is_first &= (pairs[0] ^ pairs[1]) & mask != 0
        if is_first.any():
            yield pairs[:, is_first]


def _prefix_pairs(words: _Words, prefix_bits: int, distance: int) -> Iterator[_Words]:
    """Yield the pairs within a distance among sorted words with equal prefixes.

    Each word is compared with the next, then with the one after that, as long as their prefixes
    are equal.
    """
    rest = np.uint64(_ones(_WORD_BITS - prefix_bits))
    for start in range(0, words.size, _CHUNK):
        end = min(start + _CHUNK, words.size)
        # Words still to be compared, once they are few.
        places: _Places | None = None
        for lag in range(1, words.size):
            if places is None:
                stop = min(end, words.size - lag)
                a, b = words[start:stop], words[start + lag : stop + lag]
            else:
                places = places[: np.searchsorted(places, words.size - lag)]
                a, b = words[places], words[places + lag]
            different = a ^ b
            same_prefix = different <= rest
            near = (np.bitwise_count(different) <= distance).nonzero()[0]
            near = near[same_prefix[near]]
            if near.size:
                yield np.stack((a[near], b[near]))
            left = np.count_nonzero(same_prefix)
            if not left:
                break
            if places is not None:
                places = places[same_prefix]
            elif left * _SPARSE <= _CHUNK:
                places = same_prefix.nonzero()[0] + start
