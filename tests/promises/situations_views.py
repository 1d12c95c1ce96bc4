"""Items of several views of one page: other callbacks, other fields, other days."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.promises.harness import (
    HOME,
    Answer,
    Asked,
    PromiseSpider,
    Run,
    Site,
    bare,
    follow,
    full,
    situation,
    words,
)

WARES = 6
SIZES = "SMLX"


def _remembered(site: Site) -> dict[str, Any]:
    """Settings of two days with one store, of which the second skips what is unchanged."""
    store = f"sqlite:///{site.folder}/seen.sqlite"
    return {"NEARDUP_STORE": store, "NEARDUP_REVISIT": "drop"}


def _heading(response: Response) -> str:
    return response.css("h1::text").get("")


def _number(response: Response) -> int:
    return int(response.url.partition("?")[0].rpartition("/")[2])


class Richer(PromiseSpider):
    """Full views lead to the reviews, from which an item with an article number is yielded."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        number = response.css("[data-number]::attr(data-number)").get()
        if number:
            item = {"content": f"number {number}", "name": _heading(response), "number": number}
            yield response.follow(f"{response.url}/reviews", self.reviews, cb_kwargs={"item": item})
        elif "/print/" in response.url:
            yield {"content": _heading(response), "name": _heading(response)}
        yield from self.links(response)

    def reviews(self, response: Response, item: Any) -> Any:
        yield {**item, "reviews": response.css("li.review::text").getall()}


def _views(site: Site) -> list[str]:
    paths = []
    for n in range(WARES):
        number = f'<i data-number="{4006381333930 + n}"></i>'
        site.put(f"/print/{n}", bare(words(seed=n), f"Ware {n}"))
        site.put(f"/ware/{n}", full(words(seed=n), f"Ware {n}", number))
        site.put(f"/ware/{n}/reviews", full(words(100, "no reviews yet"), "Reviews"))
        paths += [f"/print/{n}", f"/ware/{n}"]
    return paths


@situation(contents=2 * WARES)
def items_of_print_views_before_richer_ones_that_are_built(site: Site) -> Any:
    site.index(*sorted(_views(site)))
    return Richer


@situation(contents=2 * WARES)
def items_that_are_built_before_those_of_print_views(site: Site) -> Any:
    site.index(*sorted(_views(site), reverse=True))
    return Richer


class Sized(PromiseSpider):
    """An item of each size of a ware, from the page that says where that size is in stock."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for link in response.css("a.size"):
            item = {"name": _heading(response), "size": link.css("::text").get("")}
            yield response.follow(link.attrib["href"], self.stock, cb_kwargs={"item": item})
        yield from self.links(response)

    def stock(self, response: Response, item: Any) -> Any:
        stores = json.loads(response.body)["stores"]
        yield {**item, "stores": stores, "content": f"{item['name']} {item['size']}"}


def _sizes(site: Site, parts: list[str], fails: Callable[[str, int], bool]) -> None:
    """Wares in parts of a shop; of size M the page fails where and when ``fails`` says so."""
    for n in range(WARES):
        for part in parts:
            links = "".join(f'<a class="size" href="/{part}/{n}/{s}">{s}</a> ' for s in SIZES)
            site.put(f"/{part}/{n}", full(words(seed=n), f"Ware {n}", links))
            for size in SIZES:

                def stock(asked: Asked, part: str = part, size: str = size) -> Answer:
                    if size == "M" and fails(part, asked.day):
                        return Answer("gone", status=404)
                    return Answer(json.dumps({"stores": []}), content_type="application/json")

                site.on(f"/{part}/{n}/{size}", stock)
    site.index(*(f"/{part}/{n}" for part in parts for n in range(WARES)))


@situation(contents=WARES * len(SIZES), finds=WARES)
def a_size_whose_page_fails_at_the_original_and_not_at_its_copy(site: Site) -> Any:
    _sizes(site, ["shoes", "sale"], lambda part, day: part == "shoes")
    return Sized


@situation(contents=WARES * len(SIZES))
def a_size_whose_page_fails_on_the_first_day(site: Site) -> Any:
    _sizes(site, ["shoes"], lambda part, day: day == 1)
    return [Run(Sized, **_remembered(site)), Run(Sized, **_remembered(site))]


class Sellers(PromiseSpider):
    """Yields the seller of a ware at once, and the ware from the page of its reviews."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if "/ware/" in response.url:
            name = _heading(response)
            yield {"content": f"seller of {name}", "kind": "seller"}
            item = {"content": f"ware {name}", "kind": "ware"}
            yield response.follow(f"{response.url}/reviews", self.reviews, cb_kwargs={"item": item})
        yield from self.links(response)

    def reviews(self, response: Response, item: Any) -> Any:
        yield {**item, "reviews": response.css("li.review::text").getall()}


