"""Decisions on reading a page: parser, extractor, tokenizer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import trafilatura
from charset_normalizer import from_bytes
from lxml.html import HtmlElement
from scrapy.http import HtmlResponse
from trafilatura.utils import load_html
from w3lib.encoding import resolve_encoding

from scrapy_neardup import NearDupDetector, UnreadablePage
from scrapy_neardup.html.encoding_detection import decode
from scrapy_neardup.html.extraction import visible_text
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shipped_tokenizer

from ..common.stored_pages import Page, html_of
from ..common.tables import Table
from ..quality.detection import new_detector
from ..quality.known_pairs import Corpus
from ..quality.resemblance import Shingles, jaccard, shingles, tokens
from .shared import LABEL_HEAD, PAIR_HEAD, cells, hits_of, known, main_text


class Timed(NamedTuple):
    """A text and the milliseconds it took."""

    text: str
    ms: float


def timed(work: Callable[[], str | None]) -> Timed:
    start = time.thread_time()
    text = work() or ""
    return Timed(text, 1000 * (time.thread_time() - start))


def article(tree: HtmlElement | None, *, fast: bool = True) -> str | None:
    if tree is None:
        return None
    return trafilatura.extract(tree, fast=fast, include_comments=False)


def on_both_trees(page: Page) -> tuple[Timed, Timed]:
    """Parsed anew, and on the tree that a spider has had parsed by then."""
    html = html_of(page)
    response = HtmlResponse(page.url, headers={"Content-Type": page.content_type}, body=page.body)
    root = response.selector.root
    return timed(lambda: article(load_html(html))), timed(lambda: article(root))


def extraction_on_scrapys_tree(corpus: Corpus) -> list[Table]:
    own, reused = zip(*corpus.map(on_both_trees), strict=True)
    return [_text_table("the page parsed anew, or Scrapy's tree", "anew", own, "reused", reused)]


def _text_table(
    title: str, name: str, texts: Sequence[Timed], other_name: str, others: Sequence[Timed]
) -> Table:
    pairs = list(zip((t.text for t in texts), (t.text for t in others), strict=True))
    table = Table(f"{title} ({len(pairs):,} pages)", ("", name, other_name))
    table.add("ms a page", *(float(np.mean([t.ms for t in each])) for each in (texts, others)))
    table.add("ms, slowest in a hundred", *(_slow(each) for each in (texts, others)))
    table.add("pages without a text", *(sum(not t.text for t in each) for each in (texts, others)))
    table.add("pages whose text differs", "", sum(a != b for a, b in pairs))
    table.add("pages emptied", "", sum(bool(a) and not b for a, b in pairs))
    return table


def _slow(texts: Sequence[Timed]) -> float:
    return float(np.percentile([t.ms for t in texts], 99))


class Extraction:
    """An extractor that remembers what it took out last and how long that took."""

    def __init__(self, *, fast: bool) -> None:
        self.fast = fast
        self.last = Timed("", 0.0)

    def __call__(self, html: str, tree: HtmlElement, /) -> str | None:
        self.last = timed(lambda: article(tree, fast=self.fast))
        return self.last.text or visible_text(html, tree)


@cache
def extracting(*, fast: bool) -> tuple[Extraction, NearDupDetector]:
    extraction = Extraction(fast=fast)
    return extraction, new_detector(extractor=extraction)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A page's text by one way of extraction."""

    text: Timed
    shingles: Shingles
    signature: PageSignature | None


def fast_and_thorough(page: Page) -> tuple[Extracted, Extracted]:
    html = html_of(page)
    fast, thorough = (_extracted(page, html, fast=fast) for fast in (True, False))
    return fast, thorough


def _extracted(page: Page, html: str, *, fast: bool) -> Extracted:
    extraction, detector = extracting(fast=fast)
    extraction.last = Timed("", 0.0)
    try:
        signature = detector.signature(url=page.url, html=html)
    except UnreadablePage:
        signature = None
    return Extracted(extraction.last, shingles(tokens(extraction.last.text)), signature)


def fast_extraction(corpus: Corpus) -> list[Table]:
    yardstick = known(corpus)
    fast, thorough = zip(*corpus.map(fast_and_thorough), strict=True)
    table = _text_table(
        "trafilatura: fast=True, or its default",
        "fast",
        [x.text for x in fast],
        "default",
        [x.text for x in thorough],
    )
    likeness = [jaccard(a.shingles, b.shingles) for a, b in zip(fast, thorough, strict=True)]
    table.add("pages whose two texts resemble each other < 0.9", "", sum(x < 0.9 for x in likeness))
    outcome = Table("what the detector then finds", ("extraction", *PAIR_HEAD, *LABEL_HEAD))
    for name, pages in (("fast", fast), ("default", thorough)):
        signatures = [x.signature for x in pages]
        outcome.add(name, *cells(yardstick, hits_of(extracting(fast=True)[1], signatures)))
    return [table, outcome]


