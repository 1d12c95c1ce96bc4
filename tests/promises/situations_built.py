"""Items that are built over several pages."""

from __future__ import annotations

import json
from asyncio import sleep
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import attrs
import scrapy
from itemloaders.processors import TakeFirst
from scrapy.http import Response
from scrapy.loader import ItemLoader

from tests.promises.harness import (
    HOME,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    follow,
    full,
    situation,
    words,
)

WARES = 8


class Ware(scrapy.Item):
    content = scrapy.Field()
    reviews = scrapy.Field()


@dataclass
class DataWare:
    content: str
    reviews: list[str] = field(default_factory=list)


@attrs.define
class AttrsWare:
    content: str
    reviews: list[str] = attrs.Factory(list)


class WareLoader(ItemLoader):
    default_item_class = Ware
    default_output_processor = TakeFirst()


class Building(PromiseSpider):
    """Begins an item on a ware's page and ends it on the page of its reviews."""

    make: Any = dict

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            item = self.make(content=label)
            yield from follow(
                response, "a.reviews", callback=self.reviews, cb_kwargs={"item": item}
            )
        yield from self.links(response)

    def reviews(self, response: Response, item: Any) -> Any:
        onward = list(follow(response, "a.more", callback=self.reviews, cb_kwargs={"item": item}))
        yield from onward or [item]


def _wares(site: Site, follow_ups: int = 1, ends_on_json: bool = False) -> None:
    """Wares of different texts, whose reviews are one text for all."""
    none_yet = words(100, "no reviews yet, be the first to write one")
    for n in range(WARES):
        link = f'<a class="reviews" href="/ware/{n}/reviews/1">Reviews</a>'
        site.put(f"/ware/{n}", full(words(seed=n), f"Ware {n}", link), f"ware {n}")
        for step in range(1, follow_ups + 1):
            url = f"/ware/{n}/reviews/{step}"
            if step == follow_ups and ends_on_json:
                site.put(url, json.dumps({"reviews": []}), content_type="application/json")
                continue
            more = f'<a class="more" href="/ware/{n}/reviews/{step + 1}">More</a>'
            site.put(url, full(f"{none_yet} {step}", "Reviews", more * (step < follow_ups)))
    site.index(*(f"/ware/{n}" for n in range(WARES)))


@situation(contents=WARES)
def a_dict_that_is_begun_on_one_page_and_ended_on_another(site: Site) -> Any:
    _wares(site)
    return Building


@situation(contents=WARES)
def a_dict_that_is_ended_two_pages_further_on(site: Site) -> Any:
    _wares(site, follow_ups=2)
    return Building


@situation(contents=WARES)
def a_dict_that_is_ended_three_pages_further_on(site: Site) -> Any:
    _wares(site, follow_ups=3)
    return Building


@situation(contents=WARES)
def a_dict_that_is_ended_on_a_page_of_json(site: Site) -> Any:
    _wares(site, follow_ups=2, ends_on_json=True)
    return Building


@situation(contents=WARES)
def a_scrapy_item_that_is_ended_on_another_page(site: Site) -> Any:
    _wares(site)
    return type("OfItems", (Building,), {"make": Ware})


@situation(contents=WARES)
def a_dataclass_that_is_ended_on_another_page(site: Site) -> Any:
    _wares(site)
    return type("OfDataclasses", (Building,), {"make": DataWare})


@situation(contents=WARES)
def an_attrs_item_that_is_ended_on_another_page(site: Site) -> Any:
    _wares(site)
    return type("OfAttrs", (Building,), {"make": AttrsWare})


class AddingTitles(Building):
    """Adds the title of each page on the way, which is longer than what tells wares apart."""

    def reviews(self, response: Response, item: Any) -> Any:
        item[f"page {len(item)}"] = response.css("h1::text").get()
        return super().reviews(response, item)


@situation(contents=WARES)
def an_item_of_which_pages_that_all_are_alike_gave_most(site: Site) -> Any:
    _wares(site, follow_ups=3)
    return AddingTitles


class Loading(PromiseSpider):
    """Hands on an item loader."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            loader = WareLoader()
            loader.add_value("content", label)
            yield from follow(response, "a.reviews", callback=self.reviews, meta={"loader": loader})
        yield from self.links(response)

    def reviews(self, response: Response) -> Any:
        loader = response.meta["loader"]
        loader.add_value("reviews", str(len(response.body)))
        yield loader.load_item()


@situation(contents=WARES)
def an_item_loader_that_is_ended_on_another_page(site: Site) -> Any:
    _wares(site)
    return Loading


class Values(PromiseSpider):
    """Hands on plain values, and makes the item of them on the last page."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            values = {"name": response.css("h1::text").get(), "label": label}
            yield from follow(response, "a.reviews", callback=self.reviews, cb_kwargs=values)
        yield from self.links(response)

    def reviews(self, response: Response, name: str, label: str) -> Any:
        yield {"content": label, "name": name, "reviews": len(response.body)}


@situation(contents=WARES)
def values_of_which_another_page_makes_an_item(site: Site) -> Any:
    _wares(site)
    return Values


