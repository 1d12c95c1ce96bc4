"""Embedded content of a page: what counts, and which of it distinguishes two pages."""

from __future__ import annotations

import json

import pytest

from scrapy_neardup.html.extraction import read_page, visible_text
from scrapy_neardup.matching.verdict import Match
from scrapy_neardup.reasons import Reason
from tests.support.texts import FERRY
from tests.unit.matching.test_rule import detector, verdicts, why

#: Two of each: the same text, another content.
CARRIERS = {
    "document": '<a href="/files/report-{}.pdf">Report</a>',
    "download": '<a href="/download.php?id={}">Report</a>',
    "picture": '<img src="/{}.jpg">',
    "picture of a script": '<img src="/image.php?h=8d5e957f29789348{}">',
    "picture of a script in a size": '<img src="/image?w=300&amp;id=3f{}0c1de-77a1-4e0b-9d3b">',
    "picture of a long number": '<img src="/photo?id=171480000{}&amp;sig=ab">',
    "picture that is made smaller": '<img src="/_next/image?url=%2Fa%2F{}.jpg&amp;w=640">',
    "background of a script": '<i style="background:url(/pic?key=8d5e957f29789348{})"></i>',
    "download of a script": '<a href="/download?key=8d5e957f29789348{}">Report</a>',
    "frame of a script": '<iframe src="/player?clip=8d5e957f29789348{}"></iframe>',
    "mail": '<a href="mailto:office{}@acme.example?subject=Hello">Report</a>',
    "telephone": '<a href="tel:+49 30 1234{}">Report</a>',
    "message": '<a href="sms:+49301234{}?body=Hello">Report</a>',
    "internet telephone": '<a href="sip:office{}@acme.example">Report</a>',
    "chat": '<a href="xmpp:office{}@acme.example?message">Report</a>',
    "place": '<a href="geo:52.{}31,13.477?z=11">Report</a>',
    "magnet": '<a href="magnet:?xt=urn:btih:8d5e957f29789348{}&amp;tr=t">Report</a>',
    "file of a network": '<a href="ed2k://|file|a.iso|1|8d5e957f29789348{}|/">Report</a>',
    "account": '<a href="bitcoin:1BoatSLRHtKNngkdXEeobR76b53LETtpy{}?amount=1">Report</a>',
    "lazy picture": '<img src="/blank.gif" data-src="/{}.jpg">',
    "alternative text": '<img src="/a.jpg" alt="Kettle {}">',
    "srcset": '<img srcset="/{}-small.jpg 1x, /{}-large.jpg 2x">',
    "source": '<picture><source srcset="/{}.webp"><img src="/a.jpg"></picture>',
    "film": '<video poster="/{}.jpg"><source src="/film-{}.mp4"></video>',
    "object": '<object data="/{}.swf"></object>',
    "embedded": '<embed src="/{}.swf">',
    "frame": '<iframe src="/player?v=ab{}"></iframe>',
    "frame's page": '<iframe srcdoc="<p>Kettle {}</p>"></iframe>',
    "drawing": '<svg viewBox="0 0 9 9"><path d="M0 0L{} 9"/></svg>',
    "background": "<div style=\"background: url('/{}.jpg')\"></div>",
    "input": '<input name="size" value="{}">',
    "choice": '<select><option value="{}" selected>Size</option></select>',
    "hidden field": '<input type="hidden" name="product_id" value="{}">',
    "structured data": '<script type="application/ld+json">'
    '{{"@type": "Product", "name": "Kettle {}", "price": "{}.90"}}</script>',
    "state": '<script id="__NEXT_DATA__" type="application/json">'
    '{{"props": {{"pageProps": {{"price": {}}}}}}}</script>',
    "assigned state": '<script>window.__INITIAL_STATE__ = {{"price": {}}};</script>',
    "assigned data": '<script>var ware = {{"price": {}}};</script>',
    "data attribute": "<div data-ware='{{\"price\": {}}}'></div>",
    "template": "<template><p>Kettle {}</p></template>",
    "document of a script": '<a href="/getdoc.aspx?id={}">Report</a>',
    "document by a parameter": '<a href="/view.php?doc={}">Report</a>',
    "document without a suffix": '<a href="/pdf/{}">Report</a>',
    "document by its type": '<a type="application/pdf" href="/media/{}">Report</a>',
    "document in a folder": '<a href="/documents/471{}">Report</a>',
    "export": '<a href="/dataset/export/471{}">Report</a>',
    "short film elsewhere": '<a href="https://www.youtube.com/shorts/dQw4w9WgXc{}">Report</a>',
    "film of a list elsewhere": '<a href="https://youtube.com/watch?v=dQw4w9WgXc{}&amp;list=PL1">'
    "Report</a>",
    "document of a viewer": '<a href="/viewer.html#file=/pdf/{}.pdf">Report</a>',
    "document behind a visit's id": '<a href="/a;jsessionid=0A/{}.pdf">Report</a>',
    "frame of a film": '<iframe src="/player.php?v=300{}&amp;autoplay=on"></iframe>',
    "frame of a version": '<iframe src="/embed?version=300{}&amp;page=one"></iframe>',
    "frame of a fragment": '<iframe src="/player.html#300{}"></iframe>',
    "frame of a viewer": '<iframe src="/viewer.html#file=/pdf/{}.pdf"></iframe>',
    "frame of a path's parameter": '<iframe src="/player;id=300{}"></iframe>',
    "object of a program": "<script>shed = {{wood: 'Alder {}', legs: 4}};</script>",
    "object of a program in quotes": "<script>let a = {{'legs': {}, 'b': go}};</script>",
    "object within a list": "<script>a = [$R[1]={{wood:`Alder {}`}}];</script>",
    "object before a function": "<script>a = {{b: 'Alder {}', c() {{}}}};</script>",
    "number of a product in a program": "<script>a = {{ean: '400638133393{}'}};</script>",
    "stream of a router": "<script>window.__reactRouterContext.streamController.enqueue("
    '"[{{\\"_1\\":2}},\\"wood\\",\\"Alder {}\\"]\\n");</script>',
    "film elsewhere": '<a href="https://www.youtube.com/watch?v={}&amp;t=3">Report</a>',
    "publication": '<a href="https://doi.org/10.1000/{}">Report</a>',
    "picture that scripts load": '<div data-bg="/{}.jpg"></div>',
    "background that scripts load": "<div data-style=\"background: url('/{}.jpg')\"></div>",
    "long number of a product": '<input type="hidden" name="ean" value="400638133393{}">',
    "state of an offer": '<script type="application/ld+json">'
    '{{"offers": {{"availability": "https://schema.org/Stock{}"}}}}</script>',
    "picture in data": '<script type="application/json">'
    '{{"image": "https:\\/\\/cdn.example\\/{}.jpg"}}</script>',
    "number of a product in data": '<script type="application/json">'
    '{{"gtin13": "400638133393{}"}}</script>',
    "chart": "<script>var temperatures = [1{}, 12, 13];</script>",
    "film of a player": '<script>player("a b").load({{file: "//cdn.example/{}.m3u8"}})</script>',
    "film of a minified player": "<script>p('a b').load({{id:'a',file:'\\/{}.mp4?t=1'}})</script>",
    "background of a style sheet": "<style>.hero {{ background: url('/{}.jpg') }}</style>",
    "property of a component": "<x-card :product='{{\"price\": {}}}'></x-card>",
    "microdata": '<link itemprop="availability" href="https://schema.org/Stock{}">',
    "document of an office": '<a href="https://docs.google.com/document/d/1a{}/edit">Report</a>',
    "download of an office": '<a href="https://drive.google.com/uc?export=download&id=1{}">Report</a>',
    "data of Magento": '<script type="text/x-magento-init">{{"*": {{"price": {}}}}}</script>',
    "table for a script": '<script type="text/csv">kettle,{}</script>',
    "plain text for a script": '<script type="text/plain">Kettle {}</script>',
    "formula": '<script type="math/tex">x_{} + y</script>',
    "stars": '<div role="img" aria-label="Rated {} of 5"></div>',
    # Two addresses of mail under one key.
    "protected address": '<a class="__cf_email__" data-cfemail="2a4b4b6a4b04{}9">Report</a>',
    "microdata's content": '<meta itemprop="price" content="1{}.90">',
    "RDFa": '<i vocab="https://schema.org/"><i property="price" content="1{}.90"></i></i>',
    "RDFa with a prefix": '<span property="schema:price" content="1{}.90"></span>',
}
#: What differs from one copy to the next.
PASSING = {
    "token": '<input type="hidden" name="csrf_token" value="{}">',
    "random value": '<input type="hidden" name="key" value="a8f5f167f44f4964e6c998dee827110{}">',
    "nonce": '<script nonce="{}">go()</script>',
    "short token in data": '<script>var wp = {{"url": "/x", "rest_nonce": "4e0{}"}};</script>',
    "short token in a field": '<input type="hidden" name="formhash" value="a1{}">',
    "step of a flow": '<input type="hidden" name="execution" value="e{}s1">',
    "token that is the name of a field": '<input type="hidden" name="9400f1b21c{}c94" value="1">',
    "time that it took": '<script>NREUM.info = {{"queueTime": {}, "agent": ""}}</script>',
    "moment": '<script type="application/json">{{"at": "2024-05-0{}T10:00:00Z"}}</script>',
    "time stamp": '<script type="application/json">{{"at": 171480000{}}}</script>',
    "request": '<script type="application/json">{{"id": "req-7f3c9a1b5d{}"}}</script>',
    "own address": '<script type="application/ld+json">{{"url": "https://a.example/{}"}}</script>',
    "program that waits": '<script type="text/plain" class="consent">count({});</script>',
    "program that is put off": '<script type="rocketlazyloadscript">var at{} = go()</script>',
    "pixel": '<img src="/count?{}" width="1" height="1">',
    "cache": '<img src="/a.jpg?v={}">',
    "hash of a file": '<img src="/a.jpg?h=8d5e957f29789348{}">',
    "signature": '<img src="/photo?id=7&amp;sig=8d5e957f29789348{}&amp;X-Amz-Signature={}">',
    "random number": '<img src="/photo?id=7&amp;r=0.8374650{}">',
    "moment of a request": '<img src="/photo?id=7&amp;at=171480000{}&amp;t={}">',
    "captcha": '<img src="/captcha/image?h=8d5e957f29789348{}">',
    "server of a picture": '<img src="/thumb?url=https%3A%2F%2Fcdn{}.example%2Fa.jpg">',
    "shared by mail": '<a href="mailto:?subject={}&amp;body={}">Report</a>',
    "shared by message": '<a href="sms:?body={}">Report</a>',
    "shared by app": '<a href="whatsapp://send?text={}">Report</a>',
    "shared by chat": '<a href="tg://msg?text={}">Report</a>',
    "subject of a mail": '<a href="mailto:office@acme.example?subject={}">Report</a>',
    "trackers": '<a href="magnet:?xt=urn:btih:8d5e957f29789348&amp;tr={}">Report</a>',
    "script": '<a href="javascript:go({})">Report</a>',
    "other page": '<a href="https://b.example/{}">Report</a>',
    "link": '<a href="/login?next=/{}">Log in</a>',
    "class": '<p class="k{}"></p>',
    "address of a page in data": '<script type="application/json">'
    '{{"next": "https://a.example/page/{}"}}</script>',
    "address of a page in microdata": '<link itemprop="url" href="https://a.example/{}">',
    "counter in microdata": '<meta itemprop="interactionCount" content="UserComments:{}">',
    "counter in RDFa": '<i property="schema:commentCount" content="{}"></i>',
    "moment of a picture in data": '<script type="application/json">'
    '{{"image": "https://cdn{}.example/a.jpg?t={}"}}</script>',
    "address of a page in a program": "<script>open('https://a.example/{}')</script>",
    "moment of a film": '<script>load("/film.mp4?t=171480000{}")</script>',
    "name in a style sheet": "<style>.k{} {{ color: red }}</style>",
    "link with a dot": '<a href="/users/john.smith{}">Report</a>',
    "link to a thing": '<a href="/tag/node{}.js">Report</a>',
    "link to an entry": '<a href="/wiki/Foo{}.bar">Report</a>',
    "link to a version": '<a href="/story/v1.{}">Report</a>',
    "link to a domain": '<a href="/sites/a{}.example.com">Report</a>',
    "link to a program": '<a href="/story/{}.php">Report</a>',
    "link to a source": '<a href="https://git.example/a/blob/v{}/a.rst">Report</a>',
    "feed": '<a href="/story/{}/feed.xml">Report</a>',
    "mail of a domain": '<a href="mailto:?to=a{}@a.md">Report</a>',
    "call": '<a href="javascript:go({}.js">Report</a>',
    "print view": '<a href="/story/7?print={}">Report</a>',
    "way to a download": '<a href="/documents/4711?ref={}&amp;utm_source=a{}">Report</a>',
    "cache of data": '<a href="/a.geojson?v={}&amp;t=17148000{}">Report</a>',
    "shared page": '<a href="https://social.example/share.php?u=https://a.example/{}">Report</a>',
    "id of a visit": '<iframe src="/player;jsessionid=0A{}?clip=7"></iframe>',
    "id of a visit before a file": '<a href="/a;jsessionid=0A{}/a.pdf">Report</a>',
    "version of a picture of a script": '<img src="/photo?id=7&amp;v=1.2.{}">',
    "version of a player": '<iframe src="/player?v=1.2.{}&amp;autoplay=on"></iframe>',
    "version of a linked file": '<a href="/a.js?v=1.2.{}">Report</a>',
    "place in a document": '<a href="/report.pdf#page={}">Report</a>',
    "place below a download": '<a href="/download/7#comment-{}">Report</a>',
    "clip of a drawing": '<i style="clip-path: url(#clip-{})"></i>',
    "token of a program": "<script>a = {{legs: 4, csrfToken: 'ab{}', nonce: 'c{}'}};</script>",
    "counter of a program": "<script>a = {{legs: 4, views: 10{}, likeCount: '{}'}};</script>",
    "time of a program": "<script>a = {{legs: 4, renderTime: {}, at: 171480000{}}};</script>",
    "page of a program": "<script>a = {{legs: 4, path: '/story/{}?ref=a'}};</script>",
    "depth and version of a manual": "<script>var DOCUMENTATION_OPTIONS = {{VERSION: '{}.4.1', "
    "URL_ROOT: '../.{}/', FILE_SUFFIX: '.html'}};</script>",
    "visit of a program": "<script>a = {{legs: 4, visitorId: '{}'}};</script>",
    "number in a function": "<script>function a() {{ return {{b: {}}} }}</script>",
    "depth": '<img src="{}/a.jpg">',
}


