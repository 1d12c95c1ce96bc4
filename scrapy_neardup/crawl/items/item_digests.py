"""Describes an item in few bytes: its fields, its content, and what it holds of an earlier page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from typing import Any
from urllib.parse import unquote

from scrapy.http import Response

from ...matching.item_texts import ItemTexts, is_text
from ...matching.stored_items import digest_of_values, hash_of, item_bits
from ...signatures.signature import PageSignature
from .carried_values import is_stated, is_within, shown_by
from .fetch_times import is_of_fetch
from .item_tracker import ItemJudgement, Judgement
from .origins import CarriedValues, ItemParts
from .value_texts import fields_of, flags_among, has_truth_value, named_parts_of, values_of

_HOST = re.compile(r"^https?://(?:(?:www|m|amp|mobile|wap)\.)?([^/?#\s]*)")
#: Characters of a carried value that the items of two copies have alike, as a size and a price.
_MAX_SHORT = 80
_URL_STARTS = ("http://", "https://", "/")
#: A UUID, or a hash in hexadecimal digits.
_IDENTIFIER = re.compile(r"(?=.*\d)[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DIGITS = re.compile(r"\d+")
#: Characters of values that stand on any page.
_MAX_COMMON = 2
#: Values that are looked for, and characters of the carried texts that are searched for words.
_MAX_LOOKED_UP, _MAX_SEARCHED = 200, 100_000


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """The position of an item among those of its page, from 1 on.

    :ivar is_listed: whether the page yielded an item of the same class before.
    :ivar may_hold_more: whether its callback has downloaded something itself before.
    """

    number: int
    is_listed: bool = False
    may_hold_more: bool = False


@dataclass(frozen=True, slots=True)
class BuiltItem:
    """An item that began on another page.

    :ivar fields: the names of its class, its callback and its fields.
    :ivar digest: of its content.
    :ivar kind: digest of its fields and of the short values that came with its request, which
        distinguish it from others that began on one page.
    :ivar texts: its long values that came with its request.
    """

    fields: Sequence[str]
    digest: int
    kind: int
    texts: ItemTexts

    @classmethod
    def of(cls, fields: Sequence[str], digest: int, parts: ItemParts) -> BuiltItem:
        """Return the item that has these parts."""
        values = [value for value in parts.held if not value.startswith(_URL_STARTS)]
        short = sorted(v for v in values if len(v) <= _MAX_SHORT and not is_of_fetch(v))
        kind = hash_of("\n".join(chain(fields, short, parts.flags)))
        return cls(fields, digest, kind, ItemTexts.of(v for v in values if len(v) > _MAX_SHORT))

    def kind_at(self, url: str) -> str:
        """Return under what items of its kind that began on a page are remembered."""
        return f"{url} {self.kind:x}"

    @property
    def bits(self) -> int:
        """The record that the store keeps of it, for the page where it began."""
        return item_bits(0, self.fields, [f"{self.digest:x}"])


def judged_by_page(
    page: Judgement | None,
    response: Response,
    fields: Sequence[str],
    parts: ItemParts,
    *,
    place: ItemPosition,
    digest: int,
) -> ItemJudgement:
    """Return the judgement on an item that is that of its page."""
    texts = None
    if page is not None and not place.is_listed:
        texts = texts_of(parts, page.signature, response)
    tied = parts.told_apart_by
    items = item_bits(place.number, fields, tied, texts, is_listed=place.is_listed)
    in_list = digest_in_list(parts, response)
    return ItemJudgement(page, items, digest=digest, list_digest=in_list, texts=texts)


def digest_in_list(parts: ItemParts, response: Response) -> int:
    """Return a digest of the texts of an item, and of what came with its request.

    Numbers and identifiers change with each visit of some pages; those of an item without any text
    count nevertheless.
    """
    url = unquote(response.url).casefold()
    values = [v for v in parts.rest if not (v in url or v.startswith(_URL_STARTS))]
    texts = [*filter(is_text, values)] or [v for v in values if not is_of_fetch(v)]
    return digest_of_values([*texts, *parts.told_apart_by])


def parts_of(
    item: Any, response: Response, carried: CarriedValues, flags: Iterable[str]
) -> ItemParts:
    """Split an item into what came with its request, or may be derived from that, and the rest.

    :param flags: what tells the item apart besides.
    """
    parts = carried.parts_of(item, partial(shown_by, response))
    return parts.told_by(*flags, *_derived_parts(item, parts, carried, response))


def texts_of(parts: ItemParts, page: PageSignature | None, response: Response) -> ItemTexts:
    """Return the texts of an item that neither came with its request nor are part of its URL.

    :param page: the signature of its page, whose title does not count either.
    """
    url = unquote(response.url).casefold()
    title = () if page is None else page.title
    return ItemTexts.of((value for value in parts.rest if value not in url), title)


def adds_values(item: Any, parts: ItemParts, response: Response) -> bool:
    """Return whether the page that yields an item gave some of its values.

    A product page may list all sizes, and the last page says which one the item is of: then that
    value came with the request, and is of the last page nevertheless.
    """
    is_own = bool(parts.own) or has_truth_value(item)
    return is_own or is_stated(parts.held, shown_by(response))


def _derived_parts(
    item: Any, parts: ItemParts, carried: CarriedValues, response: Response
) -> list[str]:
    """Return what a callback may have made of what came with the request, as a date in other words.

    These are the short values of the item that did not come with the request as they are, without
    what differs between two copies, and all truth values. If not all that the request carries was
    read, any value may be from there, but for a long one that the page shows.
    """
    if not parts.may_be_rewritten:
        return []
    url = unquote(response.url).casefold()
    texts = " \n ".join(carried.values)[:_MAX_SEARCHED]
    numbers = _carried_numbers(carried.values)

    def may_be_of_request(value: str) -> bool:
        if carried.is_cut or len(value) <= _MAX_COMMON:
            return True  # stands on any page
        if is_within(value, url):
            return is_within(value, texts)
        # A page may count its views, but what the request carries is not of the page alone.
        found = _numbers_in([value])
        is_carried = not found or found <= numbers
        return is_carried or not is_within(value, shown_by(response))

    short = [value for value in parts.rest if len(value) <= _MAX_SHORT and not _is_new(value)]
    flags = (f"{name}={value}" for name, value in flags_among(named_parts_of(item)))
    long = _not_shown(parts.rest, response) if carried.is_cut else []
    return [
        *filter(may_be_of_request, short[:_MAX_LOOKED_UP]),
        *short[_MAX_LOOKED_UP:],
        *flags,
        *long,
    ]


def _not_shown(values: Iterable[str], response: Response) -> list[str]:
    """Return the long values that the page of an item does not show, but for URLs."""
    long = [v for v in values if len(v) > _MAX_SHORT and not v.startswith(_URL_STARTS)]
    return [value for value in long if not is_within(value, shown_by(response))]


def _numbers_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the runs of digits in some texts, of which the zeros around them say nothing.

    So "05.05.2027" has those of "2027-05-05", and "138.50" those of 138.5.
    """
    runs = chain.from_iterable(_DIGITS.findall(text) for text in texts)
    return frozenset(run.strip("0") for run in runs) - {""}


