"""``scrapy neardup changes`` as a program, on stores that real crawls filled."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.commands.changes import _Page, _Rate
from scrapy_neardup.stores import open_store
from scrapy_neardup.stores.visits import VISIT, page_digest
from tests.commands.test_commands_store import ISO, TIME, neardup, said
from tests.support.crawl import run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, article, page, replaced

DAY = 86_400


def changes(*arguments: object) -> dict[str, dict[str, Any]]:
    """The lines that the command writes, by the paths of their URLs."""
    done = neardup("changes", *arguments, "-o", "-")
    said(done)
    lines = map(json.loads, done.stdout.splitlines())
    return {line["url"].partition("://")[2].partition("/")[2]: line for line in lines}


def age(path: Path, days: float) -> None:
    """Let so many days pass: the visits of a file are so much older."""
    with closing(sqlite3.connect(path)) as connection, connection:
        seconds = int(days * DAY)
        connection.execute(
            "UPDATE visits SET first_at = first_at - ?, last_at = last_at - ?, "
            "changed_at = max(changed_at - ?, 0), moved_at = max(moved_at - ?, 0)",
            (seconds,) * 4,
        )


@pytest.fixture(scope="module")
def recrawled(tmp_path_factory) -> Path:
    """A site that was crawled three times, with ten days in between."""
    path: Path = tmp_path_factory.mktemp("changes") / "pages.sqlite"
    settings = {"NEARDUP_STORE": f"sqlite:///{path}", "NEARDUP_URL_RULES": "off"}
    words = article(300, seed=1)
    days: list[dict[str, Any]] = [
        {
            "/news/same": page(FERRY, "Ferry"),
            "/news/edited": page(" ".join(words), "Edited"),
            "/shop/replaced": page(MUSEUM, "Museum"),
            "/shop/moved": page(BRIDGE, "Bridge"),
            "/shop/tea": page(TEA, "Tea"),
        }
    ]
    days.append(
        {
            **days[0],
            "/news/edited": page(" ".join(replaced(words, 0.1)), "Edited"),
            "/shop/replaced": page(TEA, "Tea"),
            "/shop/moved": Answer(b"", status=301, headers={"Location": "/shop/tea"}),
        }
    )
    days.append(days[1])
    with serving({}) as site:
        for pages in days:
            site.pages = pages
            crawl = run_crawl([site.url(path) for path in days[0]], settings)
            assert crawl.errors == 0
            age(path, 10)
    return path


def test_changed_and_moved_pages_are_listed(recrawled):
    found = changes(recrawled)
    assert set(found) == {"news/edited", "shop/replaced", "shop/moved"}
    edited, replaced_, moved = (
        found[path] for path in ("news/edited", "shop/replaced", "shop/moved")
    )
    assert 0.1 < edited["change"] < 0.6
    assert edited["moved_to"] is None
    assert (edited["visits"], edited["changes"]) == (2, 1)
    assert replaced_["change"] > 0.9
    assert replaced_["moved_to"].endswith("/shop/tea")
    assert moved["change"] is None
    assert moved["moved_to"].endswith("/shop/tea")


def test_only_what_changed_since_then(recrawled):
    """It changed and moved 20 days ago, and was visited once more 10 days ago."""
    assert changes(recrawled, "--since", "15d") == {}
    assert set(changes(recrawled, "--since", "3w")) == {
        *("news/edited", "shop/replaced", "shop/moved")
    }
    at = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 30 * DAY))
    assert len(changes(recrawled, "--since", at)) == 3


@pytest.mark.slow
def test_a_move_keeps_its_date_over_recrawls(tmp_path):
    path, began = tmp_path / "pages.sqlite", int(time.time())
    settings = {"NEARDUP_STORE": f"sqlite:///{path}", "NEARDUP_URL_RULES": "off"}
    moved = Answer(b"", status=301, headers={"Location": "/tea"})
    with serving({"/old": page(FERRY, "Ferry"), "/tea": page(TEA, "Tea")}) as site:
        for visit in range(4):
            assert run_crawl([site.url("/old"), site.url("/tea")], settings).errors == 0
            age(path, 1)
            site.pages = {**site.pages, "/old": moved}
            if visit:
                found = changes(path)["old"]
                assert found["visits"] == visit
                at = datetime.fromisoformat(found["changed_at"]).timestamp() + visit * DAY
                assert began <= at <= time.time()
                assert set(changes(path, "--since", "36h")) == ({"old"} if visit == 1 else set())


def test_sections_have_rates(recrawled, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    done = neardup("changes", recrawled, "--limit", "1")
    said(done)
    shown = done.stdout.decode()
    assert "3 pages changed or moved, of 5 that were visited" in shown
    # Two pages, two visits of each after the first, one change: -20 / ln(3.5 / 4.5).. days
    [news] = [line for line in shown.splitlines() if "/news/" in line and "every" in line]
    assert "every 40 days (few visits)" in news
    assert "every 28 days" in news


@pytest.mark.parametrize("wrong", ["yesterday", "7", "2026-13-01", "-3d"])
def test_a_time_that_is_none(recrawled, wrong):
    done = neardup("changes", recrawled, f"--since={wrong}")
    assert done.returncode == 2
    assert f"{wrong!r} is neither a time such as" in done.stderr.decode()


def test_pages_that_were_visited_once(redis_server):
    address = redis_server.address
    with closing(open_store(address, "news")) as store:
        detector = NearDupDetector(store=store)
        for name, text in (("ferry", FERRY), ("tea", TEA)):
            signature = detector.signature(url=f"https://a.example/{name}", text=text)
            store.add(signature)
            store.note_visits(np.array([(page_digest(signature.key), TIME, -1, 0)], VISIT))
        digest = page_digest("https://a.example/tea")
    done = neardup("changes", address)
    assert "no page was visited twice yet" in said(done)
    # Without tables that have no row.
    assert done.stdout == b"0 pages changed or moved, of 2 that were visited\n"
    with closing(open_store(address, "news")) as store:
        store.note_visits(np.array([(digest, TIME + 5 * DAY, 0.25, 0)], VISIT))
    [line] = changes(address).values()
    assert line["url"] == "https://a.example/tea"
    assert (line["change"], line["first_visit"]) == (0.25, ISO)


@pytest.mark.parametrize(("every", "visited"), [(1.0, 1.0), (1.0, 3.0), (10.0, 1.0)])
def test_the_rate_is_that_of_the_pages(every, visited):
    """Pages that change after ``every`` days on average, looked at every ``visited`` days."""
    random, rate = Random(3), _Rate()
    for _ in range(300):
        next_change, changed = random.expovariate(1 / every), 0
        for visit in range(1, 31):
            is_changed = next_change < visit * visited
            changed += is_changed
            while next_change < visit * visited:
                next_change += random.expovariate(1 / every)
        rate.add(_Page("", "", 0, int(30 * visited * DAY), 30, changed, 0, 0.0, 0, 0))
    assert rate.days == pytest.approx(every, rel=0.05)


@pytest.mark.parametrize(
    ("seconds", "changes", "text"),
    [
        (9, 0, ("no change in 9 seconds", "too early to tell")),
        (59.6, 0, ("no change in 1 minute", "too early to tell")),
        (89, 0, ("no change in 1 minute", "too early to tell")),
        (7140, 0, ("no change in 119 minutes", "too early to tell")),
        (7170, 0, ("no change in 2 hours", "too early to tell")),
        (36 * 3600, 0, ("no change in 36 hours", "come less often")),
        (9.4 * DAY, 0, ("no change in 9 days", "come less often")),
        (60, 9, ("every 2 seconds", "every 2 seconds")),
        (9, 9, ("every second", "every second")),
        (30 * DAY, 9, ("every 27 hours", "every 19 hours")),
        (2 * 365 * DAY, 9, ("every 28 days", "every 19 days")),
    ],
)
def test_spans_are_told_as_people_do(seconds, changes, text):
    rate = _Rate()
    rate.add(_Page("", "", 0, seconds, 9, changes, 0, 0.0, 0, 0))
    often, again = rate.text()
    assert (often.partition(" (")[0], again) == text


@pytest.mark.parametrize(
    ("pages", "visits", "seconds", "mark"),
    [
        (20, 1, 9, " (short time)"),
        (1, 50, DAY - 1, " (short time)"),
        (1, 9, DAY - 1, " (few visits, short time)"),
        (9, 1, 30 * DAY, " (few visits)"),
        (10, 1, DAY, ""),
        (1, 10, DAY, ""),
    ],
)
@pytest.mark.parametrize("changes", [0, 1])
def test_what_rests_on_little_is_marked(pages, visits, seconds, mark, changes):
    """The visits of all pages count together, and how long a page was watched on average."""
    rate = _Rate()
    for _ in range(pages):
        rate.add(_Page("", "", 0, seconds, visits, changes, 0, 0.0, 0, 0))
    often, again = rate.text()
    assert "".join(often.partition(" (")[1:]) == mark
    assert (again == "too early to tell") == (not changes and "short" in mark)


def test_a_site_that_is_not_in_the_store(tmp_path):
    path = tmp_path / "pages.sqlite"
    with closing(open_store(f"sqlite:///{path}", "news")) as store:
        detector = NearDupDetector(store=store)
        for url, text in (("https://type.example/", TEA), ("https://other.example/", FERRY)):
            store.add(detector.signature(url=url, text=text))
    for site, hint in (
        ("typo.example", "; did you mean 'type.example'?"),
        ("x.test", ", such as 'other.example'"),
    ):
        done = neardup("changes", path, "--site", site)
        assert said(done, 2).splitlines() == [
            f"scrapy neardup changes: --site is {site!r}, but it must be a site with stored "
            f"pages{hint}"
        ]
    done = neardup("changes", path, "--site", "type.example")
    assert "no page was visited twice yet" in said(done)
