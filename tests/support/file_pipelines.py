"""Files pipelines of a project, for crawls of the tests."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

from scrapy.http import Request, Response
from scrapy.pipelines.files import FSFilesStore

from scrapy_neardup.crawl.async_bridge import wait_for
from scrapy_neardup.pipelines import NearDupFilesPipeline
from tests.support.crawl import CrawlSpider


class FilesSpider(CrawlSpider):
    """Yields the items of the plan from a page; Scrapy 2.14 does not wait for those of a start."""

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.plan["start"][0], dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        yield from self.plan["start_items"]


class NamedFiles(NearDupFilesPipeline):
    """Stores a file at the path that the parameter ``to`` of its URL names."""

    def file_path(
        self, request: Request, response: Any = None, info: Any = None, *, item: Any = None
    ) -> str:
        return parse_qs(urlsplit(request.url).query)["to"][0]


class StampedFiles(NamedFiles):
    """Stores something else than what was downloaded."""

    def file_downloaded(self, response: Any, request: Any, info: Any, *, item: Any = None) -> Any:
        stamped = response.replace(body=b"stamp " + response.body)
        return super().file_downloaded(stamped, request, info, item=item)


class FilesWithoutIndex(NamedFiles):
    """Loses its index after the start."""

    def get_media_requests(self, item: Any, info: Any) -> list[Request]:
        index = Path(self.crawler.settings["FILES_STORE"]) / ".neardup-files.sqlite"
        with closing(sqlite3.connect(index)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS files(id)")
            connection.execute(f"PRAGMA application_id = {0x4E446669}")
        return super().get_media_requests(item, info)


class SlowStore:
    """Takes its time, like a store on the network; fails for paths with ``broken`` in them."""

    def __init__(self, uri: str) -> None:
        self._disk = FSFilesStore(uri)

    async def persist_file(
        self, path: Any, buf: BytesIO, info: Any, meta: Any = None, headers: Any = None
    ) -> None:
        await wait_for(None, 0.3)
        if "broken" in path:
            raise OSError("no space left")
        self._disk.persist_file(path, buf, info)

    def stat_file(self, path: Any, info: Any) -> Any:
        return self._disk.stat_file(path, info)


class SlowFiles(NamedFiles):
    """Stores files in a slow store."""

    STORE_SCHEMES: ClassVar[dict[str, Any]] = {**NamedFiles.STORE_SCHEMES, "slow": SlowStore}


class DyingStore(FSFilesStore):
    """Writes half of a file, and ends the process."""

    def persist_file(
        self, path: Any, buf: BytesIO, info: Any, meta: Any = None, headers: Any = None
    ) -> None:
        super().persist_file(path, BytesIO(buf.read()[:100]), info)
        os._exit(9)


class DyingFiles(NamedFiles):
    """Stores files in a store that ends the process."""

    STORE_SCHEMES: ClassVar[dict[str, Any]] = {**NamedFiles.STORE_SCHEMES, "dying": DyingStore}
