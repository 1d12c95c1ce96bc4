"""Measures methods on short texts: headlines in pairs, and the first sentences of real pages.

The headlines (benchmarks/corpora/headlines.tsv) were written for this: pairs that say the same with
other punctuation, function words or additions, and pairs that differ in a number, a word that
matters, or the order. A pair counts as found or hit if the second is near the first.

``--data`` names a folder of pages (known_pairs.py). Of each page the first sentence of 5 to 19
words is taken. Pages of J>=0.9 should have near ones, as far as both begin with the same sentence;
of 200,000 random pairs of pages with J<0.3 none should.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from scrapy_neardup.methods import open_method
from scrapy_neardup.methods.words import WordMethod

from ..common.options import command_parser, say
from ..common.stored_pages import Page, html_of
from ..common.tables import Table
from .figures import Share
from .known_pairs import Pair, read_corpus
from .report import show
from .resemblance import true_text

HEADLINES = Path(__file__).parents[1] / "corpora" / "headlines.tsv"
METHODS = ("keywords", "words", "simhash", "nilsimsa", "minhash:width=2", "exact")
_LEAST, _MOST = 5, 19
_RANDOM_PAIRS = 200_000
_SAME = 0.9
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def headlines() -> Iterator[tuple[bool, str, str]]:
    """Yield whether two headlines say the same, and the two."""
    for line in HEADLINES.read_text("utf-8").splitlines():
        kind, first, second = line.split("\t")
        yield kind == "same", first, second


def first_sentence(page: Page) -> str:
    """Return the first sentence of a page that is a short text; empty if there is none."""
    words = open_method("keywords")
    assert isinstance(words, WordMethod)
    for sentence in _ENDS.split(true_text(html_of(page))):
        if _LEAST <= len(words.words(sentence)) <= _MOST:
            return " ".join(sentence.split())
    return ""


def short_texts_table(names: Sequence[str], data: Path | None) -> Table:
    """Measure the methods on both kinds of short texts."""
    columns: tuple[str, ...] = ("method", "same headlines found", "different headlines hit")
    sentences: Sequence[str] = ()
    if data is not None:
        columns += ("equal pages: first sentences found", "unrelated pages hit")
        corpus = read_corpus(data)
        say(f"{len(corpus.ids):,} pages: first sentences")
        sentences = corpus.map(first_sentence)
        same = [pair for pair, jaccard in corpus.pairs.items() if jaccard >= _SAME]
        unrelated = list(_random_pairs(sentences, corpus.pairs))
    table = Table("short texts", columns)
    for name in names:
        is_near = _comparison(name)
        pairs = list(headlines())
        figures = [
            _share(is_near, (p[1:] for p in pairs if p[0] is kind)) for kind in (True, False)
        ]
        if data is not None:
            both = [(sentences[a], sentences[b]) for a, b in same if sentences[a] and sentences[b]]
            figures += [_share(is_near, both), _share(is_near, unrelated)]
        table.add(name, *figures)
    return table


def _comparison(name: str) -> Callable[[str, str], bool]:
    method = open_method(name)
    values: dict[str, bytes] = {}

    def is_near(first: str, second: str) -> bool:
        for text in (first, second):
            if text not in values:
                values[text] = method.value(text)
        known, new = values[first], values[second]
        return bool(known and new) and method.is_near(new, known)

    return is_near


def _share(is_near: Callable[[str, str], bool], pairs: Iterable[tuple[str, ...]]) -> Share:
    found = [is_near(*pair) for pair in pairs]
    return Share(sum(found), len(found))


def _random_pairs(sentences: Sequence[str], known: dict[Pair, float]) -> Iterator[tuple[str, str]]:
    """Yield pairs of other sentences, of pages that do not resemble each other."""
    drawn = np.random.default_rng(5).integers(0, len(sentences), (_RANDOM_PAIRS, 2))
    for a, b in np.sort(drawn, axis=1).tolist():
        first, second = sentences[a], sentences[b]
        if first and second and first != second and (a, b) not in known:
            yield first, second


def main() -> int:
    parser = command_parser("benchmarks.quality.short_texts", __doc__)
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args()
    return show(partial(short_texts_table, METHODS, options.data), options.markdown)


if __name__ == "__main__":
    sys.exit(main())
