"""Soft 404s in real crawls: hosts that answer every address, honest ones, and ones that do not."""

from __future__ import annotations

import json
import queue
import re
import threading
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

import pytest

from benchmarks.corpora.missing_pages import KINDS, SoftSites
from tests.support.crawl import run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, article, page, word

_CANNOT_EXIST = re.compile(r"/[0-9a-f]{32}")
REAL = [f"/real/{n}" for n in range(3)]
GONE = ["/gone/old-news", "/gone/kettle.html", "/2019/05/a-story"]
#: Each page is asked for once the one before it has been judged.
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1}


def sites_of(kinds):
    """Return a site for each kind, by their URLs: a home page that links to good and bad ones."""
    pages = {}
    for number, kind in enumerate(kinds):
        site = f"http://{kind.replace(' ', '-') or 'honest'}.example"
        pages[f"{site}/"] = page(
            " ".join(article(200, 1000 + number)), f"Home {number}", links=" ".join(REAL + GONE)
        )
        for n, path in enumerate(REAL):
            text = " ".join(article(200, 10 * number + n))
            pages[site + path] = page(text, f"Page {n} of {number}")
    return SoftSites(pages, {urlsplit(url).netloc: kind for url, kind in _kinds(pages, kinds)})


def _kinds(pages, kinds):
    homes = [url for url in pages if url.endswith("example/")]
    return zip(homes, kinds, strict=True)


def crawl_all(sites, **settings):
    starts = [url for url in sites if url.endswith("example/")]
    with serving(sites) as server:
        return run_crawl(
            starts,
            {"NEARDUP_SOFT_404": "drop", "ROBOTSTXT_OBEY": True, **settings},
            environment={"http_proxy": server.url()},
        )


def soft_urls(crawl):
    return {verdict["url"] for verdict in crawl.judged if verdict["reason"] == "soft_404"}


def test_every_kind_but_parked_domains_is_found_and_no_real_page():
    sites = sites_of(KINDS)
    crawl = crawl_all(sites, **ONE_BY_ONE)
    stored = set(crawl.stored)
    assert stored >= {path[1:] for path in REAL}
    assert len([item for item in crawl.items if "real" in item["path"]]) == len(REAL) * len(KINDS)
    assert not [url for url in soft_urls(crawl) if "/real/" in url or url.endswith("example/")]
    # The dupefilter keeps the redirects to the home page from it.
    # Pages of a parked domain have no notice, and might be the pages of a site; neither has the
    # kind that repeats the path, whose first page stays.
    total = len(GONE) * (len(KINDS) - 2) - 1
    assert not [url for url in soft_urls(crawl) if "parked" in url]
    counts = crawl.counts()
    # Shells are doubtful until the host has shown something else.
    assert counts["undecided/soft_404"] + counts["soft_404/late"] == total
    assert counts["soft_404/late"] <= len(GONE)
    assert counts["soft_404/soft"] == len(KINDS) - 1
    assert counts["soft_404/unclear"] == 1
    asked = [url for url in sites.asked_for if _CANNOT_EXIST.search(urlsplit(url).path)]
    assert len(asked) == counts["soft_404/asked"] == 2 * len(KINDS)
    assert {item["class"] for item in crawl.dropped} == {"SoftNotFound"}


@pytest.mark.slow
def test_an_honest_host_is_asked_once_and_nothing_else_changes():
    found = {}
    for mode in ("off", "drop"):
        sites = sites_of([""])
        found[mode] = crawl_all(sites, NEARDUP_SOFT_404=mode, CLOSESPIDER_PAGECOUNT=5)
        asked = [url for url in sites.asked_for if _CANNOT_EXIST.search(url)]
        assert len(asked) == (mode == "drop")
    off, drop = found["off"].counts(), found["drop"].counts()
    assert (drop.pop("soft_404/asked"), drop.pop("soft_404/honest")) == (1, 1)
    assert drop.keys() == off.keys()
    assert found["drop"].stats["finish_reason"] == found["off"].stats["finish_reason"]
    assert (
        found["drop"].stats["response_received_count"]
        == found["off"].stats["response_received_count"]
    )


