"""Items that are built over several pages: which of these pages decides whether an item is dropped?

An item may begin on a product page and be yielded from the page of the product's reviews, which
looks like that of every product without reviews. An item is dropped only when nothing that it
holds would be lost: as a copy of the page that it is yielded from only where its carried values are
stored as well, and otherwise only where the page that it began on is a copy too.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from scrapy.http import Request, Response

from ...matching.stored_items import OWN_ITEMS, StoredItems, covers, is_list, item_bits
from ...signatures.signature import PageSignature
from ..settings import Policy
from .carried_values import fields_of, hash_of, values_of
from .item_origins import Arrival, ItemOrigin, ItemParts, Origin, arrival_at, note_origins
from .item_tracker import Judgement
from .pending_claim import ItemShare

_HOST = re.compile(r"^https?://[^/?#\s]*")
#: Visits of pages whose judgement is remembered for the items that come of them.
_MOST_VISITS = 4096
_OWN = (
    'If its page alone is to decide, set meta={"neardup": {"item_origin": "own"}} on the request '
    "(further ones are only counted)"
)
_UNTIED = (
    "Kept an item of %s, whose page is a near-duplicate: the item holds values that came with its "
    "request, and the page that they come from is unknown. " + _OWN
)
_DIFFERS = (
    "Kept an item of %s, whose page is a near-duplicate of %s: the item holds values of %s that no "
    "item of the original holds. " + _OWN
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands among those of its page.

    :ivar number: from 1 on.
    :ivar is_listed: did the page yield an item of this one's class before?
    """

    number: int
    is_listed: bool = False


@dataclass(frozen=True, slots=True)
class ItemJudgement:
    """What decides on an item.

    :ivar judgement: see :class:`~scrapy_neardup.crawl.items.item_tracker.Judgement`; ``None``
        where nothing does.
    :ivar items: what is remembered of it, see :mod:`~scrapy_neardup.matching.stored_items`.
    :ivar share: its part in the outcome of the page where it began.
    :ivar digest: of what it says.
    """

    judgement: Judgement | None
    items: int = OWN_ITEMS
    share: ItemShare | None = None
    digest: int = 0


@dataclass(frozen=True, slots=True)
class _Built:
    """An item that holds values of earlier pages.

    :ivar items: see :class:`ItemJudgement`; so is the digest.
    :ivar is_explicit: did its request say that the page decides where it began?
    """

    parts: ItemParts
    items: int
    digest: int
    is_explicit: bool

    @property
    def whole(self) -> int:
        """What the page where it began remembers of it."""
        return item_bits(1, (), [f"{self.digest:x}"])


