"""The report in a real browser."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scrapy_neardup.report.decisions import Decision
from tests.support.processes import wait_for
from tests.support.report_page import (
    choose,
    click,
    complaints,
    downloaded,
    opened,
    page_of,
    pair,
    press,
    slide,
    text,
    texts,
)
from tests.support.reports import data_of, neardup
from tests.support.texts import BRIDGE, FERRY, MUSEUM

DEMO = Path(__file__).parents[2] / "example_project" / "demo.py"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The report of the example's crawl of the whole site."""
    reports = tmp_path_factory.mktemp("reports")
    done = subprocess.run(
        [sys.executable, str(DEMO), "--report", str(reports)],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in reports.iterdir()) == ["shop.html", "site.html"]
    return reports / "site.html"


@pytest.mark.slow
def test_the_report_of_the_example_says_what_the_crawl_did(chrome, example):
    opened(chrome, example)
    figures = dict(zip(texts(chrome, "#tiles dt"), texts(chrome, "#tiles dd"), strict=True))
    assert figures["Pages judged"] == "127"
    assert figures["Duplicates dropped"].startswith("33 ")
    assert text(chrome, "#shown") == "33 of 127 shown"
    assert len(chrome.find_elements("css selector", "#table tbody tr")) == 33
    assert text(chrome, "#would").startswith("33 pages would be dropped, as many as")


@pytest.mark.slow
def test_nothing_is_loaded_from_anywhere(chrome, example):
    opened(chrome, example)
    loaded = chrome.execute_script("return performance.getEntriesByType('resource').length")
    assert loaded == 0
    chrome.execute_script("new Image().src = 'http://127.0.0.1:9/x.png'")
    wait_for(lambda: any("Content Security Policy" in said for said in complaints(chrome)))


def test_the_sliders_show_what_stricter_thresholds_keep(chrome, example):
    opened(chrome, example)
    columns = data_of(example)["columns"]
    words = data_of(example)["words"]
    names = "verdict", "reason", "distance", "similarity"
    figures = [
        (words["reason"][reason], distance, similarity)
        for verdict, reason, distance, similarity in zip(*map(columns.get, names), strict=True)
        if words["verdict"][verdict] == "duplicate"
    ]
    for most, least in ((11, 0.73), (3, 0.73), (3, 0.97), (0, 1.0)):
        slide(chrome, "distance", most)
        slide(chrome, "similarity", least)
        dropped = sum(
            reason != "similar_text" or (distance <= most and similarity >= least)
            for reason, distance, similarity in figures
        )
        assert text(chrome, "#would").startswith(f"{dropped} pages would be dropped")
        choose(chrome, "by-threshold", "dropped")
        assert text(chrome, "#shown").startswith(f"{dropped} of ")
    click(chrome, "#reset")
    assert text(chrome, "#distance-value") == "11"


def near_miss(number: int, similarity: float, objection: str) -> Decision:
    """A page that was kept although there is one like it."""
    return Decision(
        f"https://c.example/{number}",
        "new",
        "no_match",
        look_alike="https://a.example/1",
        objection=objection,
        distance=7,
        similarity=similarity,
        title=f"Kept {number}",
    )


def test_looser_thresholds_show_what_they_would_have_dropped(chrome, tmp_path):
    misses = [
        near_miss(1, 0.7, "text_differs"),
        near_miss(2, 0.55, "text_differs"),
        near_miss(3, 0.98, "title_differs"),
        # The thresholds let it pass: short texts under one title must resemble by more.
        near_miss(4, 0.8, "text_differs"),
    ]
    opened(chrome, page_of(tmp_path / "report.html", [*pair(1, 0.9), *misses]))
    for distance, least, dropped in ((11, 0.73, 1), (11, 0.7, 2), (11, 0.55, 3), (6, 0.55, 1)):
        slide(chrome, "distance", distance)
        slide(chrome, "similarity", least)
        assert text(chrome, "#would").startswith(f"{dropped} page")
    slide(chrome, "distance", 11)
    choose(chrome, "by-verdict", "")
    choose(chrome, "by-threshold", "kept")
    assert texts(chrome, "#table .open") == ["Kept 3", "Kept 4"]
    assert "kept: another title" in text(chrome, "#table tbody")
    # What was nearly dropped can be judged as well, and is then part of the advice.
    choose(chrome, "by-threshold", "dropped")
    for label, choice in (("Copy 1", "duplicate"), ("Kept 2", "duplicate"), ("Kept 1", "distinct")):
        [button] = [
            b for b in chrome.find_elements("css selector", "#table .open") if b.text == label
        ]
        button.click()
        click(chrome, f"#judging input[value={choice}]")
        click(chrome, "#pair-close")
    assert "NEARDUP_MIN_SIMILARITY = 0.90" in text(chrome, "#advice")


