"""The store client confirms only pages that are on disk, for all users of the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from benchmarks.crawl.killed_crawls import confirmed
from scrapy_neardup import NearDupDetector, Rule
from scrapy_neardup.crawl.store_client import StoreClient
from scrapy_neardup.matching.stored_items import OWN_ITEMS
from scrapy_neardup.stores import open_store
from tests.support.crawl import LOOPS
from tests.support.texts import FERRY, MUSEUM, page

pytestmark = pytest.mark.skipif("no reactor" not in LOOPS, reason="needs Scrapy 2.15")

PAGES = {"http://a.example/content/0/0": FERRY, "http://b.example/content/1/0": MUSEUM}


def memory(file: Path) -> StoreClient:
    detector = NearDupDetector(store=open_store(f"sqlite:///{file}", "site"))
    return StoreClient(detector, 60, lambda error: pytest.fail(str(error)))


async def committed(crawl: StoreClient, number: int, **how: Any) -> Any:
    url, text = list(PAGES.items())[number]
    signature = NearDupDetector(store=crawl.store).signature(url=url, html=page(text))
    claim = await crawl.claim(signature, Rule())
    assert claim.ticket is not None
    crawl.settle(claim.ticket, OWN_ITEMS, confirmed=False, **how)
    return claim.ticket


def test_of_crawls_that_share_a_store_one_does_not_confirm_what_another_stored(tmp_path):
    file = tmp_path / "pages.sqlite"

    async def crawl() -> None:
        one, other = memory(file), memory(file)
        await committed(one, 0)
        await committed(other, 1)
        other.confirm(other.store.mark())
        await other.close(confirmed=True)
        # The first one ends with a feed that could not be stored.
        await one.close(confirmed=False)

    asyncio.run(crawl())
    assert "/content/0/0" not in confirmed(file)


def test_what_all_crawls_have_on_disk_is_confirmed(tmp_path):
    file = tmp_path / "pages.sqlite"

    async def crawl() -> None:
        one, other = memory(file), memory(file)
        await committed(one, 0)
        await committed(other, 1)
        for crawl in (one, other):
            crawl.confirm(crawl.store.mark())
        await other.close(confirmed=True)
        await one.close(confirmed=True)

    asyncio.run(crawl())
    assert confirmed(file) == {"/content/0/0", "/content/1/0"}
