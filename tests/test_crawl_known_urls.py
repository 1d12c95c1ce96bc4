"""Duplicate URLs of earlier crawls: real crawls of a site that changes from one day to the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crawl import Crawl, run_crawl
from tests.redis_servers import RedisServer
from tests.server import Answer, Site, serving
from tests.test_crawl_learning import Pages, hub, unique
from tests.texts import article, page

ARTICLES: Pages = {f"/article/{number}": unique(number) for number in range(40)}
PATHS = list(ARTICLES)
HEALTHY: Pages = {"/": hub(PATHS), **ARTICLES}
WALL = page(" ".join(article(80, seed=999)), "Log in")
#: So many articles stand behind the wall: the flood detector needs one duplicate more.
WALLED = 30
#: Nothing else than what is tested lets a request through.
EXACT = {"NEARDUP_EXPLORE": 0, "CONCURRENT_REQUESTS": 1}


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


@pytest.fixture(params=["sqlite", "redis"])
def exact(request: pytest.FixtureRequest, tmp_path: Path, redis_server: RedisServer) -> Any:
    stores = {"sqlite": f"sqlite:///{tmp_path}/pages.sqlite", "redis": redis_server.address}
    return {**EXACT, "NEARDUP_STORE": stores[request.param]}


def crawl(site: Site, pages: Pages, settings: dict[str, Any], **more: Any) -> Crawl:
    site.pages = pages
    return run_crawl([site.url()], settings, **more)


# --- walls -------------------------------------------------------------------------------


@pytest.mark.parametrize("pages_on_day_2", [14, 1000], ids=["ended early", "complete"])
def test_articles_behind_a_wall_are_stored_when_it_is_gone(exact, pages_on_day_2):
    with serving({}) as site:
        first = crawl(site, with_walls(PATHS[:WALLED]), exact)
        assert len(first.dropped) == WALLED - 1
        assert len(articles_of(first)) == 10
        early = {**exact, "CLOSESPIDER_PAGECOUNT": pages_on_day_2}
        second = crawl(site, HEALTHY, early)
        assert original_of(first) in articles_of(second)
        third = crawl(site, HEALTHY, exact)
    assert len(articles_of(first, second, third)) == 40
    assert refused(second) + refused(third) == 0
