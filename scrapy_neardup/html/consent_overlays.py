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
#: Choices that an overlay offers, in the languages of most of the web.
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
#: What an overlay says. The words for choices and subjects alone may be those of a recipe or of a
#: court case, in a box that is named like an overlay.
_PHRASES = re.compile(
    r"\b(?:we|(?:web ?)?site|page|partners|portal|shop)\b[^.!?]{0,60}"
    r"\b(?:uses?|using|stores?|sets?|place)\b[^.!?]{0,40}\bcookies?\b|"
    r"\byour privacy is important\b|\bwe (?:value|respect|care about) your privacy\b|"
    r"\buse of (?:\w+ ){0,2}cookies|cookie (?:settings|preferences|policy|consent)|"
    r"\b(?:accept|reject|decline|deny|refuse|manage) (?:all|(?:\w+ ){0,2}cookies|choices)\b|"
    r"(?:verwende[nt]|nutz(?:en|t)|setz(?:en|t))\b[^.!?]{0,60}cookies|cookies[^.!?]{0,30}verwende|"
    r"cookies? (?:akzeptieren|ablehnen|zulassen)|alle akzeptieren|cookie-?einstellung|"
    r"utilis[^.!?]{0,40}cookies|tout (?:accepter|refuser)|(?:accept|refus)e[rz] (?:tou|les)\b|"
    r"(?:utili[zs]|usa)[^.!?]{0,40}cookies?\b|"
    r"(?:acept|aceit|accett|rechaz|rejeit|rifiut)\w+ (?:tod[ao]s|tutt[io]|(?:\w+ )?cookies?)|"
    r"gebruik[^.!?]{0,40}cookies|cookies accepteren|"
    r"(?:använder|bruger|bruker)[^.!?]{0,40}(?:cookies|kakor|informasjonskapsler)|"
    r"używa[^.!?]{0,40}cookie|pli(?:ki|ków) cookie|"
    r"использу[^.!?]{0,40}(?:cookie|куки)|файл\w* cookie|çerez|"
    r"cookies?.{0,12}(?:使用|同意|許可|동의|사용)|(?:使用|同意|接受|拒绝|拒絕).{0,12}cookie|クッキー|쿠키",
    re.I,
)
#: The beginning of a label of an overlay's control; the buttons of other forms have other labels.
_LABEL = re.compile(
    r"\W*(?:(?:i|yes|no|only|select|save|manage|change|your|cookies?|ja|nein|alle[ns]?|nur|ich|tout|"
    r"je|j['’]|todas?|todos|tutti|solo|non|s[ií]|só|не|да)\W*)*"
    rf"(?:{_CHOICES.pattern}|ok(?:ay)?\b|got it|understood|verstanden|einverstanden|d['’]accord|"
    r"entendi|ho capito|begrepen|rozumiem|понятно|anladım|知道了|了解|확인)",
    re.I,
)
#: Characters of the longest label, and of a text in which phrases are looked for.
_MAX_LABEL, _MAX_SEARCHED = 40, 10_000
_CLASSES = etree.XPath("descendant::*/@class", smart_strings=False)
_IDS = etree.XPath("descendant::*/@id", smart_strings=False)
_CONTROLS = etree.XPath(
    "descendant::button | descendant::input[@type='button' or @type='submit' or @type='checkbox']"
    " | descendant::*[@role='button'] | descendant::a[not(@href) or starts-with(@href, '#')"
    " or starts-with(@href, 'javascript:')]"
)
_TAGS = ("div", "section", "aside", "dialog", "form", "footer", "header", "p", "ul", "span")
#: Elements of the page proper: an element that contains one of them is no overlay.
_PAGE_TAGS = ("main", "article", "nav")


def remove_consent_overlays(body: HtmlElement) -> None:
    """Remove consent overlays from a page's tree."""
    # One search in all names is several times as fast as one in those of each element.
    found = (cast("list[str]", attributes(body)) for attributes in (_CLASSES, _IDS))
    names = "\n".join(chain.from_iterable(found)).lower()
    if any(word in names for word in _WORDS):
        for element in list(_named_like_overlays(body)):
            if element.getparent() is None:
                continue
            if _asks_for_consent(element):
                element.drop_tree()
            else:
                # trafilatura drops what is named after cookies.
                for attribute in ("id", "class"):
                    element.attrib.pop(attribute, None)


def _named_like_overlays(body: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the outermost elements that are named like overlays, whose texts are read."""
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
        yield element


def _is_named(element: HtmlElement) -> bool:
    return any(_is_manager(name) or _NAMED.fullmatch(name) for name in _names_of(element))


def _names_of(element: HtmlElement) -> list[str]:
    """Return id and classes of an element; none if none of them can be that of an overlay."""
    attributes = f"{element.get('id', '')} {element.get('class', '')}"
    return attributes.split() if _NAMES_ONE.search(attributes) else []


def _is_manager(name: str) -> bool:
    return name.lower() in _MANAGERS or _MANAGER_NUMBERED.fullmatch(name) is not None


def _asks_for_consent(element: HtmlElement) -> bool:
    """Return whether an element that is named like an overlay is one.

    The name of a consent manager says more than one that the site made up: ``cookie-box`` may hold
    recipes.
    """
    text = " ".join(map(str, element.itertext()))
    if not (_SUBJECTS.search(text) and _CHOICES.search(text)):
        return False
    if any(map(_is_manager, _names_of(element))):
        return True
    return _PHRASES.search(text, 0, _MAX_SEARCHED) is not None or _has_control(element)


def _has_control(element: HtmlElement) -> bool:
    """Return whether an element has a control to accept, reject or configure something."""
    for control in cast("list[HtmlElement]", _CONTROLS(element)):
        said = (" ".join(map(str, control.itertext())), control.get("value", ""))
        labels = [*said, control.get("aria-label", ""), control.get("title", "")]
        if any(len(label.strip()) <= _MAX_LABEL and _LABEL.match(label) for label in labels):
            return True
    return False
