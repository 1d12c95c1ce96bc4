"""Pages that differ outside their text, and pages with little text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scrapy
from scrapy.http import Response

from benchmarks.corpora import articles
from tests.promises.harness import (
    HOME,
    Answer,
    Asked,
    PromiseSpider,
    Site,
    bare,
    full,
    paragraph,
    situation,
    words,
)

ARTICLE = Path(articles.__file__).with_name("articles") / "en-techblog-queue-latency.txt"


@situation(contents=10)
def wares_with_titles_of_their_own_that_scripts_fill(site: Site) -> Any:
    for n in range(10):
        state = {"props": {"name": f"Ware {words(3, n)}", "text": words(40, n)}}
        shell = (
            f"<html><head><title>{words(3, n)} - Shop</title></head><body><div id=__next>"
            f"<section><h2>Why buy here</h2><p>{paragraph(words(60, 'benefits'))}</p></section>"
            "<div class=reviews>No reviews yet</div></div><noscript>Please enable JavaScript to "
            "use this shop</noscript><div class=cookies>We use cookies. Accept all</div>"
            f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>'
        )
        site.put(f"/ware/{n}", shell, f"ware {n}")
    site.index()
    return PromiseSpider


@situation(contents=10)
def wares_of_one_title_that_scripts_fill(site: Site) -> Any:
    for n in range(10):
        state = {"props": {"name": f"Ware {words(3, n)}", "text": words(40, n)}}
        shell = (
            "<html><head><title>Shop</title></head><body><div id=__next>"
            f"<p>{paragraph(words(60, 'benefits'))}</p></div>"
            f'<script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>'
        )
        site.put(f"/ware/{n}", shell, f"ware {n}")
    site.index()
    return PromiseSpider


def _equal_but_for(name: str, difference: Callable[[int], str]) -> None:
    """A situation of pages that have one title, one text, and one difference in the article."""

    def build(site: Site) -> Any:
        for n in range(6):
            more = difference(n)
            site.put(f"/page/{n}", full(words(100, "same"), "Data sheets", more), f"page {n}")
        site.index()
        return PromiseSpider

    build.__name__ = f"pages_equal_but_for_{name}"
    build.__module__ = __name__
    situation(contents=6)(build)


_DIFFERENCES: dict[str, Callable[[int], str]] = {
    "the_document_they_link_to": lambda n: f'<p><a href="/files/{words(1, n)}.pdf">Download</a>',
    "the_alternative_text_of_a_picture": lambda n: f'<img src="/x.png" alt="{words(4, n)}">',
    "a_srcset": lambda n: f'<img src="/x.png" srcset="/{words(1, n)}-800.jpg 800w">',
    "the_sources_of_a_picture": lambda n: (
        f'<picture><source srcset="/{words(1, n)}.webp"><img src="/x.png"></picture>'
    ),
    "a_picture_that_is_loaded_lazily": lambda n: (
        f'<img src="/x.png" data-src="/{words(1, n)}.jpg" loading="lazy">'
    ),
    "an_iframe": lambda n: f'<iframe src="https://player.example/{words(1, n)}"></iframe>',
    "an_object": lambda n: f'<object data="/plans/{words(1, n)}.pdf"></object>',
    "an_inline_svg": lambda n: (
        f'<svg viewBox="0 0 9 9"><path d="M{n} {n * 7 % 9}L9 9"/><text>{words(2, n)}</text></svg>'
    ),
    "the_values_of_inputs": lambda n: f'<form><input name="sku" value="{words(1, n)}"></form>',
    "structured_data": lambda n: (
        '<script type="application/ld+json">'
        + json.dumps({"@type": "Product", "name": words(2, n), "sku": words(1, n)})
        + "</script>"
    ),
    "state_in_a_script": lambda n: (
        f"<script>window.__STATE__ = {json.dumps({'id': n, 'text': words(30, n)})};</script>"
    ),
    "state_in_an_attribute": lambda n: f"<div data-props='{json.dumps({'text': words(9, n)})}'/>",
    "a_video": lambda n: f'<video src="/{words(1, n)}.mp4" poster="/x.png"></video>',
}
for _name, _difference in _DIFFERENCES.items():
    _equal_but_for(_name, _difference)


@situation(contents=8)
def frames_of_which_only_the_source_differs(site: Site) -> Any:
    for n in range(8):
        frames = (
            f'<html><head><title>Manual</title></head><frameset cols="20%,80%">'
            f'<frame src="/menu.html"><frame src="/chapter-{words(1, n)}.html"><noframes>'
            f"<body>{paragraph(words(40, 'noframes'))}</body></noframes></frameset></html>"
        )
        site.put(f"/manual/{n}", frames, f"chapter {n}")
    site.index()
    return PromiseSpider


@situation(contents=8)
def pages_of_a_gallery_with_one_short_caption(site: Site) -> Any:
    for n in range(8):
        picture = f'<img src="/photos/{words(1, n)}.jpg">'
        site.put(f"/photo/{n}", bare("a photo of the harbour", "Gallery", picture), f"photo {n}")
    site.index()
    return PromiseSpider


class WithDescription(PromiseSpider):
    """Wares with a description, several a page."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for ware in response.css("li.ware"):
            yield {
                "content": ware.css("h2::text").get(),
                "description": " ".join(ware.css("p::text").getall()),
            }
        yield from self.links(response)


