"""Real crawls: which pages are recorded, when, and for how long."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from typing import Any

import pytest

from tests.support.crawl import LOOPS, Crawl, run_crawl
from tests.support.processes import linux
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, TEA, page

FAILING: dict[str, Any] = {
    "ITEM_PIPELINES": {"tests.support.crawl.Replacing": 400, "tests.support.crawl.Failing": 500},
    "FAIL_AFTER": 0.2,
}
COPIES = {f"/{n}": page(FERRY, frame=str(n)) for n in range(4)} | {"/other": page(MUSEUM)}


def crawled(pages: dict[str, Any], settings: dict[str, Any], **how: Any) -> Crawl:
    """A crawl of all pages, which are answered together."""
    with serving(pages, together=len(pages)) as site:
        return run_crawl(list(map(site.url, pages)), settings, **how)


# --- a page counts as seen when it is stored -----------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("failing", [1, 3, 4])
@pytest.mark.parametrize("how", ["drop", "raise"])
def test_when_copies_fail_another_is_stored(loop, failing, how):
    # All are in flight at once, so whichever comes first fails, unless it is one that does not.
    fail = {str(n): how for n in range(failing)}
    crawl = crawled(COPIES, {**FAILING, "FAIL_PATHS": fail}, loop=loop)
    kept = [path for path in crawl.stored if path != "other"]
    assert len(kept) == min(1, 4 - failing)
    assert not set(kept) & set(fail)
    assert "other" in crawl.stored


@pytest.mark.parametrize("loop", LOOPS)
def test_when_a_pipeline_before_ours_fails_another_copy_is_stored(loop):
    settings = {
        "ITEM_PIPELINES": {"tests.support.crawl.Failing": 50}, "FAIL_AFTER": 0.2,
        "FAIL_PATHS": {"0": "drop", "1": "raise"},
    }  # fmt: skip
    crawl = crawled(COPIES, settings, loop=loop)
    assert len(crawl.stored) == 2
    assert not {"0", "1"} & set(crawl.stored)


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("order", [50, 500])
def test_items_judged_by_their_field_are_claimed_each_by_itself(loop, order):
    settings = {
        "ITEM_PIPELINES": {"tests.support.crawl.Failing": order}, "FAIL_AFTER": 0.2,
        "FAIL_PATHS": {"0": "drop", "1": "raise"}, "NEARDUP_ITEM_FIELD": "text",
    }  # fmt: skip
    crawl = crawled(COPIES, settings, loop=loop, texts=[FERRY, TEA], items_per_page=2)
    # Of two items a page each content is stored once, from a page on which storing does not fail.
    assert sorted(item["text"] for item in crawl.items) == sorted([FERRY, TEA])
    assert not {"0", "1"} & set(crawl.stored)


def test_items_replaced_by_an_earlier_pipeline_block_no_page():
    settings = {
        "ITEM_PIPELINES": {"tests.support.crawl.Replacing": 50},
        "NEARDUP_ITEM_FIELD": "text",
    }
    crawl = crawled(COPIES, settings, texts=[FERRY, TEA], items_per_page=2)
    assert len(crawl.items) == 10
    assert crawl.counts("items/") == {"unjudged": 10, "kept": 10}
    assert "waited" not in crawl.counts("undecided/")


def test_of_several_items_one_that_is_stored_is_enough():
    settings = {**FAILING, "CONCURRENT_REQUESTS": 1, "FAIL_PATHS": {"0": "drop"}}
    with serving(COPIES) as site:
        crawl = run_crawl([site.url("/0"), site.url("/1")], settings, items_per_page=3)
    assert crawl.stored == ["1"] * 3


def test_a_callback_that_fails_after_its_items_were_stored_has_stored_them():
    with serving({"/": page(FERRY), "/fail-late": page(FERRY, frame="x")}) as site:
        crawl = run_crawl([site.url("/fail-late"), site.url("/")], {"CONCURRENT_REQUESTS": 1})
    assert crawl.stored == ["fail-late"]


def test_a_callback_that_fails_after_a_link_has_stored_nothing():
    pages = {"/fail-link": page(FERRY), "/": page(FERRY, frame="x")}
    with serving(pages) as site:
        crawl = run_crawl([site.url("/fail-link"), site.url("/")], {"CONCURRENT_REQUESTS": 1})
    # The page behind the link, which is not there, is stored as well.
    assert crawl.stored == ["", "nowhere"]


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("by", ["page", "item"])
def test_where_another_component_takes_the_items_away_a_copy_is_stored(loop, by):
    settings = {
        "SPIDER_MIDDLEWARES": {"tests.support.crawl.DuplicateFloodDetector": 50},
        "NEARDUP_ITEM_FIELD": "text" if by == "item" else None,
    }
    pages = {"/swallowed": page(FERRY), "/1": page(FERRY, frame="1")}
    texts = [FERRY] if by == "item" else None
    with serving(pages, together=2) as site:
        urls = [site.url("/swallowed"), site.url("/1")]
        crawl = run_crawl(urls, settings, loop=loop, texts=texts, seconds=40)
    assert crawl.stored == ["1"]
    assert crawl.counts("undecided/") == {}


@pytest.mark.slow
def test_page_that_waits_too_long_is_kept():
    settings = {**FAILING, "FAIL_AFTER": 4, "NEARDUP_MAX_WAIT": "0.5"}
    crawl = crawled(COPIES, settings)
    assert len(crawl.stored) == 5
    assert crawl.counts("undecided/") == {"waited": 3}
    assert len(crawl.logged("WARNING")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("concurrency", [1, 2, 16])
@pytest.mark.parametrize("items", [1, 8])
def test_no_concurrency_setting_deadlocks(concurrency, items):
    settings = {
        **FAILING, "FAIL_AFTER": 0, "FAIL_PATHS": {"0": "drop", "2": "raise"},
        "CONCURRENT_ITEMS": concurrency, "CONCURRENT_REQUESTS": concurrency,
        "NEARDUP_ITEM_FIELD": "text", "NEARDUP_MAX_WAIT": 600,
    }  # fmt: skip
    texts = [FERRY, TEA, MUSEUM, FERRY, TEA, MUSEUM, FERRY, TEA][:items]
    with serving(COPIES) as site:
        urls = [site.url(path) for path in COPIES]
        crawl = run_crawl(urls, settings, texts=texts, items_per_page=items, seconds=60)
    assert sorted(item["text"] for item in crawl.items) == sorted(set(texts))


# --- the same address again -----------------------------------------------------------------


@pytest.mark.slow
def test_an_unchanged_page_is_stored_again_or_dropped(tmp_path):
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}"}
    pages = {"/same": page(FERRY), "/new": page(MUSEUM)}
    stored = []
    with serving(pages) as site:
        for settings in (store, store, {**store, "NEARDUP_REVISIT": "drop"}):
            crawl = run_crawl([site.url("/same"), site.url("/new")], settings)
            stored.append(crawl.stored)
            site.pages = {**pages, "/new": page(TEA)}
        assert stored == [["new", "same"], ["new", "same"], []]
        assert crawl.counts() == {
            "responses": 2, "pages/revisit": 2, "revisits/unchanged": 2, "items/dropped": 2,
            "unchanged_bodies": 2,
            "bytes/judged": len((page(FERRY) + page(TEA)).encode()),
        }  # fmt: skip
        assert crawl.stats["item_dropped_reasons_count/UnchangedPage"] == 2
        site.pages = {**pages, "/new": page(FERRY, frame="x")}
        crawl = run_crawl(
            [site.url("/same"), site.url("/new")], {**store, "NEARDUP_REVISIT": "drop"}
        )
    # What has changed is stored, even into what another page says.
    assert crawl.stored == ["new"]


# --- from crawl to crawl --------------------------------------------------------------------


def test_a_job_has_a_store_of_its_own_which_nobody_else_can_read(tmp_path):
    job = {"JOBDIR": str(tmp_path / "job")}
    with serving(COPIES) as site:
        first = run_crawl([site.url("/0")], job)
        second = run_crawl([site.url("/1"), site.url("/other")], job)
    assert (first.stored, second.stored) == (["0"], ["other"])
    file = tmp_path / "job" / "neardup.sqlite"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert any("1 pages known" in line for line in second.logged("INFO"))
    assert second.logged("WARNING") == []


def test_spiders_share_a_store_only_by_a_name(tmp_path):
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}"}
    with serving(COPIES) as site:
        for arguments, settings, stored in (
            ({"name": "first"}, {}, ["0"]),
            ({"name": "second"}, {}, ["0"]),
            ({"name": "first"}, {"NEARDUP_NAMESPACE": "all"}, ["0"]),
            ({"name": "second"}, {"NEARDUP_NAMESPACE": "all"}, []),
        ):
            path = "/0" if stored else "/1"
            crawl = run_crawl([site.url(path)], {**store, **settings}, arguments=arguments)
            assert crawl.stored == stored


TWO_SPIDERS = """
import json, sys
from scrapy import Spider
from scrapy import crawler