def _two_days_of_sellers(site: Site, fails: Callable[[int, int], bool]) -> list[Run]:
    """Wares of one text of reviews, whose page fails for those and on those days that it says."""
    none_yet = full(words(100, "no reviews yet"), "Reviews")
    for n in range(WARES):
        site.put(f"/ware/{n}", full(words(seed=n), f"Ware {n}"))

        def reviews(asked: Asked, n: int = n) -> Answer:
            is_busy = fails(n, asked.day)
            return Answer("busy", status=404) if is_busy else Answer(none_yet)

        site.on(f"/ware/{n}/reviews", reviews)
    site.index(*(f"/ware/{n}" for n in range(WARES)))
    return [Run(Sellers, **_remembered(site)), Run(Sellers, **_remembered(site))]


@situation(contents=2 * WARES)
def a_ware_whose_reviews_fail_on_the_first_day_beside_its_seller(site: Site) -> Any:
    return _two_days_of_sellers(site, lambda n, day: day == 1 and n % 2 == 1)


@situation(contents=2 * WARES, finds=2 * WARES)
def wares_and_their_sellers_that_do_not_change(site: Site) -> Any:
    return _two_days_of_sellers(site, lambda n, day: False)


def _with_field(name: str | None) -> type[PromiseSpider]:
    class Stories(PromiseSpider):
        def parse(self, response: Response, **kwargs: Any) -> Any:
            if "/story/" in response.url:
                item = {"title": _heading(response), "author": "A. N.", "url": response.url}
                time = response.css("time::attr(datetime)").get("")
                more = {} if name is None else {name: time}
                yield {**item, **more, "content": f"{item['title']} {more}"}
            yield from self.links(response)

    return Stories


@situation(contents=6 * WARES)
def a_field_that_is_new_on_the_second_day(site: Site) -> Any:
    # A record of hashed names takes some names for known that are not, so there are several.
    for n in range(WARES):
        time = f'<time datetime="2026-03-{n + 10}"></time>'
        site.put(f"/story/{n}", full(words(seed=n), f"Story {n}", time))
    site.index(*(f"/story/{n}" for n in range(WARES)))
    days = [None, "published_at", "images", "rating", "location", "weight"]
    return [Run(_with_field(name), **_remembered(site)) for name in days]


