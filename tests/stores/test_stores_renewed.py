"""Unchanged pages that are stored once more: they stay in their place, and nobody can tell."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup._util.urls import page_key
from scrapy_neardup.matching.stored_items import NO_ITEMS, OWN_ITEMS
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore, Store, Ticket
from scrapy_neardup.stores.in_process import InProcessStore
from scrapy_neardup.stores.sqlite.reading import SqliteReader
from scrapy_neardup.stores.sqlite.store import SqliteStore
from scrapy_neardup.stores.sqlite.writer import Batch, Page
from tests.support.storer import RULE, made_page

PAGES = 3
#: The one that is read quickly first.
UNREAD = 2


def page(number: int) -> PageSignature:
    made = made_page(number)
    return replace(made, key=page_key(made.url), body_digest=bytes([number]) * 16)


def unread(number: int) -> PageSignature:
    """The same page, read quickly."""
    known = page(number)
    passages = np.arange(1, 33, dtype="<u8").tobytes()
    return PageSignature.unread(
        url=known.url,
        key=known.key,
        site=known.site,
        title=known.title,
        recipe=known.recipe,
        passages=passages,
        body_digest=known.body_digest,
    )


def copy_of(number: int) -> PageSignature:
    """The same text on another site."""
    url = f"https://copies.example/{number}"
    return replace(page(number), url=url, key=url, site="copies.example", body_digest=b"")


@contextlib.contextmanager
def opened(path: Path, ttl: float | None = None) -> Iterator[SqliteStore]:
    with contextlib.closing(SqliteStore(path, "a", ttl, secret=bytes(16))) as store:
        store.adopt("made up", {})
        yield store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InProcessStore]:
    if request.param == "memory":
        yield MemoryStore(bytes(16))
        return
    with opened(tmp_path / "store.sqlite") as store:
        yield store


def as_killed(path: Path) -> Path:
    """Copy an open file as a kill would leave it, without writes in progress."""
    killed = path.with_name(f"killed-{path.name}")
    for part in ("", "-wal"):
        shutil.copy(f"{path}{part}", f"{killed}{part}")
    return killed


class Crawl:
    """Visits pages of a store, some of which it leaves open.

    :param respells: whether it visits each page under another spelling of its URL than before, so
        that the whole page is written anew.
    """

    def __init__(self, store: InProcessStore, *, respells: bool) -> None:
        self.store = store
        self._respells = respells
        self._visits = 0
        self._open: dict[int, Ticket] = {}

    def visit(self, number: int) -> tuple[object, ...]:
        visited = unread(number) if number == UNREAD else page(number)
        if self._respells:
            self._visits += 1
            visited = replace(visited, url=f"{visited.url}#{self._visits}")
        claim = self.store.claim(visited, RULE)
        if claim.ticket is not None:
            self._open[number] = claim.ticket
        verdict = claim.verdict
        return verdict.kind, verdict.reason, claim.is_blocked, claim.items

    def end(self, number: int, items: int | None, confirmed: bool) -> None:
        if (ticket := self._open.pop(number, None)) is None:
            return
        if items is None:
            self.store.release(ticket)
        else:
            self.store.commit(ticket, confirmed=confirmed, items=items)

    def add(self, number: int) -> None:
        self.store.add(page(number))

    def complete(self, number: int) -> None:
        self.store.complete(page(number).key, page(number))

    def state(self) -> object:
        entries = {e.signature.key: (e.items, e.signature.is_read) for e in self.store.entries()}
        copies = [self.store.claim(copy_of(number), RULE) for number in range(PAGES)]
        for claim in copies:
            if claim.ticket is not None:
                self.store.release(claim.ticket)
        verdicts = [(claim.verdict.kind, claim.is_blocked) for claim in copies]
        known = [self.store.find(page(number).key) is not None for number in range(PAGES)]
        return entries, verdicts, known, len(self.store)


numbers = st.integers(0, PAGES - 1)
steps = st.one_of(
    st.tuples(st.just("visit"), numbers),
    st.tuples(
        st.just("end"), numbers, st.sampled_from([None, NO_ITEMS, OWN_ITEMS, 8]), st.booleans()
    ),
    st.tuples(st.sampled_from(["add", "complete", "forget", "confirm", "write"]), numbers),
)


def perform(crawl: Crawl, step: tuple[object, ...]) -> object:
    match step:
        case ("visit", int(number)):
            return crawl.visit(number)
        case ("end", int(number), items, bool(confirmed)):
            crawl.end(number, items, confirmed)  # type: ignore[arg-type]
        case ("add", int(number)):
            crawl.add(number)
        case ("complete", int(number)):
            crawl.complete(number)
        case ("forget", int(number)):
            return crawl.store.forget(page(number).key)
        case ("confirm", _):
            crawl.store.confirm(crawl.store.mark())
        case _:
            crawl.store.flush()
    return None


@settings(deadline=None)
@given(st.lists(steps, min_size=4, max_size=30))
def test_a_page_that_stays_in_its_place_is_known_like_one_that_is_written_anew(todo):
    crawls = [Crawl(MemoryStore(bytes(16)), respells=respells) for respells in (False, True)]
    for step in todo:
        told, other = (perform(crawl, step) for crawl in crawls)
        assert told == other
        assert crawls[0].state() == crawls[1].state()


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.lists(steps, min_size=4, max_size=30))
def test_after_a_kill_it_is_known_like_one_that_was_written_anew(todo):
    with tempfile.TemporaryDirectory() as folder:
        left = []
        for respells in (False, True):
            path = Path(folder) / f"{respells}.sqlite"
            with opened(path) as store:
                crawl = Crawl(store, respells=respells)
                for step in todo:
                    perform(crawl, step)
                store.flush()
                killed = as_killed(path)
            with opened(killed) as again, opened(path) as closed:
                after = [Crawl(one, respells=False).state() for one in (again, closed)]
                left.append((again.forgotten, *after))
        assert left[0] == left[1]


def stored(store: Store, signature: PageSignature, *, confirmed: bool = True) -> None:
    claim = store.claim(signature, RULE)
    assert claim.ticket is not None
    store.commit(claim.ticket, confirmed=confirmed)


@pytest.mark.parametrize("is_written", [False, True])
def test_a_page_whose_last_items_may_be_lost_is_forgotten_after_a_kill(tmp_path, is_written):
    path = tmp_path / "store.sqlite"
    with opened(path) as store:
        for number in range(3):
            stored(store, page(number))
        if is_written:
            store.flush()
        stored(store, page(0), confirmed=False)
        stored(store, page(1), confirmed=False)
        store.flush()
        with opened(as_killed(path)) as killed:
            assert (killed.forgotten, len(killed)) == (2, 1)
        store.confirm(store.mark())
        store.flush()
        with opened(as_killed(path)) as killed:
            assert (killed.forgotten, len(killed)) == (0, 3)


def test_nothing_of_an_unchanged_page_is_written_anew(store):
    stored(store, page(1))
    stored(store, page(2))
    [first, _] = store.numbers().tolist()
    before = store.find(page(1).key)
    for _ in range(3):
        claim = store.claim(page(1), RULE)
        assert claim.verdict.reason == "unchanged"
        store.commit(claim.ticket, items=8)
    assert store.numbers()[0] == first
    after = store.find(page(1).key)
    assert (after.signature, after.items) == (before.signature, 8)
    assert after.stored_at >= before.stored_at


def test_the_time_of_the_last_visit_counts(tmp_path, monkeypatch):
    now = 1_000_000_000
    monkeypatch.setattr("time.time", lambda: now)
    path = tmp_path / "store.sqlite"
    with opened(path, ttl=100) as store:
        stored(store, page(1))
        now += 90
        stored(store, page(1))
        now += 90
        assert store.find(page(1).key) is not None
    with opened(path, ttl=100) as store:
        assert store.find(page(1).key) is not None
        now += 20
        assert store.find(page(1).key) is None


def test_a_page_does_not_expire_while_it_is_stored_once_more(tmp_path, monkeypatch):
    now = 1_000_000_000
    monkeypatch.setattr("time.time", lambda: now)
    with opened(tmp_path / "store.sqlite", ttl=100) as store:
        stored(store, page(1))
        now += 99
        claim = store.claim(page(1), RULE)
        now += 2
        assert store.claim(copy_of(1), RULE).is_blocked
        store.commit(claim.ticket)
        assert store.claim(copy_of(1), RULE).verdict.duplicate_of == page(1).url


def test_pages_are_listed_by_when_they_were_stored_last(tmp_path, monkeypatch):
    now = 1_000_000_000
    monkeypatch.setattr("time.time", lambda: now)
    path = tmp_path / "store.sqlite"
    with opened(path) as store:
        for number in (0, 1, 2, 0):
            now += 10
            stored(store, page(number))
        order = [page(number).url for number in (1, 2, 0)]
        assert [entry.signature.url for entry in store.entries()] == order
    with contextlib.closing(SqliteReader(path)) as reader:
        assert [stored.signature.url for stored in reader.pages("a")] == order
        assert [stored.signature.url for stored in reader.pages("a", page(0).site)] == order[2:]


def test_a_page_that_is_safe_now_outlives_a_kill(tmp_path):
    path = tmp_path / "store.sqlite"
    with opened(path) as store:
        stored(store, page(1), confirmed=False)
        store.flush()
        stored(store, page(1))
        store.flush()
        with opened(as_killed(path)) as killed:
            assert (killed.forgotten, len(killed)) == (0, 1)


def test_an_unchanged_page_whose_item_fails_stays_as_it_is(store):
    stored(store, page(1))
    store.release(store.claim(page(1), RULE).ticket)
    assert store.claim(copy_of(1), RULE).verdict.duplicate_of == page(1).url


def test_an_unchanged_page_that_is_forgotten_meanwhile_is_stored_anew(store):
    stored(store, page(1))
    claim = store.claim(page(1), RULE)
    assert store.forget(page(1).key)
    assert store.claim(copy_of(1), RULE).is_blocked
    store.commit(claim.ticket)
    assert store.claim(copy_of(1), RULE).verdict.duplicate_of == page(1).url
    assert len(store) == 1


def test_a_page_that_could_not_be_written_is_not_lost_by_its_renewal():
    earlier, later = Batch(), Batch()
    earlier.pages[1] = Page(1, 0, b"row", b"page", mark=3)
    later.pages[1] = Page(1, 0, b"new row", None, mark=0)
    later.put_before(earlier)
    assert later.pages == {1: Page(1, 0, b"new row", b"page", mark=0)}


def test_a_text_that_was_read_while_its_page_was_open_is_not_lost_with_it():
    store = MemoryStore(bytes(16))
    stored(store, unread(UNREAD))
    claim = store.claim(unread(UNREAD), RULE)
    store.complete(page(UNREAD).key, page(UNREAD))
    store.forget(page(UNREAD).key)
    store.commit(claim.ticket)
    assert store.claim(copy_of(UNREAD), RULE).verdict.duplicate_of == page(UNREAD).url


def test_a_page_may_be_added_while_it_is_open(store):
    stored(store, page(1))
    claim = store.claim(page(1), RULE)
    store.add(page(1))
    store.commit(claim.ticket)
    assert len(store) == 1
    assert store.claim(copy_of(1), RULE).verdict.duplicate_of == page(1).url
