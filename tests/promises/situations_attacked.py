"""Items whose values reach their last page in unusual ways, or that are hard to compare."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from types import SimpleNamespace
from typing import Any

from parsel import Selector
from scrapy.http import Response

from tests.promises.harness import (
    Answer,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    follow,
    full,
    label_of,
    paragraph,
    situation,
    words,
)
from tests.promises.situations_built import WARES, _wares


class Onward(PromiseSpider):
    """Brings a label to the page of the reviews within the callback."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield from self.onward(response, label)
        yield from self.links(response)

    def onward(self, response: Response, label: str) -> Iterator[Any]:
        end = partial(self.reviews, item={"content": label})
        yield from follow(response, "a.reviews", callback=end)

    def reviews(self, response: Response, item: Any) -> Any:
        yield item


@situation(contents=WARES)
def items_that_a_partial_brings_along(site: Site) -> Any:
    _wares(site)
    return Onward


@situation(contents=WARES)
def items_that_a_lambda_brings_along(site: Site) -> Any:
    class ByLambda(Onward):
        def onward(self, response: Response, label: str) -> Iterator[Any]:
            item = {"content": label}
            end: Any = lambda answer: self.reviews(answer, item)  # noqa: E731 (as spiders have it)
            yield from follow(response, "a.reviews", callback=end)

    _wares(site)
    return ByLambda


@situation(contents=WARES)
def items_that_a_default_argument_brings_along(site: Site) -> Any:
    class ByDefault(Onward):
        def onward(self, response: Response, label: str) -> Iterator[Any]:
            def end(answer: Response, item: Any = {"content": label}) -> Any:  # noqa: B006
                yield from self.reviews(answer, item)

            yield from follow(response, "a.reviews", callback=end)

    _wares(site)
    return ByDefault


@situation(contents=WARES)
def items_that_a_partial_within_a_function_brings_along(site: Site) -> Any:
    class ByInner(Onward):
        def onward(self, response: Response, label: str) -> Iterator[Any]:
            inner = partial(self.reviews, item={"content": label})

            def end(answer: Response) -> Any:
                yield from inner(answer)

            yield from follow(response, "a.reviews", callback=end)

    _wares(site)
    return ByInner


def _carrying(pack: Callable[[Any, str], Any], unpack: Callable[[Any], str]) -> type[PromiseSpider]:
    class Carrying(Onward):
        def onward(self, response: Response, label: str) -> Iterator[Any]:
            given = {"item": pack(response, label)}
            yield from follow(response, "a.reviews", callback=self.reviews, cb_kwargs=given)

        def reviews(self, response: Response, item: Any) -> Any:
            yield {"content": unpack(item), "reviews": "none"}

    return Carrying


@situation(contents=WARES)
def values_that_come_as_bytes(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda response, label: label.encode(), lambda given: given.decode())


@situation(contents=WARES)
def values_that_come_in_a_plain_object(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda _, label: SimpleNamespace(label=label), lambda given: given.label)


@situation(contents=WARES)
def values_that_are_taken_from_the_html_of_a_row(site: Site) -> Any:
    _wares(site)
    return _carrying(
        lambda _, label: f"<li class=row><h3>{label}</h3><b>$ 3</b></li>",
        lambda given: Selector(text=given).css("h3::text").get() or "",
    )


@situation(contents=WARES)
def values_that_are_taken_from_json(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda _, label: json.dumps([label, 3]), lambda given: json.loads(given)[0])


@situation(contents=WARES)
def values_that_are_taken_from_a_line_of_a_table(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda _, label: f"{label};3;4.50", lambda given: given.split(";")[0])


@situation(contents=WARES, finds=WARES)
def values_of_copies_that_stand_in_the_html_of_a_row(site: Site) -> Any:
    class Rows(PromiseSpider):
        def parse(self, response: Response, **kwargs: Any) -> Any:
            row = response.css("body").get()
            yield from follow(response, "a.next", callback=self.ware, meta={"row": row})

        def ware(self, response: Response) -> Any:
            yield {"content": content_of(response), "name": response.css("h1::text").get()}

    rows = []
    for copy in ("ware", "print"):
        for n in range(WARES):
            site.put(f"/{copy}/{n}", full(words(seed=n), f"Ware {n}"), f"ware {n}")
            rows.append(f'<li>{copy}: Ware {n} <a class="next" href="/{copy}/{n}">More</a>')
    site.put("/", f"<title>Index</title><ul>{''.join(rows)}</ul>")
    return Rows


