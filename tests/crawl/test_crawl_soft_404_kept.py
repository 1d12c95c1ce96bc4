"""Real pages that look like soft 404s, in real crawls: not one of them may be lost."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from itertools import count
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.crawl import run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import article, page, word

CANNOT_EXIST = re.compile(r"/[0-9a-f]{32}")
N_PAGES = 6
#: The site shows one of its pages for any other address; no two answers in a row are the same.
_LATER = 3
_FRAME = "Home News About us Contact Terms of delivery Imprint All rights reserved"


def text(seed, words=60):
    return " ".join(article(words, seed)).capitalize() + "."


def framed(title, main, head=""):
    return (
        f"<html><head><title>{title}</title>{head}</head><body><nav>{_FRAME}</nav>"
        f"<main>{main}</main></body></html>"
    )


def name_of(path):
    return urlsplit(path).path.rpartition("/")[2].replace("-", " ")


def ware(number):
    return f"<li>{text(500 + number, 5)} <b>{number}.50 EUR</b></li>"


def state(number):
    return f"<script>var state = {{token: 'x{number * 7919}', ware: {number}}}</script>"


#: The page with a number at a path, by what such pages are.
CONTENTS: Mapping[str, Callable[[int, str], str]] = {
    "quotes": lambda n, path: framed("Quotes", f"<q>{text(n, 24)}</q><p>{text(90 + n, 2)}</p>"),
    "posts": lambda n, path: framed("Blog", f"<h2>{text(n, 4)}</h2><p>{text(n)}</p>"),
    "pictures": lambda n, path: framed("Gallery", f"<img src=/img/{n}.jpg><p>Next picture</p>"),
    "wares": lambda n, path: framed("Shop", f"<ul>{''.join(map(ware, range(n, n + 5)))}</ul>"),
    "numbers": lambda n, path: framed(
        "Phone book", f"<p>Number {n * 1013} belongs to {n * 77}</p>"
    ),
    "one word": lambda n, path: framed("Capitals", f"<p>The capital of it is {word(n)} today</p>"),
    "data": lambda n, path: framed("Shop", "<div id=app></div>", state(n)),
    "weather": lambda n, path: framed(
        "Weather now", f"<h1>{name_of(path)}</h1><p>{n * 2} degrees</p><p>Wind {n * 3 + 1} km/h</p>"
    ),
    "glossary": lambda n, path: framed(
        f"{name_of(path)} | Glossary", f"<h1>{name_of(path)}</h1><p>{text(n, 14)}</p>"
    ),
    "buses": lambda n, path: framed(
        f"Stop {name_of(path)}", f"<h1>{name_of(path)}</h1><p>The next bus leaves at {n + 5}:15</p>"
    ),
}


class Sites(Mapping[str, Answer | str]):
    """Pages by their URLs; each host makes up an answer for every other address."""

    def __init__(self, pages, answers):
        self._pages = pages
        self._answers = answers

    def __getitem__(self, url):
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return Answer(status=404)
        return self._pages.get(url) or self._answers[parts.netloc](url)

    def __iter__(self):
        return iter(self._pages)

    def __len__(self):
        return len(self._pages)


def varying(kind):
    """Return an answer that shows each time the next one of the site's pages."""
    numbers = count(_LATER)
    return lambda url: CONTENTS[kind](next(numbers) % N_PAGES, urlsplit(url).path)


def crawl_all(starts, pages, answers, **settings):
    with serving(Sites(pages, answers)) as server:
        return run_crawl(
            starts,
            {"NEARDUP_SOFT_404": "drop", "NEARDUP_ACTION": "tag", **settings},
            environment={"http_proxy": server.url()},
        )


@pytest.fixture(scope="module")
def crawl_of_contents():
    """Return a crawl of all such sites, in which only soft 404s are dropped."""
    pages, answers = {}, {}
    for number, (kind, content) in enumerate(CONTENTS.items()):
        host = f"{kind.replace(' ', '-')}.example"
        paths = [f"/page/{word(n + 10)}" for n in range(N_PAGES)]
        for n, path in enumerate(paths):
            pages[f"http://{host}{path}"] = content(n, path)
        pages[f"http://{host}/about"] = page(text(1000 + number), f"About {number}")
        links = " ".join(["/about", *paths])
        pages[f"http://{host}/"] = page(text(2000 + number), f"Home {number}", links=links)
        answers[host] = varying(kind)
    # Its front page is one of its pages too.
    del pages["http://quotes.example/"]
    home = varying("quotes")
    pages["http://quotes.example/all"] = page(text(1), "All", links=" ".join(["/about", *paths]))
    answers["quotes.example"] = home
    starts = [url for url in pages if url.endswith(("example/", "/all"))]
    return crawl_all(["http://quotes.example/", *starts], pages, answers), pages


@pytest.mark.parametrize("kind", CONTENTS)
def test_pages_with_a_content_in_the_place_of_what_differs_are_kept(kind, crawl_of_contents):
    crawl, pages = crawl_of_contents
    site = f"http://{kind.replace(' ', '-')}.example/"
    reasons = {v["url"]: v["reason"] for v in crawl.judged if v["url"].startswith(site)}
    assert reasons.keys() >= {url for url in pages if url.startswith(site)}
    assert "soft_404" not in reasons.values()
    assert not [text for text in crawl.logged("WARNING") if f" {site[7:-1]} turned out" in text]


def test_hosts_whose_answers_say_nothing_are_named_once(crawl_of_contents):
    crawl, _ = crawl_of_contents
    counts = crawl.counts("soft_404/")
    # A slow machine ends the crawl before the last hosts have answered.
    assert counts["unclear"] + counts.get("failed", 0) == len(CONTENTS) < 2 * counts["unclear"]
    warnings = [text for text in crawl.logged("WARNING") if "cannot be told from" in text]
    assert len(warnings) == counts["unclear"]
    assert crawl.dropped == []


def moved(url, path):
    """Return a redirect; that of a linked page comes once the host has answered twice."""

    def late() -> bytes:
        time.sleep(0.4)
        return b""

    headers = {"Location": f"http://{urlsplit(url).netloc}{path}"}
    return Answer(b"" if CANNOT_EXIST.search(url) else late, status=301, headers=headers)


def found_by_search(url):
    """Return what an address leads to: the pages that a search for its name finds."""
    parts = urlsplit(url)
    if parts.path != "/search":
        return moved(url, f"/search?q={name_of(url)}")
    term = parse_qs(parts.query)["q"][0]
    if len(term) > 8:
        return page("Nothing was found.", f"{term}: no results")
    return page(text(sum(map(ord, term))), f"{term}: 12 results")


def to_shop(url):
    return moved(url, "/shop")


TERMS = "anchor bridge candle".split()


@pytest.mark.parametrize(
    ("answer", "linked", "paths"),
    [
        (to_shop, "/a /b /shop-old", ["", "a", "b", "shop"]),
        (
            found_by_search,
            " ".join(f"/{t}" for t in TERMS),
            ["", *(f"search?q={t}" for t in TERMS)],
        ),
    ],
)
def test_pages_to_which_addresses_are_redirected_are_kept(answer, linked, paths):
    site = "http://moved.example"
    pages = {
        f"{site}/": page(text(1), "Home", links=linked),
        f"{site}/shop": page(text(2), "Shop"),
        **{f"{site}/{name}": page(text(ord(name)), name, links="/shop") for name in "ab"},
    }
    crawl = crawl_all([f"{site}/"], pages, {"moved.example": answer}, CONCURRENT_REQUESTS=1)
    assert crawl.stored == paths
    assert crawl.counts("soft_404/")["soft"] == 1
