"""Pages that were read quickly only, met by several processes that share a Redis."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.compression import packed_body
from scrapy_neardup.sources.record import Record
from scrapy_neardup.stores.redis.connection import RedisConnection
from scrapy_neardup.stores.redis.store import RedisStore
from tests.support.texts import FERRY, MUSEUM

SECRET = bytes(range(32))
SIGNER = Signer(secret=SECRET, extraction="lazy")
MIB = 2**20


@pytest.fixture
def opened(redis_server) -> Iterator[Callable[..., RedisStore]]:
    stores: list[RedisStore] = []

    def open_(namespace: str = "default", **options) -> RedisStore:
        stores.append(RedisStore(redis_server.address, namespace, secret=SECRET, **options))
        stores[-1].adopt(SIGNER.recipe, SIGNER.parts)
        stores[-1].body_cache(MIB)
        return stores[-1]

    yield open_
    for store in stores:
        if not store.users.is_closed:
            store.close()


def page(text: str, title: str, frame: str = "") -> str:
    paragraphs = "".join(f"<p>{clause}</p>" for clause in re.split("(?<=[.,;]) ", text))
    return f"<html><head><title>{title}</title></head><body>{frame}{paragraphs}</body></html>"


PAGES = {
    "https://a.example/": page(FERRY, "Ferry"),
    "https://b.example/": page(FERRY, "Ferry", "<div>Another site prints the news</div>"),
    "https://c.example/": page(FERRY, "Ferry", "<div>A third one does so as well</div>"),
    "https://d.example/": page(MUSEUM, "Museum"),
}


def quick(url: str, html: str) -> PageSignature:
    [signature] = SIGNER.sign(SIGNER.quick_page(url, html))
    return signature


QUICK = {url: quick(url, html) for url, html in PAGES.items()}
FULL = {url: SIGNER.sign_html(url, html) for url, html in PAGES.items()}


def kept(store: RedisStore, url: str) -> None:
    content = PAGES[url]
    record = Record(id=url, url=url, content=content, content_type="text/html")
    store.body_cache(MIB).put(QUICK[url].key, record, packed_body(content))


def completed(store: RedisStore, key: str) -> None:
    record = store.body_cache(MIB).take(key)
    if record is None:
        store.complete(key, None)
    else:
        store.complete(key, SIGNER.sign_html(record.url, record.content))


def crawled(store: RedisStore, url: str, rule: Rule) -> Verdict:
    """Judge and store a page, as a crawl does."""
    signature = QUICK[url]
    while True:
        claim = store.claim(signature, rule)
        if claim.must_read or claim.unread:
            for key in claim.unread:
                completed(store, key)
            signature = replace(FULL[url], passages=QUICK[url].passages)
        elif not claim.is_blocked:
            if claim.ticket is not None:
                if not signature.is_read:
                    kept(store, url)
                store.commit(claim.ticket)
            return claim.verdict


class Schedule:
    """Lets one of several threads go on at a time, from one call of the server to the next."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self._rng = random.Random(seed)
        self._changed = threading.Condition()
        self._waiting: set[int] = set()
        self._n_running = 0
        self._next: int | None = None
        call = RedisConnection.call

        def in_turn(connection: RedisConnection, ask):
            if getattr(threading.current_thread(), "is_scheduled", False):
                self._wait()
            return call(connection, ask)

        monkeypatch.setattr(RedisConnection, "call", in_turn)

    def run(self, *works: Callable[[], None]) -> None:
        threads = [threading.Thread(target=self._ended_after, args=[work]) for work in works]
        self._n_running = len(threads)
        for thread in threads:
            thread.is_scheduled = True
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()

    def _wait(self) -> None:
        own = threading.get_ident()
        with self._changed:
            self._waiting.add(own)
            self._choose()
            assert self._changed.wait_for(lambda: self._next == own, 30)
            self._waiting.remove(own)
            self._next = None

    def _ended_after(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            with self._changed:
                self._n_running -= 1
                self._choose()

    def _choose(self) -> None:
        if self._waiting and len(self._waiting) == self._n_running:
            self._next = self._rng.choice(sorted(self._waiting))
            self._changed.notify_all()


@pytest.mark.parametrize("seed", range(25))
def test_of_copies_in_several_processes_one_is_stored(opened, monkeypatch, seed):
    stores = [opened() for _ in PAGES]
    verdicts: dict[str, Verdict] = {}

    def work(store: RedisStore, url: str) -> None:
        verdicts[url] = crawled(store, url, Rule())

    works = [lambda s=store, u=url: work(s, u) for store, url in zip(stores, PAGES, strict=True)]
    Schedule(seed, monkeypatch).run(*works)
    kinds = [verdicts[url].kind for url in PAGES]
    assert sorted(kinds[:3]) == ["duplicate", "duplicate", "new"]
    assert kinds[3] == "new"
    assert len(stores[0]) == 2
    [original] = {v.duplicate_of for v in verdicts.values()} - {None}
    assert stores[0].find(QUICK[original].key) is not None
