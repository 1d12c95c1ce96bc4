"""The report that a crawl writes."""

from __future__ import annotations

import os

import pytest

from tests.support.crawl import LOOPS, run_crawl
from tests.support.reports import data_of, texts_of
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, TEA, page

PAGES = {
    "/1": page(FERRY, "Ferry"),
    "/2": page(FERRY + " Book now.", "Ferry"),
    "/3": page(MUSEUM, "Museum"),
    "/4": page(MUSEUM, "Museum"),
    "/5": page("too short", "Short"),
}
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1}


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("workers", [0, 1])
def test_a_crawl_writes_its_report(tmp_path, loop, workers):
    report = tmp_path / "new folder" / "crawl.html"
    settings = {
        **ONE_BY_ONE,
        "NEARDUP_REPORT": str(tmp_path / "new folder" / "%(name)s.html"),
        "NEARDUP_KEEP_TEXT": True,
        "NEARDUP_WORKERS": workers,
        "NEARDUP_MIN_SIMILARITY": 0.7,
    }
    with serving(PAGES) as site:
        urls = [site.url(path) for path in PAGES]
        crawl = run_crawl(urls, settings, loop=loop)
    data = data_of(report)
    columns, addresses, words = data["columns"], data["addresses"], data["words"]
    shown = [
        {
            "url": addresses[at],
            "spider": "crawl",
            "kind": words["verdict"][kind],
            "reason": words["reason"][reason],
            "duplicate_of": None if original is None else addresses[original],
        }
        for at, kind, reason, original in zip(
            *(columns[name] for name in ("page", "verdict", "reason", "original")), strict=True
        )
    ]
    assert shown == crawl.judged
    assert crawl.counts("pages/") == {"new": 2, "duplicate": 2, "undecided": 1}
    assert {addresses[int(at)]: title for at, title in data["titles"].items()} == dict(
        zip(urls, ["Ferry", "Ferry", "Museum", "Museum", "Short"], strict=True)
    )
    sizes = dict(zip(columns["page"], columns["bytes"], strict=True))
    assert {addresses[at]: size for at, size in sizes.items()} == {
        url: len(body.encode()) for url, body in zip(urls, PAGES.values(), strict=True)
    }
    texts = texts_of(report)
    assert set(texts) == set(urls[:4])
    assert FERRY in texts[urls[0]]
    assert "Book now" in texts[urls[1]]
    # The bytes of the last one were those of the one before, so it was not read again.
    assert texts[urls[3]] == texts[urls[2]]
    assert data["origin"]["min_similarity"] == 0.7
    assert data["origin"]["action"] == "drop"
    assert [path.name for path in report.parent.iterdir()] == ["crawl.html"]
    assert any(str(report) in said for said in crawl.logged("INFO"))


def test_without_keep_text_there_are_titles_and_no_texts(tmp_path):
    report = tmp_path / "report.html"
    with serving(PAGES) as site:
        urls = [site.url(path) for path in PAGES]
        run_crawl(urls, {**ONE_BY_ONE, "NEARDUP_REPORT": str(report), "NEARDUP_ACTION": "report"})
    data = data_of(report)
    assert data["texts"] is None
    assert "Museum" in data["titles"].values()
    assert data["origin"]["action"] == "report"
    assert (data["origin"]["max_distance"], data["origin"]["min_similarity"]) == (11, 0.73)
    assert not data["origin"]["drops_unchanged"]
    assert "Book now" not in report.read_text("utf-8")


def test_a_crawl_with_a_method_names_no_thresholds(tmp_path):
    report = tmp_path / "report.html"
    settings = {
        "NEARDUP_REPORT": str(report),
        "NEARDUP_METHOD": "exact",
        "NEARDUP_REVISIT": "drop",
        "NEARDUP_WORKERS": 0,
    }
    with serving(PAGES) as site:
        run_crawl([site.url("/3")], settings)
    origin = data_of(report)["origin"]
    assert origin["max_distance"] is origin["min_similarity"] is None
    assert origin["drops_unchanged"]


def test_items_that_are_judged_by_a_field_are_reported(tmp_path):
    report = tmp_path / "report.html"
    settings = {
        **ONE_BY_ONE,
        "NEARDUP_REPORT": str(report),
        "NEARDUP_KEEP_TEXT": True,
        "NEARDUP_ITEM_FIELD": "text",
    }
    with serving({"/1": page(FERRY)}) as site:
        url = site.url("/1")
        run_crawl([url], settings, items_per_page=3, texts=[TEA, FERRY, TEA])
    data = data_of(report)
    assert data["origin"]["by_item"]
    assert texts_of(report) == {f"{url}#item-1": TEA, f"{url}#item-3": TEA}


@pytest.mark.parametrize("place", ["folder", "below a file"])
def test_unwritable_report_is_logged_at_the_start_and_changes_nothing(tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    report = tmp_path / "folder" if place == "folder" else tmp_path / "file" / "report.html"
    with serving(PAGES) as site:
        urls = [site.url(path) for path in PAGES]
        crawl = run_crawl(urls, {**ONE_BY_ONE, "NEARDUP_REPORT": str(report)})
    assert crawl.stored == ["1", "3", "5"]
    [said] = crawl.logged("ERROR")
    assert said.startswith(f"Cannot write the report {report}: ")
    lines = [text for _, _, text in crawl.log]
    assert lines.index(said) < next(n for n, text in enumerate(lines) if "Crawled (200)" in text)
    assert str(report) not in crawl.logged("INFO")[-1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe")
def test_no_file_takes_the_place_of_a_device_or_a_pipe(tmp_path):
    """An administrator's crawl would otherwise replace even /dev/null."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with serving({"/1": page(FERRY)}) as site:
        settings = {"NEARDUP_REPORT": str(pipe), "NEARDUP_METRICS": str(pipe)}
        crawl = run_crawl([site.url("/1")], settings)
    assert crawl.stored == ["1"]
    assert sum("it is a device or a pipe" in said for said in crawl.logged("ERROR")) == 2
    assert pipe.is_fifo()


def test_without_the_setting_nothing_is_written(tmp_path):
    with serving(PAGES) as site:
        crawl = run_crawl([site.url("/1")], {"NEARDUP_KEEP_TEXT": True})
    assert crawl.stored == ["1"]
    assert not any("eport:" in said for said in crawl.logged("INFO"))
