"""Runs the benchmarks' killed crawls from a warm process, with more ways to stop them."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import resource
import shutil
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.common.programs import ROOT
from benchmarks.crawl import killed_crawls
from benchmarks.crawl.killed_crawls import HOSTS, Process, Shape, SiteSpider, pages_of
from scrapy_neardup.crawl.async_bridge import wait_for
from scrapy_neardup.crawl.requests.duplicate_urls import DuplicateUrls
from scrapy_neardup.matching.verdict import revisit
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support import warm

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from typing_extensions import Self


class Pausing:
    """A pipeline that holds back what is not the first item of a page, until it is killed."""

    async def process_item(self, item: Any) -> Any:
        if item["place"]:
            await wait_for(None, 600)
        return item


class Interrupting:
    """A pipeline that interrupts its process while the spider is opened, and waits for the end."""

    async def open_spider(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await wait_for(None, 600)


class Limiting:
    """A pipeline that fills the disk: files of this process grow no more for some items.

    ``LIMITS`` says from which item on how many bytes a file may have, ``null`` for any number.
    """

    def __init__(self, limits: dict[int, int | None]) -> None:
        self._limits = limits
        self._passed = itertools.count(1)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        limits = crawler.settings.getdict("LIMITS")
        return cls({int(first): limit for first, limit in limits.items()})

    def process_item(self, item: Any) -> Any:
        number = next(self._passed)
        if number in self._limits:
            limit = self._limits[number]
            most = resource.RLIM_INFINITY if limit is None else limit
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        return item


class Deleting:
    """A pipeline that deletes the file ``DELETED`` when an item comes, if it is there."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler.settings["DELETED"])

    def process_item(self, item: Any) -> Any:
        self._path.unlink(missing_ok=True)
        return item


class Runs(killed_crawls.Runs):
    """Runs of one crawl, one after the other, started warm."""

    def launch(self, arguments: list[str], stdin: Path) -> Process:
        return warm.start(arguments, stdin=stdin, folder=ROOT)

    def said(self, level: str) -> list[str]:
        """Return the package's log messages of this level in the last run."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if re.search(rf"\[scrapy_neardup[\w.]*\] {level}:", line)]

    def stats(self) -> dict[str, Any]:
        """The stats of the last run."""
        stats: dict[str, Any] = json.loads((self.folder / "stats.json").read_text())
        return stats


def passed_over(store: Path, shape: Shape, port: int) -> frozenset[str]:
    """Paths that the next run will not fetch once it has met their originals: each was a copy."""
    with TemporaryDirectory() as aside:
        for file in store.parent.glob(f"{store.name}*"):
            shutil.copy(file, aside)
        with contextlib.closing(SqliteStore(Path(aside, store.name), SiteSpider.name)) as copied:
            known = DuplicateUrls(10**6, time.time)
            known.open(copied.secret, copied.known_duplicates(known.since))
            for entry in copied.entries():
                known.judged(revisit(entry.signature, entry.signature))
    return frozenset(
        path
        for path in pages_of(shape)
        if any(f"http://{host}:{port}{path}" in known for host in HOSTS)
    )
