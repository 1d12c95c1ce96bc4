"""The benchmark of tables: every design finds the planted pairs."""

from __future__ import annotations

import pytest

from benchmarks.speed import tables
from tests.support.benchmarks import run


def test_candidates_are_those_of_the_documents():
    assert tables.candidates(2**34, 4) == 4 * 262_144
    assert tables.candidates(2**34, 16) == 16 * 64
    assert tables.candidates(2**34, 20) == 4 * 8 + 12 * 4 + 4 * 2 == 88


@pytest.mark.slow
def test_every_design_finds_what_was_planted():
    done = run("speed.tables", "--sizes", 4000, "--texts", 200)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("4,000")]
    assert [(row[1], row[-1]) for row in rows] == [
        (name, "2,000") for name in ("rule", "tables=4", "tables=16", "tables=20")
    ]
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[1:2] == ["200"]]
    assert [tuple(row[::2][:2]) for row in rows] == [
        (name, has_notice) for name in tables.METHODS for has_notice in ("no", "yes")
    ]
