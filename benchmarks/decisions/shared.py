"""Measurements that several decisions use, made once per run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from scrapy_neardup import NearDupDetector, UnreadablePage
from scrapy_neardup.hashing.minhash import ShingleKey, shingle_hashes, sketches_of
from scrapy_neardup.html.extraction import MainText, read_page, shipped_extractor
from scrapy_neardup.text.idf import token_hashes
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shipped_tokenizer

from ..common.stored_pages import Page, html_of
from ..quality.detection import Hits, Signatures, compare_all, crawl, sign
from ..quality.figures import Yardstick
from ..quality.known_pairs import Corpus, read_corpus
from ..quality.resemblance import Shingles, Truth, shingles, tokens, true_text

PAIR_HEAD = ("finds J>=0.8", "finds J>=0.9", "hits J<0.5", "hits J<0.7", "hits")
LABEL_HEAD = ("duplicates found", "distinct hit")


def main_page(page: Page) -> MainText:
    """Return the main text that the package extracts from a page; empty for an unreadable page."""
    try:
        return read_page(html_of(page), shipped_extractor("trafilatura")[0])
    except UnreadablePage:
        return MainText("", "", "")


def main_text(page: Page) -> str:
    return main_page(page).text


def words_of(page: Page) -> list[str]:
    return list(shipped_tokenizer("auto")[0](normalize(main_text(page))))


def sketch_by(secret: bytes, units: list[str]) -> bytes:
    """The sketch of shingle units as a store of that secret would have it."""
    key = ShingleKey.from_secret(secret)
    return sketches_of([shingle_hashes(token_hashes(units, key.seed), key)]).tobytes()


def truth_of(page: Page) -> tuple[int, Shingles]:
    found = tokens(true_text(html_of(page)))
    return len(found), shingles(found)


@cache
def _known(folder: Path) -> Yardstick:
    corpus = read_corpus(folder)
    sizes, found = zip(*corpus.map(truth_of), strict=True)
    return Yardstick(Truth(corpus, np.array(sizes), found))


def known(corpus: Corpus) -> Yardstick:
    """The truth about the pages, measured once a run."""
    return _known(corpus.files[0].parent)


@cache
def _signed(folder: Path) -> Signatures:
    return read_corpus(folder).map(sign)


def signed(corpus: Corpus) -> Signatures:
    """The pages' signatures, made once a run."""
    return _signed(corpus.files[0].parent)


def hits_of(detector: NearDupDetector, signatures: Signatures) -> Hits:
    crawl(detector, signatures, range(len(signatures)))
    return compare_all(detector, signatures)


def cells(yardstick: Yardstick, hits: Hits) -> tuple[object, ...]:
    f, labels = yardstick.of_pairs(hits), yardstick.of_labels(hits)
    return (
        *(f.found_80, f.found_90, f.below_50, f.below_70, f.hits),
        *(labels.duplicates, labels.distinct),
    )
