"""What a page states beside its main text."""

from __future__ import annotations

import json

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.html.extraction import read_page
from scrapy_neardup.html.page_facts import Fact
from scrapy_neardup.signatures.facts import MAX_FACTS, facts_differ
from scrapy_neardup.stores import MemoryStore
from tests.support.parts import first_paragraph
from tests.support.texts import FERRY


def page(beside: str, head: str = "") -> str:
    return (
        f"<html><head><title>Kettle</title>{head}</head><body><p>{FERRY}</p>{beside}</body></html>"
    )


def detector() -> NearDupDetector:
    """Takes the first paragraph for the main text."""
    store = MemoryStore(b"a secret for tests")
    return NearDupDetector(store=store, extractor="tests.support.parts.first_paragraph")


def facts(beside: str, head: str = "") -> list[tuple[str, str]]:
    return [
        (fact.label, fact.stated) for fact in read_page(page(beside, head), first_paragraph).facts
    ]


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        (
            "<table><tr><th>Colour<td>red<tr><td>Size<td>XL<td>42</table>",
            [("Colour", "red"), ("Size", "XL 42")],
        ),
        (
            "<dl><dt>Weight:<dd>1.5 <b>kg</b><dt>ISBN<dd>978-3</dl>",
            [("Weight", "1.5 kg"), ("ISBN", "978-3")],
        ),
        ("<ul><li><b>Colour:</b> red<li>尺寸：大号</ul>", [("Colour", "red"), ("尺寸", "大号")]),
        ("<div><span>Colour</span><span>: red</span></div>", [("Colour", "red")]),
        ("<div class=price><b>$</b><span>1,200.50</span></div>", [("", "$1,200.50")]),
        ("<div>Only 5元 today</div>", [("", "5元")]),
        (
            '<div itemprop=sku content="AB-1"></div><b itemprop=color>red</b>',
            [("sku", "AB-1"), ("color", "red")],
        ),
        # counters, and what is there for other pages
        ("<p>Views: 1034</p><p>At: 12:30</p>", []),
        ("<nav><table><tr><td>Colour<td>red</table></nav>", []),
        ("<aside>Colour: red</aside><div class='box related-items'><p>$5</p></div>", []),
        ("<ul><li>Another kettle for $5</ul><a href=/x>$7</a>", []),
        # neither rows, nor lines, nor what the main text says
        (f"<table><tr><td>{FERRY}<td>red</table><p>Colour: {FERRY}</p>", []),
        ("<table><tr><td>Colour</table><dl><dd>red</dl>", []),
    ],
)
def test_facts_are_rows_terms_labels_prices_and_properties(beside, expected):
    assert facts(beside) == expected


def test_linked_data_of_the_product_itself_counts():
    data = {"@graph": [{"@type": "Product", "sku": "AB-1", "offers": {"price": 12.5}, "name": "X"}]}
    data["@graph"][0]["isRelatedTo"] = {"sku": "CD-2"}
    head = '<script type="application/ld+json">{}</script>'
    assert facts("", head.format(json.dumps(data))) == [("sku", "AB-1"), ("price", "12.5")]
    for broken in ("{", "[" * 100_000, "5", '"sku"'):
        assert facts("<p>Colour: red</p>", head.format(broken)) == [("Colour", "red")]


def test_what_the_main_text_says_is_no_fact():
    text = f"{FERRY} Colour: red, $5, and Size: XL."
    beside = "<ul><li>Colour: red</li><li>Colour: blue</li></ul><div>$5</div>"
    html = f"<html><head></head><body><p>{text}</p>{beside}</body></html>"
    assert read_page(html, first_paragraph).facts == [Fact("Colour", "blue")]


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("<p>Colour: red", "<p>Colour: blue", True),
        ("<div>$5</div>", "<div>$6</div>", True),
        ("<table><tr><td>Size<td>42", "<table><tr><td>Size<td>43", False),
        (
            "<table><tr><td>Size<td>42<tr><td>Year<td>2001",
            "<table><tr><td>Size<td>43<tr><td>Year<td>2002",
            True,
        ),
        # one has more, or none at all
        ("<p>Colour: red", "<p>Colour: red<p>Size: XL", False),
        ("<p>Colour: red", "<p>red", False),
        ("<p>Colour: Red", "<p>COLOUR:  red", False),
        ("<p>Colour: red<p>Size: XL", "<p>Size: XL<p>Colour: red", False),
    ],
)
def test_facts_differ_where_each_page_has_some_of_its_own(one, other, differ):
    judge = detector()
    pages = [
        judge.signature(url=f"https://a.example/{n}", html=page(beside))
        for n, beside in enumerate((one, other))
    ]
    assert facts_differ(*pages) is facts_differ(*pages[::-1]) is differ
    outcome = judge.rule.compare(pages[0], pages[1], judge.store.boilerplates)
    assert outcome.reason == ("parts_differ" if differ else "same_text")
    elsewhere = pages[1].found_at("https://b.example/1")
    assert judge.rule.compare(pages[0], elsewhere, judge.store.boilerplates).reason == "same_text"


def test_the_last_fact_stands_for_all_others():
    judge = detector()
    rows = [f"<tr><td>Part {n}<td>steel" for n in range(3 * MAX_FACTS)]
    changed = [*rows[:-1], "<tr><td>Part 47<td>brass"]
    pages = [
        judge.signature(url="https://a.example/", html=page(f"<table>{''.join(each)}</table>"))
        for each in (rows, changed)
    ]
    assert all(len(each.facts) == 4 * MAX_FACTS for each in pages)
    assert facts_differ(*pages)


def test_a_page_of_facts_only_takes_linear_time():
    lines = "".join(f"<div><p>Label {n}: word</p><dl><dt>a<dd>b</dl>$5</div>" for n in range(4000))
    found = read_page(page(lines), first_paragraph).facts
    assert 0 < len(found) <= 1000