def both_cuts(page: Page) -> tuple[Timed, Timed]:
    """The words, joined, by jieba and by jieba-rs."""
    text = normalize(main_text(page))
    cuts = [shipped_tokenizer(name)[0] for name in ("jieba", "rjieba")]
    by_jieba, by_rjieba = (timed(lambda cut=cut: "\n".join(cut(text))) for cut in cuts)  # type: ignore[misc]
    return by_jieba, by_rjieba


def jieba_against_rjieba(corpus: Corpus) -> list[Table]:
    jieba, rjieba = zip(*corpus.map(both_cuts), strict=True)
    table = _text_table("words by jieba, or by jieba-rs", "jieba", jieba, "rjieba", rjieba)
    table.notes.append("the two must not differ on any page")
    return [table]


#: Header of a right label's absence, and wrong ones that are met.
NO_LABEL = "text/html"
WRONG_LABELS = {
    "utf-8": ("gbk", "iso-8859-1"),
    "gb18030": ("utf-8", "iso-8859-1", "big5"),
    "big5": ("utf-8", "iso-8859-1", "gbk"),
    "cp1252": ("utf-8",),
}
#: Encodings of alphabets, and the letters of which a page has some that is theirs.
ALPHABETS = {
    "cp1252": "[à-ÿ]",
    "iso-8859-2": "[ąćčęěłńřśšůźž]",
    "cp1251": "(?:[а-я][^а-я]*){100}",
    "koi8-r": "(?:[а-я][^а-я]*){100}",
}
HAN_CHARACTERS = 100

_CHARSET = re.compile("charset", re.IGNORECASE)
_HAN = re.compile("[\u4e00-\u9fff]")


class Decoded(NamedTuple):
    """A page in one encoding with one declared encoding."""

    encoding: str
    label: str
    right: bool
    guessed_right: bool
    ms: float
    guess_ms: float


def encoded(page: Page) -> Iterator[tuple[str, bytes]]:
    """The page in each encoding that its text could have stood in, without a label of its own."""
    html = _CHARSET.sub("_", html_of(page))
    if html.isascii():
        return
    if len(_HAN.findall(html)) >= HAN_CHARACTERS:
        for encoding in ("utf-8", "gb18030", "big5"):
            yield encoding, html.encode(encoding, "xmlcharrefreplace")
        return
    yield "utf-8", html.encode()
    for encoding, letters in ALPHABETS.items():
        if re.search(letters, html, re.DOTALL):
            yield encoding, html.encode(encoding, "xmlcharrefreplace")


def decoded(page: Page) -> list[Decoded]:
    """Return the decoded page for the right, a wrong and no declared encoding."""
    return [
        _decoded(encoding, body, label)
        for encoding, body in encoded(page)
        for label in (encoding, *WRONG_LABELS.get(encoding, ()), "none")
    ]


def _decoded(encoding: str, body: bytes, label: str) -> Decoded:
    header = NO_LABEL if label == "none" else f"{NO_LABEL}; charset={label}"
    text = body.decode(resolve_encoding(encoding) or encoding, "replace")
    ours = timed(lambda: decode(body, header))
    theirs = timed(lambda: str(from_bytes(body).best() or "")) if label == "none" else ours
    return Decoded(encoding, label, ours.text == text, theirs.text == text, ours.ms, theirs.ms)


def decoding(corpus: Corpus) -> list[Table]:
    everything = [each for of_page in corpus.map(decoded) for each in of_page]
    head = ("encoding", "label", "pages", "wrong", "ms", "charset_normalizer wrong", "its ms")
    table = Table("pages re-encoded and labelled: texts that come out different", head)
    for encoding, label in dict.fromkeys((d.encoding, d.label) for d in everything):
        group = [d for d in everything if (d.encoding, d.label) == (encoding, label)]
        cells: list[object] = [len(group), sum(not d.right for d in group), _mean_ms(group, "ms")]
        if label == "none":
            cells += [sum(not d.guessed_right for d in group), _mean_ms(group, "guess_ms")]
        table.add(encoding, label, *cells, *[""] * (len(head) - 2 - len(cells)))
    return [table]


def _mean_ms(group: Sequence[Decoded], name: str) -> float:
    return float(np.mean([getattr(d, name) for d in group]))
