"""Records of a crawl about the copies that it drops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup.stores import open_reader
from scrapy_neardup.stores.better_urls import BetterUrl
from tests.crawl.test_crawl_containment import InTurn, slowly
from tests.crawl.test_crawl_files import PIPELINE, answer
from tests.support.crawl import LOOPS, Crawl, run_crawl
from tests.support.processes import wait_for
from tests.support.reports import data_of, neardup
from tests.support.server import Answer, Site, serving
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, page

ROOT = Path(__file__).parents[2]
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1}
FIELDS = {"cluster": "cluster", "original": "of", "canonical": "best", "copies": "n"}


def declaring(url: str, text: str = FERRY) -> str:
    return page(text, "Ferry").replace("<title>", f'<link rel="canonical" href="{url}"><title>')


PAGES = {
    "/print/ferry": declaring("/ferry"),
    "/museum?session_id=1": page(MUSEUM, "Museum"),
    "/ferry?ref=x": declaring("/ferry?ref=x"),
    "/museum": page(MUSEUM, "Museum", links="/away"),
    "/ferry": declaring("/ferry"),
    "/short": page("too short", "Short"),
}


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, each of which must be whole."""
    text = path.read_text("utf-8")
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def crawled(site: Site, path: Path | str, *paths: str, **settings: Any) -> Crawl:
    """Visit a page when the items of the one before are stored."""
    urls = [site.url(path) for path in paths or PAGES]
    settings = {"NEARDUP_COPIES": str(path), **settings}
    loop, spider = settings.pop("loop", "reactor"), f"{InTurn.__module__}.InTurn"
    return run_crawl(urls, settings, loop=loop, spider=spider, follow=settings.pop("follow", False))


@pytest.mark.parametrize("loop", [LOOPS[0], *slowly(*LOOPS[1:])])
def test_what_is_dropped_is_written_with_the_best_url_of_its_content(tmp_path, loop):
    path = tmp_path / "new folder" / "crawl.jsonl"
    place = path.with_name("%(name)s.jsonl")
    with serving(PAGES) as site:
        crawl = crawled(
            site,
            place,
            NEARDUP_ITEM_FIELDS=FIELDS,
            NEARDUP_LINKS="skip",
            NEARDUP_REPORT=str(tmp_path / "report.html"),
            loop=loop,
            follow=True,
        )
        url = site.url
        told = [
            (line["what"], line["url"], line["duplicate_of"], line["reason"])
            for line in lines(path)
        ]
        ferry, museum = url("/print/ferry"), url("/museum?session_id=1")
        assert told == [
            # The other one declares itself as well, and has a parameter.
            ("address", url("/ferry"), ferry, "declared"),
            ("item", url("/ferry?ref=x"), ferry, "same_text"),
            ("address", url("/museum"), museum, "preferred"),
            ("link", url("/away"), None, "links_skipped"),
            ("item", url("/museum"), museum, "same_text"),
            ("item", url("/ferry"), ferry, "same_page"),
        ]
        last = lines(path)[-1]
        stored = {item["path"]: item for item in crawl.items}
        # The file is one of verdicts, too.
        assert last.pop("time") == pytest.approx(time.time(), abs=60)
        cluster = stored["print/ferry"]["cluster"]
        assert last == {
            "what": "item",
            "url": url("/ferry"),
            "duplicate_of": ferry,
            "verdict": "duplicate",
            "reason": "same_page",
            "distance": 0,
            "similarity": 1.0,
            "canonical": url("/ferry"),
            "is_declared": True,
            "cluster": cluster,
            "copies": 2,
            "site": "127.0.0.1",
            "spider": "crawl",
        }
        assert stored["print/ferry"]["best"] == url("/ferry")
        assert stored["print/ferry"]["of"] == ferry
        report = data_of(tmp_path / "report.html")
        better = {report["addresses"][int(at)]: best for at, best in report["better"].items()}
        assert better == {ferry: url("/ferry"), museum: url("/museum")}
        assert stored["museum?session_id=1"]["best"] == museum
        assert stored["short"]["of"] == stored["short"]["best"] == url("/short")
    assert len({item["cluster"] for item in crawl.items}) == len(crawl.items) == 3
    assert {item["n"] for item in crawl.items} == {0}
    assert crawl.counts("copies/") == {"item": 3, "address": 2, "link": 1, "better_urls": 2}
    assert crawl.counts("item_fields/") == {"set": 3}
    assert crawl.logged("WARNING") == []


def test_tagged_copies_have_the_fields_and_no_line(tmp_path):
    path = tmp_path / "copies.jsonl"
    with serving(PAGES) as site:
        crawl = crawled(site, path, NEARDUP_ITEM_FIELDS=FIELDS, NEARDUP_ACTION="tag")
    assert [item["n"] for item in crawl.items if "ferry" in item["path"]] == [0, 1, 2]
    assert len({item["cluster"] for item in crawl.items}) == 3
    assert {line["what"] for line in lines(path)} == {"address"}


