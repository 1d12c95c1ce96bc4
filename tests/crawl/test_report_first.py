"""From a first crawl with ``NEARDUP_ACTION = "report"`` to thresholds and to a crawl that drops."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support.crawl import run_crawl
from tests.support.reports import data_of, neardup
from tests.support.server import serving
from tests.support.texts import COMMON, article, page, word

ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1}
NUMBERS = range(6)


def changed(words: list[str], places: int) -> list[str]:
    """The same words but for some, evenly spread; each takes four shingles with it.

    Common words stand in their places: with other values a page would be kept by any thresholds.
    """
    step = len(words) // places
    return [
        COMMON[at % len(COMMON)] if at % step == step // 2 else old for at, old in enumerate(words)
    ]


def site_of_copies_and_variants() -> dict[str, str]:
    """Reprints that differ in one word of 400, and lots of a sale that differ in ten."""
    pages = {}
    for number in NUMBERS:
        story, lot = article(400, seed=number), article(400, seed=100 + number)
        pages[f"/story/{number}"] = page(" ".join(story), f"Story {word(number)}")
        pages[f"/lot/{number}"] = page(" ".join(lot), f"Lot {word(number)}")
        pages[f"/reprint/{number}"] = page(" ".join(changed(story, 1)), f"Story {word(number)}")
        pages[f"/other-lot/{number}"] = page(" ".join(changed(lot, 10)), f"Lot {word(number)}")
    return pages


def pairs_of(report: Path) -> list[tuple[str, str]]:
    """Duplicates and their originals."""
    data = data_of(report)
    rows = zip(data["columns"]["page"], data["columns"]["original"], strict=True)
    return [(data["addresses"][at], data["addresses"][of]) for at, of in rows if of is not None]


def write_judgements(path: Path, judgements: list[tuple[str, str, str]]) -> None:
    """As the page does: a byte order mark, CRLF, and the lesser id first."""
    rows = [",".join([*sorted(judged[:2]), judged[2]]) for judged in judgements]
    text = "\r\n".join(["id_a,id_b,label", *rows, ""])
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())


def test_report_first_then_judge_then_evaluate_then_drop(tmp_path):
    pages, report = site_of_copies_and_variants(), tmp_path / "report.html"
    feed, judgements = tmp_path / "pages.jsonl", tmp_path / "judgements.csv"
    looking = {
        **ONE_BY_ONE,
        "NEARDUP_ACTION": "report",
        "NEARDUP_REPORT": str(report),
        "NEARDUP_KEEP_TEXT": True,
    }
    with serving(pages) as site:
        urls = [site.url(path) for path in pages]
        first = run_crawl(urls, looking)
        assert len(first.items) == len(pages)
        assert first.counts("items/") == {"kept": 12, "reported": 12}
        with feed.open("w") as file:
            for path, html in pages.items():
                print(json.dumps({"url": site.url(path), "html": html}), file=file)

        pairs = pairs_of(report)
        assert len(pairs) == 12
        judged = [(at, of, "distinct" if "/other-lot/" in at else "duplicate") for at, of in pairs]
        write_judgements(judgements, judged)
        done = neardup("evaluate", feed, "--pairs", judgements, "--workers", 0)
        assert done.returncode == 0, done.stderr
        assert "6 pairs of duplicates, 6 of distinct pages" in done.stdout
        assert done.stderr == ""
        advice = " ".join(done.stdout.partition("Recommended")[2].split())
        assert "recall 1.000 (6 of 6), precision 1.000 (0 wrong)" in advice
        thresholds = dict(re.findall(r"(NEARDUP_\w+) = ([\d.]+)[,:]", advice))
        assert set(thresholds) == {"NEARDUP_MAX_DISTANCE", "NEARDUP_MIN_SIMILARITY"}

        second = run_crawl(urls, {**ONE_BY_ONE, **thresholds})
    assert {item["path"].split("/")[0] for item in second.dropped} == {"reprint"}
    assert second.counts("items/") == {"kept": 18, "dropped": 6}


def test_labels_of_other_pages_give_an_error(tmp_path):
    feed, judgements = tmp_path / "pages.jsonl", tmp_path / "judgements.csv"
    feed.write_text(json.dumps({"id": 1, "url": "https://a.example/", "text": "a page"}) + "\n")
    write_judgements(judgements, [("https://a.example/", "https://b.example/", "duplicate")])
    done = neardup("evaluate", feed, "--pairs", judgements, "--workers", 0)
    assert done.returncode == 1
    assert "page not there 1" in done.stderr
    assert "pages are matched by id, or by URL" in done.stderr
