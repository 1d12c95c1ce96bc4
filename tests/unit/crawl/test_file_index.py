from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_neardup.crawl.files.index import FileIndex, FileRequest
from scrapy_neardup.crawl.files.key_locks import KeyLocks
from scrapy_neardup.crawl.files.signature import FileSignature, sign_file
from scrapy_neardup.exceptions import StoreError
from tests.unit.crawl.test_backpressure import no_reactor


def sign(seed: int, size: int = 20_000) -> FileSignature:
    return sign_file(random.Random(seed).randbytes(size), 1 << 30)


def asked(name: str) -> FileRequest:
    return FileRequest(name, f"https://a.example/{name}")


@pytest.fixture(params=["file", "memory"])
def index(request, tmp_path):
    index = FileIndex(tmp_path / "index.sqlite" if request.param == "file" else None)
    yield index
    index.close()


def test_recorded_files_are_found(index):
    assert index.find(sign(1).digest) == []
    number = index.record(asked("a"), "a", sign(1), 5.0)
    [file] = index.find(sign(1).digest)
    assert (file.id, file.path, file.request, file.signature) == (number, "a", asked("a"), sign(1))
    assert index.find(sign(2).digest) == []
    assert index.linked(asked("a")) is None
    assert len(index) == 1


def test_a_lock_that_stays_is_waited_for_once(tmp_path, monkeypatch):
    monkeypatch.setattr("scrapy_neardup.crawl.files.index._BUSY_SECONDS", 0.3)

    files = FileIndex(tmp_path / "index.sqlite")
    files.record(asked("a"), "a", sign(1), 5.0)
    timeouts = list[int]()

    def note_timeout() -> None:
        assert files._connection is not None
        timeouts.extend(files._connection.execute("PRAGMA busy_timeout").fetchone())

    with closing(sqlite3.connect(tmp_path / "index.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            with pytest.raises(StoreError, match="locked"):
                files.record(asked("b"), "b", sign(2), 5.0)
            note_timeout()
        assert [file.path for file in files.find(sign(1).digest)] == ["a"]
        other.execute("ROLLBACK")
    for _ in range(2):
        files.record(asked("b"), "b", sign(2), 5.0)
        note_timeout()
    assert timeouts == [300, 100, 100, 300]
    assert len(files) == 2
    files.close()


def test_recording_again_keeps_the_number_and_the_links(index):
    number = index.record(asked("a"), "a", sign(1), 5.0)
    [file] = index.find(sign(1).digest)
    assert index.link(asked("b"), file, 6.0)
    assert index.record(asked("a"), "a", sign(1), 7.0) == number
    assert index.linked(asked("b")) == (file, 6.0)


def test_a_linked_path_is_not_free_for_another_content(index):
    index.record(asked("a"), "a", sign(1), 5.0)
    [file] = index.find(sign(1).digest)
    assert index.link(asked("a"), file, 6.0)
    assert index.link(asked("b"), file, 6.0)
    assert not index.make_way("a", sign(2).digest)
    assert index.make_way("a", sign(1).digest)
    assert index.find(sign(1).digest) == [file]


def test_a_path_that_only_its_own_request_links_to_is_free(index):
    index.record(asked("a"), "a", sign(1), 5.0)
    [file] = index.find(sign(1).digest)
    assert index.link(asked("a"), file, 6.0)
    assert index.make_way("a", sign(2).digest)
    assert index.find(sign(1).digest) == []
    assert index.linked(asked("a")) is None
    assert not index.link(asked("b"), file, 7.0)


def test_a_file_beside_its_path_is_linked_to(index):
    index.record(asked("a"), "beside", sign(1), 5.0)
    found = index.linked(asked("a"))
    assert found is not None
    assert (found[0].path, found[0].request, found[1]) == ("beside", asked("a"), 5.0)
    # It goes when the request has a file of its own.
    index.record(asked("a"), "a", sign(2), 6.0)
    assert index.linked(asked("a")) is None


def test_only_other_contents_are_near(index):
    body = random.Random(1).randbytes(20_000)
    first, second = (sign_file(body + sign(end).digest * 20, 1 << 30) for end in (1, 2))
    index.record(asked("a"), "a", first, 5.0)
    assert index.near(index.record(asked("b"), "b", first, 5.0), first, 0.5) == []
    number = index.record(asked("c"), "c", second, 5.0)
    near = index.near(number, second, 0.5)
    assert [file.path for file, _ in near] == ["a", "b"]
    assert all(0.9 < similarity < 1 for _, similarity in near)
    assert index.near(number, second, 1.0) == []
    assert index.near(index.record(asked("d"), "d", sign(9), 5.0), sign(9), 0.0) == []
    # Nor are those that were forgotten.
    assert index.make_way("a", second.digest)
    assert [file.path for file, _ in index.near(number, second, 0.5)] == ["b"]


def test_the_file_outlives_the_index(tmp_path):
    path = tmp_path / "index.sqlite"
    index = FileIndex(path)
    assert not path.exists()
    index.record(asked("a"), "a", sign(1), 5.0)
    index.close()
    again = FileIndex(path)
    assert [file.path for file in again.find(sign(1).digest)] == ["a"]
    again.close()


def test_the_log_of_a_removed_file_is_not_read(tmp_path):
    path = tmp_path / "index.sqlite"
    index = FileIndex(path)
    index.record(asked("a"), "a", sign(1), 5.0)
    log = Path(f"{path}-wal").read_bytes()
    index.close()
    path.unlink()
    Path(f"{path}-wal").write_bytes(log)
    index = FileIndex(path)
    index.record(asked("b"), "b", sign(2), 5.0)
    assert index.find(sign(1).digest) == []
    assert len(index) == 1
    index.close()


def test_an_empty_file_is_taken_for_a_new_index(tmp_path):
    path = tmp_path / "index.sqlite"
    path.touch()
    index = FileIndex(path)
    assert len(index) == 0
    index.close()


def test_a_missing_folder_and_a_later_format_are_refused(tmp_path):
    with pytest.raises(StoreError, match="there is no folder"):
        FileIndex(tmp_path / "missing" / "index.sqlite")
    path = tmp_path / "index.sqlite"
    index = FileIndex(path)
    index.record(asked("a"), "a", sign(1), 5.0)
    index.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="it has format 99"):
        FileIndex(path)


def test_a_row_that_no_index_wrote_is_an_error(tmp_path):
    path = tmp_path / "index.sqlite"
    index = FileIndex(path)
    index.record(asked("a"), "a", sign(1), 5.0)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE files SET fingerprints = 'text', one_in = 'many'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError):
        index.make_way("a", sign(2).digest)
    index.close()


