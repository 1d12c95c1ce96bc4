"""A server is replaced by its replica, with all writes or without the last ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_neardup.exceptions import StoreError, StoreUnreachable
from scrapy_neardup.stores.redis.pages import RedisPages
from scrapy_neardup.stores.redis.store import RedisStore
from tests.stores.test_stores import urls
from tests.support.claims import met
from tests.support.processes import wait_for
from tests.support.redis_servers import RedisServer, Watched
from tests.support.storer import RULE, made_page


@pytest.fixture
def watched(tmp_path, afterwards):
    servers = Watched(tmp_path)
    afterwards.callback(servers.kill)
    return servers


@pytest.mark.slow
def test_who_has_a_store_open_goes_on_with_the_replica(watched):
    stores = [RedisStore(watched.address) for _ in range(2)]
    for number in range(20):
        met(stores[number % 2], made_page(number), RULE)
    held = [store.claim(made_page(n), RULE) for n, store in enumerate(stores, start=100)]
    wait_for(watched.is_replicated)
    watched.master.kill()
    with pytest.raises(StoreUnreachable):
        stores[0].claim(made_page(20), RULE)

    def is_back() -> bool:
        try:
            return met(stores[0], made_page(20), RULE).kind in ("new", "revisit")
        except StoreUnreachable:
            return False

    wait_for(is_back)
    for store, claim in zip(stores, held, strict=True):
        store.commit(claim.ticket)
        assert met(store, made_page(100 + len(stores)), RULE).kind in ("new", "revisit")
    wanted = [made_page(number).url for number in (*range(21), 100, 101, 102)]
    for store in stores:
        assert sorted(urls(store)) == sorted(wanted)
        assert store.problem is None
        store.close()


def test_a_login_that_is_wrong_is_said_to_be(watched):
    right = watched.address
    for wrong in (
        right.partition("?")[0],
        right.replace("of-sentinels", "Kj7xq"),
        right.replace("of-servers", "Kj7xq"),
    ):
        with pytest.raises(StoreError, match=r"password are wrong .*\?sentinel_user") as caught:
            RedisStore(wrong)
        assert not isinstance(caught.value, StoreUnreachable)
        assert "Kj7xq" not in str(caught.value)
    with pytest.raises(StoreUnreachable, match="the Sentinels name no master 'others' at present"):
        RedisStore(right.replace("/pages/", "/others/"))


@pytest.fixture
def forgetful(tmp_path, afterwards):
    """A server that writes to disk when it is told to."""
    server = RedisServer(tmp_path, save="")
    afterwards.callback(server.kill)
    return server


def lose_the_rest(server: RedisServer) -> None:
    """As when a replica takes over that had not heard of it yet."""
    server.kill()
    server.start()


def test_a_number_that_is_given_again_is_no_other_page(forgetful):
    one, other = (RedisStore(forgetful.address) for _ in range(2))
    met(one, made_page(0), RULE)
    with forgetful.client as client:
        client.save()
    claims = [one.claim(made_page(n), RULE) for n in (1, 2)]
    lose_the_rest(forgetful)
    theirs = [other.claim(made_page(n), RULE) for n in (3, 4)]
    assert [claim.ticket for claim in theirs] == [claim.ticket for claim in claims]
    for _ in range(2):
        one.commit(claims[0].ticket)
    one.release(claims[1].ticket)
    for claim in theirs:
        other.commit(claim.ticket)
    assert sorted(urls(one)) == sorted(made_page(n).url for n in (0, 1, 3, 4))
    assert len(one) == 4
    for store in (one, other):
        store.close()


def test_what_is_given_a_number_again_while_a_page_is_judged_is_seen(forgetful, monkeypatch):
    one, other = (RedisStore(forgetful.address) for _ in range(2))
    met(one, made_page(0), RULE)
    with forgetful.client as client:
        client.save()
    for number in range(1, 5):
        met(one, made_page(number), RULE)
    reserve = RedisPages.reserve

    def overtaken(self, *arguments):
        monkeypatch.undo()
        lose_the_rest(forgetful)
        met(other, made_page(9), RULE)
        return reserve(self, *arguments)

    monkeypatch.setattr(RedisPages, "reserve", overtaken)
    copy = replace(made_page(9), url="https://copy.example/", key="https://copy.example/")
    assert one.claim(copy, RULE).verdict.duplicate_of == made_page(9).url
    for store in (one, other):
        store.close()