def test_soft_404s_are_only_counted_where_that_is_asked_for():
    crawl = crawl_all(sites_of(["fixed text"]), NEARDUP_SOFT_404="report", **ONE_BY_ONE)
    assert {path for path in crawl.stored if not path.startswith("real")} == {
        "",
        *(path[1:] for path in GONE),
    }
    # The first one may come before the host has answered twice.
    assert len(soft_urls(crawl)) + crawl.counts("soft_404/").get("late", 0) == len(GONE)
    assert crawl.dropped == []


def test_a_soft_404_is_not_the_best_url_of_a_content(tmp_path):
    """Pages declare it as canonical; one it was redirected from shows nothing either."""
    site, declared = "http://fixed-text.example", ("/gone/x", "/gone/y")
    pages = dict(sites_of(["fixed text"]))
    for name, text, url in zip("xy", (FERRY, MUSEUM), declared, strict=True):
        head = f'<link rel="canonical" href="{url}"><title>'
        for path in (f"/{name}", f"/{name}?ref=1"):
            pages[site + path] = page(text, name).replace("<title>", head)
    links = f"/x /x?ref=1 {declared[0]} {declared[1]} /y /y?ref=1"
    pages[f"{site}/"] = page(" ".join(article(200, 1)), "Home", links=links)
    path = tmp_path / "copies.jsonl"
    sites = SoftSites(pages, {urlsplit(site).netloc: "fixed text"})
    crawl_all(sites, NEARDUP_COPIES=str(path), **ONE_BY_ONE)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["url"] for line in lines if line["reason"] == "soft_404"} == {
        site + url for url in declared
    }
    last = {line["cluster"]: line["canonical"] for line in lines if line["copies"]}
    assert sorted(last.values()) == [f"{site}/x", f"{site}/y"]


def test_the_front_page_is_not_dropped_for_a_soft_404_that_came_before():
    """It is asked for while the missing page is stored and the host has yet to answer."""
    has_home = threading.Event()
    home = page(FERRY, "Home")

    def late() -> bytes:
        has_home.wait(10)
        time.sleep(0.3)
        return home.encode()

    def front() -> bytes:
        has_home.set()
        return home.encode()

    class Pages(SoftSites):
        def __getitem__(self, url):
            if _CANNOT_EXIST.fullmatch(url):
                return Answer(late)
            return {"/": Answer(front), "/gone": home}.get(url, Answer(status=404))

    with serving(Pages({}, {})) as site:
        # The second one is asked for when the first one has been stored.
        crawl = run_crawl(
            [site.url("/gone"), site.url("/")],
            {"NEARDUP_SOFT_404": "drop", "DOWNLOAD_DELAY": 0.3},
        )
    assert crawl.stored == ["", "gone"]
    assert [(v["url"], v["kind"]) for v in crawl.judged] == [
        (site.url("/gone"), "new"),
        (site.url("/"), "new"),
    ]
    assert crawl.counts("soft_404/")["late"] == 1
    [warning] = crawl.logged("WARNING")
    assert "turned out to be soft 404s" in warning


def test_a_host_that_hangs_does_not_hold_the_crawl():
    is_over = threading.Event()
    waited: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def late():
        waited.put(is_over.wait(30))
        return b"late"

    class Pages(SoftSites):
        def __getitem__(self, url):
            if _CANNOT_EXIST.fullmatch(url):
                return Answer(late)
            return {"/": page(FERRY, "Ferry"), "/2": page(MUSEUM, "Museum")}.get(
                url, Answer(status=404)
            )

    with serving(Pages({}, {})) as site:
        crawl = run_crawl([site.url("/"), site.url("/2")], {"NEARDUP_SOFT_404": "drop"})
        assert waited.empty(), "the crawl waited for the answer"
        is_over.set()
        assert waited.get(timeout=30)
    assert crawl.stored == ["", "2"]
    assert crawl.counts("soft_404/") == {"asked": 1, "failed": 1}


