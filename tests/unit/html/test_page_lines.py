"""Cutting a page into lines, and finding the last one of its main text."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree
from lxml.html import HtmlElement, document_fromstring

from scrapy_neardup import NearDupDetector
from scrapy_neardup.html.page_lines import INLINE, last_line, solid
from tests.support.texts import FERRY

_TEXTS = st.sampled_from(["", " ", "\n", "one", "two words", "a line of some length, "])
_TAGS = st.sampled_from("div p li table footer nav aside a b span".split())
_MARKUP = st.recursive(
    _TEXTS,
    lambda within: st.one_of(
        st.lists(within, max_size=4).map("".join),
        st.tuples(_TAGS, within).map(lambda made: f"<{made[0]}>{made[1]}</{made[0]}>"),
    ),
    max_leaves=25,
)


class _Last(NamedTuple):
    text: str
    around: HtmlElement
    before: HtmlElement


def _last_read_forwards(body: HtmlElement) -> _Last | None:
    """Return the last line outside of footers and the like."""
    found, text, around, begun, before = None, "", body, body, body
    for event, element in etree.iterwalk(body, events=("start", "end")):
        is_start = event == "start"
        if element.tag not in INLINE:
            text, around = "", element if is_start else element.getparent()
        begun = element if is_start else begun
        node = (element.text if is_start else element.tail) or ""
        if node.strip() and (is_start or element is not body):
            before = before if text else begun
            text += solid(node)
            if not {"footer", "nav", "aside"} & {e.tag for e in [around, *around.iterancestors()]}:
                found = _Last(text, around, before)
    return found


@given(_MARKUP)
def test_the_last_line_is_the_one_that_reading_the_page_forwards_ends_with(markup):
    body = document_fromstring(f"<html><body>the page begins{markup}</body></html>")[0]
    expected = _last_read_forwards(body)
    assert expected is not None
    assume(len(expected.text) >= 12)
    line = last_line(body, "before it " + expected.text)
    assert line is not None
    assert _Last(solid("".join(line.texts)), line.around, line.before) == expected


@pytest.mark.parametrize(
    "written",
    [
        "is\u00adland",
        "is\u200bland",
        "is\u200cland",
        "is\u2060land",
        "\u200fisland\ufeff",
        "is\x8dland",
        "isla\u0308nd",
        "isl&amp;nbsp;and",
        "island?a=1&amp;region=2",
        "island &amp;amp;lt;",
        "<nobr>is</nobr>land",
        "isl\u2424and",
    ],
    ids=ascii,
)
def test_lines_are_found_although_extractors_change_their_characters(written):
    detector = NearDupDetector()
    text = FERRY.replace("island", written)
    assert text != FERRY
    verdicts = [
        detector.check(
            url=f"https://a.example/{town}",
            html=f"<title>Trips</title><h1>Trips to {town}</h1><p>{text}</p>",
        )
        for town in ("Leeds", "Bath")
    ]
    assert [each.kind for each in verdicts] == ["new", "new"]
