"""What a failed feed has lost is stored from copies that come later in the same crawl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import LOOPS, Crawl, run_crawl
from tests.support.redis_servers import RedisServer
from tests.support.server import Site, serving
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, page

#: Copies have a number behind their name.
PAGES = {
    f"/{name}{copy}": page(text, frame=copy)
    for name, text in (("ferry", FERRY), ("museum", MUSEUM), ("tea", TEA), ("bridge", BRIDGE))
    for copy in ("", "2", "3")
}


@pytest.fixture(scope="module")
def served() -> Iterator[Site]:
    with serving(PAGES) as served:
        yield served


def crawled(site: Site, folder: Path, failing: str, *paths: str, **how: Any) -> Crawl:
    """Crawl pages one after the other, with batches of two items; some uploads fail."""
    batches = f"away://{failing}{folder}/items-%(batch_id)d.jsonl"
    settings = {
        "CONCURRENT_REQUESTS": 1,
        "FEEDS": {batches: {"format": "jsonlines", "batch_item_count": 2, "store_empty": False}},
        "FEED_STORAGES": {"away": "tests.support.feed_storages.Away"},
        **how.pop("settings", {}),
    }
    return run_crawl([site.url(path) for path in paths], settings, **how)


def uploaded(folder: Path) -> list[dict[str, Any]]:
    """The items that have reached the storage."""
    files = folder.glob("items-*")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def paths(folder: Path) -> list[str]:
    return sorted(item["path"] for item in uploaded(folder))


@pytest.mark.parametrize("loop", LOOPS)
def test_copies_of_a_batch_that_failed_are_stored(tmp_path, served, loop):
    order = "/ferry", "/museum", "/tea", "/ferry2", "/ferry3", "/tea2", "/museum2"
    crawl = crawled(served, tmp_path, "1", *order, loop=loop)
    assert paths(tmp_path) == ["ferry2", "museum2", "tea"]
    assert crawl.counts("items/") == {"kept": 5, "dropped": 2}
    amid, end = crawl.logged("WARNING")
    assert "2 pages" in amid
    assert "next run will forget" not in end


@pytest.mark.parametrize("store", ["sqlite", pytest.param("redis", marks=pytest.mark.slow)])
def test_pages_of_batches_that_were_uploaded_stay_known(tmp_path, served, request, store):
    address = f"sqlite:///{tmp_path}/pages.sqlite"
    if store == "redis":
        redis: RedisServer = request.getfixturevalue("redis_server")
        address = redis.address
    order = "/tea", "/bridge", "/ferry", "/museum", "/bridge2", "/ferry2", "/tea2", "/museum2"
    crawl = crawled(served, tmp_path, "2", *order, settings={"NEARDUP_STORE": address})
    assert paths(tmp_path) == ["bridge", "ferry2", "museum2", "tea"]
    assert crawl.counts("items/") == {"kept": 6, "dropped": 2}
    assert "next run will forget" in crawl.logged("WARNING")[-1]


def test_an_item_of_several_of_a_page_is_stored_from_a_copy(tmp_path, served):
    order = "/tea", "/ferry", "/museum", "/ferry2"
    texts = {"texts": ["one", "two", "three"], "items_per_page": 3}
    crawled(served, tmp_path, "2,3", *order, **texts)
    stored = {(item["path"].strip("23"), item["text"]) for item in uploaded(tmp_path)}
    assert {text for path, text in stored if path == "ferry"} == {"one", "two", "three"}


def test_items_judged_by_a_field_are_stored_from_copies(tmp_path, served):
    settings = {"NEARDUP_ITEM_FIELD": "text"}
    order = "/ferry", "/museum", "/ferry2", "/museum2"
    crawled(served, tmp_path, "1", *order, settings=settings)
    assert paths(tmp_path) == ["ferry2", "museum2"]
