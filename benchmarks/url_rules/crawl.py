"""Crawls a generated site once, by one method, in a process of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response, TextResponse

from ..common.crawling import ADDON, SETTINGS
from ..common.memory import peak_bytes
from .request_seen import SeenClock, SeenTimes
from .server import CONTENT_HEADER

#: What MaybeDont wants to see in a request's meta.
_MAYBE_DONT = "avoid_dup_content"


@dataclass(frozen=True)
class UrlJob:
    """The site to crawl, and the method.

    :ivar proxy: the server of the site.
    :ivar maybe_dont: whether MaybeDont's middleware refuses requests.
    :ivar fresh: URLs that the dupefilter is asked for when the crawl is over.
    """

    start_url: str
    proxy: str
    settings: Mapping[str, Any]
    maybe_dont: bool = False
    seed: int = 0
    fresh: Sequence[str] = ()


@dataclass
class UrlCrawl:
    """The result of a crawl.

    :ivar fetched: how many answers each content was in.
    :ivar stored: how many items each content was stored as.
    :ivar failed: answers that were none of a content, and requests without an answer.
    :ivar seen: how long the dupefilter took.
    """

    fetched: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0
    stats: dict[str, Any] = field(default_factory=dict)
    seen: SeenTimes | None = None

    @property
    def superfluous(self) -> int:
        """Fetches beyond the first of each content."""
        return self.fetched.total() - len(self.fetched)


class UrlSpider(Spider):
    """Follows all links and yields an item for each page."""

    name = "urls"

    def __init__(self, job: UrlJob) -> None:
        super().__init__()
        self._job = job

    async def start(self) -> AsyncIterator[Request]:
        yield self._request(self._job.start_url)

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        yield {"url": response.url, "content": content_of(response)}
        for link in response.css("a::attr(href)").getall():
            yield self._request(link)

    def _request(self, url: str) -> Request:
        return Request(url, meta={"proxy": self._job.proxy, _MAYBE_DONT: True})


def content_of(response: Response) -> str | None:
    """Return the content that the server names in its response."""
    value = response.headers.get(CONTENT_HEADER)
    return None if value is None else value.decode()


def crawl(job: UrlJob) -> UrlCrawl:
    """Crawl the site to its end."""
    settings = {**SETTINGS, "ADDONS": {ADDON: 500}, **job.settings}
    if job.maybe_dont:
        settings |= _maybe_dont(job)
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(UrlSpider)
    came, clock = UrlCrawl(), SeenClock()
    _listen(crawler, came)
    process.crawl(crawler, job=job)
    started = perf_counter()
    process.start()
    assert crawler.stats
    came.seconds = perf_counter() - started
    came.peak_bytes = peak_bytes()
    came.seen = clock.stop(job.fresh)
    came.stats = {
        name: value
        for name, value in crawler.stats.get_stats().items()
        if isinstance(value, int | float | str)
    }
    return came


def _maybe_dont(job: UrlJob) -> dict[str, Any]:
    from .maybe_dont import ORDER, SEED_SETTING, MaybeDontMiddleware

    return {
        "AVOID_DUP_CONTENT_ENABLED": True,
        SEED_SETTING: job.seed,
        "DOWNLOADER_MIDDLEWARES": {MaybeDontMiddleware: ORDER},
    }


def _listen(crawler: Crawler, came: UrlCrawl) -> None:
    def received(response: Response) -> None:
        content = content_of(response)
        if content is None:
            came.failed += 1
        else:
            came.fetched[content] += 1

    def scraped(item: dict[str, str]) -> None:
        came.stored[item["content"]] += 1

    # Kept alive by the crawler's signals only as long as somebody else holds them.
    crawler.signals.connect(received, signals.response_received, weak=False)
    crawler.signals.connect(scraped, signals.item_scraped, weak=False)
