"""Crawls that are killed lose no content; benchmarks.crawl.kills kills more of them."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.crawl.killed_crawls import (
    MODULE,
    Account,
    Process,
    Shape,
    account,
    confirmed,
    content_of,
    site,
)
from scrapy_neardup.crawl.durability.job import Job
from tests.support.crawl import LOOPS, run_crawl
from tests.support.killing import Runs, passed_over
from tests.support.processes import linux, wait_for
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, page

pytestmark = linux

SHAPE = Shape(24)
SYNCING = f"{MODULE}.Syncing"
LIMITING = "tests.support.killing.Limiting"
RECOVER = {"NEARDUP_RECOVER": True}
#: A crawl that does not end before the test has done its part.
SLOW = {"DOWNLOAD_DELAY": 0.5}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with site(SHAPE) as port:
        yield port


def in_job(folder: Any, port: int, **how: Any) -> Runs:
    return Runs(folder, port, settings={"JOBDIR": str(folder / "job")}, **how)


def crawled(runs: Runs, least: int) -> None:
    """Wait until the run has had so many answers."""
    wait_for(lambda: runs.log.exists() and runs.log.read_text().count("Crawled (200)") >= least)


def killed(runs: Runs, process: Process) -> frozenset[str]:
    """Kill a run; what counts by then is on disk."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    known = confirmed(runs.folder / "job/neardup.sqlite")
    on_disk = {item["path"] for item in runs.stored()}
    contents = {path for path in known if "content" in path}
    assert contents <= on_disk
    copies = passed_over(runs.folder / "job/neardup.sqlite", SHAPE, runs.port)
    assert set(map(content_of, copies)) <= set(map(content_of, contents))
    return known


def nothing_lost(runs: Runs, *at_kills: frozenset[str]) -> Account:
    found = account(SHAPE, runs.stored(), at_kills)
    assert not found.lost
    assert not found.wrong_pairs
    assert not found.wrong_again
    return found


# --- kill -9 --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("storing", "loop"), [("synced", LOOPS[-1]), ("feed", "reactor"), ("batches", "reactor")]
)
def test_repeated_kills_lose_nothing(tmp_path, port, storing, loop):
    runs = in_job(tmp_path, port, storing=storing)
    runs.settings["TWISTED_REACTOR_ENABLED"] = loop == "reactor"
    at_kills = []
    for answers in (25, 50):
        # Slow enough for the feeds to be looked at in between.
        process = runs.start(**RECOVER, DOWNLOAD_DELAY=0.2)
        crawled(runs, answers)
        at_kills.append(killed(runs, process))
    runs.finish(**RECOVER)
    nothing_lost(runs, *at_kills)
    runs.finish()
    assert runs.said("WARNING") == []


@pytest.mark.slow
@pytest.mark.parametrize("storing", ["synced", "feed"])
def test_a_page_counts_when_all_its_items_are_stored(tmp_path, port, storing):
    runs = in_job(tmp_path, port, storing=storing)
    runs.settings["ITEMS_PER_PAGE"] = 2
    pipelines = {"tests.support.killing.Pausing": 300}
    if storing == "synced":
        pipelines[SYNCING] = 500
    process = runs.start(ITEM_PIPELINES=pipelines)
    crawled(runs, 10)
    # Time for the first items to reach the disk, and for the store to be told of it.
    time.sleep(5)
    known = killed(runs, process)
    assert not {path for path in known if "content" in path}
    runs.finish(**RECOVER)
    places = {(content_of(item["path"]), item["place"]) for item in runs.stored()}
    assert places == {(content, place) for content in range(SHAPE.contents) for place in (0, 1)}


@pytest.mark.slow
def test_kill_during_recovery_is_recovered(tmp_path, port):
    runs = in_job(tmp_path, port)
    # Slow enough that its feed is known to be on disk in between.
    process = runs.start(DOWNLOAD_DELAY=0.1)
    crawled(runs, 40)
    before = killed(runs, process)
    process = runs.start(**RECOVER)
    wait_for(lambda: runs.log.exists() and "are made again" in runs.log.read_text())
    amid = killed(runs, process)
    assert before <= amid
    # As if it had come a little earlier: neither is there what was seen nor what waited.
    (tmp_path / "job/requests.seen").unlink(missing_ok=True)
    runs.finish(**RECOVER)
    nothing_lost(runs, before, amid)
    assert runs.stats()["item_dropped_reasons_count/UnchangedPage"] > 0


