"""Real crawls that share a real Redis."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.request import urlopen

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.stores import open_store
from tests.crawl.test_crawl_url_rules import ON, SORRY, hub, ids_of, items, urls
from tests.support.crawl import Crawl, run_crawl
from tests.support.processes import wait_for
from tests.support.redis_servers import RedisServer, Watched
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, TEA, article, page

COPIES = {f"/{n}": page(FERRY, frame=str(n)) for n in range(8)} | {"/other": page(MUSEUM)}
SLOW: dict[str, Any] = {"ITEM_PIPELINES": {"tests.support.crawl.Failing": 500}, "FAIL_AFTER": 1.5}


@pytest.fixture
def server(tmp_path):
    server = RedisServer(tmp_path, appendonly="yes")
    yield server
    server.kill()


def together(*crawls: tuple[list[str], dict[str, Any]]) -> list[Crawl]:
    """Crawls at the same time, each in a process of its own."""
    with ThreadPoolExecutor(len(crawls)) as threads:
        futures = [threads.submit(run_crawl, urls, settings) for urls, settings in crawls]
        return [future.result() for future in futures]


def store_of(server: RedisServer) -> dict[str, Any]:
    return {"NEARDUP_STORE": server.address, "NEARDUP_NAMESPACE": "all"}


@pytest.mark.slow
@pytest.mark.parametrize("extraction", ["full", "lazy"])
def test_crawls_that_share_a_namespace_store_each_content_once(server, extraction):
    settings = {**store_of(server), **SLOW, "NEARDUP_EXTRACTION": extraction}
    with serving(COPIES, together=4) as site:
        urls = [site.url(f"/{n}") for n in range(4)]
        crawls = together(*[([url], settings) for url in urls])
    assert sum(len(crawl.stored) for crawl in crawls) == 1
    # A page that is claimed again after it was read in full may have to wait again.
    waits = sum(crawl.stats.get("neardup/waits", 0) for crawl in crawls)
    assert waits == 3 or (waits > 3 and extraction == "lazy")


@pytest.mark.slow
def test_rules_that_one_learned_are_applied_by_another_at_the_same_time(server):
    both = items(100)
    shared = [f"/item?id={number}&sid=c{number}" for number in range(60, 70)]
    pages = {**both, **dict.fromkeys(shared, SORRY)}
    first_links = [*urls(range(40)), *shared]
    # The first one meets what fails as well; that says nothing of what the second one fetched.
    pages["/first"], pages["/second"] = hub(first_links), hub(urls(range(60, 100)))
    learning = {**store_of(server), **ON, "RETRY_ENABLED": False}
    with serving(pages) as site, ThreadPoolExecutor(1) as threads:
        slow = {**learning, "DOWNLOAD_DELAY": 0.3, "CONCURRENT_REQUESTS": 1}
        second = threads.submit(run_crawl, [site.url("/second")], slow)
        wait_for_hits(site, 5)
        first = run_crawl([site.url("/first")], learning)
        later = second.result()
    assert ids_of(good(first.stored)) == set(range(40))
    assert ids_of(good(later.stored)) == set(range(60, 100))
    assert any("URL rule comes into force" in line for line in first.logged("INFO"))
    # The second one was not told by its own pages.
    assert not any("URL rule comes into force" in line for line in later.logged("INFO"))
    assert later.stats["neardup/url_rules/skipped"] > 20
    assert later.stats["neardup/url_rules/rules"] == 1


def good(stored: list[str]) -> set[str]:
    """Return the pages that are not error pages."""
    return {
        path for path in stored if not ("sid=c" in path and ids_of([path]) < set(range(60, 70)))
    }


@pytest.mark.slow
def test_when_the_first_copy_fails_another_process_stores_its_own(server):
    fail = {"FAIL_PATHS": {"0": "raise"}}
    with serving(COPIES, together=2) as site:
        urls = [[site.url("/0")], [site.url("/1")]]
        # Whichever is first: the one that fails is not stored, and the other is.
        first, second = together(*[(u, {**store_of(server), **SLOW, **fail}) for u in urls])
    assert (first.stored, second.stored) == ([], ["1"])


def test_a_later_crawl_knows_what_an_earlier_one_stored(server):
    with serving(COPIES) as site:
        assert run_crawl([site.url("/0")], store_of(server)).stored == ["0"]
        later = run_crawl([site.url("/1"), site.url("/other")], store_of(server))
    assert later.stored == ["other"]
    assert any("1 pages known" in line for line in later.logged("INFO"))


@pytest.mark.slow
@pytest.mark.parametrize("extraction", ["full", "lazy"])
def test_a_server_that_goes_away_costs_no_page_and_learns_of_all_when_it_is_back(
    server, extraction
):
    words = [article(seed=n) for n in range(30)]
    texts = [". ".join(" ".join(w[at : at + 10]) for at in range(0, len(w), 10)) for w in words]
    pages = {f"/{n}": page(text, title=f"t{n}") for n, text in enumerate(texts)}
    settings = {**store_of(server), "NEARDUP_EXTRACTION": extraction}
    slow = {**settings, "DOWNLOAD_DELAY": 0.2, "CONCURRENT_REQUESTS": 1}
    with serving(pages) as site, ThreadPoolExecutor(1) as threads:
        urls = list(map(site.url, pages))
        crawl = threads.submit(run_crawl, urls, slow)
        wait_for_hits(site, 5)
        server.kill()
        wait_for_hits(site, 12)
        server.start()
        first = crawl.result()
        assert len(first.stored) == 30
        assert first.counts("undecided/")["store_unreachable"] > 0
        assert first.counts("store/")["errors"] > 0
        [warning] = first.logged("WARNING")
        assert "keeping pages" in warning
        # Another crawl finds all of them remembered, those of the outage too.
        copies = {f"/copy{n}": page(text, title=f"t{n}") for n, text in enumerate(texts)}
        site.pages = copies
        again = run_crawl(list(map(site.url, copies)), settings)
    # Those of the outage were read quickly only, and have no bodies.
    without_bodies = (
        first.counts("undecided/")["store_unreachable"] + first.counts("store/")["errors"]
    )
    assert len(again.stored) <= (0 if extraction == "full" else without_bodies)


@pytest.mark.slow
def test_a_failover_costs_no_page_and_all_are_remembered(tmp_path, afterwards):
    watched = Watched(tmp_path / "servers")
    afterwards.callback(watched.kill)
    texts = [" ".join(article(seed=n)) for n in range(30)]
    pages = {f"/{n}": page(text, title=f"t{n}") for n, text in enumerate(texts)}
    store = {"NEARDUP_STORE": watched.address, "NEARDUP_NAMESPACE": "all"}
    slow = {**store, "DOWNLOAD_DELAY": 0.3, "CONCURRENT_REQUESTS": 1}
    with serving(pages) as site, ThreadPoolExecutor(1) as threads:
        crawl = threads.submit(run_crawl, list(map(site.url, pages)), slow)
        wait_for_hits(site, 5)
        wait_for(watched.is_replicated)
        watched.master.kill()
        first = crawl.result()
        assert len(first.stored) == 30
        kinds = first.counts("pages/")
        assert kinds["new"] > 5
        assert kinds["undecided"] == first.counts("undecided/")["store_unreachable"] > 0
        site.pages = {f"/copy{n}": page(text, title=f"t{n}") for n, text in enumerate(texts)}
        again = run_crawl(list(map(site.url, site.pages)), store)
    assert again.stored == []
    assert "of-se" not in "".join(again.logged("INFO"))


def test_or_closes_the_spider(server):
    settings = {**store_of(server), "NEARDUP_ON_STORE_ERROR": "stop", "DOWNLOAD_DELAY": 0.3}
    texts = [" ".join(article(seed=n)) for n in range(40)]
    pages = {f"/{n}": page(text) for n, text in enumerate(texts)}
    with serving(pages) as site:
        killer = threading.Thread(target=kill_after_hits, args=(server, site, 3))
        killer.start()
        crawl = run_crawl(list(map(site.url, pages)), {**settings, "CONCURRENT_REQUESTS": 1})
        killer.join()
    assert crawl.stats["finish_reason"] == "neardup_store"
    assert 0 < len(crawl.stored) < 40
    assert re.search(
        r"an unknown number remembered, \d+ more waiting to be recorded$",
        crawl.logged("INFO")[-1].split("\n")[0],
    )


@pytest.mark.parametrize("is_back", [True, False])
def test_what_was_recorded_late_or_never_is_known_before_the_crawl_is_closed(server, is_back):
    def body(text: str, then: Callable[[], None]) -> Answer:
        def made() -> bytes:
            then()
            return page(text).encode()

        return Answer(made)

    pages: dict[str, Answer | str] = {
        "/0": page(FERRY),
        "/1": body(MUSEUM, server.kill),
        "/2": body(TEA, server.start if is_back else lambda: None),
    }
    with serving(pages) as site:
        settings = {**store_of(server), "CONCURRENT_REQUESTS": 1, "STATS_DUMP": True}
        crawl = run_crawl(list(map(site.url, pages)), settings)
    assert crawl.stored == ["0", "1", "2"]
    end = next(line for line in crawl.logged("INFO") if "Judged pages" in line)
    dumped = next(text for _, _, text in crawl.log if text.startswith("Dumping Scrapy stats"))
    counted = dict(re.findall(r"'neardup/store/(\w+)': (\d+)", dumped))
    if is_back:
        assert end.split("\n")[0].endswith("; 3 remembered")
        # All pages that came before the store was asked again.
        assert int(counted["added_later"]) > 0
        assert "not_remembered" not in counted
    else:
        waiting = counted["not_remembered"]
        # The first page may have been on its way to the store still.
        assert waiting in ("2", "3")
        told = f"number remembered, {waiting} more waiting to be recorded"
        assert end.split("\n")[0].endswith(told)
        assert "added_later" not in counted
    assert counted.items() <= {n: str(v) for n, v in crawl.counts("store/").items()}.items()


@pytest.mark.parametrize("on_error", ["keep", "stop"])
def test_a_crawl_closes_when_one_that_signs_in_another_way_was_the_first_in_a_namespace(
    server, on_error
):
    settings = {**store_of(server), "NEARDUP_ON_STORE_ERROR": on_error}
    with serving(COPIES, together=2) as site, ThreadPoolExecutor(1) as threads:
        crawl = threads.submit(run_crawl, [site.url("/0")], settings)
        # It has opened the store, and its page is on hold.
        wait_for_hits(site, 1)
        store = open_store(server.address, "all")
        first = NearDupDetector(store=store, extraction="lazy")
        assert first.check(url="https://first.example/", text=MUSEUM).kind == "new"
        store.close()
        urlopen(site.url("/other")).close()
        closed = crawl.result()
    assert closed.stats["finish_reason"] == "neardup_store"
    # The page is kept, and the error says what differs.
    assert closed.stored == ["0"]
    assert closed.counts("undecided/") == {"store_unreachable": 1}
    error, *others = closed.logged("ERROR")
    assert "Closing the spider: " in error
    assert "made with extraction lazy" in error
    assert "but is used with extraction full" in error
    assert "extraction (full or lazy)" in error
    assert not any("Closing" in other or "Traceback" in other for other in others)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda address: address.replace("127.0.0.1", "127.0.0.2"), "neardup_store"),
        (lambda address: address.replace("//", "//user:Kj7xq@"), "neardup_store"),
    ],
    ids=["nobody there", "wrong password"],
)
def test_a_server_that_cannot_be_used_closes_the_spider_before_its_first_request(
    tmp_path, change, said
):
    server = RedisServer(tmp_path, requirepass="right")
    try:
        with serving(COPIES) as site:
            settings = {"NEARDUP_STORE": change(server.address)}
            crawl = run_crawl([site.url("/0")], settings)
            assert not site.hits
    finally:
        server.kill()
    assert crawl.stats["finish_reason"] == said
    [error] = crawl.logged("ERROR")
    assert "Kj7xq" not in error


def kill_after_hits(server: RedisServer, site: Any, number: int) -> None:
    wait_for_hits(site, number)
    server.kill()


def wait_for_hits(site: Any, number: int) -> None:
    deadline = time.monotonic() + 60
    while sum(site.hits.values()) < number:
        assert time.monotonic() < deadline
        time.sleep(0.02)
