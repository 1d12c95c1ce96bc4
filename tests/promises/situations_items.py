"""Outcomes of items: failing pipelines, dropping middlewares, kinds of items, feeds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import attrs
import pydantic
import scrapy
from itemadapter.adapter import ItemAdapter
from scrapy.exceptions import DropItem
from scrapy.http import Response

from tests.promises.harness import (
    HOME,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    full,
    label_of,
    situation,
    words,
)

COPIES = 6


def _in_two_views(site: Site, n: int = COPIES, more: str = "") -> None:
    """Stories and their print views, which come first."""
    for number in range(n):
        text, title = words(seed=number), f"Story {number}"
        site.put(f"/print/{number}", bare(text, title, more), f"story {number}")
        site.put(f"/story/{number}", full(text, title, more), f"story {number}")
    site.index()


class FailsOnFirst:
    """A pipeline whose database is away when each content comes for the first time."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def process_item(self, item: Any) -> Any:
        label = ItemAdapter(item)["content"]
        if label not in self._seen:
            self._seen.add(label)
            raise ConnectionError("the database is away")
        return item


@situation(contents=COPIES, ITEM_PIPELINES={FailsOnFirst: 500})
def stories_whose_first_copy_a_pipeline_fails_on(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


class DropsPrintViews:
    """A pipeline that wants no items of print views."""

    def process_item(self, item: Any) -> Any:
        if "/print/" in ItemAdapter(item)["url"]:
            raise DropItem("no print views")
        return item


@situation(contents=COPIES, ITEM_PIPELINES={DropsPrintViews: 500})
def stories_whose_first_copy_a_later_pipeline_drops(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


@situation(contents=COPIES, ITEM_PIPELINES={DropsPrintViews: 50})
def stories_whose_first_copy_an_earlier_pipeline_drops(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


class Several(PromiseSpider):
    """Three items of each page."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            for part in "abc":
                yield {"content": f"{label}{part}", "url": response.url}
        yield from self.links(response)


class FailsOnFirstB(FailsOnFirst):
    """Likewise, for one of the three items."""

    def process_item(self, item: Any) -> Any:
        return super().process_item(item) if item["content"].endswith("b") else item


@situation(contents=3 * COPIES, ITEM_PIPELINES={FailsOnFirstB: 500}, CONCURRENT_REQUESTS=1)
def items_of_which_a_pipeline_fails_on_one_of_three_of_the_first_copy(site: Site) -> Any:
    _in_two_views(site)
    return Several


class DropsBOfPrintViews:
    """A pipeline that drops an item which lacks what only the full template shows."""

    def process_item(self, item: Any) -> Any:
        if item["content"].endswith("b") and "/print/" in item["url"]:
            raise DropItem("no price")
        return item


@situation(contents=3 * COPIES, ITEM_PIPELINES={DropsBOfPrintViews: 500}, CONCURRENT_REQUESTS=1)
def items_of_which_a_pipeline_drops_one_of_three_of_the_first_copy(site: Site) -> Any:
    _in_two_views(site)
    return Several


@situation(contents=3 * COPIES, finds=3 * COPIES)
def items_of_pages_with_several_items_beside_their_copies(site: Site) -> Any:
    _in_two_views(site)
    return Several


class FailsInPrintViews(PromiseSpider):
    """A callback that stumbles over what print views lack, after its first item."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": f"{label}a", "url": response.url}
            _ = 1 / len(response.css("article"))
            yield {"content": f"{label}b", "url": response.url}
        yield from self.links(response)


@situation(contents=2 * COPIES, CONCURRENT_REQUESTS=1)
def items_behind_the_place_where_the_callback_fails_in_the_first_copy(site: Site) -> Any:
    _in_two_views(site)
    return FailsInPrintViews


class MoreInFull(PromiseSpider):
    """Finds more items in the full template than in the print view."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label}
            for author in response.css(".author::text").getall():
                yield {"content": author}
        yield from self.links(response)


@situation(contents=2 * COPIES, CONCURRENT_REQUESTS=1)
def items_that_only_the_full_template_has(site: Site) -> Any:
    for n in range(COPIES):
        text, title = words(seed=n), f"Story {n}"
        site.put(f"/print/{n}", bare(text, title), f"story {n}")
        author = f'<p class="author">author {n}</p>'
        site.put(f"/story/{n}", full(text, title, author), f"story {n}")
    site.index()
    return MoreInFull


class TwoKinds(PromiseSpider):
    """Takes an article from one view and its pictures from the other."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            kind = "article" if "/story/" in response.url else "gallery"
            field = "text" if kind == "article" else "pictures"
            yield {"content": f"{kind} of {label}", field: response.url}
        yield from self.links(response)


@situation(contents=2 * COPIES, CONCURRENT_REQUESTS=1)
def items_of_two_kinds_from_two_views_of_one_page(site: Site) -> Any:
    _in_two_views(site)
    return TwoKinds


class Takes:
    """A spider middleware that takes away the items of print views."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if isinstance(output, scrapy.Request) or "/print/" not in response.url:
                yield output


@situation(contents=COPIES, SPIDER_MIDDLEWARES={Takes: 50})
def stories_whose_first_copy_a_middleware_takes_away_after_the_judgement(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


@situation(contents=COPIES, SPIDER_MIDDLEWARES={Takes: 500})
def stories_whose_first_copy_a_middleware_takes_away_before_the_judgement(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


class Replaces:
    """A pipeline that makes a new item of each."""

    def process_item(self, item: Any) -> Any:
        return dict(ItemAdapter(item))


@situation(contents=COPIES, ITEM_PIPELINES={Replaces: 50})
def items_that_a_pipeline_before_ours_replaces(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


@situation(contents=COPIES, finds=COPIES, ITEM_PIPELINES={Replaces: 500})
def items_that_a_pipeline_behind_ours_replaces(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


@dataclass
class Data:
    content: str


@attrs.define
class Attrs:
    content: str


class Model(pydantic.BaseModel):
    content: str


class Item(scrapy.Item):
    content = scrapy.Field()


class AnyKind(PromiseSpider):
    """Items of every kind, in turns."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            kinds = Data, Attrs, Model, Item
            yield kinds[int(label_of(response).split()[1]) % 4](content=label)
        yield from self.links(response)


@situation(contents=8, finds=8)
def items_of_dataclasses_attrs_pydantic_and_scrapy(site: Site) -> Any:
    _in_two_views(site, 8)
    return AnyKind


@situation(contents=8, finds=8, NEARDUP_ACTION="tag")
def items_that_refuse_the_field_that_tags_them(site: Site) -> Any:
    _in_two_views(site, 8)
    return AnyKind


@situation(contents=COPIES, finds=COPIES, NEARDUP_ACTION="tag")
def items_of_copies_that_are_only_tagged(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


@situation(contents=COPIES, finds=COPIES, NEARDUP_ACTION="report")
def items_of_copies_that_are_only_reported(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


class Shared(PromiseSpider):
    """Fills one and the same dict anew for each page."""

    item: dict[str, str] = {}

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            self.item["content"] = label
            yield self.item
        yield from self.links(response)


@situation(contents=COPIES, CONCURRENT_REQUESTS=1)
def items_that_are_all_one_object(site: Site) -> Any:
    _in_two_views(site)
    return Shared


class FromStart(PromiseSpider):
    """Yields items before any page."""

    async def start(self) -> AsyncIterator[Any]:
        for n in range(4):
            yield {"content": f"start {n}"}
        yield scrapy.Request(f"{HOME}/")


@situation(contents=4 + COPIES, finds=COPIES)
def items_that_are_yielded_before_any_page(site: Site) -> Any:
    _in_two_views(site)
    return FromStart


class DeadLinks(PromiseSpider):
    """An item of each page that is not there."""

    handle_httpstatus_list = (404, 410)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if response.status in (404, 410):
            yield {"content": response.url}
        yield from self.links(response)


@situation(contents=8)
def dead_links_whose_error_pages_are_all_alike(site: Site) -> Any:
    for n in range(8):
        gone = full(words(90, "not found"), "Page not found")
        site.put(f"/gone/{n}", gone, status=404 if n % 2 else 410)
    site.index()
    return DeadLinks


class Errbacks(PromiseSpider):
    """An item for each request, whatever came of it."""

    def links(self, response: Response) -> Any:
        for request in super().links(response):
            yield request.replace(errback=self.failed)

    def failed(self, failure: Any) -> Any:
        yield {"content": f"failed {failure.request.url}"}


@situation(contents=COPIES + 4, finds=COPIES, RETRY_ENABLED=False)
def items_that_errbacks_yield(site: Site) -> Any:
    _in_two_views(site)
    for n in range(4):
        status = 500 if n % 2 else 403
        site.put(f"/error/{n}", full(words(90, "error"), "Server error"), status=status)
    site.index()
    return Errbacks


def _feeds(site: Site, name: str, **options: Any) -> dict[str, Any]:
    return {f"{site.folder}/{name}": {"format": "jsonlines", **options}}


@situation(contents=COPIES, finds=COPIES, stored_in="feed-*.jsonl")
def items_in_a_feed_of_several_batches(site: Site) -> Any:
    _in_two_views(site)
    feeds = _feeds(site, "feed-%(batch_id)d.jsonl", batch_item_count=2)
    return [Run(PromiseSpider, FEEDS=feeds)]


class NoPrintViews:
    """A filter of a feed, which keeps print views out of it."""

    def __init__(self, feed_options: Any) -> None: ...

    def accepts(self, item: Any) -> bool:
        return "/print/" not in item["url"]


@situation(contents=COPIES, stored_in="feed-*.jsonl")
def items_that_the_filter_of_the_only_feed_takes_come_second(site: Site) -> Any:
    _in_two_views(site)
    feeds = _feeds(site, "feed-%(batch_id)d.jsonl", batch_item_count=2, item_filter=NoPrintViews)
    return [Run(PromiseSpider, FEEDS=feeds)]


@situation(contents=COPIES, finds=COPIES, stored_in="*.jsonl")
def items_that_the_filter_of_one_feed_takes_come_second(site: Site) -> Any:
    _in_two_views(site)
    feeds = _feeds(site, "feed.jsonl", item_filter=NoPrintViews) | _feeds(site, "every.jsonl")
    return [Run(PromiseSpider, FEEDS=feeds)]


@situation(contents=COPIES, finds=COPIES, stored_in="feed.jsonl")
def items_in_a_feed_whose_originals_are_gone_on_the_second_day(site: Site) -> Any:
    _in_two_views(site)
    settings: dict[str, Any] = {
        "FEEDS": _feeds(site, "feed.jsonl"),
        "NEARDUP_STORE": f"sqlite:///{site.folder}/seen.sqlite",
    }
    return [Run(PromiseSpider, **settings), Run(PromiseSpider, **settings)]


@situation(contents=COPIES, stored_in="feed.jsonl")
def items_of_a_feed_that_cannot_be_written_on_the_first_day(site: Site) -> Any:
    def view(n: int, frame: Any) -> Any:
        def shown(asked: Any) -> Any:
            from tests.promises.web import Answer

            gone = Answer("<title>Gone</title>", status=404)
            page = Answer(frame(words(seed=n), f"Story {n}"), f"story {n}")
            return gone if asked.day == 2 and frame is bare else page

        return shown

    for n in range(COPIES):
        site.on(f"/print/{n}", view(n, bare))
        site.on(f"/story/{n}", view(n, full))
    site.index()
    (site.folder / "blocked").mkdir()
    store: dict[str, Any] = {
        "NEARDUP_STORE": f"sqlite:///{site.folder}/seen.sqlite",
        "NEARDUP_REVISIT": "drop",
        "CONCURRENT_REQUESTS": 1,
    }
    return [
        Run(PromiseSpider, FEEDS=_feeds(site, "blocked"), **store),
        Run(PromiseSpider, FEEDS=_feeds(site, "feed.jsonl"), **store),
    ]


class NoStorage:
    """A feed storage that fails when the feed is complete, as an upload can."""

    def __init__(self, uri: str, *, feed_options: Any = None) -> None:
        self._uri = uri

    def open(self, spider: scrapy.Spider) -> Any:
        from tempfile import TemporaryFile

        return TemporaryFile()

    def store(self, file: Any) -> None:
        raise OSError("no route to the storage")


@situation(contents=COPIES, stored_in="feed.jsonl", FEED_STORAGES={"away": NoStorage})
def items_of_a_feed_whose_upload_fails_on_the_first_day(site: Site) -> Any:
    _in_two_views(site)
    store: dict[str, Any] = {
        "NEARDUP_STORE": f"sqlite:///{site.folder}/seen.sqlite",
        "NEARDUP_REVISIT": "drop",
    }
    return [
        Run(PromiseSpider, FEEDS={"away://bucket/feed.jsonl": {"format": "jsonlines"}}, **store),
        Run(PromiseSpider, FEEDS=_feeds(site, "feed.jsonl"), **store),
    ]


class Slow:
    """A pipeline that holds each item until the next one has come, or for a moment."""

    async def process_item(self, item: Any) -> Any:
        import asyncio

        await asyncio.sleep(0.05)
        if item["url"].endswith("/print/3"):
            raise ConnectionError("the database is away")
        return item


@situation(contents=COPIES, finds=COPIES - 1, ITEM_PIPELINES={Slow: 500})
def stories_whose_copies_come_while_a_slow_pipeline_has_the_first(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider


@situation(contents=COPIES, NEARDUP_MAX_WAIT=0.01, ITEM_PIPELINES={Slow: 500})
def stories_whose_copies_do_not_wait(site: Site) -> Any:
    _in_two_views(site)
    return PromiseSpider
