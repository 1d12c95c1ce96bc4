"""Tests of items that equal a stored one in all but the URLs of their pages."""

from __future__ import annotations

import asyncio

import pytest

from scrapy_neardup.crawl.items.equal_items import EqualItems, SentItem
from scrapy_neardup.crawl.items.item_tracker import ItemJudgement, Judgement
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