def two(markup: str, title: str = "Wares") -> list[tuple[str, str]]:
    """Pages of one site that differ in nothing but this."""
    return [
        (
            f"https://a.example/{n}",
            f"<html><head><title>{title}</title></head><body><p>{FERRY}</p>"
            f"{markup.format(n, n, n)}</body></html>",
        )
        for n in (1, 2)
    ]


@pytest.mark.parametrize("name", CARRIERS)
def test_pages_that_differ_in_what_they_hold_are_not_one(name):
    assert why(detector(), *two(CARRIERS[name])) == "parts_differ"
    assert why(detector(), *two("", title="Wares")) == "same_page"


#: Carriers that are more than one element, or that scripts read to show another content.
MORE_THAN_ONE = {"source", "film", "drawing", "structured data", "state"} | {
    "assigned state",
    "assigned data",
    "data attribute",
    "template",
    "state of an offer",
    "picture in data",
    "number of a product in data",
    "data of Magento",
    "table for a script",
    "plain text for a script",
    "formula",
    "object of a program",
    "object of a program in quotes",
    "object within a list",
    "object before a function",
    "number of a product in a program",
    "stream of a router",
}


@pytest.mark.parametrize("name", CARRIERS)
def test_a_page_that_lacks_one_element_of_a_stored_page_is_dropped_but_not_the_other_way(name):
    shown = next((each for each in ("Report", "Size") if f"{each}</" in CARRIERS[name]), "")
    (url, page), (_, plain) = two(CARRIERS[name])[0], two(f"<b>{shown}</b>")[1]
    less = "https://a.example/less", plain
    assert verdicts(detector(), less, (url, page)) == ["new", "new"]
    is_lost = "new" if name in MORE_THAN_ONE else "duplicate"
    assert verdicts(detector(), (url, page), less) == ["new", is_lost]