class Offers(PromiseSpider):
    """Begins an item on a ware's page, and takes its price from that of the offers."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if "/ware/" in response.url:
            item = {"name": _heading(response), "text": response.css("p::text").get()}
            onward = response.url.replace("/ware/", "/offers/")
            yield response.follow(onward, self.offers, cb_kwargs={"item": item})
        yield from self.links(response)

    def offers(self, response: Response, item: Any) -> Any:
        price = response.css(".price::text").get()
        yield {**item, "price": price, "content": f"{item['name']} {price}"}


@situation(contents=2 * WARES)
def a_price_beside_the_text_of_the_page_that_an_item_ends_on(site: Site) -> Any:
    for n in range(WARES):

        def offers(asked: Asked, n: int = n) -> Answer:
            page = full(words(100, ("offers", n)), f"Offers for ware {n}")
            price = f'<div><span class="price">{10 + n + asked.day}</span> seats left</div>'
            return Answer(page.replace("<aside>", f"{price}<aside>"))

        site.put(f"/ware/{n}", full(words(seed=n), f"Ware {n}"))
        site.on(f"/offers/{n}", offers)
    site.index(*(f"/ware/{n}" for n in range(WARES)))
    return [Run(Offers, **_remembered(site)), Run(Offers, **_remembered(site))]


class ByRules(CrawlSpider):
    """Yields an item of numbers by each of two callbacks."""

    name = "promises"
    start_urls = [f"{HOME}/"]
    rules = [
        Rule(LinkExtractor(allow=r"/ware/\d+$"), callback="price", follow=True),
        Rule(LinkExtractor(allow=r"tab=stock"), callback="stock"),
    ]

    def price(self, response: Response) -> Any:
        yield {"content": 17_000 + _number(response), "number": _number(response)}

    def stock(self, response: Response) -> Any:
        yield {"content": 300 + _number(response), "number": _number(response)}


class ByPartials(PromiseSpider):
    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from follow(response, "a.next", callback=partial(self.price))

    def price(self, response: Response) -> Any:
        yield {"content": 17_000 + _number(response), "number": _number(response)}
        yield response.follow(f"{response.url}?tab=stock", partial(self.stock))

    def stock(self, response: Response) -> Any:
        yield {"content": 300 + _number(response), "number": _number(response)}


class ByLambdas(ByPartials):
    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from follow(response, "a.next", callback=lambda page: [*self.price(page)])

    def price(self, response: Response) -> Any:
        yield {"content": 17_000 + _number(response), "number": _number(response)}
        onward = f"{response.url}?tab=stock"
        callback: Any = lambda page: [*self.stock(page)]  # noqa: E731
        yield response.follow(onward, callback)


def _tabs(site: Site) -> None:
    for n in range(WARES):
        tab = f'<a href="/ware/{n}?tab=stock">stock</a>'
        site.put(f"/ware/{n}", full(words(seed=n), f"Ware {n}", tab))
    site.index(*(f"/ware/{n}" for n in range(WARES)))


@situation(contents=2 * WARES)
def numbers_by_the_callbacks_of_two_rules(site: Site) -> Any:
    _tabs(site)
    return ByRules


@situation(contents=2 * WARES)
def numbers_by_two_callbacks_that_are_partials(site: Site) -> Any:
    _tabs(site)
    return ByPartials


@situation(contents=2 * WARES)
def numbers_by_two_callbacks_that_are_lambdas(site: Site) -> Any:
    _tabs(site)
    return ByLambdas


class Comments(PromiseSpider):
    def parse(self, response: Response, **kwargs: Any) -> Any:
        for comment in response.css("li.comment::text").getall():
            yield {"content": comment}
        yield from self.links(response)


def _commented(site: Site, stories: int) -> None:
    """Stories with two pages of comments, and one comment on each."""
    paths = []
    for n in range(stories):
        for query in ("", "?comments=2"):
            comment = f'<li class="comment">{words(25, (n, query))}</li>'
            page = full(words(300, seed=n), f"Story {n}")
            comments = f'<section class="comments"><ul>{comment}</ul></section>'
            site.put(f"/story/{n}{query}", page.replace("</main>", f"{comments}</main>"))
            paths.append(f"/story/{n}{query}")
    site.index(*sorted(paths, key=lambda path: "?" in path))


@situation(contents=120, NEARDUP_URL_RULES="on")
def comments_on_pages_that_rules_of_urls_could_be_learned_from(site: Site) -> Any:
    _commented(site, 60)
    return Comments


@situation(contents=24)
def comments_of_a_job_that_is_stopped_and_resumed(site: Site) -> Any:
    _commented(site, 12)
    job = {"JOBDIR": f"{site.folder}/job", "CONCURRENT_REQUESTS": 1, "DOWNLOAD_DELAY": 0.05}
    return [Run(Comments, **job, CLOSESPIDER_ITEMCOUNT=12), Run(Comments, **job)]


class ShopLinks(PromiseSpider):
    def parse(self, response: Response, **kwargs: Any) -> Any:
        for row in response.css("li.offer"):
            yield {"content": row.css("a::attr(href)").get(), "name": row.css("b::text").get()}
        yield from self.links(response)


@situation(contents=30)
def entries_of_lists_that_differ_in_the_host_of_a_link(site: Site) -> Any:
    for page in range(3):
        rows = "".join(
            f'<li class="offer"><b>Kettle {words(12, k)}</b> '
            f'<a href="https://shop{page}{k}.example/">To the shop</a></li>'
            for k in range(10)
        )
        text = full(words(60, "intro"), "Offers for a kettle", f"<ul>{rows}</ul>")
        site.put(f"/offers/kettle-{page}", text)
    site.index(*(f"/offers/kettle-{page}" for page in range(3)))
    return ShopLinks