def test_a_pair_shows_both_texts_and_marks_what_differs(chrome, example):
    opened(chrome, example)
    chrome.find_element("id", "search").send_keys("print/zh/tofu")
    wait_for(lambda: text(chrome, "#shown").startswith("1 of "))
    # By keyboard alone.
    chrome.execute_script("document.querySelector('#table .open').focus()")
    press(chrome, "\ue007")
    wait_for(lambda: texts(chrome, "#pair .text") != [])
    left, right = texts(chrome, "#pair .text")
    assert "豆腐" in left
    assert "豆腐" in right
    marked = " ".join(texts(chrome, "#right mark"))
    assert "Printed" in marked
    assert "豆腐" not in marked
    press(chrome, "\ue00c")
    assert not chrome.find_element("id", "pair").is_displayed()


def test_language_and_theme_are_switched_and_remembered(chrome, example):
    opened(chrome, example)
    paper = "return getComputedStyle(document.body).backgroundColor"
    choose(chrome, "theme", "light")
    light = chrome.execute_script(paper)
    choose(chrome, "theme", "dark")
    assert chrome.execute_script(paper) != light
    choose(chrome, "language", "zh")
    assert text(chrome, "h1") == "近似重复页面报告"
    assert chrome.find_element("tag name", "html").get_attribute("lang") == "zh-Hans"
    chrome.refresh()
    assert text(chrome, "#h-decisions") == "判定列表"
    choose(chrome, "language", "en")
    assert text(chrome, "#h-decisions") == "Decisions"


def test_what_is_shown_is_exported(chrome, folder, tmp_path):
    decisions = [*pair(1, 0.9), *pair(2, 0.8), Decision("https://c.example/", "new", "no_match")]
    decisions[1] = Decision(**{**vars_of(decisions[1]), "title": '=HYPERLINK("x"), "quoted"'})
    opened(chrome, page_of(tmp_path / "report.html", decisions))
    with downloaded(chrome, folder, "export-csv", "decisions.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    assert [row["url"] for row in rows] == ["https://b.example/1", "https://b.example/2"]
    # A spreadsheet must not run it.
    assert rows[0]["title"] == '\'=HYPERLINK("x"), "quoted"'
    choose(chrome, "by-verdict", "")
    lines = downloaded(chrome, folder, "export-jsonl", "decisions.jsonl").read_text("utf-8")
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record["verdict"] for record in records] == "new duplicate new duplicate new".split()
    assert records[1]["title"] == '=HYPERLINK("x"), "quoted"'
    assert records[3]["similarity"] == 0.8
    # What was exported is a verdicts file again.
    assert [Decision.from_line(line).url for line in lines.splitlines()] == [
        decision.url for decision in decisions
    ]


def vars_of(decision: Decision) -> dict[str, Any]:
    return {name: getattr(decision, name) for name in Decision.__slots__}


def test_judgements_are_kept_taken_away_and_advise(chrome, folder, tmp_path):
    # The first is the same, but to find it takes two that differ.
    similarities = (0.74, 0.76, 0.79, 0.9, 0.92, 0.94)
    labels = "duplicate distinct distinct duplicate duplicate unclear".split()
    decisions = [d for n, value in enumerate(similarities) for d in pair(n, value, distance=n)]
    page = page_of(tmp_path / "report.html", decisions)
    opened(chrome, page)
    assert "0.79 and 0.90" in text(chrome, "#advice")
    click(chrome, "#table .open")
    for label in labels:
        click(chrome, f"#judging input[value={label}]")
        click(chrome, "#pair-next")
    click(chrome, "#pair-close")
    advice = text(chrome, "#advice")
    assert "NEARDUP_MAX_DISTANCE = 4, NEARDUP_MIN_SIMILARITY = 0.90" in advice
    assert "2 of 3 that are the same and 0 of 2" in advice
    # 1 - 0.05 ** (1 / 2)
    assert "77.6%" in advice
    chrome.get(page.as_uri())
    with downloaded(chrome, folder, "export-judgements", "judgements.csv").open(
        encoding="utf-8-sig", newline=""
    ) as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert rows == [
        (f"https://a.example/{n}", f"https://b.example/{n}", label)
        for n, label in enumerate(labels)
    ]
    click(chrome, "#table .open")
    click(chrome, "#unjudge")
    assert text(chrome, "#export-judgements") == "Judgements (5)"


HOSTILE = [
    "</script><script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>",
    "<!--<script>",
    "\"'`${window.ran = 1}`",
    "\u202egnp.exe\u2066 \u2028",
    "{{ 7 * 7 }} {name}",
    "half \ud83d",
]


