"""The containers and callbacks of which a request's values are read."""

from __future__ import annotations

import argparse
import asyncio
import functools
import io
import queue
import re
import tracemalloc
from collections import Counter, UserDict, UserString
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from concurrent.futures import Future
from typing import Any
from weakref import ref
from xml.etree import ElementTree as ET

import lxml.etree
import lxml.html
import pytest
from scrapy import Request
from scrapy.http import HtmlResponse
from twisted.internet.defer import Deferred, succeed

from scrapy_neardup.crawl.items.carried_values import carried_by, held_by
from scrapy_neardup.crawl.items.item_digests import parts_of as parts_of_item
from scrapy_neardup.crawl.items.origins import (
    CarriedValues,
    Origin,
    carried_values_of,
    carries_values,
    note_origins,
)
from scrapy_neardup.crawl.items.request_contents import note_arguments
from scrapy_neardup.crawl.items.value_texts import item_values

URL = "http://a.example/"


def built(name: str) -> Iterator[Any]:
    item = {"name": name}
    yield Request(URL)
    yield item


def built_by_another(name: str) -> Iterator[Any]:
    yield from built(name)


async def built_async(name: str) -> AsyncGenerator[Any, None]:
    item = {"name": name}
    yield Request(URL)
    yield item


class Waiting:
    def __await__(self) -> Generator[None, None, None]:
        yield


async def awaiting(name: str) -> Any:
    item = {"name": name}
    await Waiting()
    return item


def suspended(generator: Any) -> Any:
    next(generator)
    return generator


def suspended_coroutine(name: str) -> Any:
    running = awaiting(name)
    running.send(None)
    return running


def suspended_async(name: str) -> Any:
    running = built_async(name)
    with pytest.raises(StopIteration):
        running.asend(None).send(None)
    return running


def future_of(name: str) -> Future[str]:
    future: Future[str] = Future()
    future.set_result(name)
    return future


def asyncio_future_of(name: str) -> Any:
    loop = asyncio.new_event_loop()
    future = loop.create_future()
    future.set_result(name)
    loop.close()
    return future


def queue_of(name: str) -> queue.Queue[str]:
    made: queue.Queue[str] = queue.Queue()
    made.put(name)
    return made


def asyncio_queue_of(name: str) -> asyncio.Queue[str]:
    made: asyncio.Queue[str] = asyncio.Queue()
    made.put_nowait(name)
    return made


class Named:
    def __init__(self, name: str) -> None:
        self.name = name


class NamedRequest(Request):
    of: str


def named_request(name: str) -> Request:
    request = NamedRequest(URL)
    request.of = name
    return request


KEPT = Named("Kettle")

