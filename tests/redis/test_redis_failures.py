"""The Redis store when a worker, a server or an answer is lost, and its rejected options."""

from __future__ import annotations

import contextlib
import json
import logging
import multiprocessing
import re
import signal
import sys
import threading
from collections import deque
from functools import partial
from itertools import count
from typing import Any

import pytest

from scrapy_neardup import NearDupDetector, Rule
from scrapy_neardup.exceptions import (
    MissingPackage,
    SignatureMismatch,
    StoreError,
    StoreUnreachable,
)
from scrapy_neardup.stores import open_store
from scrapy_neardup.stores.redis import pages as redis_pages
from scrapy_neardup.stores.redis import store as redis_store
from scrapy_neardup.stores.redis.namespace import FORMAT
from scrapy_neardup.stores.redis.store import RedisStore
from tests.support.claims import met
from tests.support.processes import wait_for
from tests.support.redis_servers import Proxy, RedisServer, free_port
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, TEA, article

SHORT: Any = {"connect_timeout": 0.3, "call_timeout": 0.3}


def page(store: RedisStore, url: str, text: str = FERRY):
    return NearDupDetector(store=store).signature(url=url, text=text)


@pytest.fixture
def own_server(tmp_path):
    """A server that may be killed."""
    server = RedisServer(tmp_path / "server", appendonly="yes", appendfsync="always")
    yield server
    server.kill()


# --- a worker is killed ---


def _hold(address, lease, ready):
    """Reserve a page, commit one that is not confirmed, and go no further."""
    store = RedisStore(address, lease=lease)
    assert store.claim(page(store, "https://reserved.example/"), Rule()).ticket is not None
    claim = store.claim(page(store, "https://stored.example/", MUSEUM), Rule())
    store.commit(claim.ticket, confirmed=False)
    ready.set()
    signal.pause()


@pytest.fixture
def killed(redis_server):
    """A function that starts a worker with a lease, and returns what kills it after its claims."""

    def kill_after(lease):
        processes = multiprocessing.get_context("spawn")
        ready = processes.Event()
        worker = processes.Process(target=_hold, args=(redis_server.address, lease, ready))
        worker.start()
        assert ready.wait(60)

        def kill():
            worker.kill()
            worker.join()

        return kill

    return kill_after


def test_what_a_killed_worker_held_is_free_when_its_lease_ends(redis_server, killed):
    kill = killed(2)
    store = RedisStore(redis_server.address, lease=2)
    again, reprint = page(store, "https://a.example/"), page(store, "https://b.example/", MUSEUM)
    assert store.claim(again, Rule()).is_blocked
    assert store.claim(reprint, Rule()).verdict.is_duplicate
    kill()
    wait_for(lambda: not store.claim(again, Rule()).is_blocked)
    wait_for(lambda: not store.claim(reprint, Rule()).verdict.is_duplicate)
    assert len(store) == 0
    store.close()


def test_who_opens_the_store_on_the_same_machine_waits_for_no_lease(redis_server, killed):
    kill = killed(3600)
    before = RedisStore(redis_server.address)
    assert before.forgotten == 0
    assert before.claim(page(before, "https://a.example/"), Rule()).is_blocked
    kill()
    after = RedisStore(redis_server.address)
    assert after.forgotten == 1
    for store in (before, after):
        verdict = store.claim(page(store, "https://reserved.example/"), Rule()).verdict
        assert verdict.kind == "new" if store is before else "revisit"
    before.close()
    after.close()


def test_a_worker_that_was_taken_for_dead_still_remembers_what_it_stored(redis_server):
    first, second = (RedisStore(redis_server.address) for _ in range(2))
    kept = first.claim(page(first, "https://a.example/"), Rule())
    given_up = first.claim(page(first, "https://b.example/", MUSEUM), Rule())
    with redis_server.client as client:
        client.delete(f"{{neardup:default}}:run:{first._leases.id.hex()}")
    taken = second.claim(page(second, "https://c.example/", MUSEUM), Rule())
    assert taken.ticket is not None
    first.commit(kept.ticket)
    first.release(given_up.ticket)
    second.commit(taken.ticket)
    for store in (first, second):
        assert [e.signature.url for e in store.entries()] == [
            "https://c.example/", "https://a.example/",
        ]  # fmt: skip
        store.close()


