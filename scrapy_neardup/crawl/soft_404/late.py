"""Reports pages that turned out to be soft 404s after they were judged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ... import signals
from ..._util.urls import page_key
from ...matching.verdict import Verdict
from ...reasons import Reason
from ..monitoring.crawl_log import CrawlStats
from ..settings import Config
from .hosts import Host
from .log import Soft404Log

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: Items of a page that are removed from the store, at most.
_MAX_ITEMS = 50


class LateFinds:
    """Takes pages that turned out to be soft 404s from the store, and tells of each once.

    :param log: that of the crawl's soft 404s.
    :param forget: removes pages from the store, by their keys.
    """

    def __init__(
        self,
        crawler: Crawler,
        config: Config,
        stats: CrawlStats,
        log: Soft404Log,
        forget: Callable[[Collection[str]], Awaitable[None]],
    ) -> None:
        self._crawler = crawler
        self._by_item = config.item_field is not None
        self._stats = stats
        self._forget = forget
        self._log = log

    async def report(self, host: Host, urls: Sequence[str]) -> None:
        """Report pages of a host, unless they were reported before."""
        found = [url for url in urls if page_key(url) not in host.late]
        if not found:
            return
        host.late.update(map(page_key, found))
        await self._forget(_keys_of(found, by_item=self._by_item))
        self._stats.count("soft_404/late", len(found))
        for url in found:
            verdict = Verdict("undecided", url, Reason.SOFT_404)
            self._crawler.signals.send_catch_log(
                signals.soft_404_found_late, verdict=verdict, spider=self._crawler.spider
            )
        self._log.late(host.name, found[0])


def _keys_of(urls: Iterable[str], *, by_item: bool) -> list[str]:
    """Return the keys in the store of pages, or of their items if these are judged."""
    if not by_item:
        return [page_key(url) for url in urls]
    return [f"{url}#item-{n}" for url in urls for n in range(1, _MAX_ITEMS + 1)]
