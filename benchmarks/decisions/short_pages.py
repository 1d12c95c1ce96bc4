"""Decision on short pages: whether a short text is a duplicate only of an equal one.

There are few such pages, so more are cut from the others: of each page the sentences it begins
with, as long as they have few distinct tokens.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from scrapy_neardup import Rule
from scrapy_neardup.matching.verdict import Mismatch
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shipped_tokenizer

from ..common.stored_pages import Page
from ..common.tables import Table
from ..quality.detection import new_detector, signing_detector
from ..quality.figures import Share, Yardstick
from ..quality.known_pairs import Corpus, Pair
from .shared import known, main_page, signed, words_of

#: Distinct tokens of a page that is cut short.
_LEAST, _MOST = 5, Rule.min_features - 1
_BARS = (0.8, 0.85, 0.9, 0.95, 1.0)
#: From this resemblance of the whole pages on, what they begin with should be found.
_SAME = 0.9
#: Below this resemblance two pages are different, and so is what they begin with unless equal.
_OTHER = 0.5
#: Objections that the rule makes before it looks at the texts.
_OBJECTIONS = frozenset(
    "title_differs size_differs thin_text only_boilerplate_alike other_site".split()
)

_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；])\s+|(?<=[。！？；])|\n+")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShortPage:
    """The beginning of a page's text, treated as its whole text."""

    words: Words
    signature: PageSignature

    @property
    def features(self) -> frozenset[str]:
        return frozenset(self.words)


def cut_short(page: Page) -> ShortPage | None:
    """The first sentences of a page that have 5 to 19 distinct tokens together, if there are."""
    main = main_page(page)
    text = beginning(main.text)
    if not text:
        return None
    signature = signing_detector().signature(url=page.url, text=text, title=main.title)
    return ShortPage(tuple(_words(text)), signature)


def beginning(text: str) -> str:
    taken: list[str] = []
    features: set[str] = set()
    for sentence in _SENTENCE_END.split(text):
        features.update(_words(sentence))
        if len(features) > _MOST:
            break
        taken.append(sentence)
    kept = " ".join(taken).strip()
    return kept if len(set(_words(kept))) >= _LEAST else ""


def _words(text: str) -> list[str]:
    return list(shipped_tokenizer("auto")[0](normalize(text)))


def likeness(a: Iterable[str], b: Iterable[str]) -> float:
    """The exact Jaccard measure of two sets of tokens."""
    first, second = set(a), set(b)
    return len(first & second) / max(len(first | second), 1)


def alike_sets(sets: Sequence[frozenset[str]], least: float) -> Iterator[Pair]:
    """Yield the pairs of sets with a Jaccard measure of at least ``least``.

    Two such sets share one of the rarest tokens of each: all but ``least`` of a set, and one
    more (prefix filtering; Bayardo, Ma, Srikant, WWW 2007).
    """
    counts = Counter(token for each in sets for token in each)
    bearing: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(sets):
        rarest = sorted(each, key=lambda token: (counts[token], token))
        for token in rarest[: len(each) - math.ceil(least * len(each)) + 1]:
            bearing[token].append(place)
    pairs = {pair for places in bearing.values() for pair in combinations(places, 2)}
    return (pair for pair in sorted(pairs) if likeness(*(sets[p] for p in pair)) >= least)


def short_pages(corpus: Corpus) -> list[Table]:
    yardstick = known(corpus)
    cut = corpus.map(cut_short)
    return [_real_table(corpus, yardstick), *_cut_tables(yardstick, cut)]


def _real_table(corpus: Corpus, yardstick: Yardstick) -> Table:
    """The pages that are short by themselves."""
    few = [place for place, s in enumerate(signed(corpus)) if s and s.n_features <= _MOST]
    of_page = corpus.map(words_of)
    table = Table(f"pages with fewer than {_MOST + 1} distinct tokens", ("", "number"))
    table.add("pages", len(few))
    table.add(
        "pairs of them, J>=0.3", sum(yardstick.truth.resemblance(p) >= 0.3 for p in _pairs(few))
    )
    nearest = [likeness(of_page[a], of_page[b]) for a, b in _pairs(few)]
    table.add("pairs of them, half of their distinct tokens shared", sum(x >= 0.5 for x in nearest))
    table.add("most shared by a pair", max(nearest, default=0.0))
    return table


