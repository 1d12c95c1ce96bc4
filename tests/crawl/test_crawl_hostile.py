"""Crawls of hostile pages: the pages after each hostile one are still judged."""

from __future__ import annotations

import contextlib
import gzip
import threading
from pathlib import Path

import pytest

from benchmarks.corpora.hostile_pages import PAGES, UTF8
from scrapy_neardup.workers import Limits
from tests.support import warm
from tests.support.crawl import run_crawl
from tests.support.processes import linux, workers_of
from tests.support.server import Answer, serving
from tests.support.texts import article, page

#: What is served, and in which order: the hostile page, a good one, a copy of that.
HOSTILE = {name: Answer(hostile.make, hostile.content_type) for name, hostile in PAGES.items()}
# Scrapy itself cannot download a page with this label.
del HOSTILE["codec-label"]
HOSTILE["gzip-bomb"] = Answer(
    lambda: gzip.compress(bytes(10**8), 1), UTF8, headers={"Content-Encoding": "gzip"}
)
#: Pages that are beyond a limit.
REFUSED = {
    "too_large": "token-5e7 text-19e6 siblings-1e6 bomb-zeros bomb-html gzip-bomb",
    "too_many_tags": "siblings-1e5 links-1e5 rows-1e5 nested-1e5 images-1e5",
    "too_many_attributes": "attributes-1e5",
    "too_nested": "nested-1e3 nested-1e4 nested-tables-1e3",
    "text_too_long": "han-run-1e6 marks-1e6 text-1e6 angles",
}


def good(number: int, frame: str = "") -> str:
    title = f"good number {number}"
    return page(" ".join(article(120, seed=number)), title=title, frame=frame)


class Memory(threading.Thread):
    """Watches what the crawls of this process, and their workers, hold in memory.

    :ivar peak: the most, in MiB, that any worker has held.
    :ivar crawlers: MiB of the crawler, every half second.
    :ivar workers: MiB of its workers together, likewise.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.crawlers: list[float] = []
        self.workers: list[float] = []
        self._done = threading.Event()

    def __enter__(self) -> Memory:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        while not self._done.wait(0.5):
            for crawler in warm.running():
                if workers := workers_of(crawler):
                    self.peak = max(self.peak, *(mebibytes(w, "VmHWM") for w in workers))
                    self.crawlers.append(mebibytes(crawler, "VmRSS"))
                    self.workers.append(sum(mebibytes(w, "VmRSS") for w in workers))


def mebibytes(pid: int, what: str) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(what):
                return int(line.split()[1]) / 1024
    return 0.0


@pytest.mark.slow
@linux
def test_hostile_pages_are_kept_and_good_ones_judged_right():
    """Crawl each hostile page, a good page, its copy, and the hostile page again."""
    pages: dict[str, Answer | str] = {}
    for number, (name, answer) in enumerate(HOSTILE.items()):
        pages[f"/hostile/{name}"] = answer
        pages[f"/good/{number}"] = good(number)
        pages[f"/copy/{number}"] = good(number, "another frame")
        pages[f"/again/{name}"] = answer
    settings = {
        "NEARDUP_WORKERS": 1,
        "NEARDUP_PAGE_TIMEOUT": 60,
        "CONCURRENT_REQUESTS": 1,
        "DOWNLOAD_WARNSIZE": 0,
    }
    with serving(pages) as site, Memory() as memory:
        urls = list(map(site.url, pages))
        crawl = run_crawl(urls, settings, texts=["not looked at"], follow=False, seconds=900)
    assert crawl.errors == 0
    assert len(crawl.stored) + len(crawl.dropped) == len(pages) == len(crawl.judged)
    verdicts = {entry["url"].removeprefix(site.url("/")): entry for entry in crawl.judged}
    for number in range(len(HOSTILE)):
        assert verdicts[f"good/{number}"]["kind"] == "new"
        assert verdicts[f"copy/{number}"]["duplicate_of"] == site.url(f"/good/{number}")
    for name in HOSTILE:
        first, second = verdicts[f"hostile/{name}"], verdicts[f"again/{name}"]
        originals = site.url(f"/hostile/{name}"), site.url(f"/again/{name}")
        if originals[1] == first["duplicate_of"]:
            # They are read once, and the one that came while that was done may be the first judged.
            first, second = second, first
            originals = originals[::-1]
        if first["reason"] in ("no_match", "few_features", "thin_text"):
            assert second["duplicate_of"] == originals[0], name
        else:
            told = "reason", "duplicate_of"
            assert [second[part] for part in told] == [first[part] for part in told], name
    for reason, names in REFUSED.items():
        for name in names.split():
            assert verdicts[f"hostile/{name}"]["reason"] == reason, name
    # Only this one had to be stopped from outside.
    assert verdicts["hostile/attributes-1000-again"]["reason"] == "out_of_memory"
    assert crawl.counts()["workers_lost"] == crawl.counts("undecided/")["out_of_memory"] == 2
    assert not {"timeout", "worker_died", "failed", "no_worker"} & set(crawl.counts("undecided/"))
    assert 0 < memory.peak < Limits.memory_mb


@pytest.mark.slow
@linux
def test_memory_stays_flat_over_many_pages():
    """Forty contents under 1,600 addresses, no two bodies equal, some of them hostile."""
    bodies = [good(n) for n in range(34)]
    bodies += [PAGES[name].make().decode("utf-8", "replace") for name in (
        "nested-254", "references", "marks-1e4", "menus", "emoji", "scripts"
    )]  # fmt: skip
    pages: dict[str, Answer | str] = {
        f"/{n}": f"{bodies[n % len(bodies)]}<!-- {n} -->" for n in range(1600)
    }
    with serving(pages) as site, Memory() as memory:
        crawl = run_crawl(
            list(map(site.url, pages)),
            {"NEARDUP_WORKERS": 2},
            texts=["not looked at"],
            follow=False,
            seconds=900,
        )
    assert len(crawl.stored) + len(crawl.dropped) == len(pages)
    assert "equal_bodies" not in crawl.counts()
    half = len(memory.workers) // 2
    for held in (memory.crawlers, memory.workers):
        assert max(held[half:]) < max(held[half // 2 : half]) + 16
