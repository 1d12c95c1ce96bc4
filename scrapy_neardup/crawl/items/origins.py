"""Says which pages the values of an item are from that is built over several pages.

Notes on requests say which pages their carried values are from. They are plain data, for queues on
disk and in Redis, and include the page's signature, so that another run can judge it.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from secrets import token_hex
from typing import Any, Literal

from scrapy.http import Request

from ...matching.item_texts import is_text
from ...matching.stored_items import hash_of
from ...signatures.signature import PageSignature
from ...stores.codec import packed, unpacked
from ..settings import META_KEY
from .carried_values import (
    Carried,
    Flag,
    flags_carried_by,
    flags_held_by,
    held_by,
    keys_within,
    values_within,
    weight_of,
)
from .rewritten_values import rewritten_values
from .value_texts import item_values

#: Key of ``meta`` for the origins.
_KEY = "_neardup_origins"
#: Origins that are noted on a request: the first, and those that gave most; and values of each.
_MAX_ORIGINS, _MAX_HASHES = 4, 200

#: How an item is judged: ``"auto"`` by where its values come from, ``"parent"`` by the page where
#: it began, ``"own"`` by the page that it is yielded from.
ItemOrigin = Literal["auto", "parent", "own"]
ITEM_ORIGINS = ("auto", "parent", "own")


@dataclass(frozen=True, slots=True)
class Origin:
    """A page that gave values for an item.

    :ivar visit: random id of this visit of the page.
    :ivar url: URL of the page.
    :ivar is_known: whether an earlier visit stored the page, and it has not changed since.
    :ivar recipe: recipe of the signature; empty where the page could not be signed.
    :ivar page: the packed signature, in base64.
    :ivar hashes: hashes of the values that it gave.
    """

    visit: str
    url: str
    is_known: bool = False
    recipe: str = ""
    page: str = ""
    hashes: tuple[int, ...] = ()

    @classmethod
    def of(cls, url: str, signature: PageSignature | None, *, is_known: bool) -> Origin:
        """Create the origin for this visit of a page; without signature if that failed."""
        if signature is None:
            return cls(token_hex(8), url)
        page = b64encode(packed(signature)).decode()
        return cls(token_hex(8), url, is_known, signature.recipe, page)

    @property
    def signature(self) -> PageSignature | None:
        """Signature of the page; ``None`` where there is none."""
        return unpacked(b64decode(self.page), self.recipe) if self.page else None

    def provided_of(self, parts: ItemParts) -> list[str]:
        """Return those of an item's carried values that are from this page."""
        return [v for v in parts.held if hash_of(parts.within.get(v, v)) in self.hashes]

    def as_data(self) -> list[Any]:
        """Return plain data, for :meth:`from_data`."""
        return [self.visit, self.url, self.is_known, self.recipe, self.page, list(self.hashes)]

    @classmethod
    def from_data(cls, data: Sequence[Any]) -> Origin:
        visit, url, is_known, recipe, page, hashes = data
        return cls(visit, url, is_known, recipe, page, tuple(hashes))


@dataclass(frozen=True, slots=True)
class CarriedValues:
    """The values that the request of a page carried.

    :ivar values: see :func:`~scrapy_neardup.crawl.items.carried_values.carried_by`.
    :ivar origins: the pages that gave them, the oldest first.
    :ivar keys: the keys of dicts that are no values.
    :ivar flags: see :func:`~scrapy_neardup.crawl.items.carried_values.flags_carried_by`.
    :ivar is_cut: whether there may be others, because that is too much to be read.
    """

    values: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    judged_by: ItemOrigin = "auto"
    keys: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    is_cut: bool = False

    def parts_of(self, item: Any, shown: Callable[[], str] = str) -> ItemParts:
        """Split an item into the values that came with the request and the rest.

        :param shown: returns what the page of the response shows.
        """
        values = item_values(item)
        flags = tuple(flags_held_by(item, self.flags)) if self.flags else ()
        if not (self.values or self.keys or self.origins):
            may_be = self.is_cut or len(flags) < len(self.flags)
            return ItemParts((), tuple(values), 0, weight_of(values), {}, flags, may_be)
        urls = {origin.url.casefold() for origin in self.origins}
        held = [value for value in held_by(values, self.values) if value not in urls]
        others = [value for value in values if value not in urls]
        within = rewritten_values(others, self.values, shown)
        within |= values_within(others, self.values, shown)
        within |= keys_within(others, self.keys, shown)
        held = [*dict.fromkeys((*held, *within))]
        if urls and not held and not any(map(is_text, others)):
            # Nothing but the URL tells this item from those of other pages.
            held = [url for url in self.values if url in urls and url in values]
        of_item, of_others = weight_of(values), weight_of(held)
        known = frozenset(held)
        rest = tuple(value for value in others if value not in known)
        is_all = len(flags) == len(self.flags) and urls.union(held).issuperset(self.values)
        own = max(0, of_item - of_others)
        may_be = self.is_cut or not is_all
        return ItemParts(tuple(held), rest, of_others, own, within, flags, may_be)

    def origins_of(self, parts: ItemParts) -> list[Origin]:
        """Return the known pages that gave the carried values, the one that gave most first."""
        if self.judged_by == "parent":
            return list(self.origins[:1])
        gave = [(origin, origin.provided_of(parts)) for origin in reversed(self.origins)]
        weights = [(weight_of(values), origin) for origin, values in gave if values]
        weights.sort(key=itemgetter(0), reverse=True)
        # Of URLs alone, which weigh nothing, that of the last page counts.
        return [origin for weight, origin in weights if weight] or [o for _, o in weights[:1]]


