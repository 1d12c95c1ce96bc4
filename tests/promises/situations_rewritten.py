"""Values that come with a request and that the callback writes in another form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from scrapy import Selector
from scrapy.http import Response

from tests.promises.harness import (
    Answer,
    PromiseSpider,
    Run,
    Site,
    bare,
    content_of,
    full,
    situation,
    with_store,
    words,
)

#: What the list says of each show, and what the callback makes of it.
REWRITTEN: dict[str, tuple[Sequence[Any], Callable[[Any], Any]]] = {
    "a_date_as_iso_8601": (
        ["05.05.2027 19:00", "06.05.2027 19:00", "07.05.2027 15:00"],
        lambda said: datetime.strptime(said, "%d.%m.%Y %H:%M").isoformat(),
    ),
    "the_day_of_a_time": (
        ["2027-05-05T19:00:00Z", "2027-05-06T19:00:00Z", "2027-05-07T19:00:00Z"],
        lambda said: said[:10],
    ),
    "a_price_as_a_number": (["€ 12", "€ 14", "€ 19"], lambda said: float(said.strip("€ "))),
    "a_price_in_cents": ([1290, 1490, 1990], lambda said: said / 100),
    "a_rank_from_one_on": ([0, 1, 2], lambda said: said + 1),
    "the_first_name_first": (
        ["Berg, Ann", "Dahl, Carl", "Foss, Eva"],
        lambda said: " ".join(reversed(said.split(", "))),
    ),
    "a_code_as_a_name": (
        ["no", "se", "dk"],
        lambda said: {"no": "Norway", "se": "Sweden", "dk": "Denmark"}[said],
    ),
    "a_class_as_a_number_of_stars": (
        ["star-rating Three", "star-rating One", "star-rating Five"],
        lambda said: ["One", "Two", "Three", "Four", "Five"].index(said.split()[1]) + 1,
    ),
    "a_text_as_a_truth_value": (["Tickets", "Sold out"], lambda said: said == "Tickets"),
    "a_truth_value_as_its_opposite": ([True, False], lambda said: not said),
    "a_truth_value_as_a_word": ([True, False], lambda said: "yes" if said else "no"),
    "a_truth_value_as_a_state": ([True, False], lambda said: "SoldOut" if said else "InStock"),
    "the_colour_in_a_label": (
        ["Kettle / blue", "Kettle / red", "Kettle / green"],
        lambda said: said.split(" / ")[1],
    ),
    "the_size_in_a_label": (["Size M", "Size L", "Size S"], lambda said: said.split()[1]),
    "the_size_in_a_row_of_html": (
        ["<i>138</i>&nbsp;cm", "<i>139</i>&nbsp;cm", "<i>140</i>&nbsp;cm"],
        lambda said: Selector(text=said).xpath("string()").get("").replace("\xa0", " "),
    ),
    "a_price_that_the_page_shows_among_others": (
        ["138.50", "139.50", "140.50"],
        float,
    ),
    "the_number_of_a_size_in_a_label": (
        ["Size 138", "Size 139", "Size 140"],
        lambda said: int(said.split()[1]),
    ),
}
#: All pages say this, so the page of a ware does not tell which one it is.
ALL_OF_THEM = (
    "Available in blue, red and green, S, M and L, 138 cm, 139 cm and 140 cm, 138.5, 139.5, 140.5."
)


class Counting(PromiseSpider):
    """Hands on the number of the list's page, of which its items hold nothing."""

    def parse(self, response: Response, **kwargs: Any) -> Any:
        for number, link in enumerate(response.css("a.next")):
            yield response.follow(link.attrib["href"], self.story, cb_kwargs={"page": 100 + number})

    def story(self, response: Response, page: int) -> Any:
        yield {
            "content": content_of(response),
            "title": response.css("h1::text").get(),
            "text": response.css("article p::text, body > p::text").get(),
            "views": int(response.css(".views::text").re_first(r"\d+", "")),
            "fetched_at": datetime.now().isoformat(),
            "id": uuid4().hex,
        }


@situation(contents=4, finds=4)
def copies_whose_requests_carry_something_that_no_item_holds(site: Site) -> Any:
    for number in range(4):
        text, title = words(200, number), f"Story {words(2, number)}"
        for view, (template, folder) in enumerate([(full, "story"), (bare, "print")]):
            views = f'<p class="views">Viewed {4711 + 35 * number + view} times</p>'
            site.put(f"/{folder}/{number}", template(text, title, views), f"story {number}")
    site.index(*(f"/{folder}/{n}" for n in range(4) for folder in ("story", "print")))
    return Counting


class Rewriting(PromiseSpider):
    """Hands on what the list says of each show, and stores what it makes of that."""

    said: Sequence[Any]
    rewritten: Callable[[Any], Any]

    def parse(self, response: Response, **kwargs: Any) -> Any:
        day = int(response.headers["X-Day"] or b"")
        for number in range(len(self.said)):
            said = self.said[(number + day) % len(self.said)]
            yield response.follow(f"/show/{number}", self.show, cb_kwargs={"said": said})

    def show(self, response: Response, said: Any) -> Any:
        text = response.css("article p::text").get()
        title = response.css("h1::text").get()
        made = type(self).rewritten(said)
        content = f"{title} {made}" if title != "Hamlet" else made
        yield {"content": content, "text": text, "url": response.url}


def _shows(site: Site, *titles: str) -> None:
    for number, title in enumerate(titles):
        page = full(words(200, title), title, f"<p>{ALL_OF_THEM}</p>")
        site.put(f"/show/{number}", page)
    site.on("/", lambda asked: Answer("<p>Shows", headers={"X-Day": f"{asked.day}"}))


def _registered(name: str, said: Sequence[Any], rewritten: Callable[[Any], Any]) -> None:
    spider = type("Shows", (Rewriting,), {"said": said, "rewritten": staticmethod(rewritten)})

    def of_equal_pages(site: Site) -> Any:
        _shows(site, *["Hamlet"] * len(said))
        return spider

    def from_day_to_day(site: Site) -> Any:
        _shows(site, *(f"Show {words(1, number)}" for number in range(len(said))))
        return with_store(site, *(Run(spider, NEARDUP_REVISIT="drop") for _ in said))

    for build, contents in (of_equal_pages, len(said)), (from_day_to_day, len(said) ** 2):
        build.__name__ = f"{name}_{build.__name__}"
        situation(contents=contents)(build)


for _name, (_said, _rewritten) in REWRITTEN.items():
    _registered(_name, _said, _rewritten)
