"""Compares what walls show, apart from what differs with each request.

A ban or a rate limit shows the requested address, a reference number, the visitor's address or the
time of the request.
Not only its main text is compared but the whole page, with its files and scripts, so that pages of
a form, which differ in names, amounts or pictures, are not taken for a wall. A login may repeat its
title, which names the requested page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from ipaddress import ip_address
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from scrapy.utils.datatypes import LocalCache

from ..._util.encoding import utf8
from ...html.embedded.content import files_of
from ...html.limits import PageLimits
from ...html.page_outline import FILE, SCRIPT, PageOutline
from ...signatures.signature import PageSignature
from ...sources.record import Record
from ...text.titles import Title
from ...text.values import CODE, n_leading
from ..responses import outline_of, tree_of
from .addresses import MASK, address_of, without_address, without_name
from .first_pages import MAIN_SHARE, MIN_VALUES
from .own_content import OF_VISITOR

#: Distinct words of a wall's main text, characters that it shows and bytes of the page, at most:
#: larger pages take longer to read.
_MAX_FEATURES, _MAX_SHOWN, _MAX_BYTES = 150, 3000, 2**16
#: Different values of its request that a wall shows, at most: a list of commits has more.
_MAX_REFERENCES = 4
#: Letters that a wall shows, at least.
_MIN_LETTERS = 20
#: Pages with one title that must have come before, and by how many distinct words and characters
#: their main texts may differ from one to the next; titles that are remembered.
_MIN_ALIKE, _FEATURES_APART, _CHARS_APART, _MAX_TITLES = 3, 10, 100, 10_000
_HEADINGS = ("h1 ", "h2 ", "h3 ")

_WORD = re.compile(r"\w+")
#: A time of day with seconds, and an IPv4 address.
_CLOCK = re.compile(r"(?<![\d:.])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?![\d:])")
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)")
#: Letters and digits, and what separates parts of a reference or of an IPv6 address.
_TOKEN = re.compile(r"[0-9A-Za-z:][0-9A-Za-z_.:=+-]*[0-9A-Za-z=:]")
_PIECE = re.compile(r"[0-9A-Za-z]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
#: A long hexadecimal number with a letter, a very long decimal one, or letters and digits in turn,
#: more often than in names of products.
_RANDOM = re.compile(
    r"(?=.*\d)(?=.*[a-f])[0-9a-f]{8,}|\d{16,}|(?=.{12})[a-z]*(?:\d+[a-z]+){3,}\d*", re.I
)
#: Two long decimal numbers.
_INCIDENT = re.compile(r"\d{9,}-\d{9,}")
#: How a line asks to come back later, in lower case, and a time after which to do so.
_RETRY = re.compile(
    r"\b(?:again|retry|wait|erneut|nochmal|warten|réessay\w*|attend\w*|patient\w*|intent\w+|espera\w*|"
    r"tent[ea]\w*|aguard\w*|riprova\w*|attend[ei]\w*|opnieuw|wacht\w*|ponownie|odczekaj|"
    r"повтор\w*|снова|подожд\w*)\b|重试|再试|重試|再試|お待ち|기다려|다시"
)
_DELAY = re.compile(
    r"(?<![\d.,:])\d{1,5}(?=\s?(?:(?:s|min|secs?|mins?|seconds?|minutes?|sekunden?|minuten?|secondes?|"
    r"segundos?|minutos?|second[oi]|minut[oi]|seconden?|sekund\w*|minut\w*|секунд\w*|минут\w*)\b|"
    r"秒|分|초|분))",
    re.I,
)
#: A page without a title must have one of these words: other pages have random values as well.
_REFUSAL = re.compile(
    r"\b(?:incident|blocked|denied|forbidden|refused|unsuccessful|too many requests|captcha|"
    r"gesperrt|blockiert|verweigert|verboten|zu viele anfragen|bloqué\w*|refusé\w*|interdit\w*|"
    r"trop de (?:requêtes|demandes)|bloquead\w*|denegad\w*|prohibid\w*|"
    r"demasiadas (?:solicitudes|peticiones)|negad\w*|proibid\w*|muit[ao]s (?:solicitações|pedidos)|"
    r"bloccat\w*|negat[oa]|vietat\w*|troppe richieste|geblokkeerd|geweigerd|te veel verzoeken|"
    r"zablokowan\w*|odmow\w*|zabronion\w*|zbyt wiele żądań|заблокирован\w*|запрещ[её]н\w*|"
    r"отказано|слишком много запросов)\b"
    r"|拒绝|拒絕|禁止|拦截|攔截|封禁|验证码|驗證碼|过于频繁|過於頻繁|拒否|ブロック|制限され|차단|거부|"
    r"요청이 너무 많",
    re.I,
)


class WallTexts(NamedTuple):
    """Digests of what a page shows; pages with one of them in common may be one wall.

    :ivar references: of the whole page without its address and values of its request; ``None`` if
        it shows neither, or cannot be a wall.
    :ivar heading: of its main text without a heading that repeats the title; ``None`` without one.
    """

    references: bytes | None = None
    heading: bytes | None = None

    @property
    def digests(self) -> frozenset[bytes]:
        """Those that there are."""
        return frozenset(digest for digest in self if digest is not None)


class AlikePages:
    """Finds pages that may be a wall by their signatures, so that others need not be read again."""

    def __init__(self) -> None:
        self._last = LocalCache[tuple[str, Title], tuple[int, int, int]](_MAX_TITLES)

    def has(self, page: PageSignature) -> bool:
        """Add a page; return whether several others of its site have its title and size."""
        n_features, n_text, times = self._last.get((page.site, page.title)) or (0, 0, 0)
        is_alike = (
            abs(page.n_features - n_features) <= _FEATURES_APART
            and abs(page.n_text - n_text) <= _CHARS_APART
        )
        times = times + 1 if is_alike else 1
        self._last[page.site, page.title] = page.n_features, page.n_text, times
        return times > _MIN_ALIKE


def wall_texts(page: PageSignature, record: Record, limits: PageLimits) -> WallTexts:
    """Return digests of what a small page shows, apart from what differs with each request."""
    is_small = page.n_features <= _MAX_FEATURES and page.n_shown <= _MAX_SHOWN
    if not (page.is_read and is_small and len(record.content) <= _MAX_BYTES):
        return WallTexts()
    outline = outline_of(record, limits)
    if outline is None:
        return WallTexts()
    return WallTexts(
        _digest(_without_references(outline, record, limits)),
        _without_heading(outline, page),
    )


def _without_references(
    outline: PageOutline, record: Record, limits: PageLimits
) -> list[str] | None:
    """Return what a page has, with masks for references and for its address.

    ``None`` if it shows neither. A part of its address, such as a number or a checksum, may
    identify a content, and so may what its title has.
    """
    url, address = record.url, address_of(record.url)
    title = _title_of(outline, address, url)
    own = f"{unquote(url)} {outline.title}".casefold()
    found: set[str] = set()

    def masked(value: re.Match[str]) -> str:
        if not _is_of_request(value[0]) or value[0].casefold() in own:
            return value[0]
        found.add(value[0])
        return MASK

    blocks = [address.sub(MASK, text) for text in outline.blocks]
    texts = _without_name(blocks, outline, url)
    shown = [
        _masked(_without_delay(text, found), masked)
        for text in texts
        if not text.startswith((FILE, SCRIPT))
    ]
    # Its host alone stands on any page.
    shows_address = any(each.lastindex for text in outline.shown for each in address.finditer(text))
    shows_name = texts != blocks
    n_letters = sum(map(str.isalpha, "".join(shown)))
    # Names of files may identify pictures and documents.
    named = [text for text in texts if text.startswith(FILE)]
    tree = tree_of(record, limits)
    named += [without_address(file, url) for file in ([] if tree is None else files_of(tree))]
    files = [file for file in named if OF_VISITOR not in file.casefold()]
    if not outline.title:
        # A refusal without a title shows no files, but frames and scripts of who refuses.
        files = [re.split("[?&]", file)[0] for file in files]
    has_references = shows_address or shows_name or bool(found) or len(files) < len(named)
    if title is None or n_letters < _MIN_LETTERS or len(found) > _MAX_REFERENCES:
        return None
    if not has_references:
        return None
    scripts = [_masked(text, masked) for text in texts if text.startswith(SCRIPT)]
    return [title, *shown, *files, *scripts]


def _without_name(texts: list[str], outline: PageOutline, url: str) -> list[str]:
    """Return the texts of an outline with marks for the page's name among words of a heading."""
    path = urlsplit(url).path
    named = (without_name(text, path) for text in texts)
    return [
        name if place.startswith(_HEADINGS) and MASK in name else text
        for text, name, place in zip(texts, named, outline.places, strict=True)
    ]


