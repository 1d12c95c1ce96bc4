"""Runs a real crawl in a process of its own.

In a test: ``run_crawl(start, settings)``. As a program it reads what to do as JSON from
standard input, crawls, and writes what came of it as JSON to standard output.
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pydantic
import scrapy
from itemadapter.adapter import ItemAdapter
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.dupefilters import RFPDupeFilter
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.http import Response, TextResponse
from scrapy.signals import (
    feed_exporter_closed,
    item_dropped,
    item_error,
    item_scraped,
    spider_closed,
)
from scrapy.utils.misc import load_object

from scrapy_neardup.crawl.async_bridge import wait_for
from scrapy_neardup.crawl.monitoring.duplicate_floods import DuplicateFlood
from scrapy_neardup.signals import duplicate_flood_detected, item_judged, page_judged
from tests.support import warm

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from typing_extensions import Self

SCRAPY = tuple(int(part) for part in scrapy.__version__.split(".")[:2])

#: What Scrapy 2.14 is warned of when it asks for an https page.
TLS_METHOD = "Passing method to twisted.internet.ssl.CertificateOptions was deprecated"

_ROOT = Path(__file__).parents[2]

#: Ways to run a crawl that this Scrapy has.
LOOPS = ["reactor", "no reactor"] if SCRAPY >= (2, 15) else ["reactor"]


@dataclass
class Crawl:
    """The result of a crawl."""

    items: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    errors: int
    judged: list[dict[str, Any]]
    stats: dict[str, Any]
    log: list[tuple[str, str, str]]

    @property
    def stored(self) -> list[str]:
        """Paths of the pages whose items were stored, sorted."""
        return sorted(item["path"] for item in self.items)

    def counts(self, prefix: str = "") -> dict[str, int]:
        """Our own stats below a prefix, but for those that hang on time."""
        start = f"neardup/{prefix}"
        return {
            name.removeprefix(start): value
            for name, value in self.stats.items()
            if name.startswith(start) and name not in ("neardup/seconds", "neardup/waits")
        }

    def logged(self, level: str, logger: str = "scrapy_neardup") -> list[str]:
        """Our own messages of a level."""
        return [text for name, at, text in self.log if at == level and name.startswith(logger)]


@dataclass
class DataItem:
    path: str
    text: str
    neardup: dict[str, Any] | None = None


@attrs.define
class AttrsItem:
    path: str
    text: str
    neardup: dict[str, Any] | None = None


class PydanticItem(pydantic.BaseModel):
    path: str
    text: str
    neardup: dict[str, Any] | None = None


class ScrapyItem(scrapy.Item):
    path = scrapy.Field()
    text = scrapy.Field()
    neardup = scrapy.Field()


class ClosedItem(scrapy.Item):
    path = scrapy.Field()
    text = scrapy.Field()


@dataclass(frozen=True)
class FrozenItem:
    path: str
    text: str
    neardup: dict[str, Any] | None = None


@dataclass
class ClosedDataItem:
    path: str
    text: str


@attrs.define
class ClosedAttrsItem:
    path: str
    text: str


class ClosedPydanticItem(pydantic.BaseModel):
    path: str
    text: str


ITEMS: dict[str, Any] = {
    "dict": dict,
    "dataclass": DataItem,
    "attrs": AttrsItem,
    "pydantic": PydanticItem,
    "scrapy": ScrapyItem,
    "closed": ClosedItem,
    "closed dataclass": ClosedDataItem,
    "closed attrs": ClosedAttrsItem,
    "closed pydantic": ClosedPydanticItem,
    "frozen": FrozenItem,
}
_SHARED: dict[str, Any] = {}


def shared(**fields: Any) -> dict[str, Any]:
    """Return the same dict every time, with new values."""
    _SHARED.update(fields)
    return _SHARED


ITEMS["shared"] = shared


class CrawlSpider(scrapy.Spider):
    name = "crawl"
    handle_httpstatus_list = (404, 500)

    def __init__(self, plan: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.plan = plan

    async def start(self) -> AsyncIterator[Any]:
        for url in self.plan["start"]:
            meta = self.plan["meta"].get(url, {})
            yield scrapy.Request(url, meta=meta, dont_filter=self.plan["dont_filter"])
        for item in self.plan["start_items"]:
            yield item

    def parse(self, response: Response) -> Iterator[Any]:
        if response.url.endswith("/fail"):
            raise ZeroDivisionError
        if "fail-link" in response.url:
            yield response.follow("/nowhere")
            raise ZeroDivisionError
        texts = self.plan["texts"]
        for number in range(self.plan["items_per_page"]):
            path = response.url.split("/", 3)[-1]
            text = texts[number] if texts else _text(response)
            yield ITEMS[self.plan["item"]](path=path, text=text)
        if "fail-late" in response.url:
            raise ZeroDivisionError
        if self.plan["follow"] and "<a" in _text(response):
            for link in response.css("a.next::attr(href)").getall():
                yield response.follow(link)


def _text(response: Response) -> str:
    return response.text if isinstance(response, TextResponse) else ""


class InlineSpider(CrawlSpider):
    """Asks for more pages inside its callback, before and after it yields anything."""

    async def parse(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        for moment in "before", "after":
            request = scrapy.Request(f"{response.url}/{moment}", dont_filter=True)
            inline = await self.crawler.engine.download_async(request)
            yield {"path": inline.url.split("/", 3)[-1]}


class WaitingSpider(CrawlSpider):
    """Its callbacks yield nothing before the page that was asked for last has been judged."""

    async def parse(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        while response.url != self.plan["start"][-1] and not self.crawler.stats.get_value(
            "neardup/pages/new"
        ):
            await asyncio.sleep(0.01)
        yield {"path": response.url.split("/", 3)[-1]}


class MutedSpider(CrawlSpider):
    """Yields nothing from most pages, in different ways."""

    def parse(self, response: Response) -> Any:
        path = response.url.split("/", 3)[-1]
        match int(path) % 5:
            case 0:
                return [{"path": path}]
            case 1:
                return None
            case 2:
                return self.raising()
            case 3:
                raise ZeroDivisionError
            case _:
                return iter(())

    def raising(self) -> Iterator[Any]:
        yield from ()
        raise ZeroDivisionError


class Replacing:
    """A pipeline that puts a new item in the place of each."""

    def process_item(self, item: Any) -> Any:
        return dict(item)


class Failing:
    """A pipeline that takes its time, and fails on the items of some paths.

    ``FAIL_PATHS`` says how each of them fails, ``"drop"`` or ``"raise"``, ``FAIL_AFTER`` after how
    many seconds.
    """

    def __init__(self, fail: dict[str, str], seconds: float) -> None:
        self._fail = fail
        self._seconds = seconds

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        settings = crawler.settings
        return cls(settings.getdict("FAIL_PATHS"), settings.getfloat("FAIL_AFTER"))

    async def process_item(self, item: Any) -> Any:
        await wait_for(None, self._seconds)
        match self._fail.get(item["path"]):
            case "drop":
                raise DropItem("this one is not wanted")
            case "raise":
                raise ZeroDivisionError
        return item


class DuplicateFloodDetector:
    """A spider middleware that takes away the items of some pages."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for output in result:
            if "swallow" not in response.url:
                yield output


