"""The values that a request carries, and those of them that an item holds."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import partial, wraps
from time import monotonic
from typing import Any

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.loader import ItemLoader

from scrapy_neardup.crawl.items.carried_values import (
    carried_by,
    flags_carried_by,
    held_by,
    is_stated,
    is_within,
    shown_by,
    weight_of,
)
from scrapy_neardup.crawl.items.origins import (
    CarriedValues,
    Origin,
    carried_values_of,
    note_origins,
)
from scrapy_neardup.crawl.items.request_contents import note_arguments
from scrapy_neardup.crawl.items.value_texts import has_truth_value, item_values


@dataclasses.dataclass
class Ware:
    name: str = ""
    price: float = 0.0


class Item(scrapy.Item):
    name = scrapy.Field()


def loader() -> ItemLoader:
    made = ItemLoader({})
    made.add_value("name", "Kettle")
    return made


@pytest.mark.parametrize(
    ("given_with", "values"),
    [
        ({"cb_kwargs": {"name": " The\n Kettle "}}, ["the kettle"]),
        ({"meta": {"item": {"name": "Kettle", "sizes": [1, 2.5, {"of": "steel"}]}}},
         ["kettle", "1", "2.5", "steel"]),
        ({"meta": {"item": Ware("Kettle", 3.0)}}, ["kettle", "3.0"]),
        ({"meta": {"_item": {"name": "Kettle"}}}, ["kettle"]),
        ({"meta": {"item": Item(name="Kettle")}}, ["kettle"]),
        ({"cb_kwargs": {"loader": loader()}}, ["kettle"]),
        ({"cb_kwargs": {"on": date(2026, 1, 2), "price": Decimal("1.50")}}, ["2026-01-02", "1.50"]),
        # What says nothing by itself, and what is Scrapy's or a plugin's.
        ({"cb_kwargs": {"a": None, "b": True, "c": "", "d": object()}}, []),
        ({"meta": {"depth": 1, "link_text": "Kettle", "proxy": "http://p", "_depth": 1,
                   "neardup": {"scope": "site"}, "playwright_page": "x"}}, []),
    ],
)  # fmt: skip
def test_values_come_in_any_form(given_with, values):
    carried = carried_by(Request("http://a.example/", **given_with))
    assert [value for value, is_key in carried.items() if not is_key] == values


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def of_page(response: Any) -> Any:
        return function(response)

    return of_page


class WareSpider(scrapy.Spider):
    name = "wares"

    def ware(self, response: Any, name: str = "static") -> Any:
        """Has a default for all requests."""


class Called:
    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, response: Any) -> Any: ...

    def read(self, response: Any) -> Any: ...


def callbacks(name: str) -> dict[str, Any]:
    def by_default(response, name=name): ...
    def by_keyword(response, *, of={"name": name}): ...  # noqa: B006
    def by_variable(response):
        return name, by_variable

    by_partial = partial(WareSpider().ware, name=name)
    return {
        "default": by_default,
        "keyword": by_keyword,
        "variable": by_variable,
        "lambda": lambda response, name=name: None,
        "decorated": decorated(by_default),
        "variable of a decorated one": decorated(by_variable),
        "partial": by_partial,
        "partial of a default": partial(by_default, 1.5),
        "lambda with a partial": lambda response, end=by_partial: None,
        "object's method": Ware(name).__eq__,
        "object": Called(name),
        "method of an object that is a callback": Called(name).read,
    }


@pytest.mark.parametrize("kind", callbacks(""))
def test_a_callback_carries_what_it_was_made_with(kind):
    carried = carried_by(Request("http://a.example/", callback=callbacks("Kettle")[kind]))
    assert "kettle" in carried
    handed_on = Request("http://a.example/", meta={"end": callbacks("Kettle")[kind]})
    assert "kettle" in carried_by(handed_on)


@pytest.mark.parametrize("callback", [None, WareSpider().ware, decorated(WareSpider().ware)])
def test_and_not_what_is_the_same_for_all_requests(callback):
    assert not carried_by(Request("http://a.example/", callback=callback))


def test_arguments_that_middlewares_add_are_not_carried():
    # The second one is of an earlier response, as in a copy of the request that is sent again.
    arguments = {"name": "Kettle", "page": Ware("Pot", 2.0)}
    request = Request("http://a.example/", cb_kwargs=arguments)
    note_arguments(request)
    request.cb_kwargs.update(page=Ware("Pot", 2.0), url="http://a.example/")
    assert list(carried_by(request)) == ["kettle"]


class Raising(dict):  # type: ignore[type-arg]
    def values(self):
        raise ZeroDivisionError


def test_no_carried_value_loses_a_page():
    item: dict[str, object] = {"raising": Raising(), "name": "Kettle"}
    item.update((f"self {number}", [item] * 20) for number in range(20))
    carried = carried_by(Request("http://a.example/", cb_kwargs=item))
    assert {value for value, is_key in carried.items() if not is_key} == {"kettle"}


LONG = "boils water in a minute, " * 40 + "and is red."


@pytest.mark.parametrize(
    ("value", "item", "is_held"),
    [
        ("kettle", {"name": "KETTLE"}, True),
        ("kettle", {"name": "Steel kettle, red"}, True),
        ("kettle", {"name": "kettledrum"}, False),
        ("12", {"n": 12}, True),
        ("12", {"text": "at 12 o'clock"}, False),  # too short to be looked for
        ("茶叶博物馆", {"text": "参观茶叶博物馆的人"}, True),
        ("kettle", {"name": "pot"}, False),
        # Texts that are joined.
        (LONG, {"text": f"{LONG} None yet."}, True),
        (LONG, {"text": f"{'None yet. ' * 15_000}{LONG}"}, True),
        (LONG, {"text": LONG[:-1]}, False),
    ],
)
def test_an_item_holds_a_value_as_it_is_or_as_words_within(value, item, is_held):
    assert held_by(item_values(item), [value]) == [value] * is_held


ROW = """<div class="ware in stock" data-code="17"><h3>Tea &amp; Kettle</h3>
<span>$ 29.50</span><a href="/ware/7">More</a></div>"""


@pytest.mark.parametrize(
    ("carried", "value", "is_within"),
    [
        (ROW, "Tea & Kettle", True),
        (ROW, "Tea & Kettle $ 29.50", True),
        (ROW, "29.50", True),
        (ROW, 17, True),
        (ROW, "Kettledrum", False),
        (ROW, "stock", False),  # the page's design
        (ROW, "span", False),
        (json.dumps(["Bügel", 7]), "Bügel", True),
        (json.dumps(["Bügel", 7]), 7, True),
        (json.dumps({"of": {"name": 'The "Kettle"'}}), 'the "kettle"', True),
        ("Kettle;29.50;17", "Kettle", True),
        ("Kettle;29.50;17", "17", False),  # too short to be looked for
        ("Kettle;29.50;17", "kett", False),
        ("参观茶叶博物馆的人", "茶叶博物馆", True),
        ("[Kettle", "kettle", True),
        ("<<<", "kettle", False),
        (f"<p>{LONG} It is heavy.</p>", LONG, True),
        ("Tea &amp; Kettle; 12", "Tea & Kettle", True),
        ("Tea &amp; Kettle; 12", "Tea &amp; Kettle", True),
        # Short values beside a label, and numbers in another form.
        ("M", "Size: M", True),
        (3, "3 cm", True),
        (3, "Sizes: 2/3", False),
        (3, "2026-03-03", False),
        (3, "/kettle/3", False),
        ("M", "Size: XM", False),
        ("M", "Any size, " * 12 + "also M", False),  # no label
        (3, "sku-3", True),
        ("Size M", "M", True),
        ("Size: XM", "M", False),
        ("5 pcs", 5, True),
        ("12/5", 5, False),
        (29.5, "29.50", True),
        (29.5, "$ 29.50", True),
        ("29,50 €", 29.5, True),
        ("1.299,00 EUR", 1299.0, True),
        ("$1,299", 1299, True),
        (3, 3.0, False),  # too common
        (29.5, "29.51", False),
        (29.5, "29.50 for the kettle", False),
        ("10:30", "1030", False),
    ],
)
def test_an_item_holds_what_was_taken_from_a_longer_text(carried, value, is_within):
    request = follow(Request("http://a.example/"), "list", meta={"row": carried})
    item = {"name": value, "text": "Sold in our branches."}
    parts = carried_values_of(request, "auto").parts_of(item)
    assert len(parts.held) == is_within
    assert origin_of(request, item) == ("list" if is_within else None)


@pytest.mark.parametrize(
    ("body", "is_carried"),
    [
        ("<h1>Kettle</h1>", False),
        ("<meta name=title content='the kettle'>", False),
        ("<script>{'name': 'Kettle'}</script>", False),
        ("<h1>Kettledrum</h1>", True),
        # Other pages are named by all.
        ("<a href=/kettle>Kettle</a>", True),
        ("<select><option value=Kettle>Kettle</select>", True),
        ("", True),
    ],
)
def test_but_not_what_the_page_shows_itself(body, is_carried):
    page = HtmlResponse("http://a.example/", body=body.encode(), encoding="utf-8")
    request = Request("http://a.example/", meta={"row": "<h3>Kettle</h3><b>Hot</b>"})
    parts = carried_values_of(request, "auto").parts_of({"name": "Kettle"}, partial(shown_by, page))
    assert bool(parts.held) is is_carried


@pytest.mark.parametrize(
    ("carried", "value"), [("M", "Size: M"), (29.5, "29.50 €"), (2, "Chapter 2")]
)
def test_nor_what_the_page_shows_of_short_values_and_numbers(carried, value):
    request = Request("http://a.example/", meta={"given": carried})
    body = f"<h1>Kettle</h1><p>{value}</p>".encode()
    page = HtmlResponse("http://a.example/", body=body, encoding="utf-8")
    parts = carried_values_of(request, "auto").parts_of({"of": value}, partial(shown_by, page))
    assert not parts.held


@pytest.mark.parametrize(
    ("item", "origin"),
    [
        ({"reviews": []}, "list"),
        ({"rating": 4.5, "picture": "https://a.example/1.png"}, "list"),
        # The item of a page that holds a text names where it was found.
        ({"title": "Kettle"}, None),
    ],
)
def test_the_url_of_the_origin_counts_for_an_item_without_texts(item, origin):
    url = "http://a.example/list"
    request = follow(Request("http://a.example/"), "list", cb_kwargs={"of": url})
    assert origin_of(request, {"of": url, **item}) == origin


def test_of_several_urls_that_of_the_last_page_counts():
    urls = [f"http://a.example/{name}" for name in ("list", "ware")]
    at_ware = follow(Request("http://a.example/"), "list", cb_kwargs={"list": urls[0]})
    request = follow(at_ware, "ware", cb_kwargs={"list": urls[0], "ware": urls[1]})
    assert origin_of(request, {"list": urls[0], "ware": urls[1], "reviews": []}) == "ware"


def test_what_cannot_be_read_shows_nothing():
    assert shown_by(Response("http://a.example/", body=b"Kettle")) == ""
    assert shown_by(TextResponse("http://a.example/", body=b'["Kettle"]')) == '["kettle"]'


def test_items_are_searched_in_long_texts_in_bounded_time():
    rows = [f"<p>{number} " + "word " * 20_000 for number in range(50)]
    carried = carried_values_of(Request("http://a.example/", meta={"rows": rows}), "auto")
    item = {f"{number}": f"value {number}" for number in range(2_000)}
    start = monotonic()
    assert not carried.parts_of(item).held
    assert monotonic() - start < 10


def test_long_texts_are_searched_in_a_bounded_number_of_characters():
    text = f"{LONG} {'none yet. ' * 200_000}"
    others = [f"{LONG} {number}" for number in range(30)]
    item = item_values({"text": text})
    assert held_by(item, [LONG, *others]) == [LONG]
    assert held_by(item, [*others, LONG]) == []


@pytest.mark.parametrize(
    ("held", "shown", "is_there"),
    [
        (["linen shirt", "m-38"], '{"size": "m-38"}', True),
        (["m"], '{"size": "m"}', True),
        (["linen shirt", "m-38"], '{"size": "xm-38"}', False),
        (["https://a.example/1"], '{"of": "https://a.example/1"}', False),
        ([str(number) for number in range(100_000)], "", True),  # too many to look for
        ([], "m-38", False),
    ],
)
def test_a_page_states_what_it_shows_of_carried_values(held, shown, is_there):
    assert is_stated(held, shown) is is_there


def test_truth_values_are_told_from_texts_of_them():
    assert has_truth_value({"offers": [{"in_stock": False}]})
    assert not has_truth_value({"in_stock": None, "number": 1, "text": "true"})


TEXTS = st.lists(st.text(min_size=1, max_size=30).filter(str.strip), max_size=6)


@given(TEXTS, TEXTS)
def test_what_an_item_holds_is_what_it_was_given(carried, others):
    values = list(carried_by(Request("http://a.example/", cb_kwargs={"all": carried})))
    held = held_by(item_values({"all": carried, "more": others}), values)
    assert held == values


def test_an_address_says_only_where_something_is():
    assert weight_of(["kettle", "https://a.example/12"]) == len("kettle")


def follow(request: Request, here: str, **given_with: object) -> Request:
    """A request of the page that another one led to, as a queue on disk or in Redis returns it."""
    made = Request("http://a.example/next", **given_with)  # type: ignore[arg-type]
    note_origins(
        made, Origin(here, f"http://a.example/{here}"), carried_values_of(request, "auto"), "auto"
    )
    json.dumps(made.meta.get("_neardup_origins"))
    unpacked: Request = pickle.loads(pickle.dumps(made))
    return unpacked


def origin_of(request: Request, item: object) -> str | None:
    carried = carried_values_of(request, "auto")
    origins = carried.origins_of(carried.parts_of(item))
    return origins[0].visit if origins else None


def test_the_origin_is_the_page_that_gave_most_through_any_number_of_pages():
    start = Request("http://a.example/", cb_kwargs={"seed": "row 17"})
    category = {"category": "kitchen", "seed": "row 17"}
    at_ware = follow(start, "list", cb_kwargs=category)
    ware = {**category, "name": "Kettle", "text": "Boils water in a minute."}
    request = follow(at_ware, "ware", meta={"item": ware})
    for number in range(12):
        item = {**request.meta["item"], f"review {number}": f"Bought it {number} times."}
        request = follow(request, f"reviews {number}", meta={"item": item})
    assert origin_of(request, request.meta["item"]) == "ware"
    assert origin_of(request, {"category": "kitchen"}) == "list"
    assert origin_of(request, {"seed": "row 17"}) is None
    assert origin_of(request, {"text": "Something else."}) is None


def test_what_a_page_passes_on_by_its_meta_is_no_origin_of_what_it_does_not_hold():
    first = follow(Request("http://a.example/"), "ware", cb_kwargs={"name": "Kettle"})
    second = Request("http://b.example/", meta=first.meta)
    note_origins(second, Origin("here", "http://a.example/here"), CarriedValues(), "auto")
    assert "_neardup_origins" not in second.meta


def test_foreign_data_is_no_origin():
    request = Request("http://a.example/", meta={"_neardup_origins": [1, "x"]})
    assert carried_values_of(request, "auto").origins == ()


def sell(sold: bool) -> Callable[..., bool]:
    return lambda response, kind="": [sold][response]


@pytest.mark.parametrize(
    ("given_with", "flags"),
    [
        ({"cb_kwargs": {"sold": True, "name": "Kettle", "count": 0}}, {("sold", "True", True)}),
        ({"cb_kwargs": {"item": {"sold": False, "note": " ", "sizes": []}}},
         {("note", "empty", True), ("sold", "False", True), ("sizes", "empty", True)}),
        ({"cb_kwargs": {"sold": False, "ids": [*range(5_000)]}}, {("sold", "False", True)}),
        ({"meta": {"item": Ware(), "sold": True}}, {("name", "empty", False),
                                                    ("sold", "True", False)}),
        ({"meta": {"rows": [{"sold": None}, {"sold": True}], "dont_redirect": True}},
         {("sold", "True", False), ("sold", "empty", False)}),
        ({"callback": partial(print, sold=True)}, {("sold", "True", True)}),
        ({"callback": sell(True)}, {("sold", "True", False), ("kind", "empty", False)}),
    ],
)  # fmt: skip
def test_truth_values_and_what_is_empty_are_carried_under_their_names(given_with, flags):
    assert set(flags_carried_by(Request("https://site.example/", **given_with))) == flags


@pytest.mark.parametrize(
    ("given_with", "item", "held"),
    [
        ({"cb_kwargs": {"sold": True}}, {"is_sold": True}, ["sold=True"]),
        ({"cb_kwargs": {"sold": True}}, {"is_sold": False}, []),
        ({"cb_kwargs": {"sold": True}}, {"sold": False, "new": True}, []),
        ({"cb_kwargs": {"note": ""}}, {"note": None}, ["note=empty"]),
        ({"meta": {"sold": True}}, {"sold": True}, ["sold=True"]),
        # Plugins and Scrapy have many in meta.
        ({"meta": {"is_detail": True}}, {"sold": True}, []),
        ({"cb_kwargs": {"sold": True}}, {"sold": True, "words": ["word"] * 5_000}, ["sold=True"]),
    ],
)
def test_an_item_is_told_apart_by_truth_values_that_it_holds_too(given_with, item, held):
    request = Request("https://site.example/", **given_with)
    assert [*carried_values_of(request, "auto").parts_of(item).flags] == held


def test_many_flags_take_time_in_proportion_to_their_number():
    rows, others = (
        [dict.fromkeys(f"{kind} {row} {name}" for name in range(1_000)) for row in range(9)]
        for kind in ("carried", "other")
    )
    request = Request("https://site.example/", cb_kwargs={"rows": rows})
    carried = carried_values_of(request, "auto")
    assert len(carried.flags) == 9_000
    start = monotonic()
    assert len(carried.parts_of({"rows": rows}).flags) == 9_000
    # Arguments of other names count in any field.
    assert len(carried.parts_of({"rows": others}).flags) == 9_000
    assert monotonic() - start < 10
    # Each request is read, so no more are.
    request = Request("https://site.example/", cb_kwargs={"rows": rows * 10})
    carried = carried_values_of(request, "auto")
    assert len(carried.flags) < 12_000
    assert carried.is_cut


@pytest.mark.parametrize(
    "html",
    [
        "<p>Kettle<a href=/>Teapot<img alt=Pot></a>steel<nav id=n>Home<b>Grill</b></nav>end",
        "<p>Kettle<!-- no --> steel<?pi no?> grey<a><a>Pot</a></a> 9 <option value=M>M</option>",
        "<a>Pot<nav>Home</nav></a>end</html><html lang=en><p>again</html>",
    ],
)
def test_what_a_page_says_of_itself_is_what_xpath_finds(html):
    page = HtmlResponse("http://a.example/", body=html.encode(), encoding="utf-8")
    said = page.xpath(
        "//text()[not(ancestor::a or ancestor::nav or ancestor::option)] | "
        "//@*[not(parent::a or parent::option)]"
    )
    assert shown_by(page) == " ".join(" ".join(said.getall()).split()).casefold()


@pytest.mark.parametrize("value", ["12", "a1", "€ 1", "1.", "1 2"])
@given(text=st.text("12a.€ ", max_size=60), times=st.sampled_from([1, 200]))
def test_a_value_within_a_text_is_no_part_of_a_longer_word(value, text, times):
    before = r"(?<![0-9A-Za-z])" if value[0] in "12a" else ""
    behind = r"(?![0-9A-Za-z])" if value[-1] in "12a" else ""
    expected = re.search(f"{before}{re.escape(value)}{behind}", text * times)
    assert is_within(value, text * times, shortest=1) == (expected is not None)
