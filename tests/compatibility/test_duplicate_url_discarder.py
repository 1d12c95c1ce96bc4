"""Crawls in which duplicate-url-discarder removes parameters from fingerprints."""

from __future__ import annotations

import json

from tests.compatibility.shown import settings_of
from tests.support.crawl import run_crawl
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, page


def test_its_fingerprints_are_those_of_the_duplicate_filter(tmp_path):
    rules = [
        {
            "args": ["session"],
            "order": 100,
            "processor": "queryRemoval",
            "urlPattern": {"include": []},
        }
    ]
    (tmp_path / "rules.json").write_text(json.dumps(rules), "utf-8")
    pages = {f"/1?session={n}": page(FERRY) for n in range(3)} | {
        "/copy": page(FERRY, frame="2"),
        "/2": page(MUSEUM),
    }
    with serving(pages) as site:
        crawl = run_crawl(
            list(map(site.url, pages)),
            {
                **settings_of("duplicate-url-discarder"),
                "DUD_LOAD_RULE_PATHS": [str(tmp_path / "rules.json")],
                "CONCURRENT_REQUESTS": 1,
            },
        )
    assert crawl.stored == ["1?session=0", "2"]
    assert crawl.stats["dupefilter/filtered"] == 2
    assert crawl.counts("pages/") == {"new": 2, "duplicate": 1}
