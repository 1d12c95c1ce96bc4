"""Page objects of scrapy-poet."""

from __future__ import annotations

from tests.compatibility.shown import settings_of
from tests.support.crawl import run_crawl
from tests.support.server import serving
from tests.support.texts import FERRY, MUSEUM, page

PAGES = {
    "/ferry": page(FERRY),
    "/copy": page(FERRY, frame="2"),
    "/print": page(FERRY, frame="3"),
    "/museum": page(MUSEUM),
}


def test_page_objects_are_no_values_of_an_earlier_page():
    with serving(PAGES) as site:
        crawl = run_crawl(
            list(map(site.url, PAGES)),
            {**settings_of("scrapy-poet"), "CONCURRENT_REQUESTS": 1},
            spider="tests.compatibility.poet_spider.PoetSpider",
        )
    fetched = [path for path in crawl.stored if not path.startswith("unfetched")]
    assert fetched == ["ferry", "museum"]
    assert crawl.counts("items/")["dropped"] == 2
    assert "built_items" not in crawl.counts()
    # Nothing shows what a page has that was not downloaded: its item is kept.
    assert len(crawl.stored) == len(fetched) + len(PAGES)
    assert crawl.counts("skipped/") == {"not_text": len(PAGES)}
