"""Crawls that are stopped in the middle lose no content; benchmarks/kills.py kills many more."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from scrapy_neardup.jobs import Job
from tests.killing import Account, Runs, Shape, account, confirmed, site
from tests.processes import linux, wait_for

pytestmark = linux

SHAPE = Shape(24)
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


def killed(runs: Runs, process: subprocess.Popen[Any]) -> frozenset[str]:
    """Kill a run; what counts by then is on disk."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    known = confirmed(runs.folder / "job/neardup.sqlite")
    on_disk = {item["path"] for item in runs.stored()}
    assert {path for path in known if "content" in path} <= on_disk
    return known


def nothing_lost(runs: Runs, *at_kills: frozenset[str]) -> Account:
    found = account(SHAPE, runs.stored(), at_kills)
    assert not found.lost
    assert not found.wrong_pairs
    assert not found.wrong_again
    return found


# --- kill -9 --------------------------------------------------------------------------------


@pytest.mark.parametrize("storing", ["synced", "feed"])
def test_killed_again_and_again_nothing_is_lost(tmp_path, port, storing):
    runs = in_job(tmp_path, port, storing=storing)
    at_kills = []
    for answers in (25, 50):
        process = runs.start(**RECOVER)
        crawled(runs, answers)
        at_kills.append(killed(runs, process))
    runs.finish(**RECOVER)
    nothing_lost(runs, *at_kills)
    runs.finish()
    assert runs.said("WARNING") == []


def test_a_kill_amid_recovery_is_recovered_from(tmp_path, port):
    runs = in_job(tmp_path, port)
    process = runs.start()
    crawled(runs, 30)
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


def test_a_job_that_runs_is_not_recovered(tmp_path, port):
    runs = in_job(tmp_path, port)
    process = runs.start(**SLOW)
    crawled(runs, 4)
    other = in_job(tmp_path, port, number=100)
    other.finish(**RECOVER)
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


@pytest.mark.parametrize(
    ("number", "storing"), [(signal.SIGINT, "feed"), (signal.SIGTERM, "synced")]
)
def test_a_crawl_that_is_asked_to_end_goes_on_later(tmp_path, port, number, storing):
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


@pytest.mark.parametrize("storing", ["synced", "feed"])
def test_a_crawl_that_is_made_to_end_is_recovered(tmp_path, port, storing):
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
