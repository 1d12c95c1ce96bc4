"""Decides whether a crawl is judged at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES

from .settings import META_KEY, Config, parse_switch

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


def is_off(crawler: Crawler, config: Config) -> bool:
    """Is it switched off by the setting, by the spider argument, or by a command of Scrapy?"""
    if _is_inspection(crawler):
        return True
    wish = getattr(crawler.spider, META_KEY, None)
    return not config.enabled or not (wish is None or parse_switch("spider argument neardup", wish))


def _is_inspection(crawler: Crawler) -> bool:
    """Is this ``scrapy shell``, ``fetch`` or ``parse``? They inspect a page and need no store.

    A crawl may have the store open at the same time. ``shell`` is the only command that sets
    LOGSTATS_INTERVAL; the others replace the spider's ``start`` with a function of their own.
    """
    by_command = SETTINGS_PRIORITIES["command"]
    is_shell = crawler.settings.getpriority("LOGSTATS_INTERVAL") == by_command
    start = getattr(crawler.spider, "start", None)
    return is_shell or getattr(start, "__module__", "").startswith("scrapy.commands")
