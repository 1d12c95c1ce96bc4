"""Tracks each item from the spider through the pipelines until it is stored or lost.

Items themselves are not changed. Where pages are judged, Scrapy's signals name the page of an item.
Where items are judged, each by its field, an item is identified by ``id()`` until it reaches our
pipeline, and from there on by the context (:mod:`contextvars`) in which the other pipelines run,
because these may replace the item.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, finalize

from scrapy.http import Request, Response
from scrapy.utils.datatypes import LocalCache

from ...matching.item_texts import ItemTexts
from ...matching.stored_items import OWN_ITEMS, PageItems
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ..async_bridge import from_any_thread
from ..containment import PageContainment
from ..settings import Policy


class PendingClaim:
    """A claim that is settled when the outcome of all items of its page is known.

    It is committed when the page's callback has ended, each of its items has been stored or lost,
    and at least one has been stored. If the callback ended without error and without any item, the
    page is committed for its links alone and is no original for items: its copy may yield the item.
    A claim is released when all items were dropped or failed. A page must not be committed earlier:
    if storing it failed, its copies would be lost with it.

    Which of several items were stored is recorded as well: copies wait until all are stored or
    lost, and then yield what is missing.

    :param on_settled: called once with the record of the stored items, see
        :mod:`~scrapy_neardup.matching.stored_items`; with ``None`` if none was stored.
    :ivar items: the items of the page.
    """

    def __init__(
        self, on_settled: Callable[[int | None], None], items: PageItems | None = None
    ) -> None:
        self._on_settled: Callable[[int | None], None] | None = on_settled
        self._open_items = 0
        self._has_items = False
        self._has_ended = False
        self.items = items or PageItems()

    @classmethod
    def of_item(cls, on_settled: Callable[[int | None], None]) -> PendingClaim:
        """Return a claim that the outcome of one item settles."""
        claim = cls(on_settled)
        claim.item_sent()
        claim.ended(failed=False)
        return claim

    def item_sent(self) -> None:
        """Note that the page has yielded an item."""
        self._open_items += 1
        self._has_items = True

    def item_stored(self, items: int = OWN_ITEMS) -> None:
        """Note that an item has passed all pipelines, and its bits."""
        self.items.store(items)
        self.item_lost()

    def item_lost(self) -> None:
        """Note that an item was dropped, or a pipeline failed."""
        self._open_items -= 1
        self._settle_if_complete()

    def ended(self, *, failed: bool) -> None:
        """Note that the callback has ended, so that there are no more items."""
        self._has_ended = True
        if not self._has_items and not failed:
            self.items.store_nothing()
        self._settle_if_complete()

    def settle(self) -> None:
        """Settle the claim now, whatever becomes of the other items."""
        on_settled, self._on_settled = self._on_settled, None
        if on_settled is not None:
            on_settled(self.items.record)

    @property
    def is_settled(self) -> bool:
        """Whether the claim has been settled."""
        return self._on_settled is None

    @property
    def is_lost(self) -> bool:
        """Whether the claim has been settled without a stored item."""
        return self.is_settled and not self.items.record

    def _settle_if_complete(self) -> None:
        if self._has_ended and self._open_items <= 0:
            self.settle()


#: Items between the middleware and the pipeline, at most; the oldest beyond that are kept and
#: counted as unjudged. Only items that another component has replaced stay that long.
_MAX_ITEMS = 10_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its consequences.

    :ivar pending: the claim that the outcome of the items settles.
    :ivar items: see :attr:`~scrapy_neardup.stores.base.Claim.items`.
    :ivar is_kept: keep the items despite the verdict, because they hold more than this page.
    :ivar containment: with ``NEARDUP_CONTAINMENT``, how much of the page is stored elsewhere.
    """

    verdict: Verdict
    policy: Policy
    pending: PendingClaim | None = None
    signature: PageSignature | None = None
    items: int = OWN_ITEMS
    is_kept: bool = False
    containment: PageContainment | None = None

    @property
    def is_copy(self) -> bool:
        """Whether the page is stored already, as another page or under its own URL."""
        verdict = self.verdict
        is_unchanged = verdict.kind == "revisit" and verdict.reason == Reason.UNCHANGED
        return verdict.is_duplicate or (is_unchanged and verdict.links_seen_at is None)

    @property
    def is_whole_copy(self) -> bool:
        """Whether the page is a copy, and nothing beside its text has changed if it was revisited.

        What an item takes from beside the main text, such as a price, may have changed.
        """
        return self.is_copy and (self.verdict.is_duplicate or self.verdict.same_shown)

    @property
    def is_soft_404(self) -> bool:
        """Whether the page shows that its address does not exist, and its items are dropped."""
        is_soft = self.verdict.reason == Reason.SOFT_404
        return is_soft and self.policy.soft_404 == "drop" and not self.is_kept

    def for_item(self, *, is_carried: bool) -> Judgement:
        """Return the judgement for an item, which is kept if it has values of another page."""
        return replace(self, is_kept=True) if self.is_soft_404 and is_carried else self

    @property
    def is_superfluous(self) -> bool:
        """Whether items of the page are dropped or tagged, because they are stored already."""
        drops = self.verdict.is_duplicate or self.policy.revisit == "drop"
        return self.is_whole_copy and drops and not self.is_kept

    @property
    def knows_links(self) -> bool:
        """Whether an earlier page with this content yielded these links, but no stored item."""
        return self.verdict.links_seen_at is not None and self.verdict.kind != "revisit"

    @property
    def skips_links(self) -> bool:
        """Whether links of the page are skipped."""
        is_known = self.verdict.is_duplicate or self.knows_links
        return is_known and self.policy.action != "report" and self.policy.links == "skip"

    @property
    def refuses_requests(self) -> bool:
        """Whether later requests to the page are refused."""
        return self.verdict.is_duplicate and self.policy.action == "drop"