class Section(SoftSites):
    """A site that is honest but for one section, and takes its time."""

    def __getitem__(self, url):
        if url not in self._pages and not urlsplit(url).path.startswith("/news/"):
            return Answer("not here", status=404)
        time.sleep(0.03)
        return super().__getitem__(url)


@pytest.mark.parametrize("kind", ["fixed text", "path echoed", "home page", "suggestions"])
def test_in_a_fast_crawl_pages_wait_for_the_answer_of_their_section(kind):
    site, gone = "http://news.example", [f"/news/gone-{n}" for n in range(30)]
    real = [f"/news/real-{n}" for n in range(4)]
    pages = {f"{site}/": page(" ".join(article(200, 1000)), "Home", links=" ".join(real + gone))}
    for n, path in enumerate(real):
        pages[site + path] = page(" ".join(article(200, n)), f"Real story {n}")
    crawl = crawl_all(Section(pages, {"news.example": kind}))
    assert set(crawl.stored) >= {path[1:] for path in ["/", *real]}
    # The second one of a kind shows that the section has to be asked.
    assert len(soft_urls(crawl)) >= len(gone) - 2
    assert crawl.counts("soft_404/")["late"] <= 2


class Answering(SoftSites):
    """A site one section of which shows one text at any address, and is slow to answer probes.

    :param folder: of the section.
    :param shown: what it shows.
    :param late: pages by path, each of which comes after the others.
    """

    def __init__(self, folder: str, shown: str, late: Mapping[str, str]) -> None:
        super().__init__({}, {})
        self.folder, self.shown, self.late = folder, shown, late

    def __getitem__(self, url):
        path = urlsplit(url).path
        if path in self.late:
            time.sleep(0.8)
            return self.late[path]
        if not path.startswith(self.folder):
            return Answer("not here", status=404)
        if _CANNOT_EXIST.search(path):
            time.sleep(0.7)
        return self.shown


OWN = " ".join(article(200, 9))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/", page(OWN, "Our shop")),
        ("/p/", page(OWN, "Our shop")),
        ("/p/real", page(f"{OWN} {' '.join(article(6, 777))}", "Our shop")),
    ],
)
def test_a_page_is_no_copy_of_what_turns_out_to_be_a_soft_404_meanwhile(path, content):
    sites = Answering("/p/", page(OWN, "Our shop"), {path: content})
    with serving(sites) as server:
        crawl = run_crawl(
            [
                f"http://shop.example{each}"
                for each in ("/p/gone-1", "/p/gone-2", "/p/gone-3", path)
            ],
            {"NEARDUP_SOFT_404": "drop", "CONCURRENT_REQUESTS_PER_DOMAIN": 16},
            environment={"http_proxy": server.url()},
        )
    assert path[1:] in crawl.stored
    assert crawl.counts("soft_404/")["late"] == 1
    assert [item["class"] for item in crawl.dropped] == ["SoftNotFound"] * 2


def test_the_page_that_a_site_shows_for_any_address_stays_when_a_section_is_asked():
    site, products = "http://shop.example", page(OWN, "All our products")
    gone = [f"/news/gone-{n}" for n in range(4)]
    links = " ".join([*gone, "/gone", "/products"])

    class Pages(SoftSites):
        def __getitem__(self, url):
            path = urlsplit(url).path
            if path == "/":
                return page(" ".join(article(200, 1000)), "Home", links=links)
            if path == "/robots.txt":
                return Answer("not here", status=404)
            notice = "This story has gone, page not found"
            return page(FERRY, notice) if path.startswith("/news/") else products

    with serving(Pages({}, {})) as server:
        crawl = run_crawl(
            [f"{site}/"],
            {"NEARDUP_SOFT_404": "drop", **ONE_BY_ONE},
            environment={"http_proxy": server.url()},
        )
    assert {"", "products"} <= set(crawl.stored)
    late = [text for text in crawl.logged("WARNING") if "turned out" in text]
    assert "/products" not in " ".join(late)
    assert crawl.counts("soft_404/").get("late", 0) <= 1