def test_items_that_are_judged_by_a_field_are_written(tmp_path):
    path = tmp_path / "copies.jsonl"
    with serving({"/1": page(FERRY)}) as site:
        url = site.url("/1")
        settings = {
            "NEARDUP_COPIES": str(path),
            "NEARDUP_ITEM_FIELD": "text",
            "NEARDUP_ITEM_FIELDS": {"cluster": "cluster"},
        }
        crawl = run_crawl([url], settings, items_per_page=3, texts=[TEA, FERRY, TEA])
    [line] = lines(path)
    assert (line["url"], line["duplicate_of"]) == (f"{url}#item-3", f"{url}#item-1")
    assert line["canonical"] == url
    assert line["cluster"] == crawl.items[0]["cluster"] != crawl.items[1]["cluster"]


def test_next_run_appends_and_names_the_originals_of_refused_requests(tmp_path):
    path = tmp_path / "copies.jsonl"
    store = f"sqlite:///{tmp_path}/pages.sqlite"
    settings = {
        "NEARDUP_STORE": store,
        "NEARDUP_DUPLICATE_URL_TTL": 3600,
        "NEARDUP_URL_RULES_SAMPLE_RATE": 0,
    }
    paths = ["/a", "/b", "/c"]
    with serving(dict.fromkeys(paths, page(FERRY, "Ferry"))) as site:
        first = crawled(site, path, *paths, **settings)
        with path.open("ab") as file:
            # As a power failure leaves it.
            file.write(b'{"what"')
        second = crawled(site, path, *paths, **settings, NEARDUP_REVISIT="drop")
        url = site.url
    assert first.counts("copies/") == {"item": 2}
    [warning] = second.logged("WARNING")
    assert warning.startswith(f"The last line of {path} is incomplete")
    written = [json.loads(line) for line in path.read_text().replace('{"what"\n', "").splitlines()]
    told = [(line["what"], line["reason"], line["url"], line["duplicate_of"]) for line in written]
    assert told[2:] == [
        ("item", "unchanged", url("/a"), None),
        ("request", "known_copy", url("/b"), url("/a")),
        ("request", "known_copy", url("/c"), url("/a")),
    ]
    # The second run knows what the first one has met.
    assert [line["copies"] for line in written] == [1, 2, 2, 2, 2]


@pytest.mark.parametrize("kind", ["redirect", *slowly("gone")])
def test_declared_url_at_which_there_is_no_such_page_is_not_the_best(tmp_path, kind):
    path, tea = tmp_path / "copies.jsonl", page(TEA, "Tea")
    moved = Answer(b"", status=301, headers={"Location": "/tea"})
    pages: dict[str, Answer | str] = {
        "/print/ferry": declaring("/ferry"),
        "/ferry?ref=x": declaring("/ferry"),
        "/ferry": Answer(b"gone", status=410) if kind == "gone" else moved,
        "/tea": tea,
        "/mobile/ferry": declaring("/ferry"),
    }
    with serving(pages) as site:
        crawled(site, path, *pages, HTTPERROR_ALLOW_ALL=False)
        best = [(line["canonical"], line["is_declared"]) for line in lines(path)]
        # The one that declares it was met first, and then the only other ones that show it.
        assert best[0] == (site.url("/ferry"), True)
        assert best[-1][0] != site.url("/ferry")
        assert not best[-1][1]


@pytest.mark.parametrize("kind", ["sqlite", *slowly("redis")])
def test_the_store_keeps_best_urls_until_their_pages_show_something_else(tmp_path, request, kind):
    store = f"sqlite:///{tmp_path}/pages.sqlite"
    if kind == "redis":
        store = request.getfixturevalue("redis_server").address
    settings = {"NEARDUP_STORE": store, "NEARDUP_COPIES": None, "NEARDUP_ITEM_FIELDS": FIELDS}
    originals = ["/print/ferry", "/museum?session_id=1"]

    def kept() -> dict[str, BetterUrl]:
        with closing(open_reader(store)) as reader:
            return reader.better_urls("crawl")

    with serving(PAGES) as site:
        ferry, museum = map(site.url, originals)
        best = {
            ferry: BetterUrl(site.url("/ferry"), True),
            museum: BetterUrl(site.url("/museum"), False),
        }
        crawled(site, "", **settings)
        assert kept() == best
        done = neardup("report", store, "-o", tmp_path / "report.html")
        assert done.returncode == 0, done.stderr
        report = data_of(tmp_path / "report.html")
        shown = {report["addresses"][int(at)]: url for at, url in report["better"].items()}
        assert shown == {original: better.url for original, better in best.items()}
        # The next run meets no copy, and knows the best URLs all the same.
        second = crawled(site, "", *originals, **settings)
        assert {item["best"] for item in second.items} == {url for url, _ in best.values()}
        assert kept() == best
        # The best URL of the one and the original of the other show contents of their own.
        changed = {"/museum": page(TEA, "Tea"), "/print/ferry": page(BRIDGE, "Bridge")}
        site.pages = {**PAGES, **changed}
        crawled(site, "", *changed, **settings)
        assert kept() == {}