def test_a_lease_is_renewed(redis_server):
    store, other = (RedisStore(redis_server.address, lease=0.6) for _ in range(2))
    assert store.claim(page(store, "https://a.example/"), Rule()).ticket is not None
    lease = f"{{neardup:default}}:run:{store._leases.id.hex()}"
    with redis_server.client as client:
        renewed = threading.Event()

        def is_renewed():
            before = client.pttl(lease)
            renewed.wait(0.01)
            return client.pttl(lease) > before

        for _ in range(5):
            wait_for(is_renewed)
    assert other.claim(page(other, "https://b.example/"), Rule()).is_blocked
    store.close()
    other.close()


# --- the server goes away ---


def test_nothing_that_was_acknowledged_is_lost_with_the_server(own_server):
    store = RedisStore(own_server.address, **SHORT)
    stored: list[str] = []
    numbers = count()

    def store_another():
        number = next(numbers)
        url = f"https://{number}.example/"
        assert met(store, page(store, url, " ".join(article(60, number))), Rule()).kind == "new"
        stored.append(url)

    killer = threading.Timer(0.5, own_server.kill)
    killer.start()
    with pytest.raises(StoreUnreachable) as caught:
        deque(iter(store_another, "for ever"))
    assert caught.value.problem == store.problem
    killer.join()
    own_server.start()
    for _ in range(20):
        store_another()
    assert not store.problem
    # The page that was being stored then may be there or not.
    assert {e.signature.url for e in store.entries()} >= set(stored)
    assert len(store) - len(stored) in (0, 1)
    store.close()


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_agreed(redis_server):
    store = RedisStore(redis_server.address, **SHORT)
    first, other = page(store, "https://a.example/"), page(store, "https://b.example/", MUSEUM)
    old = store.claim(page(store, "https://old.example/", TEA), Rule())
    store.commit(old.ticket, confirmed=False)
    claim = store.claim(first, Rule())
    redis_server.pause()
    try:
        for call in (
            lambda: store.claim(other, Rule()),
            lambda: store.commit(claim.ticket),
            lambda: store.add(other),
            lambda: store.find(first.key),
            lambda: store.confirm(store.mark()),
            lambda: len(store),
            lambda: RedisStore(redis_server.address, **SHORT),
        ):
            with pytest.raises(StoreUnreachable):
                call()
    finally:
        redis_server.go_on()
    store.commit(claim.ticket)
    met(store, other, Rule())
    assert {e.signature.url for e in store.entries()} == {
        "https://old.example/", first.url, other.url,
    }  # fmt: skip
    store.close()


def test_a_claim_ends_however_slow_the_answers_are(redis_server, monkeypatch):
    store = RedisStore(redis_server.address)
    monkeypatch.setattr(redis_store, "CLAIM_SECONDS", -1)
    with pytest.raises(StoreUnreachable, match="its answers take too long"):
        store.claim(page(store, "https://a.example/"), Rule())
    monkeypatch.undo()
    assert met(store, page(store, "https://a.example/"), Rule()).kind == "new"
    store.close()


def test_a_server_that_forgot_everything_is_filled_again(tmp_path, caplog, afterwards):
    server = RedisServer(tmp_path, save="")
    afterwards.callback(server.kill)
    store = RedisStore(server.address, lease=0.5)
    assert "writes nothing to disk" in caplog.text
    met(store, page(store, "https://a.example/"), Rule())
    with server.client as client:
        client.flushall()
        wait_for(lambda: client.hget("{neardup:default}:meta", "secret") == store.secret)
    assert met(store, page(store, "https://b.example/"), Rule()).kind == "new"
    assert RedisStore(server.address).secret == store.secret


