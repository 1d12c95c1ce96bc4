"""The decisions benchmark: its counts, and a run from end to end."""

from __future__ import annotations

import gzip
import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.decisions import (
    first_pages,
    held_out,
    masking,
    shared,
    short_pages,
    store_secrets,
)
from benchmarks.quality import (
    detection,
    known_pairs,
)
from scrapy_neardup.matching import rule as judgement
from scrapy_neardup.matching import site_boilerplate as frame
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shingle_units
from tests.support.benchmarks import run
from tests.support.texts import FERRY, MUSEUM, TEA


def signature(url, title="", text=FERRY):
    return detection.signing_detector().signature(url=url, text=text, title=title)


def test_a_sketch_by_the_benchmarks_secret_is_the_signatures():
    words = "one two three four five six seven eight nine ten".split()
    signed = signature("https://a.example/", text=" ".join(words))
    units = shingle_units(words)
    assert shared.sketch_by(detection.SECRET, units) == signed.sketch
    assert len({signed.sketch, *(shared.sketch_by(s, units) for s in secrets())}) == 11


def secrets():
    return store_secrets._SECRETS


def test_titles_are_counted_once_a_site_and_in_the_order_of_the_crawl():
    pages = [
        signature("https://a.example/1", "One | Shop"),
        signature("https://b.example/1", "One | Shop"),
        None,
        signature("https://a.example/2", "Two | Shop"),
        signature("https://a.example/3", ""),
        signature("https://www.a.example/4", "One | Shop"),
    ]
    assert first_pages.titles_known(pages, range(6)) == {0: 1, 1: 1, 3: 2, 4: 2, 5: 2}
    assert first_pages.titles_known(pages, [4, 3, 0]) == {4: 0, 3: 1, 0: 2}


def test_of_two_pages_that_turn_out_one_the_later_was_kept_too_long():
    sites = ["a", "a", "a", "b"]
    hits = [(0, 1), (0, 2), (0, 3)]
    assert first_pages.kept_too_long(sites, {2: 0}, hits, [0, 1, 2, 3]) == {1}
    assert first_pages.kept_too_long(sites, {2: 0}, hits, [1, 0, 2, 3]) == {0}
    assert first_pages.kept_too_long(sites, {0: 3}, hits, [3, 0, 1, 2]) == set()


def test_another_cut_keeps_joined_sites_together_and_the_halves_of_about_one_size():
    sites = [f"s{i}" for i in range(20)]
    joined = [("s0", "s1"), ("s1", "s2"), ("s7", "s9")]
    cuts = [known_pairs.halves(sites, joined, seed) for seed in range(1, 9)]
    assert all(cut["s0"] == cut["s1"] == cut["s2"] and cut["s7"] == cut["s9"] for cut in cuts)
    assert all(8 <= sum(cut.values()) <= 12 for cut in cuts)
    assert len({tuple(sorted(cut.items())) for cut in cuts}) == 8
    assert known_pairs.halves(reversed(sites), joined, 1) == cuts[0]


def test_constants_hold_for_as_long_as_the_block_lasts():
    names = list(held_out.GRID)
    other = tuple(values[0] for values in held_out.GRID.values())
    with held_out.constants(other) as rule:
        assert (rule.max_distance, rule.min_similarity) == other[:2]
        assert [getattr(judgement, name) for name in names[2:-1]] == list(other[2:-1])
        assert other[-1] == frame.SHARE
    assert [getattr(judgement, name) for name in names[2:-1]] == list(held_out.DEFAULTS[2:-1])
    assert held_out.DEFAULTS[-1] == frame.SHARE


def test_the_defaults_are_in_the_grid_and_nothing_lies_between_them():
    defaults = held_out.DEFAULTS
    assert held_out.steps(defaults, defaults) == 0
    assert held_out.described(defaults) == "-"


def test_tuning_takes_the_best_and_of_equals_the_nearest():
    grid = held_out.GRID
    start = held_out.drawn(1)
    assert held_out.tuned(lambda _: (0.0,), start) == start
    least = held_out.tuned(lambda choice: (-sum(choice),), start)
    assert least == tuple(min(values) for values in grid.values())


def test_the_candidates_are_all_pairs_that_a_detector_would_hit():
    changed = FERRY.replace("old pier", "new pier")
    pages = [
        signature("https://a.example/1", "One", FERRY),
        None,
        signature("https://z.example/1", "One", ""),
        signature("https://b.example/1", "One", changed),
        signature("https://c.example/1", "One", "an altogether different text " * 3),
        signature("https://d.example/1", "One", ""),
        signature("https://e.example/1", "One", ""),
    ]
    judge = held_out.Judge(pages)
    assert list(judge.candidates) == [(0, 3)]
    detector = detection.new_detector()
    detection.crawl(detector, pages, range(len(pages)))
    assert judge.hits(held_out.DEFAULTS) == detection.compare_all(detector, pages).keys()


