"""Judges stored pages and the written corpora by every method that is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shipped_tokenizer

from ..common.options import say
from ..common.stored_pages import Page, html_of
from . import peers
from .detection import Hits, compare_all, crawl, new_detector, shuffled, sign
from .figures import CrawlFigures, PairFigures, Yardstick
from .known_pairs import Corpus, read_corpus
from .report import (
    Result,
)
from .resemblance import Shingles, Truth, shingles, tokens, true_text
from .written_corpora import CorporaResult, measure_corpora

OTHER_EXTRACTORS = ("visible", *(["resiliparse"] if find_spec("resiliparse") else []))
_ORDERS = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements of one page by the detector, the exact resemblance and the peers.

    :ivar by_others: its signatures by the other extractors.
    """

    signature: PageSignature | None
    by_others: Mapping[str, PageSignature | None]
    n_tokens: int
    shingles: Shingles
    fingerprints: Mapping[str, Sequence[int]]


def measure(page: Page, *, with_peers: bool) -> Measured:
    html = html_of(page)
    text = true_text(html)
    found = tokens(text)
    fingerprints: Mapping[str, Sequence[int]] = {}
    if with_peers:
        words = shipped_tokenizer("auto")[0](normalize(text))
        fingerprints = peers.fingerprints(text, list(words))
    by_others = {name: sign(page, html, name) for name in OTHER_EXTRACTORS if with_peers}
    return Measured(sign(page, html), by_others, len(found), shingles(found), fingerprints)


def examine(data: Path, early_close: Path | None, corpora: Path, *, with_peers: bool) -> Result:
    """Measure everything, and say on the standard error how far it is."""
    corpus = read_corpus(data)
    written = measure_written(corpora)
    say(f"{len(corpus.ids):,} pages: texts, signatures{', peers' if with_peers else ''}")
    measured = corpus.map(partial(measure, with_peers=with_peers))
    truth = Truth(corpus, np.array([m.n_tokens for m in measured]), [m.shingles for m in measured])
    yardstick = Yardstick(truth)
    say("crawls in four orders, and all pairs")
    hits, crawls = _judge(yardstick, [m.signature for m in measured])
    return Result(
        yardstick,
        hits,
        crawls,
        {name: _compare(name, measured) for name in OTHER_EXTRACTORS if with_peers},
        {p.title: _judge_peer(p, yardstick, measured) for p in peers.usable() if with_peers},
        _judge_early(early_close) if early_close else None,
        written,
    )


def measure_written(folder: Path) -> CorporaResult:
    say("forms and disguised copies")
    return measure_corpora(folder)


def _judge(
    yardstick: Yardstick, signatures: Sequence[PageSignature | None]
) -> tuple[Hits, dict[str, CrawlFigures]]:
    """Crawl in the order of the files, then compare by what was learned; and crawl at random."""
    detector = new_detector()
    places = range(len(signatures))
    crawls = {"order of the files": yardstick.of_crawl(crawl(detector, signatures, places))}
    hits = compare_all(detector, signatures)
    for seed in range(1, _ORDERS + 1):
        dropped = crawl(new_detector(), signatures, shuffled(len(places), seed))
        crawls[f"random order {seed}"] = yardstick.of_crawl(dropped)
    return hits, crawls


def _compare(extractor: str, measured: Sequence[Measured]) -> Hits:
    """Return the pairs found with another extractor, after a crawl in file order."""
    detector = new_detector(extractor=extractor)
    signatures = [m.by_others[extractor] for m in measured]
    crawl(detector, signatures, range(len(signatures)))
    return compare_all(detector, signatures)


def _judge_peer(
    peer: peers.Peer, yardstick: Yardstick, measured: Sequence[Measured]
) -> PairFigures:
    places = np.flatnonzero(yardstick.truth.long_enough)
    rows = np.array([measured[i].fingerprints[peer.name] for i in places.tolist()], np.uint64)
    pairs = places[peer.search(rows)]
    return yardstick.of_pairs({(a, b) for a, b in pairs.T.tolist()})


def _judge_early(folder: Path) -> tuple[Corpus, Hits]:
    corpus = read_corpus(folder)
    signatures = corpus.map(sign)
    detector = new_detector()
    crawl(detector, signatures, range(len(signatures)))
    return corpus, compare_all(detector, signatures)
