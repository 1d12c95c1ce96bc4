"""From a first crawl that touches nothing to thresholds, and to a crawl that drops by them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports import data_of

PROJECT = Path(__file__).parent.parent / "example_project"


@pytest.fixture(scope="module")
def newspaper():
    """The example's site, at this address."""
    command = [sys.executable, "-m", "website"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=PROJECT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[0]
        assert process.stdin is not None
        process.stdin.close()


def scrapy(*arguments: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *map(str, arguments)],
        capture_output=True, encoding="utf-8", cwd=PROJECT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def crawl(url: str, feed: Path, **settings: object) -> str:
    """Crawl the whole site in a settled order, so that two crawls find the same originals."""
    settings = {"CONCURRENT_REQUESTS": 1, "NEARDUP_WORKERS": 0, **settings}
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return scrapy("crawl", "site", "-a", f"url={url}/", "-O", feed, *given).stderr


def pairs_of(report: Path) -> list[tuple[str, str, float]]:
    """Duplicates, originals and similarities; the least alike first."""
    data = data_of(report)
    columns, addresses = data["columns"], data["addresses"]
    rows = zip(columns["page"], columns["original"], columns["similarity"], strict=True)
    pairs = [(addresses[page], addresses[of], alike) for page, of, alike in rows if of is not None]
    return sorted(pairs, key=lambda pair: pair[2])


def write_judgements(path: Path, pairs: list[tuple[str, str, str]]) -> None:
    """As the page does: a byte order mark, CRLF, and the lesser id first."""
    rows = [",".join([*sorted(pair[:2]), pair[2]]) for pair in pairs]
    text = "\r\n".join(["id_a,id_b,label", *rows, ""])
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())


def test_report_first_then_judge_then_evaluate_then_drop(newspaper, tmp_path):
    report, feed = tmp_path / "report.html", tmp_path / "pages.jsonl"
    looking = {"NEARDUP_ACTION": "report", "NEARDUP_REPORT": report, "NEARDUP_KEEP_TEXT": True}
    said = crawl(newspaper, feed, **looking)
    # One page with several items, as the front page, counts each.
    all_items = len(feed.read_text("utf-8").splitlines())
    assert re.search(r"items reported +36 ", said)
    assert re.search(rf"report +{re.escape(str(report))}$", said, re.M)
    pairs = pairs_of(report)
    assert len(pairs) == 36

    distinct = {pair[:2] for pair in pairs[:2]}
    judged = [
        (page, of, "distinct" if (page, of) in distinct else "duplicate") for page, of, _ in pairs
    ]
    write_judgements(tmp_path / "judgements.csv", judged)
    done = scrapy("neardup", "evaluate", feed, "--pairs", tmp_path / "judgements.csv")
    assert "34 pairs of duplicates, 2 of distinct pages" in done.stdout
    assert "left out" not in done.stderr
    advice = " ".join(done.stdout.partition("Recommended")[2].split())
    thresholds = dict(re.findall(r"(NEARDUP_M\w+) = ([\d.]+)(?=[,:])", advice))
    assert set(thresholds) == {"NEARDUP_MAX_DISTANCE", "NEARDUP_MIN_SIMILARITY"}
    [found] = re.findall(r"recall [\d.]+ \((\d+) of 34\)", advice)
    assert "(0 wrong)" in advice

    dropping = tmp_path / "stored.jsonl"
    again = tmp_path / "again.html"
    said = crawl(newspaper, dropping, NEARDUP_REPORT=again, **thresholds)
    dropped = {pair[:2] for pair in pairs_of(again)}
    assert len(dropped) == int(found)
    assert not dropped & distinct
    assert dropped <= {pair[:2] for pair in pairs}
    stored = [json.loads(line)["url"] for line in dropping.read_text("utf-8").splitlines()]
    assert len(stored) == all_items - len(dropped)
    assert {page for page, _ in distinct} <= set(stored)


def test_judgements_of_other_pages_say_what_is_amiss(newspaper, tmp_path):
    feed = tmp_path / "pages.jsonl"
    feed.write_text(json.dumps({"id": 1, "url": f"{newspaper}/", "text": "a page"}) + "\n")
    write_judgements(
        tmp_path / "judgements.csv", [(f"{newspaper}/", f"{newspaper}/a", "duplicate")]
    )
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "neardup", "evaluate", str(feed), "--pairs",
         str(tmp_path / "judgements.csv")],
        capture_output=True, encoding="utf-8", cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "page not there 1" in done.stderr
    assert "a page goes by its id, or by its URL where it has none" in done.stderr
