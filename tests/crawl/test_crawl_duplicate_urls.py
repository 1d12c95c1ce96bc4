"""Duplicate URLs of earlier crawls: real crawls of a site that changes from one day to the next."""

from __future__ import annotations

import contextlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup.stores.hints import without_ended
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.crawl.test_crawl_url_rules import Pages, hub, unique
from tests.support.crawl import Crawl, run_crawl
from tests.support.server import Answer, Site, serving
from tests.support.texts import FERRY, MUSEUM, article, page

ARTICLES = {f"/article/{number}": unique(number) for number in range(40)}
PATHS = list(ARTICLES)
HEALTHY: Pages = {"/": hub(PATHS), **ARTICLES}
WALL = page(" ".join(article(80, seed=999)), "Log in")
#: So many articles stand behind the wall: the flood detector needs one duplicate more.
WALLED = 30
#: Nothing else than what is tested lets a request through.
EXACT = {
    "NEARDUP_DUPLICATE_URL_TTL": 3600,
    "NEARDUP_URL_RULES_SAMPLE_RATE": 0,
    "CONCURRENT_REQUESTS": 1,
}


def with_walls(paths: list[str]) -> Pages:
    return {**HEALTHY, **dict.fromkeys(paths, WALL)}


def articles_of(*crawls: Crawl) -> set[str]:
    """Paths of the articles whose content was stored, at whatever address."""
    stored = {item["text"] for crawl in crawls for item in crawl.items}
    return {path for path, text in ARTICLES.items() if text in stored}


def refused(crawl: Crawl) -> int:
    return int(crawl.stats.get("neardup/requests/refused", 0))


def original_of(crawl: Crawl) -> str:
    """Path of the page that the duplicates of a crawl are duplicates of."""
    [original] = {judged["duplicate_of"] for judged in crawl.judged} - {None}
    return "/" + str(original).split("/", 3)[-1]


@pytest.fixture
def exact(tmp_path: Path) -> dict[str, Any]:
    """Settings with a store; nothing lets a request through but what is tested."""
    return {**EXACT, "NEARDUP_STORE": f"sqlite:///{tmp_path}/pages.sqlite"}


def crawl(site: Site, pages: Pages, settings: dict[str, Any], **more: Any) -> Crawl:
    site.hits.clear()
    site.pages = pages
    return run_crawl([site.url()], settings, **more)


# --- how long ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["memory", "sqlite", "redis"])
def test_infinite_times_mean_for_ever(exact, redis_server, backend):
    stores = {"memory": "memory", "redis": redis_server.address}
    settings = {
        **exact,
        "NEARDUP_STORE": stores.get(backend, exact["NEARDUP_STORE"]),
        "NEARDUP_TTL": "inf",
        "NEARDUP_DUPLICATE_URL_TTL": "inf",
    }
    # What comes last is fetched first, and judged while the next one is fetched.
    pages: Pages = {"/": hub(["/1", "/0", "/2"]), "/0": unique(0)}
    pages |= {"/1": page(MUSEUM), "/2": page(MUSEUM)}
    with serving({}) as site:
        first, second = (crawl(site, pages, settings) for _ in range(2))
    for each in (first, second):
        assert each.logged("ERROR") == []
        assert each.stored == ["", "0", "2"]
    assert len(first.dropped) == 1
    assert refused(second) == (backend != "memory")


# --- walls -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "pages_on_day_2"),
    [("sqlite", 14), ("redis", 14), ("sqlite", 1000)],
    ids=["sqlite, ended early", "redis, ended early", "sqlite, complete"],
)
def test_articles_behind_a_wall_are_stored_when_it_is_gone(
    exact, redis_server, backend, pages_on_day_2
):
    if backend == "redis":
        exact["NEARDUP_STORE"] = redis_server.address
    with serving({}) as site:
        first = crawl(site, with_walls(PATHS[:WALLED]), exact)
        assert len(first.dropped) == WALLED - 1
        assert len(articles_of(first)) == 10
        second = crawl(site, HEALTHY, {**exact, "CLOSESPIDER_PAGECOUNT": pages_on_day_2})
        # What all the others are known to be copies of is an article now.
        assert original_of(first) in articles_of(second)
        third = crawl(site, HEALTHY, exact)
    assert len(articles_of(first, second, third)) == 40
    assert refused(second) + refused(third) == 0