@pytest.mark.slow
def test_a_job_that_runs_is_not_recovered(tmp_path, port):
    runs = in_job(tmp_path, port)
    process = runs.start(**SLOW)
    crawled(runs, 4)
    other = in_job(tmp_path, port, number=100)
    assert other.start(**RECOVER).wait(60) == 1
    assert any("another process" in line for line in other.said("ERROR"))
    assert list((tmp_path / "job").glob("unclean-*")) == []
    # The other one has not ended it.
    assert Job(tmp_path / "job").ended_uncleanly
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    runs.finish()
    assert runs.said("WARNING") == []
    assert nothing_lost(runs).again == []


# --- signals --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "storing"), [(signal.SIGINT, "feed"), (signal.SIGTERM, "synced")]
)
def test_crawl_stopped_by_one_interrupt_resumes(tmp_path, port, number, storing):
    runs = in_job(tmp_path, port, storing=storing)
    process = runs.start()
    crawled(runs, 20)
    process.send_signal(number)
    assert process.wait(60) == 0
    assert 0 < len(runs.stored()) < SHAPE.contents
    runs.finish()
    assert runs.said("WARNING") == []
    found = nothing_lost(runs)
    assert not found.pairs
    assert not found.again


def test_a_crawl_stopped_while_it_starts_has_lost_no_requests(tmp_path, port):
    runs = in_job(tmp_path, port)
    runs.start(ITEM_PIPELINES={"tests.support.killing.Interrupting": 500}).wait(60)
    assert "Crawled (" not in runs.log.read_text()
    # Scrapy has made the file, and written no queue beside it.
    assert (tmp_path / "job/requests.seen").read_bytes() == b""
    assert not (tmp_path / "job/requests.queue/active.json").exists()
    runs.finish(CLOSESPIDER_PAGECOUNT=1)
    assert runs.said("WARNING") == []


@pytest.mark.slow
@pytest.mark.parametrize("storing", ["synced", "feed"])
def test_crawl_stopped_by_two_interrupts_is_recovered(tmp_path, port, storing):
    runs = in_job(tmp_path, port, storing=storing)
    process = runs.start(**SLOW)
    crawled(runs, 6)
    process.send_signal(signal.SIGINT)
    wait_for(lambda: "gracefully" in runs.log.read_text())
    process.send_signal(signal.SIGINT)
    process.wait(60)
    known = confirmed(tmp_path / "job/neardup.sqlite")
    runs.finish(**RECOVER)
    [warning] = [line for line in runs.said("WARNING") if "made again" in line]
    assert "unclean-" in warning
    nothing_lost(runs, known)


# --- a full disk ----------------------------------------------------------------------------

#: Takes the store's log of changes, which has more already, and nothing else of the crawl's.
STORE_FULL: dict[str, Any] = {
    "ITEM_PIPELINES": {SYNCING: 500, LIMITING: 600},
    "LIMITS": {4: 40_000},
    "LOG_LEVEL": "INFO",
    "DOWNLOAD_DELAY": 0.2,
}


@pytest.mark.slow
def test_a_crawl_goes_on_when_its_store_cannot_be_written(tmp_path, port):
    runs = in_job(tmp_path, port)
    runs.finish(**STORE_FULL)
    found = nothing_lost(runs)
    assert not found.pairs
    assert not found.again
    [warning] = runs.said("WARNING")
    assert "keeping pages" in warning
    [error] = runs.said("ERROR")
    assert "Cannot record all pages" in error
    stats = runs.stats()
    assert stats["neardup/store/errors"] > 0
    assert stats["finish_reason"] == "finished"
    # What waits is not counted as remembered.
    [end] = [line for line in runs.said("INFO") if "Judged pages" in line]
    counted = re.search(r"; (\d+) remembered, (\d+) more waiting to be recorded", end)
    assert counted is not None
    assert f"{counted[2]} pages were not written" in error
    assert stats["neardup/store/not_remembered"] == int(counted[2])


