"""The benchmark of all pairs: it finds those that it planted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_both_ways_find_what_was_planted():
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "allpairs.py", "--sizes", "4000", "--distances", "1", "2"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("4,000")]
    assert [(row[1], row[2], row[-1]) for row in rows] == [
        ("1", "near_pairs", "0"),
        ("1", "index", "0"),
        ("2", "near_pairs", "1,000"),
        ("2", "index", "1,000"),
    ]
