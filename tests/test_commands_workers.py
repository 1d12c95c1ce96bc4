"""Workers without the command around them."""

from __future__ import annotations

import subprocess
import sys

from scrapy_neardup.page import Signer
from scrapy_neardup.records import Record
from scrapy_neardup.workers import Failure, Limits, WorkerPool, sign_record
from tests.texts import article

SECRET = bytes(16)


def test_signatures_are_those_of_this_process():
    signer = Signer(secret=SECRET)
    records = [
        Record(n, f"https://a.example/{n}", " ".join(article(seed=n)), "text") for n in range(40)
    ]
    with WorkerPool(sign_record, {"secret": SECRET}, 2) as workers:
        results = list(workers.map(records))
    assert results == [(record, sign_record(signer, record)) for record in records]


def test_a_script_that_guards_nothing_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "print('began')\n"
        "from scrapy_neardup.records import Record\n"
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


def test_all_tries_of_a_page_share_one_limit_of_time():
    recipe = {"secret": SECRET, "tokenizer": "tests.parts.touchy"}
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
