"""Spiders that build items over several pages, or visit pages only for their links."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.loader import ItemLoader
from scrapy.spiders import CrawlSpider as RuleSpider
from scrapy.spiders import Rule

from tests.support.crawl import CrawlSpider


@dataclasses.dataclass
class Ware:
    name: str = ""
    text: str = ""
    reviews: list[str] = dataclasses.field(default_factory=list)


class ByTemplate(CrawlSpider):
    """Yields an item from pages with a ``.full`` text, and the links of all others."""

    def parse(self, response: Response) -> Iterator[Any]:
        for text in response.css(".full::text").getall():
            yield {"path": response.url.split("/", 3)[-1], "text": text}
        for link in response.css("a.next::attr(href)").getall():
            yield response.follow(link)


class LinksOnly(CrawlSpider):
    """Yields a link of each page, and no item."""

    def parse(self, response: Response) -> Iterator[Any]:
        yield response.follow("/nowhere")


class Twice(CrawlSpider):
    """Visits each page a second time for its item."""

    def parse(self, response: Response) -> Iterator[Any]:
        yield scrapy.Request(response.url, self.item, dont_filter=True)

    def item(self, response: Response) -> Iterator[Any]:
        yield {"path": response.url.split("/", 3)[-1]}


class Rules(RuleSpider):
    """Follows links from the start, whose page at ``/index.html`` has a callback as well."""

    name = "crawl"
    rules = (Rule(LinkExtractor(allow="index"), callback="item"),)

    def __init__(self, plan: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = plan["start"]

    def item(self, response: Response) -> Iterator[Any]:
        yield {"path": response.url.split("/", 3)[-1]}


class Shop(CrawlSpider):
    """Wares of which the item is yielded from the page of their reviews.

    The first part of a ware's path says how the item travels there.
    """

    def parse(self, response: Response) -> Iterator[Any]:
        values = {
            "name": response.css(".name::text").get("").strip(),
            "text": response.css(".text::text").get(""),
        }
        onward = response.css("a.reviews::attr(href)").get("")
        how = self.carried(response.url.split("/")[3], values)
        yield response.follow(onward, self.reviews, **how, dont_filter=True)

    def carried(self, how: str, values: dict[str, Any]) -> dict[str, Any]:
        loader = ItemLoader(Ware())
        loader.add_value(None, values)
        match how:
            case "values":
                return {"cb_kwargs": values}
            case "name":
                return {"cb_kwargs": {"name": values["name"]}}
            case "dict":
                return {"cb_kwargs": {"item": values}}
            case "meta":
                return {"meta": {"item": values}}
            case "dataclass":
                return {"meta": {"item": Ware(**values)}}
            case "loader":
                return {"cb_kwargs": {"loader": loader}}
            case "named":
                wish = {"neardup": {"item_origin": "parent"}}
                return {"meta": {**wish, "code": values["name"][::-1]}}
        raise ValueError(how)

    def reviews(self, response: Response, **given: Any) -> Iterator[Any]:
        item = given.get("item") or response.meta.get("item") or given
        if "loader" in given:
            item = given["loader"].load_item()
        if "code" in response.meta:
            item = {"name": response.meta["code"][::-1]}
        if isinstance(item, Ware):
            item.reviews = self.of(response)
        else:
            item["reviews"] = self.of(response)
        onward = None if "/json/" in response.url else response.css("a.more::attr(href)").get()
        if onward:
            meta = {**response.meta, "item": item}
            yield response.follow(onward, self.reviews, meta=meta, dont_filter=True)
        else:
            yield item

    def of(self, response: Response) -> list[str]:
        return [] if "/json/" in response.url else response.css("p::text").getall()


class Inline(CrawlSpider):
    """Asks for the reviews inside the callback of the ware."""

    async def parse(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        request = response.follow(response.css("a.reviews::attr(href)").get(""), dont_filter=True)
        reviews = await self.crawler.engine.download_async(request)
        yield {
            "name": response.css(".name::text").get("").strip(),
            "reviews": reviews.css("p::text").getall(),
        }


class Lists(CrawlSpider):
    """Lists of teasers, each with a text of its own for the page that it leads to."""

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        category = response.css(".category::text").get("")
        for link in response.css("a.next"):
            values = {"category": category, "teaser": link.css("::text").get()}
            meta = {"neardup": {"item_origin": "own" if "label" in category else "auto"}}
            yield response.follow(link, self.article, cb_kwargs=values, meta=meta)

    def article(self, response: Response, category: str, teaser: str) -> Iterator[Any]:
        yield {
            "path": response.url.split("/", 3)[-1],
            "category": category,
            "text": " ".join(response.css("p::text").getall()),
        }


class Handed(CrawlSpider):
    """Hands what each link says to its page, whose item holds it, but a date in another form."""

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        for link in response.css("a.next"):
            meta = {**self.plan["meta"][response.url], "said": link.css("::text").get("")}
            yield response.follow(link, meta=meta)
        if "said" in response.meta:
            said = "-".join(reversed(response.meta["said"].split(".")))
            yield {"said": said, "text": " ".join(response.css("p::text").getall())}


class Labels:
    """Reads pages, and looks up their labels in what is too large to be read with each request."""

    def __init__(self) -> None:
        self.table: dict[str, Any] = {f"word {n}": {} for n in range(30_000)}
        self.table |= {"full/0": "red", "copy/0": "blue"}

    def page(self, response: Response) -> Iterator[Any]:
        path = response.url.split("/", 3)[-1]
        text = response.css(".full::text").get()
        yield {"text": text, "label": self.table[path]}


class Labelled(CrawlSpider):
    """Follows links to a method of an object; its requests have the meta of the start's."""

    def __init__(self, plan: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(plan, **kwargs)
        self.labels = Labels()

    def parse(self, response: Response) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        for link in response.css("a.next::attr(href)").getall():
            meta = self.plan["meta"].get(response.url)
            yield response.follow(link, self.labels.page, meta=meta)
