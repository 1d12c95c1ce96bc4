"""Tests of items that equal a stored one in all but the URLs of their pages."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta, timezone
from ipaddress import IPv4Address
from typing import Any

import pytest

from scrapy_neardup.crawl.items.equal_items import EqualItems, SentItem
from scrapy_neardup.crawl.items.item_tracker import ItemJudgement, Judgement
from scrapy_neardup.crawl.items.origins import CarriedValues, Origin
from scrapy_neardup.crawl.settings import Policy
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.reasons import Reason

SELLER = "http://a.example/seller"
FIRST, COPY = (SELLER, "http://a.example/offer"), (SELLER, "http://a.example/offer?from=mail")


def _revisit(reason: Reason = Reason.UNCHANGED) -> Judgement:
    return Judgement(Verdict("revisit", SELLER, reason), Policy())


def _judged(urls: tuple[str, str], page: Judgement, *, is_stored: bool) -> Judgement | None:
    """Return the judgement to drop an item, after that of the first was stored or lost."""
    items = EqualItems(max_wait=0.01)
    share = items.noted(ItemJudgement(_revisit()), SentItem(1, FIRST)).share
    assert share is not None
    if is_stored:
        share.item_stored()
    else:
        share.item_lost()
    return asyncio.run(items.stored_instead(page, SentItem(1, urls)))


def test_item_of_a_copy_is_dropped_as_the_copy_where_it_began() -> None:
    found = _judged(COPY, _revisit(), is_stored=True)
    assert found is not None
    assert found.is_superfluous
    assert (found.verdict.url, found.verdict.duplicate_of) == (COPY[1], FIRST[1])
    assert found.verdict.reason == "same_item"


@pytest.mark.parametrize(
    ("urls", "page", "is_stored"),
    [
        (COPY, _revisit(), False),
        (FIRST, _revisit(), True),
        (COPY, _revisit(Reason.CHANGED), True),
    ],
    ids=["the other was lost", "the same URLs", "the page has changed"],
)
def test_item_is_kept(urls: tuple[str, str], page: Judgement, is_stored: bool) -> None:
    assert _judged(urls, page, is_stored=is_stored) is None


def _key(item: Any, number: int = 1) -> int | None:
    """Return the key of an item that began on one of two copies of a page."""
    items = EqualItems(max_wait=1)
    url = f"http://a.example/{number}"
    duplicate = Verdict("duplicate", url, Reason.SAME_TEXT, "http://a.example/1")
    items.visited("visit", duplicate)
    found = items.describe(item, _revisit(), CarriedValues(origins=(Origin("visit", url),)), ["x"])
    return None if found is None else found.key


MADE = [datetime.now(timezone.utc) - timedelta(minutes=minutes) for minutes in (40, 5)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"id": "Xy7Qab"}, {"id": "xY7qAB"}),
        ({"sizes": [["red"], "blue"]}, {"sizes": [["red", "blue"]]}),
        ({"posted": MADE[0].isoformat()}, {"posted": MADE[1].isoformat()}),
        ({"a": "x", "b": ""}, {"a": "", "b": "x"}),
        ({"text": "a  b"}, {"text": "a b"}),
        ({"price": 12}, {"price": "12"}),
    ],
)
def test_items_of_other_contents_have_other_keys(one: Any, other: Any) -> None:
    assert _key(one) != _key(other, 2)


def test_urls_of_their_pages_and_the_time_of_scraping_tell_no_items_apart() -> None:
    one, other = (
        {"url": f"http://a.example/{n}", "scraped_at": made.isoformat(), "name": "Ann"}
        for n, made in enumerate(MADE, 1)
    )
    assert _key(one) == _key(other, 2) is not None


def test_items_with_values_that_cannot_be_compared_have_no_key() -> None:
    assert _key({"address": IPv4Address("1.1.1.1")}) is None


def test_all_that_wait_for_one_item_wait_no_longer_than_the_first() -> None:
    items = EqualItems(max_wait=1000)
    sent = SentItem(1, FIRST, sent_at=time.monotonic() - 1001)
    items.noted(ItemJudgement(_revisit()), sent)
    assert asyncio.run(items.stored_instead(_revisit(), SentItem(1, COPY))) is None
