from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scrapy_neardup import Match, NearDupDetector, Rule
from scrapy_neardup.commands.evaluate import DISTANCES, SIMILARITIES, Figures, _advice
from scrapy_neardup.commands.support.labelled_pairs import Pair, SkippedPairs, read_pairs
from scrapy_neardup.exceptions import InputError
from tests.support.texts import FERRY, MUSEUM, TEA, article, replaced


def evaluate(*arguments: object, cwd: Path, blocked: str = ""):
    program = (
        f"import sys; sys.modules[{blocked!r}] = None; sys.argv[0] = 'scrapy'\n"
        "from scrapy.cmdline import execute; execute()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, "neardup", "evaluate", *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd, check=False, env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"ferry": FERRY, "reprint": FERRY, "museum": MUSEUM, "tea": TEA, "other": TEA[:99]}
    with (tmp_path / "pages.jsonl").open("w") as file:
        for name, text in texts.items():
            record = {"id": name, "url": f"https://{name}.example/", "text": text}
            file.write(json.dumps(record) + "\n")
    return tmp_path


def pairs(folder: Path, *rows: str) -> None:
    (folder / "pairs.csv").write_text("\n".join(rows), "utf-8")


@pytest.mark.slow
def test_labels(folder):
    pairs(
        folder,
        "reason,id_a,id_b,label",
        "equal,ferry,reprint,duplicate",
        "one word,museum,tea,distinct",
        "half,tea,other,unclear",
        "gone,ferry,nowhere,duplicate",
        "what,ferry,tea,perhaps",
    )
    done = evaluate("pages.jsonl", "--pairs", "pairs.csv", cwd=folder)
    assert done.returncode == 0
    assert "1 pairs of duplicates, 1 of distinct pages" in done.stdout
    assert len(re.findall(r"^ *1\.00( +100){12} *$", done.stdout, re.M)) == 2
    assert (
        "NEARDUP_MAX_DISTANCE = 0, NEARDUP_MIN_SIMILARITY = 1: recall 1.000 (1 of 1), "
        "precision 1.000 (0 wrong)" in done.stdout
    )
    assert "pairs left out: 3 (" in done.stderr


@pytest.mark.slow
def test_jaccard_where_there_is_no_label(folder):
    pairs(
        folder,
        "id_a,id_b,label,jaccard",
        "ferry,reprint,,0.8",
        "ferry,museum,distinct,0.9",
        "ferry,tea,,0.79",
        "museum,tea,,",
        "museum,tea,,nan",
        "museum,tea,,7",
        "museum,tea,,-0.1",
    )
    done = evaluate("pages.jsonl", "--pairs", "pairs.csv", cwd=folder)
    assert "1 pairs of duplicates, 2 of distinct pages" in done.stdout
    assert "pairs left out: 4 (unusable 4)\npairs.csv: line 5: label is missing; " in done.stderr
    lower = evaluate("pages.jsonl", "--pairs", "pairs.csv", "--jaccard", "0.7", cwd=folder)
    assert "2 pairs of duplicates, 1 of distinct pages" in lower.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plot.svg", "plot.png"])
def test_a_plot(folder, name):
    pairs(folder, "id_a,id_b,label", "ferry,reprint,duplicate", "ferry,tea,distinct")
    done = evaluate("pages.jsonl", "--pairs", "pairs.csv", "--plot", name, cwd=folder)
    assert done.returncode == 0, done.stderr
    start = (folder / name).read_bytes()[:400]
    assert b"<svg" in start or start.startswith(b"\x89PNG")
    assert not list(folder.glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "options", "complaint"),
    [
        (["a,b", "1,2"], [], "pairs.csv: the columns must be id_a, id_b, and label or jaccard"),
        (
            ["id_a,id_b,label"],
            [],
            "pairs.csv: no pair of duplicates whose pages are among the stored pages (no",
        ),
        (["id_a,id_b,label", "x,y,duplicate"], [], "are among the stored pages (page not there 1)"),
        (["id_a,id_b,label"], ["--plot", "plot.txt"], "name of a plot ends in .svg, .png, .pdf"),
        (["id_a,id_b,label"], ["--precision", "2"], "'2' is not a number from 0 to 1"),
        (["id_a,id_b,label"], ["--distance", "2"], "there is no option --distance"),
    ],
)
def test_errors_are_one_line(folder, rows, options, complaint):
    pairs(folder, *rows)
    done = evaluate("pages.jsonl", "--pairs", "pairs.csv", *options, cwd=folder)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert complaint in done.stderr


