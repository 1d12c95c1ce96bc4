"""Other methods of finding near-duplicates, with the adapters for a fair comparison.

All are given the text that the ground truth was measured on, whole and extracted well, which is
more than a page alone gives them. Words are ours, so that Chinese is not one long word to them.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from scrapy_neardup.hashing.simhash import simhash
from scrapy_neardup.text.idf import IdfTable, shipped_table, token_hashes

from ..common.brute_force import Pairs, Prints, alike_pairs, near_pairs
from ..common.packages import Package

_DISTANCE = 3
_RESEMBLANCE = 0.78
_PERMUTATIONS = 128
_SIMHASH_LETTERS = re.compile(r"[\w\u4e00-\u9fcc]+")


@dataclass(frozen=True)
class Peer(Package):
    """A way to find near-duplicates.

    :ivar fingerprint: from the imported module, the text and its words to one row of numbers.
    :ivar search: from the rows of all pages to the pairs that are taken for duplicates.
    """

    fingerprint: Callable[[Any, str, list[str]], Sequence[int]]
    search: Callable[[Prints], Pairs]


def _within_three(rows: Prints) -> Pairs:
    return near_pairs(rows[:, 0], _DISTANCE)


def _resembling(rows: Prints) -> Pairs:
    return alike_pairs(rows, _RESEMBLANCE)


def _simhash_of_text(module: Any, text: str, _: list[str]) -> list[int]:
    try:
        return [module.Simhash(text).value]
    except OverflowError:
        # With numpy 2 it cannot count a feature more than 255 times, unless it is given the same
        # features with the same counts as floats.
        letters = "".join(_SIMHASH_LETTERS.findall(text.lower()))
        counts = Counter(letters[i : i + 4] for i in range(max(len(letters) - 3, 1)))
        return [module.Simhash({gram: float(count) for gram, count in counts.items()}).value]


def _simhash_of_words(module: Any, _: str, words: list[str]) -> list[int]:
    return [module.Simhash(words).value]


def _simhash_hash(module: Any, text: str, _: list[str]) -> list[int]:
    return [module.Simhash(text).hash]


def _minhash(module: Any, _: str, words: list[str]) -> Sequence[int]:
    grams = {" ".join(words[i : i + 3]) for i in range(max(len(words) - 2, 1))}
    sketch = module.MinHash(num_perm=_PERMUTATIONS)
    sketch.update_batch([gram.encode("utf-8", "surrogatepass") for gram in grams])
    values: Sequence[int] = sketch.hashvalues.tolist()
    return values


def _tf_idf(_: Any, __: str, words: list[str]) -> list[int]:
    counts = Counter(words)
    hashes = token_hashes(counts)
    frequency = np.fromiter(counts.values(), np.float64, len(counts))
    return [simhash(hashes, frequency * _idf().weights(hashes))]


@cache
def _idf() -> IdfTable:
    return shipped_table("multilingual")


_TRAFILATURA = "trafilatura.deduplication"
_MINHASH = f"datasketch MinHash of {_PERMUTATIONS}, word 3-grams, from {_RESEMBLANCE}"

PEERS = (
    Peer("simhash, own features, k = 3", "simhash", "simhash", _simhash_of_text, _within_three),
    Peer("simhash, words, k = 3", "simhash", "simhash", _simhash_of_words, _within_three),
    Peer("trafilatura Simhash, k = 3", "trafilatura", _TRAFILATURA, _simhash_hash, _within_three),
    Peer(_MINHASH, "datasketch", "datasketch", _minhash, _resembling),
    Peer("tf·idf of our words, k = 3", "scrapy-neardup", "scrapy_neardup", _tf_idf, _within_three),
)


@cache
def usable() -> tuple[Peer, ...]:
    """The peers that can be imported."""
    return tuple(peer for peer in PEERS if not peer.trouble)


def fingerprints(text: str, words: list[str]) -> dict[str, Sequence[int]]:
    """Return the fingerprint of a text by each usable peer."""
    return {
        peer.name: peer.fingerprint(importlib.import_module(peer.module), text, words)
        for peer in usable()
    }
