"""The benchmark of lazy extraction accounts for every page of each kind of crawl."""

from __future__ import annotations

import re

import pytest

from benchmarks.common.stored_pages import InputError, Page
from benchmarks.crawl.extraction import none_alike
from tests.support.benchmarks import run


def stored(name: str) -> Page:
    return Page(name, f"https://a.example/{name}", "", "text/html", b"")


def test_of_each_pair_of_chosen_pages_none_is_alike(tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("id_a,id_b,jaccard\nb,a,0.9\nb,c,0.8\ne,d,0.7\n")
    chosen = none_alike(map(stored, "abcde"), pairs)
    assert [page.id for page in chosen] == ["a", "c", "d"]


@pytest.mark.parametrize("content", ["id_a,jaccard\nb,0.9\n", None])
def test_pairs_that_cannot_be_read_are_named(tmp_path, content):
    pairs = tmp_path / "pairs.csv"
    if content:
        pairs.write_text(content)
    with pytest.raises(InputError, match=r"pairs\.csv"):
        list(none_alike([], pairs))


def test_a_choice_of_stored_pages_needs_some():
    done = run("crawl.extraction", "--none-alike", "pairs.csv")
    assert done.returncode == 2
    assert "name their files, PAGES.jsonl.gz" in done.stderr


@pytest.mark.slow
def test_unlike_pages_are_read_in_full_by_full_extraction_only():
    done = run("crawl.extraction", "--made-up", "40")
    assert done.returncode == 0, done.stderr
    rows = {
        name: re.split(r"  +", rest)[:7]
        for name, rest in re.findall(
            r"^(no add-on|full|lazy|lazy, bytes seen before) +(\d.*)$", done.stdout, re.M
        )
    }
    assert {name: row[4:6] for name, row in rows.items()} == {
        "no add-on": ["0", "0"],
        "full": ["0", "40"],
        "lazy": ["0", "0"],
        "lazy, bytes seen before": ["0", "0"],
    }
    assert float(rows["full"][1]) == float(rows["full"][3]) == 1
    assert "dropped by both 0, by full alone 0, by lazy alone 0" in done.stdout
    collections = re.findall(r"^full collections +(.*)$", done.stdout, re.M)
    assert len(collections) == 1
