"""Content that trafilatura drops is in the main text, and the page's tree is left as it was."""

from __future__ import annotations

import pytest
from lxml import etree

from scrapy_neardup.html.extraction import article_text
from tests.support.texts import FERRY, MUSEUM
from tests.unit.html.test_consent_overlays import parsed

CODE = "return sorted(ferries)"
QUOTE = "Nobody who came with the last ferry of the day will forget the light on the water."


@pytest.mark.parametrize(
    ("part", "kept"),
    [
        (f"<figure class=highlight><div><pre><code>{CODE}</code></pre></div></figure>", CODE),
        (f"<figure><blockquote><p>{QUOTE}</p></blockquote></figure>", QUOTE),
        ("<p>The ferry leaves at <time>19:30</time> from the pier.</p>", "leaves at 19:30 from"),
        ("<ul><li>It is sold in <output>30</output> towns of the coast.</li></ul>", "in 30 towns"),
    ],
)
def test_content_is_kept(part, kept):
    html = f"<html><body><article><h1>Ferry</h1><p>{FERRY}</p>{part}<p>{MUSEUM}</p></article>"
    tree = parsed(html).getparent()
    before = etree.tostring(tree)
    assert kept in (article_text(html, tree) or "")
    assert etree.tostring(tree) == before


def test_the_date_of_a_page_is_still_dropped():
    html = (
        f"<html><body><article><h1>Ferry</h1><p><time>5 March 2026</time></p><p>{FERRY}</p>"
        f"<figure><img src=/pier.jpg></figure><p>{MUSEUM}</p></article>"
    )
    assert "March" not in (article_text(html, parsed(html).getparent()) or "")