def test_a_page_that_lacks_two_elements_or_has_another_one_is_kept():
    pictures = '<img src="/a.jpg"><img src="/b.jpg" alt="A kettle">'
    pages = [two(pictures)[0], two('<img src="/a.jpg">')[1]]
    assert verdicts(detector(), *pages) == ["new", "duplicate"]
    for rest in ("", '<img src="/c.jpg">', '<img src="/b.jpg">', '<img src="/a.jpg?page=2">'):
        pages[1] = two(f"<p></p>{rest}")[1]
        assert verdicts(detector(), *pages) == ["new", "new"]


def test_either_page_may_be_the_one_that_lacks_an_element():
    judge = detector()
    less, more = (judge.signature(url=u, html=h) for u, h in (two("")[0], two("<img src=1>")[1]))
    match = judge.compare(less, more)
    assert match == judge.compare(more, less) == Match(0, 1.0, Reason.SAME_TEXT)


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_makes_no_other_page(name):
    pages = two(PASSING[name])
    if name == "depth":
        pages = [(url, html.replace("1/a", "../a").replace("2/a", "./a")) for url, html in pages]
    assert why(detector(), *pages) == "same_text"


def test_an_address_of_mail_is_protected_in_another_way_each_time():
    pages = []
    for number, key in enumerate((0x2A, 0x91)):
        data = bytes([key, *(key ^ byte for byte in b"office@acme.example")]).hex()
        pages.append(two(f'<a data-cfemail="{data}">[email]</a>')[number])
    assert why(detector(), *pages) == "same_text"


