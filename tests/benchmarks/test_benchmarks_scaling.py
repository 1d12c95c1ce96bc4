"""The large files of the scaling benchmark equal those that the store writes."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from benchmarks.stores import scaling
from scrapy_neardup.matching.candidates import packed_summary
from scrapy_neardup.stores.body_cache import OVERHEAD_BYTES
from scrapy_neardup.stores.codec import key_digest, key_seed, packed
from scrapy_neardup.stores.sqlite.store import SqliteStore
from tests.support.benchmarks import run


@pytest.mark.slow
def test_every_claim_is_accounted_for(tmp_path):
    done = run("stores.scaling", "--sizes", "300", "120", "--claims", "10", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    stores, claims = done.stdout.strip().split("\n\n")
    rows = [line.split() for line in stores.splitlines()[2:]]
    assert [row[0] for row in rows] == ["120", "300"]
    assert all(float(cell.replace(",", "")) > 0 for row in rows for cell in row)
    rows = [line.split() for line in claims.splitlines()[2:] if "(" not in line]
    assert sorted(row[:4] for row in rows) == sorted(
        [size, kind, k, "10"]
        for size in ("120", "300")
        for kind in ("new", "duplicate", "revisit")
        for k in ("3", "8", "11")
    )
    for row in rows:
        *times, processor = (float(cell) for cell in row[4:])
        assert times[0] > 0
        assert times == sorted(times)
        assert processor > 0
    said = "30 duplicate (same_text), 30 new (no_match), 30 revisit (unchanged)"
    assert done.stdout.count(said) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_filled_at_once_is_what_a_store_writes(tmp_path):
    stored = scaling.fill(tmp_path / "bulk.sqlite", 230, 7)
    assert len({page.key for page in stored}) == 7
    with closing(SqliteStore(tmp_path / "bulk.sqlite")) as store:
        entries = list(store.entries())
        pages = [entry.signature for entry in entries]
        assert len(store) == len(pages) == 230
        assert set(stored) <= set(pages)
        summaries = [store._index.table.summary(number).tobytes() for number in range(230)]
        with closing(SqliteStore(tmp_path / "one by one.sqlite")) as other:
            for entry in entries:
                other.add(entry.signature, entry.stored_at)
            assert list(other.entries()) == entries
        for page, known, entry in zip(pages, summaries, entries, strict=True):
            digest = key_digest(page.key, key_seed(store.secret))
            assert known == packed_summary(page, digest, entry.stored_at)
        stock = scaling.Stock(0, 3, np.random.default_rng(scaling._SEED))
        assert stock.packed() == [packed(page) for page in pages[:3]]


@pytest.mark.parametrize("arguments", [["--sizes", "0"], ["--sizes"], ["--unknown"]])
def test_unusable_options_are_refused(arguments):
    assert run("stores.scaling", *arguments).returncode == 2


@pytest.mark.slow
def test_bodies_of_pages_that_were_read_quickly_stay_within_their_bound():
    few = ("--pages", "300", "--redis-pages", "300")
    done = run("stores.unread_pages", *few, "--body-bytes", "9000", "--bound", "1")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("with")]
    assert [row[0] for row in rows] == ["without", "with"] * 2
    for without, bodies in zip(rows[::2], rows[1::2], strict=True):
        assert without[-3:-1] == ["0.000", "0"]
        assert 0.9 < float(bodies[-3]) <= 1
    # Each body takes a kilobyte more for what is kept beside it, and its URL and headers.
    least, most = (2**20 // (size + OVERHEAD_BYTES) for size in (9700, 9000))
    assert all(least <= int(row[-2]) < most for row in rows[1::2])
