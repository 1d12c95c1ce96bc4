"""Contents that later attacks lost: equal bodies read ahead, other texts of equal pages, titles."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from scrapy import Request
from scrapy.http import Response

from tests.promises.harness import (
    PromiseSpider,
    Site,
    bare,
    content_of,
    full,
    paragraph,
    situation,
    words,
)


class SlowFirst(PromiseSpider):
    """A spider whose callbacks end in another order than their pages arrived in."""

    async def parse(self, response: Response, **_: Any) -> Any:
        await asyncio.sleep(0.5 if "/0/" in response.url else 0)
        if label := content_of(response):
            yield {"content": label, "url": response.url}
        for request in self.links(response):
            yield request


def _councils(site: Site) -> Any:
    for number in range(3):
        url = f"/council/{number}/"
        link = '<a href="minutes.pdf">Minutes as PDF</a>'
        site.put(url, full(words(200, "council"), "Council", link), content=url)
    site.index()
    return SlowFirst


@situation(contents=3, NEARDUP_WORKERS=1)
def equal_pages_in_several_folders_whose_callbacks_take_longer(site: Site) -> Any:
    return _councils(site)


@situation(contents=3, NEARDUP_WORKERS=1, NEARDUP_EXTRACTION="lazy")
def equal_pages_in_several_folders_of_a_lazy_crawl(site: Site) -> Any:
    return _councils(site)


@situation(contents=18, NEARDUP_EXTRACTION="lazy", CONCURRENT_REQUESTS=1)
def offers_of_one_title_above_the_terms_of_their_site(site: Site) -> Any:
    terms = "".join(f"<p>{paragraph(words(60, f'terms {n}'))}</p>" for n in range(8))
    for n in range(12):
        site.put(f"/{n}", full(words(96, n), words(3, f"title {n}"), terms), content=f"offer {n}")
    for n in range(3):
        for place in "ab":
            text = f"{words(24, n)} {words(72, f'{n} {place}')}"
            page = full(text, words(3, f"name {n}"), terms)
            site.put(f"/{n}/{place}", page, content=f"{n} {place}")
    site.index()
    return PromiseSpider


class Variants(PromiseSpider):
    """Each address of a ware shows all variants; the spider takes the one that it names."""

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, str] | Request]:
        if label := content_of(response):
            texts = response.css(".variant::text").getall()
            yield {"content": label, "text": texts[int(response.url[-1])]}
        yield from self.links(response)


@situation(contents=4)
def variants_of_which_each_item_holds_one(site: Site) -> Any:
    variants = "".join(f"<div class=variant>{words(30, n)}</div>" for n in range(4))
    for n in range(4):
        site.put(
            f"/shirt?variant={n}", full(words(200, "rules"), "Shirt", variants), f"variant {n}"
        )
    site.index(*(f"/shirt?variant={n}" for n in range(4)))
    return Variants


def _put_pairs(
    site: Site, pairs: Sequence[tuple[str, str]], page: Callable[[int, str], str]
) -> None:
    """Serve a page for each of two things; pages of a pair are alike but for them."""
    for number, pair in enumerate(pairs):
        for place, each in enumerate(pair):
            site.put(f"/{number}/{place}", page(number, each), content=f"{number} {place}")


#: What two pages of one title may state in a single place.
STATED = [
    ("60 x 90 cm", "70 x 110 cm"),
    ("Floor 1, room 101", "Floor 2, room 214"),
    ("345 and 678 of them", "352 and 681 of them"),
    ("It ended 2:1", "It ended 0:3"),
    ("Call +49 30 1234567", "Call +49 40 7654321"),
    ("Use the code AB12CD", "Use the code XK98ZQ"),
    ("Leeds, 7 and 13 degrees", "York, 13 and 5 degrees"),
    ("Ask for Mr Young", "Ask for Mr Oglethorpe"),
    ("It has three rooms", "It has four rooms"),
    ("Pets are allowed", "Pets are not allowed"),
    ("Unit A1 of block B", "Unit C3 of block D"),
    ("Size: S", "Size: M"),
    ("Size: 42", "Size: 43"),
    ("Weight: 250 g", "Weight: 500 g"),
    ("Doors: 5 March 2026", "Doors: 6 March 2026"),
    ("It is colour 3fa9c1", "It is colour 7be02d"),
    ("Call 030 123456789", "Call 030 987654321"),
    ("Play it in C♯ then", "Play it in C♭ then"),
    ("It says ∀ of them", "It says ∃ of them"),
]


@situation(contents=2 * len(STATED))
def pages_of_one_title_that_state_other_things_in_one_place(site: Site) -> Any:
    _put_pairs(
        site,
        STATED,
        lambda number, stated: full(
            words(60, number), "Notice", f"<p>{stated}</p><p>{words(60, -number)}</p>"
        ),
    )
    site.index()
    return PromiseSpider


@situation(contents=3)
def jobs_of_one_title_in_several_towns(site: Site) -> Any:
    for town in ("Leeds", "York", "Essen"):
        page = full(words(120, "job"), "Driver", f"<p>{words(60, 'terms')}</p>")
        page = page.replace("</h1>", f"</h1><div class=location>{town}</div>", 1)
        site.put(f"/jobs/{town}", page, content=town)
    site.index()
    return PromiseSpider


#: Titles of references, two and two, of which one is not a copy of the other.
TITLES = [
    ("MPI_Gather", "MPI_Gather_init"),
    ("Index - +", "Index - *"),
    ("Index - |", "Index - ^"),
    (">", ">="),
    ("Move Method (Entry, Boolean)", "Move Method (Entry, Boolean, Locking)"),
    ("footnote.number.symbols", "table.footnote.number.symbols"),
    ("sigc::bound_functor", "sigc::const::bound_functor"),
]


@situation(contents=2 * len(TITLES))
def entries_of_references_with_like_titles(site: Site) -> Any:
    _put_pairs(site, TITLES, lambda number, title: bare(words(200, number), escape(title)))
    site.index()
    return PromiseSpider


#: Titles of wares, two and two, of which one ends with the other.
WARES = [
    ("5 kg bag", "2.5 kg bag"),
    ("500-piece puzzle", "1,500-piece puzzle"),
    ("4 inch pipe", "3/4 inch pipe"),
    ("Smoking room", "Non-smoking room"),
    ("Germany - France", "France - Germany"),
]


@situation(contents=2 * len(WARES))
def wares_whose_titles_end_with_those_of_others(site: Site) -> Any:
    _put_pairs(site, WARES, lambda number, title: full(words(200, number), title))
    site.index()
    return PromiseSpider


#: Headings of pages of one title.
HEADINGS = [
    ("Article 1", "Article 2"),
    ("Unit A1", "Unit D7"),
    ("Men", "Women"),
    ("CVE-2025-1001", "CVE-2025-1002"),
]


@situation(contents=2 * len(HEADINGS))
def pages_of_one_title_with_headings_in_their_articles(site: Site) -> Any:
    _put_pairs(
        site,
        HEADINGS,
        lambda number, heading: full(words(200, number), "Portal").replace(
            "<h1>Portal", f"<h1>{heading}"
        ),
    )
    site.index()
    return PromiseSpider


#: The names of methods: common words, which are no values.
OF_COMMON_WORDS = ("get", "put", "do"), ("open", "close", "do"), ("go", "stop", "put")


@situation(contents=6)
def references_of_one_title_that_differ_in_heading_or_code(site: Site) -> Any:
    members = "".join(f"<tr><td>{word}()</td></tr>" for word in words(60, "inherited").split())
    for number, name in enumerate(("Button", "Box", "Browser")):
        head = f"<head><title>Toolkit: Member List</title></head><div class=title>{name} Members"
        own = "".join(f"<tr><td>{word} it()</td></tr>" for word in OF_COMMON_WORDS[number])
        page = f"<html>{head}</div><body><table>{members}{own}</table></body></html>"
        site.put(f"/members/{number}", page, content=name)
        code = f'<pre>&lt;param name="border" select="{number}"/&gt;</pre>'
        page = full(words(60, "param"), "border", f"{code}<p>{words(60, 'more')}</p>")
        site.put(f"/param/{number}", page, content=f"border {number}")
    site.index()
    return PromiseSpider


_THAI = (
    "เรือเฟอร์รี่ออกจากท่าเรือเก่าวันละสองครั้ง ยกเว้นวันอาทิตย์ที่ลูกเรือหยุดพัก "
    "พิพิธภัณฑ์ขนาดเล็กจัดแสดงโคมไฟ แผนที่ และจดหมายที่ผู้ดูแลเขียนถึงครอบครัว "
)
#: What pages of one title and one text state, each with two values or more.
_STATED = (
    (f"<p>{_THAI * 2}<p>ห้องพักหมายเลข {{}} ว่าง<p>{_THAI * 2}", ("12", "17", "23")),
    ("<ul><li>Colour: black<li>Size: {}</ul>", ("S", "M", "L")),
    ("<p>The jacket in size {} is made for cold days.</p>", ("S", "M", "L")),
    ("<ul><li>Skin: dry<li>Quantity: {}</ul>", ("30 ml", "50 ml")),
    ("<ul><li>颜色：红<li>尺寸：{}</ul>", ("大", "小")),
    ('<script type="text/x-magento-init">{{"*": {{"sku": "{}"}}}}</script>', ("K-1", "K-2")),
    ('<div role="img" aria-label="Rated {} of 5"></div>', ("2.5", "4.5")),
    ('<a href="https://docs.google.com/document/d/{}/edit">Report</a>', ("1aB", "1cD")),
    ('<script>player("film").setup({{file: "/films/{}.m3u8"}})</script>', ("boat", "train")),
    ("<style>.hero {{ background: url(/photos/{}.jpg) }}</style>", ("boat", "train")),
    ('<meta property="og:title" content="Jacket {}">', ("Alpha", "Beta")),
)


@situation(contents=sum(len(values) for _, values in _STATED))
def pages_of_one_title_that_differ_in_one_thing(site: Site) -> Any:
    for number, (stated, values) in enumerate(_STATED):
        for n, value in enumerate(values):
            more = stated.format(value)
            site.put(f"/{number}/{n}", full(words(120, number), "Jacket", more), f"{number}.{n}")
    site.index()
    return PromiseSpider
