"""Judges items that are built over several pages.

An item may begin on a product page and be yielded from the page of the product's reviews, which
looks like that of every other product without reviews. An item is dropped only when nothing that it
holds is lost: if the page that it is yielded from is a copy, its carried values must be stored as
well, or the page where it began must be a copy too.

Notes on requests say which pages their carried values are from. They are plain data, for queues on
disk and in Redis, and include the page's signature, so that another run can judge it.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any, Literal
from weakref import WeakKeyDictionary

from scrapy.http import Request, Response
from scrapy.utils.datatypes import LocalCache

from ...matching.stored_items import OWN_ITEMS, StoredItems, covers, is_list, item_bits
from ...signatures.signature import PageSignature
from ...stores.codec import packed, unpacked
from ..monitoring.crawl_log import CrawlStats
from ..settings import META_KEY, Policy
from .carried_values import (
    carried_by,
    fields_of,
    hash_of,
    held_by,
    item_values,
    values_of,
    weight_of,
)
from .item_tracker import ItemJudgement, Judgement, PendingClaim

#: Key of ``meta`` for the origins.
_KEY = "_neardup_origins"
#: Origins that are noted on a request: the first, and those that gave most; and values of each.
_MAX_ORIGINS, _MAX_HASHES = 4, 200

#: How an item is judged: ``"auto"`` by where its values come from, ``"parent"`` by the page where
#: it began, ``"own"`` by the page that it is yielded from.
ItemOrigin = Literal["auto", "parent", "own"]
ITEM_ORIGINS = ("auto", "parent", "own")

_HOST = re.compile(r"^https?://[^/?#\s]*")
#: Visits of pages whose judgements are kept for the items that began there.
_MAX_VISITS = 4096
_ADVICE = (
    'To judge such items by their own page alone, set meta={"neardup": {"item_origin": "own"}} on '
    "the request (logged once, counted in neardup/built_items/"
)
_UNTIED = (
    "Kept an item of %s although its page is a near-duplicate: the item holds values that its "
    "request carried from an unknown page. " + _ADVICE + "untied)"
)
_DIFFERS = (
    "Kept an item of %s although its page is a near-duplicate of %s: the item holds values of %s "
    "that no item of the original holds. " + _ADVICE + "differs)"
)


@dataclass(frozen=True, slots=True)
class ItemPosition:
    """The position of an item among those of its page, from 1 on.

    :ivar is_listed: whether the page yielded an item of the same class before.
    """

    number: int
    is_listed: bool = False


class BuiltItems:
    """Judges the items of one crawl that hold values of earlier pages.

    :param judge_origin: judges the page where an item began.
    """

    def __init__(
        self,
        judge_origin: Callable[[PageSignature, Policy], Awaitable[Judgement]],
        stats: CrawlStats,
    ) -> None:
        self._judge_origin = judge_origin
        self._stats = stats
        self._carried: WeakKeyDictionary[Response, CarriedValues] = WeakKeyDictionary()
        self._here: WeakKeyDictionary[Response, Origin] = WeakKeyDictionary()
        self._visits = LocalCache[str, Judgement](_MAX_VISITS)
        self._stored = StoredItems()

    def record_carried_values(self, response: Response) -> None:
        """Record the values that a request carries, before the callback can change them."""
        judged_by = item_origin_of(response.request)
        carried = carried_values_of(response.request, judged_by)
        if carried.values or carried.origins or judged_by != "auto":
            self._carried[response] = carried

    def note_origins(
        self, request: Request, response: Response, judgement: Judgement | None
    ) -> bool:
        """Note on a request which pages its values are from; return whether it carries any."""
        carried = self._carried.get(response, CarriedValues())
        here = self._visit_of(response, judgement)
        return note_origins(request, here, carried, item_origin_of(request))

    async def judge(
        self,
        item: Any,
        response: Response,
        page: Judgement | None,
        policy: Policy,
        place: ItemPosition,
    ) -> ItemJudgement:
        """Return the judgement that applies to an item, given that on its own page."""
        carried = self._carried.get(response, CarriedValues())
        parts = carried.parts_of(item)
        callback = None if response.request is None else response.request.callback
        # Another callback yields other items.
        fields = [*fields_of(item), f"callback {getattr(callback, '__name__', 'parse')}"]
        digest = _digest_of(item, response, carried)
        items = item_bits(place.number, fields, parts.held, is_listed=place.is_listed)
        is_explicit = carried.judged_by == "parent"
        page = page and page.for_item(is_carried=bool(parts.held or is_explicit))
        if page is not None and page.is_soft_404:
            return ItemJudgement(page, items)
        if page is not None and page.is_superfluous and not is_explicit:
            if not self._is_stored(page, digest, item_bits(place.number, fields), place):
                self._stats.count("kept_items")
                return ItemJudgement(replace(page, is_kept=True), items, digest=digest)
            if not parts.held or covers(page.items, items):
                return ItemJudgement(page, items)
        if not (parts.held or is_explicit):
            return ItemJudgement(page, items, digest=digest)
        self._stats.count("built_items")
        began = None
        if is_explicit or (page and page.is_superfluous) or parts.carried >= parts.own:
            began = await self._judge_where_it_began(carried.origin_of(parts), policy)
        if began is None:
            return ItemJudgement(self._keep_untied(page, response), items)
        if began.is_superfluous and (is_explicit or self._is_lossless(parts, digest, page, began)):
            return ItemJudgement(began, items)
        share = None if began.pending is None else self._share(began.pending, digest, began)
        if page is not None and page.is_superfluous and not is_explicit:
            self._stats.count("built_items/differs")
            original = page.verdict.duplicate_of or page.verdict.url
            self._stats.warn_once("differs", _DIFFERS, response, original, began.verdict.url)
        return ItemJudgement(page and replace(page, is_kept=True), items, share)

    def _share(self, pending: PendingClaim, digest: int, began: Judgement) -> PendingClaim:
        """Return a claim for an item's part in that of the page where it began."""

        def settle(items: int | None) -> None:
            if items is None:
                pending.item_lost()
            else:
                pending.item_stored(OWN_ITEMS | _whole(digest))
                self._stored.note(began.verdict.url, digest)

        pending.item_sent()
        pending.ended(failed=False)
        return PendingClaim.of_item(settle)

    def _is_lossless(
        self, parts: ItemParts, digest: int, page: Judgement | None, began: Judgement
    ) -> bool:
        """Return whether an item with a superfluous origin keeps the values of its own page."""
        is_judged = page is not None and page.verdict.kind != "undecided"
        is_other = page is not None and page.verdict.is_duplicate and not began.verdict.is_duplicate
        if page is not None and is_judged and not is_other:
            return page.is_copy or not parts.own
        # Its own page is unknown, or is now like that of another item: the whole item must be
        # stored.
        original = began.verdict.duplicate_of or began.verdict.url
        return (
            not parts.own
            or self._stored.has(original, digest)
            or covers(began.items, _whole(digest))
        )

    def stored(self, page: Judgement, digest: int) -> None:
        """Record an item that was stored, because copies of its page may yield the same one."""
        self._stored.note(page.verdict.url, digest)

    def _is_stored(self, page: Judgement, digest: int, bits: int, place: ItemPosition) -> bool:
        """Was an equivalent item of the page's original stored?"""
        original = page.verdict.duplicate_of or page.verdict.url
        if self._stored.has(original, digest):
            return True
        if not (place.is_listed or is_list(page.items)):
            return covers(page.items, bits)
        # The text of a list says little about a single entry, so the whole page must be equal;
        # URLs are not shown.
        is_known = self._stored.knows(original)
        return covers(page.items, bits) and page.verdict.same_shown and not is_known

    def _keep_untied(self, page: Judgement | None, response: Response) -> Judgement | None:
        """Return the judgement on an item whose origin is unknown: it is kept."""
        if page is None or not page.is_superfluous:
            return page
        self._stats.count("built_items/untied")
        self._stats.warn_once("untied", _UNTIED, response)
        return replace(page, is_kept=True)

    async def _judge_where_it_began(
        self, origin: Origin | None, policy: Policy
    ) -> Judgement | None:
        """Return the judgement on the origin, shared by all items of one visit, if there is one."""
        if origin is None:
            return None
        known = self._visits.get(origin.visit)
        if known is not None and not (known.pending and known.pending.is_lost):
            return known
        try:
            signature = origin.signature
        except (ValueError, IndexError):  # the noted data is damaged
            signature = None
        if signature is None:
            return None
        judgement = await self._judge_origin(signature, policy)
        if judgement.verdict.kind == "revisit" and not origin.is_known:
            # Another item of the same visit has stored it.
            judgement = replace(judgement, is_kept=True)
        self._visits[origin.visit] = judgement
        return judgement

    def _visit_of(self, response: Response, judgement: Judgement | None) -> Origin:
        """Return the origin for the items that begin on this page."""
        if response not in self._here:
            signature = None if judgement is None else judgement.signature
            is_known = judgement is not None and judgement.is_superfluous
            self._here[response] = Origin.of(response.url, signature, is_known=is_known)
        return self._here[response]


