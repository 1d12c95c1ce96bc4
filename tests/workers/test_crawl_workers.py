"""Real crawls whose pages are read in worker processes."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import Response

from tests.support import warm
from tests.support.crawl import LOOPS, CrawlSpider, run_crawl
from tests.support.processes import (
    children_of,
    linux,
    nobody_outlives,
    send_signal,
    wait_for,
    workers_of,
)
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, TEA, article, page

ROOT = Path(__file__).parents[2]
WORKERS = {"NEARDUP_WORKERS": 2}
TOUCHY = {**WORKERS, "NEARDUP_TOKENIZER": "tests.support.parts.touchy"}


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
def test_workers_and_no_workers_store_the_same(loop):
    texts = [" ".join(article(seed=n)) for n in range(30)]
    pages: dict[str, Answer | str] = {
        f"/{n}": page(text, title=f"t{n}") for n, text in enumerate(texts)
    }
    pages |= {f"/{n}/copy": page(texts[n], title=f"again: t{n}") for n in range(0, 30, 3)}
    pages |= {f"/{n}?session={s}": pages[f"/{n}"] for n in range(5) for s in "ab"}
    pages["/plain"] = Answer(FERRY, "text/plain")
    with serving(pages) as site:
        urls = list(map(site.url, pages))
        with_workers = run_crawl(urls, {**WORKERS, "CONCURRENT_REQUESTS": 1}, loop=loop)
        inline = run_crawl(urls, {"CONCURRENT_REQUESTS": 1}, loop=loop)
    assert with_workers.stored == inline.stored
    assert len(with_workers.stored) == 31
    assert with_workers.counts() == inline.counts()
    assert with_workers.counts()["equal_bodies"] == 10


class ProcessCountingSpider(CrawlSpider):
    """Its items say how many child processes the crawl had when their page was parsed."""

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "processes": len(children_of(os.getpid()))}


@linux
def test_a_later_crawl_starts_workers_for_the_first_page_that_is_read(tmp_path):
    settings = {
        "NEARDUP_WORKERS": 1, "NEARDUP_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}",
        "CONCURRENT_REQUESTS": 1,
    }  # fmt: skip
    spider = f"{__name__}.{ProcessCountingSpider.__name__}"
    with serving({"/1": page(FERRY), "/2": page(MUSEUM), "/new": page(TEA)}) as site:
        known, new = [site.url("/1"), site.url("/2")], site.url("/new")
        run_crawl(known, settings, spider=spider)
        later = run_crawl([*known, new], settings, spider=spider)
    assert later.counts("pages/") == {"revisit": 2, "new": 1}
    assert [item["processes"] for item in later.items] == [0, 0, 1]


@pytest.mark.slow
def test_equal_bodies_in_flight_are_read_once_and_stored_once():
    text = page(FERRY)
    pages = {f"/?session={n}": text for n in range(8)}
    with serving(pages, together=8) as site:
        crawl = run_crawl(list(map(site.url, pages)), TOUCHY)
    assert len(crawl.stored) == 1
    assert crawl.counts() == {
        "responses": 8,
        "pages/new": 1,
        "pages/duplicate": 7,
        "items/kept": 1,
        "items/dropped": 7,
        "bytes/judged": 8 * len(text.encode()),
        "bytes/duplicate": 7 * len(text.encode()),
        "equal_bodies": 7,
    }


@pytest.mark.slow
def test_equal_bytes_in_two_encodings_are_two_pages():
    body = page(TEA).encode("gbk")
    pages = {
        "/gbk": Answer(body, "text/html; charset=gbk"),
        "/big5": Answer(body, "text/html; charset=koi8-r"),
    }
    with serving(pages) as site:
        crawl = run_crawl(list(map(site.url, pages)), WORKERS)
    assert "equal_bodies" not in crawl.counts()


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
def test_harmful_page_is_kept_and_the_rest_is_judged(tmp_path, loop):
    hang = f"hang {tmp_path / 'marker'}"
    bad = {"kill": "kill me", "hang": hang, "raise": "raise an error", "hoard": "hoard it"}
    pages = {f"/{name}": page(text) for name, text in bad.items()}
    pages |= {f"/{name}/2": page(f"{text} ") for name, text in bad.items() if name != "hang"}
    pages |= {"/ferry": page(FERRY), "/ferry2": page(FERRY, frame="x"), "/museum": page(MUSEUM)}
    settings = {**TOUCHY, "NEARDUP_PAGE_TIMEOUT": "3", "NEARDUP_EXTRACTOR": "visible"}
    with serving(pages) as site:
        crawl = run_crawl(list(map(site.url, pages)), settings, loop=loop)
    assert crawl.counts("undecided/") == {
        "worker_died": 2,
        "timeout": 1,
        "failed": 2,
        "out_of_memory": 2,
    }
    assert crawl.counts("pages/") == {"undecided": 7, "new": 2, "duplicate": 1}
    assert len(crawl.stored) == len(pages) - 1
    assert crawl.errors == 0
    # Each of the two fatal pages is tried three times.
    assert crawl.counts()["workers_lost"] == 6 + 1 + 2
    warnings = crawl.logged("WARNING")
    assert len(warnings) == 4
    assert any(f"<{site.url('/hang')}>, keeping it: timeout, it took more" in w for w in warnings)


def test_part_that_workers_cannot_import_is_refused(tmp_path):
    script = _script(tmp_path, "'NEARDUP_TOKENIZER': words", before="words = lambda t: t.split()")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert "NEARDUP_TOKENIZER is <function <lambda>" in done.stderr
    assert "it must be an import path or an object of an importable module" in done.stderr


@pytest.mark.slow
def test_workers_that_do_not_start_leave_all_pages_kept(tmp_path):
    (tmp_path / "its_tokens.py").write_text(
        "import sys\n"
        "if sys.argv[0] == '-c':\n"
        "    raise RuntimeError('not here')\n"
        "def words(text): return text.split()\n"
    )
    pages = {"/1": page(FERRY), "/2": page(FERRY, frame="2"), "/3": page(MUSEUM)}
    with serving(pages) as site:
        crawl = run_crawl(
            list(map(site.url, pages)),
            {**WORKERS, "NEARDUP_TOKENIZER": "its_tokens.words"},
            environment={"PYTHONPATH": str(tmp_path)},
        )
    assert crawl.counts("undecided/") == {"no_worker": 3}
    assert len(crawl.stored) == 3
    [warning] = crawl.logged("WARNING")
    assert "no_worker, the setup of a worker failed: RuntimeError('not here')" in warning


@pytest.mark.slow
def test_the_crawl_waits_for_its_workers_instead_of_growing():
    """Scrapy fetches no more while as many pages wait as it may fetch at once."""
    asked_for = {}
    pages = {f"/{n}": page(f"sleep 0.1 {' '.join(article(seed=n))}") for n in range(150)}
    settings = {
        "NEARDUP_WORKERS": 1,
        "NEARDUP_TOKENIZER": "tests.support.parts.touchy",
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    }
    with serving(pages) as site:
        started = time.monotonic()

        def watch() -> None:
            while len(site.hits) < len(pages):
                asked_for[time.monotonic() - started] = len(site.hits)
                time.sleep(0.02)

        threading.Thread(target=watch, daemon=True).start()
        crawl = run_crawl(list(map(site.url, pages)), settings)
    assert len(crawl.stored) == 150
    # Eight pages are at the worker, 32 are being fetched or wait before the spider, and the worker
    # reads ten a second at most. Without backpressure all are asked for at once.
    waiting = [hits - 10 * seconds for seconds, hits in asked_for.items()]
    assert max(waiting) <= 8 + 32 + 10


@pytest.mark.slow
@linux
def test_killing_workers_at_random_loses_and_doubles_no_page():
    texts = [" ".join(article(seed=n)) for n in range(400)]
    pages = {f"/{n}": page(f"sleep 0.05 {text}", title=text[:20]) for n, text in enumerate(texts)}
    copies = {f"/copy/{n}": pages[f"/{n}"].replace("Home", "Start") for n in range(0, 400, 4)}
    order = [*pages, *copies]
    random.Random(1).shuffle(order)
    done, kills = threading.Event(), 0

    def kill() -> None:
        """Kill a worker after every sixty pages that were asked for."""
        nonlocal kills
        while not done.wait(0.02):
            if len(site.hits) < 60 * (kills + 1):
                continue
            [crawler] = [p for p in warm.running() if workers_of(p)] or [0]
            if workers := crawler and workers_of(crawler):
                os.kill(random.choice(workers), signal.SIGKILL)
                kills += 1

    with serving({**pages, **copies}) as site:
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            crawl = run_crawl(list(map(site.url, order)), TOUCHY)
        finally:
            done.set()
            killer.join()
    assert kills >= 5
    assert crawl.counts("pages/") == {"new": 400, "duplicate": 100}
    of_content = Counter(path.removeprefix("copy/") for path in crawl.stored)
    assert of_content == {str(n): 1 for n in range(400)}


# How a crawl is started


SPIDER = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {
        "ADDONS": {"scrapy_neardup.Addon": 500}, "NEARDUP_WORKERS": 2,
        # Their ports may be taken by another test's crawl.
        "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False, %s
    }
    start_urls = %r

    def parse(self, response):
        yield {"url": response.url}
"""
RUN = """
print("began")
from scrapy.crawler import AsyncCrawlerProcess
process = AsyncCrawlerProcess({"LOG_LEVEL": "INFO"})
process.crawl(Pages)
process.start()
"""
SPAWN = (
    """
import multiprocessing
multiprocessing.get_all_start_methods = lambda: ["spawn"]  # as on Windows
"""
    + RUN
)
SELECT = """
print("began")
from scrapy.crawler import CrawlerProcess
process = CrawlerProcess({
    "LOG_LEVEL": "INFO",
    "TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor",
})
process.crawl(Pages)
process.start()
"""


