"""The made-up pages of the cluster's benchmark are such as the first stage writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xxhash

from benchmarks.cluster.layout import Layout
from benchmarks.cluster.measure import find, prepare
from benchmarks.cluster.report import tables
from benchmarks.cluster.signed_pages import RECIPE, columns_of
from benchmarks.cluster.truth import check
from benchmarks.cluster.watching import opened_files
from scrapy_neardup import Rule
from scrapy_neardup.cluster import Found, Options, Sequential
from scrapy_neardup.cluster.shuffle import bytes_in
from scrapy_neardup.matching.stored_items import OWN_ITEMS
from scrapy_neardup.stores.codec import ROW, packed, row_of, unpacked
from tests.support.benchmarks import run

LAYOUT = Layout(1000, least_wall=40, split_pages=250)


def test_pages_are_what_the_codec_packs():
    [columns] = columns_of(LAYOUT, LAYOUT.split(1))
    keys, rows = bytes_in(columns["key"]), bytes_in(columns["row"])
    for place, page in enumerate(columns["page"]):
        signature = unpacked(page, RECIPE)
        assert packed(signature) == page
        row = rows[place * ROW.itemsize : (place + 1) * ROW.itemsize]
        assert row_of(signature, 0, 0, OWN_ITEMS) == row
        key = keys[place * 16 : (place + 1) * 16]
        assert xxhash.xxh3_128_digest(signature.key.encode()) == key
    sizes = list(map(len, columns["page"]))
    assert 600 < min(sizes) < max(sizes) < 1700


def test_each_page_is_in_one_split_and_does_not_depend_on_it():
    splits = [LAYOUT.split(number) for number in range(LAYOUT.n_splits)]
    assert sorted(np.concatenate(splits).tolist()) == list(range(1000))
    [columns] = columns_of(LAYOUT, splits[2])
    [single] = columns_of(LAYOUT, splits[2][17:18])
    assert single["page"] == columns["page"][17:18]


def test_what_was_planted_is_found(tmp_path: Path):
    options = Options(crowded=32, partitions=3)
    prepare(str(tmp_path), LAYOUT, Sequential(), options)
    before, stages = opened_files(), []
    found = find(
        str(tmp_path),
        Sequential(),
        options=options,
        progress=lambda stage, *_: stages.append(stage),
    )
    assert stages[0] == "signed"
    assert found.plan.n_splits == LAYOUT.n_splits == 4
    assert opened_files() > before
    checked = check(found, LAYOUT, Rule())
    assert checked.is_right, checked
    assert checked.planted > checked.clusters == LAYOUT.clusters > 20
    # Each page of the wall with the 32 before it, which are fewer for the first ones.
    assert found.crowded_keys > 0
    assert checked.walls >= 8 * 32 + 32 * 31 // 2
    assert found.replaced == LAYOUT.revisits == 10


def test_a_missed_pair_is_noticed(tmp_path: Path):
    prepare(str(tmp_path), LAYOUT, Sequential(), Options())
    found = find(str(tmp_path), Sequential(), options=Options(), progress=lambda *_: None)
    lines = list(found.pair_lines())
    clusters = list(found.cluster_lines())

    class Less(Found):
        def pair_lines(self):
            return (line for line in lines if line["id_a"] >= LAYOUT.wall * 2)

        def cluster_lines(self):
            return clusters[: len(clusters) // 2]

    checked = check(Less(found.plan, replaced=found.replaced), LAYOUT, Rule())
    assert not checked.is_right
    assert checked.recall < 1
    assert checked.exact < checked.clusters


@pytest.mark.slow
def test_the_whole_run(tmp_path: Path):
    figures = tmp_path / "figures.json"
    given = ["--crowded", "32", "--split-pages", "500", "--workers", "1", "--json", figures]
    for size in ("1000", "2000"):
        done = run("cluster", "--sizes", size, *given, "--folder", tmp_path)
        assert done.returncode == 0, done.stderr
    assert [run["pages"] for run in json.loads(figures.read_text())] == [1000, 2000]
    text = done.stdout
    for title in (
        "runs",
        "core-seconds",
        "compressed bytes",
        "rows",
        "memory,",
        "reckoned from 2,000 pages",
    ):
        assert f"**{title}" in text
    assert text.count("| proposed |") == 4
    assert "| 10,000,000,000 |" in text
    assert list(tmp_path.iterdir()) == [figures]


@pytest.mark.slow
def test_a_worker_without_enough_memory_fails_the_run(tmp_path: Path):
    figures = tmp_path / "figures.json"
    given = ["--sizes", "50000", "--workers", "1", "--memory-limit", "200MiB", "--json", figures]
    done = run("cluster", *given, "--folder", tmp_path)
    assert done.returncode == 1
    [failed] = json.loads(figures.read_text())
    assert "have died over the task" in failed["failed"]
    assert "| 50,000 |" in done.stdout


def test_a_failed_run_is_in_the_table_of_runs_only():
    stage = {"seconds": 1.0, "opened": 3, "peaks": [900.0], "driver": 90.0}
    failed = {
        "pages": 1000,
        "failed": "rows-0: died",
        "seconds": 2.0,
        "disk": 10**6,
        "watched": {"rows-0": stage},
    }
    runs, memory = tables([failed])
    assert "failed in rows-0: died" in runs.as_markdown()
    assert "| rows | 900 |" in memory.as_markdown()
