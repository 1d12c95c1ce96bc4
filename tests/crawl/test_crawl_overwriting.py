"""Real crawls with overwritten feeds, or a recovered job, lose no content."""

from __future__ import annotations

import gzip
import json
import os
import signal
import zlib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.crawl.killed_crawls import Shape, account, site
from tests.support.crawl import Crawl, run_crawl
from tests.support.killing import Runs
from tests.support.processes import linux, wait_for
from tests.support.redis_servers import RedisServer
from tests.support.server import Site, serving
from tests.support.texts import FERRY, MUSEUM, TEA, page

GZIP = "scrapy.extensions.postprocessing.GzipPlugin"
RECOVER = {"NEARDUP_RECOVER": True}
#: Two copies of a content, and two other pages.
PAGES = {
    "/1": page(FERRY, frame="1"),
    "/2": page(FERRY, frame="2"),
    "/museum": page(MUSEUM),
    "/tea": page(TEA),
}


def feed(path: Path, **options: Any) -> dict[str, Any]:
    return {str(path): {"format": "jsonlines", "store_empty": False, **options}}


def in_feed(path: Path) -> list[str]:
    """Paths of the pages whose items are in a feed."""
    return sorted(json.loads(line)["path"] for line in path.read_text().splitlines())


def on_disk(job: Path) -> list[int]:
    """Return the numbers of pages of a job that were known to be on disk, at each look."""
    journal = job / "neardup.stored"
    lines = journal.read_bytes().splitlines() if journal.exists() else []
    return [int(line) for line in lines if line.isdigit() and line != b"0"]


class Job:
    """Runs of one job, one after the other."""

    def __init__(self, folder: Path, served: Site, **settings: Any) -> None:
        self.folder = folder
        self._served = served
        self._settings = {"JOBDIR": str(folder), "CONCURRENT_REQUESTS": 1, **settings}

    def run(self, *paths: str, **settings: Any) -> Crawl:
        return run_crawl([self._served.url(p) for p in paths], {**self._settings, **settings})

    def leave_as_a_kill_does(self) -> None:
        """Scrapy did not come to write what is still to be fetched."""
        (self.folder / "requests.queue/active.json").unlink()


@pytest.fixture(scope="module")
def served():
    with serving(PAGES) as served:
        yield served


@pytest.fixture
def job(tmp_path, served):
    return Job(tmp_path / "job", served)


# --- kill -9 --------------------------------------------------------------------------------


