"""The workers of the commands, called directly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.record import Record
from scrapy_neardup.workers import Failure, Limits, WorkerPool, sign_record
from scrapy_neardup.workers.supervisor import Supervisor
from scrapy_neardup.workers.tasks import attempt_all
from tests.support.texts import article

pytestmark = pytest.mark.slow

SECRET = bytes(16)


def test_signatures_are_those_of_this_process():
    signer = Signer(secret=SECRET)
    records = [
        Record(n, f"https://a.example/{n}", " ".join(article(seed=n)), "text") for n in range(40)
    ]
    with WorkerPool(sign_record, {"secret": SECRET}, 2) as workers:
        results = list(workers.map(records))
    assert results == [(record, sign_record(signer, record)) for record in records]


def test_answers_of_pages_that_were_signed_together_come_together():
    calls = SimpleQueue[Callable[[], None]]()
    records = [Record(n, f"https://a.example/{n}", f"text {n}", "text") for n in range(80)]
    with WorkerPool(sign_record, {"secret": SECRET}, 1, deliver=calls.put) as workers:
        futures, count = list(map(workers.submit, records)), 0
        while not all(future.done() for future in futures):
            calls.get(timeout=60)()
            count += 1
    signer = Signer(secret=SECRET)
    expected = [sign_record(signer, record) for record in records]
    assert [future.result() for future in futures] == expected
    assert count < 60


@pytest.mark.slow
def test_a_script_that_guards_nothing_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "print('began')\n"
        "from scrapy_neardup.sources.record import Record\n"
        "from scrapy_neardup.workers import Failure, Limits, WorkerPool, sign_record\n"
        "with WorkerPool(sign_record, {'secret': bytes(16)}, 2) as workers:\n"
        "    future = workers.submit(Record('id', 'https://a.example/', 'some text', 'text'))\n"
        "    print(future.result().url)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "began\nhttps://a.example/\n"
    assert done.stderr == ""


def test_this_process_ends_when_a_worker_that_is_being_started_has_been():
    """Else that one complains of its parent, at about every fifth forced end amid a start."""
    script = (
        "import threading, time\n"
        "from scrapy_neardup.workers import spawning\n"
        "has_begun = threading.Event()\n"
        "def start():\n"
        "    with spawning.starting_or_ending:\n"
        "        has_begun.set()\n"
        "        time.sleep(0.5)\n"
        "        print('started', flush=True)\n"
        "threading.Thread(target=start, daemon=True).start()\n"
        "has_begun.wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout == "started\n"


def test_all_tries_of_a_page_share_one_limit_of_time():
    recipe = {"secret": SECRET, "tokenizer": "tests.support.parts.touchy"}
    record = Record(1, "https://a.example/", "drag 2", "text")
    with WorkerPool(sign_record, recipe, 1, Limits(seconds=3)) as workers:
        outcome = workers.submit(record).result()
    assert isinstance(outcome, Failure)
    assert outcome.reason == "timeout"


def test_what_waits_when_the_pool_is_closed_is_cancelled():
    record = Record(1, "https://a.example/", " ".join(article()), "text")
    with WorkerPool(sign_record, {"secret": SECRET}, 1) as workers:
        futures = [workers.submit(record) for _ in range(200)]
        futures[0].result()
    assert futures[-1].cancelled()
    assert all(future.done() for future in futures)


# --- several pages at once ---

TOUCHY = {"secret": SECRET, "tokenizer": "tests.support.parts.touchy"}
WORDS = st.lists(st.sampled_from(["ferry", "茶叶", "カタ", "😀", "𠮷", "…", "\n", " ", "2024"]))
TEXTS = st.lists(st.tuples(WORDS.map("".join), WORDS.map(" | ".join)), max_size=6)


def texts(*given: str) -> list[Record]:
    return [Record(n, f"https://a.example/{n}", text, "text") for n, text in enumerate(given)]


@pytest.fixture
def given_at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of pages that workers were given at once, if more than one."""
    numbers: list[int] = []
    together = Supervisor._do_together

    def counted(self: Any, worker: Any, tasks: Sequence[Any]) -> Any:
        numbers.append(len(tasks))
        return together(self, worker, tasks)

    monkeypatch.setattr(Supervisor, "_do_together", counted)
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", ["auto", "pairs", "tests.support.parts.letters"])
@given(pages=TEXTS)
def test_signed_together_pages_have_the_signatures_that_they_have_alone(tokenizer, pages):
    records = [
        Record(n, f"https://a.example/{n}", text, "text", title=title)
        for n, (text, title) in enumerate(pages)
    ]
    together, alone = (Signer(secret=SECRET, tokenizer=tokenizer) for _ in range(2))
    expected = [sign_record(alone, record) for record in records]
    assert attempt_all(sign_record, together, records) == expected


