"""Short lines beside the main text, which no label says the meaning of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Any

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.html.extraction import read_page
from scrapy_neardup.html.facts.labels import has_byline, is_dated_byline, telling_value
from scrapy_neardup.html.facts.stable_lines import stable_text_within
from scrapy_neardup.signatures.facts import MAX_LINES, fields_differ
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.text.signs.times_from_now import is_from_now
from tests.support.texts import FERRY, TEA
from tests.unit.html.test_page_facts import ferry, page


def lines(below: str) -> list[tuple[str, str]]:
    """Lines below the main text of a page."""
    return [fact[:2] for fact in read_page(page("", below=below), ferry).facts if fact.is_line]


def signed(below: str) -> PageSignature:
    detector = NearDupDetector(store=MemoryStore(secret=b"0" * 16), extractor=ferry)
    return detector.signature(url="https://a.example/", html=page("", below=below))


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        # under the names of their elements, or of those around them
        ("<p class='b a'>12 High Street</p>", [("a b p", "12 High Street")]),
        ("<div class=place><p>Leeds</p></div>", [("place p", "Leeds")]),
        ("<ul><li>3 rooms</li></ul>", [("ul li", "3 rooms")]),
        ("<p id=row-17>Leeds", [("row- p", "Leeds")]),
        # of all that stand in one line, and of each of those that are broken
        ("<p><span>2 kg</span> <b>net</b></p>", [("div p", "2 kg net")]),
        ("<p>High Street<br><b>Leeds</b><br><a href=/>map</a>", 2),
        # dates of events, and times of full five minutes
        ("<p class=when>5 March 2026, Leeds", [("when p", "5 March 2026, Leeds")]),
        ("<p>Doors open 19:30</p><p>19:32:07</p>", [("div p", "Doors open 19:30")]),
        ("<p class=entry-date>5 March 2026</p><p>Updated 5 March 2026", []),
        # several facts, and what stands behind a label
        ("<p>4 beds · 2 baths", [("div p", "4 beds · 2 baths")]),
        ("<p>Address: Park View 3, Bath BA1 2QQ</p>", 2),
        ("<div><h4>Rooms</h4><p>4</p></div>", 1),
        # text beside a link, and an icon
        ("<p>High Street <a href=/>map</a></p>", [("div p", "High Street")]),
        ("<div><img src=x> Leeds</div>", [("div div", "Leeds")]),
        # names with and without a word of the value
        ("<p class='status status-sold'>Sold", 2),
        ("<p class=street>Castle Street", [("street p", "Castle Street"), ("p", "Castle Street")]),
        # prices in their place, numbers to call, and links to a place or somebody
        ("<p class=price>$60", [("price p", "$60")]),
        ("<p class=price>Free", [("price p", "Free")]),
        ("<p class=tel>0113 496 0000", [("tel p", "0113 496 0000")]),
        ("<p class=at><a href='https://maps.google.com/?q=x'>Leeds</a>", [("at p", "Leeds")]),
        ("<div><p class=t><a href=/x>Tea</a></p><p class=t><a href=/y>Pots</a></p></div>", []),
        ("<p class=who><a href='geo:52,13'>Leeds</a>", 2),
        # numbers of counters are masked, and those of what a page is about are not
        ("<p>Viewed 51 times", [("div p", "Viewed times")]),
        ("<p>Park View 3, Leeds", [("div p", "Park View Leeds")]),
        ("<p>4 guests", [("div p", "4 guests")]),
        ("<table><tr><td class=where>Leeds</td></tr></table>", [("where td", "Leeds")]),
        # rows of more than two cells, and of numbers alone, all of a table
        ("<table><tr><td>Line 5<td>7:42<td>8:17</table>", 2),
        ("<table><tr><td><a href=/x>Lamp</a><td>oak<td>new</table>", []),
        ("<table><tr><td>Page views<td>42<td>43</table>", []),
        ("<table><tr><th>To<th>Fro<tr><td>7:42<td>8<tr><td>9:11<td>9</table>", 2),
        ("<table><tr><th>Views<th>Likes<tr><td>42<td>8</table>", []),
        # shares and angles, but no numbers alone
        ("<p>12 %</p><p class=turn>-45°</p><p>12</p>", [("div p", "12 %"), ("turn p", "-45°")]),
        # symbols, spaced or not, and several bullets
        ("<div class=stars><i>★</i> <i>★</i></div>", [("stars div", "★★")]),
        ("<p>€€</p><p>☀\ufe0f</p>", [("div p", "€€"), ("div p", "☀")]),
        ("<p>●●○</p><p>½</p>", [("div p", "●●○"), ("div p", "½")]),
        *((f"<p>{sign}</p>", []) for sign in "→|·•»—…©●▸"),
        (f"<p>{'★' * 13}</p><p>▾</p><p>-</p><a href=/>★</a><p class=reviews>★★", []),
        # sentences and words in them, numbers alone, times from now, greetings, owners
        ("<p>We wish all of our guests a good day.", []),
        (f"<p>{FERRY[:80]} <b>Leeds</b>", []),
        ("<p>51</p><p>2 hours ago</p><p>Welcome, Ann</p><p>© 2026 Kettles Ltd</p>", []),
        # what visitors use, what is about the page, other pages, headings, and the text itself
        ("<p><a href=/>Leeds</a></p><button>Leeds</button><label>Leeds</label>", []),
        ("<p class=user-name>Ann</p><div class=weather><p>Rain</div>", []),
        ("<nav><p>Leeds</nav><div class=related-items><p>Leeds</div>", []),
        ("<aside class=widget-area><p>Leeds</aside><aside><p>Leeds <a href=/>X</a></aside>", []),
        (f"<div class=c><p>Ann</p>{TEA}</div><div class=c><p>Ben</p>{TEA}</div>", []),
        (f"<pre>Leeds</pre><p>{FERRY}", []),
        # numbers that a class or an icon names, and words of the text in a line of their own
        ("<div class=sku>4711</div><div class=views>51</div>", [("sku div", "4711")]),
        ("<div class=price><i class=fa></i> 12</div>", [("price div", "12")]),
        ("<p><i class='fa fa-road'></i><b>81200</b></p>", [("div p", "81200")]),
        ("<p><i class='fa fa-eye'></i><b>81200</b></p>", []),
        (f"<p>{FERRY[:39]}", [("div p", FERRY[:39])]),
    ],
)
def test_lines_below_the_text(below, expected):
    found = lines(below)
    assert (len(found) if isinstance(expected, int) else found) == expected


@pytest.mark.parametrize(
    "card",
    [
        "<div><a href=/x><img src=x></a><p>Leeds</p></div>",
        "<div><a href=/x>Lamp</a><p>Leeds</p></div>",
        "<div><h3><a href=/x>Lamp</a></h3><p>Leeds</p></div>",
        "<ul><li><b>Leeds</b> <a href=/x>Lamp</a><li><b>Leeds</b> <a href=/y>Box</a></ul>",
    ],
)
def test_lines_around_the_content_are_none_of_other_pages_cards(card):
    html = page("").replace("<main><div>", f"<main>{card}<p>York</p><div>")
    assert [fact.stated for fact in read_page(html, ferry).facts if fact.is_line] == ["York"]


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("<p>12 High Street", "<p>14 High Street", True),
        ("<p class=a>Leeds", "<p class=b>York", False),
        ("<p>Leeds", "<p>Leeds<p>York", False),
        ("<p>Leeds", "", False),
        ("<p>51 views", "<p>52 views", False),
        ("<p><b>Width</b> <i>30</i>", "<p><b>Width</b> <i>40</i>", True),
        ("<table><tr><td>7:42<td>8</table>", "<table><tr><td>7:41<td>8</table>", True),
        ("<p>Floor: 2<br>Rooms: 3", "<p>Floor: 2<br>Rooms: 4", True),
    ],
)
def test_pages_of_one_title_differ_if_each_has_a_line_of_its_own(one, other, differ):
    pair = [signed(each) for each in (one, other)]
    assert fields_differ(*pair) == fields_differ(*pair[::-1]) == differ


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>Kettle</h1>No. KX-221<br>TEXT", ["No. KX-221"]),
        ("<h1>Kettle</h1>TEXT<hr>KX-221<hr>York <b>and <i>Bath</i></b><br>", 2),
        ("<h1>Kettle</h1>TEXT<a href=/>Bath</a> KX-221<br>KX-238 <a href=/>York</a>", ["KX-238"]),
        ("<h1>Kettle</h1>TEXT 51 views <p>York</p> © 2026 Kettles Ltd", ["views", "York"]),
        ("<h1>Kettle</h1>TEXT→<hr>" + "Leeds " * 20, []),
    ],
)
def test_lines_in_no_element_but_the_body(body, expected):
    html = f"<title>Kettle</title><body>{body.replace('TEXT', f'<p>{FERRY}</p>')}</body>"
    found = [fact.stated for fact in read_page(html, ferry).facts if fact.is_line]
    assert (len(found) if isinstance(expected, int) else found) == expected


@pytest.mark.parametrize("name", ["", *(f" class=c{number}" for number in range(8))])
def test_lines_in_no_element_leave_room_for_others(name):
    def signed_with(address: str) -> PageSignature:
        loose = "".join(f"Leaflet {number}a<hr>" for number in range(2 * MAX_LINES))
        body = f"<h1>Flat</h1><p>{FERRY}</p>{loose}<p class=address>{address}</p>"
        detector = NearDupDetector(store=MemoryStore(secret=b"0" * 16), extractor=ferry)
        html = f"<title>Flat</title><body{name}>{body}</body>"
        return detector.signature(url="https://a.example/", html=html)

    assert fields_differ(signed_with("12 High Street"), signed_with("34 Low Road"))


def test_a_level_of_prices_counts_within_the_text():
    def levelled(html: str, tree: Any) -> str:
        return f"€€\n★★\n{FERRY}"

    found = read_page(page("<p>€€</p><p>★★</p>"), levelled).facts
    assert [fact.stated for fact in found if fact.is_line] == ["€€"]


def test_lines_do_not_count_under_other_titles():
    assert not fields_differ(*map(signed, ("<p>Leeds", "<p>York")), same_title=False)


def test_of_many_lines_the_same_are_kept_in_any_order():
    def column(items: Iterable[int]) -> str:
        return "".join(f"<p class='{'ab'[n % 2] * n}x'>Leeds</p>" for n in items)

    orders = (range(2 * MAX_LINES), range(2 * MAX_LINES)[::-1])
    one, other = (signed(column(order)) for order in orders)
    assert one.facts == other.facts
    assert len(one.facts) == 4 * (MAX_LINES + 2)


@pytest.mark.parametrize("order", [*permutations("abc")][:2])
def test_a_word_in_a_line_is_no_line(order):
    inner = "".join(f"<span class={name}>{name} word </span>" for name in order)
    assert len(lines(f"<div class=one>{inner}</div>")) == 1


@pytest.mark.parametrize(
    ("label", "is_byline"),
    [
        *((name, True) for name in ("Ann Smith", "By Ann Smith", "Jean Paul Marat", "admin")),
        *((name, False) for name in ("Apply by", "Valid From", "Auction", "Date of Death")),
        *((name, False) for name in ("Bewerbungsschluss", "Date limite", "申请截止", "Start")),
    ],
)
def test_who_wrote_a_page_on_a_date(label, is_byline):
    assert is_dated_byline(label, "5 March 2026") is is_byline
    assert not is_dated_byline(label, "Leeds")


@pytest.mark.parametrize(
    ("label", "value", "told"),
    [
        ("Available from", "Now", "Now"),
        ("Let available date", "Immediately", "Immediately"),
        ("Frei ab", "sofort", "sofort"),
        ("Online", "now", None),
        ("Rating", "PG-13", "PG-13"),
        ("Rating", "4.5", None),
        ("Vote", "yes", "yes"),
        ("Results", "positive", "positive"),
        ("Rating", "A", "A"),
        ("Оценка", "зачтено", "зачтено"),
        ("推荐", "红烧肉", "红烧肉"),
        # in the place of a number, and what another visit shows otherwise
        ("Availability", "sold out", None),
        ("Comments", "none", None),
        ("在庫", "品切れ", None),
        ("Last visitor", "Henrietta", None),
        ("Weather", "sunny", None),
    ],
)
def test_words_in_the_place_of_a_date_or_a_number(label, value, told):
    assert telling_value(label, value) == told


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        *((f"By Ann Smith{end}", True) for end in (", 5 March 2026", " on 5 March 2026")),
        ("Ann Smith · 5 March 2026", True),
        ("5 March 2026 by Ann Smith", True),
        ("05.03.2026 | von Anna Holt", True),
        ("作者:李明 2026年3月5日", True),
        ("Talk by Ann Smith, 5 March 2026", False),
        ("5 March 2026 · Town Hall, Leeds", False),
        ("Stadthalle | Do 05.03.2026", False),
        ("Town Hall · 5 March 2026, 19:30", False),
        ("Von Montag, 2. März bis 5. März 2026", False),
    ],
)
def test_which_lines_with_a_date_are_bylines(line, is_told):
    assert has_byline(line) is is_told


@pytest.mark.parametrize(
    "text",
    [
        *("3 days ago", "3h ago", "an hour ago", "just now", "Now, 14:05", "Today", "Posted today"),
        *("Today at 5 pm", "vor 3 Tagen", "vor etwa einer Stunde", "heute, 14:00 Uhr", "hier"),
        *("hier à 14h", "il y a une heure", "il y a 3 jours", "hace 3 días", "5 минут назад"),
        *("منذ ساعة", "منذ 3 ساعات", "5分钟前", "12ヶ月前", "10小時前", "昨日 12:30", "今日"),
    ],
)
def test_times_from_now_on_or_back(text):
    assert is_from_now(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "now a school",
            "Now showing: Vertigo",
            "Hier wohnte Anna Katz",
            "Chicago",
            "Today's dish",
        ),
        *("vor dem Monatsende", "il y a un jardin", "hace calor", "шаг назад", "منذ 1950"),
        *("371-0026 前橋市大手町1-1", "2号前门西河沿街", "3月20日前", "2026年前", "今日菜单"),
    ],
)
def test_words_of_such_times_alone_are_none(text):
    assert not is_from_now(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("यह अभिलेख माला के विषय में है", "यह अभिलेख मेला के विषय में है"),
        ("รายการนี้เกี่ยวกับป่าของเรา", "รายการนี้เกี่ยวกับป้าของเรา"),
    ],
)
def test_marks_are_parts_of_words(one, other):
    assert stable_text_within(one) != stable_text_within(other)
