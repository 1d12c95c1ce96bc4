"""Errors that end a crawl before it starts: one log line, and an exit status other than 0."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapy_neardup.crawl.durability.job import Job
from scrapy_neardup.exceptions import InvalidOption
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
TWO_CRAWLS = """
import json
import sys

import scrapy
from scrapy import crawler


class Spider(scrapy.Spider):
    name = "pages"
    start_urls = ["data:text/html,page"]
    custom_settings = {
        "ADDONS": {"scrapy_neardup.Addon": 500},
        "NEARDUP_WORKERS": 0,
        "JOBDIR": "job",
        "TELNETCONSOLE_ENABLED": False,
    }

    def parse(self, response):
        yield {"page": response.text}
        if response.text == "page":
            for number in range(40):
                yield scrapy.Request(f"data:text/html,{number}")


class Other(Spider):
    name = "other"


process = getattr(crawler, sys.argv[1])({"LOG_LEVEL": "WARNING"})
crawlers = [process.create_crawler(globals()[name]) for name in sys.argv[2:]]
for each in crawlers:
    process.crawl(each)
process.start()
names = "finish_reason", "item_scraped_count"
print(json.dumps([[each.stats.get_value(name) for name in names] for each in crawlers]))
"""
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
    # Another run can have the job, and is told of one that had begun.
    Job(job).claim()
    assert Job(job).ended_uncleanly == (phase == "start")


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["AsyncCrawlerProcess", "CrawlerProcess"])
@pytest.mark.parametrize("other", ["Spider", "Other"])
def test_a_job_that_a_spider_of_the_process_runs_is_refused(tmp_path, launcher, other):
    (tmp_path / "two.py").write_text(TWO_CRAWLS)

    def outcome(*spiders: str) -> list[str]:
        command = [sys.executable, "two.py", launcher, *spiders]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        )
        return [*done.stderr.splitlines(), done.stdout.strip()]

    # One queue for both would never be empty for either of them.
    [error, told] = outcome("Spider", other)
    assert "Cannot start the crawl: JOBDIR is 'job', but it must be a folder that no other" in error
    assert "another spider of this process, runs the job" in error
    assert json.loads(told) == [["finished", 41], [None, None]]
    # The first one ended cleanly; only the start request is made again.
    assert outcome("Spider") == ['[["finished", 1]]']


def test_a_job_is_given_up_when_its_crawl_ends(tmp_path):
    first, second = Job(tmp_path), Job(tmp_path)
    first.begin()
    with pytest.raises(InvalidOption, match=r"^JOBDIR is '.*', but it must be a folder that no"):
        second.claim()
    first.end(is_clean=False)
    second.claim()
    # It did not begin, and leaves what the first one says.
    second.end()
    assert first.ended_uncleanly
    second.begin()
    second.end()
    assert not first.ended_uncleanly
