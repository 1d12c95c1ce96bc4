"""Crawls the shop alone, with its own thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy import Spider
from scrapy.http import HtmlResponse, Request, Response
from scrapy.linkextractors import LinkExtractor

from neardup_example.items import Page


class ShopSpider(Spider):
    """Stays in the shop and is hard to convince that two of its pages are the same.

    To the ``site`` spider pages that are much alike are one content when they name the same things.
    Here only copies that say the same to the letter are dropped.
    """

    name = "shop"

    # These win over settings.py, for this spider only; the command line wins over them.
    custom_settings = {  # noqa: RUF012
        "NEARDUP_MAX_DISTANCE": 2,
        "NEARDUP_MIN_SIMILARITY": 0.99,
    }

    goods = LinkExtractor(allow=r"/shop/", deny=r"/shop/delivery")
    terms = LinkExtractor(allow=r"/shop/delivery")

    def __init__(self, url: str = "http://127.0.0.1:8000/shop/", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [url]

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Page | Request]:
        yield Page.from_response(response)
        if isinstance(response, HtmlResponse):
            yield from response.follow_all(self.goods.extract_links(response))
            # Whoever wants every copy of a page, say of the terms, switches the judge off for
            # the request. A dict would change thresholds: {"min_similarity": 0.9}.
            terms = self.terms.extract_links(response)
            yield from response.follow_all(terms, meta={"neardup": False})