class CarefulSpider(CrawlSpider):
    """Stops at a wall, as the documentation shows."""

    wall: str | None = None

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.swallowed, duplicate_flood_detected)
        return spider

    def swallowed(self, cluster: DuplicateFlood) -> None:
        self.wall = cluster.original

    def parse(self, response: Response) -> Iterator[Any]:
        if self.wall:
            raise CloseSpider(f"wall {self.wall}")
        yield from super().parse(response)


class Disk:
    """An extension that logs which files are synchronised.

    With ``DISK_BREAKS``, none can be any more from when the feeds have been closed.
    """

    def __init__(self, *, breaks: bool) -> None:
        self._breaks = breaks
        self._is_broken = False
        self._fsync, os.fsync = os.fsync, self.fsync  # type: ignore[assignment]

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        disk = cls(breaks=crawler.settings.getbool("DISK_BREAKS"))
        crawler.signals.connect(disk.feeds_closed, feed_exporter_closed)
        return disk

    def feeds_closed(self) -> None:
        self._is_broken = self._breaks

    def fsync(self, file: int) -> None:
        if self._is_broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._fsync(file)
        logging.getLogger("disk").info("%s", Path(f"/proc/self/fd/{file}").readlink())


class Unstartable:
    """An extension with which a method of the add-on fails, whose path is ``UNSTARTABLE``."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        owner, _, name = crawler.settings["UNSTARTABLE"].rpartition(".")
        setattr(load_object(owner), name, cls.fail)
        return cls()

    @staticmethod
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("no start today")


class Counting(RFPDupeFilter):
    """A project's own dupefilter."""

    colour = "own"


