"""Counts the pages that a store recorded late, and those that it has not recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exceptions import StoreError
from .crawl_log import CrawlStats
from .spider_logger import SpiderLogger

if TYPE_CHECKING:
    from ..store_client import StoreClient


class StoreOutcome:
    """Counts what became of the pages that a store did not take at once.

    They are counted before the spider is closed, because Scrapy dumps the stats then, and monitors
    read them. What the store takes or loses after that is counted when it is closed.
    """

    def __init__(self, stats: CrawlStats, logger: SpiderLogger) -> None:
        self._stats = stats
        self._logger = logger
        self._counted = {"store/added_later": 0, "store/not_remembered": 0}

    async def settle(self, client: StoreClient) -> None:
        """Let the store record what waits, as far as it takes that, and count the rest."""
        await client.catch_up()
        self._count(client)

    async def close(self, client: StoreClient, *, confirmed: bool) -> None:
        """Close the store; log what it has not recorded.

        :param confirmed: whether all stored items are known to be on disk.
        """
        try:
            await client.close(confirmed=confirmed)
        except StoreError as error:
            self._logger.error("Cannot record all pages in the store: %s", error)
        self._count(client)
        if client.n_unrecorded:
            self._logger.error(
                "%d stored pages were not recorded; later runs will not recognise their "
                "near-duplicates",
                client.n_unrecorded,
            )

    def _count(self, client: StoreClient) -> None:
        now = {
            "store/added_later": client.added,
            "store/not_remembered": client.n_unrecorded + client.n_unwritten,
        }
        for name, number in now.items():
            self._stats.count(name, number - self._counted[name])
        self._counted = now
