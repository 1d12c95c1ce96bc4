"""Compares lazy extraction with full extraction, page by page in crawls of the same pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from scrapy_neardup import UnreadablePage
from scrapy_neardup.matching import passage_candidates
from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import MemoryStore

from ..common.stored_pages import Page
from ..common.tables import Table
from ..quality.detection import shuffled
from ..quality.figures import Yardstick
from ..quality.known_pairs import Corpus
from .shared import known

_SECRET = bytes(range(32))
_ORDERS = 3
_HEAD = ("dropped", "by full alone", "by lazy alone", "read in full", "of pages without a copy")
_TRUTH = ("J<0.5", "J<0.7", "duplicates merged", "distinct merged")
#: Shares of common passages, of 32, that make a candidate; pages that a passage is recorded of; how
#: much texts must overlap. Each but one is as it is in use.
_USED = 7, 6, 0.5
_ALTERNATIVES = (
    *((shared, *_USED[1:]) for shared in (5, 10)),
    *((_USED[0], most, _USED[2]) for most in (4, 8)),
    *((*_USED[:2], least) for least in (0.0, 0.4, 0.6)),
)


class Signed(NamedTuple):
    """Signatures of a page, read quickly and in full; ``None`` if it cannot be read."""

    quick: PageSignature
    full: PageSignature


class Crawl(NamedTuple):
    """The drops of a crawl, as places of a page and of its original, and the pages read in full."""

    drops: dict[int, int]
    read: set[int]


def lazy_extraction(corpus: Corpus) -> list[Table]:
    """Return what lazy extraction drops and reads in several orders, and the alternatives."""
    pages = corpus.map(_signed)
    related = {place for pair in corpus.pairs for place in pair}
    yardstick = known(corpus)
    orders = {"of the files": list(range(len(pages)))}
    orders |= {f"random {seed}": shuffled(len(pages), seed) for seed in range(1, _ORDERS)}
    table = Table("lazy extraction beside full extraction", ("order", *_HEAD, *_TRUTH))
    for name, order in orders.items():
        full = _crawl(pages, order, is_lazy=False)
        lazy = _crawl(pages, order, is_lazy=True)
        table.add(f"{name}, full", len(full.drops), "", "", "", "", *_of_truth(yardstick, full))
        table.add(f"{name}, lazy", *_cells(full, lazy, pages, related), *_of_truth(yardstick, lazy))
    head = ("shared, of 32", "pages of a passage", "overlap", *_HEAD)
    variants = Table("candidates by passages and overlap", head)
    order = orders["of the files"]
    full = _crawl(pages, order, is_lazy=False)
    for shared, most, least in (_USED, *_ALTERNATIVES):
        with _set(shared / 32, most, least):
            lazy = _crawl(pages, order, is_lazy=True)
        variants.add(shared, most, least, *_cells(full, lazy, pages, related))
    return [table, variants]


def _signed(page: Page) -> Signed | None:
    signer = Signer(secret=_SECRET, extraction="lazy")
    read = page.url, page.body, page.content_type
    try:
        [quick] = signer.sign(signer.quick_page(*read))
        return Signed(quick, signer.sign_html(*read))
    except UnreadablePage:
        return None


def _crawl(pages: Sequence[Signed | None], order: Sequence[int], *, is_lazy: bool) -> Crawl:
    store, rule = MemoryStore(_SECRET), Rule()
    drops: dict[int, int] = {}
    read: set[int] = set()
    places: dict[str, int] = {}
    by_url: dict[str, int] = {}
    for place in order:
        page = pages[place]
        if page is None or not page.full.n_features:
            continue
        signature = page.quick if is_lazy else page.full
        claim = store.claim(signature, rule)
        while claim.must_read or claim.unread:
            for key in claim.unread:
                original = pages[places[key]]
                assert original is not None
                store.complete(key, original.full)
                read.add(places[key])
            signature = page.full.with_quick_parts_of(page.quick)
            claim = store.claim(signature, rule)
        if signature.is_read:
            read.add(place)
        if claim.verdict.duplicate_of is not None:
            drops[place] = by_url[claim.verdict.duplicate_of]
        if claim.ticket is not None:
            store.commit(claim.ticket)
            places[signature.key] = by_url[signature.url] = place
    return Crawl(drops, read)


def _cells(
    full: Crawl, lazy: Crawl, pages: Sequence[Signed | None], related: set[int]
) -> Iterator[object]:
    unrelated = set(range(len(pages))) - related
    yield len(lazy.drops)
    yield len(full.drops.keys() - lazy.drops.keys())
    yield len(lazy.drops.keys() - full.drops.keys())
    yield f"{len(lazy.read) / len(pages):.3f}"
    yield f"{len(lazy.read & unrelated) / max(1, len(unrelated)):.3f}"


def _of_truth(yardstick: Yardstick, crawl: Crawl) -> tuple[object, ...]:
    figures = yardstick.of_crawl(crawl.drops)
    return figures.below_50, figures.below_70, figures.duplicates, figures.distinct


@contextmanager
def _set(share: float, most_pages: int, overlap: float) -> Iterator[None]:
    """Use other bounds for candidates meanwhile."""
    bounds = vars(passage_candidates)
    before = {name: bounds[name] for name in ("MIN_SHARED", "MAX_PAGES", "MIN_OVERLAP")}
    bounds.update(MIN_SHARED=share, MAX_PAGES=most_pages, MIN_OVERLAP=overlap)
    try:
        yield
    finally:
        bounds.update(before)
