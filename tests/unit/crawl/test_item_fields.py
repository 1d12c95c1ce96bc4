from __future__ import annotations

import logging

import pytest
from itemadapter.adapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.spiders import Spider
from scrapy.statscollectors import MemoryStatsCollector

from scrapy_neardup import InvalidOption
from scrapy_neardup.crawl.copies.item_fields import set_fields
from scrapy_neardup.crawl.monitoring.crawl_log import CrawlStats
from scrapy_neardup.crawl.settings import Config
from tests.support.crawl import ITEMS

KINDS = [kind for kind in ITEMS if kind not in ("shared", "frozen") and "closed" not in kind]

TWICE = {"copies": "n", "cluster": "n"}


@pytest.fixture
def stats() -> CrawlStats:
    crawler = Crawler(Spider)
    crawler.stats = MemoryStatsCollector(crawler)
    return CrawlStats(crawler)


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_all_kinds_of_items_are_set(kind, stats, caplog):
    item = ITEMS[kind](path="/", text="as it was")
    set_fields(item, {"neardup": 3, "path": "http://a.example/"}, stats)
    fields = {"path": "http://a.example/", "text": "as it was", "neardup": 3}
    assert ItemAdapter(item).asdict() == fields
    assert stats._crawler.stats.get_stats() == {"neardup/item_fields/set": 1}
    assert caplog.records == []


@pytest.mark.parametrize("kind", [kind for kind in ITEMS if "closed" in kind or kind == "frozen"])
def test_items_that_refuse_a_field_are_warned_of_once(kind, stats, caplog):
    caplog.set_level(logging.WARNING)
    for _ in range(2):
        item = ITEMS[kind](path="/", text="as it was")
        set_fields(item, {"cluster": 1, "n_copies": 2}, stats)
    assert ItemAdapter(item)["text"] == "as it was"
    assert stats._crawler.stats.get_stats() == {"neardup/item_fields/unset": 2}
    [said] = caplog.messages
    assert said.startswith("Cannot set cluster, n_copies (NEARDUP_ITEM_FIELDS) of items of class ")
    assert type(item).__qualname__ in said


@pytest.mark.parametrize("given", [{"copies": "n"}, '{"copies": "n"}'])
def test_fields_are_given_as_a_dict_or_its_json(given):
    settings = Settings({"NEARDUP_ITEM_FIELDS": given})
    assert Config.from_settings(settings).item_fields == {"copies": "n"}


@pytest.mark.parametrize(
    "given",
    ["copies", "[1]", ["copies"], {"clusters": "n"}, {"copies": ""}, {"copies": 1}, 7, TWICE],
)
def test_other_values_are_errors(given):
    settings = Settings({"NEARDUP_ITEM_FIELDS": given})
    with pytest.raises(
        InvalidOption, match=r"^NEARDUP_ITEM_FIELDS is .* a dict from some of 'clus"
    ):
        Config.from_settings(settings)
