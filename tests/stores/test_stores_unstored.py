"""Signatures of pages that were not stored, which a SQLite file keeps for later runs."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.reasons import Reason
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.stores.sqlite import unstored
from scrapy_neardup.stores.sqlite import writer as sqlite_writer
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support.storer import keep, made_page
from tests.support.texts import article, page


def body(number: int, version: int = 0) -> PageSignature:
    return replace(made_page(number, version), body_digest=bytes([number % 256, version] * 8))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@contextlib.contextmanager
def opened(path: Path, namespace: str = "a", recipe: str = "made up", ttl: float | None = None):
    with contextlib.closing(SqliteStore(path, namespace, ttl)) as store:
        store.adopt(recipe, {})
        yield store


def kept(store: SqliteStore, numbers: range) -> list[int]:
    return [number for number in numbers if store.find_unstored(body(number).key) is not None]


def change(path: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_later_run_finds_the_last_signature_of_each_page(path):
    with opened(path) as store:
        for page in (body(1), body(2), body(1, version=1)):
            store.note_unstored(page)
    with opened(path) as store:
        assert store.find_unstored(body(1).key) == body(1, version=1)
        assert store.find_unstored(body(2).key) == body(2)
        assert store.find_unstored(body(3).key) is None
        # Nothing is compared with them, and they are no pages of the store.
        assert (len(store), list(store.entries())) == (0, [])
        keep(store, body(1, version=1))


def test_what_is_noted_now_is_found_once_it_is_written(path):
    with opened(path) as store:
        store.note_unstored(body(1))
        store.flush()
        assert store.find_unstored(body(1).key) == body(1)


def test_keys_with_all_bits_are_found_again(path):
    pages = [body(number) for number in range(64)]
    with opened(path) as store:
        for page in pages:
            store.note_unstored(page)
    with opened(path) as store:
        assert [store.find_unstored(page.key) for page in pages] == pages


def test_namespaces_know_nothing_of_each_other(path):
    with opened(path, "a") as store:
        store.note_unstored(body(1))
    with opened(path, "b") as store:
        assert kept(store, range(3)) == []


def test_a_signature_of_another_recipe_is_none(path):
    with opened(path) as store:
        store.note_unstored(body(1))
    with opened(path, recipe="another") as store:
        assert kept(store, range(3)) == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE unstored SET signature = substr(signature, 2)",
        "UPDATE unstored SET signature = 'text'",
        "UPDATE unstored SET signature = x''",
    ],
)
def test_a_damaged_signature_is_none(path, damage):
    with opened(path) as store:
        store.note_unstored(body(1))
    change(path, damage)
    with opened(path) as store:
        assert kept(store, range(3)) == []


def test_the_signature_of_another_page_is_none(path):
    with opened(path) as store:
        for number in (1, 2):
            store.note_unstored(body(number))
    change(path, "UPDATE unstored SET signature = (SELECT signature FROM unstored WHERE rowid = 2)")
    with opened(path) as store:
        assert kept(store, range(3)) == [2]


def with_another_table(path: Path) -> None:
    change(path, "DROP TABLE unstored")
    change(path, "CREATE TABLE unstored(of_another)")


def with_a_broken_index(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'unstored' AND type = 'index'"
        [place], [size] = (connection.execute(q).fetchone() for q in (query, "PRAGMA page_size"))
    with path.open("r+b") as file:
        file.seek((place - 1) * size)
        file.write(b"\xff" * size)


@pytest.mark.parametrize("damage", [with_another_table, with_a_broken_index])
def test_a_damaged_table_keeps_no_page_from_being_stored(path, damage, caplog):
    with opened(path) as store:
        store.note_unstored(body(1))
        keep(store, body(2))
    damage(path)
    with opened(path) as store:
        assert kept(store, range(3)) == []
        for number in (3, 4):
            store.note_unstored(body(number))
            keep(store, body(number))
            store.flush()
        assert store.problem is None
    [warning] = caplog.messages
    assert warning.startswith("Cannot keep the signatures of duplicates in ")
    with opened(path) as store:
        assert [entry.signature for entry in store.entries()] == [body(2), body(3), body(4)]


def test_the_oldest_are_removed_beyond_the_bound(path, monkeypatch):
    monkeypatch.setattr(unstored, "MAX_UNSTORED", 10)
    monkeypatch.setattr(sqlite_writer, "_NOTED_UNTIL_TRIM", 5)
    with opened(path, "b") as other:
        other.note_unstored(body(0))
    with opened(path, "a") as store:
        for number in range(40):
            store.note_unstored(body(number))
            store.flush()
        found = kept(store, range(40))
        # One that is seen again is a new one.
        again = found[0]
        for number in (again, *range(40, 46)):
            store.note_unstored(body(number))
            store.flush()
        assert again in kept(store, range(46))
    # Between two trims there may be some more.
    assert found[-10:] == list(range(30, 40))
    assert len(found) <= 16
    with opened(path, "b") as other:
        assert kept(other, range(3)) == [0]


def test_expired_ones_are_removed_when_the_store_is_compacted(path):
    with opened(path) as store:
        for number in range(2):
            store.note_unstored(body(number))
    old = int(time.time()) - 7200
    change(path, f"UPDATE unstored SET seen_at = {old} WHERE rowid = 1")
    with opened(path, ttl=3600) as store:
        store.compact()
        assert kept(store, range(3)) == [1]


def test_a_memory_store_keeps_none():
    store = MemoryStore()
    store.note_unstored(body(1))
    assert store.find_unstored(body(1).key) is None


def sign(url: str, html: str) -> PageSignature:
    return Signer(secret=bytes(16)).sign_html(url, html)


def edited(version: int, url: str = "https://site.example/b") -> PageSignature:
    """A story, of which each version has another first number."""
    text = f"The fire destroyed {17 + version} houses. " + " ".join(article(200))
    return sign(url, page(text, "Fire"))


def test_an_edited_copy_that_has_outlived_its_original_is_a_revisit(path):
    rule = Rule()
    with opened(path, recipe=edited(0).recipe) as store:
        keep(store, edited(0, "https://old.example/a"))
        assert store.claim(edited(0), rule).verdict.is_duplicate
        store.note_unstored(edited(0))
    with opened(path, recipe=edited(0).recipe) as store:
        assert store.claim(edited(0), rule).verdict.is_duplicate
        claim = store.claim(edited(1), rule)
        assert (claim.verdict.kind, claim.verdict.reason) == ("revisit", Reason.CHANGED)
        assert claim.ticket is not None
        store.release(claim.ticket)
        # A page that was not seen before may be a copy.
        other = edited(1, "https://site.example/c")
        assert store.claim(other, rule).verdict.is_duplicate


def test_an_edited_copy_whose_original_was_stored_since_is_a_copy(path, monkeypatch):
    with opened(path, recipe=edited(0).recipe) as store:
        original = edited(0, "https://old.example/a")
        keep(store, original)
        store.note_unstored(edited(0))
        store.flush()
        later = time.time() + 60
        monkeypatch.setattr(time, "time", lambda: later)
        keep(store, original)
        assert store.claim(edited(1), Rule()).verdict.is_duplicate


def test_another_page_in_the_place_of_a_copy_may_be_a_copy_of_its_own(path):
    wall = page("Please sign in to read on. " + " ".join(article(200, seed=9)), "Sign in")
    with opened(path, recipe=edited(0).recipe) as store:
        keep(store, edited(0, "https://old.example/a"))
        keep(store, sign("https://site.example/login", wall))
        store.note_unstored(edited(0))
        store.flush()
        assert store.claim(sign("https://site.example/b", wall), Rule()).verdict.is_duplicate