class Slots:
    __slots__ = ("label",)

    def __init__(self, label: str) -> None:
        self.label = label


@situation(contents=WARES)
def values_that_come_in_an_object_with_slots(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda _, label: Slots(label), lambda given: given.label)


@situation(contents=WARES)
def values_that_come_in_a_deque(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda _, label: deque([label]), lambda given: given[0])


@situation(contents=WARES)
def values_that_are_read_from_a_response_that_comes_along(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda response, _: response, lambda given: given.css("h1::text").get())


@situation(contents=WARES)
def values_that_are_read_from_a_selector_that_comes_along(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda response, _: response.css("h1"), lambda h1: h1.css("::text").get())


@situation(contents=WARES)
def values_that_come_behind_a_thousand_others(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda _, label: [*range(1_000), label], lambda given: given[-1])


@situation(contents=WARES)
def values_beside_a_number_too_long_to_be_written(site: Site) -> Any:
    _wares(site)
    return _carrying(lambda _, label: [10**5_000, label], lambda given: given[-1])


class Prices(PromiseSpider):
    """Ends an item, most of whose text is from the ware's page, on a page of its price."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for text in response.css("article p::text").getall()[:1]:
            given = {"text": text}
            yield from follow(response, "a.price", callback=self.price, cb_kwargs=given)
        yield from self.links(response)

    def price(self, response: Response, text: str) -> Any:
        yield {"content": content_of(response), "text": text}


def _prices(site: Site, seed: Callable[[int], object], page: Callable[[int, int], Any]) -> None:
    for n in range(WARES):
        link = f'<a class="price" href="/price/{n}">Price</a>'
        site.put(f"/ware/{n}", full(words(200, seed(n)), "Shirt", link))
        site.on(f"/price/{n}", partial(lambda number, asked: page(number, asked.day), n))
    site.index(*(f"/ware/{n}" for n in range(WARES)))


def _json_price(n: int, day: int) -> Answer:
    return Answer(json.dumps({"p": day}), f"price {n} {day}", 200, "application/json", {})


def _two_days(site: Site) -> list[Run]:
    store = f"sqlite:///{site.folder}/store.db"
    return [Run(Prices, NEARDUP_STORE=store) for _ in range(2)]


@situation(contents=WARES)
def prices_in_json_of_wares_of_one_text(site: Site) -> Any:
    _prices(site, lambda n: "one", _json_price)
    return Prices


@situation(contents=2 * WARES, NEARDUP_REVISIT="drop")
def prices_in_json_that_change_on_the_second_day(site: Site) -> Any:
    _prices(site, lambda n: n, _json_price)
    return _two_days(site)


@situation(contents=WARES, finds=WARES, NEARDUP_REVISIT="drop")
def prices_in_json_that_are_the_same_on_the_second_day(site: Site) -> Any:
    _prices(site, lambda n: n, lambda n, day: _json_price(n, 1))
    return _two_days(site)


@situation(contents=2 * WARES, NEARDUP_REVISIT="drop")
def wares_that_are_all_sold_out_on_the_second_day(site: Site) -> Any:
    def price(n: int, day: int) -> Answer:
        text = words(200, ("price", n) if day == 1 else "sold out")
        return Answer(full(text, "Price"), f"price {n} {day}", 200, "text/html", {})

    _prices(site, lambda n: n, price)
    return _two_days(site)


class Entries(PromiseSpider):
    """An item of each entry of a list."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for entry in response.css("li.entry a"):
            yield {"content": self.entry(entry.attrib["href"])}
        yield from self.links(response)

    def entry(self, address: str) -> Any:
        return address