@pytest.mark.slow
def test_pages_that_wait_for_a_host_do_not_hold_those_of_others():
    large = {f"http://bad.example/{n}": article(200, n) for n in range(6)}
    quick = {f"http://h{n}.example/a": article(200, 100 + n) for n in range(20)}
    filler = f"<!--{'x' * 1_000_000}-->"
    pages = {url: page(" ".join(t) + filler, t[0]) for url, t in large.items()}
    pages |= {url: page(" ".join(t), t[0]) for url, t in quick.items()}
    is_over, asked = threading.Event(), []

    class Pages(SoftSites):
        def __getitem__(self, url):
            if _CANNOT_EXIST.search(url) and "bad.example" in url:
                # Pages would wait longer.
                is_over.wait(4.5)
                asked.append(url)
            elif url in quick:
                asked.append(url)
                if len(asked) == len(quick):
                    is_over.set()
            return super().__getitem__(url)

    with serving(Pages(pages, {})) as server:
        crawl = run_crawl(
            list(pages),
            {"NEARDUP_SOFT_404": "drop", "CONCURRENT_REQUESTS": 16},
            environment={"http_proxy": server.url()},
        )
    assert "bad.example" not in " ".join(asked[: len(quick)])
    assert len(crawl.stored) == len(pages)


@pytest.mark.slow
def test_the_answers_come_before_the_pages_that_wait_for_a_slow_site():
    site = "http://fixed-text.example"
    links = " ".join(f"/gone/{n}" for n in range(10))
    pages = {f"{site}/": page(" ".join(article(200, 1)), "Home", links=links)}
    sites = SoftSites(pages, {"fixed-text.example": "fixed text"})
    crawl = crawl_all(sites, DOWNLOAD_DELAY=0.2)
    asked = [bool(_CANNOT_EXIST.search(url)) for url in sites.asked_for if "robots" not in url]
    # All links may be waiting when the home page has been read.
    assert asked[:4].count(True) == 2
    assert crawl.counts("soft_404/").get("late", 0) <= 2
    assert len(soft_urls(crawl)) >= 8


@pytest.mark.slow
def test_a_crawl_of_one_page_waits_for_the_answer_as_long_as_the_site_asks_for():
    sites = SoftSites({"http://shop.example/": page(FERRY, "Ferry")}, {})
    crawl = crawl_all(sites, DOWNLOAD_DELAY=2)
    assert crawl.counts("soft_404/") == {"asked": 1, "honest": 1}


def test_a_host_whose_robots_txt_forbids_it_is_not_asked():
    robots = Answer("User-agent: *\nDisallow: /\nAllow: /page", "text/plain")
    pages: dict[str, Answer | str] = {"/robots.txt": robots, "/page": page(FERRY, "Ferry")}
    with serving(pages) as site:
        crawl = run_crawl([site.url("/page")], {"NEARDUP_SOFT_404": "drop", "ROBOTSTXT_OBEY": True})
    assert set(site.hits) == {"/robots.txt", "/page"}
    assert crawl.counts("soft_404/") == {"asked": 1, "failed": 1}
    assert crawl.stored == ["page"]


class Found(SoftSites):
    """A site that is honest but for its search, which answers any name with the status 200.

    :param title: of such an answer.
    """

    def __init__(self, pages: Mapping[str, Answer | str], title: str) -> None:
        super().__init__(pages, {})
        self.title = title

    def __getitem__(self, url):
        name = urlsplit(url).path.removeprefix("/find/")
        if url in self._pages or "/" in name:
            return super().__getitem__(url)
        title = self.title.format(name)
        return page(f"We have looked everywhere. {' '.join(article(40, 1))}", f"{title} | Shop")