kind, settings, urls = json.loads(sys.argv[1])

class Pages(Spider):
    def parse(self, response):
        yield {"url": response.url}

process = getattr(crawler, kind)({
    "ADDONS": {"scrapy_neardup.Addon": 500}, "NEARDUP_WORKERS": 0, "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False, **settings,
})
crawlers = []
for name, url in zip(["first", "second"], urls):
    spider = type(name, (Pages,), {"name": name, "start_urls": [url]})
    crawlers.append(process.create_crawler(spider))
    process.crawl(crawlers[-1])
process.start()
print([crawler.stats.get_value("item_scraped_count", 0) for crawler in crawlers])
"""


@pytest.mark.slow
@pytest.mark.parametrize("store", ["memory", "file"])
@pytest.mark.parametrize(
    ("namespace", "stored", "process"),
    [(None, 2, "AsyncCrawlerProcess"), ("shared", 1, "AsyncCrawlerProcess"),
     ("shared", 1, "CrawlerProcess")],
)  # fmt: skip
def test_two_spiders_of_one_process_share_a_memory_by_its_name(
    tmp_path, store, namespace, stored, process
):
    settings = {"NEARDUP_NAMESPACE": namespace}
    if store == "file":
        settings["NEARDUP_STORE"] = f"sqlite:///{tmp_path / 'pages.sqlite'}"
    with serving(COPIES, together=2) as site:
        plan = json.dumps([process, settings, [site.url("/0"), site.url("/1")]])
        done = subprocess.run(
            [sys.executable, "-c", TWO_SPIDERS, plan],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
    assert sum(json.loads(done.stdout)) == stored


def test_old_pages_expire(tmp_path):
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}", "NEARDUP_TTL": "0.001"}
    with serving(COPIES) as site:
        for path in ("/0", "/1"):
            assert run_crawl([site.url(path)], store).stored == [path[1:]]


def test_a_store_of_pages_that_were_signed_in_another_way_is_refused(tmp_path):
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}"}
    with serving(COPIES) as site:
        run_crawl([site.url("/0")], store)
        crawl = run_crawl([site.url("/1")], {**store, "NEARDUP_TOKENIZER": "pairs"})
        assert site.hits["/1"] == 0
    [error] = crawl.logged("ERROR")
    assert error.startswith("Cannot start the crawl: the store was made with tokenizer jieba-2-")
    assert crawl.stats["finish_reason"] == "neardup_store"


@pytest.mark.parametrize("content", [b"this is no store", b""])
def test_invalid_store_is_refused(tmp_path, content):
    (tmp_path / "folder").mkdir()
    file = tmp_path / "pages.sqlite"
    file.write_bytes(content)
    address = f"sqlite:///{file}" if content else f"sqlite:///{tmp_path}/absent/pages.sqlite"
    with serving(COPIES) as site:
        crawl = run_crawl([site.url("/1")], {"NEARDUP_STORE": address})
        assert site.hits["/1"] == 0
    [error] = crawl.logged("ERROR")
    assert address in error
    assert crawl.stats["finish_reason"] == "neardup_store"


def test_store_opened_by_another_crawl_is_refused(tmp_path):
    from filelock import FileLock

    file = tmp_path / "pages.sqlite"
    with serving(COPIES) as site, FileLock(f"{file}.lock"):
        crawl = run_crawl([site.url("/1")], {"NEARDUP_STORE": f"sqlite:///{file}"})
    [error] = crawl.logged("ERROR")
    assert "another process has it open" in error


@pytest.mark.slow
@pytest.mark.parametrize("command", [["shell", "-c", "response.text"], ["fetch"]])
def test_inspection_commands_need_no_store(tmp_path, command):
    store = f"NEARDUP_STORE=sqlite:///{tmp_path / 'pages.sqlite'}"
    with serving(COPIES) as site:
        done = subprocess.run(
            [
                sys.executable, "-m", "scrapy", command[0], site.url("/other"), *command[1:],
                "-s", 'ADDONS={"scrapy_neardup.Addon": 500}', "-s", store,
                "-s", "TELNETCONSOLE_ENABLED=False", "-s", "REMOTE_CONTROL_ENABLED=False",
            ],
            capture_output=True, text=True, check=True, timeout=120, cwd=tmp_path,
        )  # fmt: skip
    assert MUSEUM[:40] in done.stdout
    assert "Pages are not judged in scrapy shell, fetch, view and parse" in done.stderr
    assert "ERROR" not in done.stderr
    assert "WARNING" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_lost_requests_cause_a_warning_and_are_recovered_if_configured(tmp_path):
    job = tmp_path / "job"
    settings = {"JOBDIR": str(job)}
    with serving(COPIES) as site:
        assert run_crawl([site.url("/0")], settings).stored == ["0"]
        # As a kill leaves it: Scrapy did not come to write what is still to be fetched.
        (job / "requests.queue" / "active.json").unlink()
        again = run_crawl([site.url("/0"), site.url("/other")], settings)
        assert again.stored == ["other"]
        assert any("NEARDUP_RECOVER" in line for line in again.logged("WARNING"))
        (job / "requests.queue" / "active.json").unlink()
        urls = [site.url(path) for path in ("/0", "/other", "/1")]
        site.pages = {**COPIES, "/1": page(TEA)}
        recovered = run_crawl(urls, {**settings, "NEARDUP_RECOVER": "True"})
        assert site.hits == {"/0": 2, "/other": 2, "/1": 1}
    assert recovered.stored == ["1"]
    [aside] = job.glob("unclean-*")
    assert (aside / "requests.seen").exists()
    calm = run_crawl([], settings)
    assert calm.logged("WARNING") == []


# --- feeds on a disk ----------------------------------------------------------------------


@pytest.mark.slow
@linux
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    ("name", "how", "files"),
    [
        ("items.jsonl", {}, 1),
        ("%(batch_id)d.jsonl", {"batch_item_count": 1}, 2),
        ("items.gz", {"postprocessing": ["scrapy.extensions.postprocessing.GzipPlugin"]}, 1),
    ],
    ids=["plain", "in parts", "packed"],
)
def test_pages_not_written_at_the_end_are_stored_again(tmp_path, loop, name, how, files):
    feed = {str(tmp_path / name): {"format": "jsonlines", **how}}
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/pages.sqlite", "FEEDS": feed}
    settings |= {"EXTENSIONS": {"tests.support.crawl.Disk": 0}}
    broken = crawled(COPIES, {**settings, "DISK_BREAKS": True}, loop=loop)
    assert len(broken.stored) == 2
    assert "its pages stay unconfirmed" in broken.logged("WARNING")[0]
    whole = crawled(COPIES, settings, loop=loop)
    assert len(whole.stored) == 2
    assert any("2 pages are forgotten" in line for line in whole.logged("WARNING"))
    synchronised = whole.logged("INFO", "disk")
    assert len({path for path in synchronised if path.startswith(str(tmp_path))}) == files
    again = crawled(COPIES, settings, loop=loop)
    assert again.stored == []
    assert not again.logged("WARNING")


# --- several crawls in one process ----------------------------------------------------------

_ONE_AFTER_THE_OTHER = """
import asyncio, gc, weakref, scrapy, sys
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy_neardup import NearDupJudge

