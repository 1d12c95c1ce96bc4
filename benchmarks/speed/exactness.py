"""Compares the index and the search for all pairs with brute force."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scrapy_neardup.hashing.hamming_pairs import near_pairs
from scrapy_neardup.hashing.simhash_index import MAX_DISTANCE, SimhashIndex

from ..common.brute_force import near_pairs as brute_force
from .parts import Check

#: How many fingerprints are compared each with each, and how many of them are looked up.
COUNT, LOOKED_UP = 20_000, 2_000
DISTANCES = (0, 3, 7, 11)
_SEED = 17
#: How many copies of a fingerprint there are, each with up to so many bits changed.
_FAMILY, _CHANGED = 4, 14

_Words = npt.NDArray[np.uint64]
#: First, second, distance.
_Triple = tuple[int, int, int]


def planted(count: int) -> _Words:
    """Random fingerprints, of which each has relatives from no bit away to many."""
    generator = np.random.default_rng(_SEED)
    heads = generator.integers(0, 1 << 64, -(-count // _FAMILY), np.uint64)
    words = np.repeat(heads, _FAMILY)[:count]
    for word in range(count):
        for bit in generator.integers(0, 64, generator.integers(0, _CHANGED + 1)).tolist():
            words[word] ^= np.uint64(1 << bit)
    return generator.permutation(words)


def check() -> Check:
    distances = ", ".join(map(str, DISTANCES))
    return Check(
        f"lookups and all pairs of {COUNT:,} fingerprints are brute force's, k = {distances}",
        differences(),
    )


def differences(count: int = COUNT, looked_up: int = LOOKED_UP) -> list[str]:
    """Return the wrong and the missing pairs, one line for each method of search."""
    words = planted(count)
    firsts, seconds = brute_force(words, MAX_DISTANCE)
    distances = np.bitwise_count(words[firsts] ^ words[seconds])
    told: list[str] = []
    for distance in DISTANCES:
        near = distances <= distance
        wanted = set(
            zip(
                firsts[near].tolist(), seconds[near].tolist(), distances[near].tolist(), strict=True
            )
        )
        told += _difference(f"all pairs, k = {distance}", wanted, _all_pairs(words, distance))
        asked = {triple for triple in wanted if triple[0] < looked_up}
        found = _lookups(words, looked_up, distance)
        told += _difference(f"lookups, k = {distance}", asked, found)
    return told


def _difference(name: str, wanted: set[_Triple], found: list[_Triple]) -> list[str]:
    missed, wrong = wanted - set(found), set(found) - wanted
    twice = len(found) - len(set(found))
    if not (missed or wrong or twice):
        return []
    return [f"{name}: {len(missed):,} missed, {len(wrong):,} wrong, {twice:,} told twice"]


def _all_pairs(words: _Words, distance: int) -> list[_Triple]:
    return [
        (first, second, far)
        for batch in near_pairs(words, distance)
        for first, second, far in zip(*(part.tolist() for part in batch), strict=True)
    ]


def _lookups(words: _Words, looked_up: int, distance: int) -> list[_Triple]:
    """The pairs of the first ones with any later one."""
    index = SimhashIndex()
    index.extend(words, np.arange(words.size, dtype=np.uint32))
    found = []
    for place, word in enumerate(words[:looked_up].tolist()):
        for other, far in zip(*index.near(word, distance), strict=True):
            if other > place:
                found.append((place, int(other), int(far)))
    return found
