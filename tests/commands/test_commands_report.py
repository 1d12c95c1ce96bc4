"""``scrapy neardup report`` as a program."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.support.redis_servers import RedisServer
from tests.support.reports import data_of, neardup, texts_of
from tests.support.texts import FERRY, MUSEUM, TEA, page

PAGES = [
    {"id": "ferry", "url": "https://a.example/ferry", "html": page(FERRY, "Ferry")},
    {"id": "reprint", "url": "https://b.example/7", "html": page(FERRY + " Book now.", "Reprint")},
    {"url": "https://a.example/tea", "text": TEA, "title": "茶"},
    {"url": "https://c.example/tea", "text": TEA + "欢迎光临。", "title": "茶"},
    {"url": "https://a.example/museum", "html": page(MUSEUM, "Museum")},
    {"url": "https://a.example/empty", "html": "<p></p>"},
]


def stored(path: Path, pages: list[dict[str, str]]) -> Path:
    path.write_text("\n".join(map(json.dumps, pages)), "utf-8")
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return stored(tmp_path_factory.mktemp("pages") / "pages.jsonl", PAGES)


@pytest.fixture(scope="module")
def verdicts(pages):
    path = pages.with_name("verdicts.jsonl")
    assert neardup("scan", pages, "-o", path, "--workers", 0).returncode == 0
    return path


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
def test_an_empty_file_of_verdicts_is_named(tmp_path, verdicts, content):
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(content)
    done = neardup("report", empty, verdicts, "-o", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert "6 decisions, 4 pages in pairs" in done.stderr
    assert f"warning: {empty} is empty: the report shows no decision of it" in done.stderr
    assert done.stderr.count("warning") == 1


def test_verdicts_become_a_page(tmp_path, verdicts):
    report = tmp_path / "report.html"
    done = neardup("report", verdicts, "-o", report, "--similarity", 0.5)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "6 decisions, 4 pages in pairs" in done.stderr
    data = data_of(report)
    assert sorted(data["totals"]) == [
        ["duplicate", "similar_text", 2, 0],
        ["new", "no_match", 3, 0],
        ["undecided", "no_text", 1, 0],
    ]
    assert data["origin"]["kind"] == "scan"
    # No folder of the machine on which it was made.
    assert data["origin"]["name"] == "verdicts.jsonl"
    assert str(tmp_path) not in report.read_text("utf-8")
    assert data["origin"]["min_similarity"] == 0.5
    assert data["texts"] is None
    assert data["ids"] == {"0": "ferry", "1": "reprint"}


def test_with_the_pages_it_has_titles_and_texts_of_what_is_in_pairs(tmp_path, pages, verdicts):
    report = tmp_path / "report.html"
    done = neardup("report", verdicts, "-o", report, "--pages", pages, "--workers", 1)
    assert done.returncode == 0, done.stderr
    texts = texts_of(report)
    assert set(texts) == {
        "https://a.example/ferry",
        "https://b.example/7",
        "https://a.example/tea",
        "https://c.example/tea",
    }
    assert FERRY in texts["https://a.example/ferry"]
    assert texts["https://c.example/tea"] == TEA + "欢迎光临。"
    assert set(data_of(report)["titles"].values()) == {"Ferry", "Reprint", "茶"}


def test_several_files_packed_or_not(tmp_path, verdicts):
    lines = verdicts.read_bytes().splitlines(keepends=True)
    packed, plain = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"
    packed.write_bytes(gzip.compress(b"".join(lines[:2])))
    plain.write_bytes(b"".join(lines[2:]))
    report = tmp_path / "report.html"
    assert neardup("report", packed, plain, "-o", report).returncode == 0
    assert len(data_of(report)["columns"]["page"]) == 6


def test_what_is_no_verdicts_file_makes_no_page(tmp_path, pages):
    report = tmp_path / "report.html"
    done = neardup("report", pages, "-o", report)
    assert done.returncode == 1
    assert "line 1 is no verdict" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def imported(address: str, pages: Path) -> None:
    """Put pages into a store, near-duplicates among them."""
    strict = ["--similarity", 1, "--distance", 0]
    done = neardup("store", "import", address, pages, "--namespace", "news", *strict)
    assert done.returncode == 0, done.stderr


def kinds(report: Path) -> list[str]:
    data = data_of(report)
    return [data["words"]["verdict"][kind] for kind in data["columns"]["verdict"]]


def test_a_store_shows_its_pages_and_the_pairs_in_it(tmp_path, pages):
    store = tmp_path / "seen.sqlite"
    imported(f"sqlite:///{store}", pages)
    before = store.read_bytes()
    report = tmp_path / "report.html"
    for source in (store, f"sqlite:///{store}"):
        done = neardup("report", source, "-o", report, "--pages", pages, "--workers", 0)
        assert done.returncode == 0, done.stderr
        data = data_of(report)
        assert (data["origin"]["kind"], data["origin"]["name"]) == ("store", "seen.sqlite")
        assert kinds(report) == ["pair"] * 2 + ["stored"] * 5
        assert all(time > 1.7e9 for time in data["columns"]["time"][2:])
        assert len(texts_of(report)) == 4
    assert store.read_bytes() == before
    # Only equal texts are as similar as that.
    assert neardup("report", store, "-o", report, "--similarity", 1).returncode == 0
    assert "pair" not in kinds(report)


@pytest.mark.slow
def test_a_store_in_a_redis(tmp_path, pages, redis_server: RedisServer):
    imported(redis_server.address, pages)
    report = tmp_path / "report.html"
    done = neardup("report", redis_server.address, "-o", report)
    assert done.returncode == 0, done.stderr
    assert kinds(report) == ["pair"] * 2 + ["stored"] * 5
    assert data_of(report)["origin"]["name"] == redis_server.address


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["VERDICTS", "--namespace", "news"],
            "--namespace is 'news', but it must be given with a store",
        ),
        (["VERDICTS", "redis://127.0.0.1:1/0"], "but it must be one store, or verdicts alone"),
        (["VERDICTS", "--cache", "c"], "--cache is given alone, but it must be given with --pages"),
        (["no-such-file"], "no-such-file: No such file or directory"),
    ],
)
def test_impossible_options_give_errors(tmp_path, verdicts, arguments, complaint):
    given = [verdicts if word == "VERDICTS" else word for word in arguments]
    done = neardup("report", *given, "-o", tmp_path / "report.html")
    assert done.returncode in (1, 2)
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
