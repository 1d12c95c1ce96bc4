"""Crawls situations with and without the add-on, in this process.

``python -m tests.promises.runner [NAME …]`` prints what came of each as a line of JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.signals import item_scraped
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.reactor import install_reactor

from tests.promises.harness import STORED, Run, Situation, Storage, all_situations
from tests.promises.web import Server, Site, serving

_SETTINGS: dict[str, Any] = {
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    # Quick to start; some situations have workers.
    "NEARDUP_WORKERS": 0,
    # Not the default: what a crawl knows of URLs may lose nothing either.
    "NEARDUP_DUPLICATE_URL_TTL": 604800,
    # Scrapy makes so many tasks for each page; a hundred take longer than the page.
    "CONCURRENT_ITEMS": 4,
    # Pages are asked for in the order of their links.
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
}
#: What our stats call an item that the add-on found to be a copy's.
_FOUND = ("dropped", "tagged", "untagged", "reported")


class _Log(logging.Handler):
    """Keeps warnings and errors, for who asks why something is missing."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1]:
            text += f" {record.exc_info[1]!r}"
        self.lines.append(f"{record.name} {record.levelname}: {text}"[:400])


async def crawl_situation(
    situation: Situation, server: Server, *, with_addon: bool
) -> dict[str, Any]:
    """Run a situation.

    :returns: the labels that were stored, how many items were found to be copies', how the runs
        ended, what was logged, and our stats.
    """
    log = _Log()
    logging.getLogger().addHandler(log)
    stats: list[dict[str, Any]] = []
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        site = server.site = Site(Path(folder), with_addon=with_addon)
        for day, run in enumerate(situation.runs(site), 1):
            site.day = day
            if run.killed_after is None:
                stats += await crawl(situation, run, site)
            else:
                crawl_and_kill(situation, site)
        stored = [
            label
            for path in sorted(Path(folder).glob(situation.stored_in))
            for label in _labels(path)
        ]
    logging.getLogger().removeHandler(log)
    ours = [{k: v for k, v in each.items() if k.startswith("neardup/")} for each in stats]
    return {
        "stored": stored,
        "found": sum(each.get(f"neardup/items/{what}", 0) for each in stats for what in _FOUND),
        "ended": [each.get("finish_reason") for each in stats],
        "log": log.lines,
        "stats": ours,
    }


def _labels(path: Path) -> list[str]:
    """Return the labels in a file of labels or of items as JSON Lines."""
    lines = path.read_text("utf-8").splitlines()
    return lines if path.name == STORED else [json.loads(line)["content"] for line in lines]


async def crawl(situation: Situation, run: Run, site: Site) -> list[dict[str, Any]]:
    """Crawl with all spiders of a run at the same time; returns the stats of each."""
    settings = Settings({**_SETTINGS, "PROMISES_STORED": str(site.folder / STORED)})
    settings.setdict({**situation.settings, **run.settings}, "project")
    if situation.stored_in == STORED:
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", Storage, 900)
    if site.with_addon:
        settings.set("ADDONS", {"scrapy_neardup.Addon": 500}, "project")
    runner = AsyncCrawlerRunner(settings)
    crawlers = [runner.create_crawler(spider) for spider in run.spiders]
    for crawler in crawlers:
        if run.killed_after is not None:
            crawler.signals.connect(_Killer(run.killed_after).count, item_scraped, weak=False)
    # Each crawl with the add-on begins with a collection, which need not walk through all modules.
    gc.freeze()
    await asyncio.gather(*(runner.crawl(crawler) for crawler in crawlers))
    return [crawler.stats.get_stats() for crawler in crawlers if crawler.stats]


class _Killer:
    """Ends this process without a word after so many items."""

    def __init__(self, items: int) -> None:
        self._items = items

    def count(self) -> None:
        self._items -= 1
        if not self._items:
            os.kill(os.getpid(), signal.SIGKILL)


def crawl_and_kill(situation: Situation, site: Site) -> None:
    """Run a crawl in a process of its own, and kill it."""
    told = [situation.name, str(site.day), str(site.folder)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.promises.runner", "--killed", *told],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


async def _killed(name: str, day: str, folder: str) -> None:
    situation = all_situations()[name]
    with serving() as server:
        _go_through(server)
        site = server.site = Site(Path(folder), with_addon=True)
        run = situation.runs(site)[int(day) - 1]
        site.day = int(day)
        await crawl(situation, run, site)


async def _all(*names: str) -> None:
    situations = all_situations()
    with serving() as server:
        _go_through(server)
        for number, name in enumerate(names or situations):
            sys.stderr.write(f"{name}\n")
            if number % 10 == 0:
                gc.unfreeze()
                gc.collect()
            outcome = {
                which: await crawl_situation(situations[name], server, with_addon=which == "with")
                for which in ("without", "with")
            }
            sys.stdout.write(json.dumps({"name": name, **outcome}) + "\n")
            sys.stdout.flush()


def _go_through(server: Server) -> None:
    """Scrapy's own middleware reads this when a crawl begins."""
    os.environ.pop("no_proxy", None)
    os.environ["http_proxy"] = server.address


def main() -> None:
    """Crawl as the arguments say."""
    from twisted.internet.task import react

    logging.getLogger().setLevel(logging.INFO)
    arguments = sys.argv[1:]
    is_killed = arguments[:1] == ["--killed"]
    task = _killed(*arguments[1:]) if is_killed else _all(*arguments)

    async def done(_: Any) -> None:
        await task

    react(deferred_f_from_coro_f(done))


if __name__ == "__main__":
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    main()
