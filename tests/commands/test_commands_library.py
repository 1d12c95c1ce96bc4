"""``scrapy neardup scan --library``: new pages are matched with old ones, and with nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.json_lines import lines as verdicts
from tests.support.json_lines import stored
from tests.support.texts import FERRY, MUSEUM, TEA, article, page, replaced

from .test_commands_scan import kinds, scan


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pages: two are copies of each other, and one has no text."""
    records = [
        {"id": "ferry", "url": "https://old.example/ferry", "html": page(FERRY, "Ferry")},
        {"id": "reprint", "url": "https://reprints.example/", "text": FERRY, "title": "Ferry"},
        {"id": "empty", "url": "https://old.example/empty", "html": "<p></p>"},
        {"id": "tea", "url": "https://old.example/tea", "text": TEA},
    ]
    path = tmp_path_factory.mktemp("library") / "old.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return path


@pytest.mark.parametrize(
    ("matches", "found"),
    [
        # The page that was read from HTML has its heading in its text, and is less similar.
        ("first", [(0, "reprint"), (1, None), (2, None), (3, "reprint")]),
        ("all", [(0, "reprint"), (0, "ferry"), (1, None), (2, None), (3, "reprint"), (3, "ferry")]),
    ],
)
def test_pages_match_those_of_the_library_only(tmp_path, old, matches, found):
    new = stored(tmp_path / "new.jsonl", FERRY, MUSEUM, MUSEUM, FERRY)
    done = scan("--library", old, new, "-o", "-", "--matches", matches)
    lines = verdicts(done.stdout)
    assert [(line["id"], line["duplicate_of_id"]) for line in lines] == found
    message = done.stderr.decode()
    assert "library: 3 pages; left out: no_text 1" in message
    assert "4 pages: duplicate 2, new 2" in message


@pytest.mark.slow
@pytest.mark.parametrize("matches", ["first", "all"])
def test_pages_with_ids_of_other_pages_of_the_library_match(tmp_path, matches):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text(f"id,text\n1,{json.dumps(FERRY)}\n2,{json.dumps(TEA)}\n")
    new.write_text(f"id,text\n1,{json.dumps(TEA)}\n2,{json.dumps(MUSEUM)}\n")
    lines = verdicts(scan("--library", old, new, "-o", "-", "--matches", matches).stdout)
    assert [(line["verdict"], line["duplicate_of_id"]) for line in lines] == [
        ("duplicate", "2"),
        ("revisit", None),
    ]


def test_a_page_that_is_in_the_library_matches_the_others_as_well(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text(f"id,text\n1,{json.dumps(FERRY)}\n2,{json.dumps(FERRY)}\n")
    new.write_text(f"id,text\n1,{json.dumps(FERRY)}\n")
    lines = verdicts(scan("--library", old, new, "-o", "-", "--matches", "all").stdout)
    assert [(line["verdict"], line["duplicate_of_id"]) for line in lines] == [
        ("revisit", None),
        ("duplicate", "2"),
    ]


@pytest.mark.slow
def test_all_matches_are_those_of_each_old_page_alone(tmp_path):
    words = article(seed=3)
    texts = [" ".join(replaced(words, share)) for share in (0, 0.01, 0.02, 0.3)]
    old = stored(tmp_path / "old.jsonl", *texts)
    new = tmp_path / "new.jsonl"
    new.write_text(json.dumps({"url": "https://new.example/", "text": " ".join(words)}))
    alone = []
    for number, line in enumerate(old.read_text().splitlines()):
        one = tmp_path / f"{number}.jsonl"
        one.write_text(line)
        if kinds(scan("--library", one, new, "-o", "-").stdout)[0].startswith("duplicate"):
            alone.append(number)
    lines = verdicts(scan("--library", old, new, "-o", "-", "--matches", "all").stdout)
    assert sorted(line["duplicate_of_id"] for line in lines) == alone
    assert [line["similarity"] for line in lines] == sorted(
        (line["similarity"] for line in lines), reverse=True
    )
    assert 1 < len(alone) < len(texts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--matches", "all"], "--matches is given alone, but it must be given with --library"),
        (["--library", "x.jsonl", "--store", "y.sqlite"], "--library is given with --store"),
        (["--library", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_options_that_do_not_go_together(tmp_path, options, message):
    new = stored(tmp_path / "new.jsonl", FERRY)
    done = scan(new, "-o", "-", *options)
    assert done.returncode != 0
    assert message in done.stderr.decode()


@pytest.mark.slow
def test_a_library_of_news_without_urls_finds_a_reprint_under_another_title(tmp_path):
    old, new = tmp_path / "old.tsv", tmp_path / "new.tsv"
    old.write_text(f"o1\tA ferry twice a day\t{FERRY}\no2\tThe museum\t{MUSEUM}\n")
    new.write_text(f"n1\tTo the island by boat\t{FERRY}\nn2\tTea\t{TEA}\n")
    columns = ["--columns", "id,title,text"]
    done = scan("--library", old, new, "-o", "-", *columns)
    found = [(line["id"], line["duplicate_of_id"]) for line in verdicts(done.stdout)]
    assert found == [("n1", "o1"), ("n2", None)]
    # By the method that is described for this.
    described = "simhash:64,weights=tf,hash=md5,max_distance=4"
    done = scan("--library", old, new, "-o", "-", *columns, "--method", described)
    assert [line["duplicate_of_id"] for line in verdicts(done.stdout)] == ["o1", None]
