"""The store client confirms only pages that are on disk, for all users of the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from benchmarks.crawl.killed_crawls import confirmed
from scrapy_neardup import NearDupDetector, Rule
from scrapy_neardup.crawl.durability.unconfirmed_pages import LostPages, UnconfirmedPages
from scrapy_neardup.crawl.store_client import StoreClient
from scrapy_neardup.exceptions import StoreError
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


# --- pages whose items a feed has lost ------------------------------------------------------


class Failing:
    """Stands for a store whose calls fail for a while."""

    def __init__(self) -> None:
        self.is_there = False
        self.known = {"old", "lost", "late"}

    def forget(self, key: str) -> bool:
        if not self.is_there:
            raise StoreError("failing", "it is away")
        self.known.discard(key)
        return True


async def asked(call: Any) -> None:
    await asyncio.sleep(0)
    call()


def test_lost_pages_are_forgotten_once_the_store_answers_again():
    async def crawl() -> set[str]:
        store = Failing()
        pages, lost = UnconfirmedPages(), LostPages(store, asked)  # type: ignore[arg-type]
        pages.note("old")
        pages.note("lost")
        late = pages.note("late")
        lost.add(pages.lose(1), pages.next)
        with pytest.raises(StoreError):
            await lost.forget()
        assert lost
        store.is_there = True
        await asyncio.gather(lost.forget(), lost.forget())
        assert not lost
        # A commit that was on its way when the feed failed.
        lost.record(lambda: store.known.add("late"), "late", late)
        lost.record(lambda: store.known.add("next"), "next", pages.note("next"))
        return store.known

    assert asyncio.run(crawl()) == {"old", "next"}


def test_settled_pages_are_not_lost():
    pages = UnconfirmedPages()
    for key in "abcd":
        pages.note(key)
    pages.settle_before(2)
    assert pages.lose(0) == ["c", "d"]
    assert pages.note("e") == 4
    assert pages.lose(0) == ["e"]
    pages.settle_before(9)
    assert pages.next == 5
    assert pages.lose(0) == []


def test_claims_wait_for_lost_pages_to_be_forgotten(tmp_path):
    async def crawl() -> Any:
        client = memory(tmp_path / "pages.sqlite")
        await committed(client, 0)
        url, text = next(iter(PAGES.items()))
        copy = NearDupDetector(store=client.store).signature(url=f"{url}/copy", html=page(text))
        before = (await client.claim(copy, Rule())).verdict.kind
        assert client.lose(0) == 1
        after = (await client.claim(copy, Rule())).verdict.kind
        await client.close()
        return before, after

    assert asyncio.run(crawl()) == ("duplicate", "new")
