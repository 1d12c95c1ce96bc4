"""Sites that are crawled again after something ordinary has happened.

Items failed, the spider was corrected, the site has moved, or what changed is not on the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import scrapy
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from tests.promises.harness import (
    HOME,
    Answer,
    Asked,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    full,
    paragraph,
    situation,
    with_store,
    words,
)

ROWS, LISTS, STORIES = 30, 2, 5


class Rows(PromiseSpider):
    """An item of each row of a list."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for row in self.rows(response):
            yield {"content": row.css("b::text").get(), "text": row.css("i::text").get()}
        yield from self.links(response)

    def rows(self, response: Response) -> Any:
        return response.css("li.offer")


class FirstTwenty(Rows):
    def rows(self, response: Response) -> Any:
        return super().rows(response)[:20]


class AllButTheFirst(Rows):
    def rows(self, response: Response) -> Any:
        return super().rows(response)[1:]


class InStock(Rows):
    def rows(self, response: Response) -> Any:
        return response.css("li.offer:not(.sold)")


class FailsAtARow(Rows):
    """One row has no price."""

    failure: type[Exception] = KeyError

    def rows(self, response: Response) -> Any:
        for number, row in enumerate(super().rows(response)):
            if number == 20:
                raise self.failure("price")
            yield row


class ClosesAtARow(FailsAtARow):
    failure = CloseSpider


class Flaky:
    """The database is away for the items from the 18th to the 22nd."""

    def __init__(self) -> None:
        self._n = 0

    def process_item(self, item: Any) -> Any:
        self._n += 1
        if 18 <= self._n <= 22:
            raise ConnectionError("the database is away")
        return item


def _lists(site: Site, n_rows: int, at: str = "/list") -> None:
    for page in range(LISTS):
        rows = "".join(
            f"<li class='offer{' sold' * (row in {2, 4})}'><b>{words(4, (page, row))}</b> "
            f"<i>{words(20, ('text', page, row))}</i></li>"
            for row in range(n_rows)
        )
        title = f"Offers {words(2, page)}"
        site.put(f"{at}/{page}", f"<title>{title}</title><h1>{title}</h1><ul>{rows}</ul>")


#: The first spider, the pipeline of its run, and rows of a list. The second spider takes all rows.
_FIRST_RUNS: dict[str, tuple[type[Rows], type | None, int]] = {
    "rows_that_the_database_refused": (Rows, Flaky, ROWS),
    "rows_behind_one_that_failed": (FailsAtARow, None, ROWS),
    "rows_behind_one_that_closed_the_spider": (ClosesAtARow, None, ROWS),
    "rows_that_a_limit_cut_off": (FirstTwenty, None, ROWS),
    "a_first_row_that_was_skipped": (AllButTheFirst, None, 10),
    "rows_that_were_filtered": (InStock, None, 10),
}


def _corrected(first: type[Rows], pipeline: type | None, n_rows: int) -> Callable[[Site], Any]:
    def build(site: Site) -> Any:
        _lists(site, n_rows)
        site.index(*(f"/list/{page}" for page in range(LISTS)))
        pipelines = {pipeline: 500} if pipeline else {}
        return with_store(site, Run(first, ITEM_PIPELINES=pipelines), Run(Rows), Run(Rows))

    return build


for _name, _run in _FIRST_RUNS.items():
    _build = _corrected(*_run)
    _build.__name__ = _name
    # What is unchanged is found on the third day at the latest.
    _settings: dict[str, Any] = {"NEARDUP_REVISIT": "drop", "CONCURRENT_REQUESTS": 1}
    situation(contents=LISTS * _run[2], finds=LISTS * _run[2], **_settings)(_build)


class InAnyOrder(Rows):
    """Takes the rows in another order on each day."""

    def rows(self, response: Response) -> Any:
        rows = super().rows(response)
        return rows[::-1] if self.settings.getbool("IS_REVERSED") else rows


class FirstHalf(Rows):
    def rows(self, response: Response) -> Any:
        return super().rows(response)[:5]


