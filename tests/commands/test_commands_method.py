"""``--method``: ``scan`` and ``pairs`` judge by a method in place of the rule."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.methods import METHODS, open_method
from scrapy_neardup.stores import open_store
from tests.support import warm
from tests.support.json_lines import lines as verdicts
from tests.support.json_lines import stored
from tests.support.texts import FERRY, MUSEUM, TEA, article, replaced

from .test_commands_scan import kinds, scan

SLOWLY = [
    pytest.param(name, marks=pytest.mark.slow) for name in ("words:0.6", "manber:one_in=8", "tags")
]


def pairs(*arguments: object):
    return warm.run(["-m", "scrapy", "neardup", "pairs", *arguments], folder=Path.cwd())


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Two articles, each with copies in which more and more words are replaced."""
    articles = [article(seed=seed) for seed in (1, 2)]
    return [" ".join(replaced(words, share)) for words in articles for share in (0, 0.02, 0.1, 0.5)]


@pytest.mark.parametrize(
    "method",
    [pytest.param(name, marks=[] if name == "keywords" else pytest.mark.slow) for name in METHODS],
)
def test_each_method_finds_an_equal_text_and_keeps_others(tmp_path, method):
    done = scan(
        stored(tmp_path / "in.jsonl", FERRY, MUSEUM, FERRY, TEA), "-o", "-", "--method", method
    )
    assert kinds(done.stdout) == [
        "new no_match",
        "new no_match",
        "duplicate method",
        "new no_match",
    ]
    found = verdicts(done.stdout)[2]
    assert (found["duplicate_of_id"], found["similarity"], found["distance"]) == (0, 1, None)


@pytest.mark.parametrize("name", ["simhash:max_distance=8", *SLOWLY])
def test_pairs_are_those_that_a_method_calls_near(tmp_path, texts, name):
    method = open_method(name)
    contents = [text if method.reads == "text" else text.encode() for text in texts]
    values = list(map(method.value, contents))
    near = [
        pair
        for pair in combinations(range(len(texts)), 2)
        if any(method.is_near(values[a], values[b]) for a, b in (pair, pair[::-1]))
    ]
    done = pairs(stored(tmp_path / "in.jsonl", *texts), "-o", "-", "--method", name)
    assert sorted((line["id_a"], line["id_b"]) for line in verdicts(done.stdout)) == near
    assert 0 < len(near) < len(texts) * (len(texts) - 1) // 2


@pytest.mark.slow
@pytest.mark.parametrize(("method", "count"), [("nilsimsa", 2), ("keywords", 0)])
def test_pages_with_too_few_words_to_be_compared_are_counted(tmp_path, method, count):
    short = "the ferry to Holm leaves at eight"
    done = pairs(stored(tmp_path / "in.jsonl", short, short, FERRY), "-o", "-", "--method", method)
    said = f"3 pages, undecided {count}: 0 pairs; undecided for: few_features {count}; "
    assert (said if count else "3 pages: 1 pair; ") in done.stderr.decode()


@pytest.mark.slow
def test_pages_match_a_library_by_a_method(tmp_path, texts):
    old, new = stored(tmp_path / "old.jsonl", *texts), tmp_path / "new.jsonl"
    new.write_text(json.dumps({"url": "https://new.example/", "text": texts[0]}))
    options = ["--library", old, new, "-o", "-", "--method", "words:0.6", "--matches", "all"]
    lines = verdicts(scan(*options).stdout)
    assert [line["duplicate_of_id"] for line in lines] == [0, 1, 2]
    assert lines[0]["similarity"] > lines[1]["similarity"] > lines[2]["similarity"] > 0.6


def test_the_projects_method_is_that_of_a_scan(tmp_path):
    pages = stored(tmp_path / "in.jsonl", FERRY, FERRY)
    done = scan(pages, "-o", "-", "-s", "NEARDUP_METHOD=minhash")
    assert kinds(done.stdout) == ["new no_match", "duplicate method"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "simhsh"], "--method is 'simhsh', but it must be 'simhash', or another of"),
        (["--method", ""], "--method is '', but it must be one of"),
        (["--method", "words:least=1"], "--method is 'words:least=1'"),
        (["--method", "words:2"], "--method words: min_similarity is 2.0, but it must be above 0"),
        (["--method", "words", "--distance", "3"], "--distance is 3, but it must be left out"),
    ],
)
def test_a_wrong_method_is_refused(tmp_path, options, message):
    done = scan(stored(tmp_path / "in.jsonl", FERRY), "-o", "-", *options)
    assert done.returncode == 2
    assert message in done.stderr.decode()


def test_a_store_that_cannot_hold_values_is_refused(tmp_path):
    pages, store = stored(tmp_path / "in.jsonl", FERRY), f"sqlite:///{tmp_path / 'seen.sqlite'}"
    with closing(NearDupDetector(store=open_store(store, "news")).store):
        pass
    done = scan(pages, "-o", "-", "--store", store, "--add", "--method", "words")
    assert done.returncode == 2
    assert "--method is 'words', but it must be left out with the store" in done.stderr.decode()
