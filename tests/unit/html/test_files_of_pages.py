"""Documents, players and contacts of the content are facts, those of other pages are none."""

from __future__ import annotations

import pytest

from scrapy_neardup.html.extraction import read_page
from tests.support.texts import FERRY, MUSEUM


def facts(within: str, around: str = "") -> list[tuple[str, str]]:
    html = (
        "<html><head><title>Minutes</title></head><body><main><article><h1>Minutes</h1>"
        f"{within}<p>{FERRY}</p><p>{MUSEUM}</p></article>{around}</main></body></html>"
    )
    page = read_page(html, lambda *_: f"{FERRY}\n{MUSEUM}")
    kinds = ("document", "player", "audio", "video", "tel", "mailto")
    return [fact[:2] for fact in page.facts if fact.is_line and fact.label in kinds]


@pytest.mark.parametrize(
    ("part", "fact"),
    [
        ("<a href=/a/kettle.pdf?v=2>PDF</a>", ("document", "kettle")),
        ("<a href=/2024/0503/minutes.pdf>PDF</a>", ("document", "0503/minutes")),
        ("<a href='/getdoc.php?doc_id=1'>PDF</a>", ("document", "doc_id=1")),
        ("<a href=//docs.google.com/document/d/1aB/edit?usp=sharing>x</a>", ("document", "1aB")),
        ("<a href='//youtube.com/watch?t=9&v=abcdefghijk'>x</a>", ("document", "abcdefghijk")),
        ("<iframe src=//player.vimeo.com/video/1234?h=a></iframe>", ("player", "1234")),
        ("<iframe src='/web/viewer.html?file=/docs/ab.pdf'></iframe>", ("player", "ab")),
        ("<object data=/plan/kettle.pdf></object>", ("player", "kettle")),
        ("<audio src=/a/kettle.mp3></audio>", ("audio", "kettle")),
        ("<video><source src=/a/kettle-720p.mp4></video>", ("video", "kettle")),
        ("<video src=/hls/abcd/index.m3u8></video>", ("video", "abcd/index")),
        ("<a href='tel:+49 301-17'>Call</a>", ("tel", "+4930117")),
        ("<a href=mailto:Ann@a.example?subject=x>Write</a>", ("mailto", "ann@a.example")),
        (
            "<a href=/cdn-cgi/l/email-protection#422302236c2e>Write</a>",
            ("mailto", "a@a.l"),
        ),
    ],
)
def test_what_a_page_holds(part, fact):
    assert facts(part) == [fact]
    assert facts("", f"<section><h2>More</h2><p>{part}</p></section>") == [fact]
    beside = f"<aside><ul><li><a href=/1>Other</a><li>{part}</ul></aside>"
    assert facts("", f"{beside}<div class=latest>{part}</div>") == []
    card = f"<div class=card><h3><a href=/1>Another</a></h3>{part}</div>"
    assert facts("", f"<section>{card}{card}</section>") == []


@pytest.mark.parametrize(
    "part",
    [
        "<a href=/1>page</a><a href=#a>anchor</a><a href=/a/kettle-large.jpg>picture</a>",
        "<a href='mailto:?subject=x'>Share</a><p class=share><a href=mailto:a@a.example>x</a></p>",
        "<iframe src='//www.facebook.com/plugins/like.php?href=https://a.example/'></iframe>",
        "<iframe src=//ads.example/embed/1234></iframe><iframe src=/kettle></iframe>",
        "<video src=blob:abc></video><picture><source src=/a/kettle.webp></picture>",
    ],
)
def test_what_says_nothing_of_a_page(part):
    assert facts(part) == []