class SecondHalf(Rows):
    def rows(self, response: Response) -> Any:
        return super().rows(response)[5:]


@situation(contents=LISTS * 10, NEARDUP_REVISIT="drop", CONCURRENT_REQUESTS=1)
def rows_in_another_order_after_some_were_refused(site: Site) -> Any:
    _lists(site, 10)
    site.index(*(f"/list/{page}" for page in range(LISTS)))
    refused = Run(InAnyOrder, ITEM_PIPELINES={Flaky: 500})
    return with_store(site, refused, *(Run(InAnyOrder, IS_REVERSED=True) for _ in range(2)))


@situation(contents=20, NEARDUP_REVISIT="drop", CONCURRENT_REQUESTS=1)
def rows_of_codes_of_which_each_crawl_takes_others(site: Site) -> Any:
    for page in range(LISTS):
        rows = "".join(
            f"<li class=offer><b>AB-{page}0{row}</b> <i>{20 + row}.99</i></li>" for row in range(10)
        )
        site.put(f"/list/{page}", f"<title>Codes</title><h1>Codes {words(2, page)}</h1>{rows}")
    site.index(*(f"/list/{page}" for page in range(LISTS)))
    return with_store(site, Run(FirstHalf), Run(SecondHalf))


@situation(contents=LISTS * ROWS, CONCURRENT_REQUESTS=1)
def rows_of_lists_that_moved_after_the_database_refused_them(site: Site) -> Any:
    _lists(site, ROWS)
    _lists(site, ROWS, "/offers")
    site.index(*(f"/list/{page}" for page in range(LISTS)))
    site.index(*(f"/offers/{page}" for page in range(LISTS)), at="/new")

    class Moved(Rows):
        start_urls = [f"{HOME}/new"]

    return with_store(site, Run(Rows, ITEM_PIPELINES={Flaky: 500}), Run(Moved))


