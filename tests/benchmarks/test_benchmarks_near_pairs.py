"""The benchmark of all pairs finds the planted pairs."""

from __future__ import annotations

import pytest

from tests.support.benchmarks import run


@pytest.mark.slow
def test_both_ways_find_what_was_planted():
    done = run("speed.near_pairs", "--sizes", 4000, "--distances", 1, 2)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("4,000")]
    assert [(row[1], row[2], row[-1]) for row in rows] == [
        ("1", "near_pairs", "0"),
        ("1", "index", "0"),
        ("2", "near_pairs", "1,000"),
        ("2", "index", "1,000"),
    ]
