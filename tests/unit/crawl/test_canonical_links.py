from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, Response

from scrapy_neardup.crawl.responses import PageLinks, header_links, page_links

URL = "http://example.com/shop/item?sid=1"


#: Parts of a head, each with the canonical URLs that it names.
_PARTS = {
    '<link rel="canonical" href="http://example.com/a">': ["http://example.com/a"],
    "<LINK href='http://example.com/b' title='a>b' rel=canonical />": ["http://example.com/b"],
    "<link rel=next href=/canonical>": [],
    "<!-- <link rel=canonical href=/no> -->": [],
    "<script>'<link rel=canonical href=/no>'</script>": [],
    "<SCRIPT>if (a < b) link = '<!--'</SCRIPT>": [],
    "<style>a::before { content: '<link rel=canonical href=/no>' }</style>": [],
    "<title>canonical</title>": [],
    '<meta name="description" content="a > b">': [],
    "\n": [],
}


def links(html: str = "", *headers: str) -> PageLinks:
    response = HtmlResponse(URL, body=html.encode(), headers={"Link": list(headers)})
    return page_links(response)


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="canonical" href="/shop/item">',
        "<LINK REL='Canonical' HREF='http://example.com/shop/item'/>",
        "<link href=item rel=canonical>",
        '<link href="item#top" rel="nofollow canonical" >',
        '<base href="http://example.com/shop/"><link rel="canonical" href="item">',
        '<!-- <link rel="canonical" href="/old"> --><link rel="canonical" href="item">',
        '<link rel="canonical" href="item"></head><link rel="canonical" href="/other">',
        '<link rel="canonical" href="item"><link rel="canonical" href="/shop/item">',
        '<link rel="canonical" href="item"><link rel="next" href="/other">',
        '<link rel="canonical" href="item" ">',
        "<link title='5 > 4' rel=canonical href='item'>",
        '<script>a = "canonical"</script><link rel="canonical" href="item">',
    ],
)
def test_the_canonical_url_of_a_page(html):
    assert links(f"<html><head>{html}<title>x</title>").canonical == "http://example.com/shop/item"


@pytest.mark.parametrize(
    "html",
    [
        '<link rel="canonical" href="">',
        '<link rel="canonical">',
        '<link rel="canonical" href="/a"><link rel="canonical" href="/b">',
        '<link rel="alternate" type="application/rss+xml" href="/feed">',
        '<body><link rel="canonical" href="/a">',
        "<script>'<link rel=canonical href=/a>'</script>",
        '<link rel="canonical" href="http://[broken/">',
        '<script>"a"</SCRIPT><!-- <link rel="canonical" href="/a">',
        " " * 70000 + '<link rel="canonical" href="/a">',
    ],
)
def test_a_page_that_names_none_or_several(html):
    assert links(f"<html><head>{html}") == PageLinks()


@given(st.lists(st.sampled_from(sorted(_PARTS)), max_size=12))
def test_only_links_that_are_tags_of_the_head_count(parts):
    named = dict.fromkeys(target for part in parts for target in _PARTS[part])
    expected = next(iter(named)) if len(named) == 1 else None
    assert links(f"<html><head>{''.join(parts)}").canonical == expected


def test_other_languages():
    html = (
        '<link rel="alternate" hreflang="de" href="/de"><link rel=alternate hreflang=fr href=/fr>'
        '<link rel="alternate" media="handheld" href="/m">'
    )
    header = '</it>; rel="alternate"; hreflang="it", <>; rel=self'
    assert links(f"<head>{html}", header).alternates == (
        "http://example.com/it",
        "http://example.com/de",
        "http://example.com/fr",
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # Examples of RFC 8288, section 3.5, and of RFC 6596, section 6.
        (
            '<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"',
            [("http://example.com/TheBook/chapter2", {"previous"})],
        ),
        ('</>; rel="http://example.net/foo"', [("/", {"http://example.net/foo"})]),
        ('</terms>; rel="copyright"; anchor="#foo"', []),
        (
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, "
            "</TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            [("/TheBook/chapter2", {"previous"}), ("/TheBook/chapter4", {"next"})],
        ),
        (
            '<http://example.org/>; rel="start http://example.net/relation/other"',
            [("http://example.org/", {"start", "http://example.net/relation/other"})],
        ),
        ('<https://example.org/>; rel="start", , ', [("https://example.org/", {"start"})]),
        ("<a,b;c>;rel=next;rel=prev", [("a,b;c", {"next"})]),
        ('<a>; title="x, <b>; rel=prev \\" "; rel=next', [("a", {"next"})]),
        ("<a>;crossorigin; rel = next", [("a", {"next"})]),
        ("nonsense, <a>; rel=next", []),
        ("", []),
    ],
)
def test_link_headers(value, expected):
    assert [(link.target, set(link.rel)) for link in header_links(value)] == expected


def test_a_header_says_the_canonical_url_of_anything():
    response = Response(URL, headers={"Link": ["</shop/item>; rel=canonical"]})
    assert page_links(response).canonical == "http://example.com/shop/item"


@given(st.text(alphabet="<>;,=\"\\ abrel'", max_size=60))
def test_any_header_and_any_head_can_be_read(text):
    list(header_links(text))
    links(f"<head><link rel=canonical {text}")
