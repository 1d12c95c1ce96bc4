"""Decision on tuning: thresholds chosen on half of the sites, tested on the other half."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from statistics import median
from types import ModuleType

import numpy as np

from scrapy_neardup import Rule
from scrapy_neardup.hashing.minhash import resemblance
from scrapy_neardup.hashing.simhash_index import MAX_DISTANCE
from scrapy_neardup.matching import own_texts
from scrapy_neardup.matching import rule as judgement
from scrapy_neardup.matching import site_boilerplate as frame
from scrapy_neardup.matching.site_boilerplate import Boilerplates
from scrapy_neardup.matching.verdict import Match

from ..common.brute_force import near_pairs
from ..common.tables import Table
from ..quality.detection import Signatures
from ..quality.figures import LabelFigures, Share, Yardstick
from ..quality.known_pairs import Corpus, Label, Pair, halves
from .shared import known, signed

_CUTS = 8

#: What can be chosen, each value in order of size; the default is one of them.
GRID: dict[str, tuple[float, ...]] = {
    "max_distance": (7, 8, 9, 10, 11),
    "min_similarity": (0.61, 0.65, 0.69, 0.73, 0.77, 0.81),
    "THIN_COVERAGE": (0.5, 0.6, 0.7, 0.8, 0.9),
    "THIN_FEATURES": (100, 150, 200, 300, 400),
    "MIN_TITLE_OVERLAP": (0.4, 0.5, 0.6, 0.7, 0.8),
    "MIN_SIZE_RATIO": (1 / 5, 1 / 4, 1 / 3, 1 / 2, 2 / 3),
    "MIN_OWN_SIMILARITY": (0.3, 0.4, 0.5, 0.6, 0.7),
    "MIN_OWN_SHARE": (0.05, 0.1, 0.2),
    "EARLY_TITLES": (5, 10, 20),
    "EARLY_FEATURES": (50, 100, 200),
    "SMALL_FEATURES": (50, 100, 200, 400),
    "MIN_SMALL_SIMILARITY": (0.73, 0.86, 0.92, 0.96),
    "SHARE": (0.2, 0.25, 0.3, 0.4, 0.5),
}
_OF_RULE = ("max_distance", "min_similarity")

#: What a choice must keep to on the half that it is made on.
_MOST_DISTINCT = 0.04
_MOST_UNLIKE = 0.01

_HEAD = (
    "duplicates found",
    "distinct hit",
    "articles J>=0.9 found",
    "articles J>=0.8 found",
    "hits J<0.7",
    "notices merged",
)

#: One value for each name of the grid.
Choice = tuple[float, ...]


def _module_of(name: str) -> ModuleType:
    """Return the module that has a constant of the grid."""
    if name == "SHARE":
        return frame
    return own_texts if name in ("MIN_OWN_SIMILARITY", "MIN_OWN_SHARE") else judgement


def _default(name: str) -> float:
    return float(getattr(Rule if name in _OF_RULE else _module_of(name), name))


DEFAULTS: Choice = tuple(_default(name) for name in GRID)


@contextmanager
def constants(choice: Choice) -> Iterator[Rule]:
    """The rule with other thresholds and constants, for as long as the block lasts."""
    values = dict(zip(GRID, choice, strict=True))
    rule = Rule(int(values.pop("max_distance")), values.pop("min_similarity"))
    owners = {name: _module_of(name) for name in values}
    before = {name: getattr(owner, name) for name, owner in owners.items()}
    try:
        for name, owner in owners.items():
            setattr(owner, name, values[name])
        yield rule
    finally:
        for name, owner in owners.items():
            setattr(owner, name, before[name])


@dataclass
class Judge:
    """Returns the pairs that a choice of thresholds hits; each choice is judged once."""

    signatures: Signatures
    candidates: Sequence[Pair] = field(init=False)
    _known: dict[Choice, frozenset[Pair]] = field(default_factory=dict)
    _frames: dict[tuple[float, int], Boilerplates] = field(default_factory=dict)

    def __post_init__(self) -> None:
        least = min(GRID["min_similarity"])
        self.candidates = sorted({*_near(self.signatures, least), *_shown_alike(self.signatures)})

    def hits(self, choice: Choice) -> frozenset[Pair]:
        if choice not in self._known:
            with constants(choice) as rule:
                self._known[choice] = frozenset(self._hits(rule))
        return self._known[choice]

    def _learned(self) -> Boilerplates:
        """Return the boilerplate learned in the crawl; only the bound of thin texts affects it."""
        thin = judgement.THIN_COVERAGE, judgement.THIN_FEATURES
        if thin not in self._frames:
            self._frames[thin] = Boilerplates()
            for signature in filter(None, self.signatures):
                judgement.learn(self._frames[thin].of(signature.site), signature)
        return self._frames[thin]

    def _hits(self, rule: Rule) -> Iterator[Pair]:
        frames = self._learned()
        for a, b in self.candidates:
            first, second = self.signatures[a], self.signatures[b]
            assert first is not None
            assert second is not None
            if isinstance(rule.compare(first, second, frames), Match):
                yield a, b


def _near(signatures: Signatures, least: float) -> Iterator[Pair]:
    """Pairs within reach of each other, and alike enough for the least choice."""
    found = [(place, s) for place, s in enumerate(signatures) if s is not None and s.n_features]
    prints = np.array([s.fingerprint for _, s in found], np.uint64)
    for i, j in near_pairs(prints, MAX_DISTANCE).T.tolist():
        (place, a), (other, b) = found[i], found[j]
        alike = resemblance(a.sketch_values, b.sketch_values) >= least
        if alike or a.text_digest == b.text_digest:
            yield place, other


def _shown_alike(signatures: Signatures) -> Iterator[Pair]:
    """Pairs of one site that show the same, wherever their fingerprints lie."""
    places: dict[tuple[str, bytes], list[int]] = {}
    for place, signature in enumerate(signatures):
        if signature is not None and signature.n_features and signature.shown_digest:
            alike = places.setdefault((signature.site, signature.shown_digest), [])
            yield from ((other, place) for other in alike)
            alike.append(place)


@dataclass(frozen=True)
class HalfFigures:
    """The figures of a choice on one half of the sites."""

    labels: LabelFigures
    found_90: Share
    found_80: Share
    unlike: Share
    notices: int


@dataclass(frozen=True)
class Half:
    """The pairs of one half of the sites."""

    yardstick: Yardstick
    sites: frozenset[str]

    @cached_property
    def pages(self) -> frozenset[int]:
        return frozenset(p for p, site in enumerate(self.yardstick.sites) if site in self.sites)

    @cached_property
    def labels(self) -> list[Label]:
        return [x for x in self.yardstick.corpus.labels if self.holds(x.pair)]

    def holds(self, pair: Pair) -> bool:
        return self.pages.issuperset(pair)

    def _is_article_pair(self, pair: Pair) -> bool:
        return self.holds(pair) and self.yardstick.is_article_pair(pair)

    def of_labels(self, hits: frozenset[Pair]) -> LabelFigures:
        return LabelFigures.of(self.labels, hits)

    def unlike(self, hits: frozenset[Pair]) -> Share:
        """Hits with J<0.7."""
        counted = [pair for pair in hits if self.holds(pair) and self.yardstick.truth.counts(pair)]
        return Share(len(self.yardstick.unlike(counted)), len(counted))

    def worth(self, hits: frozenset[Pair]) -> tuple[Share, float]:
        """Duplicates found, and by how much the hits break what must be kept to (0.0: not)."""
        labels = self.of_labels(hits)
        distinct = max(0.0, labels.distinct.value - _MOST_DISTINCT)
        return labels.duplicates, distinct + max(0.0, self.unlike(hits).value - _MOST_UNLIKE)

    def figures(self, hits: frozenset[Pair]) -> HalfFigures:
        here = list(filter(self.holds, hits))
        articles = self.yardstick.of_pairs(here, self._is_article_pair)
        return HalfFigures(
            self.of_labels(hits),
            articles.found_90,
            articles.found_80,
            self.unlike(hits),
            len(self.yardstick.notices_merged(here)),
        )


def tuned(worth: Callable[[Choice], tuple[float, ...]], start: Choice) -> Choice:
    """The best choice by going along one threshold after the other until none gets better.

    :param worth: the greater, the better; of equals the choice nearest to the start is taken.
    """
    best, before = start, None
    while best != before:
        before = best
        for place, values in enumerate(GRID.values()):
            around = [(*best[:place], value, *best[place + 1 :]) for value in values]
            best = max(around, key=lambda choice: (*worth(choice), -steps(choice, start)))
    return best


def steps(choice: Choice, start: Choice) -> int:
    """Return the number of grid steps between two choices, summed over all thresholds."""
    return sum(
        abs(values.index(value) - values.index(other))
        for values, value, other in zip(GRID.values(), choice, start, strict=True)
    )


def drawn(seed: int) -> Choice:
    """Any choice."""
    generator = random.Random(seed)
    return tuple(map(generator.choice, GRID.values()))


def tune_on(half: Half, judge: Judge, start: Choice) -> Choice:
    @cache
    def worth(choice: Choice) -> tuple[float, float]:
        duplicates, excess = half.worth(judge.hits(choice))
        return -excess, duplicates.part

    return tuned(worth, start)


def thresholds_held_out(corpus: Corpus) -> list[Table]:
    yardstick = known(corpus)
    judge = Judge(signed(corpus))
    cuts = [(seed, cut(yardstick, seed)) for seed in range(1, _CUTS + 1)]
    from_defaults = _table(
        "thresholds chosen on half of the sites, of equals those nearest to the defaults; figures "
        "on the other half",
        cuts,
        judge,
        lambda _: DEFAULTS,
    )
    from_anywhere = _table(
        "the same, of equals those nearest to a start that is drawn: the defaults, which know both "
        "halves, have no say",
        cuts,
        judge,
        drawn,
    )
    from_anywhere.notes += [
        f"chosen so that at most {_MOST_DISTINCT:.0%} of the pairs labelled distinct are hit and "
        f"at most {_MOST_UNLIKE:.0%} of the hits have J<0.7, then by labelled duplicates found",
        "sites with a resembling pair are in one half; what is learned of a site, without any "
        "label, is learned from all pages in the order of the files",
        "only thresholds are chosen: which questions the rule asks was decided with all labels",
    ]
    return [from_defaults, from_anywhere]


def _table(
    title: str,
    cuts: Iterable[tuple[int, tuple[Half, Half]]],
    judge: Judge,
    start: Callable[[int], Choice],
) -> Table:
    table = Table(title, ("cut, chosen on", *_HEAD, "chosen, where not the default"))
    rows = []
    for seed, (first, second) in cuts:
        for number, (own, other) in enumerate(((first, second), (second, first)), 1):
            choice = tune_on(own, judge, start(2 * seed + number))
            rows.append(other.figures(judge.hits(choice)))
            table.add(f"{seed}, half {number}", *_cells(rows[-1]), described(choice))
    table.add("worst", *summed(rows, middle=False), "")
    table.add("median", *summed(rows, middle=True), "")
    return table


def cut(yardstick: Yardstick, seed: int) -> tuple[Half, Half]:
    half_of = halves(yardstick.sites, yardstick.joined, seed)
    first, second = (
        Half(yardstick, frozenset(site for site, half in half_of.items() if half == number))
        for number in (0, 1)
    )
    return first, second


def described(choice: Choice) -> str:
    changed = (
        f"{name} {value:.3g}"
        for name, value, default in zip(GRID, choice, DEFAULTS, strict=True)
        if value != default
    )
    return ", ".join(changed) or "-"


def _cells(f: HalfFigures) -> tuple[object, ...]:
    return f.labels.duplicates, f.labels.distinct, f.found_90, f.found_80, f.unlike, f.notices


def summed(rows: Sequence[HalfFigures], *, middle: bool) -> tuple[float, ...]:
    """The median of each figure, or the worst."""
    least, most = (median, median) if middle else (min, max)
    return (
        float(least(f.labels.duplicates.value for f in rows)),
        float(most(f.labels.distinct.value for f in rows)),
        float(least(f.found_90.value for f in rows)),
        float(least(f.found_80.value for f in rows)),
        float(most(f.unlike.value for f in rows)),
        float(most(f.notices for f in rows)),
    )