@pytest.mark.parametrize(
    "text",
    [
        "2021-03-04",
        "4.3.2021",
        "2021/3",
        "March 4th, 2021",
        "4 mar. 2021",
        "2021年3月4日",
        "3月4日",
        "12:30",
        "9:05:59 p.m.",
        "1984",
    ],
)
def test_dates_times_and_years_are_masked(text):
    assert masking.without_dates(f"on {normalize(text)}, so").split() == [
        "on", "0", ",", "so"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["x200", "x2000", "1.2.3", "12 kg", "page 7", "2150", "3.14159", "mary 4", "2000px"]
)
def test_other_numbers_stay(text):
    assert masking.without_dates(text) == text


def test_masked_numbers_are_one():
    assert masking.without_numbers("x200, 3.14") == "x0, 0.0"


def test_what_is_remade_is_what_was_signed():
    signed = signature("https://a.example/")
    remade = masking.remade(normalize(FERRY))
    assert remade == (signed.n_features, signed.fingerprint, signed.sketch)


def test_the_beginning_is_whole_sentences_of_few_distinct_tokens():
    first, second = "The bread rises slowly.", "It rests in a cold kitchen."
    third = "Then shape a loaf and bake it in a heavy pot with its lid on for one hour."
    assert short_pages.beginning(f"{first} {second} {third}") == f"{first} {second}"
    long = f"{third[:-1]} until the crust is brown, says my grandmother."
    assert short_pages.beginning(f"Too short.\n{long}") == ""
    assert short_pages.beginning("春天来了。燕子回来了。") == "春天来了。 燕子回来了。"


@given(
    st.lists(st.frozensets(st.sampled_from("abcdefgh"), min_size=1), max_size=12),
    st.sampled_from([0.5, 0.8, 0.9, 1.0]),
)
def test_alike_sets_are_those_of_a_loop(sets, least):
    places = combinations(range(len(sets)), 2)
    wanted = [p for p in places if short_pages.likeness(sets[p[0]], sets[p[1]]) >= least]
    assert list(short_pages.alike_sets(sets, least)) == wanted


def test_likeness_is_the_jaccard_measure():
    assert short_pages.likeness("abcc", "bcd") == 2 / 4
    assert short_pages.likeness("", "") == 0


@pytest.fixture
def data(tmp_path):
    """Three sites; one page is on two of them, and a site has three pages of few words."""
    pages = {
        "https://a.example/ferry": ("The ferry", FERRY),
        "https://b.example/ferry": ("The ferry", FERRY),
        "https://b.example/museum": ("The museum", MUSEUM),
        "https://c.example/one": ("One", "A page of a few short words. It says nothing more."),
        "https://c.example/two": ("Two", "A page of a few other words. It says nothing more."),
        "https://c.example/tea": ("Tea", TEA),
    }
    with gzip.open(tmp_path / "pages-00.jsonl.gz", "wt", encoding="utf-8") as file:
        for url, (title, text) in pages.items():
            html = f"<html><head><title>{title}</title></head><body><p>{text}</p></body></html>"
            file.write(json.dumps({"id": url, "url": url, "html": html}) + "\n")
    ferries = "https://a.example/ferry,https://b.example/ferry"
    (tmp_path / "pairs.csv").write_text(f"id_a,id_b,jaccard\n{ferries},1.0\n", "utf-8")
    (tmp_path / "labels.csv").write_text(
        f"id_a,id_b,label,reason,jaccard\n{ferries},duplicate,a reprint,1.0\n", "utf-8"
    )
    return tmp_path


@pytest.mark.slow
def test_the_questions_are_answered(data):
    questions = ("secrets", "first", "heldout", "masking", "short")
    only = [part for question in questions for part in ("--only", question)]
    done = run("decisions", "--data", data, *only)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["median", "1.000", "0.000", "1.000", "0.000", "0.000"] in lines
    assert ["of", "the", "files", "0", "to", "3", "6", "0", "0", "0", "0", "0"] in lines
    assert sum(line[:3] == ["8,", "half", "2"] for line in lines) == 2
    assert ["pages", "2"] in lines
    masked = next(line for line in lines if line[:3] == ["digits", "are", "one"])
    assert masked[3:7] == ["1.000", "(1/1)", "1.000", "(1/1)"]