@pytest.fixture
def emptied(redis_server):
    """Opens stores whose leases are not renewed while a test runs, and empties the server."""
    with contextlib.ExitStack() as stack, redis_server.client as client:

        def opened(scope=None, tokenizer="auto"):
            store = RedisStore(redis_server.address, scope=scope, lease=3600)
            stack.callback(store.close)
            return store, NearDupDetector(store=store, tokenizer=tokenizer)

        yield opened, client


@pytest.mark.parametrize("scope", ["all", "site"])
@pytest.mark.parametrize("how", ["commit", "add", "claim"])
def test_no_page_is_written_before_its_namespace_is_known_again(emptied, scope, how):
    opened, client = emptied
    store, detector = opened(scope=scope)
    rule = Rule(scope=scope)
    assert met(store, page(store, "https://tea.example/", TEA), rule).kind == "new"
    signature = detector.signature(url="https://a.example/", text=FERRY)
    if how == "commit":
        claim = store.claim(signature, rule)
        client.flushall()
        store.commit(claim.ticket)
    else:
        client.flushall()
        (store.add if how == "add" else partial(met, store, rule=rule))(signature)
    known = client.hgetall("{neardup:default}:meta")
    recipe = detector.signer.recipe.encode()
    assert (known[b"secret"], known[b"layout"]) == (store.secret, scope.encode())
    assert known[b"recipe"] == recipe
    assert json.loads(known[b"parts:" + recipe]) == detector.signer.parts
    later, same = opened(scope=scope)
    assert [entry.signature.url for entry in later.entries()] == ["https://a.example/"]
    copy = same.signature(url="https://a.example/copy", text=FERRY)
    assert met(later, copy, rule).is_duplicate
    assert met(later, page(later, "https://tea.example/", TEA), rule).kind == "new"
    with pytest.raises(SignatureMismatch, match=r"^the store was made with tokenizer"):
        opened(scope=scope, tokenizer="pairs")


def test_what_is_known_is_written_again_with_the_lease(redis_server):
    store = RedisStore(redis_server.address, lease=0.5)
    detector = NearDupDetector(store=store)
    with redis_server.client as client:
        client.flushall()
        wait_for(lambda: client.hget("{neardup:default}:meta", "recipe") is not None)
        known = client.hgetall("{neardup:default}:meta")
    recipe = detector.signer.recipe.encode()
    assert known[b"recipe"] == recipe
    assert json.loads(known[b"parts:" + recipe]) == detector.signer.parts
    store.close()


def test_nothing_is_written_where_another_crawl_came_first_after_the_server_was_emptied(emptied):
    opened, client = emptied
    old, before = opened()
    held = old.claim(before.signature(url="https://a.example/", text=FERRY), Rule())
    client.flushall()
    _, after = opened()
    made_anew = r"emptied and another crawl came first.*start"
    with pytest.raises(StoreError, match=made_anew):
        old.commit(held.ticket)
    assert after.check(url="https://c.example/", text=TEA).kind == "new"
    with pytest.raises(StoreError, match=made_anew):
        old.claim(before.signature(url="https://b.example/", text=MUSEUM), Rule())
    assert [entry.signature.url for entry in opened()[0].entries()] == ["https://c.example/"]