def _lists(site: Site) -> None:
    for n in range(4):
        at = (f"http://files.example/{n}/{k}" for k in range(2))
        entries = "".join(f'<li class="entry"><a href="{url}">View</a>' for url in at)
        site.put(f"/list/{n}", full(words(400, "list"), "Our list", f"<ul>{entries}</ul>"))
    site.index()


@situation(contents=8)
def entries_of_lists_that_differ_in_addresses_alone(site: Site) -> Any:
    _lists(site)
    return Entries


@situation(contents=8)
def entries_of_lists_that_differ_in_keys_alone(site: Site) -> Any:
    _lists(site)
    return type("OfKeys", (Entries,), {"entry": lambda self, address: {address[-3:]: True}})


@situation(contents=8)
def entries_of_lists_that_are_bytes(site: Site) -> Any:
    _lists(site)
    return type("OfBytes", (Entries,), {"entry": lambda self, address: address.encode()})


@situation(contents=6)
def equal_pages_in_several_folders_with_files_beside_them(site: Site) -> Any:
    for month in range(3):
        link = '<a href="minutes.pdf">Minutes as PDF</a>'
        url = f"/council/{month}/"
        site.put(url, full(words(200, "council"), "Council", link), content=url)
        pictures = '<h1>Gallery</h1><img src="01.jpg"><img src="02.jpg">'
        album = f"<html><head><title>Gallery</title></head><body>{pictures}</body></html>"
        site.put(f"/album/{month}/", album, content=f"album {month}")
    site.index()
    return PromiseSpider


@situation(contents=9)
def wares_that_differ_in_data_alone(site: Site) -> Any:
    for n, state in enumerate(("InStock", "OutOfStock", "PreOrder")):
        offer = {"@type": "Offer", "availability": f"https://schema.org/{state}"}
        for name, data in {
            "offer": {"@type": "Product", "name": "Kettle", "offers": offer},
            "picture": {"image": f"https://cdn.example/{n}.jpg"},
            "number": {"ean": f"400638133393{n}"},
        }.items():
            script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
            url = f"/{name}/{n}"
            site.put(url, full(words(200, name), "Kettle", script), content=url)
    site.index()
    return PromiseSpider


class Comments(PromiseSpider):
    """An item of each comment below an article."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for comment in response.css(".comment"):
            yield {"content": comment.css("p::text").get(), "author": comment.css("b::text").get()}
        yield from self.links(response)


def _comments(site: Site, *per_page: int) -> None:
    """One article at several URLs, each with other comments."""
    n_before = 0
    for page, n in enumerate(per_page):
        below = "".join(
            f'<div class="comment"><b>{words(2, ("author", number))}</b>'
            f"<p>{paragraph(words(6, ('comment', number)))}</p></div>"
            for number in range(n_before, n_before + n)
        )
        site.put(f"/kettle?comments={page}", full(words(150, "kettle"), "Kettle", below))
        n_before += n
    site.index()


@situation(contents=7, CONCURRENT_REQUESTS=1)
def comments_of_an_article_of_which_the_first_page_has_one(site: Site) -> Any:
    _comments(site, 1, 3, 3)
    return Comments


@situation(contents=4)
def comments_of_an_article_one_a_page(site: Site) -> Any:
    _comments(site, 1, 1, 1, 1)
    return Comments


@situation(contents=4)
def comments_one_a_page_with_the_title_of_the_article(site: Site) -> Any:
    class WithTitle(Comments):
        def parse(self, response: Response, **kwargs: Any) -> Any:
            title = response.css("title::text").get()
            for output in super().parse(response):
                yield {**output, "article": title} if isinstance(output, dict) else output

    _comments(site, 1, 1, 1, 1)
    return WithTitle


class Articles(PromiseSpider):
    """Ordinary items of articles: some values differ each time that an article is fetched."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {
                "content": label,
                "title": response.css("title::text").get(),
                "text": " ".join(response.css("p::text, .note::text").getall()),
                "url": response.url,
                "scraped": f"2026-01-02T03:04:{len(response.url):02}.{len(response.body)}",
                "crawl": f"{len(response.body):x}-job",
            }
        yield from self.links(response)


