"""Worker pools whose processes, files or calls fail: every page still gets a result."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup.sources.record import Record
from scrapy_neardup.workers import Limits, WorkerPool, forkserver, sign_record, supervisor
from tests.support import faults
from tests.support.processes import children_of, linux, wait_for

SECRET = {"secret": bytes(16)}
TOUCHY = {**SECRET, "tokenizer": "tests.support.parts.touchy"}
ROOT = Path(__file__).parents[2]


def page(number: int, text: str = "a ferry") -> Record:
    return Record(number, f"https://a.example/{number}", text, "text")


@pytest.fixture
def server() -> Iterator[int]:
    """The process that starts this process's workers, freed at the end."""
    with WorkerPool(sign_record, SECRET, 1) as pool:
        assert faults.answer(pool.submit(page(0))) == ""
    started = forkserver.fork_server._server
    assert started
    yield started.process.pid
    with suppress(ProcessLookupError):
        os.kill(started.process.pid, signal.SIGKILL)


# --- processes that stand still ---


@pytest.mark.slow
@linux
def test_a_server_that_is_stopped_is_replaced(server, monkeypatch):
    monkeypatch.setattr(forkserver, "_FORK_SECONDS", 0.2)
    with WorkerPool(sign_record, TOUCHY, 1) as pool:
        assert faults.answer(pool.submit(page(0))) == ""
        os.kill(server, signal.SIGSTOP)
        # Its exit code is asked of a server that says nothing.
        assert faults.answer(pool.submit(page(1, "kill it"))) == "worker_died"
        assert faults.answer(pool.submit(page(2))) == ""
    assert server not in children_of(os.getpid())


def test_results_are_delivered_when_the_worker_dies_before_its_next_pages(monkeypatch):
    first, second = page(0), page(1)
    futures: list[Future[Any]] = []
    at_replacement: list[bool] = []
    send, start = supervisor.WorkerProcess.send, supervisor.WorkerProcess.__init__

    def send_to_dead(worker, records, deadline):
        if not at_replacement and records == [second]:
            worker.close()
        send(worker, records, deadline)

    def started(worker, recipe, deadline):
        at_replacement.append(futures[0].done())
        start(worker, recipe, deadline)

    monkeypatch.setattr(supervisor.WorkerProcess, "send", send_to_dead)
    monkeypatch.setattr(supervisor, "_BATCH_PAGES", 1)
    with WorkerPool(sign_record, SECRET, 1) as pool:
        assert faults.answer(pool.submit(page(2))) == ""
        monkeypatch.setattr(supervisor.WorkerProcess, "__init__", started)
        futures.extend(map(pool.submit, (first, second)))
        assert [faults.answer(future) for future in futures] == ["", ""]
    # A new worker may take a minute to start, and the first page has been read.
    assert at_replacement == [True]


@pytest.mark.slow
@linux
def test_a_worker_that_is_stopped_costs_a_page_at_most(server):
    # The page fills what a socket holds, so that it cannot even be sent.
    long = "word " * 400_000
    with WorkerPool(sign_record, SECRET, 1, Limits(seconds=3)) as pool:
        for text in ("a ferry", long):
            # A worker that is stopped while it starts costs a minute.
            assert faults.answer(pool.submit(page(0))) == ""
            wait_for(lambda: len(children_of(server)) == 1)
            [worker] = children_of(server)
            os.kill(worker, signal.SIGSTOP)
            assert faults.answer(pool.submit(page(1, text))) == "timeout"
        assert faults.answer(pool.submit(page(2))) == ""
    wait_for(lambda: not children_of(server))


@pytest.mark.slow
@linux
def test_pages_wait_for_a_start_for_a_limited_time_only(server, monkeypatch):
    """And are judged again when workers start again."""
    monkeypatch.setattr(supervisor, "_START_SECONDS", 0.5)
    monkeypatch.setattr(supervisor, "_RESTART_PAUSE", 0.05)
    os.kill(server, signal.SIGSTOP)
    with WorkerPool(sign_record, SECRET, 2) as pool:
        futures = [pool.submit(page(number)) for number in range(40)]
        assert {faults.answer(future) for future in futures} == {"no_worker"}
        wait_for(lambda: faults.answer(pool.submit(page(99))) == "")


@linux
def test_a_pool_can_be_stopped_while_its_workers_start(server):
    os.kill(server, signal.SIGSTOP)
    pool = WorkerPool(sign_record, SECRET, 2)
    pool.start()
    futures = [pool.submit(page(number)) for number in range(5)]
    pool.stop()
    assert all(future.cancelled() for future in [*futures, pool.submit(page(9))])


# --- calls that fail ---


@pytest.mark.slow
def test_whichever_call_fails_every_page_is_answered(tmp_path):
    """At every place of a start and of the work, in this process and in those that it starts."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "if '-c' in sys.orig_argv:\n"
        "    from tests.support import faults\n"
        "    faults.in_helpers()\n"
    )
    (tmp_path / "fault").touch()
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.faults"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
            "NEARDUP_TEST_FAULT": str(tmp_path / "fault"),
        },
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *rounds, last = map(json.loads, done.stdout.splitlines())
    assert last == "ended"
    for fault, place, answers in rounds:
        assert set(answers) <= {"", "no_worker", "failed"}, (fault, place)
        if fault.startswith("helper"):
            assert answers == (["no_worker"] if place else [""]), fault
    assert {fault for fault, place, _ in rounds if place > 1} == set(faults.OURS)


def test_results_are_set_when_the_event_loop_is_closed():
    def deliver(call: Callable[[], None]) -> None:
        raise RuntimeError("Event loop is closed")

    with WorkerPool(sign_record, SECRET, 1, deliver=deliver) as pool:
        futures = [pool.submit(page(number)) for number in range(20)]
        assert {faults.answer(future) for future in futures} == {""}


@linux
def test_no_more_files_can_be_opened_for_a_while(server, monkeypatch):
    monkeypatch.setattr(supervisor, "_RESTART_PAUSE", 0.05)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with WorkerPool(sign_record, TOUCHY, 1) as pool:
        assert faults.answer(pool.submit(page(0))) == ""
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            # Its worker cannot be replaced.
            assert faults.answer(pool.submit(page(1, "kill it"))) == "no_worker"
            assert faults.answer(pool.submit(page(2))) == "no_worker"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        wait_for(lambda: faults.answer(pool.submit(page(3))) == "")