def test_pages_whose_namespace_is_not_known_are_refused_with_a_remedy(emptied, redis_server):
    opened, client = emptied
    _, detector = opened()
    detector.check(url="https://a.example/", text=FERRY)
    # Earlier versions left it so: a server was emptied shortly before a crawl ended.
    client.delete("{neardup:default}:meta")
    with pytest.raises(StoreError, match=r"was probably emptied during a crawl") as caught:
        RedisStore(redis_server.address)
    # Or the next crawl made up a secret.
    client.hset("{neardup:default}:meta", mapping={"format": FORMAT, "layout": "all"})
    client.hset("{neardup:default}:meta", "secret", b"another secret, of 16 bytes or more")
    with pytest.raises(SignatureMismatch, match=r"was probably emptied during a crawl"):
        opened()
    found = re.search(r"crawl again: (redis-cli .*)", str(caught.value))
    assert found is not None
    pattern = re.search("--pattern '(.*?)'", found[1])
    assert pattern is not None
    client.set("{neardup:default2}:meta", "another namespace")
    client.set("{neardup:default:a.example}:rows", "a site of this one")
    assert f"-u {redis_server.address} " in found[1]
    left = set(client.keys()) - set(client.keys(pattern[1]))
    assert left == {b"{neardup:default2}:meta"}


def test_a_full_server_is_unreachable_until_there_is_room(tmp_path, afterwards):
    server = RedisServer(tmp_path)
    afterwards.callback(server.kill)
    store = RedisStore(server.address)
    met(store, page(store, "https://a.example/"), Rule())
    with server.client as client:
        client.config_set("maxmemory", 1)
        with pytest.raises(StoreUnreachable, match="maxmemory"):
            store.claim(page(store, "https://b.example/", MUSEUM), Rule())
        assert store.claim(page(store, "https://c.example/"), Rule()).verdict.is_duplicate
        client.config_set("maxmemory", 0)
    assert met(store, page(store, "https://b.example/", MUSEUM), Rule()).kind == "new"
    store.close()


# --- an answer is lost ---


@pytest.fixture(params=[False, True], ids=["closed", "silent"])
def proxy(request, redis_server):
    between = Proxy(redis_server.port, is_silent=request.param)
    yield between
    between.close()


@pytest.fixture
def behind(proxy):
    store = RedisStore(f"redis://127.0.0.1:{proxy.port}", **SHORT)
    yield store
    store.close()


def given(redis_server: RedisServer) -> int:
    with redis_server.client as client:
        return int(str(client.hget("{neardup:default}:count", "next").decode()))


def test_one_number_is_given_when_the_answer_is_lost(proxy, behind, redis_server):
    proxy.lose_answer_to(redis_pages._RESERVE.digest.encode())
    # The first time, the server does not know the script; then its answer is lost.
    met(behind, page(behind, "https://a.example/"), Rule())
    proxy.lose_answer_to(redis_pages._RESERVE.digest.encode())
    claim = behind.claim(page(behind, "https://b.example/", MUSEUM), Rule())
    assert (claim.verdict.kind, claim.is_blocked) == ("new", False)
    assert proxy.lost == 2
    assert given(redis_server) == 2
    behind.commit(claim.ticket)
    assert len(behind) == 2


@pytest.mark.parametrize("script", ["_COMMIT", "_ADD", "_RELEASE", "_FORGET", "_CONFIRM"])
def test_what_is_told_twice_is_done_once(proxy, behind, redis_server, script):
    old = page(behind, "https://old.example/", TEA)
    behind.add(old)
    claim = behind.claim(page(behind, "https://a.example/"), Rule())
    proxy.lose_answer_to(getattr(redis_pages, script).digest.encode())
    if script == "_RELEASE":
        behind.release(claim.ticket)
        assert len(behind) == 1
        claim = behind.claim(page(behind, "https://a.example/"), Rule())
    behind.commit(claim.ticket, confirmed=False)
    behind.add(page(behind, "https://b.example/", MUSEUM))
    behind.confirm(behind.mark())
    behind.forget(old.key)
    assert proxy.lost == 1
    assert len(behind) == 2
    assert {e.signature.url for e in behind.entries()} == {
        "https://a.example/", "https://b.example/",
    }  # fmt: skip
    assert not behind._namespace.of(None).has_unconfirmed()