@pytest.mark.parametrize("missing", ["No results for {}", "{}"])
def test_a_section_whose_notice_repeats_the_name_is_asked(missing):
    site = "http://shop.example"
    names = [f"{word(n)}-{word(n + 1)}" for n in range(6)]
    kept = [f"/find/{word(n)}" for n in range(20, 26)]
    links = " ".join([*kept, *(f"/find/{name}" for name in names)])
    pages = {f"{site}/": page(" ".join(article(200, 1)), "Home", links=links)}
    for n, path in enumerate(kept):
        title = f"12 results for {path.removeprefix('/find/')} | Shop"
        pages[site + path] = page(" ".join(article(60, 100 + n)), title)
    # The section answers at the end of the crawl, which waits for it.
    crawl = crawl_all(Found(pages, missing))
    assert crawl.counts("soft_404/")["soft"] == 1
    late = crawl.counts("soft_404/")["late"]
    # The first page of an answer that does not say that it is missing stays.
    assert len(soft_urls(crawl)) + late >= len(names) - 1
    assert set(crawl.stored) >= {path[1:] for path in kept}
    assert not soft_urls(crawl) & {site + path for path in kept}


class Tagged(SoftSites):
    """A site that is honest but for its tags."""

    def __init__(self, pages: Mapping[str, Answer | str], heading: str) -> None:
        super().__init__(pages, {})
        self.heading = heading

    def __getitem__(self, url):
        path = urlsplit(url).path
        if url in self._pages or not path.startswith("/tag/"):
            return super().__getitem__(url)
        text = f"<h1>{self.heading}</h1><p>There is nothing about {path.rpartition('/')[2]}</p>"
        return f"<html><title>{self.heading}</title><body>{text}</body></html>"


@pytest.mark.parametrize(("heading", "outcome"), [("Tag not found", "soft"), ("Posts", "unclear")])
def test_a_section_of_lists_is_known_by_a_notice_or_named(heading, outcome):
    site, names = "http://shop.example", [word(n) for n in range(6)]
    links = " ".join(f"/tag/{name}" for name in names)
    pages = {f"{site}/": page(" ".join(article(200, 1)), "Home", links=links)}
    crawl = crawl_all(Tagged(pages, heading))
    counts = crawl.counts("soft_404/")
    n_found = len(names) if outcome == "soft" else 0
    assert (counts[outcome], len(soft_urls(crawl)) + counts.get("late", 0)) == (1, n_found)
    unclear = [text for text in crawl.logged("WARNING") if "cannot be told" in text]
    assert len(unclear) == (outcome == "unclear")
    assert ("are soft 404s" in " ".join(crawl.logged("INFO"))) == (outcome == "soft")


WALL = "Please log in to go on reading. " + " ".join(article(30, 3))


@pytest.mark.parametrize(
    ("title", "reference"),
    [
        ("Log in", ""),
        ("Log in to read page {}", ""),
        ("Log in - the page of day {}", ""),
        (
            "Too many requests",
            "Reference 18.2d351ab8.15573332{0}.a4e16ab{0}, your IP 203.0.113.{0}",
        ),
    ],
)
def test_a_wall_is_noticed_within_ten_pages(title, reference):
    pages = {f"/{n}": page(f"{WALL} {reference.format(n)}", title.format(n)) for n in range(12)}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], ONE_BY_ONE)
    [warning] = crawl.logged("WARNING")
    assert warning.startswith("8 of the first 8 pages of 127.0.0.1 show one text, such as <")
    assert "log the spider in" in warning
    assert crawl.counts("swallowed/") == {"clusters": 1, "pages": 12}


def test_pages_of_a_register_are_no_wall():
    """They differ in their numbers alone."""
    pages = {f"/{n}": page(f"{WALL} Lot {417 + n}.", f"Lot {417 + n}") for n in range(30)}
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages], ONE_BY_ONE)
    assert crawl.logged("WARNING") == []
    assert crawl.counts("swallowed/") == {}