CONTAINERS: dict[str, Callable[[str], Any]] = {
    "Namespace": lambda name: argparse.Namespace(name=name),
    "UserString": UserString,
    "UserDict": lambda name: UserDict(name=name),
    "memoryview": lambda name: memoryview(name.encode()),
    "StringIO": io.StringIO,
    "BytesIO": lambda name: io.BytesIO(name.encode()),
    "match": lambda name: re.fullmatch("(?P<name>.*)", name),
    "group of a match": lambda name: re.search(r"of (\w+)", f"the name of {name} is"),
    "exception": ValueError,
    "weak reference": lambda name: ref(KEPT),
    "generator": lambda name: suspended(built(name)),
    "generator of another": lambda name: suspended(built_by_another(name)),
    "coroutine": suspended_coroutine,
    "asynchronous generator": suspended_async,
    "future": future_of,
    "future of asyncio": asyncio_future_of,
    "Deferred": succeed,
    "queue": queue_of,
    "queue of asyncio": asyncio_queue_of,
    "iterator of a list": lambda name: iter([name]),
    "element": lambda name: lxml.html.fromstring(f"<p><b>{name}</b></p>"),
    "attribute of an element": lambda name: lxml.html.fromstring(f"<p data-name='{name}'>1</p>"),
    "tree": lambda name: lxml.etree.ElementTree(lxml.etree.fromstring(f"<p>{name}</p>")),
    "ElementTree element": lambda name: ET.fromstring(f"<p><b/>{name}</p>"),
    "attribute in ElementTree": lambda name: ET.fromstring(f"<p><b name='{name}'/></p>"),
    "ElementTree tree": lambda name: ET.ElementTree(ET.fromstring(f"<p>{name}</p>")),
    "request with arguments": lambda name: Request(URL, cb_kwargs={"name": name}),
    "request with meta": lambda name: [Request(URL, meta={"item": {"name": name}})],
    "request with a partial": lambda name: Request(URL, callback=functools.partial(print, name)),
    "request of a class of its own": named_request,
    "meta of a response": lambda name: HtmlResponse(
        URL, request=Request(URL, meta={"item": {"name": name}})
    ),
    "dict key": lambda name: {"prices": {name: 29.5}},
    "Counter": lambda name: Counter([name]),
    "key in a tuple": lambda name: {(name, "red"): 29.5},
    "key in JSON": lambda name: f'{{"{name}": 29.5}}',
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_values_are_read_in(kind):
    carried = carried_by(Request(URL, cb_kwargs={"given": CONTAINERS[kind]("Kettle")}))
    assert held_by(["kettle"], carried) or any("kettle" in value for value in carried)


def test_values_are_read_in_a_tag():
    bs4 = pytest.importorskip("bs4")
    page = bs4.BeautifulSoup("<tr data-name='Kettle'><td>29.50</td></tr><p>Pot</p>", "lxml")
    assert set(carried_by(Request(URL, meta={"row": page.tr}))) == {"kettle", "29.50"}


@pytest.mark.parametrize(
    "callback",
    [
        suspended(built("Kettle")).send,
        functools.partial(print, generator=suspended(built("Kettle"))),
        functools.cache(lambda response, name="Kettle": name),
        ["Kettle"].append,
    ],
)
def test_values_are_read_in_the_callback(callback):
    assert "kettle" in carried_by(Request(URL, callback=callback))


class Watched:
    """Says whether a property was asked."""

    asked = False

    @property
    def name(self) -> str:
        Watched.asked = True
        return "Kettle"


def test_nothing_is_consumed_or_computed():
    given: dict[str, Any] = {
        "map": map(str, [1, 2]),
        "list": iter([1, 2]),
        "generator": (number for number in [1, 2]),
        "new": built("Kettle"),
        "file": io.StringIO("12"),
        "queue": queue_of("Kettle"),
        "watched": Watched(),
    }
    carried_by(Request(URL, cb_kwargs=given))
    assert [list(given[kind]) for kind in ("map", "list", "generator")] == [
        ["1", "2"],
        [1, 2],
        [1, 2],
    ]
    assert len(list(given["new"])) == 2
    assert (given["file"].read(), given["queue"].get_nowait()) == ("12", "Kettle")
    assert not Watched.asked


def test_what_is_not_done_has_no_result():
    failed: Future[str] = Future()
    failed.set_exception(ValueError("Kettle"))
    given = [Future(), failed, Deferred()]
    assert not carried_by(Request(URL, cb_kwargs={"given": given}))


def test_a_container_of_itself_is_read_once():
    request = Request(URL, meta={"item": {"name": "Kettle"}})
    request.meta["self"] = request
    request.meta["page"] = HtmlResponse(URL, request=request)
    note_arguments(request)
    assert "kettle" in carried_by(request)


def parts_of(item: dict[str, Any], given: Any, shown: str = "") -> list[str]:
    carried = carried_values_of(Request(URL, cb_kwargs={"given": given}), "auto")
    return list(carried.parts_of(item, lambda: shown).held)


def test_a_key_counts_unless_the_page_shows_it():
    prices = {"Kettle": True}
    assert parts_of({"name": "Kettle", "reviews": "None yet"}, prices) == ["kettle"]
    assert parts_of({"name": "The steel kettle"}, prices) == ["kettle"]
    assert parts_of({"text": "Good price"}, {"price": None}, "good price") == []
    assert parts_of({"name": "Pot"}, prices) == []


def test_many_rows_with_the_same_fields_leave_room_for_keys():
    rows = [{"name": number} for number in range(2_000)]
    carried = carried_by(Request(URL, cb_kwargs={"rows": rows, "prices": {"Kettle": True}}))
    assert {key for key, is_key in carried.items() if is_key} == {"name", "kettle"}
    many = {f"key {number}": True for number in range(2_000)}
    assert len(carried_by(Request(URL, cb_kwargs={"rows": [many, many]}))) == 500


def test_names_of_arguments_and_fields_are_no_keys():
    request = Request(URL, meta={"kettle": 1}, cb_kwargs={"pot": 1})
    request = request.replace(callback=functools.partial(print, pan=1))
    assert carried_values_of(request, "auto") == CarriedValues(("1",))


def test_a_carried_key_is_noted_for_its_page():
    carried = carried_by(Request(URL, cb_kwargs={"given": {"Kettle": "Steel", "Steel": 1}}))
    assert carried == {"steel": False, "1": False, "kettle": True}
    assert item_values({"Kettle": "Steel"}) == ["steel"]


class Counted(str):
    """A text that counts how often one is read."""

    n_read = 0

    def __str__(self) -> str:
        Counted.n_read += 1
        return self[:]


LARGE: dict[str, Callable[[list[Counted]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "dict": lambda texts: dict(enumerate(texts)),
    "UserDict": lambda texts: UserDict(enumerate(texts)),
    "dicts": lambda texts: [{"name": text} for text in texts],
    "objects": lambda texts: list(map(Named, texts)),
    "attributes": lambda texts: argparse.Namespace(**dict(zip(texts, texts, strict=True))),
    "iterator": iter,
    "exception": lambda texts: ValueError(*texts),
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_container_is_read_in_part(kind):
    Counted.n_read = 0
    given = {"table": LARGE[kind]([Counted(f"text {n}") for n in range(30_000)]), "name": "Kettle"}
    carried = carried_values_of(Request(URL, meta=given), "auto")
    # What stands beside it is read nevertheless.
    assert "kettle" in carried.values
    assert carried.is_cut
    assert 0 < Counted.n_read <= 10_000


def nested(depth: int) -> dict[str, Any]:
    return {letter: nested(depth - 1) for letter in "abcdefgh"} if depth else {}


@pytest.mark.parametrize(
    "large",
    [nested(5), [object() for _ in range(10_000)], ["<p>text</p>" * 100_000] * 9],
    ids=["trie", "objects", "texts"],
)
def test_what_holds_many_containers_or_long_texts_is_read_in_part(large):
    request = Request(URL, meta={"large": large, "name": "Kettle"})
    carried = carried_values_of(request, "auto")
    assert (carried.values, carried.is_cut) == (("kettle",), True)


def test_no_copy_is_made_of_what_is_read_in_part():
    page = HtmlResponse(URL, body=b"<p id=a>text</p>" * 100_000)
    large = [dict.fromkeys(range(1_000_000)), page, page.css("p"), page.css("body")[0].root]
    carried_by(Request(URL))
    tracemalloc.start()
    try:
        carried_by(Request(URL, meta={"large": large}))
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_what_is_read_in_part_is_read_in_full_where_it_is_small():
    rows = [{"name": f"Kettle {n}", "price": n} for n in range(1_000)]
    carried = carried_values_of(Request(URL, meta={"rows": rows}), "auto")
    assert not carried.is_cut
    assert len(carried.values) == 2_000


def test_an_item_is_told_apart_by_all_that_may_come_from_what_was_read_in_part():
    """Such a value may be looked up in the part that was not read."""
    page = HtmlResponse(URL + "17", body=b"<p>Seen 1234 times</p>")
    item = {"id": "17", "views": "1234", "text": "word " * 30, "url": page.url}
    told = {}
    for name, given in {"small": [object()], "large": nested(5)}.items():
        carried = carried_values_of(Request(URL, cb_kwargs={"given": given}), "auto")
        told[name] = set(parts_of_item(item, page, carried, []).told_apart_by)
    assert told["small"] == set()
    assert told["large"] == {"17", "1234", ("word " * 30).strip()}


def test_a_request_that_cannot_be_read_in_full_carries_something():
    here = Origin.of(URL, None, is_known=False)
    small, large = (Request(URL, meta={"given": given}) for given in ({}, nested(5)))
    assert not note_origins(small, here, CarriedValues(), "auto")
    assert note_origins(large, here, CarriedValues(), "auto")
    assert carries_values(large)
