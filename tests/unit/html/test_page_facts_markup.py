"""Facts beside texts of different markup."""

from __future__ import annotations

from typing import Any

import pytest
from lxml.html import fromstring

from scrapy_neardup import NearDupDetector
from scrapy_neardup.html.extraction import read_page
from scrapy_neardup.html.page_lines import last_line, solid
from tests.support.texts import FERRY, MUSEUM, TEA
from tests.unit.html.test_page_facts import stated

BOXES = "<div class=buy><span class=price>199 SEK</span></div><div>Colour: red</div>"
STATED = {("", "199sek"), ("Colour", "red")}


DESCRIPTIONS = {
    "plain": "<p>{}</p>",
    "bold": "<p>{} <b>Yes.</b></p>",
    "link": "<p>{} <a href=/x>More</a></p>",
    "span": "<p><span>{}</span></p>",
    "sup": "<p>{}<sup>1</sup></p>",
    "break": "<p>{}<br>It is so.</p>",
    "section": "<section>{}</section>",
    "quote": "<blockquote>{}</blockquote>",
    "item": "<ul><li><span>{}</span></ul>",
    "font": "<font>{}</font><br>",
    "button": "<div>{} <button>Show</button></div>",
}


def described(html: str, tree: Any) -> str:
    """Takes the paragraphs of the description for the main text."""
    return "\n".join((FERRY, MUSEUM, TEA))


def facts(html: str) -> list[tuple[str, str]]:
    found = stated(html, described)
    return [(fact.label, fact.stated) for fact in found if not fact.is_line]


def shop(description: str, below: str = "", footer: str = "Imprint") -> str:
    text = "".join(description.format(text) for text in (FERRY, MUSEUM, TEA))
    return (
        "<html><head><title>Kettle</title></head><body><header><a href=/>Home</a></header><main>"
        f"<h1>Kettle</h1>{BOXES}<div class=desc>{text}</div></main>{below}"
        f"<footer>{footer}</footer></body></html>"
    )


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_facts_are_found_whatever_markup_the_description_has(name):
    assert set(facts(shop(DESCRIPTIONS[name]))) == STATED


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_footer_that_repeats_a_line_does_not_move_the_end(name):
    other = "<div><h3>Teapot</h3><div>Size: XL</div><span>7 SEK</span></div>"
    page = shop(DESCRIPTIONS[name], below=other, footer=f"<p>{FERRY}</p><div>{TEA}</div>")
    assert set(facts(page)) == STATED


def ends(body: str, main: str) -> Any:
    line = last_line(fromstring(f"<body>{body}</body>"), solid(main))
    return line and "".join(line.texts).strip()


@pytest.mark.parametrize(
    ("body", "last"),
    [
        (f"<p>{FERRY}<p>{TEA}", TEA),
        (f"<div>{FERRY}<br><br>{TEA}</div>", TEA),
        (f"<div>{FERRY}<p>{MUSEUM}</p>{TEA}</div>", TEA),
        (f"<p>{FERRY}<p>{TEA}<p>{FERRY}", TEA),
        (f"<p>{TEA}<p>In short", TEA),
        ("<p>短い文です<p>お茶です", "お茶です"),
        (f"<footer><p>{TEA}</footer>", TEA),
        ("<p>a<p>b", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_last_line_is_the_one_closest_to_the_end_of_the_text(body, last):
    assert ends(body, f"{FERRY}\n{MUSEUM}\n短い文です\nお茶です\n{TEA}") == last or (
        last == "お茶です" and ends(body, "短い文です\nお茶です") == last
    )


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        (f"<main><div><h1>Kettle</h1>{TEA}<p></div></main>$7", set()),
        (f"<div><h1>Kettle</h1>{TEA}<p>$7</div>", {("price", "$7")}),
        (f"<p>{TEA}<h1>Kettle</h1><p>$7", {("", "$7")}),
    ],
)
def test_nothing_stands_between_a_heading_and_a_text_right_behind_it(top, expected):
    html = f"<html><head><title>Kettle</title></head><body>{top}</body></html>"
    found = stated(html, lambda html, tree: f"{TEA}\nKettle" if "<p>The" in top else TEA)
    assert {fact[:2] for fact in found if not fact.is_line} == expected


@pytest.mark.parametrize(
    "beside",
    [
        "<div>x: <b>5</b> SEK<br></div>" * 8000,
        "<span>19 SEK </span>" * 20000,
        "<section>a line that is nowhere</section>" * 20000,
        "KX-221 <b>new</b><br>" * 14000,
        "<h3>€</h3> ★ <i>5 SEK</i><hr>" * 9000,
    ],
)
def test_pages_of_lines_and_prices_only_are_read(beside):
    """None takes time in the square of its size."""
    page = shop(DESCRIPTIONS["bold"]).replace(BOXES, beside)
    assert len(read_page(page, described).facts) <= 1000


@pytest.mark.parametrize("price", ["$5", "0 SEK", "$50", "50 SEK"])
def test_a_price_is_not_in_the_text_for_a_longer_number(price):
    page = shop("<p>{}</p>").replace(BOXES, f"<div>{price}</div>")
    found = stated(page, lambda html, tree: f"Only $50 or 50 sek. {TEA}")
    assert len([fact for fact in found if not fact.is_line]) == ("50" not in price)


@pytest.mark.parametrize(
    "layout",
    [
        "<div><h3><a href=/trip>Trip to {}</a></h3>TEXT</div><h3>Other places</h3><p>Ask us.",
        "<div class=box><h3>Our trips</h3></div><div><h3><a href=/x>Trip to {}</a></h3>TEXT</div>",
        "<div class=box><h3>Our trips</h3></div><div><h3><a name=x></a>Trip to {}</h3>TEXT</div>",
        f"<main><h1>{'Trip_<wbr>' * 12}{{}}</h1><article>TEXT</article></main>",
    ],
)
def test_a_heading_counts_whatever_markup_it_has(layout):
    detector = NearDupDetector()
    text = "".join(f"<p>{part}</p>" for part in (FERRY, MUSEUM, TEA))
    verdicts = [
        detector.check(
            url=f"https://a.example/{town}",
            html=f"<title>Trips</title><body>{layout.format(town).replace('TEXT', text)}</body>",
        )
        for town in ("Leeds", "Bath")
    ]
    assert [each.kind for each in verdicts] == ["new", "new"]