def _whole(digest: int) -> int:
    """Return the bits of an item for the page where it began."""
    return item_bits(1, (), [f"{digest:x}"])


def _digest_of(item: Any, response: Response, carried: CarriedValues) -> int:
    """Return 64 bits for the content of an item, independent of the URLs of its pages."""
    urls = {response.url.casefold(), *(origin.url.casefold() for origin in carried.origins)}
    if response.request is not None:
        urls.add(response.request.url.casefold())
    values = (v for v in values_of(item, is_whole=True) if v not in urls)
    # The URLs of mirrors differ only in the host.
    return hash_of("\n".join(_HOST.sub("", value) for value in values))


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

    def provided_of(self, values: Iterable[str]) -> list[str]:
        """Return those of the values that are from this page."""
        return [value for value in values if hash_of(value) in self.hashes]

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
    """

    values: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    judged_by: ItemOrigin = "auto"

    def parts_of(self, item: Any) -> ItemParts:
        """Split an item into the values that came with the request and the rest."""
        urls = {origin.url.casefold() for origin in self.origins}
        values = item_values(item)
        held = [value for value in held_by(values, self.values) if value not in urls]
        of_item, of_others = weight_of(values), weight_of(held)
        return ItemParts(tuple(held), of_others, max(0, of_item - of_others))

    def origin_of(self, parts: ItemParts) -> Origin | None:
        """Return the page that gave most of the carried values; ``None`` where none is known."""
        if self.judged_by == "parent":
            return self.origins[0] if self.origins else None
        gave = [(origin, origin.provided_of(parts.held)) for origin in self.origins]
        weights = [(origin, weight_of(values)) for origin, values in gave if values]
        return max(weights, key=lambda weight: weight[1], default=(None, 0))[0]


@dataclass(frozen=True, slots=True)
class ItemParts:
    """The values of an item, split by where they come from.

    :ivar held: the values that came with its request.
    :ivar carried: number of their characters.
    :ivar own: number of characters of the other values.
    """

    held: tuple[str, ...]
    carried: int
    own: int


def carried_values_of(request: Request | None, judged_by: ItemOrigin) -> CarriedValues:
    """Return the values that a request carries, before its callback can change them."""
    if request is None or judged_by == "own":
        return CarriedValues(judged_by=judged_by)
    try:
        origins = tuple(map(Origin.from_data, request.meta.get(_KEY, ())))
    except (TypeError, ValueError):
        origins = ()  # not our data
    return CarriedValues(tuple(carried_by(request)), origins, judged_by)


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
    values = {hash_of(value): value for value in carried_by(request)}
    is_parent = judged_by == "parent"
    if not values and not is_parent:
        return False
    origins = []
    for origin in carried.origins:
        hashes = tuple(known for known in origin.hashes if known in values)
        if hashes or (is_parent and carried.judged_by == "parent"):
            origins.append(replace(origin, hashes=hashes))
    # Values of unknown origin, such as those of a start request, are not from this page either.
    elsewhere = {known for origin in origins for known in origin.hashes}
    elsewhere.update(map(hash_of, carried.values))
    new = tuple(known for known in values if known not in elsewhere)[:_MAX_HASHES]
    if new or (is_parent and not origins):
        origins.append(replace(here, hashes=new))
    while len(origins) > _MAX_ORIGINS:
        # Keep the first one, where the item began.
        least = min(origins[1:], key=lambda o: weight_of(values.get(h, "") for h in o.hashes))
        origins.remove(least)
    if origins:
        request.meta[_KEY] = [origin.as_data() for origin in origins]
    return bool(origins)
