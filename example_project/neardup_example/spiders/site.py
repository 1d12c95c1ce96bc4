"""Crawls the whole site, with the default settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy import Spider
from scrapy.http import HtmlResponse, Request, Response

from neardup_example.items import Page


class SiteSpider(Spider):
    """Follows every link, on both hosts, and yields an item for every answer.

    Nothing in here knows of near-duplicates: a page is judged by its text after the spider has
    seen it and before its item reaches the pipelines. The links of a duplicate are followed too,
    unless ``NEARDUP_LINKS`` says ``"skip"``.
    """

    name = "site"

    def __init__(self, url: str = "http://127.0.0.1:8000/", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # Scrapy fetches a start URL once more when a page links to it. It is the same page again
        # ("revisit"), not a duplicate of another one, and both items are stored.
        self.start_urls = [url]

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Page | Request]:
        yield Page.from_response(response)
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(css="a")
