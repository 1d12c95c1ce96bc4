"""A damaged SQLite file raises a StoreError in every call; no page is lost."""

from __future__ import annotations

import contextlib
import random
import sqlite3

import pytest

from scrapy_neardup.exceptions import StoreError
from scrapy_neardup.stores.sqlite.reading import SqliteReader
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support.crawl import run_crawl
from tests.support.damaging import ASKS, damaged, make_store
from tests.support.server import serving
from tests.support.storer import RULE, made_page
from tests.support.texts import FERRY, MUSEUM, TEA, page

PAGES = {"/ferry": page(FERRY), "/copy": page(FERRY, frame="another"), "/museum": page(MUSEUM)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "pages.sqlite"
    make_store(path, 300)
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("ask", ASKS)
def test_damage_anywhere_is_an_error_of_the_store(whole, tmp_path, ask):
    refused = 0
    for seed in range(60):
        rng = random.Random(f"{ask.__name__} {seed}")
        path = tmp_path / f"{seed}.sqlite"
        path.write_bytes(damaged(whole, rng))
        try:
            ask(path, rng)
        except StoreError:
            refused += 1
        for file in tmp_path.glob("*"):
            file.unlink()
    # A command says so and ends.
    assert refused > 20 or ask.__name__ == "_command"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE rows SET row = NULL WHERE id % 7 = 3",
        "UPDATE rows SET row = 5 WHERE id % 7 = 3",
        "UPDATE rows SET row = 'text' WHERE id % 7 = 3",
        # Of these two, the one is too long by what the other lacks.
        "UPDATE rows SET row = CASE id % 2 WHEN 0 THEN CAST(row || x'00' AS BLOB) "
        "ELSE substr(row, 2) END",
        "UPDATE pages SET page = 5 WHERE id % 7 = 3",
        "UPDATE namespaces SET parts = '[1, 2]'",
        "UPDATE namespaces SET parts = '{\"tokenizer\": 5}'",
        "UPDATE namespaces SET parts = '{'",
        "UPDATE namespaces SET secret = x'00'",
        "UPDATE namespaces SET secret = 'a text of so many letters'",
        "UPDATE namespaces SET recipe = x'00'",
        "UPDATE rules SET name = x'ff' "
        "WHERE namespace = 1 AND name = (SELECT max(name) FROM rules)",
        "UPDATE rules SET body = 5",
        "UPDATE copies SET original = 'text'",
        "UPDATE copies SET seen_at = 1 << 40",
        "UPDATE better_urls SET body = 5",
        "UPDATE better_urls SET body = x'05'",
        "UPDATE better_urls SET body = x'01ff'",
    ],
)
def test_what_no_store_wrote_is_an_error_of_the_store(whole, tmp_path, change):
    path = tmp_path / "pages.sqlite"
    path.write_bytes(whole)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table'"
        )
        connection.commit()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute(change).rowcount
        connection.commit()
    for ask in (ask_store, ask_reader):
        with pytest.raises(StoreError, match="damaged"):
            ask(path)


def ask_store(path):
    for name in ("a", "b"):
        with contextlib.closing(SqliteStore(path, name)) as store:
            list(store.entries())
            store.known_duplicates(0)


def ask_reader(path):
    with contextlib.closing(SqliteReader(path)) as reader:
        for space in reader.namespaces():
            list(reader.pages(space.name))
            reader.figures(space.name)
            reader.rules(space.name)
            reader.known_duplicates(space.name, 0)
            reader.better_urls(space.name)


@pytest.mark.parametrize("place", [0, 8], ids=["fingerprint", "key"])
def test_a_row_that_does_not_belong_to_its_page_is_an_error_of_the_store(whole, tmp_path, place):
    path = tmp_path / "pages.sqlite"
    path.write_bytes(whole)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        # SQLite counts from 1.
        row = f"substr(row, 1, {place}) || randomblob(8) || substr(row, {place + 9})"
        connection.execute(f"UPDATE rows SET row = CAST({row} AS BLOB)")
        connection.commit()
    with contextlib.closing(SqliteStore(path, "a", ttl=3600.0)) as store:
        claim = store.claim(made_page(1, 1), RULE)
        if place:
            # Under its address it is not found, and counts as new.
            assert claim.verdict.kind == "new"
            store.commit(claim.ticket)
            return
        with pytest.raises(StoreError, match="index is damaged"):
            store.commit(claim.ticket)
        # Nothing has changed: it can be given up, and claimed again.
        store.release(claim.ticket)
        assert not store.claim(made_page(1, 1), RULE).is_blocked


@pytest.mark.slow
@pytest.mark.parametrize("on_error", ["keep", "stop"])
def test_a_crawl_that_meets_damage_keeps_its_pages(tmp_path, on_error):
    path = tmp_path / "pages.sqlite"
    settings = {"NEARDUP_STORE": f"sqlite:///{path}", "NEARDUP_REVISIT": "drop"}
    with serving({**PAGES, "/tea": page(TEA)}) as site:
        urls = [site.url(name) for name in PAGES]
        one_by_one = {"CONCURRENT_REQUESTS": 1}
        assert len(run_crawl(urls, {**settings, **one_by_one}).stored) == 2
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE pages SET page = substr(page, 2)")
            connection.commit()
        crawl = run_crawl(
            [*urls, site.url("/tea")], {**settings, "NEARDUP_ON_STORE_ERROR": on_error}
        )
    assert "damaged" in crawl.logged("WARNING" if on_error == "keep" else "ERROR")[0]
    if on_error == "keep":
        assert crawl.stored == ["copy", "ferry", "museum", "tea"]
        assert crawl.stats["neardup/store/errors"] > 0
    else:
        assert crawl.stats["finish_reason"] == "neardup_store"
