"""Facts that a page states beside its main text."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.html.extraction import read_page
from scrapy_neardup.html.facts.content import HEADING_IN_TITLE, Fact
from scrapy_neardup.signatures.facts import (
    MAX_FACTS,
    MAX_FIELDS,
    MAX_LINES,
    fields_differ,
    headings_differ,
    states_more,
    without_lines,
)
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore
from tests.support.texts import FERRY


def page(beside: str, head: str = "", below: str = "") -> str:
    """Return a page with elements between its heading and main text, and below the text."""
    return (
        f"<html><head><title>Kettle</title>{head}</head><body><nav>Shop: tea</nav>"
        f"<main><div><h1>Kettle</h1>{beside}<p>{FERRY}</p>{below}</div></main>"
        "<p>Shop: tea for $9</p></body>"
    )


def detector() -> NearDupDetector:
    """Takes the paragraph about a ferry for the main text."""
    store = MemoryStore(b"a secret for tests")
    return NearDupDetector(store=store, extractor=ferry)


def ferry(html: str, tree: Any) -> str:
    return FERRY


def stated(html: str, extract: Any) -> list[Fact]:
    """Facts of a page, without a heading that stands in its title."""
    found = read_page(html, extract).facts
    return [fact for fact in found if fact.label != HEADING_IN_TITLE]


def facts(beside: str, head: str = "", below: str = "") -> list[tuple[str, str]]:
    found = stated(page(beside, head, below), ferry)
    return [(fact.label, fact.stated) for fact in found if not fact.is_field]


def fields(html: str, extract: Any) -> list[tuple[str, str]]:
    found = read_page(html, extract).facts
    return [fact[:2] for fact in found if fact.is_field and not fact.is_line]


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        (
            "<table><tr><th>Colour<td>red<tr><td>Size<td>XL<td>42</table>",
            [("Colour", "red"), ("Size", "XL")],
        ),
        (
            "<dl><dt>Weight:<dd>1.5 <b>kg</b><dt>ISBN<dd>AB-978</dl>",
            [("Weight", "kg"), ("ISBN", "AB-978")],
        ),
        ("<ul><li><b>Colour:</b> red<li>尺寸：大号</ul>", [("Colour", "red"), ("尺寸", "大号")]),
        ("<div><i>Colour</i><span>: red</span></div>", [("Colour", "red")]),
        ("<div class=price><b>$</b><span>1,200.50</span></div>", [("", "$1,200.50")]),
        ("<div>$ 19 <sup>99</sup></div>", [("", "$1999")]),
        ("<div><b>19.</b>\n   <i>€</i></div>", [("", "19.€")]),
        ("<div>4</div><div>55 <b>USD</b></div>", [("", "55usd")]),
        ("<div>12&nbsp;990&nbsp;€</div><p>7.5万円", [("", "12990€"), ("", "7.5万円")]),
        ("<i>Only 5元 today</i><i>5 EUR</i>", [("", "5元"), ("", "5eur")]),
        ("<ul><li><h2>$5</h2></ul>", [("", "$5")]),
        # counters and clocks, and what is there for other pages
        ("<p>Views: 1034</p><p>At: 12:30</p><table><tr><td>Views<td>1034</table>", []),
        ("<p>Server time 12:30 GMT</p>", []),
        ("<nav><table><tr><td>Colour<td>red</table></nav>", []),
        ("<aside>Colour: red</aside><div class='box related-items'><p>$5</p></div>", []),
        ("<p><a href=/x>$7</a>", []),
        # neither rows nor lines
        (f"<table><tr><td>{FERRY}<td>red</table><p>Colour: {FERRY}</p>", []),
        ("<table><tr><td>Colour</table><dl><dd>red</dl>", []),
    ],
)  # fmt: skip
def test_facts_are_rows_terms_labels_and_prices_in_front_of_the_text(beside, expected):
    assert sorted(facts(beside)) == sorted(expected)


@pytest.mark.parametrize(
    ("label", "value", "tells"),
    [
        ("Size", "42", True),
        ("Contents", "500 ml", True),
        ("Telephone", "+44 20 7946 0958", True),
        ("重量", "250克", True),
        ("Advisory", "CVE-2024-10321", True),
        ("Camera", "192.168.1.20", True),
        ("Order number", "4711", True),
        ("Pages", "320", True),
        ("Country code", "49", True),
        ("Standbreite", "60 cm", True),
        # of what may be another number when a copy is fetched
        ("Views", "42", False),
        ("In stock", "5", False),
        ("Last 24 hours", "17", False),
        ("Ends in", "3 days", False),
        ("anna", "Posts: 3", False),
        ("المشاهدات", "42", False),
        ("Available sizes", "S, M", True),
        ("Last name", "Smith", True),
        ("Power", "1950 W", True),
        ("Status", "sold", True),
        ("Level", "easy", True),
        ("Level", "7", False),
        ("Format", "online", True),
        ("Status", "online", False),
        ("Sleeps", "4 guests", True),
        ("Browsing", "3 guests", False),
        ("Days to go", "3 days", False),
        ("Notice period", "14 days", True),
        ("Popularity", "51 views", False),
        ("Doors", "19:00", True),
        ("Duration", "3:42", True),
        ("Scale", "1:72", True),
        ("Server time", "19:32", False),
        ("Time (UTC)", "19:32", False),
        ("Lap time", "1:32", True),
        ("Length", "1:23:45", True),
        ("Updated", "19:32", False),
        ("Verfügbarkeit", "3 Stück", False),
        ("Page views", "42", False),
        ("Просмотров", "42", False),
        ("阅读次数", "42", False),
        ("Printed", "2026-03-05", False),
        ("Posted on", "5 March 2026", False),
        ("Last visit", "2026-03-05", False),
        ("发布时间", "2026年3月5日", False),
        ("By", "Agent 47", False),
        ("№", "42", False),
        ("Agent", "محمد", True),
        ("Pets", "allowed", True),
        ("Size", "a long sentence with 42 in it", False),
        ("Note", "it was lost", True),
        ("注意", "本文较早的版本里有一处错误", False),
        ("注意", "有错误。", False),
    ],
)
def test_a_short_value_counts_behind_a_label_that_is_no_counters(label, value, tells):
    """Also where the main text has it, in which one other number may be a counter."""
    pages = [page(f"<p>{label}: {value}"), page(f"<table><tr><td>{label}<td>{value}</table>")]
    for html in pages:
        found = fields(html, lambda html, tree: f"{label}: {value}\n{FERRY}")
        assert ((label, value) in found) == tells


@pytest.mark.parametrize(
    "label", ["Date", "Datum", "Fecha", "When", "日期", "Abfahrt", "Fällig am"]
)
@pytest.mark.parametrize(
    ("value", "other", "are_one"),
    [
        ("5 March 2026", "12 March 2026", False),
        ("5 March 2026", "5 April 2026", False),
        ("5 March 2026", "2026-03-05", True),
        ("Thursday, March 5th, 2026", "05.03.2026", True),
        ("2026年3月5日", "5 mars 2026", True),
    ],
)
def test_a_date_that_may_be_an_events_counts_in_any_format(label, value, other, are_one):
    found = [fields(page(f"<dl><dt>{label}<dd>{date}</dl>"), ferry) for date in (value, other)]
    assert all(found)
    assert (found[0] == found[1]) == are_one


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ("<time>5 March 2026</time>", ["5 3 2026"]),
        ("<div class=event-date>Thu, Mar 5 @ 19:30 - 21:00</div>", ["5 3 19:30 21:00"]),
        ("<ul class=meta><li>Hall<li>2026-03-05</ul>", ["5 3 2026"]),
        ("<p>2026年3月5日（木）</p>", ["5 3 2026"]),
        ("<div>5 March 2026, 19:32</div>", ["5 3 2026"]),
        # of a page, of a visit, from now on, and none
        ("<time class='entry-date published'>5 March 2026</time>", []),
        ("<div class=post-meta><span>5 March 2026</span></div>", []),
        ("<div><time itemprop=datePublished>5 March 2026</time></div>", []),
        ("<p>Posted on 5 March 2026</p><p>5 March 2026 by Anna Lind</p>", []),
        ("<div>2026-03-05 12:30, 7 comments</div>", []),
        ("<p>Today is 5 March 2026</p><p>Last updated: 5 March 2026</p>", []),
        ("<p>5 March, 3 days ago</p><p>19:30</p><p>The march of 12 men</p>", []),
    ],
)
def test_dates_above_the_text_count_that_may_be_an_events(above, expected):
    assert [stated for label, stated in fields(page(above), ferry) if label == "date"] == expected


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ("<div class=location>Leeds</div>", ["Leeds"]),
        ("<div><span>Full-time</span> <span>Berlin</span></div>", ["Full-time", "Berlin"]),
        ("<section>Third edition, 352 pages</section>", ["Third edition, pages"]),
        ("<p>القاهرة</p><div>北京</div>", ["القاهرة", "北京"]),
        ("<div class=hero><h2>Harbour view</h2></div><h3>Room 12", ["Harbour view", "Room 12"]),
        # bylines, dates, counters, numbers alone, and what visitors use
        ("<div class='post-author'>Anna Lind</div><div>By Anna Lind</div>", []),
        ("<div class=entry-meta><div>Anna Lind</div></div>", []),
        ("<div>5 March 2026</div><div>2 hours ago</div><div>3 comments</div><div>1034</div>", []),
        ("<div><a href=/x>Ferries</a></div><div>Share <button>on</button></div>", []),
        ("<div>Ferries › Islands</div>", []),
        (f"<div>{FERRY[:70]}</div>", []),
    ],
)  # fmt: skip
def test_short_lines_above_the_text_count(above, expected):
    assert [stated for label, stated in fields(page(above), ferry) if not label] == expected


@pytest.mark.parametrize(
    ("above", "heading"),
    [
        ("<div class=hero><h2>Harbour view</h2></div>", "Harbour view"),
        ("<h2>News of the day</h2><h3>Room 12</h3>", "Room 12"),
        ("<div class=product_name>Kettle X</div>", "Kettle X"),
        ("<nav><h2>Menu</h2></nav><p>Room 12", None),
        (f"<p>{FERRY}<h2>Timetable</h2>", None),
    ],
)
def test_without_a_first_heading_the_last_one_above_the_text_counts(above, heading):
    html = page(above).replace("<h1>Kettle</h1>", "")
    found = [fact.stated for fact in read_page(html, ferry).facts if fact.label == "heading"]
    assert found == ([heading] if heading else [])


def test_lines_within_the_text_are_the_extractors():
    html = page(f"<div>Leeds</div><p>{FERRY}</p><div>York</div>")
    assert fields(html, ferry) == [("", "Leeds")]


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        ("KETTLE<table><tr><td>Colour<td>red</table>", [("Colour", "red")]),
        ("<table><tr><td>Colour<td>red</table>KETTLE", [("Colour", "red")]),
        ("KETTLE<dl><dt>Size<dd>42</dl><p>Kept in: Leeds", [("Kept in", "Leeds"), ("Size", "42")]),
        # of prices, that below the text, or else the last one above the heading
        ("<p>$5</p><p>$6</p>KETTLE<div><b>$7</b></div><p>$8</p>", [("price", "$7")]),
        ("<p>$5</p><p>$6</p>KETTLE<aside>$7 <a href=/>Lamp</a></aside>", [("price", "$6")]),
        ("<p>$5</p>KETTLE<aside><p>$7</p></aside><a href=/>$8</a>", [("price", "$7")]),
        # in a heading of its own, but none beside a name
        ("KETTLE<h3>$5</h3><h4>$6</h4>", [("price", "$5")]),
        ("KETTLE<div><h4><span>250 <b>EUR</b></span></h4></div>", [("price", "250eur")]),
        ("KETTLE<div><h3>Lamp $5</h3></div>", []),
        ("KETTLE<div><h3>$5</h3><h4>Lamp</h4><p>Oak</p></div>", []),
        # what is about other pages, or for visitors
        ("KETTLE<div class='related-offers'><p>Colour: red</p><p>$5</p></div>", []),
        ("KETTLE<ul class=recently-viewed><li>Colour: red<li>$5</ul>", []),
        ("<header>Ship to: Leeds <b>$0</b></header>KETTLE<div class=ads>$5</div>", []),
        (
            "KETTLE<div><h3>Lamp</h3><b>$5</b></div><div><a href=/x><img></a><p>$5</p></div>",
            [("Lamp", "$5")],
        ),
    ],
)
def test_fields_count_all_around_heading_and_text(around, expected):
    kettle = f"<article><h1>Kettle</h1><p>{FERRY}</p></article>"
    inside = around.replace("KETTLE", kettle)
    box = around.replace("KETTLE", f"<div><div>{kettle}</div></div>")
    for body in (f"<main>{inside}</main>", inside, f"<div>{box}</div>"):
        html = f"<html><head><title>Kettle</title></head><body>{body}</body></html>"
        found = [fact for fact in stated(html, ferry) if not fact.is_line]
        assert all(fact.is_field and fact.is_around for fact in found)
        assert sorted(fact[:2] for fact in found) == expected


@pytest.mark.parametrize(
    "body",
    [
        "<main>KETTLE</main><p>Colour: red</p><p>$5</p>",
        "<div><div><div><div>KETTLE</div></div></div></div><p>Colour: red</p><p>$5</p>",
        "<div>KETTLE</div><p>Colour: red</p><p>$5</p>",
    ],
)
def test_but_not_outside_of_the_main_element_or_of_the_columns(body):
    kettle = f"<article><h1>Kettle</h1><p>{FERRY}</p></article>"
    html = f"<html><head><title>Kettle</title></head><body>{body}</body></html>"
    assert stated(html.replace("KETTLE", kettle), ferry) == []


def test_fields_around_the_content_leave_room_for_its_own():
    offices = "".join(f"<p>Label {'ab'[n % 2] * n}x: 5</p>" for n in range(1, 60))
    layout = "<title>Kettle</title><div>{}</div>"
    column = f"<div>{offices}</div>"
    for n in range(20):
        own = [
            f"<div><h1>Kettle</h1><p>Own{'x' * n}: {value}</p><p>{FERRY}</p></div>"
            for value in (42, 57)
        ]
        one, other = (
            detector().signature(url="https://a.example/", html=layout.format(each + column))
            for each in own
        )
        assert len(one.facts) == 4 * (MAX_FIELDS + MAX_LINES + 2)
        assert fields_differ(one, other)


@pytest.mark.parametrize(
    "html",
    [
        "<html role=main><body><div><p>TEXT</p></div><p>Colour: red</p></body></html>",
        "<body id=title>Hi<p>TEXT</p></body>",
        "<html><body class=page-name>Kettle<p>TEXT</p>$5</body></html>",
        "<div class=name>Kettle<p>TEXT</p><p>b</p></div>",
        "<h1><b>TEXT</b><i>of it</i></h1>",
        "<body><main><h1>A</h1></main><main><p>TEXT</p><p>Colour: red</p></main></body>",
        "<html><frameset><noframes><body><h1>A</h1>TEXT</body></noframes></frameset></html>",
    ],
)
def test_pages_of_any_structure_are_read(html):
    text = FERRY[:80]
    assert read_page(html.replace("TEXT", text), lambda html, tree: text).text == text


def test_a_price_around_the_content_counts_only_if_the_content_has_none():
    assert ("price", "$5") in fields(page("", below="<b>$5</b>"), ferry)
    assert fields(page("<b>$4</b>", below="<b>$5</b>"), ferry) == []


def test_only_rows_and_terms_may_stand_below_the_text():
    below = "<p>Online: Anna</p><div>$5</div><dl><dt>Colour<dd>red</dl>"
    assert facts("", below=below) == [("Colour", "red")]


@pytest.mark.parametrize(
    "name", ["elementor-widget", "ad-details", "menu", "navy-box", "no-sidebar x"]
)
def test_a_class_that_is_about_something_else_hides_nothing(name):
    assert facts(f"<div class='{name}'>Colour: red</div>") == [("Colour", "red")]


def test_a_text_without_a_heading_has_the_facts_around_it():
    html = page("<p>Colour: red</p><div>$5</div>").replace("h1>", "b>")
    assert {(fact.label, fact.stated) for fact in read_page(html, ferry).facts} == {
        ("", "$5"),
        ("Colour", "red"),
        ("div b", "Kettle"),
        ("div p", "Colour: red"),
    }


def test_a_line_beside_other_elements_has_its_marked_words():
    box = "<div class=box>Made in <i>Leeds</i> by hand<p>Boxed</p><b>Blue</b> only</div>"
    found = read_page(page(box), ferry).facts
    assert [fact.stated for fact in found if fact.label == "box div"] == [
        "Made in Leeds by hand",
        "Blue only",
    ]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<div class='title'>Box Members</div>", [("heading", "Box Members")]),
        ("<span class='sub title'>Kettle</span>", []),
        ("<h1>Jug</h1><div class='title'>Box Members</div>", [("heading", "Jug")]),
        ("<div class='titles'>Box Members</div>", []),
        (f"<div class='title'>{FERRY}</div>", []),
    ],
)
def test_what_is_called_a_title_stands_for_a_heading(markup, expected):
    html = page(markup).replace("<h1>Kettle</h1>", "")
    assert [fact[:2] for fact in stated(html, ferry) if not fact.is_line] == expected


def test_blocks_of_code_that_the_text_lacks_count_wherever_they_stand():
    above, below = "<pre>if (a &lt; b)\n  c();</pre>", "<pre>x = 1</pre><pre>1\n2\n3</pre>"
    above += f"<pre>{FERRY}</pre>"
    assert facts(above, below=below) == [("code", "if (a < b) c();"), ("code", "x = 1")]


def signed(markup: str) -> PageSignature:
    html = page(markup).replace("<h1>Kettle</h1>", "")
    return detector().signature(url="https://a.example/", html=html)


def test_other_headings_are_told_from_one_heading_and_from_none():
    box, jug, none = (signed(f"<h1>{name}</h1>$5") for name in ("Box", "Jug", "Kettle"))
    cheap = signed("<h1>Box</h1><dl><dt>Colour<dd>red</dl>")
    assert headings_differ(box, jug)
    assert headings_differ(jug, box)
    assert not any(headings_differ(box, other) for other in (box, cheap, none))
    assert not headings_differ(none, box)


def named(heading: str, title: str = "Plumber in Leeds, Bath, York") -> PageSignature:
    html = page("").replace("<h1>Kettle</h1>", heading).replace("Kettle", title)
    return detector().signature(url="https://a.example/", html=html)


def test_headings_in_one_title_are_told_from_one_another_and_not_from_none():
    leeds, bath, shop, none = map(
        named, ("<h1>Leeds</h1>", "<h1>Bath</h1>", "<h1>Our shop</h1>", "")
    )
    for one, other in permutations((leeds, bath, shop), 2):
        assert headings_differ(one, other)
    assert not headings_differ(leeds, bath, same_title=False)
    assert not any(headings_differ(*pair) for pair in ((leeds, none), (none, leeds)))
    assert not any(states_more(leeds, each) for each in (none, bath))
    assert states_more(shop, none)
    assert not headings_differ(leeds, named("<h1>LEEDS</h1>"))
    # A title may write a heading in another way.
    dashed = [named("<h1>Bath - York</h1>", f"Leeds, Bath {dash} York") for dash in "-–"]
    assert not headings_differ(*dashed)
    assert not headings_differ(*dashed[::-1])


def test_code_that_a_heading_in_the_title_declares_may_be_missing():
    title, heading = "The function load", "<h1>load</h1>"
    one, other, none = (
        named(f"{heading}{code}", title)
        for code in ("<pre>int load(int n);</pre>", "<pre>int load(long n);</pre>", "")
    )
    assert headings_differ(one, other)
    assert not headings_differ(one, none)


def test_a_heading_in_the_title_is_left_out_with_lines():
    """Walls name the requested page in title and heading."""
    leeds, bath = (
        named(f"<h1>Not found: {name}</h1>", f"Not found: {name} | Shop")
        for name in ("Leeds", "Bath")
    )
    assert leeds.facts != bath.facts
    assert without_lines(leeds.facts)[:-4] == without_lines(bath.facts)[:-4]


@pytest.mark.parametrize("inside", ["Box", "Article 1"])
def test_a_heading_counts_wherever_the_main_text_begins(inside):
    def article(html: str, tree: Any) -> str:
        return f"{inside}\n{FERRY}"

    html = page("").replace("<h1>Kettle</h1>", f"<h1>{inside}</h1>")
    assert read_page(html, article).facts == [Fact("heading", inside)]


def test_a_heading_is_kept_beside_many_other_facts():
    rows = "".join(f"<tr><td>Label {'ab'[n % 2] * n}x<td>red</tr>" for n in range(1, 60))
    box, jug = (signed(f"<h1>{name}</h1><table>{rows}</table>") for name in ("Box", "Jug"))
    assert len(box.facts) == len(jug.facts)
    assert headings_differ(box, jug)


@pytest.mark.parametrize(
    ("heading", "code", "is_declared"),
    [
        ("load", "int load (char * name);", True),
        ("Function template operator*", "V operator*(V a, double b);", True),
        ("Gdk. KEY_a", "#define GDK_KEY_a 97", True),
        ("load(3)", "<i>#include</i> 'io.h'\nint load(void);", True),
        ("load", "reload(); loaded = 1", False),
        ("How to load a large file", "load('large')", False),
        ("load", f"load('large') {FERRY * 4}", False),
        ("Introduction", "load('large')", False),
    ],
)
def test_the_code_that_a_heading_names_is_part_of_the_heading(heading, code, is_declared):
    html = page(f"<h1>{heading}</h1><pre>1 2</pre><pre>{code}</pre><pre>load()</pre>").replace(
        "<title>Kettle", f"<title>{heading}"
    )
    found = read_page(html.replace("<h1>Kettle</h1>", ""), ferry).facts
    declared = [fact.stated for fact in found if fact.label == "heading"]
    bare = code.replace("<i>", "").replace("</i>", "")
    assert declared == (["".join(bare.split()).lower()] if is_declared else [])


def test_overloads_under_one_heading_are_told_apart():
    one, other = (
        signed(f"<h1>A kettle</h1><pre>void kettle({of} n);</pre>") for of in ("int", "double")
    )
    assert headings_differ(one, other)
    assert not headings_differ(one, signed("<h1>A kettle</h1><p><pre>void  kettle(int n);</pre>"))


def test_a_heading_may_be_put_together_of_spans():
    sign = "<span class=n><span class=cs>.</span><span class=cpp>::</span></span>"
    title = f"<span id=nsrTitle>Jug{sign * 5}Kettle</span><h1>Syntax</h1>"
    html = page(title).replace("<h1>Kettle</h1>", "")
    assert read_page(html, ferry).facts[:1] == [Fact("heading", f"Jug {'. :: ' * 5}Kettle")]
    # What is no span makes it too much for a heading.
    html = html.replace("span", "b")
    assert read_page(html, ferry).facts[:1] == [Fact("heading", "Syntax")]


def test_a_heading_may_stand_behind_the_text():
    below = "<section><h1>Kettle</h1><p>Colour: red</p><div>$5</div></section>"
    html = page("", below=below).replace("<h1>Kettle</h1>", "", 1)
    found = {fact for fact in stated(html, ferry) if not fact.is_field}
    assert found == {Fact("Colour", "red"), Fact("", "$5")}


LINKED = '<script type="application/ld+json">{}</script>'


def test_properties_of_the_product_itself_count():
    product = {"@type": "Product", "sku": "AB-1", "offers": {"price": 12.5}, "name": "X"}
    data = {"@graph": [{**product, "isRelatedTo": {"sku": "CD-2"}}]}
    head = LINKED.format(json.dumps(data)) + "<meta property=product:price:amount content=12.5>"
    assert facts("<i itemprop=sku content=AB-1></i><aside itemprop=sku>CD-3</aside>", head) == [
        ("sku", "AB-1"),
        ("price", "12.5"),
        ("product:price:amount", "12.5"),
    ]


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ({"hiringOrganization": {"@type": "Organization", "name": "Care"}}, "Care"),
        ({"baseSalary": {"value": {"minValue": 30, "maxValue": 40}}}, "30 40"),
        ({"recipeIngredient": ["flour", "eggs"]}, "flour eggs"),
        ({"validThrough": "2024-06-01T12:31:07Z"}, "2024-06-01"),
        ({"location": {"name": [[[[["deep"]]]]]}}, None),
        ({"fuelType": None, "dateModified": "2024-06-01", "ratingCount": 5}, None),
    ],
)
def test_properties_of_pages_of_one_title_are_lines(data, value):
    found = stated(page("", LINKED.format(json.dumps([data]))), ferry)
    assert [fact.stated for fact in found if fact.is_line] == ([value] if value else [])
    assert all(fact.is_field and fact.is_around for fact in found)


def test_properties_in_rdfa_count_with_and_without_a_prefix():
    price = "<i property=schema:price content=12.5></i><b property=schema:name>Kettle</b>"
    assert facts(price) == [("price", "12.5")]
    assert facts("<div vocab=https://schema.org/><i property=sku>AB-1</i></div>") == [
        ("sku", "AB-1")
    ]
    assert facts("<i property=sku>AB-1</i>") == []


@pytest.mark.parametrize("broken", ["{", "[" * 100_000, "5", '"sku"', "", '{"price": null}'])
def test_linked_data_that_cannot_be_read_costs_itself_only(broken):
    assert facts("<p>Colour: red</p>", LINKED.format(broken)) == [("Colour", "red")]


def test_what_the_main_text_says_is_no_fact():
    first = FERRY.split(".")[0]
    assert facts(f"<p>{first.split()[0]}: {' '.join(first.split()[1:])}</p><p>Colour: red") == [
        ("Colour", "red")
    ]


@pytest.mark.parametrize(
    ("stored", "later", "is_dropped"),
    [
        ("<p>Colour: red", "<p>Colour: blue", False),
        ("<div>$5</div>", "<div>$6</div>", False),
        ("<div>Sold out</div>", "<div>$6</div>", False),
        ("<div>$6</div>", "<div>Sold out</div>", True),
        ("<table><tr><td>Views<td>42<tr><td>Age<td>2</table>", "<p>Views: 43", True),
        ("<p>Colour: red", "<p>Colour: red<p>Size: XL", False),
        ("<p>Colour: red<p>Size: XL", "<p>Colour: red", True),
        ("<p>Colour: Red", "<p>COLOUR:  red", True),
        ("<p>Colour: red<p>Size: XL", "<p>Size: XL<p>Colour: red", True),
    ],
)
def test_a_page_is_dropped_only_for_one_that_states_all_its_facts(stored, later, is_dropped):
    judge = detector()
    first, second = (
        judge.signature(url=f"https://a.example/{n}", html=page(beside))
        for n, beside in enumerate((stored, later))
    )
    outcome = judge.rule.compare(second, first, judge.store.boilerplates)
    assert outcome.reason == ("same_text" if is_dropped else "parts_differ")
    is_equal = not (states_more(first, second) or states_more(second, first))
    for pair in ((first, second), (second, first)):
        either = judge.rule.compare_either_way(*pair, judge.store.boilerplates)
        assert either.reason == ("same_text" if is_equal else "parts_differ")
    elsewhere = first.found_at("https://b.example/1")
    assert judge.rule.compare(second, elsewhere, judge.store.boilerplates).reason == "same_text"


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("<p>Size: 42", "<p>Size: 43", True),
        ("<p>Size: 42", "<table><tr><td>Size<td>42</table>", False),
        ("<p>Size: 42", "", False),
        ("<p>Size: 42", "<p>Size: 42<p>Fit: wide", False),
        ("<p>Size: 42<p>Size: 43", "<p>Size: 42<p>Size: 44", True),
        ("<p>Size: 42<p>Size: 43", "<p>Size: 42", False),
        ("<div>Leeds</div>", "<div>York</div>", True),
        ("<meta property=og:title content=Leeds>", "<meta property=og:title content=York>", True),
        ("<meta property=og:title content=Leeds>", "", False),
        ("<div>Leeds</div>", "<div>Leeds</div><div>Listen to this article</div>", False),
    ],
)
def test_fields_differ_if_both_pages_have_another_value(one, other, differ):
    """A copy may lack a field, or have one more."""
    pair = [
        detector().signature(url="https://a.example/", html=page(each)) for each in (one, other)
    ]
    assert fields_differ(*pair) == fields_differ(*pair[::-1]) == differ


@pytest.mark.parametrize("is_changed", [False, True])
def test_the_last_of_many_facts_stands_for_all_others_in_any_order(is_changed):
    rows = [f"<tr><td>Part {n}<td>steel" for n in range(3 * MAX_FACTS)]
    others = rows[::-1]
    if is_changed:
        others[5] = "<tr><td>Part x<td>brass"
    one, other = (
        detector().signature(url="https://a.example/", html=page(f"<table>{''.join(each)}</table>"))
        for each in (rows, others)
    )
    assert len(one.facts) == len(other.facts)
    assert (one.facts != other.facts) is is_changed
    assert states_more(one, other) is is_changed


@pytest.mark.parametrize(
    "beside",
    [
        "<div><p>Label {}: word</p><dl><dt>a<dd>b</dl>$5</div>" * 4000,
        "<div itemprop=sku>x</div>" * 20000,
        # lines in a part of which much is to be looked at
        "<div>x" * 190 + "<b></b>" * 20_000 + "</div>" * 190,
        f"<div class='{'x-' * 300_000}'>" + "<p>x" * 190 + "</div>",
        "<dl>" * 100 + "<dt>a<dd>b" * 8000 + "</dl>" * 100,
        "<ul><li>$5 " + "<a href=/x>$7</a>" * 9000,
        "<table><tr>" + "<td>x" * 9000,
        "<div>" + "x: $5 € 元 zł " * 20000 + "</div>",
    ],
)
def test_pages_of_facts_only_are_read(beside):
    """None takes time in the square of its size."""
    assert len(facts(beside)) <= 1000
