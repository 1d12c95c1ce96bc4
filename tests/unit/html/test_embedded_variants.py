"""One content in two notations is one, and what is alike but differs is not."""

from __future__ import annotations

import pytest

from scrapy_neardup.html.facts.content import CODE_BLOCK, HEADING, Fact
from scrapy_neardup.matching.verdict import Match
from scrapy_neardup.signatures.facts import heading_bits, packed_facts
from tests.support.texts import FERRY, MUSEUM, TEA
from tests.unit.matching.test_rule import detector

SCRIPT = "<script>window.__STATE__ = {};</script>"
#: Stands there until a script loads the picture.
STAND_IN = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
#: What a template, a server or an optimiser writes in another way.
ONE = {
    "order of attributes with files": (
        "<p data-a=/a.jpg data-b=/b.jpg></p>",
        "<p data-b=/b.jpg data-a=/a.jpg></p>",
    ),
    "order of attributes with data": (
        """<p data-a='{"a": 1}' data-b='{"b": 2}'></p>""",
        """<p data-b='{"b": 2}' data-a='{"a": 1}'></p>""",
    ),
    "order of attributes of a component": (
        "<p :a='{\"a\": 1}' :b='{\"b\": 2}'></p>",
        "<p :b='{\"b\": 2}' :a='{\"a\": 1}'></p>",
    ),
    "order of attributes of microdata": (
        "<link itemprop=a content=1 href=https://schema.org/A>",
        "<link href=https://schema.org/A itemprop=a content=1>",
    ),
    "order of attributes of a drawing": (
        "<svg><path d=M1 x=2></path></svg>",
        "<svg><path x=2 d=M1></path></svg>",
    ),
    "blanks in a drawing": (
        "<svg><g><path d=M1></path></g></svg>",
        "<svg>\n <g>\n  <path d=M1></path> </g>\n</svg>",
    ),
    "blanks in a template": (
        "<template><p>A <b>kettle</b></p></template>",
        "<template>\n <p>A\n<b>kettle</b> </p>\n</template>",
    ),
    "script of a template": ("<script src=/a1.js></script>", "<script src=/b2.js></script>"),
    "blanks alone": ("<noscript></noscript>", "<noscript>\n </noscript>"),
    "time of a server": (
        SCRIPT.format('{"a": 1, "serverTime": "2026-03-04T10:00:00.123Z"}'),
        SCRIPT.format('{"a": 1, "serverTime": "2026-04-05T11:01:02.456Z"}'),
    ),
    "time of a server in words": (
        SCRIPT.format('{"a": 1, "generatedAt": "Wed, 04 Mar 2026 10:00:00 GMT"}'),
        SCRIPT.format('{"a": 1, "generatedAt": "Thu, 05 Mar 2026 11:01:02 GMT"}'),
    ),
    "time of a server in a program": (
        "<script>a = {b: 'Alder', now: '4.3.2026 10:00:00', fetchedAt: '4/3/26 10:00:00'}</script>",
        "<script>a = {b: 'Alder', now: '5.3.2026 11:01:02', fetchedAt: '5/3/26 11:01:02'}</script>",
    ),
    "number of an advertisement": (
        '<iframe src="https://ads.example/f?cb=69913573361"></iframe>',
        '<iframe src="https://ads.example/f?cb=4491357336123"></iframe>',
    ),
    "advertisement": (
        '<iframe src="https://ad.doubleclick.net/ddm/adi/N1;slot=kettle"></iframe>',
        '<iframe src="https://ad.doubleclick.net/ddm/adi/N2;slot=pot"></iframe>',
    ),
    "late picture": (
        f'<img src="{STAND_IN}" data-src="/kettle.jpg">',
        '<img src="/kettle.jpg">',
    ),
    "late sources": (
        f'<img src="{STAND_IN}" data-srcset="/kettle.jpg 1x, /kettle@2x.jpg 2x">',
        '<img src="/kettle.jpg">',
    ),
    "size of a picture": ('<img src="/kettle.jpg">', '<img src="/kettle-300x200.jpg">'),
    "other size": ('<img src="/kettle_640x480.png">', '<img src="/kettle_1280x960.png">'),
    "size in a folder": (
        '<img src="/upload/w_300,h_200,c_fill/v1/kettle.jpg">',
        '<img src="/upload/w_640/v1/kettle.jpg">',
    ),
    "size in parameters": (
        '<img src="/kettle.jpg?w=300&amp;quality=80">',
        '<img src="/kettle.jpg?w=640&amp;quality=90">',
    ),
    "size of a picture that is made smaller": (
        '<img src="/_next/image?url=%2Fkettle.jpg&amp;w=640&amp;q=75">',
        '<img src="/_next/image?url=%2Fkettle.jpg&amp;w=1080&amp;q=75">',
    ),
    "sizes to choose from": (
        '<img src="/kettle.jpg" srcset="/kettle-300x200.jpg 300w, /kettle-640x480.jpg 640w">',
        '<img src="/kettle.jpg">',
    ),
}
#: What is alike.
TWO = {
    "drawings": (
        "<svg><path d=M1 x=2></path></svg>",
        "<svg><path d=M2 x=2></path><g x=1></g></svg>",
    ),
    "order of drawings": (
        "<svg><path d=M1></path><path d=M2></path></svg>",
        "<svg><path d=M2></path><path d=M1></path></svg>",
    ),
    "day of an event": (
        SCRIPT.format('{"startDate": "2026-03-04"}'),
        SCRIPT.format('{"startDate": "2026-03-05"}'),
    ),
    "hour of an event": (
        SCRIPT.format('{"eventTime": "10:00:00"}'),
        SCRIPT.format('{"eventTime": "11:00:00"}'),
    ),
    "frames beside a number": (
        '<iframe src="/f?clip=kettle&amp;cb=69913573361"></iframe>',
        '<iframe src="/f?clip=pot&amp;cb=4491357336123"></iframe>',
    ),
    "frame of a short number": (
        '<iframe src="/f?cb=17"></iframe>',
        '<iframe src="/f?cb=18"></iframe>',
    ),
    "late pictures": (
        f'<img src="{STAND_IN}" data-src="/kettle.jpg">',
        f'<img src="{STAND_IN}" data-src="/pot.jpg">',
    ),
    "picture within its address": (
        f'<img src="{STAND_IN}">',
        f'<img src="{STAND_IN[:-4]}BDs=">',
    ),
    "poster of a late film": (
        f'<video poster="{STAND_IN}" data-src="/a.mp4"></video>',
        f'<video poster="{STAND_IN[:-4]}BDs=" data-src="/a.mp4"></video>',
    ),
    "names of pictures": ('<img src="/kettle-300x200.jpg">', '<img src="/pot-300x200.jpg">'),
    "numbers of pictures": ('<img src="/kettle-300.jpg">', '<img src="/kettle-200.jpg">'),
    "watts of lamps": ('<img src="/lamp-60w.jpg">', '<img src="/lamp-100w.jpg">'),
    "sizes of posters": ('<img src="/cat-50x70.jpg">', '<img src="/cat-70x100.jpg">'),
    "folders like a format": ('<img src="/f_lamp/main.jpg">', '<img src="/f_chair/main.jpg">'),
    "folders like a height": ('<img src="/h_1984/main.jpg">', '<img src="/h_1985/main.jpg">'),
    "queries like a quality": ('<img src="/map.png?q=1984">', '<img src="/map.png?q=2001">'),
    "models": ('<img src="/dell-700x.jpg">', '<img src="/dell-800x.jpg">'),
    "drawings before a picture that turns": (
        '<img src="data:image/svg+xml,A" data-src="/spinner.gif">',
        '<img src="data:image/svg+xml,B" data-src="/spinner.gif">',
    ),
    "hours under the name of a moment": (
        '<script>var a = {"served": "Mon-Fri 11:30:00-14:00:00"}</script>',
        '<script>var a = {"served": "Sat-Sun 09:00:00-12:00:00"}</script>',
    ),
    "how long a dish takes": (
        '<script>var a = {"processing_time": "01:30:00"}</script>',
        '<script>var a = {"processing_time": "12:30:00"}</script>',
    ),
    "documents for two sizes": ('<a href="/300x200.pdf">A</a>', '<a href="/640x480.pdf">A</a>'),
    "struck paragraphs": (
        f"<p><s>{MUSEUM}</s></p><p>{TEA}</p>",
        f"<p>{MUSEUM}</p><p><s>{TEA}</s></p>",
    ),
    "struck paragraphs with a link": (
        f"<p><del>{MUSEUM}<a href=/a>More</a></del></p><p>{TEA}</p>",
        f"<p>{MUSEUM}<a href=/a>More</a></p><p><del>{TEA}</del></p>",
    ),
    **{
        f"script of {source.partition('/')[0]}": tuple(
            f'<script src="https://{source.format(name)}"></script>' for name in ("a1", "b2")
        )
        for source in (
            "gist.github.com/ann/{}.js",
            "fast.wistia.com/embed/medias/{}.jsonp",
            "cdn.jwplayer.com/players/{}-x.js",
            "jsfiddle.net/ann/{}/embed/js,html/",
            "asciinema.org/a/{}.js",
            "cdnapisec.kaltura.com/p/1/embedIframeJs/uiconf_id/2?autoembed=true&amp;entry_id=1_{}",
        )
    },
}


