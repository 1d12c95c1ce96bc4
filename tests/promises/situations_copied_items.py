"""Items of copies that are built over several pages, and items of a later day.

Some hold more than those of the original, and others the same but for what each fetch changes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scrapy.http import Response

from tests.promises.harness import (
    Answer,
    Asked,
    PromiseSpider,
    Run,
    Site,
    bare,
    full,
    situation,
    words,
)

WARES = 6
PARTS = ("ware", "amp")


def _heading(response: Response) -> str:
    return response.css("h1::text").get("")


class Rows(PromiseSpider):
    """Carries name and text of a ware to another page, and yields an item of each of its rows."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if any(f"/{part}/" in response.url for part in PARTS):
            ware = {"name": _heading(response), "text": response.css("p::text").get()}
            yield response.follow(f"{response.url}/rows", self.rows, cb_kwargs={"ware": ware})
        yield from self.links(response)

    def rows(self, response: Response, ware: Any) -> Any:
        for row in response.css("li.row::text").getall():
            yield {**ware, "row": row, "content": row}


def _rows(site: Site, of_part: dict[str, list[list[str]]], place: str) -> None:
    """Wares and their copies, whose rows are in a text that both have."""
    for part, of_ware in of_part.items():
        for n, rows in enumerate(of_ware):
            site.put(f"/{part}/{n}", full(words(seed=n), f"Ware {n}"))
            listed = "".join(f'<li class="row">{row}</li>' for row in rows)
            page = full(words(300, ("rows", n)), f"Rows of ware {n}")
            site.put(f"/{part}/{n}/rows", page.replace("</main>", place.format(listed)))
    site.index(*(f"/{part}/{n}" for part in of_part for n in range(WARES)))


@situation(contents=2 * WARES)
def a_review_that_only_a_copy_has(site: Site) -> Any:
    of_part = {part: [[words(25, (n, part))] for n in range(WARES)] for part in PARTS}
    _rows(site, of_part, '<section class="comments"><ul>{}</ul></section></main>')
    return Rows


@situation(contents=3 * WARES, finds=WARES)
def a_review_that_a_copy_has_beside_one_of_the_original(site: Site) -> Any:
    of_part = {part: [[words(25, n), words(25, (n, part))] for n in range(WARES)] for part in PARTS}
    _rows(site, of_part, '<section class="comments"><ul>{}</ul></section></main>')
    return Rows


@situation(contents=4 * WARES, finds=2 * WARES)
def an_offer_that_only_a_copy_has(site: Site) -> Any:
    of_part = {
        part: [[f"{words(2, (n, k))} {17 + n + k}.00" for k in offers] for n in range(WARES)]
        for part, offers in (("ware", (0, 1, 2)), ("amp", (0, 1, 3)))
    }
    _rows(site, of_part, '</main><aside class="offers"><ul>{}</ul></aside>')
    return Rows


class Jobs(PromiseSpider):
    """Carries the text of each job of a firm to the page on which one applies for it."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if any(f"/{part}/" in response.url for part in PARTS):
            for k, job in enumerate(response.css("div.job p::text").getall()):
                values = {"firm": _heading(response), "job": job}
                yield response.follow(f"{response.url}/{k}", self.apply, cb_kwargs=values)
        yield from self.links(response)

    def apply(self, response: Response, firm: str, job: str) -> Any:
        yield {"firm": firm, "job": job, "how": _heading(response), "content": job}


@situation(contents=3 * WARES, finds=WARES)
def a_text_of_three_whose_page_fails_at_the_original(site: Site) -> Any:
    apply = full(words(100, "apply here"), "How to apply")
    for n in range(WARES):
        jobs = "".join(f'<div class="job"><p>{words(40, (n, k))}</p></div>' for k in range(3))
        for part in PARTS:
            site.put(f"/{part}/{n}", full(words(60, seed=n), f"Firm {n}", jobs))
            for k in range(3):
                is_gone = part == PARTS[0] and k == 1
                site.put(
                    f"/{part}/{n}/{k}", "gone" if is_gone else apply, status=404 if is_gone else 200
                )
    site.index(*(f"/{part}/{n}" for part in PARTS for n in range(WARES)))
    return Jobs


class Stamped(PromiseSpider):
    """Carries the time of the fetch beside the values of a ware."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if any(f"/{part}/" in response.url for part in PARTS):
            item = {"name": _heading(response), "scraped_at": datetime.now().isoformat()}
            onward = f"{response.url}/reviews"
            yield response.follow(onward, self.reviews, cb_kwargs={"item": item})
        yield from self.links(response)

    def reviews(self, response: Response, item: Any) -> Any:
        reviews = response.css("li.review::text").getall()
        yield {**item, "reviews": reviews, "content": item["name"]}


