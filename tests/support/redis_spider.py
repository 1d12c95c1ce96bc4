"""A scrapy-redis spider: start URLs from a list in Redis, requests from a queue there."""

from __future__ import annotations

from scrapy_redis.spiders import RedisSpider

from tests.support.crawl import CrawlSpider


class ListSpider(RedisSpider, CrawlSpider):  # type: ignore[misc]
    """Ends when the list and the queue have been empty for a second."""

    redis_key = "addresses"
    max_idle_time = 1
