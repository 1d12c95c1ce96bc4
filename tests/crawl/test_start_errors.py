"""Errors that end a crawl before it starts: one log line, and an exit status other than 0."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_neardup.crawl.durability.job import Job
from tests.support.crawl import LOOPS, SCRAPY, run_crawl
from tests.support.server import serving

ROOT = Path(__file__).parents[2]
SPIDER = '''
import asyncio
import gc
import sys

import scrapy
from filelock import FileLock
from scrapy import crawler
from scrapy_neardup.crawl.judge import NearDupJudge


class Broken:
    """Fails when the store is open."""

    def __init__(self, crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def open_spider(self):
        while self.crawler.get_extension(NearDupJudge).detector is None:
            await asyncio.sleep(0.01)
        raise ZeroDivisionError


class Spider(scrapy.Spider):
    name = "pages"
    start_urls = ["data:text/html,page"]
    custom_settings = {
        "ADDONS": {"scrapy_neardup.Addon": 500},
        "NEARDUP_WORKERS": 0,
        "TELNETCONSOLE_ENABLED": False,
    }

    def parse(self, response):
        self.logger.error("crawled")


if __name__ == "__main__":
    settings = {"LOG_LEVEL": "WARNING", **dict(word.split("=", 1) for word in sys.argv[2:])}
    process = getattr(crawler, sys.argv[1])(settings)
    process.crawl(Spider)
    process.start()
    gc.collect()
    FileLock("pages.sqlite.lock").acquire(timeout=0)
    sys.exit(process.bootstrap_failed)
'''
COMMAND = [sys.executable, "-m", "scrapy", "runspider", "pages.py", "-L", "WARNING"]
LAUNCHERS = {
    "command": COMMAND,
    "AsyncCrawlerProcess": [sys.executable, "pages.py", "AsyncCrawlerProcess"],
    "CrawlerProcess": [sys.executable, "pages.py", "CrawlerProcess"],
}
LATE = "redis://127.0.0.1:1/0: Error 111 connecting to 127.0.0.1:1. Connection refused."
ERRORS = {
    "NEARDUP_MIN_SIMILARITY=7": "NEARDUP_MIN_SIMILARITY is 7, but it must be a number from 0 to 1",
    "NEARDUP_STORE=redis://127.0.0.1:1/0": f"store {LATE}",
    "NEARDUP_EXTRACTOR=no.such.thing": "NEARDUP_EXTRACTOR is 'no.such.thing', but it must be",
    "NEARDUP_REPORT=%(nam)s.html": "NEARDUP_REPORT is '%(nam)s.html', but it must be a path with "
    "no other placeholders than %(name)s and %(time)s",
    "NEARDUP_DUPEFILTER=no.such.thing": "NEARDUP_DUPEFILTER is 'no.such.thing', but it must be",
}


def run(folder: Path, launcher: str, *settings: str) -> subprocess.CompletedProcess[str]:
    (folder / "pages.py").write_text(SPIDER)
    command = LAUNCHERS[launcher]
    if command is COMMAND:
        settings = tuple(word for setting in settings for word in ("-s", setting))
    return subprocess.run(
        [*command, *settings],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("launcher", "setting"),
    [
        *((launcher, setting) for launcher in LAUNCHERS for setting in list(ERRORS)[:2]),
        *(("command", setting) for setting in list(ERRORS)[2:]),
    ],
)
def test_an_error_at_the_start_is_one_line_and_an_exit_status(tmp_path, launcher, setting):
    done = run(tmp_path, launcher, setting)
    [line] = done.stdout.splitlines()
    assert f"ERROR: Cannot start the crawl: {ERRORS[setting]}" in line
    # Before 2.15 only CrawlerProcess and a missing spider did that.
    assert done.returncode == (1 if SCRAPY >= (2, 15) else 0)


@pytest.mark.parametrize(
    ("one", "other", "file"),
    [
        (("REPORT", "out/crawl"), ("COPIES", "out/%(name)s"), "out/crawl"),
        (("REPORT", "%(time)s.x"), ("COPIES", "linked/%(time)s.x"), r"[-T\d]+\.x"),
        (("METRICS", "%(name)s-%(job)s.x"), ("REPORT", "out/../crawl-7.x"), r"crawl-7\.x"),
        (("METRICS", "x"), ("COPIES", "x"), "x"),
    ],
)
def test_two_outputs_in_one_file_are_refused(tmp_path, one, other, file):
    (tmp_path / "linked").symlink_to(tmp_path)
    paths = {f"NEARDUP_{name}": f"{tmp_path}/{path}" for name, path in (one, other)}
    crawl = run_crawl(["data:text/html,"], paths, arguments={"_job": "7"})
    [error] = crawl.logged("ERROR")
    (second, path), (first, _) = paths.items()
    start = (
        f"Cannot start the crawl: {second} is {path!r}, but it must be another file than that of "
        f"{first}: both are {tmp_path}/"
    )
    assert re.fullmatch(re.escape(start) + file, error)
    assert not (tmp_path / "out").exists()


def test_placeholders_keep_outputs_apart(tmp_path):
    path = f"{tmp_path}/%(time)s"
    settings = {
        "NEARDUP_METRICS": f"{tmp_path}/%(name)s",
        "NEARDUP_REPORT": path,
        "NEARDUP_COPIES": f"{path}.jsonl",
    }
    crawl = run_crawl(["data:text/html,"], settings)
    assert crawl.logged("ERROR") == []
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_errors_of_other_components_are_logged_as_before(tmp_path, launcher):
    done = run(
        tmp_path,
        launcher,
        "NEARDUP_STORE=sqlite:///pages.sqlite",
        'ITEM_PIPELINES={"pages.Broken": 1}',
    )
    assert re.search("^ZeroDivisionError", done.stdout, re.M)
    assert "Cannot start" not in done.stdout
    if launcher != "command":
        # The store is closed: the script can lock its file.
        assert "filelock" not in done.stdout


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    "method",
    [
        "durability.feeds.Feeds.targets",
        "requests.request_filter.RequestFilter.open",
        "page_claims.PageClaims.__init__",
        "monitoring.crawl_log.CrawlLog.begin",
    ],
)
def test_an_unexpected_error_at_the_start_closes_the_spider(tmp_path, method, loop):
    job = tmp_path / "job"
    with serving({"/": "page"}) as site:
        crawl = run_crawl(
            [site.url()],
            {
                "JOBDIR": str(job),
                "EXTENSIONS": {"tests.support.crawl.Unstartable": 1},
                "UNSTARTABLE": f"scrapy_neardup.crawl.{method}",
                "FEEDS": {f"{tmp_path}/items.jsonl": {"format": "jsonlines"}},
            },
            loop=loop,
        )
        assert site.hits == {}
    errors = [text for _, level, text in crawl.log if level in ("ERROR", "CRITICAL")]
    said = "Cannot start the crawl: no start today ZeroDivisionError('no start today')"
    assert errors == [said]
    phase = "store" if "feeds" in method else "start"
    assert crawl.stats["finish_reason"] == f"neardup_{phase}"
    # Another run can have the job, and is told of what this one left.
    assert Job(job).begin()
    assert Job(job).ended_uncleanly
