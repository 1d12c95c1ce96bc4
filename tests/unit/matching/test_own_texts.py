"""Two pages of a site without what recurs on it."""

from __future__ import annotations

from functools import cache

import pytest

from scrapy_neardup.matching.own_texts import only_boilerplate_alike
from scrapy_neardup.matching.rule import learn
from scrapy_neardup.matching.site_boilerplate import SiteBoilerplate
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from tests.support.offers import FIRST, NEWS, OFFERS, OTHERS, SECOND, sentences

SIGNER = Signer(secret=bytes(range(32)), extraction="lazy")
COMMENTS = f"<h2>Comments</h2><p>{sentences(60, 7)}</p>"


@cache
def quick(url: str, html: str) -> PageSignature:
    [signature] = SIGNER.sign(SIGNER.quick_page(url, html))
    return signature


def full(url: str, html: str) -> PageSignature:
    return SIGNER.sign_html(url, html).with_quick_parts_of(quick(url, html))


def commented(html: str) -> str:
    return html.replace("</body>", f"<div class=comments>{COMMENTS}</div></body>")


COPY = f"{FIRST}/comments", commented(OFFERS[FIRST])


@pytest.mark.parametrize(
    ("known", "other", "expected"),
    [
        (OTHERS, SECOND, True),
        (OTHERS, COPY, False),
        # Until three pages have it, and in a part of the site's pages that is too small.
        (OTHERS[:1], SECOND, False),
        ([*OTHERS, *NEWS, *(f"{url}/more" for url in NEWS)], SECOND, False),
    ],
)
def test_texts_that_were_read_quickly_tell_what_recurs(known, other, expected):
    boilerplate = SiteBoilerplate()
    for number, url in enumerate(known):
        html = {**OFFERS, **NEWS}.get(url) or f"<title>More {number}</title>{sentences(99, number)}"
        learn(boilerplate, quick(url, html))
    first = full(FIRST, OFFERS[FIRST])
    learn(boilerplate, first)
    assert only_boilerplate_alike(first, full(*other), boilerplate) == expected
    assert boilerplate.texts.count == 1