def _script(
    folder: Path, settings: str = "", urls: list[str] | None = None, *, run: str = RUN,
    before: str = "",
) -> Path:  # fmt: skip
    """A script that guards nothing: what is printed twice was run twice."""
    script = folder / "its_script.py"
    script.write_text(before + SPIDER % (settings, urls or []) + run)
    return script


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "run"),
    [
        (["its_script.py"], RUN),
        (["its_script.py"], SPAWN),
        (["its_script.py"], SELECT),
        (["-m", "its_script"], RUN),
        (["-"], RUN),  # a notebook has no file either
        (["-m", "scrapy", "runspider", "its_script.py"], ""),
    ],
    ids=["script", "no forkserver", "another reactor", "module", "standard input", "runspider"],
)
def test_however_a_crawl_is_started(tmp_path, command, run):
    pages = {"/1": page(FERRY), "/2": page(FERRY, frame="2"), "/3": page(MUSEUM)}
    with serving(pages) as site:
        script = _script(tmp_path, urls=list(map(site.url, pages)), run=run)
        done = subprocess.run(
            [sys.executable, "-W", "error", *command],
            input=script.read_text(), capture_output=True, text=True, cwd=tmp_path, check=False,
            timeout=120,
        )  # fmt: skip
    assert done.stdout == ("began\n" if run else "")
    assert done.returncode == 0
    assert "Judged pages: duplicate 1, new 2; undecided for: none;" in done.stderr
    assert "Traceback" not in done.stderr


