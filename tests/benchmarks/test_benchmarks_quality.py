"""The quality benchmark: its counts, and its gate."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from argparse import Namespace
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from benchmarks.common import brute_force
from benchmarks.common.stored_pages import InputError, Page, html_of
from benchmarks.common.tables import Table
from benchmarks.decisions import rule
from benchmarks.quality import __main__ as command
from benchmarks.quality import (
    figures,
    floors,
    known_pairs,
    methods,
    peers,
    resemblance,
    short_texts,
    summary,
)
from benchmarks.quality.floors import Figure, Floors, OtherData
from benchmarks.quality.written_corpora import CORPORA
from scrapy_neardup._util.urls import is_list
from scrapy_neardup.hashing.minhash import SKETCH_BINS, sketches_of
from scrapy_neardup.hashing.simhash import simhash
from scrapy_neardup.methods import open_method
from scrapy_neardup.text.idf import shipped_table
from scrapy_neardup.text.vocabulary import weigh
from tests.support.benchmarks import run
from tests.support.texts import FERRY, MUSEUM


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/index.html",
        "/default.aspx",
        "/tags/python/index.html",
        "/blog/tag/x",
        "/tags.html",
        "/Categories/",
        "/archives/",
        "/archives/2020/05/index.html",
        "/archives/2020/page/2/",
        "/archive.html",
        "/page/12/index.html",
        "/blog/page-3.html",
        "/2020/05/",
        "/blog/2020/index.html",
        "/%74ags/x",
    ],
)
def test_lists_are_known_by_their_address(path):
    assert is_list(f"https://a.example{path}")


@pytest.mark.parametrize(
    "path",
    [
        "/2020/05/01/hello/index.html",
        "/archives/1234.html",
        "/archives/hello-world/",
        "/post/tagging-things/index.html",
        "/articles/2020-05.html",
        "/page/about.html",
        "/homepage.html",
        "/1234.html",
    ],
)
def test_what_is_not_a_list(path):
    assert not is_list(f"https://a.example{path}")


def test_slug():
    assert known_pairs.slug("https://a.example/2020/Hello%20World/index.html") == "hello world"
    assert known_pairs.slug("https://a.example/hello.html") == "hello"
    assert known_pairs.slug("https://a.example/") == ""


def test_halves_keep_joined_sites_together_and_are_of_about_one_size():
    sites = [f"s{i}" for i in range(20)]
    joined = [("s0", "s1"), ("s1", "s2"), ("s7", "s9"), ("s9", "s7")]
    half = known_pairs.halves(sites, joined)
    assert half["s0"] == half["s1"] == half["s2"]
    assert half["s7"] == half["s9"]
    assert sum(half.values()) == 10
    assert set(half) == set(sites)


def test_halves_do_not_depend_on_the_order():
    sites = [f"s{i}" for i in range(20)]
    joined = [("s0", "s1"), ("s1", "s2"), ("s7", "s9")]
    again = known_pairs.halves(reversed(sites), [(b, a) for a, b in reversed(joined)])
    assert again == known_pairs.halves(sites, joined)


def test_tokens_are_single_han_characters_and_runs_of_others():
    assert resemblance.tokens("Python教程: X_2, Straße") == ["python", "教", "程", "x_2", "straße"]


def test_jaccard_of_five_token_runs():
    a = resemblance.shingles(list("abcdefg"))
    b = resemblance.shingles(list("abcdefx"))
    assert (a.size, b.size) == (3, 3)
    assert resemblance.jaccard(a, b) == pytest.approx(2 / 4)
    assert (
        resemblance.jaccard(resemblance.shingles(list("ab")), resemblance.shingles(list("ab"))) == 1
    )
    assert resemblance.jaccard(resemblance.shingles([]), resemblance.shingles([])) == 0


def test_near_pairs_are_those_of_a_loop():
    generator = np.random.default_rng(1)
    base = generator.integers(0, 1 << 63, 10, np.uint64)
    prints = np.concatenate([base, base ^ np.uint64(0b1011), base ^ np.uint64(1 << 40)])
    wanted = [
        (a, b)
        for a, b in combinations(range(30), 2)
        if (int(prints[a]) ^ int(prints[b])).bit_count() <= 3
    ]
    assert list(map(tuple, brute_force.near_pairs(prints, 3).T.tolist())) == wanted
    assert len(wanted) == 20


def test_alike_pairs_share_columns():
    rows = np.array([[1, 2, 3, 4], [1, 2, 3, 9], [1, 8, 7, 9]], np.uint64)
    assert brute_force.alike_pairs(rows, 0.75).T.tolist() == [[0, 1]]
    assert brute_force.alike_pairs(rows[:0], 0.75).shape == (2, 0)


def test_a_peer_that_is_missing_says_why():
    missing = replace(peers.PEERS[0], module="no_such_module")
    assert "no_such_module" in missing.trouble


def test_shares_and_spread():
    assert str(figures.share([(0, 1), (1, 2)], {(0, 1)})) == "0.500 (1/2)"
    assert figures.share([], {}).value == 0
    assert figures.spread([98, 100, 102]) == pytest.approx(0.04)
    assert figures.spread([]) == figures.spread([0, 0]) == 0


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        # Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine
        # 17 (1998), 857-872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_intervals_are_those_of_the_literature(part, whole, low, high):
    assert figures.wilson(part, whole) == pytest.approx((low, high), abs=0.00005)


def test_a_share_of_more_than_all_has_no_interval():
    with pytest.raises(ValueError, match="3 of 2"):
        figures.wilson(3, 2)


def test_the_rebuilt_parts_are_those_that_are_shipped():
    words = "to be or not to be 2 that is the question in 1603".split()
    table = shipped_table("multilingual")
    assert rule.fingerprint(words, table) == simhash(*weigh(words, table))
    hashes = np.unique(np.random.default_rng(2).integers(0, 1 << 32, 700, np.uint64))
    assert rule.binned(hashes, SKETCH_BINS).tolist() == sketches_of([hashes])[0].tolist()


def test_bottom_k_is_exact_for_short_texts_and_near_for_long_ones():
    values = np.arange(0, 1 << 32, 1 << 20, dtype=np.uint64)
    assert rule.bottom_k(values[:4], values[2:6], 8) == pytest.approx(2 / 6)
    shuffled = np.random.default_rng(3).permutation(values)
    a, b = np.sort(shuffled[:3000]), np.sort(shuffled[1000:])
    estimate = rule.bottom_k(a[:256], b[:256], 256)
    assert estimate == pytest.approx(resemblance.jaccard(a, b), abs=0.1)


FLOORS = Floors("d1", {"found": Figure(0.9, "at least"), "wrong": Figure(3, "at most")})


def found_and_wrong(found, wrong):
    return {"found": Figure(found, "at least"), "wrong": Figure(wrong, "at most")}


def test_the_gate_names_each_figure_that_got_worse():
    assert floors.broken(FLOORS, "d1", found_and_wrong(0.9, 3)) == []
    assert floors.broken(FLOORS, "d1", found_and_wrong(0.95, 0)) == []
    assert floors.broken(FLOORS, "d1", found_and_wrong(0.85, 4)) == [
        "found: 0.85, at least 0.9 is recorded",
        "wrong: 4, at most 3 is recorded",
    ]
    assert floors.broken(FLOORS, "d1", {}) == [
        "found: not measured, at least 0.9 is recorded",
        "wrong: not measured, at most 3 is recorded",
    ]
    with pytest.raises(OtherData):
        floors.broken(FLOORS, "d2", found_and_wrong(1, 0))


def test_floors_only_tighten():
    better = floors.tightened(FLOORS, "d1", found_and_wrong(0.95, 5))
    assert better.bounds == found_and_wrong(0.95, 3)
    with pytest.raises(OtherData):
        floors.tightened(FLOORS, "d2", found_and_wrong(1, 0))
    anyway = floors.tightened(FLOORS, "d2", found_and_wrong(0.5, 5), allow_regression=True)
    assert anyway == Floors("d2", found_and_wrong(0.5, 5))


def test_floors_are_written_and_read_again(tmp_path):
    path = tmp_path / "floors.json"
    assert floors.read_floors(path) is None
    figure = 2 / 3
    floors.write_floors(path, floors.tightened(None, "d1", found_and_wrong(figure, 2)))
    recorded = floors.read_floors(path)
    assert recorded == Floors("d1", found_and_wrong(0.6667, 2))
    # Rounding makes no figure worse than itself.
    assert floors.broken(recorded, "d1", found_and_wrong(figure, 2)) == []
    path.write_text('{"data": "d1"}', encoding="utf-8")
    with pytest.raises(ValueError, match="not a file of floors"):
        floors.read_floors(path)


def test_keep_floors_ends_with_the_status_of_the_gate(tmp_path, capsys):
    path = tmp_path / "floors.json"

    def keep(found, digest="d1", *, gate=True, update=False, regress=False):
        measured = found_and_wrong(found, 0)
        options = Namespace(gate=gate, update=update, allow_regression=regress)
        return command.keep_floors(options, path, digest, measured)

    assert keep(0.9) == 2
    assert keep(0.9, gate=False, update=True) == 0
    assert keep(0.9) == 0
    assert keep(0.9, "d2") == 2
    capsys.readouterr()
    assert keep(0.8) == 1
    assert capsys.readouterr().err == "found: 0.8, at least 0.9 is recorded\n"
    assert keep(0.8, gate=False, update=True) == 0
    assert keep(0.8) == 1
    assert keep(0.8, gate=False, update=True, regress=True) == 0
    assert keep(0.8) == 0


def test_tables_line_up():
    table = Table("a title", ("name", "n"), notes=["a note"])
    table.add("短", 12345)
    table.add("long", 0.5)
    lines = ["a title", "name       n", "短    12,345", "long   0.500", "a note"]
    assert table.as_text() == "\n" + "\n".join(lines)
    assert "| 短 | 12,345 |" in table.as_markdown()


def write_pages(folder, pages):
    folder.mkdir()
    lines = []
    for number, (url, title, text, foot) in enumerate(pages):
        html = (
            f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>"
            f"<p>{text}</p></article><footer>{foot}</footer></body></html>"
        )
        lines.append(json.dumps({"id": f"p{number}", "url": url, "html": html}))
    with gzip.open(folder / "pages-00.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def write_rows(path, *rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    write_pages(
        folder,
        [
            ("https://bakery.example/bread.html", "Bread", FERRY, "All recipes"),
            ("https://mirror.example/bread.html", "Bread", FERRY, "A copy"),
            ("https://harbour.example/ledger.html", "The ledger", MUSEUM, "Seen often"),
        ],
    )
    write_rows(folder / "pairs.csv", ("id_a", "id_b", "jaccard"), ("p1", "p0", "1.0"))
    write_rows(
        folder / "labels.csv",
        ("id_a", "id_b", "label", "reason", "jaccard"),
        ("p0", "p1", "duplicate", "a reprint", "1.0"),
        ("p0", "p2", "distinct", "other words", "0.0"),
    )
    return folder


def test_a_corpus_is_read_by_number(data):
    read = known_pairs.read_corpus(data)
    assert read.ids == ("p0", "p1", "p2")
    assert read.pairs == {(0, 1): 1.0}
    assert [label.pair for label in read.labels] == [(0, 1), (0, 2)]
    assert read.notices == frozenset()
    assert [page.id for page in read.pages()] == ["p0", "p1", "p2"]


def test_pairs_that_were_read_are_known_by_their_addresses(data, tmp_path, monkeypatch):
    assert known_pairs.read_corpus(data).distinct == {(0, 2)}
    own, mirror = (f"https://{site}.example/bread.html" for site in ("bakery", "mirror"))
    readings = tmp_path / "readings.csv"
    columns = ("url_a", "url_b", "reason")
    elsewhere = ("https://c.example/", own, "of other data")
    write_rows(readings, columns, (mirror, own, "other bread"), elsewhere)
    monkeypatch.setattr(known_pairs, "READINGS", readings)
    assert known_pairs.read_corpus(data).distinct == {(0, 1), (0, 2)}


def test_to_keep_apart_what_was_called_distinct_is_right(data):
    read = known_pairs.read_corpus(data)
    known = resemblance.Truth(
        read, np.array([60, 60, 60]), [resemblance.shingles(list("abcdefg"))] * 3
    )
    yardstick = figures.Yardstick(known)
    assert yardstick.decided_rightly({(0, 1)}, 0.8) == (1, 1)
    assert yardstick.decided_rightly(set(), 0.8) == (0, 1)
    assert yardstick.decided_rightly({(0, 1)}, 0.8, lambda pair: 1 not in pair) == (0, 0)
    called = replace(read, labels=(replace(read.labels[0], label="distinct"),))
    yardstick = figures.Yardstick(replace(known, corpus=called))
    assert yardstick.decided_rightly({(0, 1)}, 0.8) == (0, 1)
    assert yardstick.decided_rightly(set(), 0.8) == (1, 1)


LABELS2 = ("id_a", "id_b", "label", "drawn_from", "reason")


def test_labels2_are_labels_of_their_own(data):
    assert known_pairs.read_corpus(data).labels2 == ()
    before = known_pairs.digest([data])
    rows = ("p1", "p0", "duplicate", "hit", "a copy"), ("p1", "p2", "distinct", "near", "others")
    write_rows(data / "labels2.csv", LABELS2, *rows)
    assert known_pairs.digest([data]) != before
    read = known_pairs.read_corpus(data)
    assert read.labels2 == (
        known_pairs.Label((0, 1), "duplicate", 1.0, "a copy", "hit"),
        known_pairs.Label((1, 2), "distinct", 0.0, "others", "near"),
    )
    assert len(read.labels) == 2
    assert read.distinct == {(0, 2), (1, 2)}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (("p0", "p9", "distinct", "near", ""), "no page or column 'p9'"),
        (("p0", "p1", "distict", "near", ""), "'distict' is none of duplicate, distinct, unclear"),
        (("p0", "p1", "distinct", "far", ""), "'far' is none of hit, near"),
    ],
)
def test_a_bad_row_of_labels2_is_refused_by_name_and_line(data, row, reason):
    write_rows(data / "labels2.csv", LABELS2, ("p0", "p1", "unclear", "near", ""), row)
    with pytest.raises(InputError) as refused:
        known_pairs.read_corpus(data)
    assert str(refused.value) == f"{data / 'labels2.csv'}, line 3: {reason}"


def test_labels2_count_all_duplicates_and_the_precision_of_hits(data):
    rows = (("p0", "p1", "duplicate", "hit", ""), ("p1", "p2", "unclear", "hit", ""))
    write_rows(data / "labels2.csv", LABELS2, *rows)
    (data / "pairs.csv").unlink()
    read = known_pairs.read_corpus(data)
    yardstick = figures.Yardstick(resemblance.Truth(read, np.array([60, 60, 60]), []))
    assert yardstick.of_labels2({(0, 1)}).duplicates == (1, 1)
    assert yardstick.of_labels2(set()).duplicates == (0, 1)
    # Hit are a duplicate of each file, the distinct pair of labels.csv and the unclear one.
    everything = {(0, 1), (0, 2), (1, 2)}
    assert yardstick.called_duplicate(everything) == (2, 4)
    assert yardstick.called_duplicate(everything, lambda x: x.drawn_from == "hit") == (1, 2)
    assert summary.labelled_distinct(yardstick, everything) == (1, 1)
    found = summary.labels2_figures(yardstick, everything)
    assert {name: figure.value for name, figure in found.items()} == {
        "labels2 duplicates found": 1,
        "labels and labels2 distinct hit": 1,
        "labels and labels2 hits called duplicate": 0.5,
    }
    without = figures.Yardstick(replace(yardstick.truth, corpus=replace(read, labels2=())))
    assert summary.labels2_figures(without, everything) == {}


def test_an_unknown_page_is_named(data):
    (data / "theme-notice.txt").write_text("p0\np9\n", encoding="utf-8")
    with pytest.raises(InputError, match="p9"):
        known_pairs.read_corpus(data)


def test_the_digest_is_of_the_bytes(data):
    before = known_pairs.digest([data])
    assert known_pairs.digest([data]) == before
    with (data / "labels.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert known_pairs.digest([data]) != before


def test_methods_are_measured_beside_the_rule(data):
    table = methods.methods_table(data, ("exact", "bottomk:64"))
    shown = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert list(shown) == ["the rule", "exact", "bottomk:64"]
    assert shown["the rule"]["ms"] == shown["the rule"]["bytes"] == ""
    assert shown["exact"]["bytes"] == "8"
    assert float(shown["bottomk:64"]["ms"]) > 0
    for figures_shown in shown.values():
        assert figures_shown["finds J>=0.9"] == "1.000 (1/1)"
        assert figures_shown["hits J<0.5"] == "0"
        assert figures_shown["duplicates found"] == "1.000 (1/1)"
        assert figures_shown["distinct hit"] == "0.000 (0/1)"


def test_words_are_not_in_the_time_of_a_method(data):
    page = next(known_pairs.read_corpus(data).pages())
    measured = methods.measure(page, ["words", "tags"])
    text = resemblance.true_text(html_of(page))
    assert measured.values == {
        "words": open_method("words").value(text),
        "tags": open_method("tags").value(page.body),
    }
    assert measured.seconds.keys() == measured.values.keys()


def test_a_pair_is_found_if_the_later_page_is_near_the_earlier_one():
    name = "tests.support.own_methods.Within:20,one_in=1,min_similarity=0.9"
    method = open_method(name)
    values = [method.value(text) for text in (f"{FERRY} {MUSEUM}", MUSEUM, "", FERRY, MUSEUM)]
    found = methods._found_pairs(name, values, 1, 0)
    assert found == {(0, 1), (0, 3), (0, 4), (1, 4)}
    parts = [methods._found_pairs(name, values, 2, part) for part in (0, 1)]
    assert parts[0] | parts[1] == found
    assert parts[0].isdisjoint(parts[1])


@pytest.mark.slow
def test_the_whole_run(data, tmp_path):
    early = tmp_path / "early-close"
    write_pages(
        early, [("https://a.example/one", "One", FERRY, ""), ("https://a.example/", "", "", "")]
    )
    report, recorded = tmp_path / "report.json", tmp_path / "floors.json"
    corpora = tmp_path / "corpora"
    for name in ("forms/en-lost-property.txt", "articles/en-review-kettle.txt"):
        (corpora / name).parent.mkdir(parents=True)
        shutil.copy(CORPORA / name, corpora / name)
    options = (
        *("--data", data, "--early-close", early, "--no-peers", "--floors", recorded),
        *("--corpora", corpora, "--corpora-floors", tmp_path / "corpora-floors.json"),
    )
    first = run("quality", *options, "--json", report, "--update", "--list")
    assert first.returncode == 0, first.stderr
    assert "J computed anew for 1 recorded pairs: off by 0.0000" in first.stdout
    figures_found = json.loads(report.read_text(encoding="utf-8"))["figures"]
    assert figures_found["articles: J>=0.9 decided rightly"] == 1
    assert figures_found["labels: duplicates found"] == 1
    assert figures_found["labels: distinct hit"] == 0
    bounds = json.loads(recorded.read_text(encoding="utf-8"))
    assert bounds["at most"]["hits with J<0.5"] == 0
    assert not any("labels2" in name for name in (*bounds["at least"], *bounds["at most"]))
    assert "different pages of a form dropped" in first.stdout

    assert run("quality", *options, "--gate").returncode == 0
    write_rows(data / "pairs.csv", ("id_a", "id_b", "jaccard"))
    other = run("quality", *options, "--gate")
    assert other.returncode == 2
    assert "other data" not in other.stdout
    assert "the floors were measured on data" in other.stderr


def test_a_folder_without_pages_ends_with_one_line(tmp_path):
    ended = run("quality", "--data", tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == f"{tmp_path}: no pages-*.jsonl.gz\n"


def test_headlines_are_measured():
    table = short_texts.short_texts_table(("keywords", "exact"), None)
    kinds = [is_same for is_same, *_ in short_texts.headlines()]
    n_same, n_different = sum(kinds), len(kinds) - sum(kinds)
    (_, same, different), (_, *exact) = table.rows
    assert exact == [f"0.000 (0/{n_same})", f"0.000 (0/{n_different})"]
    assert float(same[:5]) > 0.9
    assert float(different[:5]) < 0.15


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"<p>Four words, no more.</p><p>The ferry leaves at eight. Good bye.</p>", "The ferry"),
        (b"<p>Too short.</p>", ""),
    ],
)
def test_the_first_sentence_of_5_to_19_words_is_a_short_text(body, sentence):
    found = short_texts.first_sentence(Page("", "", "", "text/html", body))
    assert found.startswith(sentence)
    assert bool(found) is bool(sentence)