def _without_heading(outline: PageOutline, page: PageSignature) -> bytes | None:
    """Return the values of a page's main text without a heading that repeats its whole title.

    ``None`` if it has none, if it is a title of one part, which :mod:`first_pages` compares, or if
    the rest is too little to be known by it.
    """
    if len(page.title) < 2 or page.n_text < MAIN_SHARE * page.n_shown:
        return None
    title = outline.title.casefold()
    is_repeated = any(
        place.startswith(_HEADINGS) and text.casefold() == title
        for text, place in zip(outline.blocks, outline.places, strict=True)
    )
    n_heading = n_leading(page.value_codes, list(chain.from_iterable(page.title)))
    if not is_repeated or page.n_values - n_heading < MIN_VALUES:
        return None
    return page.values[n_heading * CODE.itemsize :]


def _title_of(outline: PageOutline, address: re.Pattern[str], url: str) -> str | None:
    """Return what a title says beside the address; ``None`` if a wall would say something."""
    if outline.title:
        return _without_words_of_address(address.sub("", outline.title), url) or None
    return "" if any(map(_REFUSAL.search, outline.shown)) else None


def _without_delay(text: str, found: set[str]) -> str:
    """Return a text with masks for times after which a page may be asked for again."""
    if not _RETRY.search(text.casefold()):
        return text
    found.update(_DELAY.findall(text))
    return _DELAY.sub(MASK, text)


