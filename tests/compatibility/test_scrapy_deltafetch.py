"""Requests that scrapy-deltafetch ignores in a later crawl."""

from __future__ import annotations

from tests.compatibility.shown import module_of, settings_of
from tests.support.crawl import run_crawl
from tests.support.server import serving
from tests.support.texts import BRIDGE, FERRY, MUSEUM, page

#: What scrapy-deltafetch 2.1.0 does that Scrapy 2.19 warns of.
DEPRECATED = "Passing a 'spider' argument to StatsCollector.inc_value"


def test_the_middleware_alone_does_not_start():
    """Its section on the page can be shortened when this test fails."""
    settings = {**settings_of("scrapy-deltafetch"), "ADDONS": {}}
    settings["SPIDER_MIDDLEWARES"] = {"scrapy_deltafetch.DeltaFetch": 50}
    crawl = run_crawl([], settings)
    [problem] = [text for _, level, text in crawl.log if level == "CRITICAL"]
    assert "doesn't support asynchronous spider output" in problem


def test_copies_of_pages_that_are_not_fetched_again_are_recognised(tmp_path):
    (tmp_path / "deltafetch.py").write_text(module_of("scrapy-deltafetch", "deltafetch.py"))
    links = "/ferry /copy /museum"
    pages = {
        "/ferry": page(FERRY),
        "/copy": page(FERRY, frame="2"),
        "/museum": page(MUSEUM),
        "/new-copy": page(FERRY, frame="3"),
    }
    settings = {
        **settings_of("scrapy-deltafetch"),
        "NEARDUP_STORE": f"sqlite:///{tmp_path / 'pages.sqlite'}",
        "DELTAFETCH_DIR": str(tmp_path / "deltafetch"),
        "CONCURRENT_REQUESTS": 1,
    }
    with serving(pages) as site:
        runs = []
        for more in "", " /new-copy":
            pages["/"] = page(BRIDGE, links=links + more)
            environment = {"PYTHONPATH": str(tmp_path)}
            runs.append(
                run_crawl([site.url()], settings, environment=environment, ignored=[DEPRECATED])
            )
    assert len(runs[0].stored) == 3
    assert runs[0].counts("items/")["dropped"] == 1
    # A page whose item was dropped as a duplicate counts as fetched, too.
    assert runs[1].stats["deltafetch/skipped"] == 3
    assert {site.hits[path] for path in links.split()} == {1}
    # The home page is the only one that was fetched again.
    assert runs[1].stored == [""]
    assert runs[1].counts("items/")["dropped"] == 1
