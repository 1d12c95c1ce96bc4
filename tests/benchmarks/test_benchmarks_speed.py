"""The speed benchmark: its counts, comparisons, exactness checks, and documentation page."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from benchmarks.common import measuring
from benchmarks.common.goals import Goal
from benchmarks.common.measuring import Spread
from benchmarks.common.programs import ROOT
from benchmarks.common.stored_pages import Page
from benchmarks.corpora import (
    made_up_pages,
    made_up_texts,
)
from benchmarks.speed import __main__ as command
from benchmarks.speed import (
    all_pairs,
    exactness,
    find_all,
    fingerprints,
    page_processing,
    plots,
)
from benchmarks.speed.index import contestants, measurement, random_fingerprints, simulation
from benchmarks.speed.index.contestants import OURS
from benchmarks.speed.index.figures import Growth, Lookups, Timed, Work
from benchmarks.speed.parts import Plot
from scrapy_neardup.hashing.hamming_pairs import NearPairs, near_pairs
from scrapy_neardup.hashing.simhash import simhash
from scrapy_neardup.hashing.simhash_index import SimhashIndex, probes
from scrapy_neardup.html import extraction as extract
from scrapy_neardup.signatures import signer as page_module
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.text.idf import shipped_table
from scrapy_neardup.text.tokenization import Spans
from scrapy_neardup.text.vocabulary import weigh
from tests.support import reference
from tests.support.benchmarks import run

RATIOS = {
    "fingerprint_vs_simhash",
    "fingerprint_with_new_words_vs_simhash",
    "fingerprint_of_one_text_vs_simhash",
    "index_lookup_vs_gaoya",
    "index_lookup_vs_simhashindex",
    "index_bytes_vs_gaoya",
    "all_pairs_vs_find_all",
    "fingerprint_of_strings_vs_simhash",
    "own_share_of_extraction",
    "own_share_of_parsing_and_extraction",
}


def structure(page: str) -> list[str]:
    """Headings, titles and heads of tables, and drawings; sizes are other ones in each run."""
    lines = page.splitlines()
    heads = {place - 1 for place, line in enumerate(lines) if line.startswith("| ---")}
    return [
        re.sub(r"(\| [\d,]+ )+(?=\|)", "| N ", line)
        for place, line in enumerate(lines)
        if place in heads or line.startswith(("#", "**", "!["))
    ]


@pytest.mark.slow
def test_the_whole_run(tmp_path):
    report, docs = tmp_path / "report.json", tmp_path / "docs"
    docs.mkdir()
    done = run(
        "speed", "--max-size", 2000, "--rounds", 1, "--no-install", "--json", report, "--docs", docs
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ratios\n")
    assert done.stdout.count("\nexact: ") == 3
    content = json.loads(report.read_text("utf-8"))
    assert content["exact"] is True
    assert set(content["ratios"]) == RATIOS
    for name, ratio in content["ratios"].items():
        assert ratio["n"] > 0, name
        assert ratio["of"] in ("tokens", "fingerprints", "pages")
        # A peer that is not installed has no figure, and a reason.
        assert (ratio["value"] is None) == bool(ratio["why"])
    assert content["ratios"]["own_share_of_extraction"]["value"] > 0
    for name, peer in content["peers"].items():
        assert bool(peer["version"]) != bool(peer["trouble"]), name
        left_out = f"left out, because it cannot be used: {name} ({peer['trouble']})"
        assert (left_out in done.stdout) == bool(peer["trouble"])
    page = (docs / "performance.md").read_text("utf-8")
    written = (ROOT / "docs" / "performance.md").read_text("utf-8")
    assert structure(page) == structure(written)
    drawings = re.findall(r"\]\((.*\.svg)\)", page)
    assert sorted(drawings) == sorted(path.name for path in docs.glob("*.svg"))
    assert all((ROOT / "docs" / name).is_file() for name in drawings)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["--max-size", "0"], ["--only", "x"], ["--only", "pages", "--docs", "."], ["no-such-file"]],
)
def test_unusable_input_and_options_are_refused(arguments):
    assert run("speed", "--no-install", *arguments).returncode == 2


def test_sizes_end_at_the_largest():
    assert command.sizes(10**7) == [10**5, 10**6, 10**7]
    assert command.sizes(10**6) == [10**5, 10**6]
    assert command.sizes(2000) == [2000]


# --- what is measured with ---


def test_all_take_their_turn_each_time_from_another_one_on():
    order: list[str] = []
    turns = {name: lambda name=name: order.append(name) for name in "abc"}
    measuring.in_turn(turns, 3)
    assert "".join(order) == "abcbcacab"


def test_spread_and_digits():
    assert Spread.of([5, 1, 2, 4, 3]) == Spread(3, 2, 4)
    numbers = (0, 0.001234, 1.005, 12.34, 99.96, 1234, 12345678)
    shown = [measuring.rounded(number) for number in numbers]
    assert shown == ["0", "0.00123", "1.00", "12.3", "100.0", "1,230", "12,300,000"]


def test_goals_are_bounds_on_either_side():
    assert Goal("a", 2.0, 3, 10, "pages", "ms").row() == (
        "a",
        "10 pages",
        "2.00 ms",
        "<= 3 ms",
        "yes",
    )
    assert Goal("b", 2.0, 3, 10, "pages", at_most=False).row()[-2:] == (">= 3", "no")
    assert Goal("c", None, 3, 10, "pages", why="not there").row()[-3:] == ("not there", "<= 3", "-")


# --- fingerprints ---


@pytest.fixture(scope="module")
def samples():
    return fingerprints.samples([[*words, "x1", "x1"] for words in made_up_texts.texts(2, 300)])


def test_made_up_words_repeat_as_in_real_texts():
    texts = made_up_texts.texts(20, 1000)
    assert texts == made_up_texts.texts(20, 1000)
    distinct = np.mean([len(set(text)) for text in texts])
    assert 300 < distinct < 450
    ranked = [count for _, count in Counter(word for text in texts for word in text).most_common()]
    # Zipf: the tenth word is met about 10 ** 1.2 times less than the first.
    assert ranked[0] / ranked[9] == pytest.approx(10**1.2, rel=0.2)


def test_others_are_given_the_weights_of_ours(samples):
    table = shipped_table("multilingual")
    for sample in samples:
        wanted = dict(
            zip(Counter(sample.tokens), weigh(sample.tokens, table).weights.tolist(), strict=True)
        )
        assert sample.weighed() == wanted
        assert wanted["x1"] == 27  # 16 * (1 + ln 2), times 1


def test_fingerprints_are_held_against_whole_numbers(samples, monkeypatch):
    [sample, _] = samples
    assert fingerprints.fingerprint(sample.spans) == reference.fingerprint(sample.tokens)
    assert sample.spans.tokens() == sample.tokens
    assert fingerprints.is_exact(sample)
    # Where all sums are zero, all bits are.
    assert fingerprints.is_exact(fingerprints.Sample([], "", {}, Spans.of([])))
    right = fingerprints.fingerprint
    monkeypatch.setattr(fingerprints, "fingerprint", lambda tokens: right(tokens) ^ 1)
    figures = fingerprints.measure(samples, "made up", 1)
    assert (figures.texts, figures.inexact) == (1, 1)
    assert figures.checks()[0].problems == ["those of 1 texts are not"]


# --- the index ---


def test_the_same_fingerprints_whatever_part_of_them_is_asked_for():
    def numbers(first, last):
        return np.concatenate(list(random_fingerprints.fingerprints(first, last))).tolist()

    everything = numbers(0, 25_000)
    assert len(set(everything)) == 25_000
    assert numbers(7, 20_003) == everything[7:20_003]
    assert numbers(12_345, 12_346) == everything[12_345:12_346]


def test_an_index_takes_part_up_to_its_size(monkeypatch):
    small = replace(OURS, name="small", most=1000)
    monkeypatch.setattr(contestants, "CONTESTANTS", (OURS, small))
    figures = measurement.measure([1000, 2000], 2)
    assert set(figures.growth) == {("scrapy-neardup", n) for n in (1000, 2000)} | {("small", 1000)}
    assert all(growth.bytes_each > 100 for growth in figures.growth.values())
    for (name, _, work), timed in figures.timed.items():
        assert timed.micros.median > 0
        assert timed.found == (work.kind == "near")
        assert work in measurement.works(OURS if name != "small" else small)
    lookups, growth = figures.tables()
    assert {row[4] for row in lookups.rows if row[0] == "small"} == {"-"}
    assert len(growth.rows) == 3


def test_ratios_are_taken_at_the_largest_common_size():
    new = Work("new", 3, 200)

    def timed(micros):
        return Timed(Spread(micros, micros, micros), 0.0)

    ours, five, six = "scrapy-neardup", "gaoya, 5 blocks", "gaoya, 6 blocks"
    figures = Lookups(
        growth={
            (name, size): Growth(each, 0.1, 0.2)
            for name, size, each in (
                *((ours, 1000, 60.0), (ours, 2000, 50.0), (ours, 4000, 40.0)),
                *((five, 1000, 110.0), (five, 2000, 100.0), (six, 1000, 1000.0)),
            )
        },
        timed={
            (ours, 1000, new): timed(5.0),
            (ours, 2000, new): timed(6.0),
            (ours, 4000, new): timed(7.0),
            (five, 1000, new): timed(30.0),
            (five, 2000, new): timed(60.0),
            (six, 1000, new): timed(4.0),
        },
    )
    lookup, simhash, room = figures.ratios()
    assert (lookup.value, lookup.n, lookup.against) == (10.0, 2000, five)
    assert (room.value, room.n, room.against) == (0.5, 2000, five)
    assert (simhash.value, simhash.n) == (None, 4000)
    assert figures.goals()[-1].value == 0.2


def test_simulated_buckets_hold_what_those_of_a_real_index_would():
    source = random.Random(3)
    queries = [source.getrandbits(64) for _ in range(3)]
    index, size = SimhashIndex(), 65_536 * 40
    simulation.fill_probed(index, queries, size, 7)
    counts = []
    for query in queries:
        for block, flips in enumerate(probes(7)):
            for flip in flips:
                value = query >> 16 * block & 0xFFFF ^ flip
                words = np.frombuffer(bytes(index._buckets[block << 16 | value]), "<u8")
                assert ((words >> np.uint64(16 * block)).astype(np.uint16) == value).all()
                if block == 0:
                    assert len(index._keys[value]) == 4 * words.size
                counts.append(words.size)
    assert len(counts) == 3 * 68
    assert np.mean(counts) == pytest.approx(40, rel=0.05)
    assert np.var(counts) == pytest.approx(40, rel=0.4)
    assert not index.near(queries[0], 7).keys.size


def test_many_lookups_find_what_is_there():
    many = simulation.many_lookups(1000, 50)
    assert (many.stored, many.queries, many.found) == (1000, 50, 0)
    assert many.comparisons_a_second == pytest.approx(50_000 / many.seconds)
    assert pytest.approx(4e11) == simulation.MANKU


# --- all pairs ---


def near_ones(words: list[int]) -> int:
    return sum((a ^ b).bit_count() <= 3 for a, b in combinations(words, 2))


def test_every_search_for_all_pairs_finds_them():
    words = all_pairs.made_up(1500)
    assert len(set(words.tolist())) == words.size
    wanted = near_ones(words.tolist())
    assert wanted >= 15
    clustered = words[:200, None] ^ np.array([0, 1, 3 << 20, 1 << 63, 0b1111], np.uint64)
    for some in (words, np.unique(clustered)):
        wanted = near_ones(some.tolist())
        assert all_pairs.ours(some) == all_pairs.four_blocks(some) == wanted


def test_searches_that_do_not_agree_are_told():
    seconds = {(10, name): Spread(1, 1, 1) for name in (all_pairs.OURS, all_pairs.NUMPY)}
    found = {(10, all_pairs.OURS): 5, (10, all_pairs.NUMPY): 6}
    figures = all_pairs.AllPairs(seconds, {}, found, "", "not there")
    assert figures.checks()[0].problems == ["of 10 fingerprints, not all found as many"]


def test_what_differs_from_brute_force_is_told(monkeypatch):
    assert exactness.differences(400, 100) == []

    def without_the_last(words, distance):
        for first, second, distances in near_pairs(words, distance):
            yield NearPairs(first[:-1], second[:-1], distances[:-1])

    monkeypatch.setattr(exactness, "near_pairs", without_the_last)
    told = exactness.differences(400, 100)
    assert [line.split(":")[0] for line in told] == [f"all pairs, k = {k}" for k in (0, 3, 7, 11)]
    assert all(re.search(r": [1-9]\d* missed, 0 wrong, 0 told twice$", line) for line in told)


def test_lookups_that_differ_from_brute_force_are_told(monkeypatch):
    class Forgetful(SimhashIndex):
        def near(self, fingerprint, distance):
            return super().near(fingerprint, max(distance - 1, 0))

    monkeypatch.setattr(exactness, "SimhashIndex", Forgetful)
    told = exactness.differences(400, 400)
    assert [line.split(":")[0] for line in told] == [f"lookups, k = {k}" for k in (3, 7, 11)]


def test_find_all_runs_in_a_process_of_its_own(tmp_path):
    folder, file = tmp_path / "find-all", tmp_path / "words.npy"
    assert find_all.trouble_in(folder) == "simhash-pybind is not in find-all"
    (folder / "simhash").mkdir(parents=True)
    # What is compiled is not at hand everywhere; this is called as that is.
    (folder / "simhash" / "__init__.py").write_text(
        "def find_all(hashes, blocks, bits):\n"
        "    assert isinstance(hashes, set) and blocks > bits\n"
        "    pairs = ((a, b) for a in hashes for b in hashes if a < b)\n"
        "    return [(a, b) for a, b in pairs if (a ^ b).bit_count() <= bits]\n"
    )
    (folder / "simhash_pybind-9.dist-info").mkdir()
    (folder / "simhash_pybind-9.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: simhash-pybind\nVersion: 9\n"
    )
    assert find_all.install(folder) == ""
    assert find_all.version_in(folder) == "9"
    words = all_pairs.made_up(300)
    np.save(file, words)
    figures = all_pairs.measure([300], 2, folder, "")
    assert figures.found[300, all_pairs.FIND_ALL] == near_ones(words.tolist())
    assert figures.blocks[300] in (4, 5, 6)
    [ratio] = figures.ratios()
    assert (ratio.n, ratio.why) == (300, "")
    assert figures.checks()[0].problems == []


def test_what_cannot_be_installed_says_so_in_pips_last_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    trouble = find_all.install(tmp_path / "find-all")
    assert trouble.startswith("ERROR: No matching distribution found for simhash-pybind")


# --- the way of a page ---


def test_made_up_pages_are_as_large_as_real_ones_in_both_languages():
    pages = made_up_pages.pages(20)
    assert pages == made_up_pages.pages(20)
    kept, languages = page_processing._readable(pages)
    assert (kept, languages) == (pages, ["English", "Chinese"] * 10)
    signer = Signer(secret=bytes(16))
    for page, text in zip(pages, (3000, 1500) * 10, strict=True):
        html = page.body.decode()
        assert 40_000 < len(html) < 60_000
        assert 500 < html.count("</") < 800
        assert text < len(signer.read(html).text) < 3 * text


def test_the_way_is_parted_into_reading_and_the_rest(monkeypatch):
    module: Any = extract
    now = [0.0]

    def slow(function, seconds):
        def slowed(*given, **options):
            now[0] += seconds
            return function(*given, **options)

        return slowed

    # A clock that only these two functions move.
    monkeypatch.setattr(page_processing, "process_time", lambda: now[0])
    monkeypatch.setattr(extract, "fromstring", slow(module.fromstring, 0.25))
    monkeypatch.setattr(extract, "article_text", slow(extract.article_text, 1.0))
    monkeypatch.setattr(extract, "_title", slow(extract._title, 3.0))
    monkeypatch.setattr(page_module, "simhash", slow(simhash, 0.5))
    watched = module.fromstring
    body = (
        b"<html><head><title>x</title></head><body><p>The ferry leaves at noon.</p></body></html>"
    )
    page = Page("p", "http://a.example/", "http://a.example/", "text/html", body)
    for together in (1, 2, 4):
        crawl = page_processing._Crawl("jieba", together, [[page] * 3])
        assert crawl().tolist() == 3 * [[1250.0, 4250.0, 500.0]]
    assert module.fromstring is watched


# --- drawings ---


def test_a_drawing_hangs_on_its_figures_alone(tmp_path):
    plot = Plot("x", "A title", "n", "µs", {"a": [(1, 2), (10, 3)], "b": [(1, 5)]}, frozenset("b"))
    paths = [tmp_path / "1.svg", tmp_path / "2.svg"]
    for path in paths:
        plots.draw(path, plot)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert "A title" in paths[0].read_text("utf-8")
