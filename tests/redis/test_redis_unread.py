"""Pages that were read quickly only, met by several processes that share a Redis."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from scrapy_neardup.exceptions import StoreUnreachable
from scrapy_neardup.hashing.minhash import SKETCH_BINS
from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.compression import packed_body
from scrapy_neardup.sources.record import Record
from scrapy_neardup.stores import MemoryStore, Store, codec
from scrapy_neardup.stores.redis import passages
from scrapy_neardup.stores.redis.connection import RedisConnection, Script
from scrapy_neardup.stores.redis.layout import packed_number
from scrapy_neardup.stores.redis.pages import PageReader
from scrapy_neardup.stores.redis.store import RedisStore
from scrapy_neardup.text.values import CODE
from tests.support.redis_servers import RedisServer
from tests.support.texts import FERRY, MUSEUM, article, replaced

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


#: A copy on the site of its original.
COPY_ON_SITE = "https://a.example/printed"
CONTENTS = {**PAGES, COPY_ON_SITE: page(FERRY, "Ferry", "<div>To be printed</div>")}


@cache
def quick(url: str, html: str) -> PageSignature:
    [signature] = SIGNER.sign(SIGNER.quick_page(url, html))
    return signature


full = cache(SIGNER.sign_html)


QUICK = {url: quick(url, html) for url, html in CONTENTS.items()}
FULL = {url: full(url, html) for url, html in CONTENTS.items()}


def kept(store: Store, url: str, content: str | None = None) -> None:
    content = content or CONTENTS[url]
    record = Record(id=url, url=url, content=content, content_type="text/html")
    store.body_cache(MIB).put(quick(url, content).key, record, packed_body(content))


def completed(store: Store, key: str) -> None:
    record = store.body_cache(MIB).take(key)
    store.complete(key, None if record is None else full(record.url, str(record.content)))


def crawled(store: Store, url: str, rule: Rule, content: str | None = None) -> Verdict:
    """Judge and store a page, as a crawl does."""
    content = content or CONTENTS[url]
    signature = quick(url, content)
    while True:
        claim = store.claim(signature, rule)
        if claim.must_read or claim.unread:
            for key in claim.unread:
                completed(store, key)
            signature = replace(full(url, content), passages=quick(url, content).passages)
        elif not claim.is_blocked:
            if claim.ticket is not None:
                if not signature.is_read:
                    kept(store, url, content)
                store.commit(claim.ticket)
            return claim.verdict


class Schedule:
    """Lets one of several threads go on at a time, from one call of the server to the next.

    Most often it is the same again, so that much happens between two calls of another one.
    """

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self._rng = random.Random(seed)
        self._changed = threading.Condition()
        self._threads: set[threading.Thread] = set()
        self._waiting: set[int] = set()
        self._n_running = 0
        self._next: int | None = None
        self._last = 0
        call = RedisConnection.call

        def in_turn(connection: RedisConnection, ask):
            if threading.current_thread() in self._threads:
                self._wait()
            return call(connection, ask)

        monkeypatch.setattr(RedisConnection, "call", in_turn)

    def run(self, *works: Callable[[], None]) -> None:
        threads = [threading.Thread(target=self._ended_after, args=[work]) for work in works]
        self._n_running = len(threads)
        self._threads.update(threads)
        for thread in threads:
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
            if self._last not in self._waiting or self._rng.random() < 0.2:
                self._last = self._rng.choice(sorted(self._waiting))
            self._next = self._last
            self._changed.notify_all()


@pytest.mark.parametrize("seed", range(20))
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
    [original] = {v.duplicate_of for v in verdicts.values() if v.is_duplicate}
    assert original is not None
    assert stores[0].find(QUICK[original].key) is not None


@pytest.mark.parametrize("seed", range(3))
def test_several_processes_judge_as_one_does_in_memory(opened, seed):
    chance = random.Random(seed)
    texts = [article(150, number) for number in range(6)]
    memory, shared = MemoryStore(SECRET), [opened() for _ in range(3)]
    memory.adopt(SIGNER.recipe, SIGNER.parts)
    memory.body_cache(MIB)
    for _ in range(60):
        words = replaced(
            chance.choice(texts), chance.choice([0, 0.02, 0.1, 1]), chance.randrange(9)
        )
        text = ", ".join(" ".join(words[at : at + 10]) for at in range(0, len(words), 10))
        url = f"https://{chance.randrange(3)}.example/{chance.randrange(25)}"
        html = page(text, f"Title {chance.randrange(2)}", f"<div>{chance.randrange(9)}</div>")
        found = [crawled(store, url, Rule(), html) for store in (memory, chance.choice(shared))]
        assert found[0] == found[1]
    entries = [
        sorted((e.signature for e in store.entries()), key=lambda page: page.url)
        for store in (memory, shared[0])
    ]
    assert entries[0] == entries[1]
    assert {page.is_read for page in entries[0]} == {True, False}


def stored(store: RedisStore, url: str) -> None:
    claim = store.claim(QUICK[url], Rule())
    assert claim.verdict.kind == "new"
    assert claim.ticket is not None
    kept(store, url)
    store.commit(claim.ticket)


ORIGINAL, COPY, _, OTHER = PAGES
KEYS = {url: signature.key for url, signature in QUICK.items()}


def test_a_page_that_is_completed_during_a_claim_is_found(opened, monkeypatch):
    """Its fingerprint was looked for before, and it is read already when it is looked at."""
    first, second = opened(), opened()
    stored(first, ORIGINAL)
    claim = second.claim(QUICK[COPY], Rule())
    assert (claim.must_read, claim.unread) == (True, (KEYS[ORIGINAL],))
    stored_many = PageReader.stored_many

    def after_it_was_completed(reader, numbers):
        monkeypatch.undo()
        completed(first, KEYS[ORIGINAL])
        return stored_many(reader, numbers)

    monkeypatch.setattr(PageReader, "stored_many", after_it_was_completed)
    copy = replace(FULL[COPY], passages=QUICK[COPY].passages)
    assert second.claim(copy, Rule()).verdict.duplicate_of == ORIGINAL


def test_a_page_whose_body_is_on_its_way_is_waited_for(opened):
    first, second = opened(), opened()
    ticket = first.claim(QUICK[ORIGINAL], Rule()).ticket
    assert second.claim(QUICK[COPY], Rule()).is_blocked
    completed(second, KEYS[ORIGINAL])  # does nothing
    kept(first, ORIGINAL)
    assert second.claim(QUICK[COPY], Rule()).unread == (KEYS[ORIGINAL],)
    first.commit(ticket)
    assert crawled(second, COPY, Rule()).duplicate_of == ORIGINAL


def test_two_processes_complete_one_page(opened):
    first, second = opened(), opened()
    stored(first, ORIGINAL)
    taken = [store.body_cache(MIB).take(KEYS[ORIGINAL]) for store in (first, second)]
    assert None not in taken
    first.complete(KEYS[ORIGINAL], FULL[ORIGINAL])
    # The body is gone now, and the second one may fail to read its own copy of it.
    assert first.body_cache(MIB).take(KEYS[ORIGINAL]) is None
    second.complete(KEYS[ORIGINAL], None)
    assert crawled(second, COPY, Rule()).duplicate_of == ORIGINAL


def test_a_body_is_never_taken_for_what_its_address_holds_later(opened):
    first, second, third = opened(), opened(), opened()
    ticket = first.claim(QUICK[ORIGINAL], Rule()).ticket
    kept(first, ORIGINAL)
    assert second.body_cache(MIB).take(KEYS[ORIGINAL]) is not None
    # Its item fails, and another process meets another content at its address.
    first.release(ticket)
    changed = quick(ORIGINAL, PAGES[OTHER])
    ticket = third.claim(changed, Rule()).ticket
    second.complete(KEYS[ORIGINAL], FULL[ORIGINAL])
    third.commit(ticket)
    [entry] = first.entries()
    assert not entry.signature.is_read
    assert crawled(second, COPY, Rule()).kind == "new"


def test_what_was_completed_while_it_was_reserved_stays_so(opened):
    first, second = opened(), opened()
    ticket = first.claim(QUICK[ORIGINAL], Rule()).ticket
    kept(first, ORIGINAL)
    completed(second, KEYS[ORIGINAL])
    first.commit(ticket, items=7)
    first.commit(ticket, items=7)
    [entry] = first.entries()
    assert (entry.signature.is_read, entry.items) == (True, 7)
    assert crawled(second, COPY, Rule()).duplicate_of == ORIGINAL


def test_nothing_is_left_of_pages_that_are_forgotten(opened, redis_server):
    store = opened()
    for url in (ORIGINAL, OTHER):
        stored(store, url)
    completed(store, KEYS[ORIGINAL])
    store.release(store.claim(QUICK[COPY], Rule(min_similarity=0.9)).ticket)
    for url in (ORIGINAL, OTHER):
        assert store.forget(KEYS[url])
    with redis_server.client as client:
        names = {name.decode().rpartition(":")[2] for name in client.keys("*")}
    assert names.isdisjoint({"passages", "rows", "pages", "block0", "known", "reserved"})


@pytest.mark.parametrize("scope", ["all", "site"])
def test_bodies_of_all_sites_share_one_bound(opened, scope):
    store, rule = opened(scope=scope), Rule(scope="site")
    bodies = store.body_cache(0)
    for number in range(20):
        url = f"https://{number}.example/"
        signature = quick(url, PAGES[OTHER])
        claim = store.claim(signature, rule)
        body = random.Random(number).randbytes(99_000)
        bodies.put(signature.key, Record(url, url, b"", "html"), body)
        store.commit(claim.ticket)
    assert bodies.n_evicted == 10
    assert 900_000 < bodies.n_bytes < MIB
    assert bodies.take(signature.key) is None  # neither zstd nor zlib
    # Nothing is compared with pages whose bodies were evicted.
    again = store.claim(quick("https://0.example/2", PAGES[OTHER]), rule)
    assert not any("//0.example" in key for key in again.unread)


def test_what_a_dead_process_held_is_no_candidate(opened, redis_server):
    first, second = opened(), opened()
    first.claim(QUICK[ORIGINAL], Rule())
    kept(first, ORIGINAL)
    assert second.claim(QUICK[COPY], Rule()).unread == (KEYS[ORIGINAL],)
    # It dies with its reservation; whoever comes across that lets go of it.
    first._leases.stop()
    with redis_server.client as client:
        client.delete(f"{{neardup:default}}:run:{first._leases.id.hex()}")
    second._leases._found_alive.clear()
    assert crawled(second, COPY, Rule()).kind == "new"
    assert len(second) == 1


def test_expired_pages_are_no_candidates(opened):
    store = opened(ttl=100)
    store.add(QUICK[ORIGINAL], int(time.time()) - 200)
    assert store.claim(QUICK[COPY], Rule()).verdict.kind == "new"
    assert store.compact() == 1


def test_a_server_that_goes_away_amid_a_completion_costs_nothing(tmp_path, afterwards):
    server = RedisServer(tmp_path, appendonly="yes", appendfsync="always")
    afterwards.callback(server.kill)
    store = RedisStore(server.address, secret=SECRET, connect_timeout=0.2, call_timeout=0.2)
    store.adopt(SIGNER.recipe, SIGNER.parts)
    stored(store, ORIGINAL)
    assert store.claim(QUICK[COPY], Rule()).unread == (KEYS[ORIGINAL],)
    assert store.body_cache(MIB).take(KEYS[ORIGINAL]) is not None
    server.kill()
    with pytest.raises(StoreUnreachable):
        store.complete(KEYS[ORIGINAL], FULL[ORIGINAL])
    with pytest.raises(StoreUnreachable):
        store.body_cache(MIB).take(KEYS[ORIGINAL])
    server.start()
    # That its body could not be taken does not mean that there is none.
    store.complete(KEYS[ORIGINAL], None)
    assert crawled(store, COPY, Rule()).duplicate_of == ORIGINAL
    store.close()


def test_scripts_and_clients_agree_where_passages_are():
    source = Script("reserve").source.decode()
    assert f"HASH_BYTES, PASSAGE_FIELDS = 8, {passages._LOW}\n" in source
    sizes = f"{codec._HEAD.size}, {SKETCH_BINS}, {CODE.itemsize}\n"
    assert f"HEAD_BYTES, SKETCH_BYTES, VALUE_BYTES = {sizes}" in source
    found = passages.FoundSharers([b"\1\2\3\4" + packed_number(2**40 - 1), None])
    sharers = found.sharers(np.array([0x04030201_00000000, 7], np.uint64))
    assert (sharers.places.tolist(), sharers.numbers.tolist()) == ([0], [2**40 - 1])
