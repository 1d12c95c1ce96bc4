"""Pages beside what their site answers to addresses that do not exist."""

from __future__ import annotations

import random
from urllib.parse import unquote

import pytest
from scrapy.http import Request

from scrapy_neardup.crawl.responses import outline_of
from scrapy_neardup.crawl.soft_404.front_page import is_front_page
from scrapy_neardup.crawl.soft_404.hosts import (
    Answer,
    Host,
    Section,
    Visit,
)
from scrapy_neardup.crawl.soft_404.probe import missing_address
from scrapy_neardup.crawl.soft_404.template import AnswerTemplate
from scrapy_neardup.html.limits import PageLimits
from scrapy_neardup.html.page_outline import page_outline
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.record import Record
from tests.support.texts import FERRY, article, word

SITE = "http://shop.example"
TOKENS = "3f8a6c0d5e7b41929d0c8a7b6e5f4d3c", "b17e0c5a99d84e21a6f3027c4d8e9b10"
WARES = "kettle lamp chair table spoon mirror carpet curtain".split()


def framed(title, main):
    return (
        f"<html><head><title>{title}</title></head><body><nav>Home</nav><main>{main}</main>"
        "<footer>Imprint</footer></body></html>"
    )


NOTICE = "<h1>What you are looking for was not found</h1>"


def suggested():
    chosen = random.sample(WARES, random.randint(3, 5))
    return "<ul>" + "".join(f"<li>{w} <b>{random.randint(1, 99)} €</b>" for w in chosen) + "</ul>"


def visit(path, html, requested=None):
    record = Record(path, SITE + path, html)
    return Visit(record, SITE + (requested or path))


def is_soft(host, path, html, requested=None):
    page = visit(path, html, requested)
    return host.fits(page, outline_of(page.record, PageLimits()))


def host_with(answer, folder="/"):
    """Return a host that gives such answers below a folder, and whose front page is known."""
    pages = [(token, page_outline(answer(f"{folder}{token}"), PageLimits())) for token in TOKENS]
    host = Host("shop.example", Request(SITE), is_honest=False)
    template = AnswerTemplate.of(pages)
    assert template is not None
    host.answers.append(Answer(Section(folder, ""), template, 1000))
    assert not is_soft(host, "/", framed("Welcome", "<p>The shop of all shops</p>"))
    return host


FIXED = framed("Shop", "<h1>Not found</h1>")


@pytest.mark.parametrize(
    ("main", "is_found"),
    [
        ("<h1>Not found</h1>", True),
        ("<h1>Not found</h1><p>Sold.</p>", False),
        ("<p>Sold.</p>", False),
        ("<h1>Not found</h1><img src=kettle.jpg>", False),
        ('<h1>Not found</h1><script type="application/json">{"name": "Kettle"}</script>', False),
    ],
)
def test_nothing_of_a_soft_404_is_its_own(main, is_found):
    assert is_soft(host_with(lambda path: FIXED), "/kettle", framed("Shop", main)) is is_found


def echoing(path):
    name = path.strip("/")
    return framed(
        f"{name} | Shop", f"<p>{name[:8]}… is missing</p><p>{SITE}{path} was moved</p><b>{name}</b>"
    )


@pytest.mark.parametrize(
    ("path", "main", "is_found"),
    [
        (
            "/old-ware",
            "<p>Old ware… is missing</p><p>{}/old-ware was moved</p><b>Old Ware</b>",
            True,
        ),
        (
            "/old-ware",
            "<p>old-ware… is missing</p><p>{}/new-ware was moved</p><b>Old Ware</b>",
            False,
        ),
        (
            "/old-ware",
            "<p>Old ware… is missing</p><p>{}/old-ware was sold</p><b>Old Ware</b>",
            False,
        ),
    ],
)
def test_only_the_own_address_may_be_repeated(path, main, is_found):
    page, host = framed("Old ware | Shop", main.format(SITE)), host_with(echoing)
    # Without a notice in title or heading, the first page that shows it may be what it shows.
    assert not is_soft(host, "/first", echoing("/first"))
    assert is_soft(host, path, page) is is_found


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        ("<p>Similar wares</p>", "", True),
        ("<p>Similar wares</p><p>A short text</p>", "", False),
        ("<p>Similar wares</p>", "<p>A short text</p>", False),
        ("<h1>Kettle</h1><p>Similar wares</p>", "", False),
        ("<p>Kettles</p>", "", False),
    ],
)
def test_suggestions_may_differ_in_their_place(before, after, is_found):
    random.seed(before + after)
    for _ in range(20):
        page = framed("Shop", f"{NOTICE}{before}{suggested()}{after}")
        host = host_with(lambda path: framed("Shop", f"{NOTICE}<p>Similar wares</p>{suggested()}"))
        assert is_soft(host, "/kettle", page) is is_found


