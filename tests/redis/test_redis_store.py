"""The Redis store: the contract, and the use by several processes."""

from __future__ import annotations

import multiprocessing
import random
import re
import secrets
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup import InvalidOption, NearDupDetector, Rule, SignatureMismatch
from scrapy_neardup.exceptions import StoreError
from scrapy_neardup.hashing.simhash_index import SimhashIndex
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import Figures, MemoryStore, open_store
from scrapy_neardup.stores.codec import _HEAD, ROW
from scrapy_neardup.stores.redis import pages as redis_pages
from scrapy_neardup.stores.redis.address import RedisAddress
from scrapy_neardup.stores.redis.layout import (
    KeySpace,
    fields,
    near,
    number_in,
    packed_number,
    place_of,
)
from scrapy_neardup.stores.redis.pages import NewPage, RedisPages
from scrapy_neardup.stores.redis.reading import RedisReader
from scrapy_neardup.stores.redis.store import RedisStore
from scrapy_neardup.stores.sqlite.store import SqliteStore
from scrapy_neardup.testing import PersistentStoreContract
from tests.stores.test_stores import RULES, StoreTests, numbered, signatures
from tests.support.claims import met
from tests.support.redis_servers import RedisServer
from tests.support.texts import FERRY, MUSEUM, TEA, article, replaced

#: Distance 11 asks the most of the tables.
WORDS = st.integers(0, 2**64 - 1)


@pytest.fixture
def opened(redis_server):
    """Opens stores, and closes them afterwards."""
    stores = []

    def open_(namespace="default", *args, **options) -> RedisStore:
        stores.append(RedisStore(redis_server.address, namespace, *args, **options))
        return stores[-1]

    yield open_
    for store in stores:
        if not store.users.is_closed:
            store.close()


class TestRedisStore(StoreTests, PersistentStoreContract):
    @pytest.fixture
    def make_store(self, opened):
        numbers = count()
        return lambda **options: opened(f"namespace {next(numbers)}", **options)

    @pytest.fixture
    def open_again(self, opened):
        return opened


# --- several processes ---