def run_crawl(
    start: list[str],
    settings: dict[str, Any] | None = None,
    *,
    loop: str = "reactor",
    meta: dict[str, dict[str, Any]] | None = None,
    dont_filter: bool = False,
    spider: str = "CrawlSpider",
    item: str = "dict",
    items_per_page: int = 1,
    texts: list[str] | None = None,
    follow: bool = True,
    start_items: list[dict[str, Any]] | None = None,
    arguments: dict[str, str] | None = None,
    environment: dict[str, str] | None = None,
    ignored: Sequence[str] = (),
    folder: Path | None = None,
    seconds: float = 120,
) -> Crawl:
    """Crawl and wait for the end.

    :param meta: meta of the start requests, by URL.
    :param texts: texts of the items of each page, instead of the page's own.
    :param spider: the class, one of this module, or its import path.
    :param follow: whether to follow links of class ``next``.
    :param arguments: spider arguments, as ``-a`` gives them.
    :param ignored: how warnings begin that are not errors.
    :param folder: current folder of the crawl.
    :param seconds: what the crawl may take.
    """
    plan = {
        "start": start,
        "meta": meta or {},
        "dont_filter": dont_filter,
        "spider": spider,
        "item": item,
        "items_per_page": items_per_page,
        "texts": texts,
        "follow": follow,
        "start_items": start_items or [],
        "arguments": arguments or {},
        "settings": {
            "ADDONS": {"scrapy_neardup.Addon": 500},
            "LOG_ENABLED": False,
            # Quick to start; tests/workers/test_crawl_workers.py crawls with workers.
            "NEARDUP_WORKERS": 0,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "TWISTED_REACTOR_ENABLED": loop == "reactor",
            **(settings or {}),
        },
    }
    done = warm.run_text(
        ["-m", "tests.support.crawl"],
        options=["-W", "error", *_ignoring(TLS_METHOD, *ignored)],
        stdin=json.dumps(plan),
        environment={**({"PYTHONPATH": str(_ROOT)} if folder else {}), **(environment or {})},
        folder=folder,
        seconds=seconds,
    )
    assert done.stdout, done.stderr
    crawl = Crawl(**json.loads(done.stdout))
    assert [text for _, _, text in crawl.log if "Deprecat" in text] == []
    assert [name for name in crawl.stats if not is_documented(name)] == []
    return crawl


def _ignoring(*beginnings: str) -> list[str]:
    return [option for text in beginnings for option in ("-W", f"ignore:{text}")]


def is_documented(stat: str) -> bool:
    """Return whether a stat is Scrapy's, or documented as one of the package's."""
    return not stat.startswith("neardup/") or any(known.fullmatch(stat) for known in _stats())


@cache
def _stats() -> list[re.Pattern[str]]:
    """The stats that are documented; ``<word>`` in one stands for anything."""
    reference = (_ROOT / "docs" / "settings.md").read_text("utf-8")
    names = re.findall(r"`(neardup/[^`]+)`", reference.partition("\n## Stats\n")[2])
    return [re.compile(re.sub("<[a-z]+>", ".+", re.escape(name))) for name in names]


class _Log(logging.Handler):
    def __init__(self, lines: list[tuple[str, str, str]]) -> None:
        super().__init__()
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1]:
            text += f" {record.exc_info[1]!r}"
        self.lines.append((record.name, record.levelname, text))


@dataclass
class _Observer:
    """Listens to a crawl as any extension could."""

    items: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[dict[str, Any]] = field(default_factory=list)
    judged: list[dict[str, Any]] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)
    errors: int = 0

    def watch(self, crawler: Any) -> None:
        for handler, signal in (
            (self.on_scraped, item_scraped),
            (self.on_dropped, item_dropped),
            (self.on_error, item_error),
            (self.on_judged, page_judged),
            (self.on_judged, item_judged),
            (self.on_closed, spider_closed),
        ):
            crawler.signals.connect(handler, signal=signal)

    def on_scraped(self, item: Any) -> None:
        self.items.append(ItemAdapter(item).asdict())

    def on_dropped(self, item: Any, exception: Any) -> None:
        self.dropped.append(
            {**ItemAdapter(item).asdict(), "class": type(exception).__name__, **vars(exception)}
        )

    def on_error(self) -> None:
        self.errors += 1

    def on_judged(self, verdict: Any, response: Any, spider: Any) -> None:
        told = "kind", "reason", "duplicate_of"
        verdict_says = {name: getattr(verdict, name) for name in told}
        self.judged.append({"url": response.url, "spider": spider.name, **verdict_says})

    def on_closed(self, spider: Any) -> None:
        self.stats = spider.crawler.stats.get_stats()


def main() -> None:
    """Crawl as standard input says."""
    plan = json.load(sys.stdin)
    lines: list[tuple[str, str, str]] = []
    logging.getLogger().addHandler(_Log(lines))
    logging.getLogger().setLevel(logging.DEBUG)
    logging.captureWarnings(True)
    process = AsyncCrawlerProcess(plan.pop("settings"))
    spider = plan.pop("spider")
    crawler = process.create_crawler(load_object(spider) if "." in spider else globals()[spider])
    observer = _Observer()
    observer.watch(crawler)
    outcome = process.crawl(crawler, plan=plan, **plan.pop("arguments"))
    process.start()
    if outcome.done() and (error := outcome.exception()):
        lines.append(("crawl", "CRITICAL", f"{type(error).__name__}: {error}"))
    json.dump({**vars(observer), "log": lines}, sys.stdout, default=str)


if __name__ == "__main__":
    main()