class ByMeta(Values):
    """Likewise, in ``meta``."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            item = {"content": label}
            yield from follow(response, "a.reviews", callback=self.end, meta={"item": item})
        yield from self.links(response)

    def end(self, response: Response) -> Any:
        item = response.meta["item"]
        item["reviews"] = "none"
        yield item


@situation(contents=WARES)
def an_item_in_meta_that_is_ended_on_another_page(site: Site) -> Any:
    _wares(site)
    return ByMeta


class Awaiting(PromiseSpider):
    """Asks for the page of the reviews inside the callback of the ware."""

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Any]:
        if label := content_of(response):
            assert self.crawler.engine
            [request] = follow(response, "a.reviews")
            reviews = await self.crawler.engine.download_async(request)
            yield {"content": label, "reviews": len(reviews.body)}
        for link in self.links(response):
            yield link


@situation(contents=WARES)
def items_for_which_a_callback_awaits_another_page(site: Site) -> Any:
    _wares(site)
    return Awaiting


@situation(contents=WARES, finds=WARES)
def copies_of_wares_whose_items_are_ended_on_another_page(site: Site) -> Any:
    _wares(site)
    for n in range(WARES):
        link = f'<a class="reviews" href="/text/{n}/reviews">Reviews</a>'
        site.put(f"/text/{n}", bare(words(seed=n), f"Ware {n}", link), f"ware {n}")
        site.put(f"/text/{n}/reviews", bare(words(100, ("others", n)), "Reviews"))
    site.index(*(f"/{view}/{n}" for n in range(WARES) for view in ("ware", "text")))
    return Building


@situation(contents=WARES)
def an_item_that_is_ended_on_another_page_after_a_stop_of_the_job(site: Site) -> Any:
    _wares(site, follow_ups=3)
    job = str(site.folder / "job")
    return [
        Run(Building, JOBDIR=job, CLOSESPIDER_PAGECOUNT=6, CONCURRENT_REQUESTS=1),
        Run(Building, JOBDIR=job),
    ]


class Categories(PromiseSpider):
    """Follows lists to details, and hands on the category of the list."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from follow(response, "a.next", callback=self.category)

    def category(self, response: Response) -> Any:
        name = response.css("h1::text").get()
        yield from follow(response, "a.next", callback=self.detail, cb_kwargs={"category": name})

    def detail(self, response: Response, category: str) -> Any:
        yield {"content": content_of(response), "category": category}


@situation(contents=2 * WARES)
def details_that_end_on_equal_pages_and_bear_the_category_of_equal_lists(site: Site) -> Any:
    """The category is longer than what tells details apart."""
    none_yet, intro = words(100, "no reviews yet"), words(200, "all that we have")
    for which in "kettles", "pots":
        links = "".join(f'<a class="next" href="/{which}/{n}">Ware {n}</a>' for n in range(WARES))
        site.put(f"/{which}", full(intro, "Kitchenware for every household", links))
        for n in range(WARES):
            link = f'<a class="reviews" href="/{which}/{n}/reviews">Reviews</a>'
            site.put(f"/{which}/{n}", full(words(seed=(which, n)), "Ware", link), f"{which} {n}")
            site.put(f"/{which}/{n}/reviews", full(none_yet, "Reviews"))
    site.index("/kettles", "/pots")
    return EndingOnReviews


class EndingOnReviews(Categories):
    """Yields the item of a detail from the page of its reviews."""

    def detail(self, response: Response, category: str) -> Any:
        item = {"content": content_of(response), "category": category}
        yield from follow(response, "a.reviews", callback=self.ended, cb_kwargs={"item": item})

    def ended(self, response: Response, item: Any) -> Any:
        yield item


def _categories(site: Site) -> None:
    intro = words(200, "all that we have")
    for which in "kettles", "on-sale":
        links = "".join(
            f'<a class="next" href="/{which}/ware/{n}">Ware {n}</a>' for n in range(WARES)
        )
        site.put(f"/{which}", full(intro, "Our wares", links))
        for n in range(WARES):
            frame = full if which == "kettles" else bare
            site.put(f"/{which}/ware/{n}", frame(words(seed=n), f"Ware {n}"), f"ware {n}")
    site.index("/kettles", "/on-sale")


@situation(contents=WARES, finds=WARES)
def copies_of_details_that_bear_the_category_of_their_list(site: Site) -> Any:
    _categories(site)
    return Categories


@situation(contents=2 * WARES)
def details_that_only_one_of_two_nearly_equal_lists_leads_to(site: Site) -> Any:
    intro = words(200, "all that we have")
    for which in "kettles", "pots":
        links = "".join(f'<a class="next" href="/{which}/{n}">Ware {n}</a>' for n in range(WARES))
        site.put(f"/{which}", full(intro, "Our wares", links))
        for n in range(WARES):
            site.put(f"/{which}/{n}", full(words(seed=(which, n)), f"Ware {n}"), f"{which} {n}")
    site.index("/kettles", "/pots")
    return Categories


