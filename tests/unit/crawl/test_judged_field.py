from __future__ import annotations

import pytest
from scrapy.crawler import Crawler
from scrapy.spiders import Spider

from scrapy_neardup.crawl.items.judged_field import MIN_ITEMS, JudgedField
from scrapy_neardup.crawl.monitoring.crawl_log import CrawlStats


@pytest.fixture
def field() -> JudgedField:
    return JudgedField("html", CrawlStats(Crawler(Spider)))


def test_some_kinds_of_items_may_lack_the_field(field, caplog):
    assert not field.is_missing({"html": None})
    assert all(field.is_missing({"url": "/"}) for _ in range(3 * MIN_ITEMS))
    assert caplog.messages == []


def test_the_warning_names_the_fields_of_all_first_items(field, caplog):
    items = [{"url": "/", f"line\n{n % 2}": n} for n in range(MIN_ITEMS)]
    assert all(map(field.is_missing, [*items[:-1], {}, *items]))
    [said] = caplog.messages
    assert "they have url, line\ufffd0, line\ufffd1 (" in said


def test_the_warning_is_bounded(field, caplog):
    many = {f"{n}-{'x' * 1000}": n for n in range(1000)}
    for _ in range(MIN_ITEMS):
        field.is_missing(many)
    assert len(caplog.messages[0]) < 1500
    assert "0-xx" in caplog.messages[0]
