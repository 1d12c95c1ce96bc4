"""The benchmark of lazy extraction accounts for every page of each kind of crawl."""

from __future__ import annotations

import re

import pytest

from tests.support.benchmarks import run


@pytest.mark.slow
def test_unlike_pages_are_read_in_full_by_full_extraction_only():
    done = run("crawl.extraction", "--made-up", "40")
    assert done.returncode == 0, done.stderr
    rows = {
        name: re.split(r"  +", rest)[:7]
        for name, rest in re.findall(r"^(no add-on|full|lazy) +(\d.*)$", done.stdout, re.M)
    }
    assert {name: row[4:6] for name, row in rows.items()} == {
        "no add-on": ["0", "0"],
        "full": ["0", "40"],
        "lazy": ["0", "0"],
    }
    assert float(rows["full"][1]) == float(rows["full"][3]) == 1
    assert "dropped by both 0, by full alone 0, by lazy alone 0" in done.stdout
    collections = re.findall(r"^full collections +(.*)$", done.stdout, re.M)
    assert len(collections) == 1
