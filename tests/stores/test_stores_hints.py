"""Rules and known duplicates: in a file, in Redis, and when the disk is full."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.exceptions import StoreError, StoreUnreachable
from scrapy_neardup.stores import Figures, StoreReader, open_reader
from scrapy_neardup.stores import hints as advice
from scrapy_neardup.stores.redis.hints import _PUT_NAMED
from scrapy_neardup.stores.redis.layout import KeySpace
from scrapy_neardup.stores.redis.store import RedisStore
from scrapy_neardup.stores.sqlite import writer as sqlite_writer
from scrapy_neardup.stores.sqlite.store import FORMAT, SqliteStore
from scrapy_neardup.stores.sqlite.writer import Batch
from scrapy_neardup.stores.visits import VISIT
from tests.stores.test_stores import digests, known
from tests.stores.test_stores_sqlite import as_killed, line_of, opened, storer, tell
from tests.support.processes import wait_for
from tests.support.redis_servers import Proxy, RedisCluster, RedisServer
from tests.support.storer import keep, made_page

RULES = {"a.example param sort": b'{"state": "in_force"}', "\ud800 茶": b"\0\xff"}
TIME = 1_700_000_000
KNOWN = [(2**64 - 1, TIME), (3, TIME + 1), (2**63, TIME + 1)]


def fill(store: Any) -> None:
    store.put_rules(RULES)
    store.note_duplicates(digests(2**64 - 1, 3), TIME)
    store.note_duplicates(digests(2**63, 3), TIME + 1)


def require_filled(store: Any) -> None:
    assert store.rules() == RULES
    assert sorted(known(store)) == sorted(KNOWN)
    assert known(store)[0] == KNOWN[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pages.sqlite"


def tables(path: Path) -> set[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        [version] = connection.execute("PRAGMA user_version").fetchone()
        assert version == FORMAT
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def rows(path: Path, table: str) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@contextlib.contextmanager
def looked_at(address: str):
    with contextlib.closing(open_reader(address)) as reader:
        yield reader


def counts(reader: StoreReader, namespace: str = "default") -> tuple[int, int]:
    figures = reader.figures(namespace)
    return figures.rules, figures.known_duplicates


# --- in memory ---


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 7))
def test_what_is_noted_takes_no_more_room_than_is_agreed(sizes, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advice, "MAX_KNOWN", most)
        hints, last = advice.MemoryHints(), 0
        for number, size in enumerate(sizes):
            hints.note_duplicates(digests(*range(last, last + size)), number)
            last += size
            assert len(hints._room) <= 4 * most
        found = hints.known_duplicates(0)["digest"].tolist()
        assert found == list(range(max(0, last - most), last))


# --- in a file ---


class TestFile:
    def test_they_are_there_when_it_is_opened_again(self, path):
        with opened(path) as store, opened(path, "other") as other:
            fill(store)
            other.put_rules({"b.example": b"other"})
            require_filled(store)
        for _ in range(2):
            with opened(path) as store, opened(path, "other") as other:
                require_filled(store)
                assert (other.rules(), known(other)) == ({"b.example": b"other"}, [])
        with opened(path) as store:
            store.put_rules(dict.fromkeys(RULES, b""))
            store.note_duplicates(digests(3), TIME + 7)
        with opened(path) as store:
            assert store.rules() == {}
            assert known(store)[-1] == (3, TIME + 7)

    def test_they_are_there_after_a_kill_as_pages_are(self, path, tmp_path):
        with opened(path) as store:
            fill(store)
            keep(store, made_page(1))
            store.flush()
            with opened(as_killed(path, tmp_path / "killed")) as killed:
                require_filled(killed)
                assert len(killed) == 1

    def test_they_are_written_though_no_page_is(self, path):
        with opened(path) as store:
            fill(store)
            wait_for(lambda: "copies" in tables(path))
            assert (rows(path, "rules"), rows(path, "copies")) == (2, 3)

    def test_a_file_without_any_is_as_it_always_was(self, path):
        with opened(path) as store:
            keep(store, made_page(1))
            assert (store.rules(), known(store)) == ({}, [])
            store.compact()
        before = tables(path)
        assert before == {"namespaces", "rows", "rows_site", "pages", "unconfirmed"} | {
            name for name in before if name.startswith("sqlite_")
        }
        with looked_at(f"sqlite:///{path}") as reader:
            assert (reader.rules("default"), counts(reader)) == ({}, (0, 0))

    def test_too_many_are_let_go_of_on_disk_too(self, path, monkeypatch):
        monkeypatch.setattr(advice, "MAX_KNOWN", 10)
        monkeypatch.setattr(sqlite_writer, "_NOTED_UNTIL_TRIM", 5)
        with opened(path) as store:
            for number in range(100):
                store.note_duplicates(digests(number), TIME + number)
                store.flush()
                assert rows(path, "copies") <= 15
        monkeypatch.setattr(sqlite_writer, "_NOTED_UNTIL_TRIM", 1000)
        for number in range(100, 103):
            with opened(path) as store:
                store.note_duplicates(digests(number), TIME + number)
            assert rows(path, "copies") == 10
        with opened(path) as store:
            assert known(store) == [(n, TIME + n) for n in range(93, 103)]

    def test_an_earlier_time_does_not_take_the_place_of_a_later_one(self, path):
        with opened(path) as store:
            for seen_at in (TIME, TIME + 9, TIME + 5):
                store.note_duplicates(digests(1), seen_at)
                store.flush()
        with opened(path) as store:
            assert known(store) == [(1, TIME + 9)]

    def test_where_there_are_too_many_other_namespaces_keep_theirs(self, path, monkeypatch):
        monkeypatch.setattr(advice, "MAX_KNOWN", 3)
        with opened(path) as store, opened(path, "other") as other:
            other.note_duplicates(digests(1, 2, 3), TIME)
            for number in range(1, 7):
                store.note_duplicates(digests(number), TIME + number)
        with opened(path) as store, opened(path, "other") as other:
            assert [digest for digest, _ in known(store)] == [4, 5, 6]
            assert [digest for digest, _ in known(other)] == [1, 2, 3]

    def test_what_has_expired_is_let_go_of_on_disk_too(self, path):
        with opened(path) as store, opened(path, "other") as other:
            fill(store)
            fill(other)
        with opened(path, ttl=3600) as store:
            store.compact()
            assert store.rules() == RULES
        assert rows(path, "copies") == 3

    def test_a_look_shows_them_and_changes_nothing(self, path):
        with opened(path) as store:
            fill(store)
        before = path.read_bytes()
        with looked_at(f"sqlite:///{path}") as reader:
            assert reader.rules("default") == RULES
            assert reader.figures("default") == Figures(rules=2, known_duplicates=3)
            overlay = reader.overlay("default")
            require_filled(overlay)
            overlay.put_rules({"a.example param sort": b"", "new": b"1"})
            overlay.note_duplicates(digests(3, 4), TIME + 9)
            assert set(overlay.rules()) == {"\ud800 茶", "new"}
            assert sorted(known(overlay))[:2] == [(3, TIME + 9), (4, TIME + 9)]
        assert path.read_bytes() == before


def note_moves(store: Any, seen_at: int, *pages: int, moved_to: int = 7) -> None:
    store.note_visits(np.array([(page, seen_at, -1, moved_to) for page in pages], VISIT))


def moves(store: Any, *arguments: str) -> list[tuple[int, ...]]:
    found = store.visits(*arguments)[["page", "last_at", "moved_to", "moved_at"]]
    return sorted(found.tolist())


#: Histories without the time of the move: it is taken to be the last visit before.
OLD_MOVES = [(1, TIME, 0, 0), (2, TIME + 5, 7, TIME + 5)]
NEXT_MOVES = [(1, TIME + 9, 7, TIME + 9), (2, TIME + 9, 7, TIME + 5)]


def test_a_file_without_times_of_moves_gets_them(path):
    with opened(path) as store:
        note_moves(store, TIME, 1, 2, moved_to=0)
        note_moves(store, TIME + 5, 2)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE visits DROP COLUMN moved_at")
    with looked_at(f"sqlite:///{path}") as reader:
        assert moves(reader, "default") == OLD_MOVES
    with opened(path) as store:
        assert moves(store) == OLD_MOVES
        store.put_rules(RULES)
        store.flush()
        assert moves(store) == OLD_MOVES
        note_moves(store, TIME + 9, 1, 2)
        assert moves(store) == NEXT_MOVES


def test_a_redis_without_times_of_moves_gets_them(redis_server):
    with contextlib.closing(RedisStore(redis_server.address, "default")) as store:
        note_moves(store, TIME, 1, 2, moved_to=0)
        note_moves(store, TIME + 5, 2)
        with redis_server.client as client:
            key = KeySpace("default").visits
            for page, history in client.hgetall(key).items():
                client.hset(key, page, history[:32])
        assert moves(store) == OLD_MOVES
        note_moves(store, TIME + 9, 1, 2)
        assert moves(store) == NEXT_MOVES


class TestFullDisk:
    @pytest.mark.slow
    def test_they_wait_with_the_pages(self, path):
        with storer("advise_on_a_full_disk", path) as process:
            assert line_of(process) in ("disk I/O error", "database or disk is full")
            tell(process)
            assert line_of(process) == "written"
            process.wait()
        with opened(path) as store:
            assert len(store) == 1
            assert store.rules() == {f"rule {n}": b"x" * 100 for n in range(500)}
            assert known(store) == [(n, TIME + n) for n in range(500)]

    def test_what_came_while_a_write_failed_is_newer(self):
        batch = Batch(named={("rules", 1, b"a"): b"old", ("rules", 1, b"b"): b"old"})
        noted = advice.known_at(digests(1), TIME)
        batch.noted.append((1, noted))
        later = Batch(named={("rules", 1, b"a"): b"new"})
        later.put_before(batch)
        batch = later
        assert batch.named == {("rules", 1, b"a"): b"new", ("rules", 1, b"b"): b"old"}
        assert batch.noted == [(1, noted)]

    def test_who_closes_then_loses_no_page_and_sees_no_error(self, path):
        with storer("close_with_advice_alone", path) as process:
            assert line_of(process) == "closed"
        with opened(path) as store:
            assert (len(store), store.rules()) == (1, {})

    @pytest.mark.slow
    def test_the_log_says_what_was_not_written(self, path, caplog):
        with (
            opened(path) as store,
            contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
            caplog.at_level(logging.WARNING),
        ):
            other.execute("BEGIN IMMEDIATE")
            store.put_rules(RULES)
            store.close()
        assert "all pages were written, but not all rules and known duplicates" in caplog.text


# --- in a Redis ---


@pytest.mark.parametrize("scope", ["all", "site"])
def test_workers_share_them(redis_server, scope):
    first, second = (RedisStore(redis_server.address, "n", scope=scope) for _ in range(2))
    fill(first)
    require_filled(second)
    second.put_rules({"\ud800 茶": b"", "c": b"1"})
    second.note_duplicates(digests(3), TIME + 9)
    assert first.rules() == {"a.example param sort": RULES["a.example param sort"], "c": b"1"}
    assert known(first)[-1] == (3, TIME + 9)
    for store in (first, second):
        store.close()
    with looked_at(redis_server.address) as reader:
        assert set(reader.rules("n")) == {"a.example param sort", "c"}
        assert counts(reader, "n") == (2, 3)


def test_many_are_read_some_at_a_time(redis_server, monkeypatch):
    from scrapy_neardup.stores.redis import hints as redis_hints

    monkeypatch.setattr(redis_hints, "_READ_AT_ONCE", 3)
    store = RedisStore(redis_server.address)
    rules = {f"rule {n}": b"1" for n in range(2500)}
    store.put_rules(rules)
    assert store.rules() == rules
    for n in range(10):
        store.note_duplicates(digests(n), TIME + n // 2)
    assert {digest for digest, _ in known(store)} == set(range(10))
    monkeypatch.setattr(advice, "MAX_KNOWN", 6)
    store.note_duplicates(digests(10), TIME + 5)
    with redis_server.client as client:
        assert client.zcard("{neardup:default}:copies") == 6
    monkeypatch.setattr(advice, "MAX_KNOWN", 10)
    store.note_duplicates(digests(0, 1, 2, 3, 4), TIME)
    assert [time for _, time in known(store, TIME + 2)] == [TIME + n // 2 for n in range(5, 11)]
    store.close()


@pytest.mark.parametrize("is_silent", [False, True], ids=["closed", "silent"])
@pytest.mark.parametrize("words", [b"ZADD", _PUT_NAMED.digest.encode(), b"ZREVRANGE", b"HSCAN"])
def test_what_is_asked_twice_because_an_answer_was_lost_is_done_once(
    redis_server, afterwards, words, is_silent
):
    proxy = Proxy(redis_server.port, is_silent=is_silent)
    afterwards.callback(proxy.close)
    store = RedisStore(f"redis://127.0.0.1:{proxy.port}", connect_timeout=0.3, call_timeout=0.3)
    # The server knows the script from then on.
    store.put_rules({"before": b"1"})
    proxy.lose_answer_to(words)
    fill(store)
    store.put_rules({"before": b""})
    require_filled(store)
    store.close()


def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_agreed(redis_server):
    store = RedisStore(redis_server.address, connect_timeout=0.3, call_timeout=0.3)
    redis_server.pause()
    try:
        for call in (
            store.rules,
            lambda: store.put_rules(RULES),
            lambda: store.known_duplicates(0),
            lambda: store.note_duplicates(digests(1), TIME),
        ):
            with pytest.raises(StoreUnreachable):
                call()
    finally:
        redis_server.go_on()
    store.put_rules({"a": b"1"})
    assert store.rules()["a"] == b"1"
    store.close()


def test_a_full_server_takes_no_more_and_can_still_be_read(tmp_path, afterwards):
    server = RedisServer(tmp_path)
    afterwards.callback(server.kill)
    store = RedisStore(server.address)
    fill(store)
    with server.client as client:
        client.config_set("maxmemory", 1)
        with pytest.raises(StoreUnreachable, match="maxmemory"):
            store.put_rules({"more": b"1"})
        with pytest.raises(StoreUnreachable, match="maxmemory"):
            store.note_duplicates(digests(77), TIME)
        require_filled(store)
        store.put_rules({"\ud800 茶": b""})
        assert set(store.rules()) == {"a.example param sort"}
        client.config_set("maxmemory", 0)
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["all", "site"])
def test_on_a_cluster_they_stand_together(tmp_path_factory, afterwards, scope):
    cluster = RedisCluster(tmp_path_factory.mktemp("cluster"))
    afterwards.callback(cluster.kill)
    stores = [RedisStore(cluster.address, f"advice {scope}", scope=scope) for _ in range(2)]
    fill(stores[0])
    require_filled(stores[1])
    for store in stores:
        store.close()


def test_an_error_is_one_of_the_stores(tmp_path):
    """A thread of a crawl expects no other."""
    store = SqliteStore(tmp_path / "closed.sqlite")
    store.close()
    for call in (
        lambda: store.put_rules(RULES),
        lambda: store.note_duplicates(digests(1), TIME),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()