def test_a_telephone_number_may_be_written_in_another_way():
    pages = [two(f'<a href="tel:{n}">Call</a>')[i] for i, n in enumerate(("+49-30 12", "+493012"))]
    assert why(detector(), *pages) == "same_text"


def test_a_page_whose_files_have_changed_has_changed():
    judge = detector()
    for number, reason in (1, "no_match"), (1, "unchanged"), (2, "changed"):
        [*_, (_, html)] = two(CARRIERS["document"])[:number]
        assert judge.check(url="https://a.example/", html=html).reason == reason


RELATIVE = (
    '<img src="{}">',
    '<img data-src="{}">',
    '<a href="{}">Report</a>',
    '<i data-bg="{}"></i>',
)


@pytest.mark.parametrize("markup", RELATIVE)
@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        (("/a/", "1.jpg"), ("/b/", "1.jpg"), False),
        (("/a/", "1.jpg"), ("/a/index.html", "1.jpg"), True),
        (("/a/", "../1.jpg"), ("/b/", "../1.jpg"), True),
        (("/2/a/", "../images/1.jpg"), ("/3/a/", "../images/1.jpg"), True),
        (("/a/", "/1.jpg"), ("/b/", "/1.jpg"), True),
        (("/a/", "files/x20240115.jpg"), ("/b/", "files/x20240115.jpg"), True),
        (("/a/(S(x1))/", "1.jpg"), ("/a/(S(y2))/", "1.jpg"), True),
        (("/a/", "https://c.example/1.jpg"), ("/b/", "//c.example/1.jpg"), True),
    ],
)
def test_a_relative_address_counts_with_the_folder_of_its_page(markup, one, other, is_one):
    page = f"<html><head><title>Wares</title></head><body><p>{FERRY}</p>{markup}</body></html>"
    both = [(f"https://a.example{path}", page.format(address)) for path, address in (one, other)]
    reason = why(detector(), *both)
    assert reason in ({"same_page", "same_text"} if is_one else {"parts_differ"})