@dataclass(frozen=True, slots=True)
class ItemParts:
    """The values of an item, split by where they come from.

    :ivar held: the values that came with its request.
    :ivar rest: the other values.
    :ivar carried: number of their characters.
    :ivar own: number of characters of the other values.
    :ivar within: the longer text that came with the request, of those values that are part of one.
    :ivar flags: truth values, ``None`` and empty texts that came with the request, with names.
    :ivar may_be_rewritten: whether something came with the request that the item does not hold as
        it is, so that other values may have been made of it.
    """

    held: tuple[str, ...]
    rest: tuple[str, ...]
    carried: int
    own: int
    within: Mapping[str, str]
    flags: tuple[str, ...] = ()
    may_be_rewritten: bool = False

    @property
    def told_apart_by(self) -> tuple[str, ...]:
        """The values from the request, which tell the item from others of equal pages."""
        return (*self.held, *self.flags)

    def told_by(self, *flags: str) -> ItemParts:
        """Return these parts, and more that tells the item apart."""
        return replace(self, flags=(*self.flags, *flags))


def carried_values_of(request: Request | None, judged_by: ItemOrigin) -> CarriedValues:
    """Return the values that a request carries, before its callback can change them."""
    if request is None or judged_by == "own":
        return CarriedValues(judged_by=judged_by)
    try:
        origins = tuple(map(Origin.from_data, request.meta.get(_KEY, ())))
    except (TypeError, ValueError):
        origins = ()  # not our data
    carried, is_cut = Carried.of(request)
    values = tuple(value for value, is_key in carried.items() if not is_key)
    keys = tuple(value for value, is_key in carried.items() if is_key)
    return CarriedValues(values, origins, judged_by, keys, flags_carried_by(request), is_cut)


def item_origin_of(request: Request | None) -> ItemOrigin:
    """Return the option ``item_origin`` of a request; ``"auto"`` when it is invalid."""
    options = None if request is None else request.meta.get(META_KEY)
    origin = options.get("item_origin") if isinstance(options, Mapping) else None
    return origin if origin in ITEM_ORIGINS else "auto"


def carries_values(request: Request) -> bool:
    """Return whether a request carries values of an earlier page that count for its items."""
    return bool(request.meta.get(_KEY)) and item_origin_of(request) != "own"


def note_origins(
    request: Request, here: Origin, carried: CarriedValues, judged_by: ItemOrigin
) -> bool:
    """Note on a request which pages gave the values that it carries; return whether any did.

    :param here: the page that yields the request.
    :param carried: the values that the request of that page carried.
    :param judged_by: the option ``item_origin`` of the request.
    """
    # The request may have copied the note of its page, as with ``meta=response.meta``.
    request.meta.pop(_KEY, None)
    given = Carried.of(request)
    values = {hash_of(value): value for value in given.values}
    is_parent = judged_by == "parent"
    if not (values or given.is_cut or is_parent):
        return False
    origins = []
    for origin in carried.origins:
        hashes = tuple(known for known in origin.hashes if known in values)
        if hashes or (is_parent and carried.judged_by == "parent"):
            origins.append(replace(origin, hashes=hashes))
    # Values of unknown origin, such as those of a start request, are not from this page either.
    elsewhere = {known for origin in origins for known in origin.hashes}
    elsewhere.update(map(hash_of, (*carried.values, *carried.keys)))
    new = tuple(known for known in values if known not in elsewhere)[:_MAX_HASHES]
    if new or (not origins and (is_parent or given.is_cut)):
        origins.append(replace(here, hashes=new))
    while len(origins) > _MAX_ORIGINS:
        # Keep the first one, where the item began.
        least = min(origins[1:], key=lambda o: weight_of(values.get(h, "") for h in o.hashes))
        origins.remove(least)
    if origins:
        request.meta[_KEY] = [origin.as_data() for origin in origins]
    return bool(origins)