@situation(contents=WARES, finds=WARES)
def articles_whose_items_differ_in_times_and_in_the_frame_of_the_text(site: Site) -> Any:
    for n in range(WARES):
        text, note = words(seed=n), '<span class="note">Printed from our site.</span>'
        site.put(f"/print/{n}", bare(text, f"Story {n}", note), f"story {n}")
        site.put(f"/story/{n}", full(text, f"Story {n}"), f"story {n}")
    site.index()
    return Articles


class WholePages(PromiseSpider):
    """Items of the whole HTML of a page, or of all its text."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            is_html = int(label_of(response).split()[1]) % 2
            text = " ".join(response.css("body ::text").getall())
            yield {"content": label, "page": response.text if is_html else text}
        yield from self.links(response)


@situation(contents=WARES, finds=WARES)
def articles_whose_items_hold_the_whole_page_with_its_frame(site: Site) -> Any:
    for n in range(WARES):
        text = " ".join(f"{word}{word}" for word in words(100, n).split())
        site.put(f"/print/{n}", bare(text, f"Story {n}"), f"story {n}")
        site.put(f"/story/{n}", full(text, f"Story {n}"), f"story {n}")
    site.index()
    return WholePages


class Slugs(PromiseSpider):
    """Items that name their page by the end of its URL."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            yield {"content": label, "slug": response.url.rpartition("/")[2]}
        yield from self.links(response)


@situation(contents=WARES, finds=WARES)
def articles_whose_items_differ_in_the_slug(site: Site) -> Any:
    for n in range(WARES):
        text, slugs = words(seed=n), words(2, ("slug", n)).split()
        site.put(f"/print/{slugs[0]}", bare(text, f"Story {n}"), f"story {n}")
        site.put(f"/story/{slugs[1]}", full(text, f"Story {n}"), f"story {n}")
    site.index()
    return Slugs


class Keyed(PromiseSpider):
    """Keys the reviews of a ware by its URL."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        given = {"ware": response.url}
        yield from follow(response, "a.reviews", callback=self.reviews, cb_kwargs=given)
        yield from self.links(response)

    def reviews(self, response: Response, ware: str) -> Any:
        yield {"content": ware, "ware": ware, "reviews": response.css(".review::text").getall()}


@situation(contents=WARES)
def reviews_that_are_keyed_by_the_url_of_the_ware(site: Site) -> Any:
    _wares(site)
    return Keyed


def _writing(value: Callable[[int], Any], written: Callable[[Any], str]) -> type[PromiseSpider]:
    class Writing(Onward):
        def onward(self, response: Response, label: str) -> Iterator[Any]:
            given = {"value": value(int(label_of(response).split()[1]))}
            yield from follow(response, "a.reviews", callback=self.reviews, cb_kwargs=given)

        def reviews(self, response: Response, value: Any) -> Any:
            yield {"content": written(value), "reviews": "none"}

    return Writing


@situation(contents=WARES)
def values_of_one_character_with_a_label(site: Site) -> Any:
    _wares(site)
    return _writing(str, "Size: {}".format)


@situation(contents=WARES)
def prices_that_are_written_with_two_decimals(site: Site) -> Any:
    _wares(site)
    return _writing(lambda n: n + 0.5, "{:.2f}".format)


@situation(contents=WARES)
def prices_that_are_read_from_a_text_with_a_decimal_comma(site: Site) -> Any:
    _wares(site)
    return _writing("{},50 €".format, lambda price: price.rstrip(" €").replace(",", "."))


@situation(contents=WARES)
def values_whose_entities_are_replaced(site: Site) -> Any:
    _wares(site)
    return _writing("Pot &amp; Kettle {}".format, unescape)


@situation(contents=4)
def recipes_in_a_box_that_is_named_like_a_consent_overlay(site: Site) -> Any:
    for n in range(4):
        recipe = (
            '<div class="cookie-box"><h2>Cookies of the week</h2><p>We use only fresh things. '
            f"{paragraph(words(40, n))} Allow the cookies to cool.</p></div>"
        )
        site.put(f"/recipe/{n}", bare(words(60, "baking"), "Baking", recipe), f"recipe {n}")
    site.index()
    return PromiseSpider
