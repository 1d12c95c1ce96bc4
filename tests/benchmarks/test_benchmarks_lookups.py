"""The lookups benchmark counts every claim, and its floods have the shapes they are named for."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from benchmarks.stores import lookups
from scrapy_neardup.hashing.simhash import hamming_distance
from tests.support.benchmarks import run


@pytest.mark.slow
def test_every_claim_is_accounted_for():
    done = run("stores.lookups", "--pages", "40", "--pages", "30", "--flood", "50", "--claims", "5")
    assert done.returncode == 0, done.stderr
    ordinary, floods = done.stdout.strip().split("\n\n")
    rows = [line.split() for line in ordinary.splitlines()[2:]]
    assert [row[:3] for row in rows] == [
        [n, k, "5"] for n in ("30", "40") for k in ("3", "8", "11")
    ]
    for name in ("none", *lookups.FLOODS):
        [row] = re.findall(rf"^{name} +([\d.,]+ .*)", floods, re.M)
        assert row.split()[:2] == ["55", "5"]
        median, most, greatest = map(float, row.split()[2:5])
        assert 0 < median <= most <= greatest
        [said] = re.findall(rf"^{name}: (.*)", floods, re.M)
        assert sum(map(int, re.findall(r"\d+", said))) == 5


@pytest.mark.parametrize("kind", lookups.FLOODS.values())
def test_no_page_of_a_flood_is_dropped_for_another(kind):
    figures = lookups.measure(kind, 90, 20, (11,))
    assert figures.remembered == 110
    assert not any("duplicate" in said for said in figures.said)


@pytest.mark.parametrize("name", ["same words", "one shop", "thin", "spread"])
def test_a_flood_has_to_be_looked_at(name):
    pages = list(islice(lookups.pages(lookups.FLOODS[name]), 30))
    distances = [hamming_distance(pages[0].fingerprint, page.fingerprint) for page in pages[1:]]
    bound = 16 if name == "spread" else 6
    assert max(distances) <= bound


@pytest.mark.parametrize("arguments", [["--pages", "0"], ["--flood", "x"], ["--unknown"]])
def test_unusable_options_are_refused(arguments):
    assert run("stores.lookups", *arguments).returncode == 2