def test_equal_files_are_written(tmp_path):
    path = tmp_path / "copies.jsonl"
    with serving({"/1.bin": answer(b"same"), "/2.bin": answer(b"same")}) as site:
        urls = [site.url("/1.bin"), site.url("/2.bin")]
        run_crawl(
            ["data:text/html,list"],
            {
                **ONE_BY_ONE,
                "ITEM_PIPELINES": {PIPELINE: 300},
                "FILES_STORE": str(tmp_path / "files"),
                "NEARDUP_COPIES": str(path),
            },
            start_items=[{"path": url, "file_urls": [url], "files": []} for url in urls],
            spider="tests.support.file_pipelines.FilesSpider",
        )
    [line] = lines(path)
    assert {line["url"], line["duplicate_of"]} == set(urls)
    assert line["what"] == "file"
    assert (tmp_path / "files" / line["path"]).read_bytes() == b"same"


# --- files that cannot be written -------------------------------------------------------


@pytest.mark.parametrize("kind", ["pipe", *slowly("folder", "below a file")])
def test_unwritable_file_is_logged_at_the_start_and_changes_nothing(tmp_path, kind):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / ("file/copies.jsonl" if kind == "below a file" else kind)
    with serving(PAGES) as site:
        crawl = crawled(site, path)
    assert crawl.stored == ["museum?session_id=1", "print/ferry", "short"]
    [said] = crawl.logged("WARNING")
    assert said.startswith(f"Cannot write the copies to {path}: ")
    order = [text for _, _, text in crawl.log]
    assert order.index(said) < next(n for n, text in enumerate(order) if "Crawled (200)" in text)
    assert crawl.counts("copies/") == {"not_written": 5, "better_urls": 2}
    assert crawl.errors == 0


def test_full_disk_is_logged_once_and_leaves_whole_lines(tmp_path):
    path = tmp_path / "copies.jsonl"
    pages = {f"/{number}": page(FERRY, "Ferry") for number in range(30)}
    pages["/last"] = page(MUSEUM, "Museum")
    with serving(pages) as site:
        crawl = crawled(
            site,
            path,
            *pages,
            # No file may become larger between the first item and the last.
            ITEM_PIPELINES={"tests.support.killing.Limiting": 500},
            LIMITS={1: 5000, 2: None},
        )
    assert crawl.stored == ["0", "last"]
    counts = crawl.counts("copies/")
    assert counts["item"] == len(lines(path)) > 5
    assert counts["item"] + counts["not_written"] == 29
    # 30 pages with one text are a wall as well, of which another line warns.
    said = [line for line in crawl.logged("WARNING") if str(path) in line]
    assert [line.split(": ")[0] for line in said] == [f"Cannot write the copies to {path}"]


SCRIPT = """
import sys

import scrapy
from scrapy.crawler import AsyncCrawlerProcess


class Spider(scrapy.Spider):
    custom_settings = {"NEARDUP_STORE": "memory"}

    def parse(self, response):
        yield {"url": response.url}


class One(Spider):
    name = "one"


class Two(Spider):
    name = "two"


if __name__ == "__main__":
    path, *urls = sys.argv[1:]
    process = AsyncCrawlerProcess({
        "ADDONS": {"scrapy_neardup.Addon": 500},
        "NEARDUP_WORKERS": 0,
        "NEARDUP_COPIES": path,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
        "DOWNLOAD_DELAY": 0,
    })
    for spider in One, Two:
        process.crawl(spider, start_urls=urls)
    process.start()
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_killed", [False, True])
def test_crawls_of_several_processes_write_whole_lines_to_one_file(tmp_path, is_killed):
    path = tmp_path / "copies.jsonl"
    (tmp_path / "two.py").write_text(SCRIPT)
    text = page(FERRY, "Ferry")
    pages = {f"/{number}?{'x' * 100}": text for number in range(200)}
    with serving(pages) as site:
        command = [sys.executable, "two.py", str(path), *map(site.url, pages)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        crawls = [subprocess.Popen(command, cwd=tmp_path, env=environment) for _ in range(2)]
        if is_killed:
            wait_for(lambda: path.exists() and path.stat().st_size > 20_000)
            for crawl in crawls:
                crawl.send_signal(signal.SIGKILL)
        codes = [crawl.wait(60) for crawl in crawls]
    written = lines(path)
    assert {line["spider"] for line in written} == {"one", "two"}
    if is_killed:
        assert codes == [-signal.SIGKILL] * 2
        assert len(written) >= 25
    else:
        assert sum(line["what"] == "item" for line in written) == 2 * 2 * 199