class Reviewed(PromiseSpider):
    """An item of each story, and one with its reviews."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if label := content_of(response):
            title = response.css("h1::text").get()
            yield {"content": label, "title": title}
            given = {"title": title, "label": label[::-1]}
            where = response.url.replace("/story/", "/reviews/")
            yield response.follow(where, self.reviews, cb_kwargs=given)
        yield from self.links(response)

    def reviews(self, response: Response, title: str, label: str) -> Any:
        yield {"content": label, "title": title, "reviews": response.css("li::text").getall()}


class AwayAtFirst:
    """The database is away for the first items."""

    def __init__(self) -> None:
        self._n = 0

    def process_item(self, item: Any) -> Any:
        self._n += 1
        if self._n <= STORIES:
            raise ConnectionError("the database is away")
        return item


@situation(contents=4 * STORIES, finds=2 * STORIES, NEARDUP_REVISIT="drop")
def changed_stories_whose_own_items_failed(site: Site) -> Any:
    def story(n: int) -> Callable[[Asked], Answer]:
        def shown(asked: Asked) -> Answer:
            version = min(asked.day, 2)
            title = f"Story {words(3, n)}"
            return Answer(full(words(seed=(n, version)), title), f"story {n} {version}")

        return shown

    for n in range(STORIES):
        reviews = "".join(f"<li>{words(12, ('review', n, i))}" for i in range(3))
        site.on(f"/story/{n}", story(n))
        site.put(f"/reviews/{n}", f"<title>Reviews</title><h1>Reviews</h1>{reviews}")
    site.index(*(f"/story/{n}" for n in range(STORIES)))
    away = Run(Reviewed, ITEM_PIPELINES={AwayAtFirst: 500})
    return with_store(site, Run(Reviewed), away, Run(Reviewed), Run(Reviewed))


#: What a list says of ware ``n`` on a day, which the page of the ware does not.
_FLAGS: dict[str, Callable[[int, int], Any]] = {
    "wares_that_a_list_calls_sold_out": lambda n, day: (n + day) % 2 == 0,
    "wares_for_which_a_list_has_a_discount": lambda n, day: 10 if (n + day) % 2 else None,
    "wares_that_a_list_calls_new": lambda n, day: "new" if (n + day) % 2 else "",
    "wares_for_which_a_list_has_marks": lambda n, day: ["new"] if (n + day) % 2 else [],
}


#: Ways to pass it on to the callback of the page.
_PASSED: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "": lambda ware, flag: {"callback": ware, "cb_kwargs": {"flag": flag}},
    "_in_meta": lambda ware, flag: {"callback": ware, "meta": {"flag": flag}},
    "_in_a_partial": lambda ware, flag: {"callback": partial(ware, flag=flag)},
    "_in_a_closure": lambda ware, flag: {"callback": lambda response: ware(response, flag)},
    "_beside_much_else": lambda ware, flag: {
        "callback": ware,
        "cb_kwargs": {"flag": flag, "ids": [*range(1_500)]},
    },
    # Where it is not, the argument is missing, and so is the field of the item.
    "_or_not_at_all": lambda ware, flag: {
        "callback": ware,
        "cb_kwargs": {"flag": flag} if flag else {},
    },
}


def _told_by_a_list(
    flag: Callable[[int, int], Any], passed: Callable[[Any, Any], dict[str, Any]]
) -> Callable[[Site], Any]:
    class Wares(PromiseSpider):
        def parse(self, response: Response, **kwargs: Any) -> Any:
            day = int(response.headers["X-Day"] or b"")
            for n, link in enumerate(response.css("a.next")):
                yield response.follow(link.attrib["href"], **passed(self.ware, flag(n, day)))

        def ware(self, response: Response, *args: Any, **kwargs: Any) -> Any:
            given = dict(zip(["flag"], args, strict=False)) | kwargs
            if "flag" in response.meta:
                given["flag"] = response.meta["flag"]
            given.pop("ids", None)
            number = response.url.rpartition("/")[2]
            # No text, for which the item would be kept.
            label = f"{number}{given.get('flag')!r}".replace(" ", "")
            yield {"content": label, "title": response.css("h1::text").get(), **given}

    def build(site: Site) -> Any:
        for n in range(STORIES):
            site.put(f"/ware/{n}", full(words(100, n), f"Ware {words(2, n)}"))
        links = "".join(
            f"<li><a class=next href=/ware/{n}>{words(2, n)}</a>" for n in range(STORIES)
        )
        site.on("/", lambda asked: Answer(f"<ul>{links}</ul>", headers={"X-Day": f"{asked.day}"}))
        return with_store(site, Run(Wares), Run(Wares), Run(Wares))

    return build


for _name, _flag in _FLAGS.items():
    for _way, _passed in _PASSED.items():
        # One kind of value in all ways, and all kinds in the first and the last one.
        if _way in {"", "_or_not_at_all"} or "sold_out" in _name:
            _build = _told_by_a_list(_flag, _passed)
            _build.__name__ = f"{_name}{_way}"
            situation(contents=2 * STORIES, NEARDUP_REVISIT="drop")(_build)


@situation(contents=2 * STORIES, finds=4 * STORIES, NEARDUP_REVISIT="drop")
def wares_that_are_sold_out_from_the_second_day_on(site: Site) -> Any:
    def sold_out(n: int, day: int) -> bool:
        return day > 1

    [first] = _told_by_a_list(sold_out, _PASSED[""])(site)[:1]
    return with_store(site, *(Run(*first.spiders) for _ in range(6)))


class Priced(PromiseSpider):
    """Asks an API for the price of each ware, within the callback of its page."""

    async def parse(self, response: Response, **kwargs: Any) -> Any:
        if "/ware/" in response.url:
            url = response.url.replace("/ware/", "/price/").replace("/print", "")
            price: Any = await self.crawler.engine.download_async(scrapy.Request(url))
            title = response.css("h1::text").get()
            yield {"content": content_of(price), "title": title, "price": price.json()["price"]}
        for request in self.links(response):
            yield request


class PricedMeanwhile(Priced):
    """Goes on while the API is asked."""

    async def parse(self, response: Response, **kwargs: Any) -> Any:
        if "/ware/" not in response.url:
            for request in self.links(response):
                yield request
            return
        url = response.url.replace("/ware/", "/price/").replace("/print", "")
        asked = asyncio.ensure_future(self.crawler.engine.download_async(scrapy.Request(url)))
        yield scrapy.Request(f"{HOME}/robots.txt", callback=self.ignore)
        price: Any = await asked
        title = response.css("h1::text").get()
        yield {"content": content_of(price), "title": title, "price": price.json()["price"]}

    def ignore(self, response: Response) -> None:
        """Yield nothing."""


class PricedAtOnce(Priced):
    """The same in a coroutine that returns a list."""

    async def parse(self, response: Response, **kwargs: Any) -> Any:
        return [output async for output in super().parse(response)]


def _price(site: Site, n: int, rise: int = 0) -> None:
    def answer(asked: Asked) -> Answer:
        price = 20 + n + rise * asked.day
        return Answer(f'{{"price": {price}}}', f"{n} {price}", content_type="application/json")

    site.on(f"/price/{n}", answer)


def _variants(site: Site) -> None:
    """Pages of one ware in several sizes, which are equal, and a print view of each."""
    for n in range(STORIES):
        site.put(f"/ware/{n}", full(words(100, "kettle"), "Kettle"))
        site.put(f"/ware/print/{n}", bare(words(100, "kettle"), "Kettle"))
        _price(site, n)
    views = ("/ware", "/ware/print")
    site.index(*(f"{view}/{n}" for view in views for n in range(STORIES)))


@situation(contents=STORIES, finds=2)
def variants_of_a_ware_whose_prices_an_api_tells(site: Site) -> Any:
    _variants(site)
    return Priced


@situation(contents=STORIES, finds=2)
def variants_whose_prices_a_coroutine_asks_for(site: Site) -> Any:
    _variants(site)
    return PricedAtOnce


@situation(contents=STORIES)
def variants_whose_callbacks_go_on_while_an_api_is_asked(site: Site) -> Any:
    _variants(site)
    return PricedMeanwhile


@situation(contents=3 * STORIES, NEARDUP_REVISIT="drop")
def prices_of_an_api_from_day_to_day(site: Site) -> Any:
    for n in range(STORIES):
        site.put(f"/ware/{n}", full(words(100, n), f"Ware {words(2, n)}"))
        _price(site, n, rise=3)
    site.index(*(f"/ware/{n}" for n in range(STORIES)))
    return with_store(site, Run(Priced), Run(Priced), Run(Priced))


_MOVED = {
    "stories_that_are_edited_after_their_folder_was_renamed": f"{HOME}/b",
    "stories_that_are_edited_after_their_site_has_moved": "http://new.example/a",
}


def _moved(to: str) -> Callable[[Site], Any]:
    def story(n: int, is_at_home: Callable[[int], bool]) -> Callable[[Asked], Answer]:
        def shown(asked: Asked) -> Answer:
            if not is_at_home(asked.day):
                return Answer("<title>Not found</title>", status=404)
            version = max(0, asked.day - 2)
            text = paragraph(words(200, n))
            edited = f"The fire destroyed {17 + 3 * version} houses. {text}" if n % 2 else text
            more = f"<p>{paragraph(words(18, (n, version)))}</p>" * (version > 0 and not n % 2)
            body = full("@", f"Story {words(3, n)}", more).replace("@.", edited)
            return Answer(body, f"story {n} {version}")

        return shown

    def build(site: Site) -> Any:
        old, new = ([f"{at}/{n}" for n in range(8)] for at in (f"{HOME}/a", to))
        for n in range(8):
            site.on(old[n], story(n, lambda day: day == 1))
            site.on(new[n], story(n, lambda day: day > 1))
        site.index(*old)
        site.index(*new, at="/new")

        class Moved(PromiseSpider):
            start_urls = [f"{HOME}/new"]

        return with_store(site, Run(PromiseSpider), *(Run(Moved) for _ in range(3)))

    return build


for _name, _to in _MOVED.items():
    _build = _moved(_to)
    _build.__name__ = _name
    # The first visit at the new address finds the copies.
    situation(contents=24, finds=8)(_build)
