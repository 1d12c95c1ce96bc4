"""Real crawls with scheduler, dupefilter, spider and pipeline of scrapy-redis."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.support.crawl import Crawl, run_crawl
from tests.support.redis_servers import RedisServer
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, article, page

COPIES = {f"/{n}": page(FERRY, frame=str(n)) for n in range(8)} | {"/other": page(MUSEUM)}
SETTINGS: dict[str, Any] = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
}
#: What scrapy-redis 0.9 does that Scrapy 2.19 warns of.
DEPRECATED = (
    "Passing a 'spider' argument to StatsCollector.inc_value",
    "RedisPipeline.process_item() requires a spider argument",
    "scrapy_redis.pipelines.RedisPipeline.process_item returned a Deferred",
)


def run(server: RedisServer, **settings: Any) -> Crawl:
    """A crawl of what is in the list and the queue."""
    return run_crawl(
        [],
        {**SETTINGS, "REDIS_URL": server.address, **settings},
        spider="tests.support.redis_spider.ListSpider",
        ignored=DEPRECATED,
    )


def push(server: RedisServer, urls: Iterable[str]) -> None:
    with server.client as client:
        client.rpush("addresses", *(json.dumps({"url": url}) for url in urls))


@pytest.mark.slow
@pytest.mark.parametrize("is_enabled", [True, False], ids=["enabled", "disabled"])
def test_start_urls_come_from_a_list(redis_server, is_enabled):
    with serving(COPIES) as site:
        push(redis_server, map(site.url, COPIES))
        crawl = run(redis_server, NEARDUP_ENABLED=is_enabled)
    assert len(crawl.stored) == (2 if is_enabled else 9)
    assert "other" in crawl.stored


@pytest.mark.slow
def test_processes_share_a_queue_a_dupefilter_and_a_store(redis_server):
    contents = {n: page(" ".join(article(seed=n)), title=f"t{n}") for n in range(12)}
    copies = {f"/{kind}{n}": text for n, text in contents.items() for kind in "ab"}
    # Neither process goes on before the other has begun as well.
    both = threading.Barrier(2)

    def hub(n: int) -> bytes:
        both.wait(timeout=60)
        return page(" ".join(article(seed=100 + n)), links=" ".join(copies)).encode()

    hubs = {f"/hub{n}": Answer(partial(hub, n)) for n in range(2)}
    settings = {
        "NEARDUP_STORE": redis_server.address,
        "ITEM_PIPELINES": {"scrapy_redis.pipelines.RedisPipeline": 300},
        "SCHEDULER_PERSIST": True,
        "CONCURRENT_REQUESTS": 1,
    }
    with serving({**copies, **hubs}) as site, ThreadPoolExecutor(2) as threads:
        push(redis_server, map(site.url, hubs))
        crawls = [threads.submit(run, redis_server, **settings) for _ in range(2)]
        assert all(crawl.result().stored for crawl in crawls)
        assert set(site.hits.values()) == {1}
    with redis_server.client as client:
        stored = [json.loads(item)["path"] for item in client.lrange("crawl:items", 0, -1)]
        assert client.scard("crawl:dupefilter") == len(copies)
        assert client.zcard("crawl:requests") == 0
    assert sorted(path[1:] for path in stored if path[0] in "ab") == sorted(map(str, contents))
    assert len(stored) == len(contents) + len(hubs)