def _pairs(places: Iterable[int]) -> Iterator[Pair]:
    return combinations(sorted(places), 2)


@dataclass(frozen=True)
class _Cut:
    """Pages cut short, and which pairs of them should be found and which not."""

    pages: dict[int, ShortPage]
    alike: list[Pair]
    same: list[Pair]
    other: list[Pair]
    passed: frozenset[Pair]


def _cut_tables(yardstick: Yardstick, cut: Sequence[ShortPage | None]) -> list[Table]:
    found = _judged(yardstick, {place: page for place, page in enumerate(cut) if page})
    title = (
        f"{len(found.pages):,} pages cut to the sentences that they begin with, "
        f"{_LEAST} to {_MOST} distinct tokens"
    )
    return [
        _bar_table(f"{title}: their texts alone", yardstick, found, lambda _: True),
        _bar_table(
            f"{title}: what passes the rule's other questions",
            yardstick,
            found,
            found.passed.__contains__,
        ),
        _changed_table([len(page.features) for page in found.pages.values()]),
    ]


def _judged(yardstick: Yardstick, pages: dict[int, ShortPage]) -> _Cut:
    places = list(pages)
    sets = [page.features for page in pages.values()]
    alike = [(places[a], places[b]) for a, b in alike_sets(sets, min(_BARS))]
    same = [p for p in yardstick.truth.pairs(_SAME) if pages.keys() >= set(p)]
    other = [p for p in alike if yardstick.truth.resemblance(p) < _OTHER and not _equal(pages, p)]
    return _Cut(pages, alike, same, other, frozenset(_unopposed(pages, {*alike, *same})))


def _equal(pages: dict[int, ShortPage], pair: Pair) -> bool:
    a, b = (pages[place].signature.text_digest for place in pair)
    return a == b


def _unopposed(pages: dict[int, ShortPage], pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Pairs to which the rule has nothing to object but their texts, after a crawl of all."""
    detector = new_detector()
    for page in pages.values():
        detector.check(page.signature)
    for a, b in pairs:
        first, second = pages[a].signature, pages[b].signature
        outcome = detector.rule.compare(first, second, detector.store.boilerplates)
        if not (isinstance(outcome, Mismatch) and outcome.reason in _OBJECTIONS):
            yield a, b


def _bar_table(title: str, yardstick: Yardstick, cut: _Cut, keep: Callable[[Pair], bool]) -> Table:
    table = Table(
        title,
        (
            "confirmed by",
            f"found, pages with J>={_SAME}",
            f"wrong, J<{_OTHER}, one site",
            "sites",
            f"wrong, J<{_OTHER}, two sites",
            "pairs of sites",
        ),
    )
    pages, sites = cut.pages, yardstick.sites

    def add(name: str, confirms: Callable[[Pair], bool]) -> None:
        wrong = [p for p in cut.other if keep(p) and confirms(p)]
        of_sites = [tuple(sorted((sites[a], sites[b]))) for a, b in wrong]
        inside = [a for a, b in of_sites if a == b]
        across = [(a, b) for a, b in of_sites if a != b]
        found = Share(sum(keep(p) and confirms(p) for p in cut.same), len(cut.same))
        table.add(name, found, len(inside), len(set(inside)), len(across), len(set(across)))

    add("equal text", lambda p: _equal(pages, p))
    add("equal tokens in order", lambda p: pages[p[0]].words == pages[p[1]].words)
    for bar in reversed(_BARS):
        add(
            f"Jaccard of distinct tokens >= {bar}",
            lambda p, bar=bar: likeness(*(pages[place].words for place in p)) >= bar,  # type: ignore[misc]
        )
    table.notes += [
        "pairs of equal text are never counted as wrong",
        "pages count as showing nothing but these sentences, so none of them is thin",
    ]
    return table


def _changed_table(sizes: Sequence[int]) -> Table:
    """Return a table of the pages of which a copy with one token changed or added passes."""
    table = Table(
        "the same pages against a copy with one changed token that occurs once",
        ("Jaccard of distinct tokens", "pass with one replaced", "pass with one more"),
    )
    for bar in reversed(_BARS):
        replaced = sum((n - 1) / (n + 1) >= bar for n in sizes)
        added = sum(n / (n + 1) >= bar for n in sizes)
        table.add(f">= {bar}", Share(replaced, len(sizes)), Share(added, len(sizes)))
    return table