@dataclass(frozen=True, slots=True)
class ItemJudgement:
    """The judgement that applies to an item, if there is one.

    :ivar items: the item's bits, see :mod:`~scrapy_neardup.matching.stored_items`.
    :ivar share: a claim of this item alone, for its part in that of the page where it began.
    :ivar digest: digest of the item's content.
    :ivar list_digest: digest of what tells the item from others of its page.
    :ivar texts: the item's texts, if it is the first of its class on its page.
    :ivar is_open: whether the item is superfluous only if the page yields the list of its record.
    """

    judgement: Judgement | None
    items: int = OWN_ITEMS
    share: PendingClaim | None = None
    digest: int = 0
    list_digest: int = 0
    texts: ItemTexts | None = None
    is_open: bool = False

    @property
    def is_superfluous(self) -> bool:
        """Whether the item is dropped or tagged, because it is stored already."""
        return self.judgement is not None and self.judgement.is_superfluous

    def was_stored_before(self, pending: PendingClaim) -> bool:
        """Return whether an earlier visit of the page of this claim has stored the item."""
        page = self.judgement
        return page is not None and page.is_superfluous and page.pending is pending


#: Stands for an item that was not sent: another component built or replaced it, or no page did.
NOT_SENT = ItemJudgement(None)


@dataclass(slots=True)
class _Received:
    """An item that has reached our pipeline.

    :ivar sent: the record of when it left the spider.
    :ivar is_over: whether it was stored or lost. One context serves several items in sequence.
    """

    sent: ItemJudgement
    is_over: bool = False


_in_pipelines: ContextVar[_Received | None] = ContextVar("in_pipelines", default=None)