def test_unusable_rows_are_named_by_line_and_value(tmp_path):
    path, skipped = str(tmp_path / "pairs.csv"), SkippedPairs()
    pairs(
        tmp_path,
        "id_a,id_b,label,jaccard",
        "a,b,Duplicate,",
        "a,c,different,",
        "a,,distinct",
        "a,e,,seven",
    )
    assert read_pairs(path, 0.8, skipped) == [Pair("a", "b", True)]
    assert skipped.unusable_rows() == (
        "line 3: label 'different' must be duplicate, distinct or unclear; "
        "line 4: id_b is missing; line 5: jaccard 'seven' must be a number from 0 to 1"
    )


def test_a_file_without_a_usable_row_is_refused_in_one_line(tmp_path):
    pairs(tmp_path, "id_a,id_b,label", *(f"a,{n},{'same' * 99}" for n in range(8)))
    with pytest.raises(InputError) as caught:
        read_pairs(str(tmp_path / "pairs.csv"), 0.8, SkippedPairs())
    assert "no usable pair: line 2: label 'same" in str(caught.value)
    assert str(caught.value).endswith("; and 5 more")
    assert len(str(caught.value)) < 600


def test_a_recommendation_from_fewer_than_ten_pairs_says_so():
    shape = len(DISTANCES), len(SIMILARITIES)
    for n_duplicates, is_said in ((1, True), (8, True), (9, False)):
        hits = np.full(shape, n_duplicates)
        figures = Figures(hits, np.zeros(shape, int), n_duplicates, 1)
        advice = _advice(figures, figures.recommended(0.9), 0.9)
        assert ("Fewer than ten pairs are too few to rely on" in advice) == is_said


def test_pairs_that_are_not_there(folder):
    done = evaluate("pages.jsonl", "--pairs", "none.csv", cwd=folder)
    assert done.stderr == "scrapy neardup evaluate: none.csv: No such file or directory\n"


@pytest.mark.slow
def test_a_missing_matplotlib_is_named(folder):
    pairs(folder, "id_a,id_b,label", "ferry,reprint,duplicate")
    done = evaluate(
        "pages.jsonl", "--pairs", "pairs.csv", "--plot", "p.svg", cwd=folder, blocked="matplotlib"
    )
    assert done.returncode == 1
    assert 'pip install "scrapy-neardup[plot]"' in done.stderr


def test_every_cell_is_what_the_rule_says_there():
    detector = NearDupDetector()
    words = article(300)
    texts = [
        words,
        *(replaced(words, share) for share in (0, 0.01, 0.05, 0.1, 0.3)),
        article(300, 1),
    ]
    signatures = {
        str(n): detector.signature(url=f"https://{n}.example/", text=" ".join(text))
        for n, text in enumerate(texts)
    }
    known = [Pair("0", str(n), n < 5) for n in range(1, len(texts))]
    frames = detector.store.boilerplates

    figures = Figures.count(known, signatures, detector.rule, frames, Counter())
    assert (figures.duplicates, figures.distinct) == (4, 2)
    for row, distance in enumerate(DISTANCES):
        for column, similarity in enumerate(SIMILARITIES):
            rule = replace(Rule(), max_distance=distance, min_similarity=similarity)
            found = [
                pair.same
                for pair in known
                if isinstance(rule.compare(signatures[pair.a], signatures[pair.b], frames), Match)
            ]
            assert figures.hits[row, column] == found.count(True)
            assert figures.wrong[row, column] == found.count(False)
    assert 0 < figures.hits.mean() < 4


def test_the_recommendation_has_the_greatest_recall_that_is_precise_enough():
    rng = np.random.default_rng(1)
    shape = len(DISTANCES), len(SIMILARITIES)
    for _ in range(50):
        figures = Figures(rng.integers(0, 20, shape), rng.integers(0, 3, shape), 20, 20)
        best = figures.recommended(0.9)
        precise = {
            (row, column): figures.hits[row, column]
            for row in range(shape[0])
            for column in range(shape[1])
            if (hit := figures.hits[row, column])
            and hit / (hit + figures.wrong[row, column]) >= 0.9
        }
        greatest = [place for place, hits in precise.items() if hits == max(precise.values())]
        strictest = max(column for _, column in greatest)
        assert best == min(place for place in greatest if place[1] == strictest)
    assert Figures(np.ones(shape, int), np.full(shape, 9), 9, 9).recommended(0.9) is None
