"""Keys of pages: near-duplicates share one.

Fingerprints at distance 11 share no key that few other pages have, so bands of the sketch take
their place (Leskovec, Rajaraman, Ullman, *Mining of Massive Datasets*, section 3.4). At distance 3
and less, blocks of the fingerprint are exact (Manku, Jain, Das Sarma, WWW 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import xxhash

from ...hashing.minhash import SKETCH_BINS
from ...matching.candidates import Summaries
from ...matching.rule import Rule
from ...methods import Method
from ...methods.base import guarded
from ...signatures.signature import WHOLE
from ...stores.codec import digests_in

Keys = npt.NDArray[np.uint64]

#: Up to this distance, fingerprints agree in 3 of 6 blocks.
EXACT_DISTANCE = 3
_BLOCKS = 6
#: Share of the pairs at the rule's least similarity, and at the least one of pages with equal
#: titles and values, that have a band in common, at least.
_RECALL, _RECALL_OF_SAME_TITLES = 0.999, 0.99
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_SAMPLE = " ".join(f"word{number}" for number in range(200))


def band_width(rule: Rule) -> int:
    """Return how many bins make a band, 1 to 12: the more, the fewer pages share one by chance."""
    floors = (
        (rule.similarity_floor(same_title=False), _RECALL),
        (rule.similarity_floor(same_title=True), _RECALL_OF_SAME_TITLES),
    )
    wide_enough = (
        width
        for width in range(12, 1, -1)
        if all(
            1 - (1 - floor**width) ** (SKETCH_BINS // width) >= recall for floor, recall in floors
        )
    )
    return next(wide_enough, 1)


def band_keys(sketches: npt.NDArray[np.uint8], width: int) -> Keys:
    """Return a key for each band of each sketch; shape ``(n, bins // width)``."""
    bands = SKETCH_BINS // width
    bins = densified(sketches)[:, : bands * width].reshape(-1, bands, width).astype(np.uint64)
    mixed = np.zeros(bins.shape[:2], np.uint64) + np.arange(1, bands + 1, dtype=np.uint64)
    for place in range(width):
        mixed = mixed_values(mixed ^ bins[:, :, place])
    return mixed


def densified(sketches: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Fill the empty bins of sketches from filled ones, each from one of its own.

    Of two sketches in which the same bins are filled, a bin agrees as often as before; without it,
    short texts would agree in their empty bins (Shrivastava, *Optimal Densification for Fast and
    Accurate Minwise Hashing*, ICML 2017).

    :param sketches: shape ``(n, SKETCH_BINS)``; an empty sketch stays empty.
    """
    filled = sketches.copy()
    has_some = (sketches != 0).any(axis=1)
    rows, bins = np.nonzero((sketches == 0) & has_some[:, None])
    for sources in _sources().T:
        if not rows.size:
            break
        values = sketches[rows, sources[bins]]
        filled[rows, bins] = values
        still_empty = values == 0
        rows, bins = rows[still_empty], bins[still_empty]
    return filled


@cache
def _sources() -> npt.NDArray[np.intp]:
    """Return in which order each bin looks at all others; shape ``(SKETCH_BINS, SKETCH_BINS)``."""
    generator = np.random.Generator(np.random.PCG64(1))
    return np.argsort(generator.random((SKETCH_BINS, SKETCH_BINS)), axis=1)


def block_keys(fingerprints: npt.NDArray[np.uint64]) -> Keys:
    """Return a key for each 3 of 6 blocks of each fingerprint; shape ``(n, 20)``."""
    edges = [64 * place // _BLOCKS for place in range(_BLOCKS + 1)]
    masks = [(1 << end) - (1 << start) for start, end in pairwise(edges)]
    chosen = [sum(three) for three in combinations(masks, 3)]
    parts = fingerprints[:, None] & np.array(chosen, np.uint64)
    return mixed_values(parts ^ mixed_values(np.arange(1, len(chosen) + 1, dtype=np.uint64)))


def digest_keys(pages: Sequence[bytes], summaries: Summaries) -> Keys:
    """Return a key of each text, and one of each whole page of a site; shape ``(n, 2)``.

    :param pages: packed signatures.
    """
    keys = np.empty((len(pages), 2), np.uint64)
    for place, (page, site) in enumerate(zip(pages, summaries["site"].tolist(), strict=True)):
        text, shown = digests_in(page)
        keys[place, 0] = int.from_bytes(text[:8], "little")
        # A page whose text alone is known has the text's key twice.
        keys[place, 1] = (
            xxhash.xxh3_64_intdigest(shown[WHOLE], site) if shown else int(keys[place, 0])
        )
    return keys


def has_keys(method: Method) -> bool:
    """Return whether a method gives its values keys.

    :raises MethodFailed: when the method fails.
    """
    with guarded(method):
        value = method.value(_SAMPLE if method.reads == "text" else _SAMPLE.encode())
        return not value or method.keys(value) is not None


def method_keys(method: Method, value: bytes) -> Keys:
    """Return keys of a value, of which near-duplicates have one in common; shape ``(n,)``.

    Of two values with so many keys in common, the least of the keys, but as many less one, have one
    in common (prefix filtering: Chaudhuri, Ganti, Kaushik, *A primitive operator for similarity
    joins in data cleaning*, ICDE 2006).

    :raises MethodFailed: when the method fails.
    """
    with guarded(method):
        found = method.keys(value)
        # Python's hash depends on all bits of a number of any size.
        hashes = [hash(int(key)) for key in (() if found is None else found)]
        in_common = method.keys_in_common(value)
    keys = np.unique(mixed_values(np.array(hashes, np.int64).view(np.uint64)))
    return keys[: max(keys.size - in_common + 1, 0)]


def mixed_values(values: Keys) -> Keys:
    """Return values of which all bits depend on all bits of those given, each from another one."""
    mixed = values * _MULTIPLIER
    mixed ^= mixed >> _HALF
    mixed *= _MULTIPLIER
    mixed ^= mixed >> _HALF
    return mixed
