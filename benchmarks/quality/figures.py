"""Figures: recall, precision and the counts behind them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple

from scrapy_neardup._util.urls import is_list

from .known_pairs import Corpus, Label, Pair, halves, slug
from .resemblance import Truth

#: From this resemblance on, a pair that a reader called duplicate should be found.
LABELLED_FROM = 0.6
#: What separates the two halves of the kinds of forms and of the disguises in tables.
HALVES = {None: "all", 0: "first half", 1: "second half"}

#: The normal distribution's quantile at 0.975.
_Z = 1.959963984540054

_BETWEEN_WORDS = re.compile(r"[\W_]+")


class Share(NamedTuple):
    """A part and the whole that it is of."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        return self.part / self.whole if self.whole else 0.0

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.part:,}/{self.whole:,})"


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share by Wilson's score method.

    Reference: Brown, Cai and DasGupta, Interval Estimation for a Binomial Proportion, Statistical
    Science 16 (2001), 101-133, formula 4.

    :param whole: how many were looked at; with 0 nothing is known, and the interval is 0 to 1.
    :raises ValueError: when ``part`` is negative or more than ``whole``.
    """
    if not 0 <= part <= whole:
        raise ValueError(f"{part} of {whole} is not a share")
    if whole == 0:
        return 0.0, 1.0
    value, square = part / whole, _Z * _Z
    centre = (value + square / (2 * whole)) / (1 + square / whole)
    radius = _Z * sqrt(value * (1 - value) / whole + square / (4 * whole * whole))
    radius /= 1 + square / whole
    return max(0.0, centre - radius), min(1.0, centre + radius)


def half_of_name(name: str) -> int:
    """Return the half, 0 or 1, that a kind of form or a disguise belongs to."""
    return zlib.crc32(name.encode()) % 2


def share(pairs: Iterable[Pair], hits: Collection[Pair]) -> Share:
    """Return the share of the pairs that were hit."""
    wanted = list(pairs)
    return Share(sum(pair in hits for pair in wanted), len(wanted))


@dataclass(frozen=True)
class PairFigures:
    """The table by which detectors are compared, over all pairs that count."""

    found_80: Share
    found_90: Share
    below_50: int
    below_70: int
    hits: int


@dataclass(frozen=True)
class LabelFigures:
    """Shares of the labelled pairs that were hit: duplicate and distinct ones."""

    duplicates: Share
    distinct: Share

    @classmethod
    def of(
        cls, labels: Collection[Label], hits: Collection[Pair], least: float = LABELLED_FROM
    ) -> LabelFigures:
        """:param least: resemblance from which on duplicates count."""
        duplicates = [x.pair for x in labels if x.label == "duplicate" and x.jaccard >= least]
        distinct = [x.pair for x in labels if x.label == "distinct"]
        return cls(share(duplicates, hits), share(distinct, hits))


@dataclass(frozen=True)
class CrawlFigures:
    """Figures of a crawl: dropped pages, lost contents, missed duplicates.

    :ivar below_50: dropped pages that resemble their original less than 0.5; 70 likewise.
    :ivar duplicates: labelled pairs of which one page remains, or both have one original.
    """

    dropped: int
    below_50: int
    below_70: int
    duplicates: Share
    distinct: Share
    notices: int


@dataclass(frozen=True)
class Yardstick:
    """A corpus with its truth, against which hits are held."""

    truth: Truth

    @property
    def corpus(self) -> Corpus:
        return self.truth.corpus

    @cached_property
    def sites(self) -> list[str]:
        return self.corpus.sites

    @cached_property
    def lists(self) -> frozenset[int]:
        return frozenset(i for i, url in enumerate(self.corpus.urls) if is_list(url))

    @cached_property
    def joined(self) -> list[tuple[str, str]]:
        """The sites of each recorded pair, resembling or labelled."""
        pairs = {*self.corpus.pairs, *(label.pair for label in self.corpus.all_labels)}
        return [(self.sites[a], self.sites[b]) for a, b in pairs]

    @cached_property
    def half_of(self) -> dict[str, int]:
        return halves(self.sites, self.joined)

    def of_pairs(
        self, hits: Collection[Pair], keep: Callable[[Pair], bool] = lambda _: True
    ) -> PairFigures:
        counted = [pair for pair in hits if self.truth.counts(pair) and keep(pair)]
        resemblances = [self.truth.resemblance(pair) for pair in counted]
        return PairFigures(
            share(filter(keep, self.truth.pairs(0.8)), hits),
            share(filter(keep, self.truth.pairs(0.9)), hits),
            sum(j < 0.5 for j in resemblances),
            sum(j < 0.7 for j in resemblances),
            len(counted),
        )

    def decided_rightly(
        self, hits: Collection[Pair], least: float, keep: Callable[[Pair], bool] = lambda _: True
    ) -> Share:
        """Pairs of a resemblance from ``least`` on that are hit or, if called distinct, are not."""
        distinct = self.corpus.distinct
        pairs = list(filter(keep, self.truth.pairs(least)))
        return Share(sum((pair in hits) != (pair in distinct) for pair in pairs), len(pairs))

    def is_article_pair(self, pair: Pair) -> bool:
        """Neither page is a list, neither shows the theme's notice."""
        return self.lists.isdisjoint(pair) and self.corpus.notices.isdisjoint(pair)

    def labels_of(self, half: int | None = None) -> list[Label]:
        """Return the labels of all sites or of one half; no pair is between the halves."""
        return [
            label
            for label in self.corpus.labels
            if half is None or self.half_of[self.sites[label.pair[0]]] == half
        ]

    def of_labels(self, hits: Collection[Pair], half: int | None = None) -> LabelFigures:
        return LabelFigures.of(self.labels_of(half), hits)

    def of_labels2(self, hits: Collection[Pair]) -> LabelFigures:
        """The same of labels2.csv, of which all duplicates are wanted."""
        return LabelFigures.of(self.corpus.labels2, hits, least=0.0)

    def called_duplicate(
        self, hits: Collection[Pair], keep: Callable[[Label], bool] = lambda _: True
    ) -> Share:
        """Return the share of duplicates among the labelled hits, unclear ones included.

        This is the precision of the hits as far as readers have seen them.
        """
        seen = [x for x in self.corpus.all_labels if x.pair in hits and keep(x)]
        return Share(sum(x.label == "duplicate" for x in seen), len(seen))

    def notices_merged(self, hits: Iterable[Pair]) -> list[Pair]:
        """Pairs of different blogs that both show nothing but the theme's notice."""
        notices = self.corpus.notices
        return [
            (a, b)
            for a, b in hits
            if a in notices and b in notices and self.sites[a] != self.sites[b]
        ]

    def unlike(self, hits: Iterable[Pair], below: float = 0.7) -> list[tuple[float, Pair]]:
        """Hits of little resemblance, the least first."""
        counted = ((self.truth.resemblance(p), p) for p in hits if self.truth.counts(p))
        return sorted(found for found in counted if found[0] < below)

    def of_crawl(self, dropped: Mapping[int, int]) -> CrawlFigures:
        drops = [_ordered(*drop) for drop in dropped.items()]
        figures = self.of_pairs(drops)
        # Nothing is dropped for a page that was itself dropped, so one step leads to the original.
        merged = {
            label.pair
            for label in self.corpus.labels
            if len({dropped.get(page, page) for page in label.pair}) == 1
        }
        labels = self.of_labels(merged)
        return CrawlFigures(
            len(drops),
            figures.below_50,
            figures.below_70,
            labels.duplicates,
            labels.distinct,
            len(self.notices_merged(drops)),
        )


def is_wanted(label: Label) -> bool:
    return label.label == "duplicate" and label.jaccard >= LABELLED_FROM


def other_names(corpus: Corpus, hits: Iterable[Pair]) -> list[Pair]:
    """The pairs whose pages have not the same name, or the same and more, in their addresses.

    A post that is reprinted, such as the one that comes with a theme, keeps its name.
    """
    names = [set(_BETWEEN_WORDS.split(slug(url))) for url in corpus.urls]
    return [(a, b) for a, b in hits if not (names[a] <= names[b] or names[b] <= names[a])]


def other_posts(corpus: Corpus, hits: Iterable[Pair]) -> list[Pair]:
    """The same without lists: two archives can really show the same entries."""
    urls = corpus.urls
    return [pair for pair in other_names(corpus, hits) if not any(is_list(urls[p]) for p in pair)]


def spread(counts: Iterable[int]) -> float:
    """Difference of the greatest and the least, as a part of their mean."""
    values = list(counts)
    total = sum(values)
    return (max(values) - min(values)) * len(values) / total if total else 0.0


def _ordered(a: int, b: int) -> Pair:
    return min(a, b), max(a, b)
