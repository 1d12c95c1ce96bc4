"""Runs NearDupDetector on a corpus, pair by pair and in the order of a crawl.

Only its public methods are called, so the figures follow the rule as it is.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np

from scrapy_neardup import NearDupDetector, UnreadablePage
from scrapy_neardup.hashing.simhash_index import MAX_DISTANCE
from scrapy_neardup.matching.verdict import Match, Verdict
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore

from ..common.brute_force import near_pairs
from ..common.stored_pages import Page, html_of
from .known_pairs import Pair

#: One for all runs and processes: figures repeat, and signatures can be compared.
SECRET = b"a benchmark has nothing to hide."

#: A signature, or none for a page that could not be read.
Signatures = Sequence[PageSignature | None]
#: Pairs that are taken for one content.
Hits = dict[Pair, Match]


@cache
def signing_detector(extractor: str = "trafilatura") -> NearDupDetector:
    """The detector that makes this process's signatures; it remembers nothing."""
    return new_detector(extractor=extractor)


def new_detector(**options: Any) -> NearDupDetector:
    return NearDupDetector(store=MemoryStore(SECRET), **options)


def sign(
    page: Page, html: str | None = None, extractor: str = "trafilatura"
) -> PageSignature | None:
    """Signature of a page, or ``None`` when it cannot be read."""
    return sign_html(page.url, html or html_of(page), extractor)


def sign_html(url: str, html: str, extractor: str = "trafilatura") -> PageSignature | None:
    """Signature of a decoded page, or ``None`` when it cannot be read."""
    try:
        return signing_detector(extractor).signature(url=url, html=html)
    except UnreadablePage:
        return None


def check_all(signatures: Iterable[PageSignature]) -> list[Verdict]:
    """Verdicts of a new detector that checks pages one after the other."""
    detector = new_detector()
    return [detector.check(signature) for signature in signatures]


def crawl(
    detector: NearDupDetector, signatures: Signatures, order: Iterable[int]
) -> dict[int, int]:
    """Check pages one after the other.

    :returns: the dropped pages, each with its original.
    """
    number = {s.url: place for place, s in enumerate(signatures) if s}
    dropped = {}
    for place in order:
        signature = signatures[place]
        verdict = detector.check(signature) if signature else None
        if verdict and verdict.duplicate_of is not None:
            dropped[place] = number[verdict.duplicate_of]
    return dropped


def shuffled(count: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def compare_all(detector: NearDupDetector, signatures: Signatures) -> Hits:
    """Return the pairs of duplicates by the detector, with the boilerplate learned so far."""
    hits = {}
    for a, b in sorted(set(_worth_comparing(signatures))):
        first, second = signatures[a], signatures[b]
        if first and second and (match := detector.compare(first, second)):
            hits[a, b] = match
    return hits


def _worth_comparing(signatures: Signatures) -> Iterator[Pair]:
    """Pairs of one site, whose pages may be one by other signs, and pairs of near fingerprints."""
    known = [place for place, signature in enumerate(signatures) if signature]
    of_site: dict[str, list[int]] = defaultdict(list)
    for place, signature in enumerate(signatures):
        if signature:
            of_site[signature.site].append(place)
    fingerprints = np.array([s.fingerprint for s in signatures if s], np.uint64)
    near = ((known[a], known[b]) for a, b in near_pairs(fingerprints, MAX_DISTANCE).T.tolist())
    return chain(near, *(combinations(places, 2) for places in of_site.values()))
