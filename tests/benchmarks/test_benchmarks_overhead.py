"""The overhead benchmark on a few pages: a crawl without the add-on and one with it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import scrapy

from tests.support.benchmarks import run
from tests.support.texts import FERRY, MUSEUM

pytestmark = pytest.mark.slow


def page(number: int, host: str, title: str, text: str, foot: str) -> str:
    html = (
        f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>"
        f"<p>{text}</p></article><footer>{foot}</footer></body></html>"
    )
    return json.dumps({"id": f"p{number}", "url": f"https://{host}/{number}", "html": html})


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    lines = [
        page(0, "harbour.example", "The harbour", FERRY, "Seen 1,204 times"),
        page(1, "bakery.example", "Bread", MUSEUM, "All recipes"),
        page(2, "mirror.example", "The harbour", FERRY, "A copy of 3 May"),
        "not a record",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


OPTIONS = [[], ["--ports"]]
if scrapy.version_info >= (2, 15):  # the first that can do without a reactor
    OPTIONS.append(["--no-reactor"])


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
def test_every_page_is_accounted_for(pages: Path, tmp_path: Path, option: list[str]) -> None:
    figures, dropped = tmp_path / "figures.json", tmp_path / "dropped.csv"
    done = run("crawl.overhead", pages, "--json", figures, "--dropped", dropped, *option)
    assert done.returncode == 0, done.stderr
    written = json.loads(figures.read_text(encoding="utf-8"))
    without, with_ = (crawl["account"] for crawl in written["crawls"])
    assert (without["stored"], without["dropped"], without["failed"]) == (3, 0, 0)
    assert (with_["stored"], with_["dropped"], with_["failed"]) == (2, 1, 0)
    with dropped.open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert {row["id"], row["duplicate_of_id"]} == {"p0", "p2"}
    assert float(row["similarity"]) > 0.9
    assert "records skipped: 1 not JSON" in done.stdout


@pytest.mark.slow
def test_settings_reach_the_crawl_and_wrong_ones_are_refused(pages: Path) -> None:
    tagged = run("crawl.overhead", pages, "--set", "NEARDUP_ACTION=tag")
    assert tagged.returncode == 0, tagged.stderr
    assert "(stored)" in tagged.stdout
    refused = run("crawl.overhead", pages, "--set", "NEARDUP_MAX_DISTANCE=99")
    assert refused.returncode == 2
    assert "NEARDUP_MAX_DISTANCE" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [["--unknown"], ["--sho", "3"], ["--limit", "0"], ["--set", "ADDONS={}"], ["--set", "X"]],
)
def test_unusable_options_are_refused(pages: Path, arguments: list[str]) -> None:
    assert run("crawl.overhead", pages, *arguments).returncode == 2


def test_unusable_input_is_refused(tmp_path: Path) -> None:
    done = run("crawl.overhead", tmp_path / "missing.jsonl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "missing.jsonl" in done.stderr
