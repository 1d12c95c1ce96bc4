"""Settings of the crawls that are measured."""

from __future__ import annotations

from typing import Any

ADDON = "scrapy_neardup.Addon"

#: Nothing may hide a page, answer for the server or slow the crawl down.
SETTINGS: dict[str, Any] = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "HTTPCACHE_ENABLED": False,
    "HTTPPROXY_ENABLED": False,  # it reads the environment; request.meta["proxy"] works without
    "LOG_LEVEL": "WARNING",
    "METAREFRESH_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "URLLENGTH_LIMIT": 0,
}
