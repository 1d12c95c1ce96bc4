"""Detects script shells: pages whose content scripts have yet to render in a browser.

Until then such a page shows only its frame, the same for all pages of its site. A page is a shell
if the root element of its application is empty, if its script data contain much text that it does
not show, or if it shows next to nothing and has scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

from .embedded.content import is_data

#: Ids, tags and attributes of the root elements of script applications.
_ROOT_ID = re.compile(
    r"(?:__|___|_)?(?:app|root|next|nuxt|gatsby|svelte|sveltekit|layout|application|spa|mount)|"
    r"(?!fb-)\w+[-_](?:app|root)|(?:app|root)[-_](?:app|root|container|mount|wrapper|content)|"
    r"(?:react|vue|my|main)(?:App|Root)",
    re.I,
)
ROOT_ELEMENTS = ("div", "main", "section")
_ROOT_TAG = re.compile(r"<([a-z][a-z0-9]*-(?:app|root|application)|app-[a-z0-9-]+)[\s/>]", re.I)
_ROOT_ATTRIBUTES = ("ng-app", "ng-version", "data-reactroot", "data-server-rendered", "v-cloak")
_LOADED = etree.XPath("boolean(/descendant::script[@src])")
_SHOWS_MEDIA = etree.XPath(
    "boolean(descendant::img | descendant::picture | descendant::video | descendant::audio | "
    "descendant::iframe | descendant::object | descendant::embed | descendant::svg | "
    "descendant::table | descendant::form)"
)
_VISIBLE_TEXT = etree.XPath(
    "descendant::text()[not(ancestor::script or ancestor::style or ancestor::noscript or "
    "ancestor::template or ancestor::svg)]",
    smart_strings=False,
)

#: A root counts as empty below this weight: it may contain a loading message.
_EMPTY_WEIGHT = 60
#: A page shows next to nothing below this weight.
_LITTLE_WEIGHT = 100
#: Even with an empty root, a page is no shell from this weight of its main text or all its text on.
_ENOUGH_TEXT = 1000
_ENOUGH_SHOWN = 2500
#: Characters at the beginning of a text that usually hold as much.
_BEGINNING = 4 * _ENOUGH_SHOWN
#: The same for all text of a page without an empty root.
_ENOUGH_WITHOUT_ROOT = 1500
#: Hidden text in script data is the page's content from this weight on, if it is also this share of
#: the visible text. Less is needed if the data are known to be the initial state of an application.
_HIDDEN_WEIGHT = 100
_HIDDEN_SHARE = 1.0
_HIDDEN_STATE_WEIGHT = 20
_HIDDEN_STATE_SHARE = 0.1
_STATE = re.compile(
    r"__NEXT_DATA__|\bpageProps\b|\A[\w-]{0,100}-state\n|__NUXT__|__next_f\b|"
    r"__(?:INITIAL|PRELOADED|APOLLO|REDUX|APP|PAGE|SERVER|REACT|VUE|ROUTER|STORE|DATA)\w{0,40}__|__remixContext|__reactRouterContext|__sveltekit|__staticRouterHydrationData|"
    r"\bserverRendered\b|\"component\":"
)
#: Script elements in the source of a page, and values of attributes that may be data.
_SCRIPT = re.compile("<script", re.I)
_SCRIPT_SOURCE = re.compile(
    r"<script(?P<attributes>[^<>]*)>(?P<text>[^<]*(?:<(?!/script)[^<]*)*)", re.I
)
_DATA_VALUE = re.compile(r"=\s*(?:\"([{\[][^\"]*)|'([{\[][^']*))")
_TYPE = re.compile(r"\btype\s*=\s*[\"']?([^\s\"'>]+)", re.I)
_ID = re.compile(r"\bid\s*=\s*[\"']?([\w-]+)", re.I)
#: A Han character, kana or Hangul syllable says as much as so many letters.
_WEIGHT_OF_HAN = 4
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")

#: A possible sentence in data: no punctuation of programs, enough blanks or Han characters, and
#: mostly letters.
_RUN_OF_TEXT = re.compile(r"[^\"<>{}\[\]\\=;()|&\n\r\t`_$#@*]{6,}")
_MIN_BLANKS = 3
_MIN_HAN = 6
_MIN_LETTERS = 0.6
#: A statement of a program, such as "var settings", or an access, such as "app.settings".
_STATEMENT = re.compile(
    r"(?:(?:var|let|const|return|typeof) [\w.]+|[,:?!]? ?\w+(?:\.\w+)+) ?[?:,!]?"
)
_ESCAPED = re.compile(r"\\{1,4}u([0-9a-fA-F]{4})")
#: Number of the longest texts in script data that are compared with the visible text.
_MAX_COMPARED = 256


def weight_of(text: str) -> int:
    """Return the number of characters of a text; a Han character, kana or Hangul counts as 4."""
    return len(text) + (_WEIGHT_OF_HAN - 1) * len(_HAN.findall(text))


def has_empty_root(body: HtmlElement, html: str) -> bool:
    """Return whether the root element of an application has next to no text.

    :param html: source of the page.
    """
    return any(_is_empty(root) for root in _roots(body, html))


def may_need_scripts(html: str, shown: str, ids: Iterable[str]) -> bool:
    """Return whether :func:`needs_scripts` may be true of a page, judging by its source.

    :param shown: its visible text.
    :param ids: ids of its elements that may be the root of an application, read if necessary.
    """
    # The beginning of most texts suffices.
    text = " ".join(shown[:_BEGINNING].split())
    if len(text) < _ENOUGH_SHOWN:
        text = " ".join(shown.split())
    # A character weighs 1 at least.
    weight = weight_of(text) if len(text) < _ENOUGH_SHOWN else _ENOUGH_SHOWN
    if weight >= _ENOUGH_SHOWN or not _SCRIPT.search(html):
        return False
    if weight < _LITTLE_WEIGHT:
        return True
    # Half of it, because the visible text may be that of elements which a full reading leaves out.
    if weight < _ENOUGH_WITHOUT_ROOT and _are_content(_data_in(html), text, weight / 2):
        return True
    return _may_have_root(html) or any(map(_ROOT_ID.fullmatch, ids))


def _data_in(html: str) -> Iterator[str]:
    """Yield the script data in the source of a page; see :func:`script_data`."""
    for script in _SCRIPT_SOURCE.finditer(html):
        kind, name = (
            found[1] if (found := pattern.search(script["attributes"])) else ""
            for pattern in (_TYPE, _ID)
        )
        if is_data(kind, script["text"]):
            yield f"{name}\n{script['text']}"
    yield from (unescape(one or other) for one, other in _DATA_VALUE.findall(html))


def _may_have_root(html: str) -> bool:
    return any(attribute in html for attribute in _ROOT_ATTRIBUTES) or bool(_ROOT_TAG.search(html))


def needs_scripts(
    body: HtmlElement, text: str, shown: str, data: Sequence[str], *, has_empty_root: bool
) -> bool:
    """Return whether a page with scripts shows little of its content without running them.

    :param body: body element of the page.
    :param text: its main text.
    :param shown: all text of its body.
    :param data: its script data.
    :param has_empty_root: result of :func:`has_empty_root`.
    """
    visible, text_weight = " ".join(shown.split()), weight_of(text)
    if not _is_shown(text, visible):
        return False
    weight = max(weight_of(visible), text_weight)
    if has_empty_root and text_weight < _ENOUGH_TEXT and weight < _ENOUGH_SHOWN:
        return True
    if weight < _LITTLE_WEIGHT and _LOADED(body) and not _SHOWS_MEDIA(body):
        return True
    return weight < _ENOUGH_WITHOUT_ROOT and _are_content(data, visible, weight)


def _are_content(data: Iterable[str], visible: str, weight: float) -> bool:
    """Return whether script data contain much text beside a visible text of this weight."""
    data = set(data)
    states = set(filter(_STATE.search, data))
    least_of_states = max(_HIDDEN_STATE_WEIGHT, _HIDDEN_STATE_SHARE * weight)
    least_of_others = max(_HIDDEN_WEIGHT, _HIDDEN_SHARE * weight)
    return (
        _hidden_weight(states, visible, 1) >= least_of_states
        or _hidden_weight(data - states, visible, _MIN_BLANKS) >= least_of_others
    )


def has_hidden_text(shown: str, data: Iterable[str]) -> bool:
    """Return whether script data contain text that the page does not show.

    A sentence in the settings of a theme is little beside what the page shows.
    """
    visible = " ".join(shown.split())
    least = max(_HIDDEN_STATE_WEIGHT, _HIDDEN_STATE_SHARE * weight_of(visible))
    return _hidden_weight(data, visible, 1) >= least


def _is_shown(text: str, visible: str) -> bool:
    """Return whether the main text is visible; extractors may take it from script data."""
    longest = max(text.splitlines(), key=len, default="")
    return "".join(longest.split()) in visible.replace(" ", "")


def _roots(body: HtmlElement, html: str) -> Iterator[HtmlElement]:
    for element in body.iter(*ROOT_ELEMENTS):
        name = element.get("id")
        if name is not None and _ROOT_ID.fullmatch(name):
            yield element
    if tags := {tag.lower() for tag in _ROOT_TAG.findall(html)}:
        yield from body.iter(*tags)
    for attribute in _ROOT_ATTRIBUTES:
        if attribute in html:
            yield from body.iterfind(f".//*[@{attribute}]")


def _is_empty(root: HtmlElement) -> bool:
    text = "".join(cast("list[str]", _VISIBLE_TEXT(root)))
    return weight_of(" ".join(text.split())) < _EMPTY_WEIGHT


def _hidden_weight(data: Iterable[str], visible: str, min_blanks: int) -> int:
    """Return the weight of the texts in script data that are not part of the visible text.

    :param min_blanks: least number of blanks in a text, unless it is of Han characters.
    """
    texts = {text for piece in data for text in _texts_in(piece, min_blanks)}
    longest = sorted(texts, key=lambda text: (-len(text), text))[:_MAX_COMPARED]
    return sum(weight_of(text) for text in longest if text not in visible)


def _texts_in(data: str, min_blanks: int) -> Iterator[str]:
    if "\\u" in data:
        data = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), data)
    for run in _RUN_OF_TEXT.findall(data):
        text = " ".join(run.split())
        if text.count(" ") < min_blanks and len(_HAN.findall(text)) < _MIN_HAN:
            continue
        if _STATEMENT.fullmatch(text):
            continue
        if sum(map(str.isalpha, text)) >= _MIN_LETTERS * len(text):
            yield text
