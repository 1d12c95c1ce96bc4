"""Crawls a site, kills the crawl, and reads the items that are on disk.

As a program, ``serve`` is the site and ``crawl`` a crawl of it, each as its standard input says, in
a process of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Protocol

import scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse

from scrapy_neardup.stores import Store
from scrapy_neardup.stores.sqlite.store import SqliteStore

from ..common.programs import environment, module_command
from ..common.site_server import Answer, serving
from ..corpora.texts import article, page, replaced

if TYPE_CHECKING:
    # typing.Self requires Python 3.11
    from typing_extensions import Self

HOSTS = ("127.0.0.1", "localhost")
#: Links on each index page, so that a crawl has requests waiting all the time.
_LINKS = 12
#: Seconds that the site takes for an answer, at most; a crawl lives for some seconds then.
_SLOWNESS = 0.1
MODULE = "benchmarks.crawl.killed_crawls"

Storing = Literal["synced", "feed", "batches"]


class Process(Protocol):
    """A process that was started."""

    pid: int

    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...


# --- the site -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """The composition of a site: a number of contents, each on two or three pages."""

    contents: int
    seed: int = 0

    @property
    def copies(self) -> dict[int, int]:
        """Number of pages with each content."""
        return {content: 2 + content % 2 for content in range(self.contents)}


def path_of(content: int, copy: int) -> str:
    return f"/content/{content}/{copy}"


def content_of(path: str) -> int:
    return int(path.split("/")[2])


def pages_of(shape: Shape) -> dict[str, Answer | str]:
    """The site's pages by their paths; each index page leads to the next one."""
    paths = [path_of(n, copy) for n, copies in shape.copies.items() for copy in range(copies)]
    pages: dict[str, Answer | str] = {path: _copy(path, shape.seed) for path in paths}
    random.Random(shape.seed).shuffle(paths)
    for number in range(0, len(paths), _LINKS):
        links = [*paths[number : number + _LINKS], f"/index/{number + _LINKS}"]
        words = " ".join(article(30, 10**6 + number))
        pages[f"/index/{number}"] = page(words, f"Index {number}", "", " ".join(links))
    return pages


def _copy(path: str, seed: int) -> str:
    """A page of a content; its copies have other frames, and the third a few other words."""
    _, _, content, copy = path.split("/")
    words = article(300, seed * 10**4 + int(content))
    if int(copy) == 2:
        words = replaced(words, 0.01)
    return page(" ".join(words), f"Content {content}", f"Frame {copy} of some site")


