"""Decisions on the rule: weights, distances, titles, the size of a sketch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from scrapy_neardup.hashing.minhash import ShingleKey, Sketch, resemblance, shingle_hashes
from scrapy_neardup.hashing.simhash import simhash
from scrapy_neardup.hashing.simhash_index import MAX_DISTANCE
from scrapy_neardup.text.idf import UNITS_PER_NAT, IdfTable, shipped_table, token_hashes
from scrapy_neardup.text.tokenization import shingle_units
from scrapy_neardup.text.vocabulary import weigh

from ..common.brute_force import near_pairs
from ..common.stored_pages import Page
from ..common.tables import Table
from ..quality.detection import SECRET, Hits, compare_all, new_detector
from ..quality.figures import Yardstick
from ..quality.known_pairs import Corpus, Pair
from ..quality.resemblance import jaccard
from .shared import LABEL_HEAD, PAIR_HEAD, cells, hits_of, known, signed, words_of

Hashes = npt.NDArray[np.uint64]

_BINS = (32, 64, 128, 256, 512, 1024)
_LEAST_VALUES = (32, 64, 128, 256)
_DIGIT = re.compile(r"\d")


@cache
def table_of(name: str) -> IdfTable:
    return shipped_table(name)


def fingerprint(
    words: Sequence[str], idf: IdfTable, *, log_tf: bool = True, rare_numbers: bool = False
) -> int:
    """Fingerprint by weights as they are shipped, or changed in one respect."""
    counts = Counter(words)
    hashes = token_hashes(counts)
    frequency = np.fromiter(counts.values(), np.float64, len(counts))
    factors = np.rint(UNITS_PER_NAT * (1 + np.log(frequency))) if log_tf else frequency
    numeric = np.fromiter((_DIGIT.search(word) is not None for word in counts), bool, len(counts))
    weights = np.where(numeric & (not rare_numbers), 1, idf.weights(hashes))
    return simhash(hashes, factors * weights)


_WEIGHTINGS: dict[str, Callable[[Sequence[str]], int]] = {
    "as shipped": lambda words: simhash(*weigh(words, table_of("multilingual"))),
    "(1 + ln tf), numbers least, no idf": lambda words: fingerprint(words, table_of("none")),
    "tf·idf, numbers least": lambda words: fingerprint(
        words, table_of("multilingual"), log_tf=False
    ),
    "(1 + ln tf)·idf, numbers as rare as they are": lambda words: fingerprint(
        words, table_of("multilingual"), rare_numbers=True
    ),
}


def fingerprints(page: Page) -> list[int]:
    words = words_of(page)
    return [weighting(words) for weighting in _WEIGHTINGS.values()]


def weights_and_distances(corpus: Corpus) -> list[Table]:
    yardstick = known(corpus)
    columns = np.array(corpus.map(fingerprints), np.uint64).T
    return [
        _distance_table(name, column, yardstick)
        for name, column in zip(_WEIGHTINGS, columns, strict=True)
    ]


def _distance_table(name: str, column: npt.NDArray[np.uint64], yardstick: Yardstick) -> Table:
    table = Table(
        f"fingerprint alone: {name}", ("k", *PAIR_HEAD, "precision for J>=0.7", "for J>=0.5")
    )
    pairs = near_pairs(column, MAX_DISTANCE)
    distances = np.bitwise_count(column[pairs[0]] ^ column[pairs[1]])
    for k in range(3, MAX_DISTANCE + 1):
        f = yardstick.of_pairs({(a, b) for a, b in pairs[:, distances <= k].T.tolist()})
        precisions = (1 - wrong / max(f.hits, 1) for wrong in (f.below_70, f.below_50))
        row = (f.found_80, f.found_90, f.below_50, f.below_70, f.hits)
        table.add(k, *row, *precisions)
    return table


def title_rule(corpus: Corpus) -> list[Table]:
    """Compare pages of one site by their titles, and as if all bore the same."""
    yardstick = known(corpus)
    signatures = signed(corpus)
    detector = new_detector()
    titled = hits_of(detector, signatures)
    alike = compare_all(detector, [s and replace(s, title=(("title",),)) for s in signatures])
    sites = yardstick.sites
    untitled = {pair: match for pair, match in titled.items() if sites[pair[0]] != sites[pair[1]]}
    untitled |= {pair: match for pair, match in alike.items() if sites[pair[0]] == sites[pair[1]]}
    table = Table("a title decides within a site", ("", *PAIR_HEAD, *LABEL_HEAD))
    table.add("titles count", *cells(yardstick, titled))
    table.add("as if all were the same", *cells(yardstick, untitled))
    return [table]


def all_shingles(page: Page) -> Hashes:
    """Hashes of all shingles of a page, ascending and distinct."""
    key = ShingleKey.from_secret(SECRET)
    units = token_hashes(shingle_units(words_of(page)), key.seed)
    return np.unique(shingle_hashes(units, key))


def sketch_size(corpus: Corpus) -> list[Table]:
    """Confirm what passes all other parts of the rule by sketches of each kind and size."""
    yardstick = known(corpus)
    samples = corpus.map(all_shingles)
    passed = hits_of(new_detector(min_similarity=0), signed(corpus))
    exact = {(a, b): jaccard(samples[a], samples[b]) for a, b in passed}
    least = new_detector().rule.min_similarity
    table = Table(
        f"sketches, similarity from {least}",
        ("", "bytes", *PAIR_HEAD, *LABEL_HEAD, "error (rms)"),
    )

    def add(name: str, size: int, similarity: Mapping[Pair, float]) -> None:
        errors = np.array([similarity[pair] - exact[pair] for pair in passed])
        hits = confirmed(passed, similarity, least)
        table.add(name, size, *cells(yardstick, hits), float(np.sqrt(np.mean(errors**2))))

    for count in _BINS:
        bins = [binned(sample, count) for sample in samples]
        add("bins", count, {(a, b): resemblance(bins[a], bins[b]) for a, b in passed})
    for count in _LEAST_VALUES:
        values = [sample[:count] for sample in samples]
        estimates = {(a, b): bottom_k(values[a], values[b], count) for a, b in passed}
        add("least values", 4 * count, estimates)
    add("all shingles", 0, exact)
    return [table]


def binned(hashes: Hashes, bins: int) -> Sketch:
    """The shipped kind of sketch in another size."""
    of_hash = (hashes * np.uint64(bins)) >> np.uint64(32)
    filled, least = np.unique(of_hash, return_index=True)
    sketch = np.zeros(bins, np.uint8)
    sketch[filled.astype(np.intp)] = hashes[least] % np.uint64(255) + np.uint64(1)
    return sketch


def bottom_k(a: Hashes, b: Hashes, count: int) -> float:
    """Resemblance by the ``count`` least hashes of each (Broder 1997, section 4)."""
    if not a.size or not b.size:
        return 0.0
    # A full sample knows its document up to its greatest value, another one knows it wholly.
    bound = min(each[-1] if each.size >= count else np.uint64(1 << 32) for each in (a, b))
    return jaccard(a[a <= bound], b[b <= bound])


def confirmed(passed: Hits, similarity: Mapping[Pair, float], least: float) -> Hits:
    return {
        pair: match
        for pair, match in passed.items()
        if match.reason != "similar_text" or similarity[pair] >= least
    }
