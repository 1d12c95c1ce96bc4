"""Items of a feed count as written at once, or only when the feed is closed."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.exporters import BaseItemExporter, JsonLinesItemExporter
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.utils.test import get_crawler

from scrapy_neardup.crawl.durability.feeds import Feeds
from scrapy_neardup.crawl.durability.unconfirmed_pages import UnconfirmedPages

GZIP = "scrapy.extensions.postprocessing.GzipPlugin"


class Table(BaseItemExporter):
    """Writes all rows in the end, as exporters to spreadsheets do."""

    def __init__(self, file: Any, **options: Any) -> None:
        super().__init__(dont_fail=True)
        self.file = file
        self.rows: list[Any] = []

    def export_item(self, item: Any) -> None:
        self.rows.append(item)

    def finish_exporting(self) -> None:
        self.file.write(json.dumps(self.rows).encode())


class Upper(JsonLinesItemExporter):
    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        return value.upper()


class Moved(FileFeedStorage):
    """Writes to a file beside the right one, which it replaces in the end."""

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        super().__init__(uri.partition(":")[2] + ".part", feed_options=feed_options)

    def store(self, file: Any) -> None:
        super().store(file)
        path = Path(self.path)
        path.rename(path.with_suffix(""))


def opened(settings: dict[str, Any]) -> tuple[Feeds, FeedExporter, Spider]:
    crawler = get_crawler(Spider, settings)
    crawler.spider = spider = crawler._create_spider("feeds")
    crawler._apply_settings()
    exporter = FeedExporter.from_crawler(crawler)
    exporter.open_spider(spider)
    return Feeds(exporter), exporter, spider


@pytest.mark.parametrize(
    ("uri", "options", "is_at_once"),
    [
        ("{}/items", {"format": "jsonlines"}, True),
        ("{}/items", {"format": "csv"}, True),
        ("{}/items", {"format": "xml"}, True),
        ("{}/items", {"format": "upper"}, True),
        ("{}/items", {"format": "table"}, False),
        ("moved:{}/items", {"format": "jsonlines"}, False),
        ("{}/items", {"format": "jsonlines", "postprocessing": [GZIP]}, False),
        ("stdout:", {"format": "jsonlines"}, False),
    ],
)
def test_items_are_written_at_once_or_in_the_end(tmp_path, capfd, uri, options, is_at_once):
    settings = {
        "FEEDS": {uri.format(tmp_path): options},
        "FEED_EXPORTERS": {"table": Table, "upper": Upper},
        "FEED_STORAGES": {"moved": Moved},
    }
    feeds, exporter, spider = opened(settings)
    assert feeds.export({"content": "tea"}, spider)
    synchronise = feeds.flush(closed=False)
    assert (synchronise is not None) is is_at_once
    if synchronise is not None:
        synchronise()
        assert "tea" in (tmp_path / "items").read_text("utf-8").casefold()
    [slot] = exporter.slots
    slot.finish_exporting()
    file: Any = slot.file
    if isinstance(file, PostProcessingManager):
        file.close()
        file = file.file
    slot.storage.store(file)


def test_what_the_disk_did_not_take_since_the_last_time_is_lost(tmp_path, monkeypatch):
    feeds, exporter, spider = opened({"FEEDS": {f"{tmp_path}/items": {"format": "jsonlines"}}})
    pages, lost = UnconfirmedPages(), list[str]()
    feeds.watch(pages, lambda since: lost.extend(pages.lose(since)))

    def refuse(_: int) -> None:
        raise OSError("input/output error")

    async def crawl() -> None:
        for key in "ab":
            assert feeds.export({"content": key}, spider)
            pages.note(key)
            if key == "b":
                monkeypatch.setattr(os, "fsync", refuse)
                with pytest.raises(OSError, match="input/output"):
                    await feeds.write(None, closed=False)
            else:
                assert await feeds.write(None, closed=False)

    asyncio.run(crawl())
    assert lost == ["b"]
    [slot] = exporter.slots
    assert slot.file is not None
    slot.file.close()
