"""A site's boilerplate, where most of its pages were read quickly only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.reasons import Reason
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import MemoryStore, Store, open_store
from tests.support.offers import COPIES_OF_NEWS, COPY, FIRST, NEWS, OFFERS, OTHERS, SECOND, printed

SECRET = bytes(range(32))
SIGNER = Signer(secret=SECRET, extraction="lazy")
RULE = Rule()

#: A store's maker; called again, it opens what the one before has closed, or an empty one.
MakeStore = Callable[[], Store]


def _new_store(kind: str, folder: Path, request: pytest.FixtureRequest) -> Store:
    if kind == "memory":
        return MemoryStore(SECRET)
    address = f"sqlite:///{folder / 'store.sqlite'}"
    if kind == "redis":
        address = request.getfixturevalue("redis_server").address
    return open_store(address, "spider", secret=SECRET)


@pytest.fixture(params=["memory", "sqlite", "redis"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    opened: list[Store] = []

    def make() -> Store:
        opened.append(_new_store(request.param, tmp_path, request))
        opened[-1].adopt(SIGNER.recipe, SIGNER.parts)
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@cache
def quick(url: str, html: str) -> PageSignature:
    [signature] = SIGNER.sign(SIGNER.quick_page(url, html))
    return signature


full = cache(SIGNER.sign_html)


class Crawl:
    """Judges and stores pages as a crawl does.

    :ivar bodies: of the pages that can still be read in full, by their keys.
    :ivar read: keys of the stored pages that were to be read in full.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.bodies: dict[str, str] = {}
        self.read: list[str] = []

    def judged(self, url: str, html: str) -> Verdict:
        signature = quick(url, html)
        claim = self.store.claim(signature, RULE)
        while claim.must_read or claim.unread:
            self.read += claim.unread
            for key in claim.unread:
                body = self.bodies.get(key)
                self.store.complete(key, None if body is None else full(key, body))
            if claim.must_read:
                signature = full(url, html).with_quick_parts_of(signature)
            claim = self.store.claim(signature, RULE)
        if claim.ticket is not None:
            self.bodies[signature.key] = html
            self.store.commit(claim.ticket)
        return claim.verdict

    def crawl(self, *pages: dict[str, str]) -> None:
        for some in pages:
            for url, html in some.items():
                self.judged(url, html)


def news_last(crawl: Crawl) -> None:
    crawl.crawl(OFFERS, NEWS)


def news_read_in_full(crawl: Crawl) -> None:
    crawl.crawl(NEWS, COPIES_OF_NEWS, OFFERS)
    assert set(NEWS) <= set(crawl.read)


def bodies_lost(crawl: Crawl) -> None:
    crawl.crawl(OFFERS, NEWS)
    for url in OTHERS:
        del crawl.bodies[url]


def bodies_evicted(crawl: Crawl) -> None:
    bodies_lost(crawl)
    for url in OTHERS:
        crawl.store.complete(url, None)


@pytest.mark.parametrize("situation", [news_last, news_read_in_full, bodies_lost, bodies_evicted])
def test_pages_that_have_the_terms_of_their_site_in_common_are_kept(make_store, situation):
    crawl = Crawl(make_store())
    situation(crawl)
    verdict = crawl.judged(*SECOND)
    assert verdict.kind == "new"
    assert verdict.look_alike is not None
    assert verdict.look_alike.objection == Reason.ONLY_BOILERPLATE_ALIKE
    assert crawl.judged(*COPY).duplicate_of == FIRST


def test_what_was_evicted_is_known_of_to_a_later_process(make_store):
    crawl = Crawl(make_store())
    bodies_evicted(crawl)
    assert crawl.judged(*COPY).is_duplicate
    crawl.store.close()
    if (later := make_store()).name != "memory":
        assert Crawl(later).judged(*SECOND).kind == "new"


def test_pages_of_one_template_are_read_once_and_others_are_not(make_store):
    crawl = Crawl(make_store())
    crawl.crawl(OFFERS, NEWS)
    assert crawl.judged(*COPY).reason == Reason.SIMILAR_TEXT
    assert sorted(crawl.read) == sorted(OFFERS)
    again = crawl.judged(f"{OTHERS[0]}/print", printed(OFFERS[OTHERS[0]]))
    assert (again.duplicate_of, len(crawl.read)) == (OTHERS[0], len(OFFERS))


def test_pages_that_share_their_passages_with_no_other_are_compared_at_once(make_store):
    crawl = Crawl(make_store())
    crawl.crawl(NEWS, COPIES_OF_NEWS)
    assert sorted(crawl.read) == sorted(NEWS)
    assert len(crawl.store) == len(NEWS)
