"""A spider that has its pages rendered by scrapy-playwright."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy_playwright.page import PageMethod

from tests.support.crawl import CrawlSpider


class RenderedSpider(CrawlSpider):
    async def start(self) -> AsyncIterator[Any]:
        for url in self.plan["start"]:
            meta = {
                "playwright": True,
                "playwright_page_methods": [PageMethod("wait_for_selector", "p")],
            }
            yield Request(url, meta=meta)
            yield Request(f"{url}?plain", dont_filter=True)
