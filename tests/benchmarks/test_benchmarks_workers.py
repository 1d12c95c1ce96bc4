"""The worker benchmarks: every crawl adds up, every page has one outcome."""

from __future__ import annotations

import json

import pytest

from tests.support.benchmarks import run
from tests.support.texts import FERRY, MUSEUM, page


@pytest.mark.slow
def test_the_same_crawl_with_each_number_of_workers(tmp_path):
    pages = tmp_path / "pages.jsonl"
    bodies = page(FERRY), page(MUSEUM), page(FERRY, frame="a mirror")
    lines = (
        json.dumps({"url": f"https://{number}.example/", "html": body})
        for number, body in enumerate(bodies)
    )
    pages.write_text("\n".join(lines) + "\n", "utf-8")
    done = run("crawl.workers", pages, "--workers", 1, 0)
    assert done.returncode == 0, done.stderr
    table = [line.split() for line in done.stdout.splitlines()]
    dropped = {row[0]: row[4] for row in table if row[1:2] == ["workers"] and len(row) == 7}
    assert dropped == {"1": "1", "0": "1"}
    assert "own code between two turns" in done.stdout


def test_numbers_of_workers_that_cannot_be(tmp_path):
    done = run("crawl.workers", tmp_path, "--workers", "-1")
    assert done.returncode == 2
    assert run("crawl.workers", tmp_path / "none.jsonl").returncode == 2


def test_hostile_pages_and_what_they_take():
    done = run("speed.hostile_pages", "--only", "nested-1e3", "--only", "menus")
    assert done.returncode == 0, done.stderr
    outcomes = {line.split()[0]: line.split()[3] for line in done.stdout.splitlines()[3:5]}
    assert outcomes == {"nested-1e3": "too_nested", "menus": "signed,"}
