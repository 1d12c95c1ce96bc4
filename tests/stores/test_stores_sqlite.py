"""The SQLite store: killed, truncated, locked, on a full disk, and reopened."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup import InvalidOption, NearDupDetector, Rule, SignatureMismatch
from scrapy_neardup.exceptions import StoreError, StoreInUse
from scrapy_neardup.matching import site_boilerplate as frame
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore, Store, open_store, page_index
from scrapy_neardup.stores.codec import packed
from scrapy_neardup.stores.sqlite import writer as sqlite_writer
from scrapy_neardup.stores.sqlite.store import BATCH_PAGES, BATCH_SECONDS, FORMAT, SqliteStore
from tests.stores.test_stores import RULES, signatures, urls
from tests.support.processes import wait_for
from tests.support.storer import RULE, keep, made_page
from tests.support.texts import FERRY, MUSEUM

ROOT = Path(__file__).parents[2]
#: What a crowded machine's disk takes at most, beside what is promised.
DISK_SECONDS = 1.5


@contextlib.contextmanager
def storer(what: str, path: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.storer", what, str(path), *more],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.sqlite"


@contextlib.contextmanager
def opened(path: Path, *arguments: object, **options: object) -> Iterator[SqliteStore]:
    store = SqliteStore(path, *arguments, **options)  # type: ignore[arg-type]
    try:
        yield store
    finally:
        with contextlib.suppress(StoreError):
            store.close()


def pages_in(path: Path) -> list[PageSignature]:
    with opened(path) as store:
        return [entry.signature for entry in store.entries()]


def as_killed(path: Path, folder: Path) -> Path:
    """Copy an open file as a kill would leave it, without writes in progress."""
    folder.mkdir(exist_ok=True)
    for part in (path, Path(f"{path}-wal")):
        shutil.copy(part, folder)
    return folder / path.name


def ids_in(path: Path, table: str) -> list[int]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return [id_ for (id_,) in connection.execute(f"SELECT id FROM {table} ORDER BY id")]


def require_whole(store: SqliteStore, path: Path) -> list[PageSignature]:
    """Every table has every page, and the index finds what brute force finds."""
    assert ids_in(path, "rows") == ids_in(path, "pages")
    pages = [entry.signature for entry in store.entries()]
    assert len(store) == len(pages) == len({page.key for page in pages})
    fingerprints = np.array([page.fingerprint for page in pages], np.uint64)
    for page in pages[:: max(1, len(pages) // 20)]:
        for distance in (0, 3, 11):
            asked = page.fingerprint ^ 0b10010001
            found = store._index.near(asked, distance)
            apart = np.bitwise_count(fingerprints ^ np.uint64(asked))
            assert sorted(found.distances) == sorted(apart[apart <= distance])
            assert {store._index.table.page(n).url for n in found.keys.tolist()} == {
                pages[place].url for place in np.flatnonzero(apart <= distance)
            }
        again = store.claim(replace(page, url="other", key="other", title=()), Rule(scope="all"))
        assert again.verdict.reason in ("same_text", "no_match", "title_differs")
        if again.ticket is not None:
            store.release(again.ticket)
    return pages


class TestKilled:
    @pytest.mark.slow
    def test_what_was_said_in_time_is_there_after_a_kill(self, tmp_path):
        rng = random.Random(5)
        after = [rng.uniform(0, 1.5 * (BATCH_SECONDS + DISK_SECONDS)) for _ in range(20)]
        with ThreadPoolExecutor(4) as pool:
            promised = list(pool.map(self.kill_one, (tmp_path / str(n) for n in count()), after))
        # Some were killed before anything was promised, but not most of them.
        assert sum(number > 0 for number in promised) >= 5

    def kill_one(self, folder: Path, after: float) -> int:
        folder.mkdir()
        path = folder / "pages.sqlite"
        with storer("commit_for_ever", path) as process:
            lines = [line_of(process)]
            time.sleep(after)
            killed = time.monotonic()
            os.kill(process.pid, signal.SIGKILL)
            assert process.stdout is not None
            # The last line may be cut off.
            lines += process.stdout.read().split("\n")[:-1]
        return self.check(path, lines, killed - BATCH_SECONDS - DISK_SECONDS)

    def check(self, path: Path, lines: list[str], promised_until: float) -> int:
        """Check the pages in a file; return how many were promised to be there."""
        said = [line.split() for line in lines]
        promised = {
            (int(number), int(version)): outcome
            for outcome, number, version, at in said
            if float(at) < promised_until
        }
        gone = {number for (number, _), outcome in promised.items() if outcome == "forgot"}
        maybe_gone = {int(number) for outcome, number, *_ in said if outcome == "forgot"}
        newest = dict(sorted(promised))
        with opened(path) as store:
            pages = require_whole(store, path)
            for page in pages:
                number = int(page.url.rpartition("/")[2])
                assert page == made_page(number, page.n_text)
                assert number not in gone
            there = {int(page.url.rpartition("/")[2]): page.n_text for page in pages}
            for number, version in newest.items():
                if number not in maybe_gone:
                    assert there[number] >= version
        return len(newest)

    def test_a_file_that_was_killed_is_gone_on_with(self, path):
        for _ in range(3):
            with storer("commit_for_ever", path) as process:
                line_of(process)
                time.sleep(0.2)
        with opened(path) as store:
            keep(store, made_page(10**6))
            require_whole(store, path)

    def test_what_is_not_confirmed_is_forgotten_after_a_kill(self, path, tmp_path):
        with storer("die_unconfirmed", path) as process:
            assert line_of(process) == "stored"
            wait_for(lambda: len(ids_in(path, "rows")) == 61)
        with opened(path, "a") as a, opened(path, "b") as b:
            assert (a.forgotten, b.forgotten) == (11, 1)
            # Of page 3, the first version was replaced, and the second is not known to be safe.
            assert {page.signature.url for page in a.entries()} == {
                made_page(n).url for n in (*range(10), *range(20, 30)) if n != 3
            }
            assert {page.signature.url for page in b.entries()} == {
                made_page(n).url for n in range(30)
            }
        for name in ("a", "b"):
            with opened(path, name) as store:
                assert store.forgotten == 0

    def test_marks_of_an_earlier_run_confirm_nothing(self, path, tmp_path):
        with opened(path, "a") as store, opened(path, "other"):
            for number in range(3):
                keep(store, made_page(number), confirmed=False)
            store.confirm(store.mark())
            store.close()
            with opened(path, "a") as again:
                keep(again, made_page(7), confirmed=False)
                again.flush()
                with opened(as_killed(path, tmp_path / "copy"), "a") as killed:
                    assert (killed.forgotten, len(killed)) == (1, 3)

    def test_what_is_added_may_be_unconfirmed_too(self, path, tmp_path):
        with opened(path, "a") as store:
            store.add(made_page(1), confirmed=False)
            store.add(made_page(2))
            store.flush()
            with opened(as_killed(path, tmp_path / "copy"), "a") as killed:
                assert (killed.forgotten, len(killed)) == (1, 1)

    def test_a_kill_while_a_file_is_made_leaves_no_store_or_a_whole_one(self, path):
        for part in ("", "-wal", "-shm"):
            Path(f"{path}.new{part}").write_bytes(b"half of it" * 999)
        with opened(path) as store:
            keep(store, made_page(1))
        assert pages_in(path) == [made_page(1)]

    def test_the_log_of_a_file_that_is_gone_is_not_taken_for_a_new_ones(self, path, tmp_path):
        with opened(path) as store:
            for number in range(50):
                keep(store, made_page(number))
            store.flush()
            copy = as_killed(path, tmp_path / "killed")
        copy.unlink()
        with opened(copy) as store:
            keep(store, made_page(1))
        assert pages_in(copy) == [made_page(1)]


class TestGone:
    """The file is deleted, moved or replaced while it is open."""

    @pytest.mark.parametrize("how", ["deleted", "folder", "moved", "replaced"])
    def test_nothing_is_said_to_be_written_to_a_file_that_is_gone(self, tmp_path, how):
        path = tmp_path / "folder" / "seen.sqlite"
        path.parent.mkdir()
        store = SqliteStore(path)
        keep(store, made_page(0))
        store.flush()
        assert (store.problem, store.n_unwritten) == (None, 0)
        if how == "folder":
            path.parent.rename(tmp_path / "other")
        elif how == "deleted":
            path.unlink()
        else:
            path.rename(tmp_path / "moved.sqlite")
        if how == "replaced":
            path.write_bytes(b"another")
        # Before anything else is written, and after that.
        for n in range(2):
            assert "was deleted, moved or replaced" in (store.problem or "")
            assert store.n_unwritten == n + 1
            keep(store, made_page(n + 1))
        # What was stored is known nevertheless.
        assert store.claim(made_page(0), RULE).verdict.kind == "revisit"
        with pytest.raises(StoreError, match=f"{path}: the file was deleted, moved or replaced"):
            store.close()

    def test_a_file_that_is_put_back_has_what_was_stored_meanwhile(self, path, tmp_path):
        with opened(path) as store:
            keep(store, made_page(0))
            store.flush()
            path.rename(tmp_path / "moved.sqlite")
            keep(store, made_page(1))
            with pytest.raises(StoreError, match="deleted, moved or replaced"):
                store.flush()
            (tmp_path / "moved.sqlite").rename(path)
            store.flush()
            assert (store.problem, store.n_unwritten) == (None, 0)
        assert pages_in(path) == [made_page(0), made_page(1)]


class TestFullDisk:
    @pytest.mark.slow
    def test_nothing_is_lost_while_the_disk_takes_nothing(self, path):
        with storer("fill_the_disk", path) as process:
            assert line_of(process) in ("disk I/O error", "database or disk is full")
            tell(process)
            assert line_of(process) == "written 2999"
            process.wait()
        with opened(path) as store:
            pages = require_whole(store, path)
        assert {page.url for page in pages} == {made_page(n).url for n in range(3000) if n != 2}
        assert made_page(1, 1) in pages

    def test_who_closes_then_is_told_how_many_pages_are_lost(self, path):
        with storer("close_on_a_full_disk", path) as process:
            said = line_of(process)
            assert f"sqlite:///{path}: 41 pages were not written" in said
            assert line_of(process) == "lives on"
            # Its lock is gone, and what it had written is there.
            assert pages_in(path) == [made_page(0)]

    @pytest.mark.slow
    @pytest.mark.parametrize("share", ["0.5", "1.002"])
    def test_compacting_without_room_changes_nothing(self, path, share):
        with storer("compact_without_room", path, share) as process:
            said = line_of(process)
            assert f"store sqlite:///{path}: " in said
            assert "disk I/O error: its disk" in said or "disk is full" in said
            assert [line_of(process) for _ in range(2)] == ["all there", "compacted True"]
            process.wait()
        with opened(path) as store:
            assert len(require_whole(store, path)) == 4900


def a_store_with(path: Path, pages: int) -> None:
    with opened(path, "a") as a, opened(path, "b") as b:
        for number in range(pages):
            keep(a if number % 2 else b, made_page(number))
        # One page takes more than one page of the file.
        keep(a, replace(made_page(pages), title=(("long " * 3000,),)))


class TestDamaged:
    def refusal(self, path: Path) -> str | None:
        """The error in reading all there is, if there is one."""
        try:
            with opened(path, "a") as a, opened(path, "b") as b:
                for store in (a, b):
                    for entry in store.entries():
                        page = entry.signature
                        number = int(page.url.rpartition("/")[2])
                        assert page == replace(made_page(number, page.n_text), title=page.title)
                assert len(a) + len(b) == 301
        except StoreError as error:
            return error.problem if str(path) in str(error) else None
        return None

    def test_a_file_that_was_cut_off_is_refused_wherever_it_was_cut(self, path, tmp_path):
        a_store_with(path, 300)
        assert self.refusal(path) is None
        whole = path.read_bytes()
        rng = random.Random(3)
        cuts = {0, 1, 50, 100, 511, 512, 4095, 4096, 4097, len(whole) - 4096, len(whole) - 1}
        cuts |= {rng.randrange(len(whole)) for _ in range(40)}
        for cut in cuts:
            copy = tmp_path / f"cut at {cut}.sqlite"
            copy.write_bytes(whole[:cut])
            assert self.refusal(copy) is not None, cut

    def test_so_is_one_that_was_cut_off_after_a_kill(self, path, tmp_path):
        with opened(path, "a") as a:
            with opened(path, "b"):
                pass
            a.compact()
            for number in range(301):
                keep(a, replace(made_page(number), title=(("long " * 900,),)))
            a.flush()
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            keep(a, made_page(0, 1))
            a.flush()
            copy = as_killed(path, tmp_path / "killed")
        assert self.refusal(copy) is None
        whole = path.read_bytes()
        for n, cut in enumerate(range(4096, len(whole) - 4096, len(whole) // 40)):
            shutil.copytree(tmp_path / "killed", tmp_path / str(n))
            cut_copy = tmp_path / str(n) / path.name
            with cut_copy.open("r+b") as file:
                file.truncate(cut)
            assert self.refusal(cut_copy) is not None, cut

    def test_a_page_that_is_not_what_was_written_is_an_error(self, path):
        a_store_with(path, 300)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            sketch = "substr(page, 1, 100) || x'00' || substr(page, 102)"
            connection.execute(f"UPDATE pages SET page = CAST({sketch} AS BLOB) WHERE id % 7 = 3")
            connection.commit()
        assert "damaged" in (self.refusal(path) or "")

    def test_a_commit_that_cannot_read_what_it_replaces_can_be_released(self, path, monkeypatch):
        # As if it had been claimed long before.
        monkeypatch.setattr(page_index, "_RECENT", 0)
        with opened(path) as store:
            for number in range(2):
                keep(store, made_page(number))
        with opened(path) as store:
            store.adopt("made up", {})
            claim = store.claim(made_page(0, 1), RULE)
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.execute("UPDATE pages SET page = x'00'")
                connection.commit()
            with pytest.raises(StoreError, match="damaged"):
                store.commit(claim.ticket)
            assert (len(store), claim.outcome) == (2, None)
            store.release(claim.ticket)
            assert len(store) == 2

    @pytest.mark.parametrize(
        "data", [b"", b"x", b"no database at all" * 1000, b"SQLite format 3\0" + b"\7" * 8176]
    )
    def test_what_is_no_database_is_refused_and_left_as_it_is(self, path, data):
        path.write_bytes(data)
        with pytest.raises(StoreError, match=r"damaged or no store|no SQLite file|empty"):
            SqliteStore(path)
        assert path.read_bytes() == data

    def test_nothing_is_left_beside_a_file_of_another_kind(self, path):
        path.write_text('{"url": "https://a.example/"}\n')
        with pytest.raises(StoreError, match="damaged or no store at all"):
            SqliteStore(path)
        assert list(path.parent.iterdir()) == [path]

    @pytest.mark.parametrize("mode", ["DELETE", "WAL"])
    def test_a_database_of_something_else_is_refused_and_left_as_it_is(self, path, mode):
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
            connection.execute("CREATE TABLE pages(id)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match="something else"):
            SqliteStore(path)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        ("version", "says"),
        [
            (FORMAT + 1, "from a later scrapy-neardup than this one.*; upgrade, or crawl"),
            (FORMAT - 1, "from an earlier scrapy-neardup than this one.*; crawl again"),
        ],
    )
    def test_another_format_is_refused(self, path, version, says):
        with opened(path):
            pass
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        with pytest.raises(StoreError, match=says):
            SqliteStore(path)


class TestPlaces:
    def test_the_file_and_its_logs_are_their_owners_alone(self, path):
        before = os.umask(0)
        try:
            with opened(path) as store:
                keep(store, made_page(1))
                store.flush()
                files = list(path.parent.iterdir())
                assert {file.name.removeprefix(path.name) for file in files} == {
                    "", "-wal", "-shm", ".lock",
                }  # fmt: skip
                for file in files:
                    assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        finally:
            os.umask(before)

    def test_a_folder_is_no_store(self, path):
        path.mkdir()
        with pytest.raises(StoreError, match="it is no file"):
            SqliteStore(path)

    def test_a_folder_that_is_missing_is_named(self, tmp_path):
        with pytest.raises(StoreError, match=r"there is no folder .*nowhere; make it first"):
            SqliteStore(tmp_path / "nowhere" / "pages.sqlite")

    def test_a_place_where_nothing_can_be_made_is_an_error(self):
        with pytest.raises(StoreError, match="lock"):
            SqliteStore("/proc/self/pages.sqlite")

    @pytest.mark.parametrize(
        ("folder_mode", "file_mode", "says"),
        [
            (0o755, 0o666, "cannot be locked"),
            (0o777, 0o600, "cannot be read and written"),
            (0o777, 0o444, "cannot be read and written"),
        ],
    )
    def test_without_the_rights_there_is_a_clear_error(self, folder_mode, file_mode, says):
        # Not below the folder of the tests, which nobody else may enter.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pages.sqlite"
            with opened(path):
                pass
            Path(f"{path}.lock").unlink()
            Path(folder).chmod(folder_mode if os.getuid() == 0 else folder_mode & 0o555)
            path.chmod(file_mode if os.getuid() == 0 else file_mode & 0o444)
            with storer("open_as_nobody", path) as process:
                assert says in line_of(process)

    def test_a_name_with_signs_is_a_name(self, tmp_path):
        for name in ("a?mode=memory", "b%20c", "d'e", "茶"):
            with opened(tmp_path / name, namespace="n'\"茶") as store:
                keep(store, made_page(1))
            assert (tmp_path / name).stat().st_size
            with opened(tmp_path / name, namespace="n'\"茶") as store:
                assert len(store) == 1


class TestShared:
    def test_a_second_process_is_told_at_once(self, path):
        with storer("hold", path) as process:
            assert line_of(process) == "open"
            with pytest.raises(StoreInUse, match="another process has it open"):
                SqliteStore(path)
            tell(process)
            process.wait()
            with opened(path) as store:
                assert len(store) == 0

    def test_a_process_that_was_killed_locks_nobody_out(self, path):
        with storer("hold", path) as process:
            line_of(process)
        with opened(path) as store:
            assert len(store) == 0

    @pytest.mark.slow
    def test_what_is_committed_while_another_program_writes_is_written_later(self, path):
        with opened(path) as store:
            store.adopt("made up", {})
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                for number in range(3):
                    keep(store, made_page(number))
                wait_for(lambda: store.problem)
                assert store.problem == "database is locked"
                assert urls(store) == [made_page(number).url for number in range(3)]
                other.execute("ROLLBACK")
                wait_for(lambda: store.problem is None)
            assert len(ids_in(path, "rows")) == 3

    @pytest.mark.slow
    def test_a_file_that_is_being_written_can_be_opened(self, path):
        with opened(path) as store:
            keep(store, made_page(1))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with opened(path) as store:
                assert len(store) == 1
                with pytest.raises(StoreError, match="another program is writing"):
                    SqliteStore(path, "new")
                other.execute("ROLLBACK")

    def test_one_namespace_is_not_opened_twice_beside_itself(self, path):
        with opened(path) as store:
            keep(store, made_page(0))
            with pytest.raises(StoreInUse, match="open_store"):
                SqliteStore(path)
            keep(store, made_page(1))
        assert pages_in(path) == [made_page(0), made_page(1)]

    def test_two_namespaces_of_one_file_know_nothing_of_each_other(self, path):
        with opened(path, "a") as a, opened(path, "b") as b:
            assert a.secret != b.secret
            for number in range(4):
                keep(a, made_page(number))
            keep(b, made_page(0))
            b.forget(made_page(0).key)
            a.forget(made_page(3).key)
            b.close()
            with opened(path, "b") as again:
                assert (len(a), len(again)) == (3, 0)
        with opened(path, "a") as a:
            assert urls(a) == [made_page(number).url for number in range(3)]

    def test_what_is_opened_right_after_closing_has_all_pages(self, path):
        with opened(path, "keeps the file open"):
            for number in range(20):
                with opened(path) as store:
                    assert len(store) == number
                    keep(store, made_page(number))
        assert len(pages_in(path)) == 20

    @pytest.mark.slow
    def test_what_could_not_be_written_at_closing_is_not_lost_to_who_opens_next(self, path):
        with opened(path, "keeps the file open"), opened(path) as store:
            keep(store, made_page(0))
            store.flush()
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                keep(store, made_page(1))
                with pytest.raises(StoreError, match="1 pages cannot be written at present"):
                    store.close()
                other.execute("ROLLBACK")
            with opened(path) as again:
                assert len(again) == 2
                keep(again, made_page(2))
        assert pages_in(path) == [made_page(number) for number in range(3)]

    def test_of_many_threads_that_open_and_close_none_loses_a_page(self, path):
        address = f"sqlite:///{path}"

        def keep_one(number: int) -> None:
            store = open_store(address)
            keep(store, made_page(number))
            store.close()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(keep_one, range(200)))
        assert {page.url for page in pages_in(path)} == {made_page(n).url for n in range(200)}

    def test_another_ttl_is_refused_and_leaves_the_store_open(self, path):
        address = f"sqlite:///{path}"
        store = open_store(address, ttl=60)
        with pytest.raises(InvalidOption, match="another crawl"):
            open_store(address, ttl=61)
        keep(store, made_page(1))
        store.close()
        assert len(pages_in(path)) == 1

    def test_many_threads_may_use_one_store(self, path):
        with opened(path) as store:

            def work(thread: int) -> None:
                for number in range(thread * 100, thread * 100 + 100):
                    keep(store, made_page(number))
                    keep(store, made_page(number, 1))
                    assert store.find(made_page(number).key) is not None
                    if number % 3 == 0:
                        store.forget(made_page(number).key)
                    list(zip(store.entries(), range(3), strict=False))

            with ThreadPoolExecutor(6) as pool:
                list(pool.map(work, range(6)))
            kept = {made_page(n, 1).fingerprint for n in range(600) if n % 3}
            assert {entry.signature.fingerprint for entry in store.entries()} == kept
            assert len(store) == 400
        with opened(path) as store:
            require_whole(store, path)
            assert len(store) == 400


class TestClosing:
    def test_a_closed_store_takes_no_pages(self, path):
        with opened(path) as store:
            claim = store.claim(made_page(0), RULE)
        assert store.users.is_closed
        store.close()
        store.commit(claim.ticket)
        for call in (lambda: store.claim(made_page(1), RULE), lambda: store.add(made_page(1))):
            with pytest.raises(StoreError, match="closed"):
                call()
        assert pages_in(path) == []

    def test_a_store_that_nobody_closes_is_written_when_python_ends(self, path):
        with storer("forget_to_close", path) as process:
            assert process.wait() == 0
        assert pages_in(path) == [made_page(number) for number in range(5)]

    def test_no_thread_and_no_log_is_left(self, path):
        with opened(path) as store:
            keep(store, made_page(1))
        assert not [thread for thread in threading.enumerate() if thread.name == "neardup-store"]
        assert {file.name for file in path.parent.iterdir()} == {path.name, f"{path.name}.lock"}


class TestBounds:
    def test_numbers_run_out_with_an_error(self, path):
        with opened(path) as store:
            keep(store, made_page(0))
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for table in ("rows", "pages"):
                connection.execute(f"UPDATE {table} SET id = id + {2**32 - 2}")
            connection.execute("DELETE FROM pages")
            connection.commit()
        with opened(path) as store:
            keep(store, made_page(1))
            with pytest.raises(StoreError, match=r"all its 4,294,967,296 numbers; export"):
                store.claim(made_page(2), RULE)
            assert store.find(made_page(1).key) is not None

    def test_a_time_that_is_none_is_refused(self, path):
        with opened(path) as store:
            for time_ in (-1, 2**32):
                with pytest.raises(InvalidOption, match="stored_at"):
                    store.add(made_page(1), time_)
            store.add(made_page(1), 2**32 - 1)
            assert len(store) == 1

    def test_many_pages_do_not_wait_for_the_time_to_come(self, path, monkeypatch):
        monkeypatch.setattr(sqlite_writer, "BATCH_SECONDS", 3600)
        with opened(path) as store:
            for number in range(BATCH_PAGES - 1):
                store.add(made_page(number))
            assert ids_in(path, "rows") == []
            store.add(made_page(BATCH_PAGES))
            wait_for(lambda: len(ids_in(path, "rows")) == BATCH_PAGES)


class TestExpiry:
    def test_what_expired_is_gone_from_the_file_when_it_is_opened(self, path):
        now = int(time.time())
        with opened(path) as store:
            for number in range(100):
                store.add(made_page(number), now - (7200 if number % 10 < 4 else 60))
        with opened(path, ttl=3600) as store:
            assert len(store) == 60
            assert len(urls(store)) == 60
            keep(store, made_page(0))
            assert store.find(made_page(1).key) is None
        assert len(ids_in(path, "rows")) == len(ids_in(path, "pages")) == 61

    def test_when_all_have_expired_another_recipe_is_taken(self, path):
        with opened(path) as store:
            store.add(made_page(0), 1000)
        with opened(path, ttl=60) as store:
            store.adopt("another", {})
            store.add(replace(made_page(1), recipe="another"))
        with opened(path, ttl=60) as store:
            with pytest.raises(SignatureMismatch):
                store.adopt("made up", {})
            store.adopt("another", {})
            assert len(store) == 1

    def test_a_site_whose_pages_all_expired_is_learned_anew(self, path):
        with opened(path) as store:
            store.add(made_page(0), 1000)
        with opened(path, ttl=60) as store:
            keep(store, made_page(7))
            assert len(store) == 1


class TestEntries:
    def test_a_site_is_learned_again_also_from_pages_that_wait(self, path, monkeypatch):
        monkeypatch.setattr(frame, "MAX_SITES", 1)
        monkeypatch.setattr(sqlite_writer, "BATCH_SECONDS", 3600)
        with opened(path) as store:
            for number in (0, 7, 14, 21, 1):
                keep(store, made_page(number))
            titles = store.boilerplates.of(made_page(0).site).titles
            assert titles.own_parts(made_page(28).title) == (("page 28",),)

    def test_pages_that_change_meanwhile_do_no_harm(self, path):
        with opened(path) as store:
            for number in range(10):
                keep(store, made_page(number))
            found = store.entries()
            first = next(found).signature
            store.forget(first.key)
            store.forget(made_page(5).key)
            keep(store, made_page(6, 1))
            assert [entry.signature for entry in found] == [
                made_page(number) for number in (1, 2, 3, 4, 7, 8, 9)
            ]

    def test_pages_stand_in_their_order_whether_written_or_not(self, path):
        with opened(path) as store:
            for number in range(30):
                keep(store, made_page(number))
                if number % 10 == 0:
                    store.flush()
            assert urls(store) == [made_page(number).url for number in range(30)]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("ccccr"), signatures(), st.integers(0, 12)),
        st.tuples(st.just("f"), st.none(), st.integers(0, 12)),
        st.tuples(st.just("o"), st.none(), st.just(0)),
    ),
    min_size=10,
    max_size=40,
)
Plan = list[tuple[str, Any, int]]


class TestOpenedAgain:
    """The same pages in the same order get the same verdicts, opened again or not."""

    def check(self, folder: Path, names: Iterator[int], plan: Plan, rule: Rule, of_site) -> None:
        path = folder / f"{next(names)}.sqlite"
        store = SqliteStore(path)
        model: Store = MemoryStore(store.secret)
        for what, page, number in plan:
            if what == "o":
                store.close()
                store = SqliteStore(path)
                # A file's site is learned again when it is asked for: what is forgotten until then
                # teaches nothing, unlike in the model, which learns from all pages at once.
                for entry in store.entries():
                    store.boilerplates.of(entry.signature.site)
                model = self.reopened(model)
            elif what == "f":
                assert store.forget(f"u{number}") == model.forget(f"u{number}")
            else:
                given = of_site(replace(page, url=f"u{number}", key=f"u{number}"), number)
                claims = [one.claim(given, rule) for one in (store, model)]
                assert claims[0].verdict == claims[1].verdict
                for one, claim in zip((store, model), claims, strict=True):
                    if claim.ticket is not None:
                        (one.commit if what == "c" else one.release)(claim.ticket)
        assert list(map(packed_entry, store.entries())) == list(map(packed_entry, model.entries()))
        store.close()

    def reopened(self, model: Store) -> Store:
        """Return a memory store with only the stored pages, which know less boilerplate."""
        again = MemoryStore(model.secret)
        for entry in model.entries():
            again.add(entry.signature, entry.stored_at)
        return again

    @pytest.mark.slow
    def test_verdicts_are_those_of_a_memory_that_was_given_the_stored_pages(self, tmp_path):
        names = count()

        @given(STEPS, RULES)
        @settings(max_examples=30, deadline=None)
        def check(plan: Plan, rule: Rule) -> None:
            self.check(tmp_path, names, plan, rule, lambda page, _: page)

        check()

    @pytest.mark.slow
    def test_where_no_site_teaches_they_are_those_of_one_that_was_never_closed(self, tmp_path):
        names = count()
        own_site = OwnSite()

        @given(STEPS, RULES)
        @settings(max_examples=30, deadline=None)
        def check(plan: Plan, rule: Rule) -> None:
            own_site.check(tmp_path, names, plan, rule, one_site_each)

        check()

    def test_the_secret_and_the_recipe_stay(self, path):
        with opened(path) as store:
            detector = NearDupDetector(store=store)
            detector.check(url="https://a.example/", text=FERRY)
            secret = store.secret
        with opened(path) as store:
            assert store.secret == secret
            detector = NearDupDetector(store=store)
            verdict = detector.check(url="https://b.example/", text=FERRY)
            assert verdict.duplicate_of == "https://a.example/"
            assert detector.check(url="https://c.example/", text=MUSEUM).kind == "new"
        said = "^the store was made with idf multilingual, but is used with idf none: restore"
        with opened(path) as store, pytest.raises(SignatureMismatch, match=said):
            NearDupDetector(store=store, idf="none")


class OwnSite(TestOpenedAgain):
    __test__ = False

    def reopened(self, model: Store) -> Store:
        return model


def one_site_each(page: PageSignature, number: int) -> PageSignature:
    """Return the page on a site of its own, without a title, so that no page affects another."""
    return replace(page, site=f"{number}.example", title=())


def packed_entry(entry) -> bytes:
    return packed(entry.signature)