@situation(contents=10, NEARDUP_ITEM_FIELD="description")
def items_that_share_a_short_description(site: Site) -> Any:
    wares = "".join(
        f"<li class=ware><h2>ware {n}</h2><p>No description available.</p>" for n in range(10)
    )
    site.put("/", f"<title>Shop</title><ul>{wares}</ul>")
    return WithDescription


@situation(contents=6, finds=6, NEARDUP_ITEM_FIELD="description")
def items_that_are_listed_twice_with_a_long_description(site: Site) -> Any:
    wares = "".join(
        f"<li class=ware><h2>ware {n}</h2><p>{paragraph(words(90, n))}</p>" for n in range(6)
    )
    for path in "/all", "/sale":
        site.put(path, f"<title>Shop {path}</title><ul>{wares}</ul>")
    site.index()
    return WithDescription


# Documented: pages of one site with one title that differ in a few words are taken for copies. What
# differs must stand in the title, then; in these it does.


def _templated(site: Site, titles: list[str], family: int | None = None) -> Any:
    """Pages whose text is a template into which the title is put four times.

    :param family: so many pages after each other have a template of their own.
    """
    for n, title in enumerate(titles):
        text = words(300, ("template", family and n // family)).split()
        for place in 100, 70, 40, 10:
            text[place:place] = title.split()
        site.put(f"/page/{n}", full(" ".join(text), f"{title} | Shop"), title)
    site.index()
    return PromiseSpider


@situation(contents=12)
def wares_whose_titles_differ_in_a_model_number(site: Site) -> Any:
    return _templated(site, [f"Kettle X{n}00" for n in range(1, 13)], family=3)


@situation(contents=12)
def wares_whose_titles_differ_in_a_price(site: Site) -> Any:
    return _templated(site, [f"Kettle for {n}9.90 EUR" for n in range(1, 13)], family=3)


@situation(contents=12)
def episodes_whose_titles_hold_the_same_numbers_in_another_order(site: Site) -> Any:
    return _templated(
        site, [f"Season {s} Episode {e}" for s in range(1, 5) for e in range(1, 5) if s != e]
    )


@situation(contents=12)
def connections_whose_titles_hold_the_same_towns_in_another_order(site: Site) -> Any:
    towns = "Lisbon Vienna Oslo Prague Rome Minsk".split()
    pairs = list(zip(towns, towns[1:] + towns[:1], strict=True))
    titles = [f"Flights from {a} to {b}" for pair in pairs for a, b in (pair, pair[::-1])]
    return _templated(site, titles, family=2)


@situation(contents=12)
def wares_of_which_one_title_holds_all_words_of_the_other(site: Site) -> Any:
    kettles = "Fino Luna Orca Silva Terra Vela".split()
    return _templated(
        site, [f"Kettle {name}{more}" for name in kettles for more in ("", " Pro")], family=2
    )


@situation(contents=12)
def branches_whose_towns_are_parts_of_other_towns_names(site: Site) -> Any:
    towns = "Springfield Ashford Milton Burnley Clifton Marlow".split()
    return _templated(
        site, [f"Plumber in {town}{more}" for town in towns for more in ("", " Heights")]
    )


@situation(contents=10)
def pages_whose_titles_differ_only_in_signs(site: Site) -> Any:
    jobs = ["C developer", "C++ developer", "C# developer", "F# developer", "F developer"]
    others = ["Gift card $50", "Gift card £50", "Group A- blood", "Group A+ blood", "Group A blood"]
    return _templated(site, [*jobs, *others], family=5)


@situation(contents=10)
def stories_whose_titles_are_one_and_whose_texts_are_not(site: Site) -> Any:
    for n in range(10):
        site.put(f"/story/{n}", full(words(seed=n), "The Morning Post"), f"story {n}")
    site.index()
    return PromiseSpider


@situation(contents=10)
def tables_under_one_title_and_one_introduction(site: Site) -> Any:
    for n in range(10):
        rows = "".join(
            f"<tr><td>{words(2, (n, row))}<td>{words(2, (row, n))}<td>{n * 31 + row}"
            for row in range(20)
        )
        table = f"<table><tr><th>From<th>To<th>Price</tr>{rows}</table>"
        site.put(f"/table/{n}", full(words(60, "intro"), "Timetable", table), f"table {n}")
    site.index()
    return PromiseSpider


@situation(contents=12)
def pages_with_next_to_no_text(site: Site) -> Any:
    for n in range(12):
        site.put(f"/stub/{n}", bare(words(5, n), f"Entry {n}"), f"stub {n}")
    site.index()
    return PromiseSpider


@situation(contents=6)
def pages_without_any_text(site: Site) -> Any:
    for n in range(6):
        picture = f'<img src="/scan-{n}.png">'
        site.put(f"/scan/{n}", f"<html><title>Scan</title><body>{picture}", f"scan {n}")
    site.index()
    return PromiseSpider


_CHINESE = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
    "同工也能下过子说产种面而方后多定行学法所民得经"
)


def _chinese(seed: int, n: int = 160) -> str:
    signs = [_CHINESE[hash(number) % len(_CHINESE)] for number in map(len, words(n, seed).split())]
    order = words(n, ("order", seed)).split()
    return "".join(
        _CHINESE[(len(word) * 7 + sum(map(ord, word))) % len(_CHINESE)] + sign
        for word, sign in zip(order, signs, strict=True)
    )


@situation(contents=8, finds=8)
def chinese_pages_in_gbk_and_in_utf_8(site: Site) -> Any:
    for n in range(8):
        page = (
            f"<html><head><title>新闻{n}</title></head><body><p>{_chinese(n)}。</p></body></html>"
        )
        site.put(
            f"/gbk/{n}", page.encode("gbk"), f"news {n}", content_type="text/html; charset=gbk"
        )
        site.put(f"/utf-8/{n}", page, f"news {n}")
    site.index()
    return PromiseSpider


@situation(contents=8)
def chinese_pages_whose_encoding_is_not_the_one_they_name(site: Site) -> Any:
    for n in range(8):
        page = (
            f"<html><head><title>新闻{n}</title></head><body><p>{_chinese(n)}。</p></body></html>"
        )
        site.put(
            f"/page/{n}", page.encode("gbk"), f"news {n}", content_type="text/html; charset=big5"
        )
    site.index()
    return PromiseSpider


@situation(contents=6, finds=6)
def pages_that_come_packed_and_unpacked(site: Site) -> Any:
    for n in range(6):
        page = full(words(seed=n), f"Story {n}")
        packed = {"Content-Encoding": "gzip"}
        site.put(f"/packed/{n}", gzip.compress(page.encode()), f"story {n}", headers=packed)
        site.put(f"/plain/{n}", page, f"story {n}")
    site.index()
    return PromiseSpider


@situation(contents=5, NEARDUP_MAX_BODY_BYTES=3000)
def pages_that_are_larger_than_what_is_read(site: Site) -> Any:
    start = words(400, "start")
    for n in range(5):
        site.put(f"/long/{n}", full(f"{start} {words(40, n)}", "Report"), f"report {n}")
    site.index()
    return PromiseSpider


@situation(contents=5, NEARDUP_MAX_TAGS=200, NEARDUP_MAX_NESTING=50)
def pages_beyond_the_limits_of_tags_and_nesting(site: Site) -> Any:
    for n in range(5):
        more = "<b></b>" * 300 if n % 2 else "<div>" * 90 + words(3, n) + "</div>" * 90
        site.put(f"/deep/{n}", full(words(100, "same"), f"Report {n}", more), f"report {n}")
    site.index()
    return PromiseSpider


def _api(site: Site, content_type: str) -> Any:
    for n in range(12):
        ware = {
            "id": 1000 + n * 17,
            "price": {"amount": 10 + n * 3, "currency": "EUR", "includes_tax": True},
            "availability": {"in_stock": True, "warehouse": "north", "delivery_days": n % 4 + 1},
            "links": {"self": f"/api/ware/{n}", "reviews": f"/api/ware/{n}/reviews"},
            "shipping": {"free_shipping_over": 50, "express_available": True, "carrier": "post"},
            "returns": {"accepted": True, "period_days": 30, "refund_method": "original payment"},
        }
        site.put(f"/api/ware/{n}", json.dumps(ware), f"ware {n}", content_type=content_type)
    site.index()
    return PromiseSpider


@situation(contents=12)
def wares_of_an_api_that_calls_its_json_html(site: Site) -> Any:
    return _api(site, "text/html; charset=utf-8")


@situation(contents=12)
def wares_of_an_api_that_calls_its_json_plain_text(site: Site) -> Any:
    return _api(site, "text/plain")


@situation(contents=12)
def wares_of_an_api(site: Site) -> Any:
    return _api(site, "application/json")


class ByLine(PromiseSpider):
    """An item of each line of a file."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if response.url == f"{HOME}/":
            yield from self.links(response)
        else:
            assert isinstance(response, scrapy.http.TextResponse)
            for line in response.text.splitlines():
                yield {"content": line}


@situation(contents=43)
def exports_in_plain_text_that_share_most_of_their_lines(site: Site) -> Any:
    lines = [f"{words(6, n)} {n * 13}" for n in range(43)]
    for day in range(4):
        export = "\n".join(lines[day : day + 40])
        site.put(f"/export-{day}.txt", export, content_type="text/plain")
    site.index()
    return ByLine


class ByEntry(PromiseSpider):
    """An item of each entry of a list."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for entry in response.css("article li::text").getall():
            yield {"content": entry}
        yield from self.links(response)


@situation(contents=43)
def lists_that_share_most_of_their_entries(site: Site) -> Any:
    entries = [f"{words(6, n)} {n * 13}" for n in range(43)]
    for day in range(4):
        some = "<li>".join(["", *entries[day : day + 40]])
        site.put(f"/list/{day}", full("", "Latest offers", f"<ul>{some}</ul>"))
    site.index()
    return ByEntry


@situation(contents=9)
def archives_of_years_that_have_one_entry_more_than_their_months(site: Site) -> Any:
    for year in (2021, 2022, 2023):
        entries = [f"<li>{year}-04-{n:02} {words(6, (year, n))}</li>" for n in range(1, 25)]
        for folder, some in (("", entries), ("/04", entries[:-1]), ("/05", entries[1:])):
            archive = f"<ul>{''.join(some)}</ul>"
            url = f"/archives/{year}{folder}/"
            site.put(url, full("", "Archives", archive), content=url)
    site.index()
    return PromiseSpider


@situation(contents=3)
def manual_pages_whose_versions_each_have_a_passage_of_their_own(site: Site) -> Any:
    parts = ARTICLE.read_text("utf-8").splitlines()[6:]
    own = {
        "3.6.4": "A queue that grows is watched by poll_depth(), which asks the broker twice a "
        "second and returns a pair of numbers. If poll_depth() is called from two threads, the "
        "second one waits; set_poll_timeout() says for how long. Old brokers answer late, "
        "and those before 2.8 only once a minute.",
        "3.11.1": "Since this version the broker itself tells its clients when a queue grows: "
        "subscribe_depth() takes a callback, and unsubscribe_depth() removes it. Callbacks run "
        "in the thread of the connection, so they must be short and may not publish "
        "anything; an exception ends the subscription at once.",
        "3.15.0a1": "The module has a command now. It prints each queue with its depth, oldest "
        "message and number of consumers; the option --watch prints them again every second, "
        "and --json is meant for scripts. Exit status 3 says that the "
        "broker did not answer at all, and 4 that it refused politely.",
    }
    for place, (version, passage) in enumerate(own.items()):
        texts = [*parts[: place + 2], passage, *parts[place + 2 : 23]]
        article = "".join(f"<p>{text}</p>" for text in texts)
        title = f"Watching queues — Handbook {version} documentation"
        url = f"http://handbook{place}.example/queues.html"
        site.put(url, full("", title, article), content=version)
    site.index()
    return PromiseSpider


class ByComment(PromiseSpider):
    """An item of each comment below an article."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for comment in response.css(".comment p::text").getall():
            yield {"content": comment}
        yield from self.links(response)


@situation(contents=24)
def comments_on_several_pages_below_one_article(site: Site) -> Any:
    for n in range(4):
        comments = "".join(
            f'<li class="comment"><p>{words(15, (n, place))}</p>' for place in range(6)
        )
        below = f'<section id="comments" class="comments"><ol>{comments}</ol></section>'
        story = full(words(250, "story"), "A story")
        site.put(f"/story/comment-page-{n}", story.replace("</main>", f"{below}</main>"))
    site.index()
    return ByComment


@situation(contents=8)
def answers_of_a_catch_all_page_that_differ_in_what_they_say(site: Site) -> Any:
    def said(asked: Asked) -> Answer:
        which = asked.query["q"]
        return Answer(full(words(100, which), f"Results for {which}"), f"results {which}")

    site.on("/search", said)
    site.index(*(f"/search?q={n}" for n in range(8)))
    return PromiseSpider


@situation(contents=6)
def one_text_under_the_titles_of_several_wares(site: Site) -> Any:
    for n in range(6):
        site.put(f"/ware/{n}", full(words(90, "maker"), f"{words(2, n)}"), f"ware {n}")
    site.index()
    return PromiseSpider


@situation(contents=6, NEARDUP_SCOPE="site")
def reprints_of_each_site_where_sites_are_compared_by_themselves(site: Site) -> Any:
    for n in range(6):
        url = f"http://paper-{n}.example/story"
        site.put(url, full(words(seed="agency"), "Agency report"), f"paper {n}")
    site.index()
    return PromiseSpider


@situation(contents=1, finds=5)
def reprints_of_several_sites(site: Site) -> Any:
    for n in range(6):
        url = f"http://paper-{n}.example/story"
        site.put(url, full(words(seed="agency"), "Agency report"), "report")
    site.index()
    return PromiseSpider


def _held_alone(site: Site, held: Callable[[int], str]) -> type[PromiseSpider]:
    """Pages of one text and title, each twice, that differ in what they hold besides."""
    for n in range(4):
        for copy in ("page", "copy"):
            more = f"<p>{held(n)}</p>"
            site.put(f"/{copy}/{n}", full(words(seed="held"), "Info", more), f"page {n}")
    site.index()
    return PromiseSpider


@situation(contents=4, finds=4)
def pages_that_differ_in_the_address_of_a_mail_alone(site: Site) -> Any:
    return _held_alone(site, lambda n: f'<a href="mailto:office{n}@acme.example">Write to us</a>')


@situation(contents=4, finds=4)
def pages_that_differ_in_the_hash_of_a_picture_alone(site: Site) -> Any:
    return _held_alone(
        site, lambda n: f'<img src="/image.php?h={n}f4f0c1de77a14e0b9d3b2c8a51e6d07">'
    )


@situation(contents=8, finds=8)
def pages_whose_titles_differ_in_signs_alone(site: Site) -> Any:
    names = ("Lens -2.00", "Lens +2.00", "UTC+3", "UTC-3", "A == B", "A != B", "☀ Day", "☂ Day")
    for number, name in enumerate(names):
        for copy in ("page", "copy"):
            html = full(words(seed="signs"), f"{name} | Site")
            site.put(f"/{copy}/{number}", html, f"page {number}")
    site.index()
    return PromiseSpider