class ListItems(PromiseSpider):
    """Takes half of an item from the list, and the rest from the detail."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, scrapy.http.TextResponse)
        for entry in response.css("li"):
            item = {"content": entry.css("::attr(data-content)").get()}
            yield response.follow(entry.css("a")[0], self.detail, cb_kwargs={"item": item})

    def detail(self, response: Response, item: dict[str, Any]) -> Any:
        item["size"] = len(response.body)
        yield item


@situation(contents=WARES)
def items_begun_in_one_list_whose_details_are_all_one_notice(site: Site) -> Any:
    entries = "".join(
        f'<li data-content="ware {n}"><a href="/ware/{n}">{words(3, n)}</a>' for n in range(WARES)
    )
    site.put("/", full(words(100, "list"), "Our wares", f"<ul>{entries}</ul>"))
    for n in range(WARES):
        site.put(f"/ware/{n}", full(words(100, "log in to see the price"), "Prices"))
    return ListItems


class Seeds(PromiseSpider):
    """Brings what it knows of its start pages along."""

    async def start(self) -> AsyncIterator[Any]:
        for n in range(WARES):
            url = f"{HOME}/company/{n}"
            yield scrapy.Request(url, self.company, cb_kwargs={"label": f"company {n}"})

    def company(self, response: Response, label: str) -> Any:
        yield {"content": label, "found": response.css("h1::text").get()}


@situation(contents=WARES)
def records_of_a_list_of_ones_own_whose_pages_are_all_one_notice(site: Site) -> Any:
    for n in range(WARES):
        site.put(f"/company/{n}", full(words(100, "parked domain"), "This domain is parked"))
    return Seeds


class Sellers(PromiseSpider):
    """Ends the item of an offer on the page of its seller, who has several."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            item = {"content": label, "url": response.url}
            yield from follow(
                response, "a.seller", callback=self.seller, cb_kwargs=item, dont_filter=True
            )
        yield from self.links(response)

    def seller(self, response: Response, content: str, url: str) -> Any:
        yield {"content": content, "url": url, "seller": response.css("p::text").getall()}


def _offers_of_sellers(site: Site) -> None:
    for seller in range(2):
        site.put(f"/seller/{seller}", full(words(100, ("seller", seller)), f"Seller {seller}"))
    for n in range(WARES):
        link = f'<a class="seller" href="/seller/{n % 2}">Seller</a>'
        for path in f"/offer/{n}", f"/offer/{n}?from=mail":
            site.put(path, full(words(seed=n), f"Offer {n}", link), f"offer {n}")
    site.index(*(f"/offer/{n}{end}" for n in range(WARES) for end in ("", "?from=mail")))


@situation(contents=WARES, finds=WARES)
def copies_of_offers_whose_items_end_on_the_page_of_their_seller(site: Site) -> Any:
    _offers_of_sellers(site)
    return Sellers


class FailsLateAtTheFirst:
    """Writing an item takes a while, and fails at the first one of each content."""

    def __init__(self) -> None:
        self._met: set[str] = set()

    async def process_item(self, item: Any) -> Any:
        is_first = item["content"] not in self._met
        self._met.add(item["content"])
        await sleep(0.3)
        if is_first:
            raise ConnectionError("the database is away")
        return item


@situation(contents=WARES, ITEM_PIPELINES={FailsLateAtTheFirst: 500})
def offers_that_end_on_the_page_of_their_seller_and_fail_late(site: Site) -> Any:
    _offers_of_sellers(site)
    return Sellers


class Slow:
    async def process_item(self, item: Any) -> Any:
        await sleep(0.3)
        return item


@situation(contents=WARES, finds=WARES, ITEM_PIPELINES={Slow: 500})
def copies_of_offers_while_the_item_of_the_first_is_being_stored(site: Site) -> Any:
    _offers_of_sellers(site)
    return Sellers


class Cards(PromiseSpider):
    """Takes place and price from the card of a list, and the rest from the detail."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        assert isinstance(response, scrapy.http.TextResponse)
        for card in response.css("li"):
            place, price = card.css("b::text, i::text").getall()
            values = {"place": place, "price": price}
            yield response.follow(card.css("a")[0], self.detail, cb_kwargs=values)

    def detail(self, response: Response, place: str, price: str) -> Any:
        text = response.css("p::text").get()
        yield {"content": f"{place} {price}", "place": place, "price": price, "text": text}


@situation(contents=6, finds=6)
def offers_of_one_text_of_which_two_have_equal_cards_each(site: Site) -> Any:
    cards = [(place, f"£{price}") for place in ("Leeds", "Bath") for price in (120, 130, 9)]
    entries = "".join(
        f'<li><a href="/offer/{n}">Bike</a> <b>{place}</b> <i>{price}</i></li>'
        for n, (place, price) in enumerate(cards * 2)
    )
    site.put("/", full(words(100, "list"), "Our offers", f"<ul>{entries}</ul>"))
    for n in range(2 * len(cards)):
        site.put(f"/offer/{n}", full(words(100, "a racing bike"), "Racing bike"))
    return Cards
