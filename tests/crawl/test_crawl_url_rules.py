"""URL rules in real crawls, over real HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

from tests.support.certificates import Authority
from tests.support.crawl import LOOPS, run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, article, page

Pages = dict[str, Answer | str]

#: Before Scrapy 2.15 nothing holds the downloader back, and a site on the same machine is fetched
#: before it is judged.
PACE = {"DOWNLOAD_DELAY": 0.04}
ON = {**PACE, "NEARDUP_URL_RULES": "on", "NEARDUP_URL_RULES_SAMPLE_RATE": 0}
SORRY = Answer("Sorry.", status=500)
RULE = "the parameter sid has no effect under /item on 127.0.0.1"


def unique(number: int) -> str:
    """A page like no other, with links of its own to nowhere."""
    return page(" ".join(article(80, seed=number)), f"Title {' '.join(article(3, seed=number))}")


def urls(ids: Iterable[int], copies: str = "abc") -> list[str]:
    return [f"/item?id={number}&sid={copy}{number}" for number in ids for copy in copies]


def hub(paths: Iterable[str]) -> str:
    return page(FERRY, "The ferry", links=" ".join(paths).replace("&", "&amp;"))


def items(ids: int) -> Pages:
    pages: Pages = {url: unique(int(url.split("=")[1].split("&")[0])) for url in urls(range(ids))}
    return {"/": hub(pages), **pages}


def ids_of(stored: Iterable[str]) -> set[int]:
    return {int(path.split("id=")[1].split("&")[0]) for path in stored if "id=" in path}


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
def test_learned_duplicate_urls_are_not_fetched(loop):
    with serving(items(60)) as site:
        crawl = run_crawl([site.url()], ON, loop=loop)
    assert ids_of(crawl.stored) == set(range(60))
    assert len(crawl.stored) == 61
    assert f"URL rule comes into force: {RULE} (29 contents agree, 0 contradictions" in "\n".join(
        crawl.logged("INFO")
    )
    fetched = sum(site.hits.values())
    # Each copy of 29 pages may come, then one of each page, and what was under way.
    assert 60 + 29 < fetched < 60 + 2 * 29 + 20
    skipped = crawl.stats["neardup/url_rules/skipped"]
    assert crawl.stats["neardup/url_rules/skipped/127.0.0.1 param sid /item"] == skipped
    assert fetched + skipped - crawl.stats["neardup/url_rules/refetched"] == 181
    assert crawl.stats["neardup/url_rules/rules"] == 1
    # Counted in time for what the log says at the end.
    [*_, last] = crawl.logged("INFO")
    assert re.search("rules in force +1", last)
    assert crawl.errors == 0


@pytest.mark.slow
def test_http_and_https_of_one_host_are_not_both_fetched(tmp_path):
    # A proxy's sites have the usual ports, whatever its own: other ports are other addresses.
    schemes, host = ("http", "https"), "192.0.2.1"
    pages: Pages = {
        f"{scheme}://{host}/item?id={number}": unique(number)
        for number in range(60)
        for scheme in schemes
    }
    start = f"http://{host}/"
    certificate = Authority(tmp_path, "ca").certificate(host)
    with serving({start: hub(pages), **pages}, certificate=certificate) as proxy:
        proxies = {f"{scheme}_proxy": proxy.url() for scheme in schemes}
        crawl = run_crawl([start], ON, environment={**proxies, "no_proxy": ""})
    assert ids_of(crawl.stored) == set(range(60))
    assert len(crawl.stored) == 61
    rule = f"http and https show the same under /item on {host}"
    assert any(
        f"URL rule comes into force: {rule} (29 contents" in line for line in crawl.logged("INFO")
    )
    fetched = sum(proxy.hits.values())
    # Of 29 pages both may come, then one of each, what was under way, and what is tried at the end.
    assert 61 + 29 <= fetched < 61 + 29 + 20
    skipped = crawl.stats[f"neardup/url_rules/skipped/{host} scheme /item"]
    assert fetched + skipped - crawl.stats["neardup/url_rules/refetched"] == 121
    assert sum(url.startswith("https:") for url in proxy.hits) >= 29
    assert crawl.errors == 0


@pytest.mark.slow
def test_a_report_fetches_everything_and_says_what_would_be_skipped():
    with serving(items(60)) as site:
        crawl = run_crawl([site.url()], {**PACE, "NEARDUP_URL_RULES_SAMPLE_RATE": 0})
    assert ids_of(crawl.stored) == set(range(60))
    assert sum(site.hits.values()) == 181
    would = crawl.stats["neardup/url_rules/would_skip"]
    assert would > 30
    assert crawl.stats["neardup/url_rules/would_skip/127.0.0.1 param sid /item"] == would
    assert "neardup/url_rules/skipped" not in crawl.stats
    assert any(RULE in line for line in crawl.logged("INFO"))


@pytest.mark.slow
def test_off_learns_nothing():
    with serving(items(40)) as site:
        crawl = run_crawl([site.url()], {"NEARDUP_URL_RULES": "off"})
    assert sum(site.hits.values()) == 121
    assert crawl.counts("url_rules/") == {}


@pytest.mark.slow
def test_a_duplicate_that_would_be_kept_is_fetched():
    with serving(items(60)) as site:
        crawl = run_crawl([site.url()], {**ON, "NEARDUP_ACTION": "tag"})
    assert sum(site.hits.values()) == len(crawl.stored) == 181
    assert crawl.stats["neardup/url_rules/would_skip"] > 30


@pytest.mark.slow
def test_pages_of_a_list_are_all_fetched():
    paths = [f"/posts?page={number}" for number in range(80)]
    pages: Pages = {"/": hub(paths), **{path: unique(n) for n, path in enumerate(paths)}}
    with serving(pages) as site:
        crawl = run_crawl([site.url()], {**PACE, "NEARDUP_URL_RULES": "on"})
    assert len(crawl.stored) == 81
    assert "neardup/url_rules/skipped" not in crawl.stats


@pytest.mark.slow
def test_parameter_that_starts_to_matter_is_fetched_again():
    paths = urls(range(50))
    asked: list[str] = []

    def answer(path: str) -> bytes:
        asked.append(path)
        number = int(path.split("=")[1].split("&", maxsplit=1)[0])
        is_late = len(asked) > 95
        text = unique(1000 + paths.index(path)) if is_late else unique(number)
        return text.encode()

    def body(path: str) -> Answer:
        return Answer(lambda: answer(path))

    with serving({"/": hub(paths), **{path: body(path) for path in paths}}) as site:
        crawl = run_crawl([site.url()], {**PACE, "NEARDUP_URL_RULES": "on"})
    assert set(asked) == set(paths)
    assert any(line.startswith(f"URL rule withdrawn: {RULE}") for line in crawl.logged("INFO"))
    assert crawl.stats["neardup/url_rules/withdrawn"] >= 1
    assert crawl.stats["neardup/url_rules/refetched"] >= 1
    # All pages of after the change, whatever they are copies of by their addresses.
    late = {path.removeprefix("/") for path in asked[95:]}
    assert len(late) == 55
    assert late <= set(crawl.stored)


@pytest.mark.slow
def test_failed_page_loses_no_content():
    # Of the first ids, which come last, the copy that comes first is an error.
    pages = items(60)
    for number in range(20):
        pages[f"/item?id={number}&sid=c{number}"] = SORRY
    with serving(pages) as site:
        crawl = run_crawl([site.url()], {**ON, "RETRY_ENABLED": False})
    good = [
        path for path in crawl.stored if not ("sid=c" in path and ids_of([path]) < set(range(20)))
    ]
    assert ids_of(good) == set(range(60))
    assert crawl.stats["neardup/url_rules/skipped"] > 20
    assert sum(site.hits.values()) < 160


@pytest.mark.slow
def test_unstored_item_loses_no_content():
    settings = {
        **ON,
        "ITEM_PIPELINES": {"tests.support.crawl.Failing": 200},
        "FAIL_PATHS": {f"item?id={number}&sid=c{number}": "raise" for number in range(20)},
        "FAIL_AFTER": 0,
    }
    with serving(items(60)) as site:
        crawl = run_crawl([site.url()], settings)
    assert ids_of(crawl.stored) == set(range(60))
    assert crawl.stats["neardup/url_rules/skipped"] > 20
    assert sum(site.hits.values()) < 160


def noting(asked: list[str], path: str, page: Answer | str) -> Answer:
    """The same page; it is noted when it is asked for."""
    answer = page if isinstance(page, Answer) else Answer(page)
    assert isinstance(answer.body, str)
    body = answer.body.encode()

    def said() -> bytes:
        asked.append(path)
        return body

    return replace(answer, body=said)


@pytest.mark.slow
def test_what_was_skipped_for_a_page_that_fails_is_fetched_at_once():
    # A status that no spider sees, so that nothing but the downloader middleware hears of it.
    pages = items(60)
    failing = [f"/item?id={number}&sid=c{number}" for number in range(15, 25)]
    pages |= dict.fromkeys(failing, Answer("Away.", status=503))
    asked: list[str] = []
    pages = {path: noting(asked, path, page) for path, page in pages.items()}
    with serving(pages) as site:
        run_crawl([site.url()], {**ON, "RETRY_ENABLED": False, "CONCURRENT_REQUESTS": 1})
    last = max(asked.index(f"/item?id={number}&sid=c{number}") for number in range(10))
    for number in range(15, 25):
        others = {f"/item?id={number}&sid={copy}{number}" for copy in "ab"}
        assert not others.isdisjoint(asked[:last])


@pytest.mark.slow
def test_some_skipped_requests_are_tested_before_the_end():
    # Whatever the rule says of them, the last ones are other pages.
    pages = items(60)
    hidden = urls(range(20), "ab")
    pages |= {path: unique(1000 + place) for place, path in enumerate(hidden)}
    with serving(pages) as site:
        crawl = run_crawl([site.url()], ON)
    assert crawl.stats["neardup/url_rules/skipped"] >= 40
    assert crawl.stats["neardup/url_rules/withdrawn"] == 1
    assert {path.removeprefix("/") for path in hidden} <= set(crawl.stored)


def colours() -> tuple[Pages, list[str]]:
    """Lists that each show news, two colours of one page, and the next list.

    All but colours have parameters of which nothing is known, so that colours come first.

    :returns: also the paths of all that is no colour.
    """
    colours: Pages = {f"/shop?colour={n}": page(MUSEUM, "The museum") for n in range(24)}
    # There is always something else to be asked for, even while a list is being read.
    idle = [f"/about?id={n}&{unknown(n, 'abcdefgh')}" for n in range(20)]
    others: Pages = {path: unique(700 + n) for n, path in enumerate(idle)}
    for number in range(12):
        news = [f"/news?id={n}&{unknown(n)}" for n in (2 * number, 2 * number + 1)]
        others |= {path: unique(500 + 2 * number + n) for n, path in enumerate(news)}
        shown = list(colours)[2 * number : 2 * number + 2]
        links = " ".join([*(idle if not number else ()), _list(number + 1), *news, *shown])
        title = " ".join(article(3, seed=900 + number))
        text = " ".join(article(80, 900 + number))
        others[_list(number)] = page(text, title, "", links.replace("&", "&amp;"))
    return {**colours, **others}, [*others]


def unknown(number: int, names: str = "abcd") -> str:
    return "&".join(f"{name}{number}=1" for name in names)


def _list(number: int) -> str:
    return f"/list?page={number}&{unknown(number)}"


BUDGET = {**ON, "NEARDUP_CLUSTER_BUDGET": 5, "CONCURRENT_REQUESTS": 1}


@pytest.mark.slow
def test_a_budget_that_is_spent_slows_down_and_then_skips():
    pages, others = colours()
    asked: list[str] = []
    noted = {path: noting(asked, path, page) for path, page in pages.items()}
    with serving(noted) as site:
        run_crawl([site.url(_list(0))], {**BUDGET, "NEARDUP_CLUSTER_BUDGET": None})
        assert sum("shop" in path for path in asked) == 24
        asked.clear()
        crawl = run_crawl([site.url(_list(0))], BUDGET)
    assert {path.removeprefix("/") for path in others} <= set(crawl.stored)
    last = max(place for place, path in enumerate(asked) if "shop" not in path)
    # The original, 5 copies of it and what was scheduled by then come before all that is left.
    assert 6 <= sum("shop" in path for path in asked[:last]) < 10
    # 5 more; then the rest is skipped, but for what is tried in the end.
    assert 11 <= sum("shop" in path for path in asked) < 16
    assert crawl.stats["neardup/url_rules/skipped"] >= 9


@pytest.mark.slow
def test_new_pages_beyond_the_budget_are_fetched():
    pages, others = colours()
    asked: list[str] = []
    with serving({path: noting(asked, path, page) for path, page in pages.items()}) as site:
        run_crawl([site.url(_list(0))], BUDGET)
        within = [path for path in asked if "shop" in path][:11]
        beyond = [path for path in pages if path not in (*others, *within)]
        assert len(beyond) == 13
        site.pages = pages | {path: unique(2000 + n) for n, path in enumerate(beyond)}
        crawl = run_crawl([site.url(_list(0))], BUDGET)
    assert crawl.stats["neardup/url_rules/withdrawn"] >= 1
    assert {path.removeprefix("/") for path in [*others, *beyond]} <= set(crawl.stored)


# --- across crawls ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["sqlite", "redis"])
def test_rules_outlive_a_crawl(tmp_path, redis_server, backend):
    stores = {"sqlite": f"sqlite:///{tmp_path}/pages.sqlite", "redis": redis_server.address}
    settings = {**ON, "NEARDUP_STORE": stores[backend]}
    with serving(items(40)) as site:
        run_crawl([site.url()], settings)
    other = items(60)
    for number in range(40):
        for copy in "abc":
            del other[f"/item?id={number}&sid={copy}{number}"]
    other["/"] = hub(other)
    with serving(other) as site:
        crawl = run_crawl([site.url()], settings)
    assert ids_of(crawl.stored) == set(range(40, 60))
    assert not any("taken up" in line for line in crawl.logged("INFO"))
    assert crawl.stats["neardup/url_rules/skipped"] > 20


@pytest.mark.slow
@pytest.mark.parametrize(("ttl", "hits"), [(3600, 0), (None, 1)])
def test_duplicate_url_is_not_fetched_in_the_next_crawl(tmp_path, ttl, hits):
    settings = {
        "NEARDUP_STORE": f"sqlite:///{tmp_path}/pages.sqlite",
        "CONCURRENT_REQUESTS": 1,
        "NEARDUP_URL_RULES_SAMPLE_RATE": 0,
        "DOWNLOAD_DELAY": 0.3,
        **({} if ttl is None else {"NEARDUP_DUPLICATE_URL_TTL": ttl}),
    }
    # The copy's turn comes last in the next crawl, when its original was judged.
    pages: Pages = {
        "/": page(MUSEUM, "The museum", links="/3 /4 /1 /2"),
        "/1": page(FERRY, "The ferry"),
        "/2": page(FERRY, "The ferry"),
        "/3": page(TEA, "Tea"),
        "/4": page(BRIDGE, "A bridge"),
    }
    with serving(pages) as site:
        first = run_crawl([site.url()], settings)
        [dropped] = first.dropped
        site.hits.clear()
        # The store knows it by its address, whatever the order of its crawl.
        again = run_crawl([site.url()], settings)
        assert site.hits[f"/{dropped['path']}"] == hits
    assert again.counts("requests/") == ({} if hits else {"refused": 1})


@pytest.mark.slow
def test_duplicate_url_is_fetched_when_its_original_is_gone(tmp_path):
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/pages.sqlite", "CONCURRENT_REQUESTS": 1}
    pages: Pages = {
        "/": page(MUSEUM, "The museum", links="/1 /2"),
        "/1": page(FERRY, "The ferry"),
        "/2": page(FERRY, "The ferry"),
    }
    with serving(pages) as site:
        [dropped] = run_crawl([site.url()], settings).dropped
        copy = f"/{dropped['path']}"
        site.hits.clear()
        # The original is linked no more, and what is new stands behind the copy alone.
        pages["/"] = page(MUSEUM, "The museum", links=copy)
        pages[copy] = page(FERRY, "The ferry", links="/new /copies")
        pages["/new"] = page(TEA, "Tea")
        pages["/copies"] = page(BRIDGE, "A bridge", links="/1 /2")
        again = run_crawl([site.url()], settings)
        assert "new" in again.stored
        # The original itself is none of the known copies.
        assert site.hits == {"/": 1, "/1": 1, "/2": 1, "/new": 1, "/copies": 1}


def test_links_of_duplicates_near_the_start_are_followed():
    pages: Pages = {
        "/": page(MUSEUM, "The museum", links="/1 /2"),
        "/1": page(FERRY, "The ferry", links="/a"),
        "/2": page(FERRY, "The ferry", links="/b"),
        "/a": unique(1),
        "/b": unique(2),
    }
    settings = {"CONCURRENT_REQUESTS": 1, "NEARDUP_LINKS": "skip"}
    with serving(pages) as site:
        skipping = run_crawl([site.url()], settings)
        following = run_crawl([site.url()], {**settings, "NEARDUP_LINKS_MIN_DEPTH": 2})
    assert len(skipping.stored) == 3
    assert len(following.stored) == 4
    assert skipping.stats["neardup/links/skipped"] == 1
