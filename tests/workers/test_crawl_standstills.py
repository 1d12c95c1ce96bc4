"""Real crawls whose helper processes are killed or cannot start: each ends and loses nothing."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.crawl import Crawl, run_crawl
from tests.support.processes import children_of, linux, send_signal, wait_for, workers_of
from tests.support.server import Answer, Site, serving
from tests.support.texts import FERRY, MUSEUM, article, page

ROOT = Path(__file__).parents[2]
CONTENTS, COPIES, KILLS = 60, 12, 5
TOUCHY = {"NEARDUP_WORKERS": 2, "NEARDUP_TOKENIZER": "tests.support.parts.touchy"}
#: The crawl's program, and its helpers below it.
CRAWL = [sys.executable, "-m", "scrapy", "runspider"]
SPIDER = """
import scrapy

class Pages(scrapy.Spider):
    name = "pages"
    custom_settings = {
        "ADDONS": {"scrapy_neardup.Addon": 500}, "NEARDUP_WORKERS": 2,
        "NEARDUP_TOKENIZER": "tests.support.parts.touchy",
        "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False,
    }
    start_urls = %r

    def parse(self, response):
        yield {"url": response.url}
"""


def helpers_of(crawler: int) -> list[int]:
    """The process that starts workers, and the workers."""
    return [*children_of(crawler), *workers_of(crawler)]


def helpers() -> list[int]:
    return [helper for crawler in warm.running() for helper in helpers_of(crawler)]


class Killer:
    """A site's pages, some of which kill a helper of the crawl that asks for them.

    :ivar killed: how many helpers were killed.
    """

    def __init__(self, seed: int, kills: int, last: Callable[[], object] = lambda: None) -> None:
        self._random = random.Random(seed)
        moments = sorted(self._random.sample(range(CONTENTS + COPIES), kills))
        self._moments, self._last = dict.fromkeys(moments), moments[-1]
        self._at_last = last
        self._asked = 0
        self.killed = 0
        texts = [f"sleep 0.02 {' '.join(article(seed=n))}" for n in range(CONTENTS)]
        self.pages = {
            f"/{n}": Answer(self._answering(page(text, title=f"t{n}")))
            for n, text in enumerate(texts)
        } | {
            f"/copy/{n}": Answer(self._answering(page(texts[n], title=f"t{n}", frame="another")))
            for n in range(COPIES)
        }

    def _answering(self, body: str) -> Callable[[], bytes]:
        def answer() -> bytes:
            self._asked += 1
            if (number := self._asked - 1) in self._moments:
                time.sleep(self._random.random() / 2)
                if found := helpers():
                    with suppress(ProcessLookupError):
                        os.kill(self._random.choice(found), signal.SIGKILL)
                        self.killed += 1
                if number == self._last:
                    self._at_last()
            return body.encode()

        return answer


def assert_nothing_lost(crawl: Crawl) -> None:
    """Every page was judged, and every content is stored."""
    assert crawl.errors == 0
    assert sum(crawl.counts("pages/").values()) == CONTENTS + COPIES
    assert len(crawl.stored) + len(crawl.dropped) == CONTENTS + COPIES
    contents = {path.removeprefix("copy/") for path in crawl.stored}
    assert contents == {str(n) for n in range(CONTENTS)}


@pytest.mark.slow
@linux
@pytest.mark.parametrize("seed", range(4))
def test_helpers_killed_at_random_moments_cost_no_page(seed):
    """Twenty moments in all, from the first page on, while the first workers start."""
    killer = Killer(seed, KILLS)
    with serving(killer.pages) as site:
        crawl = run_crawl(list(map(site.url, killer.pages)), TOUCHY, seconds=100)
    assert killer.killed, f"seed {seed}"
    assert_nothing_lost(crawl)


@pytest.mark.slow
@linux
def test_the_server_killed_with_its_workers_amid_their_start():
    """As the kernel does it that has no memory left; before, the crawl stood still for ever."""
    killer = Killer(0, 1)
    with serving(killer.pages) as site, every_server_killed(4):
        crawl = run_crawl(list(map(site.url, killer.pages)), TOUCHY, seconds=100)
    assert_nothing_lost(crawl)


@contextmanager
def every_server_killed(times: int) -> Iterator[None]:
    """Kill the processes that start workers, each as soon as it is seen."""
    import threading

    done, killed = threading.Event(), set[int]()

    def kill() -> None:
        while len(killed) < times and not done.wait(0.01):
            for crawler in warm.running():
                for server in set(children_of(crawler)) - killed:
                    killed.add(server)
                    os.kill(server, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    assert len(killed) == times


@pytest.mark.slow
@linux
@pytest.mark.parametrize("seed", range(3))
def test_one_interrupt_ends_a_crawl_whose_helpers_were_killed(tmp_path, seed):
    log = tmp_path / "log"
    ended: list[bool] = []

    def interrupt() -> None:
        send_signal(process, signal.SIGINT)
        ended.append(True)

    killer = Killer(seed, 3, interrupt)
    with serving(killer.pages) as site, log.open("w") as stderr:
        (tmp_path / "spider.py").write_text(SPIDER % list(map(site.url, killer.pages)))
        process = subprocess.Popen(
            [*CRAWL, tmp_path / "spider.py"], stderr=stderr, cwd=ROOT, start_new_session=True
        )
        assert process.wait(60) == 0
        wait_for(lambda: not helpers_of(process.pid))
    said = log.read_text()
    assert ended
    assert "Traceback" not in said
    numbers = dict(re.findall(r"'(\S+)': (\d+)", said))
    names = "response_received_count", "neardup/responses"
    received, judged = (int(numbers[name]) for name in names)
    assert received == judged


def _crawl_of_three(site: Site, environment: dict[str, str]) -> Crawl:
    urls = list(map(site.url, site.pages))
    return run_crawl(urls, {"NEARDUP_WORKERS": 2}, environment=environment, seconds=100)


THREE: dict[str, Answer | str] = {
    "/1": page(FERRY),
    "/2": page(FERRY, frame="2"),
    "/3": page(MUSEUM),
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["too long", "a file"])
def test_workers_need_no_temporary_folder(tmp_path, folder):
    """A socket's path may have some hundred characters; and who writes nothing needs no folder."""
    place = tmp_path / ("long/" * 40 if folder == "too long" else "file")
    if folder == "too long":
        place.mkdir(parents=True)
    else:
        place.touch()
    with serving(THREE) as site:
        crawl = _crawl_of_three(site, {"TMPDIR": str(place)})
    assert crawl.counts("pages/") == {"new": 2, "duplicate": 1}
    assert crawl.logged("WARNING") == []