class ItemTracker:
    """Tracks the items of a crawl that are neither stored nor lost yet.

    :param active: returns the requests whose responses Scrapy is still processing.
    :param by_item: whether items are judged, not pages.
    :ivar on_stored: called for each stored item that a judgement applies to.
    :ivar on_lost: called when stored items may have been lost.
    """

    def __init__(self, active: Callable[[], Container[Request]], *, by_item: bool) -> None:
        self._active = active
        self._by_item = by_item
        self.on_stored: Callable[[ItemJudgement], None] = lambda sent: None
        self.on_lost: Callable[[], None] = lambda: None
        self._sent = LocalCache[int, tuple[Any, deque[ItemJudgement]]](_MAX_ITEMS)
        self._pending_claims: WeakKeyDictionary[Response, list[PendingClaim]] = WeakKeyDictionary()
        #: What to settle when Scrapy has finished processing a response.
        self._at_end: WeakKeyDictionary[Response, list[PendingClaim]] = WeakKeyDictionary()
        self._known_active: WeakSet[Response] = WeakSet()

    def judged(self, response: Response, pending: PendingClaim | None) -> None:
        """Add the claim of a page or of an item, if any; the outcome of the items settles it."""
        if pending is not None:
            self._pending_claims.setdefault(response, []).append(pending)
            self.settle_at_end(response, pending)

    def settle_at_end(self, response: Response, claim: PendingClaim) -> None:
        """Settle a claim when Scrapy has finished processing a response, at the latest.

        If another component removes items, nothing else tells that they are lost.
        """
        if response.request in self._active():
            self._known_active.add(response)
        self._at_end.setdefault(response, []).append(claim)
        finalize(response, self._settle_from_any_thread, claim).atexit = False

    def send(self, item: Any, judgement: ItemJudgement) -> None:
        """Record an item that leaves the spider.

        One object may be sent several times, so there is a queue for each.
        """
        self._sent.setdefault(id(item), (item, deque()))[1].append(judgement)

    def receive(self, item: Any) -> ItemJudgement:
        """Return the judgement on an item that reaches our pipeline; ``NOT_SENT`` if unknown."""
        sent = self._take(item)
        _in_pipelines.set(_Received(sent))
        return sent

    @cached_property
    def _settle_from_any_thread(self) -> Callable[..., None]:
        # Finalizers may run in any thread.
        return from_any_thread(PendingClaim.settle)

    def end_inactive(self) -> None:
        """End the claims of pages that Scrapy has finished processing."""
        active = self._active()
        for response, claims in list(self._at_end.items()):
            # A middleware may have given a response another request, which is never active.
            if response in self._known_active and response.request not in active:
                for claim in claims:
                    claim.settle()

    def end_all(self) -> None:
        """End all claims, because the crawl is over."""
        for claim in chain.from_iterable(list(self._at_end.values())):
            claim.settle()

    def stored(self, item: Any, response: Any) -> None:
        """Note that an item has passed all pipelines, which may have replaced it."""
        sent, pending = self._end_of(item, response)
        if sent.judgement is not None:
            self.on_stored(sent)
        if pending is not None and sent.was_stored_before(pending):
            pending.item_lost()
        elif pending is not None:
            pending.item_stored(sent.items)
        if sent.share is not None:
            sent.share.item_stored()

    def lost(self, item: Any, response: Any) -> None:
        """Note that an item was dropped, or a pipeline failed."""
        sent, pending = self._end_of(item, response)
        if pending is not None:
            pending.item_lost()
        if sent.share is not None:
            sent.share.item_lost()

    def lose_stored(self) -> None:
        """Note that items that were stored until now are lost: those of pages that are not settled.

        Which of them is not known.
        """
        for claim in chain.from_iterable(list(self._at_end.values())):
            claim.items.lose_stored()
        self.on_lost()

    def _end_of(self, item: Any, response: Any) -> tuple[ItemJudgement, PendingClaim | None]:
        """Return the record of an item that is stored or lost, and the claim that it concerns."""
        received = _in_pipelines.get()
        if received is not None and not received.is_over:
            received.is_over = True
            sent = received.sent
        else:
            sent = self._take(item)  # it was dropped before it reached our pipeline
        is_of_page = isinstance(response, Response)
        claims = self._pending_claims.get(response, []) if is_of_page else []
        if not self._by_item:
            return sent, claims[0] if claims else None
        if sent is NOT_SENT:
            # One item of this page has ended, but it is unknown which. Releasing a claim is always
            # safe: copies of it are stored, and do not wait for it.
            if still_open := [claim for claim in claims if not claim.is_settled]:
                still_open[0].settle()
            return sent, None
        return sent, None if sent.judgement is None else sent.judgement.pending

    def _take(self, item: Any) -> ItemJudgement:
        """Return the record of an item, and remove it."""
        if id(item) not in self._sent:
            return NOT_SENT
        queue = self._sent[id(item)][1]
        sent = queue.popleft()
        if not queue:
            del self._sent[id(item)]
        return sent