def test_but_not_on_two_sites_or_with_a_base():
    page = (
        f"<html><head><title>Wares</title>{{}}</head><body><p>{FERRY}</p>"
        '<img src="1.jpg"></body></html>'
    )
    on_two = [(f"https://{site}.example/{site}/", page.format("")) for site in "ab"]
    assert why(detector(), *on_two) == "same_text"
    base = page.format('<base href="/files/">')
    assert why(detector(), *((f"https://a.example/{n}/", base) for n in "ab")) == "same_page"


def test_short_pages_are_one_only_when_all_of_them_is_equal():
    pages = [(url, html.replace(FERRY, "Closed on Mondays.")) for url, html in two("")]
    assert why(detector(), *pages) == "same_page"
    other = pages[1][0], pages[1][1].replace("<p>", "<p class=b>")
    assert why(detector(), pages[0], other) == "few_features"


def test_a_text_that_was_taken_out_of_a_page_is_not_the_whole_page():
    judge = detector()
    a, b = (judge.signature(url=f"https://{s}.example/", text="Closed on Mondays.") for s in "ab")
    assert judge.compare(a, b) is None
    long, too = (judge.signature(url=f"https://{s}.example/", text=FERRY) for s in "ab")
    assert isinstance(judge.compare(long, too), Match)


def test_what_is_held_is_read_in_time_that_grows_with_the_page():
    data = json.dumps({"a" * 20 + str(n): "b" * 30 + f"1 {n} //" for n in range(20_000)})
    html = f"<html><body><p>{FERRY}</p><script type=application/json>{data}</script></body></html>"
    assert FERRY in read_page(html, visible_text).text
