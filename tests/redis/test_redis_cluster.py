"""The Redis store on a cluster of three servers, and behind a Sentinel."""

from __future__ import annotations

from collections import Counter

import pytest

from scrapy_neardup import NearDupDetector, Rule
from scrapy_neardup.exceptions import StoreUnreachable
from scrapy_neardup.stores.redis.store import RedisStore
from tests.redis.test_redis_unread import COPY_ON_SITE, MIB, PAGES, SECRET, SIGNER, crawled
from tests.support.processes import wait_for
from tests.support.redis_servers import RedisCluster, Sentinel, free_port
from tests.support.texts import FERRY, article


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    three = RedisCluster(tmp_path_factory.mktemp("cluster"))
    yield three
    three.kill()


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["all", "site"])
def test_workers_agree_on_a_cluster(cluster, scope):
    stores = [RedisStore(cluster.address, f"agree {scope}", scope=scope) for _ in range(2)]
    detectors = [NearDupDetector(store=store, scope=scope) for store in stores]
    kinds = Counter(
        detectors[n % 2].check(url=f"https://{n % 3}.example/{n}", text=FERRY).kind
        for n in range(12)
    )
    # One in all, or one of each of three sites.
    stored = {"all": 1, "site": 3}[scope]
    assert kinds == {"new": stored, "duplicate": 12 - stored}
    for store in stores:
        assert len(store) == len(list(store.entries())) == stored
        store.close()


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["all", "site"])
def test_workers_complete_each_others_pages_on_a_cluster(cluster, scope):
    rule = Rule(scope=scope)
    stores = [
        RedisStore(cluster.address, f"unread {scope}", scope=scope, secret=SECRET) for _ in range(2)
    ]
    for store in stores:
        store.adopt(SIGNER.recipe, SIGNER.parts)
        store.body_cache(MIB)
    kinds = [crawled(stores[n % 2], url, rule).kind for n, url in enumerate(PAGES)]
    elsewhere = "duplicate" if scope == "all" else "new"
    assert kinds == ["new", elsewhere, elsewhere, "new"]
    assert crawled(stores[1], COPY_ON_SITE, rule).kind == "duplicate"
    for store in stores:
        assert len(store) == kinds.count("new")
        store.close()


def test_sites_are_spread_over_the_cluster(cluster):
    before = cluster.keys()
    store = RedisStore(cluster.address, "spread", scope="site")
    detector = NearDupDetector(store=store, scope="site")
    for n in range(30):
        detector.check(url=f"https://{n}.example/", text=" ".join(article(60, n)))
    more = [now - then for now, then in zip(cluster.keys(), before, strict=True)]
    assert min(more) > 0
    store.close()


def test_one_namespace_stands_on_one_node(cluster):
    before = cluster.keys()
    store = RedisStore(cluster.address, "together")
    detector = NearDupDetector(store=store)
    for n in range(5):
        detector.check(url=f"https://{n}.example/", text=" ".join(article(60, n)))
    store.close()
    more = [now - then for now, then in zip(cluster.keys(), before, strict=True)]
    assert more.count(0) == 2


def test_a_cluster_that_is_not_there_may_come_back():
    with pytest.raises(StoreUnreachable):
        RedisStore(f"redis+cluster://127.0.0.1:{free_port()}")


@pytest.mark.slow
def test_a_cluster_whose_node_is_gone_is_unreachable(tmp_path, afterwards):
    three = RedisCluster(tmp_path)
    afterwards.callback(three.kill)
    store = RedisStore(three.address, "gone", scope="site", call_timeout=0.5)
    afterwards.callback(store.close)
    detector = NearDupDetector(store=store, scope="site")
    urls = [f"https://{n}.example/" for n in range(12)]
    for n, url in enumerate(urls):
        detector.check(url=url, text=" ".join(article(60, n)))

    def all_are_there():
        return all(store.find(url) for url in urls)

    def all_are_back():
        try:
            return all_are_there()
        except StoreUnreachable:
            return False

    three.servers[1].kill()
    with pytest.raises(StoreUnreachable):
        all_are_there()
    three.servers[1].start()
    wait_for(all_are_back)


def test_a_sentinel_names_the_server(redis_server, tmp_path, afterwards):
    sentinel = Sentinel(tmp_path / "sentinel", redis_server)
    afterwards.callback(sentinel.kill)
    store = RedisStore(f"redis+sentinel://127.0.0.1:{sentinel.port}/pages/0")
    assert NearDupDetector(store=store).check(url="https://a.example/", text=FERRY).kind == "new"
    direct = RedisStore(redis_server.address)
    assert len(direct) == 1
    direct.close()
    with pytest.raises(StoreUnreachable, match="other"):
        RedisStore(f"redis+sentinel://127.0.0.1:{sentinel.port}/other/0")
    store.close()
