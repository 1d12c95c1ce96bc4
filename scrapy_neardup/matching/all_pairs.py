"""All pairs of stored pages that the rule takes for one content.

Fingerprints propose pairs; what can be asked of many pairs at once rules most of them out, as in
:mod:`~scrapy_neardup.matching.candidates`; to the rest the whole rule is put. Here nothing is
    bounded but
memory: a flood of pages alike costs the time that its pairs take.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..hashing.hamming_pairs import NearPairs, near_pairs
from ..hashing.minhash import resemblances
from ..signatures.signature import PageSignature
from .candidates import SignatureSource, likeness_of, site_digest
from .rule import Rule, learn
from .site_boilerplate import MAX_ENTRIES, Boilerplates, SiteBoilerplate
from .verdict import Match

_Numbers = npt.NDArray[np.intp]

#: Pairs whose sketches are read together: a megabyte a side.
_PIECE = 2048
#: Pages that are kept at hand, for the pairs of a cluster follow each other.
_PAGES = 8192


class Pair(NamedTuple):
    """Two pages of one content.

    :ivar numbers: the smaller first.
    :ivar pages: in the same order.
    """

    numbers: tuple[int, int]
    pages: tuple[PageSignature, PageSignature]
    match: Match


def matching_pairs(
    numbers: _Numbers, fingerprints: npt.NDArray[np.uint64], source: SignatureSource, rule: Rule
) -> Iterator[Pair]:
    """Every pair that the rule accepts among those whose fingerprints are near, each once.

    Near are those within the rule's distance. Pages that show the same have one fingerprint, but
    for what scripts or an extractor of your own make of it: the rule would take those as well at
    any distance, and they are not among these pairs.

    :param numbers: shape ``(n,)``, ascending.
    :param fingerprints: shape ``(n,)``, those of these pages.
    :param source: has all of these pages, and nothing of it changes meanwhile.
    :returns: in an order that depends on the pages alone. What a site's pages share is learned of
        its newest :data:`~scrapy_neardup.matching.site_boilerplate.MAX_ENTRIES` pages.
    """
    page = lru_cache(_PAGES)(source.page)
    boilerplates = Boilerplates(_Sites(numbers, source).teach)
    for batch in near_pairs(fingerprints, rule.max_distance):
        for first, second in _promising(numbers, batch, source, rule):
            for pair in zip(first.tolist(), second.tolist(), strict=True):
                pages = page(pair[0]), page(pair[1])
                outcome = rule.compare(*pages, boilerplates)
                if isinstance(outcome, Match):
                    yield Pair(pair, pages, outcome)


class _Sites:
    """Which pages each site has."""

    def __init__(self, numbers: _Numbers, source: SignatureSource) -> None:
        digests = source.summaries(numbers)["site"]
        order = np.argsort(digests, kind="stable")
        self._source = source
        self._digests, self._numbers = digests[order], numbers[order]

    def teach(self, site: str, boilerplate: SiteBoilerplate) -> None:
        """Have a boilerplate learn from its site's newest pages, the oldest of them first."""
        start, end = (
            int(np.searchsorted(self._digests, np.uint32(site_digest(site)), side))
            for side in ("left", "right")
        )
        for number in self._numbers[max(start, end - MAX_ENTRIES) : end].tolist():
            page = self._source.page(number)
            if page.site == site:
                learn(boilerplate, page)


def _promising(
    numbers: _Numbers, batch: NearPairs, source: SignatureSource, rule: Rule
) -> Iterator[tuple[_Numbers, _Numbers]]:
    """Pairs that the rule could accept, site by site: a boilerplate is learned once a batch."""
    first, second = numbers[batch.first], numbers[batch.second]
    summaries, others = source.summaries(first), source.summaries(second)
    likeness = likeness_of(summaries, others, rule)
    same_title = summaries["title"] == others["title"]
    least = np.where(
        same_title, rule.least_to_ask(same_title=True), rule.least_to_ask(same_title=False)
    )
    possible = np.flatnonzero(likeness.possible)
    order = possible[np.lexsort((second[possible], first[possible], summaries["site"][possible]))]
    for start in range(0, order.size, _PIECE):
        piece = order[start : start + _PIECE]
        similarity = _resemblances(first[piece], second[piece], source)
        piece = piece[likeness.equal[piece] | (similarity >= least[piece])]
        yield first[piece], second[piece]


def _resemblances(
    first: _Numbers, second: _Numbers, source: SignatureSource
) -> npt.NDArray[np.float64]:
    """Estimated from the sketches of each pair."""
    needed, rows = np.unique(np.concatenate((first, second)), return_inverse=True)
    sketches = source.sketches(needed)
    return resemblances(sketches[rows[: first.size]], sketches[rows[first.size :]])