def is_one(one: str, other: str) -> bool:
    """Whether pages are one that differ in nothing but this."""
    judge = detector()
    pages = (
        judge.signature(
            url=f"https://a.example/{n}",
            html=f"<html><head><title>Wares</title></head><body><p>{FERRY}</p>{markup}</body></html>",
        )
        for n, markup in enumerate((one, other))
    )
    return isinstance(judge.compare(*pages), Match)


@pytest.mark.parametrize("name", ONE)
def test_one_content_that_is_written_in_two_ways(name):
    assert is_one(*ONE[name])


@pytest.mark.parametrize("name", TWO)
def test_but_not_two_contents_that_are_alike(name):
    assert not is_one(*TWO[name])


def packed(label: str, stated: str) -> bytes:
    return packed_facts([Fact(label, stated)])


@pytest.mark.parametrize(
    "stated", ["Ann's “Kettle”", 'Ann’s "Kettle"', "Ann‘s «Kettle»", "Ann's „Kettle“"]
)
def test_quotation_marks_are_the_same_in_facts_but_not_in_code(stated):
    plain = 'Ann\'s "Kettle"'
    assert packed(HEADING, stated) == packed(HEADING, plain)
    assert packed("Name", stated) == packed("Name", plain) != packed("Name", "Ann's Kettle")
    assert packed(CODE_BLOCK, stated) != packed(CODE_BLOCK, plain)
    assert heading_bits(stated, [plain.lower()], [("x",)]) == 1
