"""Pages that were read quickly only: claimed by their passages, read in full when they matter."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.matching.stored_items import NO_ITEMS
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.compression import packed_body
from scrapy_neardup.sources.record import Record
from scrapy_neardup.stores import MemoryStore, Store, open_store
from scrapy_neardup.stores.body_cache import BodyCache
from scrapy_neardup.stores.sqlite.bodies import FileBodyCache
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support.texts import FERRY, MUSEUM, TEA

SECRET = bytes(range(32))
RULE = Rule()

#: A store's maker; called again, it opens what the one before has closed, or an empty one.
MakeStore = Callable[[], Store]


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer(secret=SECRET, extraction="lazy")


def _new_store(kind: str, folder: Path, request: pytest.FixtureRequest) -> Store:
    if kind == "memory":
        return MemoryStore(SECRET)
    if kind == "sqlite":
        return open_store(f"sqlite:///{folder / 'store.sqlite'}", "spider", secret=SECRET)
    server = request.getfixturevalue("redis_server")
    return open_store(server.address, "spider", secret=SECRET)


@pytest.fixture(params=["memory", "sqlite", "redis"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    opened: list[Store] = []

    def make() -> Store:
        opened.append(_new_store(request.param, tmp_path, request))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(make_store: MakeStore, signer: Signer) -> Store:
    store = make_store()
    store.adopt(signer.recipe, signer.parts)
    return store


def page(text: str, title: str, frame: str = "") -> str:
    paragraphs = "".join(f"<p>{clause}</p>" for clause in re.split("(?<=[.,;]) ", text))
    return f"<html><head><title>{title}</title></head><body>{frame}{paragraphs}</body></html>"


def quick(signer: Signer, url: str, html: str) -> PageSignature:
    [signature] = signer.sign(signer.quick_page(url, html))
    assert not signature.is_read
    return signature


def full(signer: Signer, url: str, html: str) -> PageSignature:
    return signer.sign_html(url, html)


def stored(store: Store, signature: PageSignature) -> None:
    claim = store.claim(signature, RULE)
    assert claim.verdict.kind == "new"
    assert claim.ticket is not None
    store.commit(claim.ticket)


PAGES = [page(FERRY, "Ferry"), page(MUSEUM, "Museum"), page(TEA, "Tea")]
COPY = page(FERRY, "Ferry", "<div>Another site prints the news of all islands</div>")


def test_pages_that_resemble_no_other_are_new_and_stored_without_their_texts(store, signer):
    for number, html in enumerate(PAGES):
        stored(store, quick(signer, f"https://{number}.example/", html))
    assert len(store) == 3
    assert [entry.signature.is_read for entry in store.entries()] == [False, False, False]


def test_a_copy_and_its_original_are_to_be_read(store, signer):
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    stored(store, quick(signer, "https://b.example/", PAGES[1]))
    claim = store.claim(quick(signer, "https://c.example/", COPY), RULE)
    assert (claim.ticket, claim.must_read, claim.unread) == (None, True, ("https://a.example/",))
    # Read in full, it still waits for the original.
    copy = full(signer, "https://c.example/", COPY)
    claim = store.claim(copy, RULE)
    assert (claim.must_read, claim.unread) == (False, ("https://a.example/",))
    store.complete("https://a.example/", full(signer, "https://a.example/", PAGES[0]))
    claim = store.claim(copy, RULE)
    assert (claim.verdict.kind, claim.verdict.duplicate_of) == ("duplicate", "https://a.example/")
    assert len(store) == 2


def test_a_page_that_cannot_be_read_any_more_is_no_original(store, signer):
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    store.complete("https://a.example/", None)
    claim = store.claim(quick(signer, "https://c.example/", COPY), RULE)
    assert claim.verdict.kind == "new"
    assert claim.ticket is not None
    assert len(store) == 1


def test_a_claimed_page_can_be_completed_before_it_is_committed(store, signer):
    first = store.claim(quick(signer, "https://a.example/", PAGES[0]), RULE)
    copy = full(signer, "https://c.example/", COPY)
    assert store.claim(copy, RULE).unread == ("https://a.example/",)
    store.complete("https://a.example/", full(signer, "https://a.example/", PAGES[0]))
    assert store.claim(copy, RULE).is_blocked
    store.commit(first.ticket)
    assert store.claim(copy, RULE).verdict.duplicate_of == "https://a.example/"


def test_a_released_page_is_no_candidate(store, signer):
    store.release(store.claim(quick(signer, "https://a.example/", PAGES[0]), RULE).ticket)
    stored(store, quick(signer, "https://c.example/", COPY))
    assert len(store) == 1


def test_completing_changes_neither_address_nor_what_was_read_before(store, signer):
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    store.complete("https://nobody.example/", full(signer, "https://b.example/", PAGES[1]))
    store.complete("https://a.example/", full(signer, "https://other.example/", PAGES[0]))
    store.complete("https://a.example/", full(signer, "https://a.example/", PAGES[1]))
    store.complete("https://a.example/", None)
    [entry] = store.entries()
    expected = full(signer, "https://a.example/", PAGES[0])
    assert replace(entry.signature, passages=b"") == replace(expected, passages=b"")


@pytest.mark.parametrize(("again", "reason"), [(PAGES[0], "unchanged"), (PAGES[1], "changed")])
def test_a_revisit_compares_texts(store, signer, again, reason):
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    claim = store.claim(quick(signer, "https://a.example/", again), RULE)
    assert (claim.must_read, claim.unread) == (True, ("https://a.example/",))
    store.complete("https://a.example/", full(signer, "https://a.example/", PAGES[0]))
    claim = store.claim(full(signer, "https://a.example/", again), RULE)
    assert (claim.verdict.kind, claim.verdict.reason) == ("revisit", reason)


def test_a_revisit_of_a_page_that_cannot_be_read_any_more_has_changed(store, signer):
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    store.complete("https://a.example/", None)
    assert store.claim(quick(signer, "https://a.example/", PAGES[0]), RULE).must_read
    claim = store.claim(full(signer, "https://a.example/", PAGES[0]), RULE)
    assert (claim.verdict.kind, claim.verdict.reason) == ("revisit", "changed")
    store.commit(claim.ticket)
    assert len(store) == 1


# --- bodies that have not changed ---

DIGEST = bytes(range(16))


def with_body(signature: PageSignature, digest: bytes = DIGEST) -> PageSignature:
    return replace(signature, body_digest=digest)


@pytest.mark.parametrize("was_read", [False, True])
def test_an_unchanged_body_is_a_revisit_by_the_stored_signature(store, signer, was_read):
    ferry = with_body(quick(signer, "https://a.example/", PAGES[0]))
    stored(store, ferry)
    if was_read:
        store.complete(ferry.key, full(signer, ferry.url, PAGES[0]))
    [before] = store.entries()
    claim = store.claim(ferry, RULE)
    assert (claim.must_read, claim.unread, claim.unchanged) == (False, (), before.signature)
    assert (claim.verdict.kind, claim.verdict.reason) == ("revisit", "unchanged")
    store.commit(claim.ticket)
    [entry] = store.entries()
    assert entry.signature == before.signature
    # A copy is found as before.
    claim = store.claim(full(signer, "https://c.example/", COPY), RULE)
    if not was_read:
        assert claim.unread == (ferry.key,)
        store.complete(ferry.key, full(signer, ferry.url, PAGES[0]))
        claim = store.claim(full(signer, "https://c.example/", COPY), RULE)
    assert claim.verdict.duplicate_of == ferry.url


def test_a_page_under_its_stored_signature_is_a_revisit_too(store, signer):
    ferry = with_body(full(signer, "https://a.example/", PAGES[0]))
    stored(store, ferry)
    [before] = store.entries()
    claim = store.claim(before.signature, RULE)
    assert (claim.verdict.reason, claim.unchanged) == ("unchanged", before.signature)


def test_both_versions_of_a_page_that_is_reserved_once_more_are_completed(store, signer):
    ferry = with_body(quick(signer, "https://a.example/", PAGES[0]))
    stored(store, ferry)
    again = store.claim(ferry, RULE)
    copy = full(signer, "https://c.example/", COPY)
    assert store.claim(copy, RULE).unread == (ferry.key,)
    store.complete(ferry.key, with_body(full(signer, ferry.url, PAGES[0])))
    # Its text is learned once.
    assert store.boilerplates.of("a.example").texts.count == 1
    claim = store.claim(copy, RULE)
    assert (claim.unread, claim.verdict.duplicate_of) == ((), ferry.url)
    store.release(again.ticket)
    assert store.claim(copy, RULE).verdict.duplicate_of == ferry.url
    [entry] = store.entries()
    assert entry.signature.is_read


@pytest.mark.parametrize("turn", [1, -1])
def test_a_page_waits_for_a_version_of_it_that_was_read_otherwise(store, signer, turn):
    first, second = [
        quick(signer, "https://a.example/", PAGES[0]),
        replace(full(signer, "https://a.example/", PAGES[1]), passages=b""),
    ][::turn]
    assert store.claim(first, RULE).ticket is not None
    claim = store.claim(second, RULE)
    assert (claim.is_blocked, claim.verdict.reason) == (True, "changed")


def test_a_changed_body_is_read(store, signer):
    stored(store, with_body(quick(signer, "https://a.example/", PAGES[0])))
    other = with_body(quick(signer, "https://a.example/", PAGES[0]), bytes(16))
    claim = store.claim(other, RULE)
    assert (claim.must_read, claim.unchanged) == (True, None)


def test_an_unknown_body_is_no_unchanged_one(store, signer):
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    assert store.claim(quick(signer, "https://a.example/", PAGES[0]), RULE).must_read


def test_an_unchanged_page_that_could_not_be_read_is_read_now(store, signer):
    ferry = with_body(quick(signer, "https://a.example/", PAGES[0]))
    stored(store, ferry)
    store.complete(ferry.key, None)
    claim = store.claim(ferry, RULE)
    assert (claim.must_read, claim.unchanged) == (True, None)


def test_a_page_that_was_read_in_full_is_not_judged_by_less(store, signer):
    ferry = with_body(quick(signer, "https://a.example/", PAGES[0]))
    stored(store, ferry)
    claim = store.claim(with_body(full(signer, ferry.url, PAGES[0])), RULE)
    assert (claim.unread, claim.unchanged) == ((ferry.key,), None)


@pytest.mark.parametrize("was_read", [False, True])
def test_an_unchanged_page_of_links_may_yield_an_item_now(store, signer, was_read):
    ferry = with_body(quick(signer, "https://a.example/", PAGES[0]))
    claim = store.claim(ferry, RULE)
    store.commit(claim.ticket, items=NO_ITEMS)
    if was_read:
        store.complete(ferry.key, full(signer, ferry.url, PAGES[0]))
    claim = store.claim(ferry, RULE)
    assert (claim.verdict.kind, claim.verdict.reason) == ("revisit", "unchanged")
    assert claim.verdict.links_seen_at == ferry.url
    store.commit(claim.ticket)
    assert store.claim(ferry, RULE).verdict.links_seen_at is None


def test_an_unchanged_page_of_links_is_a_duplicate_of_a_copy_with_an_item(store, signer):
    ferry = with_body(full(signer, "https://a.example/", PAGES[0]))
    store.commit(store.claim(ferry, RULE).ticket, items=NO_ITEMS)
    store.commit(store.claim(full(signer, "https://c.example/", COPY), RULE).ticket)
    claim = store.claim(with_body(quick(signer, ferry.url, PAGES[0])), RULE)
    assert claim.verdict.duplicate_of == "https://c.example/"


@pytest.mark.parametrize("make_store", ["sqlite", "redis"], indirect=True)
def test_bodies_are_recognised_by_a_later_process(make_store, signer):
    store = make_store()
    store.adopt(signer.recipe, signer.parts)
    ferry = with_body(quick(signer, "https://a.example/", PAGES[0]))
    stored(store, ferry)
    store.close()
    store = make_store()
    store.adopt(signer.recipe, signer.parts)
    assert store.claim(ferry, RULE).verdict.reason == "unchanged"


def test_low_thresholds_have_every_page_read(store, signer):
    claim = store.claim(quick(signer, "https://a.example/", PAGES[0]), Rule(min_similarity=0))
    assert (claim.must_read, claim.unread) == (True, ())


def test_the_scope_holds_for_passages(store, signer):
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    assert store.claim(quick(signer, "https://c.example/", COPY), Rule(scope="site")).ticket


@pytest.mark.parametrize("make_store", ["sqlite", "redis"], indirect=True)
def test_pages_outlive_the_process(make_store, signer):
    store = make_store()
    store.adopt(signer.recipe, signer.parts)
    for number, html in enumerate(PAGES):
        stored(store, quick(signer, f"https://{number}.example/", html))
    store.complete("https://1.example/", full(signer, "https://1.example/", PAGES[1]))
    before = [entry.signature for entry in store.entries()]
    store.close()
    store = make_store()
    store.adopt(signer.recipe, signer.parts)
    assert [entry.signature for entry in store.entries()] == before
    assert store.claim(quick(signer, "https://c.example/", COPY), RULE).unread == (
        "https://0.example/",
    )
    museum = full(signer, "https://d.example/", PAGES[1])
    assert store.claim(museum, RULE).verdict.duplicate_of == "https://1.example/"


def test_a_page_that_was_completed_and_removed_does_not_come_back(make_store, signer):
    store = make_store()
    store.adopt(signer.recipe, signer.parts)
    stored(store, quick(signer, "https://a.example/", PAGES[0]))
    store.compact()  # it is in the file now
    store.complete("https://a.example/", full(signer, "https://a.example/", PAGES[0]))
    assert store.forget("https://a.example/")
    if store.name != "memory":
        store.close()
        store = make_store()
    assert list(store.entries()) == []


# --- bodies ---


def record(url: str, content: str | bytes) -> Record:
    return Record(id=url, url=url, content=content, content_type="text/html; charset=koi8-r")


def kept(cache, key: str, content: str | bytes) -> Record:
    one = record(f"https://{key}.example/", content)
    cache.put(key, one, packed_body(content))
    return one


@pytest.mark.parametrize("content", ["text \ud800 茶", "ф".encode("koi8-r"), b""])
def test_a_body_comes_back_as_it_was(store, content):
    cache = store.body_cache(10_000)
    one = kept(cache, "a", content)
    assert cache.take("a") == one
    if store.is_remote:
        # Other processes may read the page as well, until it has been completed.
        assert cache.take("a") == one
    else:
        assert cache.take("a") is None
        assert cache.n_bytes == 0


def test_the_oldest_bodies_are_evicted_and_their_pages_completed(store, signer):
    cache = store.body_cache(5_000)
    for number, html in enumerate(PAGES):
        stored(store, quick(signer, f"https://{number}.example/", html))
        kept(cache, f"https://{number}.example/", html)
    kept(cache, "large", bytes(range(256)) * 8)
    assert cache.n_bytes <= 5_000
    assert cache.n_evicted >= 1
    assert cache.take("https://0.example/") is None
    assert store.claim(quick(signer, "https://c.example/", COPY), RULE).verdict.kind == "new"


@pytest.mark.parametrize("size", [0, 500])
def test_a_body_larger_than_the_bound_is_not_kept(store, size):
    cache = store.body_cache(size)
    kept(cache, "a", "some text")
    assert (cache.n_bytes, cache.take("a")) == (0, None)


def test_a_body_larger_than_the_bound_evicts_no_other(store):
    cache = store.body_cache(5_000)
    one = kept(cache, "a", "some text")
    kept(cache, "large", bytes(random.Random(1).randbytes(9_000)))
    assert cache.n_evicted == 1
    assert cache.take("a") == one


def test_addresses_and_headers_count_for_the_bound(make_store):
    store = make_store()
    cache = store.body_cache(30_000)
    for number in range(5):
        url = f"https://{number}.example/{'long' * 2_000}"
        one = replace(record(url, "text"), content_type="text/html; " + "long" * 500)
        cache.put(url, one, packed_body("text"))
    # Four keys and URLs of 8 KB are beyond it.
    assert cache.n_evicted >= 3
    assert cache.n_bytes <= 30_000


@pytest.mark.parametrize("make_store", ["sqlite"], indirect=True)
def test_bodies_outlive_the_process(make_store):
    store = make_store()
    cache = store.body_cache(10_000)
    ones = [kept(cache, key, f"body {key}") for key in "abc"]
    cache.discard("b")
    store.close()
    cache = make_store().body_cache(10_000)
    assert [cache.take(key) for key in "abc"] == [ones[0], None, ones[2]]


@pytest.mark.parametrize("make_store", ["sqlite"], indirect=True)
def test_a_damaged_file_of_bodies_is_made_anew(make_store, tmp_path):
    store = make_store()
    (tmp_path / "store.sqlite-bodies").write_bytes(b"no database at all" * 1000)
    cache = store.body_cache(10_000)
    one = kept(cache, "a", "body")
    assert cache.take("a") == one


@pytest.mark.parametrize("make_store", ["sqlite"], indirect=True)
def test_bodies_are_kept_in_memory_where_their_file_cannot_be(make_store, tmp_path, caplog):
    (tmp_path / "store.sqlite-bodies").mkdir()
    cache = make_store().body_cache(10_000)
    assert "keeping bodies of pages in memory" in caplog.text
    one = kept(cache, "a", "body")
    assert cache.take("a") == one


def test_a_damaged_body_is_as_one_that_is_not_kept(store):
    cache = store.body_cache(10_000)
    cache.put("a", record("https://a.example/", ""), b"neither zstd nor zlib")
    assert cache.take("a") is None


def test_users_of_a_store_share_its_bodies(store):
    one = kept(store.body_cache(0), "a", "does not fit")
    cache = store.body_cache(10_000)
    cache.put("a", one, packed_body(one.content))
    assert store.body_cache(5_000).take("a") == one


def test_a_forgotten_page_takes_its_body_along(make_store, signer):
    first = make_store()
    first.adopt(signer.recipe, signer.parts)
    signature = quick(signer, "http://a.example/1", page(FERRY, "Ferry"))
    bodies = first.body_cache(10**6)
    claim = first.claim(signature, RULE)
    kept(bodies, signature.key, page(FERRY, "Ferry"))
    first.commit(claim.ticket)
    assert first.forget(signature.key)
    assert bodies.take(signature.key) is None


def test_bodies_that_the_disk_does_not_take_are_in_memory_within_the_bound(tmp_path, caplog):
    path = tmp_path / "store.sqlite"
    generator = random.Random(1)
    bodies = {f"https://{n}.example/": generator.randbytes(2_000) for n in range(40)}

    def put(cache: BodyCache, key: str, body: bytes) -> None:
        cache.put(key, Record(key, key, body), packed_body(body))

    store = SqliteStore(path, "spider")
    cache = store.body_cache(1_000_000)
    assert isinstance(cache, FileBodyCache)
    put(cache, "https://earlier.example/", b"an earlier version")
    # As on a full disk, nothing more goes in.
    cache._file.execute("PRAGMA max_page_count = 1")
    for key, body in bodies.items():
        put(cache, key, body)
    assert cache.n_evicted == 0
    [warning] = [entry.getMessage() for entry in caplog.records]
    assert f"Cannot write to {path}-bodies, keeping bodies of pages in memory" in warning
    for key, body in list(bodies.items())[:20]:
        record = cache.take(key)
        assert record is not None
        assert record.content == body
    while cache.n_evicted < 5:
        put(cache, f"https://more{cache.n_bytes}.example/", generator.randbytes(90_000))
    assert cache.n_bytes <= 1_000_000
    # And when there is room again, bodies are in the file again.
    cache._file.execute("PRAGMA max_page_count = 1000000")
    put(cache, "https://later.example/", b"later")
    store.close()
    store = SqliteStore(path, "spider")
    again = store.body_cache(1_000_000)
    record = again.take("https://later.example/")
    assert record is not None
    assert record.content == b"later"
    store.close()
    assert len(caplog.records) == 1


def test_a_body_that_could_not_be_removed_is_not_taken_for_that_of_a_later_version(tmp_path):
    path, key = tmp_path / "store.sqlite", "https://a.example/"
    store = SqliteStore(path, "spider")
    cache = store.body_cache(1_000_000)
    assert isinstance(cache, FileBodyCache)
    cache.put(key, Record(key, key, "one"), packed_body("one"))
    cache._file.execute("PRAGMA query_only = ON")
    cache.put(key, Record(key, key, "two"), packed_body("two"))
    record = cache.take(key)
    assert record is not None
    assert record.content == "two"
    cache._file.execute("PRAGMA query_only = OFF")
    store.close()
    store = SqliteStore(path, "spider")
    assert store.body_cache(1_000_000).take(key) is None
    store.close()
