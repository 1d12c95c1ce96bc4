"""Removes consent overlays, the cookie banners that are shown over every page of a site.

Crawled pages often have the overlay in their markup, with thousands of characters about purposes
and partners, the same on all sites of one publisher.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

#: Ids and classes that consent managers give to their elements.
_MANAGERS = frozenset(
    "onetrust-consent-sdk onetrust-banner-sdk onetrust-pc-sdk ot-sdk-container "
    "cybotcookiebotdialog cybotcookiebotdialogbodyunderlay didomi-host didomi-popup didomi-notice "
    "usercentrics-root usercentrics-cmp-ui uc-banner-modal truste-consent-track truste_overlay "
    "truste_box_overlay consent_blackbar qc-cmp2-container qc-cmp2-ui qc-cmp-cleanslate "
    "osano-cm-window osano-cm-dialog cmplz-cookiebanner-container cmplz-cookiebanner "
    "cky-consent-container cky-overlay cky-modal borlabscookiebox borlabscookieboxwrap "
    "tarteaucitronroot iubenda-cs-banner cookie-notice moove_gdpr_cookie_modal "
    "moove_gdpr_cookie_info_bar cookie-law-info-bar clisettingspopup cookiefirst-root "
    "cookiescript_injected cookiescript_injected_wrapper termly-code-snippet-support "
    "termly-consent-preferences axeptio_overlay axeptio_main_button _evidon_banner _evidon-banner "
    "cmpbox cmpbox2 cmpwrapper cc-window cc-banner cc_container cc--main fc-consent-root "
    "fc-dialog-container klaro shopify-pc__banner shopify-pc__prefs lanyard_root ppms_cm_popup "
    "hs-eu-cookie-confirmation hs-banner-parent ez-cookie-dialog-wrapper catapult-cookie-bar "
    "wpconsent-root sd-cmp gdpr-consent-tool-wrapper cookiehub-dialog ch2-container "
    "ch2-dialog metomic-consent civic-cookie-control real-cookie-banner".split()
)
#: Names that sites make up themselves, such as ``cookie-banner``, ``gdprPopup``, ``consent_modal``.
_NAMED = re.compile(
    r"(?:[\w-]*[-_])?(?:eu[-_]?)?(?:cookies?|consent|gdpr|ccpa|dsgvo|rgpd)"
    r"(?:[-_]?(?:law|policy|info|consent|settings?|preferences?|manager|privacy))?"
    r"[-_]?(?:banner|bar|notice|notification|pop-?up|modal|overlay|dialog|layer|box|wall|message|"
    r"alert|container|wrapper|wrap|root|window|drawer|panel|toast|prompt|disclaimer|consent|sdk)"
    r"(?:[-_][\w-]*)?",
    re.I,
)
_MANAGER_NUMBERED = re.compile(r"sp_message_container_\d+")
#: Every such name contains one of these words; a page with none of them in its ids and classes has
#: no overlay.
_WORDS = (
    "cookie consent gdpr ccpa dsgvo rgpd onetrust ot-sdk didomi usercentrics uc-banner truste "
    "qc-cmp osano cmplz cky- borlabs tarteaucitron iubenda clisettings termly axeptio evidon "
    "cmpbox cmpwrapper cc-window cc-banner cc_container cc--main fc-dialog klaro shopify-pc "
    "lanyard ppms_cm hs-banner sd-cmp metomic ch2- sp_message".split()
)
_NAMES_ONE = re.compile("|".join(map(re.escape, _WORDS)), re.I)
#: Choices that an overlay offers, in the languages of most of the web. A product in a
#: ``cookie-box`` has none of these words.
_CHOICES = re.compile(
    r"accept|agree|allow|reject|declin|refus|deny|settings|preferences|privacy|consent to|we use|"
    r"akzept|zustimm|einwillig|ablehn|einstellung|datenschutz|verwend|autoris|paramètr|"
    r"confidentialit|acept|rechaz|configur|privacidad|aceit|rejeit|definiç|accett|rifiut|riservat|"
    r"accepteer|weiger|toestemming|instelling|godkän|godta|samty|avvis|akceptuj|odrzu|zgod|"
    r"prywatno|соглас|принять|принима|отклон|использ|kabul|reddet|ayarlar|同意|接受|拒绝|拒絕|隐私|隱私|"
    r"使用|許可|拒否|プライバシー|동의|수락|거부",
    re.I,
)
#: Subjects of an overlay, in these languages.
_SUBJECTS = re.compile(
    r"cookie|consent|privacy|gdpr|datenschutz|einwillig|zustimm|confidentialit|consentement|"
    r"traceur|privacidad|consentimiento|privacidade|consenso|riservatezza|toestemming|samtyck|"
    r"samtykke|zgod|prywatno|соглас|файлы|同意|隐私|隱私|クッキー|プライバシー|쿠키|동의",
    re.I,
)
_CLASSES = etree.XPath("descendant::*/@class", smart_strings=False)
_IDS = etree.XPath("descendant::*/@id", smart_strings=False)
_TAGS = ("div", "section", "aside", "dialog", "form", "footer", "header", "p", "ul", "span")
#: Elements of the page proper: an element that contains one of them is no overlay.
_PAGE_TAGS = ("main", "article", "nav")


def remove_consent_overlays(body: HtmlElement) -> None:
    """Remove consent overlays from a page's tree."""
    # One search in all names is several times as fast as one in those of each element.
    found = (cast("list[str]", attributes(body)) for attributes in (_CLASSES, _IDS))
    names = "\n".join(chain.from_iterable(found)).lower()
    if any(word in names for word in _WORDS):
        for element in list(_overlays(body)):
            if element.getparent() is not None:
                element.drop_tree()


def _overlays(body: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the outermost overlays; of nested elements, only the outermost one's text is read."""
    judged: set[HtmlElement] = set()
    for element in body.iter(*_TAGS):
        if element is body or not _is_named(element):
            continue
        if not judged.isdisjoint(element.iterancestors()):
            continue
        if next(element.iter(*_PAGE_TAGS), None) is not None:
            # It contains the page, and may contain an overlay as well.
            continue
        judged.add(element)
        if _asks_for_consent(element):
            yield element


def _is_named(element: HtmlElement) -> bool:
    attributes = f"{element.get('id', '')} {element.get('class', '')}"
    if not _NAMES_ONE.search(attributes):
        return False
    names = attributes.split()
    return any(
        name.lower() in _MANAGERS or _MANAGER_NUMBERED.fullmatch(name) or _NAMED.fullmatch(name)
        for name in names
    )


def _asks_for_consent(element: HtmlElement) -> bool:
    text = " ".join(map(str, element.itertext()))
    return bool(_SUBJECTS.search(text) and _CHOICES.search(text))