@pytest.mark.slow
def test_a_crawl_ends_when_its_store_cannot_be_written_if_that_is_asked_for(tmp_path, port):
    runs = in_job(tmp_path, port)
    runs.finish(**STORE_FULL, NEARDUP_ON_STORE_ERROR="stop")
    assert runs.stats()["finish_reason"] == "neardup_store"
    assert any("Closing the spider" in line for line in runs.said("ERROR"))
    assert len(runs.stored()) < SHAPE.contents
    runs.finish()
    # Some are stored twice: the store did not come to know of what was stored last.
    assert not account(SHAPE, runs.stored(), ()).lost


@pytest.mark.slow
def test_items_rejected_by_a_feed_are_stored_by_the_next_run(tmp_path, port):
    runs = in_job(tmp_path, port, storing="feed")
    runs.items.symlink_to("/dev/full")
    runs.finish()
    assert "the next run will forget" in runs.said("WARNING")[-1]
    runs.items.unlink()
    runs.finish(**RECOVER)
    found = nothing_lost(runs)
    assert not found.pairs
    assert not found.again


@pytest.mark.slow
def test_items_of_a_feed_without_a_folder_are_stored_by_the_next_run(tmp_path, port):
    runs = in_job(tmp_path, port, storing="feed")
    (tmp_path / "absent").write_bytes(b"no folder")
    runs.finish(FEEDS={str(tmp_path / "absent/items.jsonl"): {"format": "jsonlines"}})
    assert runs.stats()["item_scraped_count"] == runs.stats()["neardup/items/kept"]
    runs.finish(**RECOVER)
    assert not nothing_lost(runs).pairs


@pytest.mark.slow
def test_items_rejected_for_a_while_are_stored_by_the_next_run(tmp_path, port):
    runs = in_job(tmp_path, port, storing="feed")
    pipelines = {LIMITING: 600}
    limits = {6: 8192, 16: None}
    runs.finish(ITEM_PIPELINES=pipelines, LIMITS=limits, LOG_FILE=None, DOWNLOAD_DELAY=0.2)
    # A copy of each that it did not take was tried in its place.
    assert runs.stats()["neardup/items/kept"] > SHAPE.contents
    assert Job(tmp_path / "job").ended_uncleanly
    runs.finish(**RECOVER)
    assert not account(SHAPE, runs.stored(), ()).lost


@pytest.mark.parametrize(
    ("setting", "reason", "said"),
    [("keep", "finished", "keeping pages"), ("stop", "neardup_store", "Closing the spider")],
)
def test_pages_are_not_said_to_be_remembered_in_a_deleted_file(tmp_path, setting, reason, said):
    path = tmp_path / "seen.sqlite"
    settings = {
        "NEARDUP_STORE": f"sqlite:///{path}",
        "NEARDUP_ON_STORE_ERROR": setting,
        "ITEM_PIPELINES": {"tests.support.killing.Deleting": 600},
        "DELETED": str(path),
        "CONCURRENT_REQUESTS": 1,
    }

    def late() -> bytes:
        time.sleep(3)  # the store is checked meanwhile
        return page(MUSEUM, "The museum").encode()

    with serving({"/1": page(FERRY, "The ferry"), "/2": Answer(late)}) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
    assert crawl.stats["finish_reason"] == reason
    gone = f"{path}: the file was deleted, moved or replaced while it was open"
    *noticed, at_end = crawl.logged("WARNING") + crawl.logged("ERROR")
    assert len(noticed) == 1
    assert gone in noticed[0]
    assert said in noticed[0]
    assert at_end.startswith("Cannot record all pages")
    assert gone in at_end
    stored = len(crawl.stored)
    assert stored == 2 or setting == "stop"
    assert crawl.stats["neardup/store/not_remembered"] == stored
    [end] = [line for line in crawl.logged("INFO") if line.startswith("Judged")]
    assert f"; 0 remembered, {stored} more waiting to be recorded" in end


def test_item_is_not_appended_to_a_truncated_line(tmp_path, port):
    runs = in_job(tmp_path, port, storing="feed")
    cut_off = b'{"path": "/content/0/0", "run": 0, "te'
    runs.items.write_bytes(cut_off)
    runs.finish()
    assert not nothing_lost(runs).pairs
    assert runs.items.read_bytes().splitlines()[0] == cut_off