def test_times_of_day_may_differ_even_if_two_answers_came_within_one_second():
    def served(at, day="25 Nov"):
        return framed("Gone", f"<p>Sorry</p><small>Served on {day}, {at}</small>")

    host = host_with(lambda path: served("12:03:55"))
    assert is_soft(host, "/kettle", served("12:04:01"))
    assert not is_soft(host, "/kettle", served("12:04:01", "on order"))


@pytest.mark.parametrize("title", ["Timetable", "Missing Link"])
def test_without_a_notice_that_pages_lack_no_time_of_day_may_differ(title):
    def leaving(at):
        return framed(title, f"<h1>The next bus</h1><p>It leaves at {at}</p>")

    host = Host("shop.example", Request(SITE))
    pages = [(token, page_outline(leaving("0:00"), PageLimits())) for token in TOKENS]
    template = AnswerTemplate.of(pages)
    assert template is not None
    host.answers.append(Answer(Section("/", ""), template, 1000))
    assert not is_soft(host, "/", framed(title, "<p>All the buses</p>"))
    assert not any(is_soft(host, f"/stop/{n}", leaving(f"{n}:15")) for n in range(9))


def test_a_page_of_which_most_differs_has_a_content_under_any_notice():
    def random_post(n):
        return page_outline(framed("Not found", f"<p>{word(n) * 40}</p>"), PageLimits())

    assert AnswerTemplate.of([(t, random_post(n)) for n, t in enumerate(TOKENS)]) is None


def test_the_first_page_that_shows_an_answer_without_a_notice_stays():
    wares = framed("All wares", "<p>Kettles, lamps and chairs</p>")
    host = host_with(lambda path: wares)
    assert [is_soft(host, path, wares) for path in ("/a", "/b", "/a")] == [False, True, False]
    host = host_with(lambda path: wares)
    host.note_move(TOKENS[0], f"{SITE}/wares")
    assert not is_soft(host, "/wares", wares)
    assert is_soft(host, "/wares", wares, requested="/old")


@pytest.mark.parametrize(
    ("main", "is_found"),
    [
        ("<h1>Tag not found</h1><p>There is no {}</p>", True),
        # The list may be there, and empty.
        ("<h1>Posts about {}</h1><p>There are none</p>", False),
    ],
)
def test_a_list_is_missing_only_if_it_says_so(main, is_found):
    def tagged(path):
        return framed("Tags", main.format(path.rpartition("/")[2]))

    host = host_with(tagged, "/tag/")
    paths = [f"/tag/{ware}" for ware in WARES]
    assert [is_soft(host, path, tagged(path)) for path in paths] == [is_found] * len(paths)
    post = "<p>Kettles are back</p></main>"
    assert not is_soft(host, "/tag/kettle", tagged("/tag/kettle").replace("</main>", post))
    assert not is_soft(host, "/tag/", tagged("/tag/"))


def test_the_front_page_stays_and_other_addresses_that_show_it_do_not():
    home = framed("Welcome", "<p>The shop of all shops</p>")
    host = host_with(lambda path: home)
    assert [
        is_soft(host, path, home) for path in ("/", "/index.html", "/en/", "/?utm=1", "/a")
    ] == [
        *(False,) * 4,
        True,
    ]
    host.moved_to.add(f"{SITE}/")
    assert is_soft(host, "/", home, requested="/gone")
    assert not is_soft(host, "/", home)
    # What redirects to it may be the only way to it.
    new = Host("shop.example", Request(SITE), moved_to={f"{SITE}/"})
    assert not is_soft(new, "/", home, requested="/gone")


