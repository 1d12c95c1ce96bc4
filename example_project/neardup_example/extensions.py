"""Records the outcome of every item, for the table at the end of the crawl.

Only what Scrapy and scrapy_neardup offer to everybody is used: two signals, and the attributes
of the exception with which an item was dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_neardup import NearDuplicate

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from neardup_example.items import Page


class Ledger:
    """Remembers what was stored, and what was dropped as a duplicate of what."""

    def __init__(self) -> None:
        self.stored: list[Page] = []
        self.dropped: list[NearDuplicate] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Ledger:
        ledger = cls()
        crawler.signals.connect(ledger.item_scraped, signal=signals.item_scraped)
        crawler.signals.connect(ledger.item_dropped, signal=signals.item_dropped)
        return ledger

    def item_scraped(self, item: Page) -> None:
        self.stored.append(item)

    def item_dropped(self, exception: Exception) -> None:
        if isinstance(exception, NearDuplicate):
            self.dropped.append(exception)
