"""Computes the exact resemblance of the main texts of two pages.

The measure is the one that ``pairs.csv`` was made with: the Jaccard measure of sets of five
consecutive tokens of the text that trafilatura extracts with its defaults, or of all text where
it returns none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import trafilatura
from trafilatura.utils import load_html

from scrapy_neardup.text.idf import token_hashes

from .known_pairs import Corpus, Pair

#: Pairs with a page of fewer tokens are left out of all figures but those of the labels.
MIN_TOKENS = 50

Shingles = npt.NDArray[np.uint64]

_WIDTH = 5
_SEEN = "//body//text()[not(ancestor::script or ancestor::style or ancestor::noscript)]"
_SINGLE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
#: Each Han character or kana is a token, and each run of other letters and digits.
_TOKEN = re.compile(rf"[{_SINGLE}]|[^\W{_SINGLE}]+")


def true_text(html: str) -> str:
    """The text of which the recorded resemblance speaks."""
    return trafilatura.extract(html) or _all_text(html)


def _all_text(html: str) -> str:
    tree = load_html(html)
    return "" if tree is None else " ".join(tree.xpath(_SEEN))


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def shingles(words: Sequence[str]) -> Shingles:
    """Hashes of all runs of five tokens, ascending; a shorter text is one by itself."""
    starts = range(max(len(words) - _WIDTH + 1, min(len(words), 1)))
    return np.unique(token_hashes([" ".join(words[i : i + _WIDTH]) for i in starts]))


def jaccard(a: Shingles, b: Shingles) -> float:
    shared = np.intersect1d(a, b, assume_unique=True).size
    return shared / max(a.size + b.size - shared, 1)


@dataclass(frozen=True)
class Truth:
    """Resemblance of all pairs of a corpus.

    :ivar n_tokens: of each page.
    :ivar shingles: of each page.
    """

    corpus: Corpus
    n_tokens: npt.NDArray[np.int64]
    shingles: Sequence[Shingles]

    @cached_property
    def long_enough(self) -> npt.NDArray[np.bool_]:
        """Return which pages have enough text to be counted."""
        return self.n_tokens >= MIN_TOKENS

    def counts(self, pair: Pair) -> bool:
        return bool(self.long_enough[pair[0]] and self.long_enough[pair[1]])

    def pairs(self, least: float) -> Iterator[Pair]:
        """Return the counted pairs with at least this resemblance (0.3 or more)."""
        return (p for p, j in self.corpus.pairs.items() if j >= least and self.counts(p))

    def resemblance(self, pair: Pair) -> float:
        """As recorded; computed for pairs that are not on record because theirs is below 0.3."""
        recorded = self.corpus.pairs.get(pair)
        return self.computed(pair) if recorded is None else recorded

    def computed(self, pair: Pair) -> float:
        return jaccard(self.shingles[pair[0]], self.shingles[pair[1]])

    def deviations(self) -> npt.NDArray[np.float64]:
        """Computed against recorded, of all recorded pairs: tells whether the text is the same."""
        return np.array([abs(self.computed(pair) - j) for pair, j in self.corpus.pairs.items()])