class Quiet(scrapy.Spider):
    name = "quiet"
    start_urls = ["data:text/html,<p>hello"]
    def parse(self, response):
        yield {"path": response.url}

async def crawled():
    crawler = Crawler(Quiet, Settings(settings))
    kept = []
    def closed():
        judge = crawler.get_extension(NearDupJudge)
        kept.extend(map(weakref.ref, (crawler, judge, judge.detector.store)))
    crawler.signals.connect(closed, scrapy.signals.spider_closed)
    await crawler.crawl_async()
    return kept

settings = {
    "ADDONS": {"scrapy_neardup.Addon": 500}, "TWISTED_REACTOR_ENABLED": False,
    "LOG_ENABLED": False, "NEARDUP_WORKERS": 0, "NEARDUP_STORE": sys.argv[1],
    "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False,
}
kept = [ref for _ in range(2) for ref in asyncio.run(crawled())]
gc.collect()
print(len(kept), [type(ref()).__name__ for ref in kept if ref() is not None])
"""


@pytest.mark.slow
@pytest.mark.skipif("no reactor" not in LOOPS, reason="needs Scrapy 2.15")
@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_ended_crawl_keeps_no_memory(tmp_path, store):
    address = f"sqlite:///{tmp_path}/pages.sqlite" if store == "sqlite" else store
    program = [sys.executable, "-c", _ONE_AFTER_THE_OTHER, address]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "6 []\n", done.stderr
