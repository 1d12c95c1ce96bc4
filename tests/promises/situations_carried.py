"""Values that requests bring along in unusual ways, and that only the last page selects."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any
from xml.etree import ElementTree as ET

from scrapy.http import Request, Response

from tests.promises.harness import (
    HOME,
    Answer,
    Asked,
    PromiseSpider,
    Run,
    Site,
    follow,
    full,
    situation,
    words,
)

NAMES = ["Kettle", "Teapot", "Toaster", "Blender", "Grill", "Mixer"]
SIZES = ["S-36", "M-38", "L-40", "XL-42"]


def wares(site: Site) -> None:
    """Wares of different texts, whose reviews are one text for all."""
    none_yet = full(words(100, "no reviews yet"), "Reviews")
    for number, name in enumerate(NAMES):
        link = f'<a class="reviews" href="/p/{number}/reviews">Reviews</a>'
        site.put(f"/p/{number}", full(words(200, name), name, link))
        site.put(f"/p/{number}/reviews", none_yet)
    site.index(*(f"/p/{number}" for number in range(len(NAMES))))


class Carrying(PromiseSpider):
    """Hands the name of a ware on in some container."""

    pack: Callable[[str], Any]
    unpack: Callable[[Any], str]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from follow(response, "a.next", callback=self.ware)

    def ware(self, response: Response) -> Any:
        given = type(self).pack(response.css("h1::text").get(""))
        yield from follow(response, "a.reviews", callback=self.reviews, cb_kwargs={"given": given})

    def reviews(self, response: Response, given: Any) -> Any:
        yield {
            "content": type(self).unpack(given),
            "reviews": response.css("article p::text").get(),
        }


def _with_result(name: str) -> Future[str]:
    future: Future[str] = Future()
    future.set_result(name)
    return future


_CONTAINERS: dict[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "a_key_of_a_dict": (lambda name: {name: 19.9}, lambda given: next(iter(given))),
    "an_element": (lambda name: ET.fromstring(f"<a name='{name}'/>"), lambda a: a.get("name")),
    "a_match": (lambda name: re.fullmatch("(.*)", name), lambda given: given[1]),
    "a_namespace": (lambda name: Namespace(name=name), lambda given: given.name),
    "a_future": (_with_result, lambda given: given.result()),
    "a_request": (
        lambda name: Request(HOME, meta={"name": name}),
        lambda given: given.meta["name"],
    ),
    "bytes_in_memory": (
        lambda name: memoryview(name.encode()),
        lambda given: bytes(given).decode(),
    ),
}


def _carried_in(kind: str) -> None:
    pack, unpack = map(staticmethod, _CONTAINERS[kind])

    def build(site: Site) -> Any:
        wares(site)
        return type("CarryingIn", (Carrying,), {"pack": pack, "unpack": unpack})

    build.__name__ = f"names_that_are_carried_in_{kind}"
    situation(contents=len(NAMES))(build)


for each in _CONTAINERS:
    _carried_in(each)


class Inline(Carrying):
    """Writes a callback as one generator, as scrapy-inline-requests does."""

    def ware(self, response: Response) -> Any:
        yield from self.unwound(self.built(response))

    def built(self, response: Response) -> Any:
        item = {"content": response.css("h1::text").get()}
        yield from follow(response, "a.reviews")
        reviews = yield
        yield {**item, "reviews": reviews.css("article p::text").get()}

    def unwound(self, generator: Any) -> Iterator[Any]:
        request = next(generator)
        yield request.replace(callback=partial(self.resumed, generator=generator))

    def resumed(self, response: Response, generator: Any) -> Any:
        next(generator)
        yield generator.send(response)


@situation(contents=len(NAMES))
def items_that_a_waiting_generator_holds(site: Site) -> Any:
    wares(site)
    return Inline


class Joining(Carrying):
    """Joins the text of a ware, which is long, with that of its reviews."""

    def ware(self, response: Response) -> Any:
        text = response.css("article p::text").get()
        yield from follow(response, "a.reviews", callback=self.reviews, cb_kwargs={"given": text})

    def reviews(self, response: Response, given: Any) -> Any:
        assert len(given) > 500
        text = f"{given} {response.css('article p::text').get()}"
        yield {"content": given[:40], "text": text}


def _half(first: int, end: int) -> type[Joining]:
    class Half(Joining):
        def parse(self, response: Response, **kwargs: Any) -> Any:
            yield from [*super().parse(response)][first:end]

    return Half


@situation(contents=len(NAMES))
def long_texts_that_are_joined_in_two_runs(site: Site) -> Any:
    wares(site)
    store = {"NEARDUP_STORE": f"sqlite:///{site.folder}/pages.sqlite"}
    return [Run(_half(0, 3), **store), Run(_half(3, 6), **store)]


@situation(contents=len(NAMES))
def long_texts_that_are_joined_after_a_stop(site: Site) -> Any:
    wares(site)
    job = {"JOBDIR": str(site.folder / "job"), "CONCURRENT_REQUESTS": 1}
    return [Run(Joining, CLOSESPIDER_ITEMCOUNT=2, **job), Run(Joining, **job)]


def shirts(site: Site, *views: str) -> None:
    """One page for all variants, which lists their sizes; an answer in JSON says which it is."""
    sizes = "".join(f'<li class="size">{size}</li>' for size in SIZES)
    page = full(words(200, "linen shirt"), "Linen shirt", f"<ul>{sizes}</ul>")
    site.on("/shirt", lambda asked: Answer(page))
    site.on("/variant", _variant)
    site.index(*(f"/shirt?v={view}" for view in views))


def _variant(asked: Asked) -> Answer:
    number = int(asked.query["v"][0])
    text = json.dumps({"size": SIZES[number], "in_stock": number % 2 == 0})
    return Answer(text, content_type="application/json")


class Variants(PromiseSpider):
    """Carries what the product page shows, and has a variant's size from the last answer."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield from follow(response, "a.next", callback=self.shirt)

    def shirt(self, response: Response) -> Any:
        product = {
            "name": response.css("h1::text").get(),
            "text": response.css("article p::text").get(),
            "sizes": response.css(".size::text").getall(),
        }
        yield self.asked_for(response, {"product": product})

    def asked_for(self, response: Response, given: dict[str, Any]) -> Request:
        view = response.url.partition("=")[2]
        return Request(f"{HOME}/variant?v={view}", self.variant, cb_kwargs=given)

    def variant(self, response: Response, product: dict[str, Any]) -> Any:
        size = json.loads(response.body)["size"]
        yield {"content": size, "name": product["name"], "text": product["text"]}


