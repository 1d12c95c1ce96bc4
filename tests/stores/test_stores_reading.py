"""Opening a store for reading changes nothing and does not disturb its writer."""

from __future__ import annotations

import shutil
import sqlite3
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup import NearDupDetector, Rule
from scrapy_neardup.exceptions import InvalidOption, StoreError, StoreMissing
from scrapy_neardup.matching.candidates import site_digest
from scrapy_neardup.stores import Figures, open_reader
from scrapy_neardup.stores.sqlite.reading import SqliteReader
from scrapy_neardup.stores.sqlite.store import FORMAT, SqliteStore
from tests.stores.test_stores import MOST_OPEN, StoreTests
from tests.support.claims import met
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA

TEXTS = {
    "https://a.example/ferry": FERRY,
    "https://a.example/museum": MUSEUM,
    "https://b.example/tea": TEA,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of three pages in one namespace and none in the other."""
    path = tmp_path / "pages.sqlite"
    store = SqliteStore(path, "news")
    detector = NearDupDetector(store=store)
    for number, (url, text) in enumerate(TEXTS.items()):
        store.add(detector.signature(url=url, text=text), 1_700_000_000 + number)
    store.close()
    SqliteStore(path, "empty").close()
    return path


def contents(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def unclean_copy(path: Path, target: Path) -> Path:
    """The file as a process leaves it that is killed."""
    store = SqliteStore(path, "news")
    detector = NearDupDetector(store=store)
    claim = store.claim(detector.signature(url="https://c.example/", text=BRIDGE), Rule())
    assert claim.ticket is not None
    store.commit(claim.ticket, confirmed=False)
    store.flush()
    target.mkdir()
    for file in path.parent.glob("*.sqlite*"):
        shutil.copy(file, target)
    store.close()
    return target / "pages.sqlite"


def test_what_it_tells(path):
    reader = SqliteReader(path)
    assert reader.format == FORMAT
    assert reader.name == f"sqlite:///{path}"
    assert reader.n_bytes == path.stat().st_size
    empty, news = reader.namespaces()
    assert (empty.name, empty.recipe, empty.parts) == ("empty", "", {})
    assert (news.name, news.parts["extractor"]) == ("news", "trafilatura-6")
    assert reader.figures("news") == Figures(3, 0, 1_700_000_000, 1_700_000_002)
    assert reader.figures("empty") == Figures(0, 0, None, None)
    pages = list(reader.pages("news"))
    assert [page.signature.url for page in pages] == list(TEXTS)
    assert [page.stored_at - 1_700_000_000 for page in pages] == [0, 1, 2]
    assert all(page.is_confirmed and page.signature.recipe == news.recipe for page in pages)
    assert [p.signature.url for p in reader.pages("news", "a.example")] == list(TEXTS)[:2]
    assert list(reader.pages("news", "c.example")) == list(reader.pages("empty")) == []
    reader.close()
    store = SqliteStore(path, "news")
    store.adopt(news.recipe, news.parts)
    assert [entry.signature for entry in store.entries()] == [page.signature for page in pages]
    assert store.secret == news.secret
    store.close()


def test_a_secret_is_not_shown(path):
    assert "secret" not in repr(SqliteReader(path).namespaces())


def test_nothing_changes(path):
    before = contents(path)
    reader = SqliteReader(path)
    reader.figures("news")
    list(reader.pages("news"))
    store = reader.overlay("news")
    detector = NearDupDetector(store=store)
    met(store, detector.signature(url="https://d.example/", text=BRIDGE), Rule())
    assert store.forget("https://b.example/tea")
    store.compact()
    store.close()
    after = contents(path)
    assert {name: after[name] for name in before} == before
    assert all(not data for name, data in after.items() if name.endswith("-wal"))


def test_it_reads_while_a_crawl_writes_and_stays_with_what_was(path):
    store = SqliteStore(path, "news")
    detector = NearDupDetector(store=store)
    reader = SqliteReader(path)
    store.add(detector.signature(url="https://d.example/", text=BRIDGE))
    store.forget("https://b.example/tea")
    store.flush()
    assert [page.signature.url for page in reader.pages("news")] == list(TEXTS)
    later = SqliteReader(path)
    urls = [page.signature.url for page in later.pages("news")]
    assert urls == [*list(TEXTS)[:2], "https://d.example/"]
    overlay = reader.overlay("news")
    assert overlay.find("https://b.example/tea")
    for one in (later, overlay, store):
        one.close()


def test_unconfirmed_pages_are_told_and_block_nobody(path, tmp_path):
    reader = SqliteReader(unclean_copy(path, tmp_path / "copy"))
    assert reader.figures("news").unconfirmed == 1
    assert reader.figures("news").pages == 4
    assert [page.is_confirmed for page in reader.pages("news")] == [True] * 3 + [False]
    overlay = reader.overlay("news")
    assert (len(overlay), overlay.forgotten) == (3, 1)
    detector = NearDupDetector(store=overlay)
    assert detector.check(url="https://e.example/", text=BRIDGE).kind == "new"
    assert detector.check(url="https://f.example/", text=BRIDGE).kind == "duplicate"
    # Its number may be that of the page that was left out.
    assert [e.signature.url for e in overlay.entries()] == [*TEXTS, "https://e.example/"]
    overlay.close()


def test_an_overlay_knows_the_pages_and_what_came_to_them(path):
    overlay = SqliteReader(path).overlay("news")
    detector = NearDupDetector(store=overlay)
    verdict = detector.check(url="https://z.example/", text=TEA)
    assert (verdict.kind, verdict.duplicate_of) == ("duplicate", "https://b.example/tea")
    assert detector.check(url="https://b.example/tea", text=TEA).reason == "unchanged"
    assert detector.check(url="https://b.example/tea", text=BRIDGE).reason == "changed"
    assert detector.check(url="https://z.example/", text=BRIDGE).duplicate_of is not None
    assert detector.check(url="https://z.example/", text=TEA).kind == "new"
    assert len(overlay) == 4
    overlay.close()


def test_files_that_are_no_stores(path, tmp_path):
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t(x)")
    connection.close()
    later = shutil.copy(path, tmp_path / "later.sqlite")
    with sqlite3.connect(later) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(path.read_bytes()[:-100])
    cut_more = tmp_path / "cut_more.sqlite"
    cut_more.write_bytes(path.read_bytes()[:-5000])
    text = tmp_path / "text.sqlite"
    text.write_text("This is no database at all, whatever its name says." * 100)
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    for file, complaint in (
        (other, "it is a database of something else"),
        (later, f"it has format {FORMAT + 1}, from a later scrapy-neardup"),
        (cut, "it has been cut off"),
        (cut_more, "it is damaged or no store at all; put a whole copy"),
        (text, "it is damaged or no store at all"),
        (empty, "it is empty"),
        (tmp_path, "it is no file"),
    ):
        with pytest.raises(StoreError, match=complaint) as caught:
            SqliteReader(file)
        assert str(caught.value).startswith(f"store sqlite:///{file}: ")


def test_what_is_not_there_is_not_made(tmp_path):
    with pytest.raises(StoreMissing, match="there is no such file"):
        open_reader(f"sqlite:///{tmp_path}/none.sqlite")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ["memory", "sqlite:///", "sqlit:///x", "x.sqlite"])
def test_addresses_that_cannot_be_looked_at(address):
    with pytest.raises(InvalidOption, match=r"store is '.*', but it must be"):
        open_reader(address)


def test_a_name_that_means_something_in_an_address(path, tmp_path):
    odd = tmp_path / "50% off? #1.sqlite"
    path.rename(odd)
    assert len(open_reader(f"sqlite:///{odd}").namespaces()) == 2


def test_a_namespace_without_pages_takes_a_secret_and_others_keep_theirs(path):
    secret = bytes(range(32))
    for namespace, takes_it in (("empty", True), ("other", True), ("news", False)):
        store = SqliteStore(path, namespace, secret=secret)
        assert (store.secret == secret) is takes_it
        assert len(store) == (0 if takes_it else 3)
        store.close()
    assert [space.secret == secret for space in SqliteReader(path).namespaces()] == [1, 0, 1]


class TestOverlay(StoreTests):
    @pytest.fixture
    def make_store(self, tmp_path):
        numbers = count()
        stores: list[Any] = []

        def make(**options: Any):
            path = tmp_path / f"{next(numbers)}.sqlite"
            SqliteStore(path, "it").close()
            # Each example of a test makes one, and an open one takes megabytes.
            if len(stores) == MOST_OPEN:
                stores.pop(0).close()
            stores.append(SqliteReader(path).overlay("it", **options))
            return stores[-1]

        yield make
        for store in stores:
            if not store.users.is_closed:
                store.close()


def test_an_overlay_learns_of_a_site_from_the_file_and_from_what_came_to_it(path):
    overlay = SqliteReader(path).overlay("news")
    detector = NearDupDetector(store=overlay)
    assert detector.check(url="https://a.example/bridge", text=BRIDGE).kind == "new"
    found = [overlay._archive.of_site(site_digest("a.example"), most) for most in (10, 2)]
    assert found == [[0, 1, 3], [1, 3]]
    overlay.close()
