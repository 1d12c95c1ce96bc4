"""Consent overlays are removed from a page, and nothing else is."""

from __future__ import annotations

from typing import cast

import pytest
from lxml.html import HtmlElement, document_fromstring

from scrapy_neardup import NearDupDetector
from scrapy_neardup.html.consent_overlays import remove_consent_overlays
from scrapy_neardup.stores import MemoryStore
from tests.support.texts import FERRY, MUSEUM, article

ASKS = "We and our 214 partners store cookies on your device. Accept all. Manage choices."


def shown(body: str) -> str:
    html = f"<html><body>{body}</body></html>"
    body = parsed(html)
    remove_consent_overlays(body)
    return text_of(body)


def parsed(html: str) -> HtmlElement:
    [body] = document_fromstring(html).iter("body")
    return cast("HtmlElement", body)


def text_of(element: HtmlElement) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


@pytest.mark.parametrize(
    "element",
    [
        '<div id="onetrust-consent-sdk"><div role=dialog>{}</div></div>',
        '<div id="CybotCookiebotDialog">{}</div>',
        '<div id="didomi-host"><p>{}</p></div>',
        '<div class="qc-cmp2-container" id="x1"><h2>{}</h2></div>',
        '<aside id="usercentrics-root">{}</aside>',
        '<div class="cky-consent-container cky-box-bottom-left">{}</div>',
        '<div id="cmplz-cookiebanner-container">{}</div>',
        '<div id="sp_message_container_1028392">{}</div>',
        '<div class="fc-consent-root"><div class="fc-dialog-container">{}</div></div>',
        '<section class="js-cookie-banner is-open">{}</section>',
        '<form id="cookieConsent">{}</form>',
        '<div class="gdpr_popup">{}</div>',
        '<footer class="eu-cookie-notice">{}</footer>',
    ],
)
def test_an_overlay_is_no_content(element):
    page = f"<h1>Ferry</h1>{element.format(ASKS)} tail <p>{FERRY}</p>"
    assert shown(page) == f"Ferry tail {FERRY}"


@pytest.mark.parametrize(
    "asks",
    [
        "We use cookies. <a href=/privacy>Privacy</a>",
        "This website uses cookies to work, as our privacy notice says.",
        "Your privacy is important to us. We have updated our privacy policy.",
        "Wir verwenden auf dieser Seite Cookies.",
        "Nous utilisons des cookies. Tout accepter",
        "Utilizamos cookies propias. Configurar",
        "本网站使用cookie",
        "Cookies help us. <button>Accept</button>",
        "Cookies help us. <button><span>I agree</span></button>",
        "Cookies help us. <a href='#' class=btn>Allow</a>",
        "Cookies help us. <a role=button href=/ok>Reject</a>",
        "Cookies help us. Do you accept? <input type=submit value='Yes, I accept'>",
        "Privacy settings <button aria-label='Save settings'>✓</button>",
        "Datenschutz und Einstellungen <button>Alle ablehnen</button>",
    ],
)
def test_a_box_that_says_so_or_has_a_control_is_an_overlay(asks):
    page = f'<h1>Ferry</h1><div class="cookie-box">{asks}</div>'
    assert shown(page) == "Ferry"


@pytest.mark.parametrize(
    "element",
    [
        # recipes, a form of a clinic, a wrapper of the whole page, and what does not ask anything
        f'<div id="cookie-recipes">{ASKS}</div>',
        f'<form class="consent-form">{ASKS}</form>',
        f'<div class="cookie-banner-visible wrapper has-cookie-notice"><main>{ASKS}</main></div>',
        '<div class="cookie-box">Twelve biscuits with almonds, in a tin.</div>',
        '<div class="cookie-box">Twelve butter cookies in a tin, 14.50</div>',
        '<div class="cookie-box"><h2>Cookies of the week</h2>'
        "<p>We use only fresh things. Allow the cookies to cool. <a href=/r>Use it</a></div>",
        '<div class="cookie-box">Allow them, the cookies. <button>Print</button></div>',
        '<div class="gdpr-panel"><h3>Case 7</h3><p>The court refused consent to it.</div>',
        '<div class="gdpr-panel">Consent was refused. <a href="/8">Accepted: case 8</a></div>',
        '<div class="informed-consent-panel">A form of consent for each operation.</div>',
        f'<p class="text">{ASKS}</p>',
    ],
)
def test_what_only_bears_such_a_name_stays(element):
    page = f"<h1>Ferry</h1>{element}"
    assert shown(page) == text_of(parsed(page))


def test_lists_of_two_sites_are_not_one_for_their_overlay():
    overlay = f'<div id="onetrust-banner-sdk"><p>{" ".join(article(600))} We use cookies.</p></div>'
    judge = NearDupDetector(store=MemoryStore(b"a secret for tests"))
    kinds = [
        judge.check(
            url=f"https://{site}.example/list",
            html=f"<html><title>Offers</title><body>{overlay}<ul><li>{text}</ul></body></html>",
        ).kind
        for site, text in (("a", FERRY), ("b", MUSEUM))
    ]
    assert kinds == ["new", "new"]