def _reviewed(site: Site, parts: tuple[str, ...]) -> None:
    for n in range(WARES):
        for part in parts:
            site.put(f"/{part}/{n}", full(words(seed=n), f"Ware {n}"))
            site.put(f"/{part}/{n}/reviews", full(words(100, "no reviews yet"), "Reviews"))
    site.index(*(f"/{part}/{n}" for part in parts for n in range(WARES)))


@situation(contents=WARES, finds=WARES)
def times_of_the_fetch_that_items_of_copies_carry(site: Site) -> Any:
    _reviewed(site, PARTS)
    return Stamped


@situation(contents=WARES, finds=WARES)
def times_of_the_fetch_that_items_of_two_days_carry(site: Site) -> Any:
    _reviewed(site, PARTS[:1])
    store = f"sqlite:///{site.folder}/seen.sqlite"
    days = {"NEARDUP_STORE": store, "NEARDUP_REVISIT": "drop"}
    return [Run(Stamped, **days), Run(Stamped, **days)]


class Linked(PromiseSpider):
    def parse(self, response: Response, **kwargs: Any) -> Any:
        for row in response.css("li.entry"):
            link = response.urljoin(row.css("a::attr(href)").get(""))
            yield {"link": link, "name": row.css("a::text").get(), "content": link}
        yield from self.links(response)


@situation(contents=4 * WARES, finds=4 * WARES)
def entries_with_absolute_links_at_two_hosts_of_a_site(site: Site) -> Any:
    hosts = ("http://www.site.example", "http://site.example")
    for page in range(4):
        rows = "".join(
            f'<li class="entry"><a href="{hosts[0]}/kettle/{page}-{k}">{words(12, (page, k))}</a>'
            for k in range(WARES)
        )
        text = full(words(60, ("list", page)), f"Kettles {page}", f"<ul>{rows}</ul>")
        for host in hosts:
            site.put(f"{host}/kettles/{page}", text)
    site.index(*(f"{host}/kettles/{page}" for host in hosts for page in range(4)))
    return Linked


class Stories(PromiseSpider):
    """Of full views with a summary."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        if "/story/" in response.url or "/print/" in response.url:
            item = {"title": _heading(response), "text": response.css("p::text").get()}
            if summary := response.css(".summary p::text").get():
                item["summary"] = summary
            yield {**item, "content": item["title"]}
        yield from self.links(response)


@situation(contents=2 * WARES + 1, finds=WARES)
def print_views_without_a_summary_that_are_found_on_the_second_day(site: Site) -> Any:
    n_stories = 2 * WARES
    for n in range(n_stories + 1):
        summary = f'<div class="summary"><p>{words(30, ("summary", n))}</p></div>'
        site.put(f"/story/{n}", full(words(300, seed=n), f"Story {n}", summary))
        site.put(f"/print/{n}", bare(words(300, seed=n), f"Story {n}"))

    def index(asked: Asked) -> Answer:
        first = [f"/story/{n}" for n in range(n_stories)]
        second = [f"/story/{n_stories}", *(f"/print/{n}" for n in range(n_stories))]
        links = (f'<li><a class="next" href="{path}">{path}</a></li>' for path in
                 (first if asked.day == 1 else second))  # fmt: skip
        return Answer(f"<title>Index</title><ul>{''.join(links)}</ul>")

    site.on("/", index)
    store = {"NEARDUP_STORE": f"sqlite:///{site.folder}/seen.sqlite"}
    return [Run(Stories, **store), Run(Stories, **store)]