@contextlib.contextmanager
def site(shape: Shape) -> Iterator[int]:
    """The site, served by another process; its port."""
    with subprocess.Popen(
        module_command(MODULE, "serve"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(vars(shape)) + "\n")
        process.stdin.flush()
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


def _serve() -> None:
    pages = pages_of(Shape(**json.loads(sys.stdin.readline())))
    slowly = {path: _slow(body) for path, body in pages.items()}
    with serving(slowly) as served:
        print(served.server_port, flush=True)
        sys.stdin.read()


def _slow(body: Answer | str) -> Answer:
    def answer() -> bytes:
        time.sleep(random.uniform(0, _SLOWNESS))
        assert isinstance(body, str)
        return body.encode()

    return Answer(answer)


# --- the crawl ------------------------------------------------------------------------------


class SiteSpider(scrapy.Spider):
    name = "site"

    def __init__(self, port: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [f"http://{HOSTS[0]}:{port}/index/0"]
        self.port = port

    def parse(self, response: Response) -> Iterator[Any]:
        path = "/" + response.url.split("/", 3)[-1]
        if path.startswith("/content/"):
            assert isinstance(response, TextResponse)
            for place in range(self.settings.getint("ITEMS_PER_PAGE", 1)):
                text = response.text
                yield {"path": path, "run": self.settings["RUN"], "place": place, "text": text}
        for link in response.css("a.next::attr(href)").getall():
            # Copies of a content are on different hosts.
            host = HOSTS[int(link.split("/")[-1]) % 2] if "content" in link else HOSTS[0]
            yield scrapy.Request(f"http://{host}:{self.port}{link}")


class Failing:
    """A pipeline that fails on the items of the pages in ``FAIL_PATHS``."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = frozenset(paths)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler.settings.getlist("FAIL_PATHS"))

    def process_item(self, item: Any) -> Any:
        if item["path"] in self._paths:
            raise ZeroDivisionError
        return item


class Syncing:
    """A pipeline that has each item on disk before it lets it go."""

    def __init__(self, file: str) -> None:
        self._file = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler.settings["ITEMS"])

    def process_item(self, item: Any) -> Any:
        told = {name: item[name] for name in ("path", "run", "place")}
        os.write(self._file, json.dumps(told).encode() + b"\n")
        os.fsync(self._file)
        return item


@dataclass
class Runs:
    """Runs of one crawl, one after the other, with what they leave in a folder.

    :ivar storing: by a pipeline that syncs each item, by a feed, or by one in parts.
    :ivar failing: paths of pages whose items a later pipeline fails on.
    """

    folder: Path
    port: int
    storing: Storing = "synced"
    failing: frozenset[str] = frozenset()
    settings: dict[str, Any] = field(default_factory=dict)
    number: int = 0

    @property
    def items(self) -> Path:
        """The file with all that was stored, unless that is in parts."""
        return self.folder / "items.jsonl"

    @property
    def log(self) -> Path:
        """The log of the last run."""
        return self.folder / f"log-{self.number}.txt"

    def start(self, **settings: Any) -> Process:
        """Start a run."""
        self.number += 1
        plan = self.folder / f"plan-{self.number}.json"
        given = {"port": self.port, "settings": {**self._own_settings(), **settings}}
        plan.write_text(json.dumps(given))
        return self.launch(["-m", MODULE, "crawl"], plan)

    def launch(self, arguments: list[str], stdin: Path) -> Process:
        """Start Python with these arguments in a process group of its own; it reads a file."""
        with stdin.open("rb") as plan:
            return subprocess.Popen(
                [sys.executable, *arguments],
                stdin=plan,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=True,
            )

    def finish(self, seconds: float = 120, **settings: Any) -> None:
        """A run that ends by itself."""
        assert self.start(**settings).wait(seconds) == 0, self.log.read_text()

    def stored(self) -> list[dict[str, Any]]:
        """Return the stored items; an incomplete line is not one."""
        found = []
        for file in sorted(self.folder.glob("items*.jsonl")):
            for line in file.read_bytes().splitlines():
                with contextlib.suppress(ValueError):
                    found.append(json.loads(line))
        return sorted(found, key=lambda item: item["run"])

    def _own_settings(self) -> dict[str, Any]:
        pipelines = {f"{MODULE}.Failing": 400} if self.failing else {}
        mine: dict[str, Any] = {
            "ADDONS": {"scrapy_neardup.Addon": 500},
            "LOG_FILE": str(self.log),
            "NEARDUP_WORKERS": 0,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "RUN": self.number,
            "FAIL_PATHS": sorted(self.failing),
            "STATS_FILE": str(self.folder / "stats.json"),
        }
        if self.storing == "feed":
            mine["FEEDS"] = {str(self.items): {"format": "jsonlines"}}
        elif self.storing == "batches":
            parts = str(self.folder / "items-%(batch_id)d.jsonl")
            mine["FEEDS"] = {parts: {"format": "jsonlines", "batch_item_count": 5}}
        else:
            mine["ITEMS"] = str(self.items)
            pipelines[f"{MODULE}.Syncing"] = 500
        return {**mine, "ITEM_PIPELINES": pipelines, **self.settings}


def _crawl() -> None:
    plan = json.load(sys.stdin)
    process = AsyncCrawlerProcess(plan["settings"])
    crawler = process.create_crawler(SiteSpider)
    outcome = process.crawl(crawler, port=plan["port"])
    process.start()
    # A crawl that could not start has stored nothing, which must not look like a loss.
    outcome.result()
    assert crawler.stats
    stats = json.dumps(crawler.stats.get_stats(), default=str)
    Path(crawler.settings["STATS_FILE"]).write_text(stats)


# --- what came of it ------------------------------------------------------------------------


def kill(process: Process, after: float) -> bool:
    """Kill a process after so many seconds; return whether it was alive until then."""
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def confirmed(store: Path) -> frozenset[str]:
    """Paths of the pages that the next run will know.

    The file itself is left as it is: what a kill has left is read from a copy.
    """
    if not store.exists():
        return frozenset()
    with TemporaryDirectory() as aside:
        for file in store.parent.glob(f"{store.name}*"):
            shutil.copy(file, aside)
        return confirmed_in(SqliteStore(Path(aside, store.name), SiteSpider.name))


def confirmed_in(store: Store) -> frozenset[str]:
    """Paths of the pages in a store that was opened after a kill, which is closed then."""
    with contextlib.closing(store):
        urls = [entry.signature.url for entry in store.entries()]
    return frozenset("/" + url.split("/", 3)[-1] for url in urls)


@dataclass(frozen=True)
class Account:
    """The contents stored after the last run, compared with the site.

    :ivar lost: contents that are not stored.
    :ivar pairs: pairs of pages of one content that are both stored.
    :ivar wrong_pairs: those of them of which the first was confirmed at the kill between them.
    :ivar again: pages that are stored more than once.
    :ivar wrong_again: those of them that were confirmed at the kill between.
    """

    lost: list[int]
    pairs: list[tuple[str, str]]
    wrong_pairs: list[tuple[str, str]]
    again: list[str]
    wrong_again: list[str]


def account(
    shape: Shape, stored: Iterable[dict[str, Any]], at_kills: Sequence[frozenset[str]]
) -> Account:
    """Account for all contents.

    :param at_kills: what was confirmed when each run but the last was killed.
    """
    runs: dict[int, dict[str, list[int]]] = {content: {} for content in range(shape.contents)}
    for item in stored:
        runs[content_of(item["path"])].setdefault(item["path"], []).append(item["run"])
    pairs, wrong_pairs, again, wrong_again = [], [], [], []
    for by_path in runs.values():
        for one, other in itertools.combinations(sorted(by_path, key=lambda p: by_path[p][0]), 2):
            pairs.append((one, other))
            if not _was_unconfirmed(one, by_path[one][0], by_path[other][0], at_kills):
                wrong_pairs.append((one, other))
        for path, numbers in by_path.items():
            if len(numbers) > 1:
                again.append(path)
                if not _was_unconfirmed(path, numbers[0], numbers[1], at_kills):
                    wrong_again.append(path)
    lost = [content for content, by_path in runs.items() if not by_path]
    return Account(lost, pairs, wrong_pairs, again, wrong_again)


def _was_unconfirmed(path: str, first: int, then: int, at_kills: Sequence[frozenset[str]]) -> bool:
    """Return whether a page that one run stored was unconfirmed at a kill before another run."""
    return any(path not in known for known in at_kills[first - 1 : then - 1])


if __name__ == "__main__":
    {"serve": _serve, "crawl": _crawl}[sys.argv[1]]()
