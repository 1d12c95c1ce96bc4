"""Crawls of distinct pages with equal text: scripts fill them, or embedded files differ."""

from __future__ import annotations

import json

import pytest

from tests.support.crawl import run_crawl
from tests.support.server import serving
from tests.unit.html.test_embedded_content import CARRIERS, two
from tests.unit.html.test_script_shells import SHELL

WARES = 40


def ware(number: int, root: str, title: str, data: str) -> str:
    about = {
        "@type": "Product",
        "name": f"Kettle {number}",
        "description": f"A kettle of steel for {number} litres of water, with a lid.",
    }
    state = {
        "next": f"<script id=__NEXT_DATA__ type=application/json>"
        f"{json.dumps({'props': {'pageProps': about}})}</script>",
        "product": f"<script type=application/ld+json>{json.dumps(about)}</script>",
        "none": "",
    }[data]
    body = SHELL.format(root=root, state=state)
    return f"<html><head><title>{title.format(number)}</title></head><body>{body}</body></html>"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("root", "title", "data"),
    [
        ("<main><h1>Ware</h1></main>", "Kettle {} | Shop", "next"),
        ("<main><h1>Ware</h1></main>", "Shop", "next"),
        ("<main><h1>Ware</h1></main>", "Shop", "product"),
        ("<div id=root></div>", "Shop", "none"),
        ("<div id=app></div>", "", "none"),
    ],
)
def test_all_products_of_a_scripted_shop_are_stored(root, title, data):
    pages = {f"/ware/{n}": ware(n, root, title, data) for n in range(WARES)}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], {"CONCURRENT_REQUESTS": 1})
    assert len(crawl.items) == WARES
    if data == "product":
        # What it shows is a text; what it holds tells it from the others.
        return
    assert crawl.counts("undecided/") == {"needs_scripts": WARES}
    said = [text for text in crawl.logged("WARNING") if text.startswith("Pages of 127.0.0.1 show")]
    assert [text.partition("<")[2].partition(">")[0] for text in said] == [site.url("/ware/2")]
    assert "render them" in said[0]


def test_pages_equal_but_for_a_file_or_a_value_are_all_stored():
    pages = {
        f"/{name.replace(' ', '-')}/{number}": html.replace("Wares", name)
        for name, markup in CARRIERS.items()
        for number, (_, html) in enumerate(two(markup))
    }
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages])
    assert len(crawl.items) == len(pages)


def test_items_of_a_short_text_are_all_stored():
    pages = {f"/{n}": "<p>Ware</p>" for n in range(10)}
    settings = {"NEARDUP_ITEM_FIELD": "text"}
    with serving(pages) as site:
        crawl = run_crawl(
            [site.url(path) for path in pages], settings, texts=["No description available."]
        )
    assert len(crawl.items) == 10
    assert crawl.counts("undecided/") == {"few_features": 10}