@pytest.mark.slow
def test_of_workers_that_meet_the_same_contents_one_stores_each(redis_server, opened):
    processes = multiprocessing.get_context("spawn")
    contents = [article(200, seed) for seed in range(25)]
    workers = [
        processes.Process(target=_crawl, args=(redis_server.address, contents, n)) for n in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    store = opened()
    stored = Counter(e.signature.url.rpartition("/")[2] for e in store.entries())
    assert stored == {str(n): 1 for n in range(len(contents))}
    assert len(store) == len(contents)


def _crawl(address, contents, worker):
    """Meet each content twice, slightly changed, in an order of one's own."""
    store = RedisStore(address)
    detector = NearDupDetector(store=store)
    pages = [
        detector.signature(
            url=f"https://{worker}-{copy}.example/{number}",
            text=" ".join(replaced(words, 0.004, 2 * worker + copy)),
        )
        for number, words in enumerate(contents)
        for copy in range(2)
    ]
    random.Random(worker).shuffle(pages)
    for page in pages:
        assert detector.check(page).kind in ("new", "duplicate")
    store.close()


def test_workers_wait_for_each_other_and_take_over(opened):
    first, second = opened(), opened()
    a, b = (
        NearDupDetector(store=first).signature(url=f"https://{n}.example/", text=FERRY)
        for n in "ab"
    )
    claim = first.claim(a, Rule())
    other = second.claim(b, Rule())
    assert (other.is_blocked, other.outcome) == (True, None)
    first.release(claim.ticket)
    other = second.claim(b, Rule())
    assert (other.verdict.kind, other.is_blocked) == ("new", False)
    second.commit(other.ticket)
    assert first.claim(a, Rule()).verdict.duplicate_of == b.url


@pytest.mark.parametrize(
    ("url", "is_committed", "expected"),
    [
        ("https://b.example/", False, ("duplicate", True)),
        ("https://b.example/", True, ("duplicate", False)),
        ("https://a.example/", False, ("revisit", True)),
        ("https://a.example/", True, ("revisit", False)),
    ],
)
def test_what_comes_while_a_page_is_judged_is_seen(
    opened, monkeypatch, url, is_committed, expected
):
    """Another worker is faster between the look and the reservation."""
    slow, fast = opened(), opened()
    detector = NearDupDetector(store=slow)
    text = FERRY if url == "https://b.example/" else MUSEUM
    page = detector.signature(url="https://a.example/", text=FERRY)
    other = detector.signature(url=url, text=text)
    reserve = RedisPages.reserve

    def overtaken(self, *arguments):
        monkeypatch.undo()
        claim = fast.claim(other, Rule())
        if is_committed:
            fast.commit(claim.ticket)
        return reserve(self, *arguments)

    monkeypatch.setattr(RedisPages, "reserve", overtaken)
    claim = slow.claim(page, Rule())
    assert (claim.verdict.kind, claim.is_blocked) == expected


def test_who_is_always_overtaken_waits(opened, monkeypatch):
    slow, fast = opened(), opened()
    detector = NearDupDetector(store=slow)
    page = detector.signature(url="https://a.example/", text=FERRY)
    numbers = count()
    reserve = RedisPages.reserve

    def overtaken(self, wanted, *arguments):
        if self.part is slow._namespace.whole:
            number = next(numbers)
            text = " ".join(article(60, number))
            met(fast, detector.signature(url=f"https://{number}.example/", text=text), Rule())
        return reserve(self, wanted, *arguments)

    monkeypatch.setattr(redis_pages, "_MOST_NEW", 0)
    monkeypatch.setattr(RedisPages, "reserve", overtaken)
    claim = slow.claim(page, Rule())
    assert (claim.is_blocked, claim.verdict.reason) == (True, "waited")
    monkeypatch.undo()
    assert slow.claim(page, Rule()).verdict.kind == "new"


def test_nothing_is_left_of_what_was_released_or_forgotten(redis_server, opened):
    store = opened()
    detector = NearDupDetector(store=store)
    pages = [
        detector.signature(url=f"https://{n}.example/", text=text)
        for n, text in enumerate([FERRY, MUSEUM, TEA])
    ]
    tickets = [store.claim(page, Rule()).ticket for page in pages]
    store.release(tickets[0])
    store.commit(tickets[1])
    store.commit(tickets[2], confirmed=False)
    store.confirm(store.mark())
    assert [store.forget(page.key) for page in pages] == [False, True, True]
    with redis_server.client as client:
        left = {key.decode().partition("}:")[2] for key in client.scan_iter()}
    assert left == {"meta", "runs", f"run:{store._leases.id.hex()}", "count", "sites"}


def test_what_is_added_takes_the_place_of_its_own_reservation(opened):
    store, other = opened(), opened()
    detector = NearDupDetector(store=store)
    page = detector.signature(url="https://a.example/", text=FERRY)
    copy = detector.signature(url="https://b.example/", text=FERRY)
    ticket = store.claim(page, Rule()).ticket
    store.add(page)
    claim = other.claim(copy, Rule())
    assert (claim.verdict.kind, claim.is_blocked) == ("duplicate", False)
    store.commit(ticket)
    assert [e.signature.url for e in other.entries()] == [page.url]
    assert other.claim(page, Rule()).ticket is not None


def test_workers_have_one_secret_and_other_namespaces_have_others(opened):
    assert opened().secret == opened().secret != opened("other").secret


def test_what_is_learned_of_a_site_is_learned_by_who_comes_later(opened):
    first, second = opened(), opened()
    detector = NearDupDetector(store=first)
    for n in range(5):
        title = f"Article {n} about it | Daily"
        page = detector.signature(
            url=f"https://a.example/{n}", text=" ".join(article(80, n)), title=title
        )
        met(first, page, Rule())
    shared = (("article",), ("daily",))
    own = [store.boilerplates.of("a.example").titles.own_parts(shared) for store in (first, second)]
    assert own[0] == own[1] == (("article",),)


def test_a_second_store_of_the_process_is_the_first(redis_server):
    first, second = (open_store(redis_server.address, "shared") for _ in range(2))
    assert first is second
    with pytest.raises(InvalidOption, match="ttl"):
        open_store(redis_server.address, "shared", ttl=5)
    first.close()
    detector = NearDupDetector(store=second)
    assert detector.check(url="https://a.example/", text=FERRY).kind == "new"
    second.close()
    third = open_store(redis_server.address, "shared")
    assert (third is second, len(third)) == (False, 1)
    third.close()


def test_another_recipe_is_refused_in_the_end_too(opened):
    """Two workers with other settings open an empty namespace; the first page decides."""
    first, second = opened(), opened()
    one = NearDupDetector(store=first)
    two = NearDupDetector(store=second, tokenizer="pairs")
    assert one.check(url="https://a.example/", text=FERRY).kind == "new"
    with pytest.raises(SignatureMismatch):
        two.check(url="https://b.example/", text=MUSEUM)
    with pytest.raises(SignatureMismatch):
        second.add(two.signature(url="https://b.example/", text=MUSEUM))
    with pytest.raises(SignatureMismatch, match=r"^the store .* tokenizer .* used with .*pairs"):
        NearDupDetector(store=opened(), tokenizer="pairs")


# --- confirming ---


def test_what_was_not_confirmed_is_forgotten_at_the_next_opening(opened):
    store = opened()
    detector = NearDupDetector(store=store)
    tickets = [
        store.claim(detector.signature(url=f"https://{n}.example/", text=text), Rule()).ticket
        for n, text in enumerate([FERRY, MUSEUM, TEA])
    ]
    store.commit(tickets[0], confirmed=False)
    mark = store.mark()
    store.commit(tickets[1], confirmed=False)
    store.commit(tickets[2])
    store.confirm(mark)
    assert len(store) == 3
    store.close()
    again = opened()
    assert (again.forgotten, len(again)) == (1, 2)
    assert [e.signature.url for e in again.entries()] == [
        "https://0.example/",
        "https://2.example/",
    ]
    again.close()
    assert opened().forgotten == 0


def test_what_another_worker_has_not_confirmed_drops_no_page(opened):
    # A kill of that worker would lose it, and with it the page that was dropped for its sake.
    one, other = opened(), opened()
    detector = NearDupDetector(store=one)
    ferry = detector.signature(url="https://a.example/", text=FERRY)
    copy = detector.signature(url="https://b.example/", text=FERRY)
    one.commit(one.claim(ferry, Rule()).ticket, confirmed=False)
    assert one.claim(copy, Rule()).verdict.is_duplicate
    for page, kind in ((copy, "duplicate"), (ferry, "revisit")):
        claim = other.claim(page, Rule())
        assert (claim.is_blocked, claim.verdict.kind) == (True, kind)
    one.confirm(one.mark())
    for page, kind in ((copy, "duplicate"), (ferry, "revisit")):
        claim = other.claim(page, Rule())
        assert (claim.is_blocked, claim.verdict.kind) == (False, kind)


def test_many_are_confirmed(opened, monkeypatch):
    from scrapy_neardup.stores.redis import pages as redis_pages

    monkeypatch.setattr(redis_pages, "_AT_ONCE", 3)
    store = opened()
    detector = NearDupDetector(store=store)
    for n in range(20):
        page = detector.signature(url=f"https://{n}.example/", text=" ".join(article(90, n)))
        store.commit(store.claim(page, Rule()).ticket, confirmed=False)
        if n == 9:
            store.confirm(store.mark())
    store.close()
    again = opened()
    assert (again.forgotten, len(again)) == (10, 10)
    again.confirm(again.mark())


# --- sites apart ---


def test_sites_can_be_kept_apart(redis_server, opened):
    store = opened(scope="site")
    detector = NearDupDetector(store=store, scope="site")
    urls = [f"https://{site}.example/{n}" for n in range(2) for site in "ab"]
    kinds = [detector.check(url=url, text=FERRY).kind for url in urls]
    assert kinds == ["new", "new", "duplicate", "duplicate"]
    assert len(store) == 2
    assert {e.signature.url for e in store.entries()} == set(urls[:2])
    assert store.find(urls[1]).signature.site == "b.example"
    assert store.forget(urls[1])
    assert len(store) == 1
    with redis_server.client as client:
        rows = {key for key in client.scan_iter() if key.endswith(b":rows")}
    assert rows == {b"{neardup:default:a.example}:rows"}
    with pytest.raises(InvalidOption, match="scope is 'all', but it must be 'site'"):
        detector.check(url=urls[0], text=FERRY, rule=Rule(scope="all"))


def test_sites_kept_apart_are_not_thrown_together(opened):
    opened(scope="site").close()
    assert opened()._namespace.is_by_site
    with pytest.raises(StoreError, match="keeps each site's pages apart"):
        opened(scope="all")


def test_sites_kept_apart_are_confirmed_and_forgotten_each(opened):
    store = opened(ttl=3600, scope="site")
    detector = NearDupDetector(store=store, scope="site")
    for n, text in enumerate([FERRY, MUSEUM, TEA]):
        page = detector.signature(url=f"https://{n}.example/", text=text)
        store.commit(store.claim(page, Rule(scope="site")).ticket, confirmed=False)
        if n == 1:
            store.confirm(store.mark())
    store.close()
    again = opened(ttl=3600)
    assert (again.forgotten, len(again)) == (1, 2)
    again.adopt(detector.signer.recipe, {})
    old = detector.signature(url="https://3.example/", text=TEA)
    again.add(old, stored_at=int(time.time()) - 7200)
    assert (again.compact(), len(again)) == (1, 2)


# --- the same verdicts everywhere ---


@pytest.mark.slow
def test_all_stores_say_the_same_of_the_same_pages(opened, tmp_path):
    numbers = count()
    kinds: Counter[str] = Counter()

    @given(st.lists(signatures(), min_size=10, max_size=25).map(numbered), RULES)
    @settings(max_examples=30)
    def check(pages: list[PageSignature], rule: Rule) -> None:
        number = next(numbers)
        sqlite = SqliteStore(tmp_path / f"{number}.sqlite")
        stores = [MemoryStore(), sqlite, opened(f"namespace {number}")]
        for page in pages:
            verdicts = [met(store, page, rule) for store in stores]
            assert verdicts[0] == verdicts[1] == verdicts[2]
            kinds[verdicts[0].reason] += 1
        for store in stores:
            store.close()

    check()
    # Which other reasons are drawn is left to chance.
    assert {"same_text", "no_match"} <= set(kinds)


# --- tables ---


@given(st.lists(st.tuples(WORDS, st.sets(st.integers(0, 63), max_size=12))), st.integers(0, 11))
def test_the_buckets_hold_all_that_is_near(stored, distance):
    query = 0x0123456789ABCDEF
    fingerprints = [word for word, _ in stored]
    fingerprints += [query ^ sum(1 << bit for bit in bits) for _, bits in stored]
    index = SimhashIndex()
    tables: list[dict[bytes, bytes]] = [{} for _ in range(4)]
    for number, fingerprint in enumerate(fingerprints):
        index.add(fingerprint, number)
        for block, table in enumerate(tables):
            place = place_of(fingerprint, block)
            record = place.rest + packed_number(number)
            table[place.field] = table.get(place.field, b"") + record
    asked = fields(query, distance)
    found = near(
        query, distance, [[t.get(f) for f in fs] for t, fs in zip(tables, asked, strict=True)]
    )
    expected = index.near(query, distance)
    assert np.array_equal(found.keys, expected.keys)
    assert np.array_equal(found.distances, expected.distances)


def test_the_server_reads_whole_records_only(opened):
    """The second key's rest stands across the first one's record as well."""
    store = opened()
    store.adopt("recipe", {})
    pages = store._namespace.of(None)
    keys = [b"..abcdef", b"..f\0\0\0\0\0"]
    for key in keys:
        row = secrets.token_bytes(8) + key + bytes(ROW.itemsize - 16)
        pages.add(NewPage(key, row, bytes(_HEAD.size), "recipe"))
    assert [pages.known(key) for key in keys] == [packed_number(0), packed_number(1)]
    assert pages.forget(keys[1])
    assert [pages.known(key) for key in keys] == [packed_number(0), b""]
    assert len(store) == 1


def test_a_number_is_found_by_whole_records_only():
    rest, number = b"\0" * 6, packed_number(7)
    other = b"\1" + bytes(10)
    assert number_in(other + rest + number, rest) == number
    assert number_in(other, rest) == number_in(None, rest) == b""


@pytest.mark.parametrize(
    "names", [("a:b", None), ("a", "b"), ("a", None), ("a}b", None), ("{", "")]
)
def test_parts_of_a_cluster_share_one_hash_tag_and_no_key(names):
    everyone = {("a:b", None), ("a", "b"), ("a", None), ("a}b", None), ("{", "")}
    keys = {name: KeySpace(*name).rows for name in everyone}
    assert len(set(keys.values())) == len(everyone)
    key = keys[names].decode()
    assert key.count("{") == key.count("}") == 1
    assert key.startswith("{")


# --- addresses ---


@pytest.mark.parametrize(
    ("address", "name", "login"),
    [
        ("redis://cache.example", "redis://cache.example:6379/0", (None, None)),
        ("redis://u:p%40w@[::1]:7000/3", "redis://[::1]:7000/3", ("u", "p@w")),
        ("rediss://:p@ss/w@cache.example/2", "rediss://cache.example:6379/2", (None, "p@ss/w")),
        (
            "redis+sentinel://u:pw@a.example,b.example:5/pages/4",
            "redis+sentinel://a.example:26379,b.example:5/pages/4",
            ("u", "pw"),
        ),
        (
            "rediss+cluster://a.example:1,b.example:2",
            "rediss+cluster://a.example:1,b.example:2",
            (None, None),
        ),
    ],
)
def test_addresses_are_read(address, name, login):
    parsed = RedisAddress.parse(address)
    assert parsed.name == name
    assert (parsed.user, parsed.password) == login
    assert parsed.is_tls is address.startswith("rediss")


@pytest.mark.parametrize(
    "address",
    [
        "redis://u:secret@",
        "redis://u:secret@host:port/0",
        "redis://u:secret@host/x",
        "redis://u:secret@a,b/0",
        "redis+sentinel://u:secret@a,b",
        "redis+cluster://u:secret@a,b/0",
        "redis+ring://u:secret@a",
        "redis:u:secret@a",
    ],
)
def test_what_is_no_address_is_refused_without_its_password(address):
    with pytest.raises(InvalidOption, match=r"store is .* but it must be 'redis://") as caught:
        open_store(address)
    assert "secret" not in f"{caught.value} {caught.value.value}"


def test_a_server_is_named_without_its_password(tmp_path, afterwards):
    server = RedisServer(tmp_path, requirepass="p@ss")
    afterwards.callback(server.kill)
    store = RedisStore(server.address.replace("//", "//:p%40ss@"))
    assert store.name == server.address
    store.close()


@pytest.mark.parametrize("scope", ["all", "site"])
def test_figures_are_told_without_reading_pages(redis_server, opened, scope):
    store, other = (opened("news", scope=scope) for _ in range(2))
    detector = NearDupDetector(store=store, scope=scope)
    reserved, unconfirmed, *pages = [
        detector.signature(url=f"https://{n % 3}.example/{n}", text=" ".join(article(60, n)))
        for n in range(12)
    ]
    assert other.claim(reserved, Rule(scope="site")).ticket is not None
    times = [1_700_000_000 + 7 * n % 10 for n in range(10)]
    for page, at in zip(pages, times, strict=True):
        store.add(page, at)
    store.add(unconfirmed, 1_800_000_000, confirmed=False)
    store.forget(pages[times.index(max(times))].key)
    with redis_server.client as client:
        for key in client.scan_iter("*:pages"):
            client.delete(key)
    reader = RedisReader(redis_server.address)
    assert reader.figures("news") == Figures(10, 1, min(times), 1_800_000_000)
    reader.close()


def test_of_two_crawls_of_a_process_that_start_at_once_one_is_refused(redis_server):
    # Both have adopted nothing yet when they ask for it.
    stores = [open_store(redis_server.address, "shared") for _ in range(2)]
    meeting = threading.Barrier(2)

    def adopted(extraction):
        signer = Signer(secret=stores[0].secret, extraction=extraction)
        meeting.wait(60)
        try:
            stores[0].adopt(signer.recipe, signer.parts)
        except SignatureMismatch as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(2) as threads:
        refusals = list(threads.map(adopted, ["full", "lazy"]))
    for store in stores:
        store.close()
    [refusal] = filter(None, refusals)
    assert re.search(r"made with extraction (full|lazy .*), but is used with", refusal)