@pytest.mark.slow
def test_url_that_stays_behind_a_wall_does_not_affect_others(exact):
    with serving({}) as site:
        first = crawl(site, with_walls(PATHS[:WALLED]), exact)
        original = original_of(first)
        # On the second day no copy is left that could be the wall; on the third all have ended.
        second = crawl(site, with_walls([original]), {**exact, "CLOSESPIDER_PAGECOUNT": 14})
        assert refused(second) == 0
        third = crawl(site, with_walls([original]), exact)
        assert len(articles_of(first, second, third)) == 39
        assert refused(third) == 0


@pytest.mark.slow
def test_returning_wall_restores_no_discarded_record(exact):
    few = PATHS[:3]
    with serving({}) as site:
        first = crawl(site, with_walls(few), exact)
        original = original_of(first)
        crawl(site, HEALTHY, {**exact, "CLOSESPIDER_PAGECOUNT": 39})
        for _ in range(2):
            last = crawl(site, with_walls([original]), exact)
            assert refused(last) == 0
            assert articles_of(last) == {*PATHS} - {original}


@pytest.mark.slow
def test_sample_discards_contradicted_records(exact):
    few = PATHS[:3]
    with serving({}) as site:
        first = crawl(site, with_walls(few), exact)
        original = original_of(first)
        explored = crawl(
            site, with_walls([original]), {**exact, "NEARDUP_URL_RULES_SAMPLE_RATE": 1}
        )
        assert explored.stats["neardup/requests/explored"] >= 1
        assert set(few) - {original} <= articles_of(explored)
        assert refused(explored) == 0
        last = crawl(site, with_walls([original]), exact)
        assert refused(last) == 0
        assert set(few) - {original} <= articles_of(last)


def test_floods_are_not_recorded(exact, tmp_path):
    prints = {f"{path}/print": text for path, text in list(ARTICLES.items())[38:]}
    pages: Pages = {**with_walls(PATHS[:38]), **prints}
    pages["/"] = hub([*prints, *PATHS])
    with serving({}) as site:
        first = crawl(site, pages, exact)
    assert len(first.dropped) == 37 + 2
    with contextlib.closing(SqliteStore(tmp_path / "pages.sqlite", "crawl")) as store:
        known = store.known_duplicates(0)
    # Half of the flood had been saved before it was noticed, perhaps.
    assert len(without_ended(known)) == 2


def test_url_behind_a_wall_at_the_start_is_requested_again():
    """A spider that logs in on the way: its start requests come first, and links come later."""
    asked: Counter[str] = Counter()

    def answer(path: str) -> bytes:
        asked[path] += 1
        return (ARTICLES[path] if asked[path] > 1 else WALL).encode()

    early = PATHS[:6]
    pages = {**HEALTHY, **{path: Answer(partial(answer, path)) for path in early}}
    with serving(pages) as site:
        start = [site.url(path) for path in (*early, "/")]
        found = run_crawl(start, EXACT, dont_filter=True)
    assert len(articles_of(found)) == 40


# --- what is still spared ----------------------------------------------------------------


@pytest.mark.slow
def test_print_views_are_not_fetched_on_the_second_day(exact):
    settings = {**exact, "DOWNLOAD_DELAY": 0.02}
    with serving({}) as site:
        prints = {f"{path}/print": text for path, text in ARTICLES.items()}
        pages: Pages = {"/": hub([*PATHS, *prints]), **ARTICLES, **prints}
        first = crawl(site, pages, settings)
        assert len(first.dropped) == 40
        second = crawl(site, pages, settings)
        # The last of them may be fetched before their originals have been judged.
        assert refused(second) >= 35
        assert sum(site.hits.values()) == 81 - refused(second)
        explored = crawl(site, pages, {**settings, "NEARDUP_URL_RULES_SAMPLE_RATE": 1})
        assert refused(explored) == 0
        assert explored.stats["neardup/requests/explored"] >= 35
        # Who wants duplicates tagged gets them all.
        tagged = crawl(site, pages, {**settings, "NEARDUP_ACTION": "tag"})
        assert len(tagged.stored) == 81


@pytest.mark.slow
def test_copy_with_the_only_links_is_fetched_each_day(exact):
    lists = {f"/list?page={number}": 10 * number for number in range(1, 4)}
    pages: Pages = {
        **ARTICLES,
        **{
            path: page(FERRY, "News", links=" ".join([*lists, *PATHS[at : at + 10]]))
            for path, at in lists.items()
        },
        "/": page(MUSEUM, "The museum", links=" ".join(lists)),
    }
    news = unique(77)
    with serving({}) as site:
        first = crawl(site, pages, exact)
        assert len(first.dropped) == 2
        pages["/news"] = news
        for path in lists:
            pages[path] = str(pages[path]).replace("/article/19", "/news")
        second = crawl(site, pages, exact)
    assert refused(second) == 0
    assert "news" in second.stored