@pytest.mark.parametrize("said", HOSTILE)
def test_a_hostile_page_is_shown_and_runs_nothing(chrome, tmp_path, said):
    url = f"javascript:window.ran=1//{said}"
    original = f"https://a.example/{said}"
    decisions = [
        Decision(original, "new", said, title=said),
        Decision(
            url,
            "duplicate",
            "similar_text",
            duplicate_of=original,
            distance=3,
            similarity=0.9,
            title=said,
            bytes=1,
            time=2**40,
        ),
    ]
    kept = {at: said.encode("utf-8", "replace").decode() + " " + said[:3] for at in (url, original)}
    opened(chrome, page_of(tmp_path / "report.html", decisions, kept))
    shown = chrome.find_element("css selector", "#table .open")
    assert shown.text.split() == visible(said).split()
    shown.click()
    wait_for(lambda: texts(chrome, "#pair .text") != [])
    assert texts(chrome, "#pair h3")[1].split() == visible(said).split()
    assert visible(said[:3]).strip() in texts(chrome, "#pair .text")[1]
    links = chrome.execute_script("return [...document.links].map(link => link.protocol)")
    assert set(links) <= {"https:", "file:"}
    for link in chrome.find_elements("css selector", "a.url"):
        assert link.get_attribute("rel") == "noreferrer noopener"
    click(chrome, "#pair-close")
    for details in chrome.find_elements("css selector", "#clusters summary"):
        details.click()
    assert chrome.execute_script("return window.ran") is None
    # Nothing was even tried: the policy had nothing to stop.
    assert complaints(chrome) == []


def visible(text: str) -> str:
    """Return a text with the escapes that the page writes for signs that mislead the eye."""
    for sign in "\u202e\u2066\u2028\ud83d":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def test_without_texts_it_says_how_to_keep_them(chrome, tmp_path):
    opened(chrome, page_of(tmp_path / "report.html", pair(1, 0.9)))
    click(chrome, "#table .open")
    wait_for(lambda: "NEARDUP_KEEP_TEXT = True" in text(chrome, "#left"))


def test_the_best_url_of_a_content_is_shown_with_its_original(chrome, tmp_path):
    better = {"https://a.example/1": "https://a.example/x", "https://a.example/2": "javascript:x()"}
    path = page_of(tmp_path / "page.html", [*pair(1, 0.9), *pair(2, 0.9)], better=better)
    for place, url in enumerate(better.values()):
        opened(chrome, path)
        chrome.find_elements("css selector", "#table .open")[place].click()
        wait_for(lambda: "Best URL of this content:" in text(chrome, "#left"))
        assert url in text(chrome, "#left")
        assert "Best URL" not in text(chrome, "#right")
        # Only what is harmless is a link.
        assert len(texts(chrome, "#left a")) == 2 - place


@pytest.mark.slow
def test_a_hundred_thousand_decisions(chrome, tmp_path):
    rng = random.Random(7)
    decisions = [
        decision
        for number in range(50_000)
        for decision in pair(number, round(rng.uniform(0.73, 1), 4), rng.randrange(12))
    ]
    opened(chrome, page_of(tmp_path / "report.html", decisions))
    assert text(chrome, "#shown") == "50,000 of 100,000 shown"
    # No more rows are laid out than are looked at.
    assert len(chrome.find_elements("css selector", "#table tbody tr")) == 100
    chrome.find_element("id", "search").send_keys("example/4999")
    wait_for(lambda: text(chrome, "#shown") == "11 of 100,000 shown")
    click(chrome, "#table button[data-sort=similarity]")
    shown = [float(value) for value in texts(chrome, "#table tbody td:nth-child(5)")]
    assert shown == sorted(shown)
    assert len(shown) == 11


@pytest.mark.slow
def test_judgements_of_the_page_are_taken_by_evaluate(chrome, folder, tmp_path):
    contents = [FERRY, FERRY + " Book now.", MUSEUM, MUSEUM + " Bring your own thread.", BRIDGE]
    # Spreadsheets would run two of them; another one looks as if that had been prevented already.
    ids = ["=1+1", "'-2", "2", "\t@3", "'4"]
    pages = tmp_path / "pages.jsonl"
    with pages.open("w") as file:
        for n, (id_, said) in enumerate(zip(ids, contents, strict=True)):
            print(json.dumps({"id": id_, "url": f"https://{n}.example/", "text": said}), file=file)
    verdicts, report = tmp_path / "verdicts.jsonl", tmp_path / "report.html"
    assert neardup("scan", pages, "-o", verdicts, "--workers", 0).returncode == 0
    assert neardup("report", verdicts, "-o", report).returncode == 0
    opened(chrome, report)
    click(chrome, "#table .open")
    click(chrome, "#judging input[value=duplicate]")
    click(chrome, "#pair-next")
    click(chrome, "#judging input[value=distinct]")
    click(chrome, "#pair-close")
    judgements = downloaded(chrome, folder, "export-judgements", "judgements.csv")
    with judgements.open(encoding="utf-8-sig", newline="") as file:
        assert [tuple(row) for row in csv.reader(file)] == [
            ("id_a", "id_b", "label"),
            ("'=1+1", "''-2", "duplicate"),
            ("2", "'\t@3", "distinct"),
        ]
    done = neardup("evaluate", pages, "--pairs", judgements, "--workers", 0)
    assert done.returncode == 0, done.stderr
    assert "1 pairs of duplicates, 1 of distinct pages" in done.stdout