#: A page may yield many items.
_carried_numbers = lru_cache(maxsize=8)(_numbers_in)


def _is_new(value: str) -> bool:
    """Return whether a value is a URL, or a random id or time that differs with each visit."""
    is_id = _IDENTIFIER.fullmatch(value) is not None
    return is_id or value.startswith(_URL_STARTS) or is_of_fetch(value)


def fields_of_callback(item: Any, callback: str) -> list[str]:
    """Return the names of an item's callback and class, and of its fields that are not empty."""
    name, *fields = fields_of(item)
    kind = f"{callback} {name}"
    return [kind, *(f"{kind} {field}" for field in fields)]


def digest_of(item: Any, response: Response, carried: CarriedValues, original: str | None) -> int:
    """Return 64 bits for the content of an item, independent of the URLs of its pages.

    :param original: URL of the page that its page is a duplicate of.
    """
    urls = {response.url.casefold(), *(origin.url.casefold() for origin in carried.origins)}
    if response.request is not None:
        urls.add(response.request.url.casefold())
    # The URLs of mirrors differ only in the host; those of other sites are what an item says.
    hosts = {_host_of(url) for url in (*urls, (original or "").casefold())}
    values = (v for v in values_of(item, is_whole=True) if not (v in urls or is_of_fetch(v)))
    return hash_of("\n".join(_without_host(value, hosts) for value in values))


def _host_of(url: str) -> str:
    """Return the host of a URL, that of a view for phones and the like without its first label."""
    found = _HOST.match(url)
    return found[1] if found else ""


def _without_host(value: str, hosts: Collection[str]) -> str:
    """Return a URL without its beginning up to the host, if it is one of these."""
    found = _HOST.match(value)
    return value[found.end() :] if found and found[1] in hosts else value
