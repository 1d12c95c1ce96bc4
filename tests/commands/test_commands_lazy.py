"""Stores with pages that were read quickly only, under ``scrapy neardup``."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.json_lines import lines
from tests.support.offers import COPY, FIRST, OFFERS, SECOND
from tests.support.texts import article

ROOT = Path(__file__).parents[2]
LAZY = ("-s", "NEARDUP_EXTRACTION=lazy")
PAGES = 6


def neardup(*arguments: object) -> str:
    """Run a sub-command, and return what it says."""
    done = warm.run(["-m", "scrapy", "neardup", *map(str, arguments)], folder=ROOT)
    assert done.returncode == 0, done.stderr.decode()
    return re.sub(r"\d+\.\d s|, \d+ pages/s", "", done.stderr.decode())


def feed(path: Path, host: str, footer: str = "", pages: int = PAGES) -> Path:
    """Articles of which each has words of its own."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(pages):
            words = article(200, seed=number, vocabulary=10**6)
            lines = [" ".join(words[i : i + 10]) for i in range(0, 200, 10)]
            html = "".join(f"<p>{line.capitalize()}.</p>" for line in lines)
            page = f"<title>{' '.join(words[:3])}</title><body>{html}{footer}</body>"
            record = {"url": f"http://{host}/{number}", "html": page}
            file.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of pages that were all read quickly."""
    path = tmp_path / "seen.sqlite"
    address = f"sqlite:///{path}"
    neardup(
        "store", "import", address, feed(tmp_path / "old", "a.example"), "--namespace", "n", *LAZY
    )
    return path


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    return feed(tmp_path / "copies", "b.example", "<footer>Another paper</footer>")


def files(store: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.parent.glob("seen.sqlite*")}


def test_copies_of_its_pages_are_found_and_it_stays_as_it_is(store, copies, tmp_path):
    before = files(store)
    said = neardup("scan", copies, "-o", tmp_path / "verdicts", "--store", store, *LAZY)
    assert f"{PAGES} pages: duplicate {PAGES}" in said
    said = neardup("pairs", copies, "-o", tmp_path / "pairs", "--store", store)
    assert f"{PAGES} pairs" in said
    found = {(pair["url_a"][-1], pair["url_b"][-1]) for pair in lines(tmp_path / "pairs")}
    assert found == {(str(n), str(n)) for n in range(PAGES)}
    changed = files(store)
    assert {name: changed[name] for name in before if not name.endswith("-shm")} == {
        name: data for name, data in before.items() if not name.endswith("-shm")
    }


@pytest.mark.parametrize("command", ["scan", "pairs"])
def test_what_recurs_on_a_site_makes_no_duplicates(tmp_path, command):
    for name, pages in (("old", OFFERS.items()), ("new", [SECOND, COPY])):
        records = [json.dumps({"url": url, "html": html}) for url, html in pages]
        (tmp_path / name).write_text("\n".join(records), encoding="utf-8")
    address, out = f"sqlite:///{tmp_path}/seen.sqlite", tmp_path / "out"
    neardup("store", "import", address, tmp_path / "old", "--namespace", "n", *LAZY)
    options = LAZY if command == "scan" else ()
    neardup(command, tmp_path / "new", "-o", out, "--store", tmp_path / "seen.sqlite", *options)
    found = lines(out)
    if command == "scan":
        assert [line["duplicate_of"] for line in found] == [None, FIRST]
    else:
        assert [{pair["url_a"], pair["url_b"]} for pair in found] == [{FIRST, COPY[0]}]


@pytest.mark.parametrize("command", ["scan", "pairs"])
def test_it_is_said_when_bodies_are_gone(store, copies, tmp_path, command):
    Path(f"{store}-bodies").write_bytes(b"damaged")
    options = LAZY if command == "scan" else ()
    said = neardup(command, copies, "-o", tmp_path / "out", "--store", store, *options)
    assert f"warning: {PAGES} stored pages may have copies that were not found" in said


def test_it_is_said_when_bodies_are_evicted(tmp_path, copies):
    old = feed(tmp_path / "old", "a.example")
    settings = (*LAZY, "-s", "NEARDUP_BODY_CACHE=0")
    said = neardup("scan", old, copies, "-o", tmp_path / "out", *settings)
    assert "pages, so later copies of them were not found" in said
    assert "NEARDUP_BODY_CACHE" in said


def test_pages_are_listed_as_read_quickly_and_an_export_says_so(store, tmp_path):
    done = warm.run(["-m", "scrapy", "neardup", "store", "list", str(store)], folder=ROOT)
    assert done.stdout.decode().count("\tread quickly\n") == PAGES
    said = neardup("store", "export", store, "-o", tmp_path / "export")
    assert f"warning: {PAGES} pages read quickly only, and bodies are not exported" in said


def n_bodies(store: Path) -> int:
    with closing(sqlite3.connect(f"{store}-bodies")) as file:
        [count] = file.execute("SELECT count(*) FROM bodies").fetchone()
        return int(count)


@pytest.mark.parametrize("how", ["forget", "compact"])
def test_bodies_go_with_their_pages(store, how):
    size = Path(f"{store}-bodies").stat().st_size
    assert n_bodies(store) == PAGES
    if how == "forget":
        neardup("store", "forget", store, *(f"http://a.example/{n}" for n in range(PAGES)))
    else:
        neardup("store", "compact", store, "--ttl", "0.001")
        assert Path(f"{store}-bodies").stat().st_size < size
    assert n_bodies(store) == 0


@pytest.mark.parametrize("command", ["scan", "pairs", "report"])
def test_a_store_is_not_replaced_by_an_output(store, copies, command):
    before = store.read_bytes()
    sources = [store] if command == "report" else [copies, "--store", store]
    options = LAZY if command == "scan" else ()
    given = map(str, [command, *sources, "-o", store, *options])
    done = warm.run(["-m", "scrapy", "neardup", *given], folder=ROOT)
    assert done.returncode == 1
    assert b"would be overwritten" in done.stderr
    assert store.read_bytes() == before
