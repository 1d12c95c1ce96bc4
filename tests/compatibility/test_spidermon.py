"""The monitors for Spidermon, in crawls that lose pages and in crawls that lose none."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora.missing_pages import KINDS, SoftSites
from tests.compatibility.shown import settings_of
from tests.support.crawl import LOOPS, run_crawl
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, TEA, page

SHELL = '<title>App</title><script src="/app.js"></script><div id="root"></div>'
GOOD = {"/ferry": page(FERRY), "/museum": page(MUSEUM), "/tea": page(TEA)}
#: What Spidermon 1.27 does that Scrapy 2.19 warns of.
DEPRECATED = "Spider.log() is deprecated"


def outcomes(
    pages: Mapping[str, Any], folder: Path, *, loop: str = "reactor", **settings: Any
) -> dict[str, str]:
    """Crawl, and return what became of each monitor: ``OK``, or why it failed or was skipped."""
    with serving(pages) as site:
        crawl = run_crawl(
            list(map(site.url, pages)),
            {**settings_of("Spidermon"), "SPIDERMON_NEARDUP_MIN_PAGES": 3, **settings},
            loop=loop,
            ignored=[DEPRECATED],
            folder=folder,
        )
    told = "\n".join(text for _, _, text in crawl.log if text.startswith("[Spidermon]"))
    found = dict(re.findall(r"\[Spidermon\] (\w+)/\w+\.\.\. (.*)", told))
    assert len(found) == 5, told
    failures = re.findall(r"FAIL: (\w+)/.*?\nAssertionError: ([^\n]*)", told, re.S)
    return found | dict(failures)


@pytest.mark.parametrize("loop", LOOPS)
def test_walls_and_sites_that_need_scripts_fail(tmp_path, loop):
    walls = {f"/wall{n}": page(FERRY, frame=str(n)) for n in range(31)}
    shells = {f"/app{n}": SHELL for n in range(3)}
    found = outcomes(
        walls | shells, tmp_path, loop=loop, SPIDERMON_NEARDUP_MAX_UNDECIDED_SHARE=0.05
    )
    assert re.match(
        r"1 content appeared in the place of many pages, such as a login wall or a ban page: "
        r"<http://127.0.0.1:\d+/wall\d+> in the place of 3\d pages of 127.0.0.1 "
        r"\(SPIDERMON_NEARDUP_MAX_WALLS is 0\)",
        found["WallMonitor"],
    )
    assert "1 site show" in found["ScriptedSitesMonitor"]
    assert found["UndecidedShareMonitor"] == (
        "3 of 34 pages could not be judged: needs_scripts 3 "
        "(SPIDERMON_NEARDUP_MAX_UNDECIDED_SHARE is 0.05)"
    )
    assert found["DropRateMonitor"] == "SKIPPED (only 0 earlier runs to compare with)"
    assert found["StoreErrorMonitor"] == "OK"


def test_drop_rates_and_stores_that_fail(tmp_path):
    store = tmp_path / "pages.sqlite"
    settings: dict[str, Any] = {
        "SPIDERMON_NEARDUP_MIN_RUNS": 1,
        "NEARDUP_STORE": f"sqlite:///{store}",
    }
    assert set(outcomes(GOOD, tmp_path, **settings).values()) == {
        "OK",
        "SKIPPED (only 0 earlier runs to compare with)",
    }
    # Another site, on another port, has the same pages.
    found = outcomes(GOOD, tmp_path, **settings)
    assert found["DropRateMonitor"] == (
        "100.0% of the items are near-duplicates, against at most 0.0% in nine of ten earlier runs "
        "(1 compared) (SPIDERMON_NEARDUP_DROP_RATE_MARGIN is 0.1)"
    )
    assert found["StoreErrorMonitor"] == "OK"
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE pages SET page = substr(page, 2)")
        connection.commit()
    found = outcomes(GOOD, tmp_path, **settings)
    assert re.match(rf"The store sqlite:///{store} failed \d+ times?;", found["StoreErrorMonitor"])


def test_soft_404s_are_no_pages_that_could_not_be_judged(tmp_path):
    gone: dict[str, Any] = {
        path: KINDS["fixed text"](path, "") for path in map("/gone/{}".format, range(9))
    }
    found = outcomes(
        SoftSites({**GOOD, **gone}, {"": "fixed text"}),
        tmp_path,
        NEARDUP_SOFT_404="drop",
        CONCURRENT_REQUESTS=1,
        SPIDERMON_NEARDUP_MAX_UNDECIDED_SHARE=0,
    )
    assert found["UndecidedShareMonitor"] == "OK"


@pytest.mark.parametrize(
    ("rates", "usual"),
    [([0.3], 0.3), ([0.4, 0.2, 0.3], 0.3), ([0.2] * 10 + [0.9], 0.2), ([0.2] * 8 + [0.4] * 3, 0.4)],
)
def test_one_run_in_ten_may_be_an_exception(rates, usual):
    from scrapy_neardup.monitors import usual_rate

    assert usual_rate(rates) == usual