def test_shells_are_soft_404s_only_beside_other_pages():
    shell = "<html><title>Shop</title><body><div id=root></div><script src=/app.js></script></html>"
    host = host_with(lambda path: shell)
    assert not any(is_soft(host, f"/ware/{n}", shell) for n in range(5))
    assert host.take_confirmed(at_end=True) == []
    for n in range(2):
        assert not is_soft(host, f"/page/{n}", framed(f"Page {n}", f"<p>Text {n}</p>"))
    assert len(host.take_confirmed()) == 5
    assert is_soft(host, "/ware/6", shell)


@pytest.mark.parametrize(
    ("url", "folder", "missing"),
    [
        ("https://a.example", "/", "https://a.example/T"),
        ("https://a.example/blog/post-1/?x=1", "/", "https://a.example/T/"),
        ("https://a.example/news/1.html", "/news/", "https://a.example/news/T.html"),
        ("https://a.example/v1.2", "/", "https://a.example/T"),
    ],
)
def test_missing_addresses_have_the_form_of_others(url, folder, missing):
    assert missing_address(url, "T", folder) == missing
    assert not is_front_page(missing) or missing.endswith("T")


@pytest.mark.parametrize(
    ("title", "paths", "is_twice"),
    [
        ("Not found", ("/a/old-lamp", "/a/red-kettle"), True),
        ("No results for {}", ("/a/old-lamp", "/a/red-kettle"), True),
        ("No results for {} | Shop", ("/a/old_lamp.html", "/a/red%20kettle/"), True),
        # Titles of contents: nothing but a name, beside that of the site, and numbers.
        ("{}", ("/a/old-lamp", "/a/red-kettle"), False),
        ("{} | Shop", ("/a/old-lamp", "/a/red-kettle"), False),
        ("The {}", ("/a/old-lamp", "/a/red-kettle"), False),
        ("Results of day {}", ("/a/17", "/a/18"), False),
        ("No results for this", ("/a/old-lamp", "/a/old-lamp"), False),
    ],
)
def test_sections_that_repeat_a_title_are_asked(title, paths, is_twice):
    host, section = Host("shop.example", Request(SITE), is_honest=True), Section("/a/", "")
    names = [unquote(path).rstrip("/").removeprefix("/a/").partition(".")[0] for path in paths]
    shown = [title.format(name.replace("-", " ").replace("_", " ").title()) for name in names]
    assert not host.has_title_twice(section, shown[0], SITE + paths[0])
    assert host.has_title_twice(section, shown[1], SITE + paths[1]) is is_twice


@pytest.mark.parametrize(
    ("title", "text", "paths", "is_twice"),
    [
        ("{}", "Nobody knows {}. " + FERRY, ("/a/old-lamp", "/a/red-kettle"), True),
        ("{} | Shop", "Nobody knows {}. " + FERRY, ("/a/old-lamp", "/a/red-kettle"), True),
        ("{} | Shop", FERRY, ("/a/old-lamp", "/a/old-lamp"), False),
        ("{} | Shop", None, ("/a/old-lamp", "/a/red-kettle"), False),
        # A number may be that of a content.
        ("Lot {}", FERRY, ("/a/17", "/a/18"), False),
    ],
)
def test_sections_of_alike_pages_whose_titles_are_their_names_are_asked(
    title, text, paths, is_twice
):
    host, section = Host("shop.example", Request(SITE), is_honest=True), Section("/a/", "")
    found = []
    for number, path in enumerate(paths):
        name = path.removeprefix("/a/").replace("-", " ")
        shown = text.format(name) if text else " ".join(article(60, number))
        page = Signer(secret=bytes(16)).sign_html(SITE + path, framed(title.format(name), shown))
        found.append(host.has_title_twice(section, title.format(name), SITE + path, page))
    assert found == [False, is_twice]