def test_an_attempt_that_was_given_up_reserves_nothing(redis_server, monkeypatch):
    """Its request reaches the server when nobody waits for the answer any more."""
    store = RedisStore(redis_server.address, **SHORT)
    wanted = page(store, "https://a.example/")
    late = []
    reserve = redis_pages.RedisPages.reserve

    def held_up(self, *arguments):
        late.append((self, arguments))
        raise StoreUnreachable(store.name, "held up on its way")

    monkeypatch.setattr(redis_pages.RedisPages, "reserve", held_up)
    with pytest.raises(StoreUnreachable):
        store.claim(wanted, Rule())
    monkeypatch.undo()
    store.claim(page(store, "https://b.example/", MUSEUM), Rule())
    [(pages, arguments)] = late
    assert reserve(pages, *arguments) is None
    assert store.claim(wanted, Rule()).verdict.kind == "new"
    store.close()


def test_what_could_not_be_given_up_is_given_up_later(redis_server):
    store = RedisStore(redis_server.address, lease=2, **SHORT)
    other = RedisStore(redis_server.address)
    claim = store.claim(page(store, "https://a.example/"), Rule())
    copy = page(other, "https://b.example/")
    assert other.claim(copy, Rule()).is_blocked
    redis_server.pause()
    try:
        with pytest.raises(StoreUnreachable):
            store.release(claim.ticket)
    finally:
        redis_server.go_on()
    wait_for(lambda: not other.claim(copy, Rule()).is_blocked)
    store.close()
    other.close()


# --- what is refused, and what is said ---


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_evicts_pages_is_refused(redis_server, policy):
    with redis_server.client as client:
        client.config_set("maxmemory-policy", policy)
        try:
            with pytest.raises(StoreError, match=f"'{policy}'.*set it to 'noeviction'"):
                RedisStore(redis_server.address)
        finally:
            client.config_set("maxmemory-policy", "noeviction")


def test_a_wrong_password_is_refused_and_not_shown(tmp_path, afterwards):
    server = RedisServer(tmp_path, requirepass="right")
    afterwards.callback(server.kill)
    for login in ("", ":wrong@", "nobody:wrong@"):
        with pytest.raises(StoreError, match="password") as caught:
            RedisStore(server.address.replace("//", f"//{login}"))
        assert not isinstance(caught.value, StoreUnreachable)
        assert "wrong@" not in str(caught.value)


def test_a_user_who_may_not_run_scripts_is_refused(redis_server):
    with redis_server.client as client:
        client.execute_command("ACL SETUSER reader on >pw ~* +@all -@scripting")
        with pytest.raises(StoreError, match=r"may not do what is needed.*scripts included"):
            RedisStore(redis_server.address.replace("//", "//reader:pw@"))
        client.execute_command("ACL DELUSER reader")


def test_what_is_no_redis_is_refused():
    with serving({}) as site, pytest.raises(StoreError, match="does not answer as a Redis does"):
        RedisStore(f"redis://127.0.0.1:{site.server_port}")


def test_nobody_there_is_something_that_may_pass():
    with pytest.raises(StoreUnreachable, match="refused"):
        RedisStore(f"redis://127.0.0.1:{free_port()}")


@pytest.mark.parametrize("version", [FORMAT - 1, FORMAT + 1])
def test_a_namespace_of_another_version_is_refused(redis_server, version):
    with redis_server.client as client:
        client.hset("{neardup:default}:meta", "format", version)
    with pytest.raises(
        StoreError, match=rf"has format {version}.*reads format {FORMAT}; crawl again"
    ):
        RedisStore(redis_server.address)


def test_a_server_that_writes_to_disk_is_not_complained_of(redis_server, own_server, caplog):
    caplog.set_level(logging.WARNING)
    for server in (redis_server, own_server):
        RedisStore(server.address).close()
    assert not caplog.records


def test_a_missing_package_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("scrapy_neardup.stores.redis")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(MissingPackage, match=r'pip install "scrapy-neardup\[redis\]"'):
        open_store("redis://127.0.0.1")
