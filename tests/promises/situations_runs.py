"""Several runs and several spiders with one store: login walls, stops, kills, later days."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import scrapy
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from tests.promises.harness import (
    HOME,
    Answer,
    Asked,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    full,
    situation,
    words,
)

N = 8


def _store(site: Site, **more: Any) -> dict[str, Any]:
    return {"NEARDUP_STORE": f"sqlite:///{site.folder}/seen.sqlite", **more}


def _in_two_views(site: Site, n: int = N) -> None:
    for number in range(n):
        text, title = words(seed=number), f"Story {number}"
        site.put(f"/story/{number}", full(text, title), f"story {number}")
        site.put(f"/print/{number}", bare(text, title), f"story {number}")
    site.index()


class WithWalls(PromiseSpider):
    """Takes walls for articles, as a spider does that knows of none."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if response.url != f"{HOME}/":
            yield {"content": content_of(response) or "wall"}
        yield from self.links(response)


def _with_a_wall_on_the_first_day(site: Site, articles: int) -> None:
    """A quarter of the articles are shown on the first day."""

    def page(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            if asked.day == 1 and n % 4:
                return Answer(full(words(90, "please log in"), "Log in"))
            return Answer(full(words(seed=n), f"Article {n}"), f"article {n}")

        return shown

    for n in range(articles):
        site.on(f"/article/{n}", page(n))
    site.index(*(f"/article/{n}" for n in range(articles)))


@situation(contents=25, CONCURRENT_REQUESTS=1)
def articles_in_whose_place_a_wall_stood_on_the_first_of_three_days(site: Site) -> Any:
    _with_a_wall_on_the_first_day(site, 24)
    second = {"CLOSESPIDER_PAGECOUNT": 8}
    return [
        Run(WithWalls, **_store(site)),
        Run(WithWalls, **_store(site, **second)),
        Run(WithWalls, **_store(site)),
    ]


@situation(contents=25, CONCURRENT_REQUESTS=1)
def articles_in_whose_place_a_wall_stood_on_the_first_of_two_days(site: Site) -> Any:
    _with_a_wall_on_the_first_day(site, 24)
    return [Run(WithWalls, **_store(site)), Run(WithWalls, **_store(site))]


@situation(contents=2 * N, CONCURRENT_REQUESTS=1, NEARDUP_DUPLICATE_URL_TTL=0)
def articles_that_come_to_addresses_of_copies_on_the_second_day(site: Site) -> Any:
    def reused(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            if asked.day == 1:
                return Answer(bare(words(seed=n), f"Story {n}"), f"story {n}")
            return Answer(full(words(seed=("new", n)), f"News {n}"), f"news {n}")

        return shown

    for n in range(N):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
        site.on(f"/slot/{n}", reused(n))
    site.index(*(f"/{kind}/{n}" for kind in ("story", "slot") for n in range(N)))
    return [Run(PromiseSpider, **_store(site)), Run(PromiseSpider, **_store(site))]


@situation(contents=2 * N, NEARDUP_REVISIT="drop")
def articles_that_come_to_addresses_of_originals_on_the_second_day(site: Site) -> Any:
    def reused(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            seed = ("day", asked.day, n)
            return Answer(full(words(seed=seed), "Today"), f"day {asked.day} story {n}")

        return shown

    for n in range(N):
        site.on(f"/today/{n}", reused(n))
    site.index(*(f"/today/{n}" for n in range(N)))
    return [Run(PromiseSpider, **_store(site)), Run(PromiseSpider, **_store(site))]


@situation(contents=N, finds=N)
def stories_whose_originals_are_gone_on_the_second_day(site: Site) -> Any:
    def original(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            if asked.day == 2:
                return Answer(status=404)
            return Answer(full(words(seed=n), f"Story {n}"), f"story {n}")

        return shown

    for n in range(N):
        site.on(f"/story/{n}", original(n))
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}"), f"story {n}")
    site.index(*(f"/{view}/{n}" for n in range(N) for view in ("story", "print")))
    return [Run(PromiseSpider, **_store(site)), Run(PromiseSpider, **_store(site))]


@situation(contents=4 * N, NEARDUP_REVISIT="drop")
def wares_that_change_beside_their_texts_on_the_second_day(site: Site) -> Any:
    def ware(n: int, *, in_title: bool) -> Any:
        def shown(asked: Asked) -> Answer:
            price = f"{10 * n + 2 * asked.day} euros"
            title = f"Ware {n} for {price}" if in_title else f"Ware {n}"
            page = full(words(seed=n), title)
            if not in_title:
                page = page.replace("<main>", f'<div class="price">{price}</div><main>')
            return Answer(page, f"day {asked.day} {in_title} ware {n}")

        return shown

    for n in range(N):
        site.on(f"/price/{n}", ware(n, in_title=False))
        site.on(f"/title/{n}", ware(n, in_title=True))
    site.index(*(f"/{kind}/{n}" for kind in ("price", "title") for n in range(N)))
    return [Run(PromiseSpider, **_store(site)), Run(PromiseSpider, **_store(site))]


@situation(contents=N, CONCURRENT_REQUESTS=1)
def stories_of_a_crawl_that_ends_after_some_items(site: Site) -> Any:
    _in_two_views(site)
    ending = _store(site, CLOSESPIDER_ITEMCOUNT=3)
    return [Run(PromiseSpider, **ending), Run(PromiseSpider, **_store(site))]


@situation(contents=N, NEARDUP_REVISIT="drop")
def stories_of_a_crawl_that_ends_after_some_pages_with_revisit_drop(site: Site) -> Any:
    _in_two_views(site)
    ending = _store(site, CLOSESPIDER_PAGECOUNT=5)
    return [Run(PromiseSpider, **ending), Run(PromiseSpider, **_store(site))]


class Stalls(PromiseSpider):
    """Is in the middle of a page when the time of the crawl is up."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from super().parse(response)


@situation(contents=N, CONCURRENT_REQUESTS=2, NEARDUP_REVISIT="drop")
def stories_of_a_crawl_that_ends_after_some_time(site: Site) -> Any:
    _in_two_views(site)
    ending = _store(site, CLOSESPIDER_TIMEOUT=0.2, DOWNLOAD_DELAY=0.05)
    return [Run(PromiseSpider, **ending), Run(PromiseSpider, **_store(site))]


class EndsInside(PromiseSpider):
    """Closes in the middle of a page of four items, once."""

    has_closed = False

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            for part in range(4):
                if label == "story 3" and part == 2 and self.settings.getbool("ENDS_INSIDE"):
                    raise CloseSpider("enough")
                yield {"content": f"{label}.{part}"}
        yield from self.links(response)


@situation(contents=4 * N, CONCURRENT_REQUESTS=1)
def items_behind_the_place_where_a_callback_closed_the_spider(site: Site) -> Any:
    _in_two_views(site)
    return [
        Run(EndsInside, ENDS_INSIDE=True, **_store(site)),
        Run(EndsInside, **_store(site)),
    ]


@situation(contents=4 * N, CONCURRENT_REQUESTS=1, NEARDUP_REVISIT="drop")
def items_behind_the_place_where_the_spider_closed_with_revisit_drop(site: Site) -> Any:
    for n in range(N):
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}"), f"story {n}")
    site.index()
    return [
        Run(EndsInside, ENDS_INSIDE=True, **_store(site)),
        Run(EndsInside, **_store(site)),
    ]


@situation(contents=N, CONCURRENT_REQUESTS=1)
def stories_of_a_job_that_is_stopped_and_resumed(site: Site) -> Any:
    _in_two_views(site)
    job = str(site.folder / "job")
    return [
        Run(PromiseSpider, JOBDIR=job, CLOSESPIDER_PAGECOUNT=6),
        Run(PromiseSpider, JOBDIR=job, CLOSESPIDER_PAGECOUNT=5),
        Run(PromiseSpider, JOBDIR=job),
    ]


@situation(contents=3 * N, stored_in="feed.jsonl")
def stories_of_a_killed_job_that_is_recovered_into_a_feed_that_overwrites(site: Site) -> Any:
    _in_two_views(site, 3 * N)
    feeds = {f"{site.folder}/feed.jsonl": {"format": "jsonlines", "overwrite": True}}
    if not site.with_addon:
        return [Run(PromiseSpider, FEEDS=feeds)]
    job = str(site.folder / "job")
    # Behind the first look at what the feeds have on disk.
    slow = {"DOWNLOAD_DELAY": 0.1, "RANDOMIZE_DOWNLOAD_DELAY": False}
    return [
        Run(PromiseSpider, killed_after=22, FEEDS=feeds, JOBDIR=job, **slow),
        Run(PromiseSpider, FEEDS=feeds, JOBDIR=job, NEARDUP_RECOVER=True),
    ]


@situation(contents=N)
def stories_that_two_spiders_of_one_process_both_store(site: Site) -> Any:
    _in_two_views(site)
    names = "morning", "evening"
    return [Run(*(type(name, (PromiseSpider,), {"name": name}) for name in names))]


class Evening(PromiseSpider):
    name = "evening"

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for output in super().parse(response):
            if not isinstance(output, scrapy.Request):
                output["content"] += " in the evening"
            yield output


@situation(contents=2 * N, finds=2 * N)
def stories_of_two_spiders_with_a_store_and_namespaces_of_their_own(site: Site) -> Any:
    _in_two_views(site)
    return [Run(PromiseSpider, Evening, **_store(site))]


@situation(contents=N, finds=N, NEARDUP_NAMESPACE="news")
def stories_that_two_spiders_of_one_namespace_share(site: Site) -> Any:
    _in_two_views(site)
    names = "morning", "evening"
    return [Run(*(type(name, (PromiseSpider,), {"name": name}) for name in names), **_store(site))]


class OutOfBreath:
    """A pipeline of the first day, whose database fails now and then."""

    def __init__(self) -> None:
        self._items = 0

    def process_item(self, item: Any) -> Any:
        self._items += 1
        if self._items % 2:
            raise ConnectionError("the database is away")
        return item


@situation(contents=N)
def stories_that_a_pipeline_failed_on_in_the_first_of_two_runs(site: Site) -> Any:
    def gone(n: int) -> Any:
        def shown(asked: Asked) -> Answer:
            if asked.day == 2:
                return Answer(status=404)
            return Answer(full(words(seed=n), f"Story {n}"), f"story {n}")

        return shown

    for n in range(N):
        site.on(f"/story/{n}", gone(n))
        site.put(f"/print/{n}", bare(words(seed=n), f"Story {n}"), f"story {n}")
    site.index(*(f"/story/{n}" for n in range(N)))
    site.index(*(f"/print/{n}" for n in range(N)), at="/prints")

    class Prints(PromiseSpider):
        start_urls = [f"{HOME}/prints"]

    first = _store(site, ITEM_PIPELINES={OutOfBreath: 500})
    return [Run(PromiseSpider, **first), Run(Prints, **_store(site))]


@situation(contents=N, finds=N, NEARDUP_TTL=3600, NEARDUP_DUPLICATE_URL_TTL=0)
def stories_whose_copies_are_fetched_on_each_day(site: Site) -> Any:
    _in_two_views(site)
    return [Run(PromiseSpider, **_store(site)), Run(PromiseSpider, **_store(site))]


def _kill_workers() -> None:
    """Kill every process that descends from this one, but for other crawls."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            command, parent = stat.parent.joinpath("cmdline").read_bytes(), stat.read_text()
        except OSError:
            continue
        ancestor = int(parent.rpartition(")")[2].split()[1])
        if ancestor in _forkservers() and b"multiprocessing" in command:
            os.kill(int(stat.parent.name), signal.SIGKILL)


def _forkservers() -> set[int]:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return {int(pid) for pid in children.read_text().split()} if children.exists() else set()


@situation(contents=N, NEARDUP_WORKERS=1)
def stories_of_a_crawl_whose_worker_is_killed(site: Site) -> Any:
    def page(n: int, frame: Any) -> Any:
        def shown(asked: Asked) -> Answer:
            if n == 4 and site.with_addon:
                _kill_workers()
            return Answer(frame(words(seed=n), f"Story {n}"), f"story {n}")

        return shown

    for n in range(N):
        site.on(f"/story/{n}", page(n, full))
        site.on(f"/print/{n}", page(n, bare))
    site.index(*(f"/{view}/{n}" for n in range(N) for view in ("story", "print")))
    return PromiseSpider


@situation(contents=4, NEARDUP_WORKERS=1, NEARDUP_PAGE_TIMEOUT=0.001)
def pages_that_take_a_worker_too_long(site: Site) -> Any:
    for n in range(4):
        site.put(f"/long/{n}", full(words(4000, "long"), f"Report {n}"), f"report {n}")
    site.index()
    return PromiseSpider


@situation(contents=40, finds=10, NEARDUP_URL_RULES="on", NEARDUP_URL_RULES_SAMPLE_RATE=0)
def stories_of_a_site_of_which_parameters_are_learned(site: Site) -> Any:
    def story(asked: Asked) -> Answer:
        number = asked.query["id"]
        return Answer(full(words(seed=number), f"Story {number}"), f"story {number}")

    site.on("/story", story)
    site.index(*(f"/story?id={n}&ref={ref}" for ref in range(3) for n in range(40)))
    return PromiseSpider