class BuiltItems:
    """Judges the items of one crawl that hold values of earlier pages.

    :param judge_origin: claims the page where an item began.
    :param count: adds to a stat.
    :param warn_once: logs the first warning of a kind.
    """

    def __init__(
        self,
        judge_origin: Callable[[PageSignature, Policy], Awaitable[Judgement]],
        count: Callable[[str], None],
        warn_once: Callable[..., None],
    ) -> None:
        self._judge_origin = judge_origin
        self._count = count
        self._warn_once = warn_once
        self._arrivals: WeakKeyDictionary[Response, Arrival] = WeakKeyDictionary()
        self._here: WeakKeyDictionary[Response, Origin] = WeakKeyDictionary()
        self._visits: OrderedDict[str, Judgement] = OrderedDict()
        self._stored = StoredItems()

    def record_arrival(self, response: Response, judged_by: ItemOrigin) -> None:
        """A response comes to its callback, which has changed nothing yet."""
        arrival = arrival_at(response.request, judged_by)
        if arrival.values or arrival.origins or judged_by != "auto":
            self._arrivals[response] = arrival

    def note_origins(
        self,
        request: Request,
        response: Response,
        judgement: Judgement | None,
        judged_by: ItemOrigin,
    ) -> bool:
        """Note on a request of a page what it carries of it; does it carry anything?"""
        arrival = self._arrivals.get(response, Arrival())
        return note_origins(request, self._visit_of(response, judgement), arrival, judged_by)

    async def judge(
        self, item: Any, response: Response, page: Judgement | None, policy: Policy, place: Place
    ) -> ItemJudgement:
        """What decides on an item.

        :param page: the judgement on the page that it is yielded from, if it was judged.
        """
        arrival = self._arrivals.get(response, Arrival())
        parts = arrival.parts_of(item)
        fields, digest = (
            [*fields_of(item), _callback_of(response)],
            _digest_of(item, response, arrival),
        )
        items = item_bits(place.number, fields, parts.held, is_listed=place.is_listed)
        is_explicit = arrival.judged_by == "parent"
        if page is not None and page.is_superfluous and not is_explicit:
            if not self._is_stored(page, digest, item_bits(place.number, fields), place):
                self._count("kept_items")
                return ItemJudgement(replace(page, is_kept=True), items, digest=digest)
            if not parts.held or covers(page.items, items):
                return ItemJudgement(page, items)
        if not (parts.held or is_explicit):
            return ItemJudgement(page, items, digest=digest)
        self._count("built_items")
        began = None
        if is_explicit or (page and page.is_superfluous) or parts.carried >= parts.own:
            began = await self._where_it_began(arrival.origin_of(parts), policy)
        if began is None:
            return ItemJudgement(self._kept(page, response), items)
        built = _Built(parts, items, digest, is_explicit)
        return self._judge_built(built, response, page, began)

    def _judge_built(
        self, built: _Built, response: Response, page: Judgement | None, began: Judgement
    ) -> ItemJudgement:
        """What decides on an item of which it is known where it began."""
        if began.is_superfluous and (built.is_explicit or self._is_lossless(built, page, began)):
            return ItemJudgement(began, built.items)
        if page is not None and page.is_superfluous and not built.is_explicit:
            self._count("built_items/differs")
            original = page.verdict.duplicate_of or page.verdict.url
            self._warn_once("differs", _DIFFERS, response, original, began.verdict.url)
        share = None
        if began.pending is not None:
            note = partial(self._stored.note, began.verdict.url, built.digest)
            share = ItemShare(began.pending, OWN_ITEMS | built.whole, note)
            began.pending.ended(failed=False)
        return ItemJudgement(page and replace(page, is_kept=True), built.items, share)

    def _is_lossless(self, built: _Built, page: Judgement | None, began: Judgement) -> bool:
        """Of an item whose origin is superfluous: is what it holds of its own page stored too?"""
        is_judged = page is not None and page.verdict.kind != "undecided"
        is_other = page is not None and page.verdict.is_duplicate and not began.verdict.is_duplicate
        if page is not None and is_judged and not is_other:
            return page.is_copy or not built.parts.own
        # Nothing is known of its own page, or it has become like that of another item: the whole
        # item has to be stored.
        original = began.verdict.duplicate_of or began.verdict.url
        return (
            not built.parts.own
            or self._stored.has(original, built.digest)
            or covers(began.items, built.whole)
        )

    def stored(self, page: Judgement, digest: int) -> None:
        """An item of a page was stored; copies of the page may yield the same one."""
        self._stored.note(page.verdict.url, digest)

    def _is_stored(self, page: Judgement, digest: int, bits: int, place: Place) -> bool:
        """Was an item like this one stored of the page's original?"""
        original = page.verdict.duplicate_of or page.verdict.url
        if self._stored.has(original, digest):
            return True
        if not (place.is_listed or is_list(page.items)):
            return covers(page.items, bits)
        # Of a list the text says little of a single entry, so it has to be equal all over, and
        # addresses are not shown.
        is_known = self._stored.knows(original)
        return covers(page.items, bits) and page.verdict.same_shown and not is_known

    def _kept(self, page: Judgement | None, response: Response) -> Judgement | None:
        """The judgement on an item of which nobody knows where it began."""
        if page is None or not page.is_superfluous:
            return page
        self._count("built_items/untied")
        self._warn_once("untied", _UNTIED, response)
        return replace(page, is_kept=True)

    async def _where_it_began(self, origin: Origin | None, policy: Policy) -> Judgement | None:
        """The judgement on that page, one for all items of one visit; ``None`` if it has none."""
        if origin is None:
            return None
        known = self._visits.get(origin.visit)
        if known is not None and not (known.pending and known.pending.is_lost):
            return known
        try:
            signature = origin.signature
        except (ValueError, IndexError):  # not as it was noted
            signature = None
        if signature is None:
            return None
        judgement = await self._judge_origin(signature, policy)
        if judgement.verdict.kind == "revisit" and not origin.is_known:
            # By another item of the same visit it has been stored.
            judgement = replace(judgement, is_kept=True)
        self._visits[origin.visit] = judgement
        if len(self._visits) > _MOST_VISITS:
            self._visits.popitem(last=False)
        return judgement

    def _visit_of(self, response: Response, judgement: Judgement | None) -> Origin:
        """This visit of a page, for the items that begin on it."""
        if response not in self._here:
            signature = None if judgement is None else judgement.signature
            is_known = judgement is not None and judgement.is_superfluous
            self._here[response] = Origin.of(response.url, signature, is_known=is_known)
        return self._here[response]


def _digest_of(item: Any, response: Response, arrival: Arrival) -> int:
    """64 bits for what an item says, whatever the addresses of its pages."""
    urls = {response.url.casefold(), *(origin.url.casefold() for origin in arrival.origins)}
    if response.request is not None:
        urls.add(response.request.url.casefold())
    values = (v for v in values_of(item, is_whole=True) if v not in urls)
    # Mirrors have the same addresses but for the host.
    return hash_of("\n".join(_HOST.sub("", value) for value in values))


def _callback_of(response: Response) -> str:
    """A name for what yields the items of a response: another callback yields other items."""
    callback = None if response.request is None else response.request.callback
    return f"callback {getattr(callback, '__name__', 'parse')}"
