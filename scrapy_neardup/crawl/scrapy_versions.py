"""Differences between the supported versions of Scrapy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler


def engine_of(crawler: Crawler) -> ExecutionEngine | None:
    """Return the crawler's engine, or None where there is none yet.

    From Scrapy 2.19 on, reading ``crawler.engine`` before it is set raises RuntimeError.
    """
    try:
        return crawler.engine
    except RuntimeError:
        return None
