"""The request filter without a crawl."""

from __future__ import annotations

import asyncio
import pickle
import threading
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import numpy as np
import numpy.typing as npt
import pytest
from scrapy import Spider
from scrapy.http import Request, Response

from scrapy_neardup import NearDupDetector
from scrapy_neardup.crawl.durability.job import Job
from scrapy_neardup.crawl.requests import url_rule_filter
from scrapy_neardup.crawl.requests.request_filter import RequestFilter
from scrapy_neardup.crawl.requests.url_rule_filter import read_left, write_left
from scrapy_neardup.crawl.settings import Policy, UrlRuleSettings
from scrapy_neardup.crawl.store_client import StoreClient
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.reasons import Reason
from scrapy_neardup.stores import MemoryStore
from tests.support.crawl import LOOPS

pytestmark = pytest.mark.skipif("no reactor" not in LOOPS, reason="needs Scrapy 2.15")


class Engine:
    """Takes requests, and notes in which turn of the event loop each came."""

    def __init__(self) -> None:
        self.spider = Spider("s")
        self.turn = 0
        self.turns: list[int] = []
        self.urls: list[str] = []

    def crawl(self, request: Request) -> None:
        self.turns.append(self.turn)
        self.urls.append(request.url)
        assert request.dont_filter

    async def count_turns(self) -> None:
        while True:
            self.turn += 1
            await asyncio.sleep(0)


def ignored(*counted: object) -> None:
    """Count nothing."""


def packed(request: Request, spider: Spider) -> bytes:
    return pickle.dumps(request.to_dict(spider=spider), protocol=4)


def client_of(store: MemoryStore) -> StoreClient:
    return StoreClient(NearDupDetector(store=store), 60, lambda error: pytest.fail(str(error)))


def filter_of(engine: Engine, job: Job | None = None, explore: float = 0) -> RequestFilter:
    crawler: Any = SimpleNamespace(engine=engine, spider=engine.spider)
    plan = UrlRuleSettings(url_rules="on", url_rules_sample_rate=explore, duplicate_url_ttl=3600.0)
    return RequestFilter(crawler, plan, ignored, learns=True, job=job)


def test_what_a_store_knows_is_read_in_another_thread():
    threads: list[threading.Thread] = []

    class Asked(MemoryStore):
        def rules(self) -> dict[str, bytes]:
            threads.append(threading.current_thread())
            return super().rules()

        def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
            threads.append(threading.current_thread())
            return super().known_duplicates(since)

    async def opened() -> None:
        await filter_of(Engine()).open(client_of(Asked()))

    asyncio.run(opened())
    assert len(threads) == 2
    assert threading.main_thread() not in threads


def knowing(one: RequestFilter, url: str) -> None:
    """It led to a duplicate, and the original was met since."""
    original, text = "https://a.example/original", bytes(16)
    one.remember(
        Request(url), Verdict("duplicate", url, Reason.SAME_TEXT, original, original_text=text), 0
    )
    met = Verdict("revisit", original, Reason.UNCHANGED, original_text=text)
    one.judged(Response(original, request=Request(original)), met)


@pytest.mark.parametrize(
    ("differs", "is_refused"),
    [
        ({}, True),
        ({"dont_filter": True}, False),
        ({"meta": {"is_start_request": True}}, False),
        ({"method": "POST"}, False),
        ({"method": "HEAD"}, False),
        ({"body": b"q=1"}, False),
        ({"meta": {"redirect_urls": None}}, True),
    ],
)
def test_of_a_known_url_only_what_led_to_the_duplicate_is_refused(differs, is_refused):
    url = "https://a.example/b?d=1&c=2"

    async def asked() -> None:
        one = filter_of(Engine())
        await one.open(client_of(MemoryStore()))
        knowing(one, "https://a.example/b?c=2&d=1#top")
        for refusing in (one.refuses, one.should_cancel):
            assert refusing(Request(url, **differs), Policy()) is is_refused
            assert refusing(Request(url, **differs), Policy(action="tag")) is False

    asyncio.run(asked())


