"""Logs that name the spider where crawls of several spiders share a process."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    _Adapter = logging.LoggerAdapter[logging.Logger]
else:
    # Python 3.10 has no parameters for it.
    _Adapter = logging.LoggerAdapter

#: Names of spiders that have run in this process, of which two are enough to know.
_spiders: set[str] = set()


class SpiderLogger(_Adapter):
    """Logs for one crawl, with the attribute ``spider`` of Scrapy's records.

    Messages begin with the spider's name if another spider has run in this process.
    """

    def __init__(self, logger: logging.Logger, crawler: Crawler) -> None:
        super().__init__(logger)
        self._crawler = crawler
        if len(_spiders) < 2 and crawler.spider is not None:
            _spiders.add(crawler.spider.name)

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        kwargs["extra"] = {"spider": self._crawler.spider, **(kwargs.get("extra") or {})}
        return msg, kwargs

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a message, which is formatted only if it has arguments."""
        spider = self._crawler.spider
        if len(_spiders) > 1 and spider is not None:
            name = spider.name.replace("%", "%%") if args else spider.name
            msg = f"Spider {name}: {msg}"
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
        super().log(level, msg, *args, **kwargs)