@no_reactor
def test_a_key_is_held_by_one_at_a_time():
    async def main() -> list[str]:
        locks, said = KeyLocks(), list[str]()

        async def work(name: str, key: str, seconds: float | None = None) -> None:
            async with locks.hold(key, seconds):
                said.append(f"{name} in")
                await asyncio.sleep(0.05)
                said.append(f"{name} out")

        await asyncio.gather(work("a", "1"), work("b", "1"), work("c", "2"))
        assert locks.waits == 1
        assert said.index("a out") < said.index("b in")
        assert said.index("c in") < said.index("a out")
        said.clear()
        await asyncio.gather(work("a", "1"), work("b", "1", 0.01), work("c", "1"))
        return said

    said = asyncio.run(main())
    # One does not wait longer than it says; the other does.
    assert said.index("b in") < said.index("a out") < said.index("c in")


def test_a_key_is_free_after_an_error_or_a_cancelled_wait():
    async def main() -> None:
        locks = KeyLocks()
        with pytest.raises(ZeroDivisionError):
            async with locks.hold("1"):
                raise ZeroDivisionError

        async def wait() -> None:
            async with locks.hold("1"):
                pass

        async with locks.hold("1", 0.01):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0.01)
            waiting.cancel()
        await asyncio.wait_for(wait(), 1)

    asyncio.run(main())
