"""Is a page's content still to be made by scripts, in a browser?

What such a page shows before is its frame, the same for all pages of its site. A page is one of
these when the element that an application fills is empty; when its data for scripts hold much text
that it does not show; or when it shows next to nothing, and has scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from lxml import etree
from lxml.html import HtmlElement

#: Elements that applications fill, by what they are called.
_ROOT_ID = re.compile(
    r"(?:__|___|_)?(?:app|root|next|nuxt|gatsby|svelte|sveltekit|layout|application|spa|mount)|"
    r"(?!fb-)\w+[-_](?:app|root)|(?:app|root)[-_](?:app|root|container|mount|wrapper|content)|"
    r"(?:react|vue|my|main)(?:App|Root)",
    re.I,
)
_ROOT_TAG = re.compile(r"<([a-z][a-z0-9]*-(?:app|root|application)|app-[a-z0-9-]+)[\s/>]", re.I)
_ROOT_ATTRIBUTES = ("ng-app", "ng-version", "data-reactroot", "data-server-rendered", "v-cloak")
_LOADED = etree.XPath("boolean(/descendant::script[@src])")
_SHOWS_MEDIA = etree.XPath(
    "boolean(descendant::img | descendant::picture | descendant::video | descendant::audio | "
    "descendant::iframe | descendant::object | descendant::embed | descendant::svg | "
    "descendant::table | descendant::form)"
)
_SEEN = etree.XPath(
    "descendant::text()[not(ancestor::script or ancestor::style or ancestor::noscript or "
    "ancestor::template or ancestor::svg)]",
    smart_strings=False,
)

#: A root with so much text in it may say that something is being loaded.
_EMPTY_WEIGHT = 60
#: A page that shows so little shows next to nothing.
_LITTLE_WEIGHT = 100
#: With an empty root, a page whose main text or whose whole text has so much weight has a text.
_ENOUGH_TEXT = 1000
_ENOUGH_SHOWN = 2500
#: Without one, a page that shows so much.
_ENOUGH_AROUND = 1500
#: Text in data that is not shown is the content from so much weight on, and when it is such a part
#: of what is shown: less where the data is known to be what an application begins with.
_HIDDEN_WEIGHT = 100
_HIDDEN_SHARE = 1.0
_HIDDEN_STATE_WEIGHT = 20
_HIDDEN_STATE_SHARE = 0.1
_STATE = re.compile(
    r"__NEXT_DATA__|\bpageProps\b|\A[\w-]{0,100}-state\n|__NUXT__|__next_f\b|"
    r"__(?:INITIAL|PRELOADED|APOLLO|REDUX|APP|PAGE|SERVER|REACT|VUE|ROUTER|STORE|DATA)\w{0,40}__|__remixContext|__sveltekit|__staticRouterHydrationData|"
    r"\bserverRendered\b|\"component\":"
)
#: Han characters, kana and syllables of Hangul say as much as so many letters.
_WEIGHT_OF_HAN = 4
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")

#: What may be a sentence in data: no punctuation of a program, four words or eight characters.
_RUN_OF_TEXT = re.compile(r"[^\"<>{}\[\]\\=;()|&\n\r\t`_$#@*]{6,}")
_BLANKS = 3
_HAN_TEXT = 6
_LETTERS = 0.6
_ESCAPED = re.compile(r"\\{1,4}u([0-9a-fA-F]{4})")
#: Texts of the data that are looked for in what is shown, the longest.
_LOOKED_FOR = 256


def weight_of(text: str) -> int:
    """Characters of a text, each of a script without blanks as so many as it stands for."""
    return len(text) + (_WEIGHT_OF_HAN - 1) * len(_HAN.findall(text))


def has_scripts(tree: HtmlElement) -> bool:
    """Are there scripts that may show more than the page does?"""
    return next(tree.iter("script"), None) is not None


def has_empty_root(body: HtmlElement, html: str) -> bool:
    """Is there an element for an application to fill, with next to no text in it?

    :param html: of the page.
    """
    return any(_is_empty(root) for root in _roots(body, html))


def needs_scripts(
    body: HtmlElement, text: str, shown: str, data: Sequence[str], *, has_empty_root: bool
) -> bool:
    """Does a page with scripts show little of what it is to show?

    :param body: of the page.
    :param text: its main text.
    :param shown: all text of its body.
    :param data: its data for scripts.
    :param has_empty_root: see the function of that name.
    """
    seen, own = " ".join(shown.split()), weight_of(text)
    if not _is_shown(text, seen):
        return False
    around = max(weight_of(seen), own)
    if has_empty_root and own < _ENOUGH_TEXT and around < _ENOUGH_SHOWN:
        return True
    if around < _LITTLE_WEIGHT and _LOADED(body) and not _SHOWS_MEDIA(body):
        return True
    if around >= _ENOUGH_AROUND:
        return False
    states, others = _told_apart(data)
    return _hidden_weight(states, seen, 1) >= max(
        _HIDDEN_STATE_WEIGHT, _HIDDEN_STATE_SHARE * around
    ) or _hidden_weight(others, seen, _BLANKS) >= max(_HIDDEN_WEIGHT, _HIDDEN_SHARE * around)


def holds_hidden_text(shown: str, data: Iterable[str]) -> bool:
    """Do data for scripts hold text that the page does not show?"""
    seen = " ".join(shown.split())
    return _hidden_weight(data, seen, 1) >= _HIDDEN_STATE_WEIGHT


def _is_shown(text: str, seen: str) -> bool:
    """Is the main text one of what is shown? Extractors may read data as well."""
    longest = max(text.splitlines(), key=len, default="")
    return "".join(longest.split()) in seen.replace(" ", "")


def _told_apart(data: Iterable[str]) -> tuple[list[str], list[str]]:
    """What applications begin with, and other data."""
    states: list[str] = []
    others: list[str] = []
    for piece in data:
        (states if _STATE.search(piece) else others).append(piece)
    return states, others


def _roots(body: HtmlElement, html: str) -> Iterator[HtmlElement]:
    for element in body.iter("div", "main", "section"):
        name = element.get("id")
        if name is not None and _ROOT_ID.fullmatch(name):
            yield element
    if tags := {tag.lower() for tag in _ROOT_TAG.findall(html)}:
        yield from body.iter(*tags)
    for attribute in _ROOT_ATTRIBUTES:
        if attribute in html:
            yield from body.iterfind(f".//*[@{attribute}]")


def _is_empty(root: HtmlElement) -> bool:
    return weight_of(" ".join("".join(cast("list[str]", _SEEN(root))).split())) < _EMPTY_WEIGHT


def _hidden_weight(data: Iterable[str], seen: str, blanks: int) -> int:
    """Weight of the texts in the data that the page does not show.

    :param blanks: so many a text has at least, unless it is of a script without blanks.
    """
    texts = {text for piece in data for text in _texts_in(piece, blanks)}
    longest = sorted(texts, key=lambda text: (-len(text), text))[:_LOOKED_FOR]
    return sum(weight_of(text) for text in longest if text not in seen)


def _texts_in(data: str, blanks: int) -> Iterator[str]:
    if "\\u" in data:
        data = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), data)
    for run in _RUN_OF_TEXT.findall(data):
        text = " ".join(run.split())
        letters = sum(map(str.isalpha, text))
        if letters < _LETTERS * len(text):
            continue
        if text.count(" ") >= blanks or len(_HAN.findall(text)) >= _HAN_TEXT:
            yield text