@situation(contents=len(SIZES))
def sizes_that_the_product_page_lists(site: Site) -> Any:
    shirts(site, "0", "1", "2", "3")
    return Variants


@situation(contents=2, finds=3, CONCURRENT_REQUESTS=1)
def copies_of_sizes_that_the_product_page_lists(site: Site) -> Any:
    shirts(site, "0", "1", "0a", "1a", "1b")
    return Variants


class VariantsOfResponses(Variants):
    def shirt(self, response: Response) -> Any:
        yield self.asked_for(response, {"page": response})

    def variant(self, response: Response, page: Response) -> Any:  # type: ignore[override]
        size = json.loads(response.body)["size"]
        yield {"content": size, "text": page.css("article p::text").get()}


@situation(contents=len(SIZES))
def sizes_that_a_carried_response_lists(site: Site) -> Any:
    shirts(site, "0", "1", "2", "3")
    return VariantsOfResponses


class InStock(Variants):
    def variant(self, response: Response, product: dict[str, Any]) -> Any:
        in_stock = json.loads(response.body)["in_stock"]
        # A label of a dict is no value that counts: only the truth value differs.
        yield {"content": {"in": in_stock}, "name": product["name"], "text": product["text"]}


@situation(contents=2)
def truth_values_of_the_last_page(site: Site) -> Any:
    shirts(site, "0", "1")
    return InStock