@pytest.mark.slow
@linux
@pytest.mark.parametrize("store", ["of the job", "sqlite", "redis"])
def test_a_feed_that_the_recovery_overwrites_is_complete_in_the_end(
    tmp_path, afterwards, redis_server: RedisServer, store
):
    shape = Shape(24)
    port = afterwards.enter_context(site(shape))
    runs = Runs(tmp_path, port, settings={"JOBDIR": str(tmp_path / "job")}, storing="feed")
    runs.settings["FEEDS"] = {str(runs.items): {"format": "jsonlines", "overwrite": True}}
    if store == "sqlite":
        runs.settings["NEARDUP_STORE"] = f"sqlite:///{tmp_path}/pages.sqlite"
    elif store == "redis":
        runs.settings["NEARDUP_STORE"] = redis_server.address
    process = runs.start(DOWNLOAD_DELAY=0.1)
    # A look later the store, too, knows what was on disk; what it does not is stored again anyhow.
    wait_for(lambda: len(on_disk(tmp_path / "job")) >= 2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert on_disk(tmp_path / "job")[0] > 2
    runs.finish(**RECOVER)
    found = account(shape, runs.stored(), ())
    assert not found.lost
    assert not found.pairs
    [warning] = [line for line in runs.said("WARNING") if "overwrite" in line]
    assert str(runs.items) in warning


@linux
def test_a_compressed_feed_that_a_kill_has_cut_off_is_moved_aside(tmp_path, afterwards):
    shape = Shape(24)
    port = afterwards.enter_context(site(shape))
    runs = Runs(tmp_path, port, settings={"JOBDIR": str(tmp_path / "job")}, storing="feed")
    items = tmp_path / "items.gz"
    runs.settings["FEEDS"] = feed(items, postprocessing=[GZIP])
    # Without compression the first items are on disk soon.
    runs.settings["FEEDS"][str(items)]["gzip_compresslevel"] = 0
    # The first run writes to a new file, the second one as well.
    for before in (), (tmp_path / "items.gz.cut-1",):
        process = runs.start(**RECOVER)
        for file in *before, items:
            wait_for(file.exists)
        wait_for(lambda: items.stat().st_size > 4000)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    runs.finish(**RECOVER)
    [warning] = [line for line in runs.said("WARNING") if "cut off" in line]
    assert f"{items}," in warning
    assert f"{items}.cut-2," in warning
    whole = [json.loads(line) for line in gzip.decompress(items.read_bytes()).splitlines()]
    assert not account(shape, whole, ()).lost
    for number in 1, 2:
        unpacker = zlib.decompressobj(wbits=31)
        assert unpacker.decompress((tmp_path / f"items.gz.cut-{number}").read_bytes())
    runs.finish()
    assert runs.said("WARNING") == []
    assert not (tmp_path / "items.gz.cut-3").exists()


# --- what a clean stop leaves ---------------------------------------------------------------


def test_copies_of_overwritten_items_are_stored(job, tmp_path):
    items = tmp_path / "items.jsonl"
    settings = {"FEEDS": feed(items, overwrite=True)}
    assert job.run("/1", "/museum", **settings).logged("WARNING") == []
    resumed = job.run("/2", "/tea", **settings)
    assert in_feed(items) == ["2", "tea"]
    [warning] = resumed.logged("WARNING")
    assert str(items) in warning
    assert "'overwrite': False" in warning
    # What is appended to loses nothing.
    appended = job.run("/1", FEEDS=feed(items))
    assert in_feed(items) == ["2", "tea"]
    assert appended.logged("WARNING") == []


def test_overwriting_what_the_store_knows_without_a_job_is_warned_of(tmp_path, served):
    items, store = tmp_path / "items.jsonl", f"sqlite:///{tmp_path / 'pages.sqlite'}"

    def run(path: str, **options: Any) -> list[str]:
        settings = {"NEARDUP_STORE": store, "FEEDS": feed(items, **options)}
        return run_crawl([served.url(path)], settings).logged("WARNING")

    assert run("/1", overwrite=True) == []
    assert run("/museum") == []
    [warning] = run("/2", overwrite=True)
    assert f"overwrites {items}" in warning
    assert "knows 2 pages" in warning
    # The store is new, so what the run deletes is stored again.
    (tmp_path / "pages.sqlite").unlink()
    assert run("/2", overwrite=True) == []
    assert in_feed(items) == ["2"]


def test_a_feed_that_was_moved_away_is_not_overwritten(job, tmp_path):
    items = tmp_path / "items.jsonl"
    job.run("/1", "/museum", FEEDS=feed(items, overwrite=True))
    items.rename(tmp_path / "moved.jsonl")
    resumed = job.run("/2", "/tea", FEEDS=feed(items, overwrite=True))
    assert in_feed(items) == ["tea"]
    assert resumed.logged("WARNING") == []


@pytest.mark.slow
def test_feed_that_the_job_did_not_write_is_overwritten_without_a_warning(job, tmp_path):
    items, others = tmp_path / "items.jsonl", tmp_path / "others.jsonl"
    others.write_text('{"path": "yesterday"}\n')
    job.run("/1", FEEDS=feed(items))
    resumed = job.run("/2", "/tea", FEEDS=feed(others, overwrite=True))
    assert in_feed(items) == ["1"]
    assert in_feed(others) == ["tea"]
    assert resumed.logged("WARNING") == []


@pytest.mark.slow
def test_batches_numbered_from_one_again_are_overwritten(job, tmp_path):
    parts = feed(tmp_path / "items-%(batch_id)d.jsonl", overwrite=True, batch_item_count=1)
    job.run("/museum", "/1", FEEDS=parts)
    assert len(list(tmp_path.glob("items-*"))) == 2
    (tmp_path / "items-1.jsonl").unlink()
    job.run("/tea", "/2", FEEDS=parts)
    stored = [path for file in tmp_path.glob("items-*") for path in in_feed(file)]
    assert sorted(stored) == ["2", "tea"]


# --- recovery -------------------------------------------------------------------------------


@pytest.mark.slow
def test_both_of_two_feeds_are_complete(job, tmp_path):
    whole, more = tmp_path / "whole.jsonl", tmp_path / "more.jsonl"
    feeds = {"FEEDS": {**feed(whole, overwrite=True), **feed(more)}}
    job.run("/1", "/museum", **feeds)
    job.leave_as_a_kill_does()
    job.run("/1", "/museum", "/tea", **feeds, **RECOVER)
    assert in_feed(whole) == ["1", "museum", "tea"]
    assert set(in_feed(more)) == {"1", "museum", "tea"}


@pytest.mark.slow
def test_items_in_a_feed_of_another_name_are_not_stored_again(job, tmp_path):
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    job.run("/1", "/museum", FEEDS=feed(one, overwrite=True))
    job.leave_as_a_kill_does()
    job.run("/1", "/museum", "/tea", FEEDS=feed(other, overwrite=True), **RECOVER)
    assert in_feed(one) == ["1", "museum"]
    assert in_feed(other) == ["tea"]
    # The third run loses what the first one wrote, and nothing of the second one.
    job.leave_as_a_kill_does()
    job.run("/1", "/museum", "/tea", FEEDS=feed(one, overwrite=True), **RECOVER)
    assert in_feed(one) == ["1", "museum"]
    assert in_feed(other) == ["tea"]


@pytest.mark.slow
def test_pages_of_earlier_jobs_are_stored_again_if_so_configured(tmp_path, served):
    """Of a store that many jobs share, only what this one stored is not stored again."""
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/pages.sqlite"}
    items = tmp_path / "items.jsonl"
    yesterday, today = (Job(tmp_path / day, served, FEEDS=feed(items), **store) for day in "12")
    yesterday.run("/museum", "/tea")
    items.unlink()
    today.run("/museum")
    today.leave_as_a_kill_does()
    today.run("/museum", "/tea", **RECOVER)
    assert in_feed(items) == ["museum", "tea"]


def test_daily_crawls_that_overwrite_their_feed_store_what_is_new(tmp_path, served):
    items = tmp_path / "items.jsonl"
    settings = {
        "NEARDUP_STORE": f"sqlite:///{tmp_path}/pages.sqlite",
        "NEARDUP_REVISIT": "drop",
        "FEEDS": feed(items, overwrite=True),
    }
    for day, paths in ("1", ["/1", "/museum"]), ("2", ["/1", "/2", "/museum", "/tea"]):
        assert Job(tmp_path / day, served, **settings).run(*paths).logged("WARNING") == []
    assert in_feed(items) == ["tea"]


def test_what_is_appended_to_a_compressed_feed_can_be_read(tmp_path, served):
    items = tmp_path / "items.gz"
    packed = feed(items, postprocessing=[GZIP])
    for day, path in ("1", "/museum"), ("2", "/tea"):
        assert Job(tmp_path / day, served, FEEDS=packed).run(path).logged("WARNING") == []
    lines = gzip.decompress(items.read_bytes()).decode().splitlines()
    assert [json.loads(line)["path"] for line in lines] == ["museum", "tea"]
