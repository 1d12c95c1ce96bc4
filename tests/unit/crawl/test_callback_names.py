"""Callbacks are told apart as operators tell them apart."""

from __future__ import annotations

from functools import partial, wraps

import pytest
from scrapy.http import Request, Response
from scrapy.spiders import CrawlSpider, Rule

from scrapy_neardup.crawl.items.callback_names import callback_name


class Shop(CrawlSpider):
    name = "shop"
    rules = (Rule(callback="ware"), Rule(callback="stock"), Rule())

    def ware(self, response): ...

    def stock(self, response): ...


def logged(function):
    @wraps(function)
    def called(*args):
        return function(*args)

    return called


class Callable:
    def __call__(self, response): ...


SHOP = Shop()
FIRST = lambda response: SHOP.ware(response)  # noqa: E731, PLW0108
SECOND = lambda response: SHOP.stock(response)  # noqa: E731, PLW0108


def name_of(callback, **meta):
    request = Request("https://a.example/", callback=callback, meta=meta)
    return callback_name(Response(request.url, request=request))


@pytest.mark.parametrize(
    ("callback", "name"),
    [
        (None, "parse"),
        (SHOP.ware, "ware"),
        (partial(partial(SHOP.ware)), "ware"),
        (logged(SHOP.stock), "stock"),
        (Callable(), "Callable"),
    ],
)
def test_a_callback_has_the_name_of_its_function(callback, name):
    assert name_of(callback) == name


def test_the_callback_of_a_rule_is_named_and_not_the_method_that_calls_it():
    assert [name_of(SHOP._callback, rule=rule) for rule in (0, 1)] == ["ware", "stock"]
    # A rule without one, and a request of a queue whose rule is gone.
    assert name_of(SHOP._callback, rule=2) == "_callback"
    assert name_of(SHOP._callback, rule=7) == name_of(SHOP._callback)


def test_lambdas_are_told_apart_by_their_lines():
    assert name_of(FIRST) == name_of(FIRST)
    assert name_of(FIRST) != name_of(SECOND)


def test_a_response_without_request_has_the_name_of_the_default():
    assert callback_name(Response("https://a.example/")) == "parse"
