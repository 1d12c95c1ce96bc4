"""Counts events of a crawl in its stats, and logs each kind of warning once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class CrawlStats:
    """The stats ``neardup/…`` of a crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._warned: set[str] = set()

    def count(self, name: str, number: int = 1) -> None:
        """Add to a stat; adding 0 does not create it.

        :param name: without ``neardup/``.
        """
        assert self._crawler.stats
        if number:
            self._crawler.stats.inc_value(f"neardup/{name}", number)

    def warn_once(self, kind: str, message: str, *args: Any, exc_info: bool = False) -> None:
        """Log the first warning of a kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            logger.warning(message, *args, exc_info=exc_info)
