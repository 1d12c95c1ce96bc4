"""Pages that a real browser renders for scrapy-playwright."""

from __future__ import annotations

import shutil

import pytest

from tests.compatibility.shown import settings_of
from tests.support.crawl import run_crawl
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM

SHELL = """<!doctype html><title>News</title><div id="root"></div><script>
document.getElementById("root").innerHTML = "<h1>News</h1>" + %r.split(". ").map(
    sentence => "<p>" + sentence + ".</p>").join("")
</script>"""
PAGES = {"/1": SHELL % FERRY, "/2": SHELL % FERRY, "/3": SHELL % MUSEUM}


@pytest.mark.slow
def test_rendered_pages_are_judged_and_others_need_scripts():
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium or google-chrome on the PATH")
    plain = {f"{path}?plain": shell for path, shell in PAGES.items()}
    with serving({**PAGES, **plain}) as site:
        crawl = run_crawl(
            list(map(site.url, PAGES)),
            {
                **settings_of("scrapy-playwright"),
                "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": browser},
                "CONCURRENT_REQUESTS": 1,
            },
            spider="tests.compatibility.playwright_spider.RenderedSpider",
        )
    assert crawl.counts("pages/") == {"new": 2, "duplicate": 1, "undecided": 3}
    assert crawl.counts("undecided/") == {"needs_scripts": 3}
    assert crawl.counts("items/") == {"kept": 5, "dropped": 1}
