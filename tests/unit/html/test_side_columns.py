"""Boxes of columns beside a text, and which of them are about the page itself."""

from __future__ import annotations

import pytest
from lxml.html import fromstring

from scrapy_neardup.html.extraction import read_page
from scrapy_neardup.html.facts.side_columns import own_boxes
from tests.support.texts import FERRY

LINK = "<a href=/x>Lamp</a>"


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        # all boxes, in whatever elements they stand
        ("<div>$5</div><div>red</div>", ["$5", "red"]),
        ("<div><section><p>$5</p><p>red</p></section></div>", ["$5", "red"]),
        ("<div><div>Colour</div><div>red</div></div>", ["Colourred"]),
        ("<ul><li>$5<li>red</ul>", ["$5red"]),
        ("<script>x</script><p>$5</p><br>", ["$5"]),
        ("$5 <b>new</b>", []),
        ("<div>$5 <b>new</b></div>", ["$5 new"]),
        # none with a link to another page, nor the date beside one
        (f"<div>$5</div><div>{LINK}</div>", ["$5"]),
        (f"<ul><li>$5<li>{LINK}</ul>", []),
        (f"<p>3 May</p><p>{LINK}</p><div>red</div>", ["red"]),
        (f"<h4>News</h4><div>3 May</div><div>{LINK}</div><h4>Size</h4><p>XL</p>", ["Size", "XL"]),
        (f"<div class=widget-title>News</div><div>3 May</div><div>{LINK}</div>", []),
        (f"$5 {LINK}", []),
        # buttons, and links to somebody, lead to no other page
        ("<div>$5 <a href='#buy'>Now</a></div>", ["$5 Now"]),
        ("<div>$5 <a href=/b class='btn red'>Now</a></div>", ["$5 Now"]),
        ("<div>$5 <a href=/b>Apply now</a></div>", ["$5 Apply now"]),
        ("<div>Ann <a href=tel:5>5</a></div>", ["Ann 5"]),
        # for visitors
        ("<div class=poll>$5</div><div class=login>Ann</div><div>red</div>", ["red"]),
        ("<div class=weather><div>5</div><div>sun</div></div>", []),
        ("<div class='widget widget-text'>$5</div><div class=widget-latest>red</div>", ["$5"]),
        ("", []),
    ],
)
def test_boxes_about_the_page_itself_are_told(column, texts):
    found = own_boxes(fromstring(f"<aside class='sidebar'>{column}</aside>"))
    assert [each.text_content() for each in found if each.text_content()] == texts


def fields(body: str) -> set[tuple[str, str]]:
    html = f"<html><head><title>Kettle</title></head><body>{body}</body></html>"
    found = read_page(html, lambda html, tree: FERRY).facts
    return {fact[:2] for fact in found if fact.is_around and not fact.is_line}


BOX = "<div><p>Colour: red</p></div><div>$5</div>"
STATED = {("Colour", "red"), ("price", "$5")}


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (f"<aside>{BOX}</aside>", STATED),
        (f"<aside>{BOX}<div><h4>Lamp</h4>{LINK}</div></aside>", STATED),
        (f"<aside><div><h4>Price</h4>{BOX}</div></aside>", STATED),
        (f"<div class='col side-bar'>{BOX}</div>", STATED),
        (f"<div id=listing-sidebar>{BOX}</div>", STATED),
        # columns for visitors, and of others
        (f"<aside class=related-products>{BOX}</aside>", set()),
        (f"<aside class=widget-area>{BOX}</aside>", set()),
        (f"<footer><aside>{BOX}</aside></footer>", set()),
        (f"<aside><div class=related>{BOX}</div></aside>", set()),
    ],
)
@pytest.mark.parametrize("is_before", [False, True])
@pytest.mark.parametrize("rest", ["", "<div><p>Visitor: Ann</p><p>$7</p></div>"])
@pytest.mark.parametrize("main", ["main", "div"])
def test_a_column_beside_the_text_counts(column, expected, is_before, rest, main):
    """The rest beside a ``main`` element is for visitors."""
    text = f"<{main}><h1>Kettle</h1><p>{FERRY}</p></{main}>"
    parts = [column, text] if is_before else [text, column]
    if main == "main":
        parts.append(rest)
    assert fields(f"<div>{''.join(parts)}</div>") == expected


@pytest.mark.parametrize(
    "columns",
    [
        "<aside>" * 200 + "<p>Colour: red</p>" * 5000 + "</aside>" * 200,
        f"<aside><div>Colour: red</div>{LINK}</aside>" * 5000,
        "<div class=sidebar>" + "<div>" * 200 + "<i>x</i> " * 20000,
        "<aside>" + "<p>x<h4>y</h4>" * 10000 + "</aside>",
    ],
)
def test_pages_of_columns_only_are_read(columns):
    """None takes time in the square of its size."""
    assert len(fields(f"<div><h1>Kettle</h1><p>{FERRY}</p>{columns}</div>")) <= 200
