"""A spider with page objects of scrapy-poet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy_poet.api import DummyResponse, callback_for
from web_poet import RequestUrl, WebPage
from web_poet.pages import ItemPage

from tests.support.crawl import CrawlSpider


class ArticlePage(WebPage[dict[str, Any]]):
    async def to_item(self) -> dict[str, Any]:
        url = str(self.response.url)
        text = " ".join(self.css("p::text").getall())
        return {"path": url.rpartition("/")[2], "url": url, "text": text}


class AddressPage(ItemPage[dict[str, Any]]):
    """Needs no response, so that scrapy-poet downloads none."""

    def __init__(self, url: RequestUrl) -> None:
        self.url = url

    async def to_item(self) -> dict[str, Any]:
        return {"path": f"unfetched {str(self.url).rpartition('/')[2]}", "text": ""}


class PoetSpider(CrawlSpider):
    """Makes its items of page objects, in each of the ways that scrapy-poet has."""

    parse_article = callback_for(ArticlePage)

    async def start(self) -> AsyncIterator[Any]:
        for url in self.plan["start"]:
            callback = self.parse_with_page if "print" in url else self.parse_article
            yield Request(url, callback)
            yield Request(f"{url}?unfetched", self.parse_address)  # type: ignore[arg-type]

    async def parse_with_page(self, response: Any, article: ArticlePage) -> AsyncIterator[Any]:
        yield await article.to_item()

    async def parse_address(
        self, response: DummyResponse, address: AddressPage
    ) -> AsyncIterator[Any]:
        yield await address.to_item()
