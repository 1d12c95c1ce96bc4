"""Pages whose content is made by scripts are detected; other pages are not."""

from __future__ import annotations

import json

import pytest

from scrapy_neardup import NearDupDetector
from scrapy_neardup.exceptions import NeedsScripts
from scrapy_neardup.html.extraction import article_text, read_page
from scrapy_neardup.html.limits import PageLimits
from scrapy_neardup.html.quick_text import quick_text
from tests.support.texts import FERRY, MUSEUM, TEA

#: A frame of more than twenty words, the same on all pages of a shop.
SHELL = (
    "<header><a href='/'>Home</a> <a href='/cart'>Cart</a></header>{root}"
    "<section class='benefits'><h2>Why buy here</h2><p>Free delivery from fifty crowns, thirty "
    "days to send back what you do not like, and a warranty of two years on all our wares.</p>"
    "</section><section class='reviews'><h2>Reviews</h2><p>No reviews yet. Be the first to write "
    "one.</p></section><div class='cookies'>We use cookies to make this shop work.</div>"
    "<noscript>You need to enable JavaScript to run this app.</noscript>{state}"
    "<script src='/main.js'></script>"
)
WARE = {"name": "Kettle 12", "text": "A kettle of steel for two litres of water", "price": 39.9}
STATES = {
    "next": f"<script id=__NEXT_DATA__ type=application/json>"
    f"{json.dumps({'props': {'pageProps': WARE}})}</script>",
    "next stream": f"<script>self.__next_f.push([1,{json.dumps(json.dumps(WARE))}])</script>",
    "nuxt": f"<script>window.__NUXT__={json.dumps(WARE)}</script>",
    "nuxt 2": "<script>window.__NUXT__=(function(a){return {data:[{name:a,text:"
    '"A kettle of steel for two litres of water"}]}}("Kettle 12"))</script>',
    "redux": f"<script>window.__INITIAL_STATE__ = {json.dumps(WARE)};</script>",
    "angular": f"<script id=ng-state type=application/json>{json.dumps(WARE)}</script>",
    "escaped": f"<script>window.__INITIAL_STATE__ = {json.dumps({'text': TEA})};</script>",
}
ROOTS = (
    "<div id=root></div>", "<div id='app'><p>Loading …</p></div>", "<div id=__next></div>",
    "<div id=__nuxt><svg><path d='M0 0'/></svg></div>", "<app-root></app-root>",
    "<shop-app>Loading</shop-app>", "<div ng-app></div>",
)  # fmt: skip


def html(body: str) -> str:
    return f"<html><head><title>Shop</title></head><body>{body}</body></html>"


def reads(page: str) -> bool:
    try:
        read_page(page, article_text)
    except NeedsScripts:
        # A quick reading notices it as well.
        assert quick_text(page, PageLimits()).needs_reading
        return False
    return True


@pytest.mark.parametrize("name", STATES)
def test_content_that_only_the_state_has(name):
    assert not reads(html(SHELL.format(root="<main><h1>Ware</h1></main>", state=STATES[name])))


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("shell", [SHELL, "{root}{state}<script src=/main.js></script>"])
def test_an_empty_root(root, shell):
    assert not reads(html(shell.format(root=root, state="")))


@pytest.mark.parametrize(
    "body",
    [
        # Made by the server, and its state with it.
        f"<div id=__next><p>{FERRY}</p></div><script id=__NEXT_DATA__ type=application/json>"
        f"{json.dumps({'props': {'pageProps': {'text': FERRY}}})}</script>",
        # A part of the page only is an application.
        f"<article><p>{FERRY}</p><p>{MUSEUM}</p><p>{FERRY[::-1]}</p></article>"
        "<div id=app></div><script src=/a.js></script>",
        # No scripts.
        f"<div id=root></div><p>{FERRY}</p>",
        "<p>Closed on Mondays.</p>",
        # A picture is content.
        "<img src=/1.jpg><script src=/a.js></script>",
        # Facebook's, on every second page.
        f"<div id=fb-root></div><p>{FERRY}</p><script src=/a.js></script>",
        # Settings of a theme.
        f'<p>{FERRY}</p><script>var config = {{"more": "Load more of these posts"}}</script>',
    ],
)
def test_pages_that_show_what_they_are(body):
    assert reads(html(body))


def test_an_extractor_that_reads_the_state_is_believed():
    page = html(SHELL.format(root="<div id=__next></div>", state=STATES["next"]))
    text = str(WARE["text"])
    assert read_page(page, lambda html, tree: text).text == text


def test_such_a_page_is_kept_and_never_compared():
    judge = NearDupDetector()
    page = html(SHELL.format(root="<div id=root></div>", state=""))
    for number in range(3):
        verdict = judge.check(url=f"https://a.example/{number}", html=page)
        assert (verdict.kind, verdict.reason) == ("undecided", "needs_scripts")
    assert len(judge.store) == 0