@pytest.mark.parametrize("refusing", [RequestFilter.refuses, RequestFilter.should_cancel])
def test_redirect_to_a_superfluous_url_ends(refusing):
    first, target = "https://a.example/b", "https://a.example/c"
    redirected = Request(target, meta={"redirect_urls": [first]})

    async def in_flight() -> list[int]:
        one = filter_of(Engine())
        await one.open(client_of(MemoryStore()))
        assert not one.should_cancel(Request(first), Policy())
        site = one.rules.learner._sites["a.example"]
        numbers = [len(site.in_flight())]
        knowing(one, target)
        assert refusing(one, redirected, Policy())
        return [*numbers, len(site.in_flight())]

    assert asyncio.run(in_flight()) == [1, 0]


def test_many_requests_are_made_in_batches(tmp_path):
    job, engine = Job(tmp_path), Engine()
    urls = [f"http://example.com/{number}" for number in range(100)]
    write_left(job.held, {}, [packed(Request(url), engine.spider) for url in urls])

    async def made() -> None:
        counting = asyncio.create_task(engine.count_turns())
        client, request_filter = client_of(MemoryStore()), filter_of(engine, job)
        await request_filter.open(client)
        # Nothing is asked of an engine that may not be ready.
        assert engine.urls == []
        await request_filter.sync(client)
        assert len(engine.urls) == url_rule_filter._MADE_AT_ONCE
        while len(engine.urls) < 100:
            await asyncio.sleep(0)
        counting.cancel()

    asyncio.run(made())
    assert engine.urls == urls
    assert max(map(engine.turns.count, engine.turns)) == url_rule_filter._MADE_AT_ONCE


def test_requests_not_made_are_left_to_the_next_run(tmp_path):
    job, engine = Job(tmp_path), Engine()
    refetches = [packed(Request("http://example.com/"), engine.spider)]
    write_left(job.held, {}, refetches)
    job.begin()

    async def stopped() -> None:
        client, request_filter = client_of(MemoryStore()), filter_of(engine, job)
        await request_filter.open(client)
        request_filter.rules.queue.stop()
        await request_filter.close(client, is_clean=True)

    asyncio.run(stopped())
    job.end()
    assert engine.urls == []
    assert read_left(job.held) == (ANY, refetches)


def test_a_job_whose_requests_cannot_be_kept_has_not_ended_cleanly(tmp_path):
    job, engine = Job(tmp_path), Engine()
    job.begin()
    # In the place of the draft, so that it cannot be written.
    job.held.with_name("neardup.held.part").mkdir()

    async def closed() -> None:
        client, request_filter = client_of(MemoryStore()), filter_of(engine, job)
        await request_filter.open(client)
        await request_filter.close(client, is_clean=True)

    asyncio.run(closed())
    job.end()
    assert job.ended_uncleanly


def test_lost_requests_are_logged(tmp_path, caplog):
    job, engine = Job(tmp_path), Engine()
    job.begin()

    async def closed() -> None:
        client, request_filter = client_of(MemoryStore()), filter_of(engine, job)
        await request_filter.open(client)
        unkept = Request("http://example.com/", callback=lambda _: ignored())  # type: ignore[misc]
        request_filter.rules.queue._requests.append(unkept)
        request_filter.rules.queue.stop()
        await request_filter.close(client, is_clean=True)

    asyncio.run(closed())
    assert read_left(job.held) == (ANY, [])
    assert "A skipped request is lost" in caplog.text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is damaged"),
        (b"broken", "it is damaged"),
        (pickle.dumps((2, {}, [])), "it has format 2, from another .* which reads format 1"),
    ],
)
def test_foreign_file_is_refused(tmp_path, content, says):
    (tmp_path / "held").write_bytes(content)
    with pytest.raises(ValueError, match=says):
        read_left(tmp_path / "held")


def test_a_job_whose_file_cannot_be_read_has_not_ended_cleanly(tmp_path, caplog):
    job = Job(tmp_path)
    # A folder where the file should be.
    job.held.mkdir()
    job.begin()
    asyncio.run(filter_of(Engine(), job).open(client_of(MemoryStore())))
    job.end()
    assert job.ended_uncleanly
    assert f"{job.held} cannot be read: Is a directory. " in caplog.text
