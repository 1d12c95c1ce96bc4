"""Items of a feed count as written at once, or only when the feed is closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.exporters import BaseItemExporter, JsonLinesItemExporter
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.utils.test import get_crawler

from scrapy_neardup.crawl.durability.feeds import Feeds

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
    crawler = get_crawler(Spider, settings)
    crawler.spider = spider = crawler._create_spider("feeds")
    crawler._apply_settings()
    exporter = FeedExporter.from_crawler(crawler)
    exporter.open_spider(spider)
    feeds = Feeds(exporter)
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