AGAIN = """
import asyncio, multiprocessing, time
from scrapy.crawler import AsyncCrawlerRunner

async def twice():
    runner = AsyncCrawlerRunner({"TWISTED_REACTOR_ENABLED": False})
    for _ in range(2):
        crawler = runner.create_crawler(Pages)
        await runner.crawl(crawler)
        print(crawler.stats.get_value("neardup/pages/duplicate"))
        deadline = time.monotonic() + 60
        while multiprocessing.active_children() and time.monotonic() < deadline:
            time.sleep(0.05)
        print(multiprocessing.active_children())

asyncio.run(twice())
"""


@pytest.mark.slow
def workers_end_with_their_crawl(tmp_path: Path) -> None:
    """The process goes on after a crawl, as in a notebook, cell by cell."""
    pages = {"/1": page(FERRY), "/2": page(FERRY, frame="2"), "/3": page(MUSEUM)}
    with serving(pages) as site:
        script = _script(tmp_path, urls=list(map(site.url, pages)), run=AGAIN)
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, timeout=180, check=False
        )
    assert done.stdout == "1\n[]\n1\n[]\n", done.stderr


if "no reactor" in LOOPS:  # else nobody can crawl twice in one process like this
    test_workers_end_with_their_crawl = workers_end_with_their_crawl


# How a crawl ends


def _says(log: Path, words: str) -> bool:
    return words in log.read_text()


@pytest.mark.slow
@linux
@pytest.mark.parametrize(
    ("signals", "exitcode"),
    [([signal.SIGINT], 0), ([signal.SIGINT] * 2, 0), ([signal.SIGTERM], 0), ([signal.SIGKILL], -9)],
    ids=["Ctrl-C", "Ctrl-C twice", "SIGTERM", "SIGKILL"],
)
def test_no_worker_outlives_the_crawl(tmp_path, signals, exitcode):
    markers = [tmp_path / "sleeps", tmp_path / "sleeps-too"]
    seconds = 1 if len(signals) == 1 and signals != [signal.SIGKILL] else 3600
    pages = {f"/{n}": page(f"nap {seconds} {marker}") for n, marker in enumerate(markers)}
    pages |= {f"/more/{n}": page(" ".join(article(seed=n))) for n in range(50)}
    settings = (
        "'NEARDUP_TOKENIZER': 'tests.support.parts.touchy', 'NEARDUP_EXTRACTOR': 'visible', "
        # So those that nap come first, and each alone.
        "'NEARDUP_PAGE_TIMEOUT': 9999, 'CONCURRENT_REQUESTS': 2"
    )
    log = tmp_path / "log"
    with serving(pages) as site, log.open("w") as stderr:
        script = _script(tmp_path, settings, list(map(site.url, pages)), run="")
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "runspider", script],
            stderr=stderr, cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        wait_for(lambda: all(marker.exists() for marker in markers))
        with nobody_outlives(process, least=4):
            for number, said in zip(signals, ("", "Send again to force"), strict=False):
                wait_for(partial(_says, log, said))
                send_signal(process, number)
            assert process.wait(60) == exitcode
    said_at_last = log.read_text()
    assert "Traceback" not in said_at_last
    if seconds == 1:
        # What was under way is judged and stored before the end.
        assert "'finish_reason': 'shutdown'" in said_at_last
        numbers = dict(re.findall(r"'(\S+)': (\d+)", said_at_last))
        names = "response_received_count", "neardup/responses", "item_scraped_count"
        received, judged, stored = (int(numbers[name]) for name in names)
        assert 2 <= received == judged == stored
