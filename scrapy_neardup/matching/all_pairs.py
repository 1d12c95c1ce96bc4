"""Finds all pairs of near-duplicates among stored pages.

Fingerprints propose pairs. Most are ruled out by comparing the summaries and sketches of many pairs
at once, as in :mod:`~scrapy_neardup.matching.candidates`; the full rule compares the rest. Only
memory is bounded: many similar pages take the time that comparing all their pairs takes.
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
from .candidates import SignatureSource, likeness_of, similarity_floors, site_digest
from .rule import Rule, learn
from .site_boilerplate import MAX_ENTRIES, Boilerplates, SiteBoilerplate
from .verdict import Match

_Numbers = npt.NDArray[np.intp]

#: Pairs whose sketches are read together: a megabyte a side.
_BATCH = 2048
#: Pages that are cached, because the pairs of a cluster follow each other.
_CACHED_PAGES = 8192


class Pair(NamedTuple):
    """Two pages with the same content.

    :ivar numbers: their numbers in the store, the smaller first.
    :ivar pages: their signatures, in the same order.
    """

    numbers: tuple[int, int]
    pages: tuple[PageSignature, PageSignature]
    match: Match


def matching_pairs(
    numbers: _Numbers,
    fingerprints: npt.NDArray[np.uint64],
    source: SignatureSource,
    rule: Rule,
    known: _Numbers,
) -> Iterator[Pair]:
    """Yield once each pair within the rule's distance that the rule accepts.

    Equal pages nearly always have equal fingerprints. Where scripts or a custom extractor cause a
    larger distance than the rule's, the pair is not found, although the rule would accept it.

    The order of the pairs depends on the pages alone. A site's boilerplate is learned from its
    newest :data:`~scrapy_neardup.matching.site_boilerplate.MAX_ENTRIES` known pages.

    :param numbers: numbers of the pages, shape ``(n,)``, ascending.
    :param fingerprints: fingerprints of the pages, shape ``(n,)``.
    :param source: holds all known pages, and does not change during the iteration.
    :param known: numbers of these pages and of those that were read quickly only, which are not
        compared, but teach what recurs on their sites; shape ``(m,)``, ascending.
    """
    page = lru_cache(_CACHED_PAGES)(source.page)
    boilerplates = Boilerplates(_PagesBySite(known, source).teach)
    for batch in near_pairs(fingerprints, rule.max_distance):
        for first, second in _promising(numbers, batch, source, rule):
            for pair in zip(first.tolist(), second.tolist(), strict=True):
                pages = page(pair[0]), page(pair[1])
                outcome = rule.compare_either_way(*pages, boilerplates)
                if isinstance(outcome, Match):
                    yield Pair(pair, pages, outcome)


class _PagesBySite:
    """The pages of each site."""

    def __init__(self, numbers: _Numbers, source: SignatureSource) -> None:
        digests = source.summaries(numbers)["site"]
        order = np.argsort(digests, kind="stable")
        self._source = source
        self._digests, self._numbers = digests[order], numbers[order]

    def teach(self, site: str, boilerplate: SiteBoilerplate) -> None:
        """Teach a boilerplate its site's newest pages, the oldest of them first."""
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
    """Yield pairs that the rule could accept, by site: each boilerplate is learned once a batch."""
    first, second = numbers[batch.first], numbers[batch.second]
    summaries, others = source.summaries(first), source.summaries(second)
    likeness = likeness_of(summaries, others, rule)
    same_title = summaries["title"] == others["title"]
    floors = similarity_floors(same_title, rule)
    possible = np.flatnonzero(likeness.possible)
    order = possible[np.lexsort((second[possible], first[possible], summaries["site"][possible]))]
    for start in range(0, order.size, _BATCH):
        places = order[start : start + _BATCH]
        similarity = _resemblances(first[places], second[places], source)
        places = places[likeness.equal[places] | (similarity >= floors[places])]
        yield first[places], second[places]


def _resemblances(
    first: _Numbers, second: _Numbers, source: SignatureSource
) -> npt.NDArray[np.float64]:
    """Return the resemblances of pairs, estimated from their sketches; each page is read once."""
    needed, rows = np.unique(np.concatenate((first, second)), return_inverse=True)
    sketches = source.sketches(needed)
    return resemblances(sketches[rows[: first.size]], sketches[rows[first.size :]])