def test_a_page_that_cannot_be_read_or_signed_leaves_the_others_alone():
    signer = Signer(secret=SECRET, tokenizer="tests.support.parts.touchy")
    good, bad = texts("a ferry", "raise it"), Record(9, "https://a.example/9", "<b>" * 3000, "html")
    found = attempt_all(sign_record, signer, [bad, *good, bad])
    assert [getattr(answer, "reason", "") for answer in found] == [
        "too_nested",
        "",
        "failed",
        "too_nested",
    ]


def test_what_waits_is_given_to_a_worker_at_once(given_at_once):
    records = texts(*map(str, range(200)))
    with WorkerPool(sign_record, {"secret": SECRET}, 1) as workers:
        futures = [workers.submit(record) for record in records]
        found = [future.result() for future in futures]
    assert [getattr(signature, "url", "") for signature in found] == [r.url for r in records]
    assert max(given_at_once) == 8
    assert sum(given_at_once) > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reason", "lost"),
    [
        ("kill it", "worker_died", 3),
        ("hang {marker}", "timeout", 1),
        ("raise it", "failed", 0),
        ("hoard it", "out_of_memory", 1),
    ],
)
def test_only_the_page_that_harms_its_worker_fails(given_at_once, tmp_path, text, reason, lost):
    others = [f"page {number}" for number in range(60)]
    bad = text.format(marker=tmp_path / "marker")
    answered: list[Future[Any]] = []
    with WorkerPool(sign_record, TOUCHY, 1, Limits(seconds=2)) as workers:
        records = texts(*others[:50], bad, *others[50:])
        outcomes = [workers.submit(record) for record in records]
        for outcome in outcomes:
            outcome.add_done_callback(answered.append)
        found = [getattr(outcome.result(), "reason", "") for outcome in outcomes]
        assert workers.lost == lost
    assert found == [""] * 50 + [reason] + [""] * 10
    # None loses its turn: of a page and its copy, the one that came first is the original.
    assert answered == outcomes
    # The page was among them.
    assert sum(given_at_once) > 30


def test_a_page_that_hangs_holds_up_none_of_those_that_came_with_it(given_at_once, tmp_path):
    with WorkerPool(sign_record, TOUCHY, 2, Limits(seconds=60)) as workers:
        before = [workers.submit(record) for record in texts(*["page"] * 100)]
        hanging, *others = [
            workers.submit(record) for record in texts(f"hang {tmp_path / 'x'}", *["page"] * 60)
        ]
        assert not any(isinstance(f.result(timeout=30), Failure) for f in (*before, *others))
        assert not hanging.done()
    assert given_at_once


def test_pages_that_take_long_are_given_one_by_one(given_at_once):
    with WorkerPool(sign_record, TOUCHY, 1, Limits(seconds=10)) as workers:
        records = texts(*["sleep 0.5"] * 6)
        outcomes = [workers.submit(record) for record in records]
        assert not any(isinstance(outcome.result(), Failure) for outcome in outcomes)
    assert not given_at_once


def test_a_short_limit_of_time_is_for_one_page_and_not_for_several(given_at_once):
    with WorkerPool(sign_record, TOUCHY, 1, Limits(seconds=1)) as workers:
        outcomes = [workers.submit(record) for record in texts(*["sleep 0.2"] * 10)]
        assert not any(isinstance(outcome.result(), Failure) for outcome in outcomes)
        assert workers.lost == 0
    assert not given_at_once


def test_large_pages_are_given_one_by_one(given_at_once):
    with WorkerPool(sign_record, TOUCHY, 1) as workers:
        small, large = texts(*["page"] * 40), texts(*["page " * 300_000] * 6)
        for future in [workers.submit(record) for record in small]:
            future.result()
        assert given_at_once
        given_at_once.clear()
        for future in [workers.submit(record) for record in large]:
            future.result()
    assert set(given_at_once) <= {2}
