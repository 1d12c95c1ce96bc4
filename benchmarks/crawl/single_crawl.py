"""Runs one crawl of the served pages, in a process of its own.

Started by overhead.py and workers.py, so that neither crawl warms up or slows down the
other.  Reads a job (JSON), writes an :class:`accounts.Crawl`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from ..common.crawling import ADDON, SETTINGS
from ..common.memory import peak_bytes
from .accounts import CatalogueEntry, Crawl, Outcome, read_catalogue
from .heartbeat import Heartbeat
from .slices import Collections, Slices


@dataclass(frozen=True)
class Job:
    """The pages to crawl, and the settings.

    :ivar watches_reactor: whether to measure what holds the reactor, which slows the crawl down.
    """

    catalogue: str
    proxy: str | None
    addon: bool
    settings: dict[str, str]
    result: str
    watches_reactor: bool = True


class Refused(Exception):
    """The crawl could not be made; the message says why."""


class Ledger:
    """Writes down all that happens to each page."""

    def __init__(self, pages: int) -> None:
        self.outcomes: list[list[Outcome]] = [[] for _ in range(pages)]
        self.judgements: list[Outcome | None] = [None] * pages

    def connect(self, crawler: Crawler, addon: bool) -> None:
        crawler.signals.connect(self._scraped, signals.item_scraped)
        crawler.signals.connect(self._dropped, signals.item_dropped)
        crawler.signals.connect(self._item_error, signals.item_error)
        crawler.signals.connect(self._spider_error, signals.spider_error)
        if addon:
            from scrapy_neardup.signals import page_judged

            crawler.signals.connect(self._judged, page_judged)

    def failed(self, page: int, reason: str) -> None:
        self.outcomes[page].append(Outcome("failed", reason))

    def _scraped(self, response: Response) -> None:
        self.outcomes[response.meta["page"]].append(Outcome("stored"))

    def _dropped(self, response: Response, exception: Exception) -> None:
        original = getattr(exception, "duplicate_of", None)
        if original is None:
            self.failed(response.meta["page"], f"dropped: {type(exception).__name__}")
            return
        # Attributes of scrapy_neardup.NearDuplicate, which cannot be imported without the add-on.
        details: Any = exception
        self.outcomes[response.meta["page"]].append(
            Outcome("dropped", details.reason, original, details.distance, details.similarity)
        )

    def _item_error(self, response: Response, failure: Failure) -> None:
        self.failed(response.meta["page"], f"item error: {type(failure.value).__name__}")

    def _spider_error(self, response: Response, failure: Failure) -> None:
        self.failed(response.meta["page"], f"spider error: {type(failure.value).__name__}")

    def _judged(self, verdict: Any, response: Response) -> None:
        self.judgements[response.meta["page"]] = Outcome(
            verdict.kind,
            verdict.reason or "",
            verdict.duplicate_of,
            verdict.distance,
            verdict.similarity,
        )


class Meter:
    """Measures a crawl from the moment its spider is opened to the moment it is closed.

    :param watches_reactor: see :class:`Job`.
    """

    def __init__(self, *, watches_reactor: bool) -> None:
        self.figures: dict[str, float] = {}
        self._watches_reactor = watches_reactor
        self.heartbeat = Heartbeat()
        self.slices = Slices()
        self.collections = Collections()
        self._created = self._opened = perf_counter()
        self._first_request = 0.0
        self._cpu = _cpu_seconds()

    def connect(self, crawler: Crawler, addon: bool) -> None:
        if addon and self._watches_reactor:
            from scrapy_neardup import NearDupJudge

            measured = self.slices.measured(NearDupJudge.judge_page)
            NearDupJudge.judge_page = measured  # type: ignore[method-assign]
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)
        crawler.signals.connect(self._sent, signals.request_reached_downloader)

    def _sent(self) -> None:
        self._first_request = self._first_request or perf_counter()

    def _start(self) -> None:
        self._opened = perf_counter()
        if self._watches_reactor:
            self.heartbeat.start()
            self.collections.start()

    def _stop(self) -> None:
        if self._watches_reactor:
            self.heartbeat.stop()
            self.collections.stop()
            self.figures = self.collections.figures()
        self.figures |= {
            "start-up s": self._opened - self._created,
            "to first request s": self._first_request - self._opened,
            "crawl s": perf_counter() - self._opened,
            "CPU s": _cpu_seconds() - self._cpu,
            "peak memory MiB": peak_bytes() / 2**20,
        }


def _cpu_seconds() -> float:
    """Return user and system time of this process and of its ended child processes."""
    return sum(os.times()[:4])


class PageSpider(Spider):
    """Asks for every page of the catalogue once and yields one item for each."""

    name = "pages"

    def __init__(self, catalogue: list[CatalogueEntry], proxy: str | None, ledger: Ledger) -> None:
        super().__init__()
        self._catalogue = catalogue
        self._proxy = proxy
        self._ledger = ledger

    async def start(self) -> AsyncIterator[Request]:
        for number, page in enumerate(self._catalogue):
            # While Scrapy cannot send more it would take all the rest in one turn of the loop,
            # and hold it for as long as that takes.
            while self.crawler.engine.needs_backout():
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            # dont_filter: records may share a URL, and each of them is a page to account for.
            yield Request(
                page.request_url,
                headers={"X-Page": str(number)},
                # The id of the item is the page's, and would tell its copies apart.
                meta={
                    "page": number,
                    "proxy": self._proxy,
                    "neardup": {"item_origin": "own"},
                },
                errback=self.failed,
                dont_filter=True,
            )

    def parse(self, response: Response) -> Iterator[dict[str, str]]:
        page = self._catalogue[response.meta["page"]]
        yield {"id": page.id, "url": page.url}

    def failed(self, failure: Failure) -> None:
        error = failure.value
        reason = type(error).__name__
        if isinstance(error, HttpError):
            reason = f"HTTP {error.response.status}"
        request: Request = failure.request  # type: ignore[attr-defined]
        self._ledger.failed(request.meta["page"], reason)


def settings_for(job: Job) -> Settings:
    settings = Settings()
    settings.setdict(SETTINGS, priority="project")
    if job.addon:
        settings.set("ADDONS", {ADDON: 500}, priority="project")
    settings.setdict(job.settings, priority="cmdline")
    return settings


def run(job: Job) -> Crawl:
    """Crawl and return what was measured.

    :raises Refused: when Scrapy or the add-on does not accept the settings.
    """
    catalogue = read_catalogue(Path(job.catalogue))
    ledger, meter = Ledger(len(catalogue)), Meter(watches_reactor=job.watches_reactor)
    process = AsyncCrawlerProcess(settings_for(job))
    crawler = process.create_crawler(PageSpider)
    meter.connect(crawler, job.addon)
    try:
        ledger.connect(crawler, job.addon)
        crawl = process.crawl(crawler, catalogue=catalogue, proxy=job.proxy, ledger=ledger)
        process.start()
        crawl.result()
    except Exception as error:
        raise Refused(f"{type(error).__name__}: {error}") from error
    return Crawl(
        addon=job.addon,
        figures=meter.figures,
        beats=meter.heartbeat.figures(),
        slices=meter.slices.figures(),
        stats=crawler.stats.get_stats(),
        outcomes=ledger.outcomes,
        judgements=ledger.judgements,
    )


def main() -> None:
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    try:
        run(job).save(Path(job.result))
    except Refused as error:
        logging.debug("The crawl did not start or not end:", exc_info=True)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