def _without_words_of_address(title: str, url: str) -> str:
    """Return the words of a title that are not in a URL; nothing if hardly any are left."""
    parts = urlsplit(url)
    of_address = set(_WORD.findall(unquote(f"{parts.path} {parts.query}").casefold()))
    words = _WORD.findall(title.casefold())
    kept = [word for word in words if word not in of_address]
    return " ".join(kept) if len(kept) > 1 or kept == words else ""


def _masked(text: str, masked: Callable[[re.Match[str]], str]) -> str:
    for pattern in (_CLOCK, _IPV4, _TOKEN):
        text = pattern.sub(masked, text)
    return text


def _is_of_request(value: str) -> bool:
    """Return whether a value looks like a time, an IP address or a random reference."""
    if _CLOCK.fullmatch(value) or _UUID.search(value) or _INCIDENT.fullmatch(value):
        return True
    if any(map(_RANDOM.fullmatch, _PIECE.findall(value))):
        return True
    # Most values are no addresses, and an exception for each would take several times as long.
    if ":" not in value and value.count(".") != 3:
        return False
    try:
        ip_address(value)
    except ValueError:
        return False
    return True


def _digest(texts: Sequence[str] | None) -> bytes | None:
    if texts is None:
        return None
    return blake2b(utf8("\n".join(texts)), digest_size=16).digest()
