"""Tracks each item from the spider through the pipelines until it is stored or lost.

Items themselves are not changed. Where pages are judged, Scrapy's signals name the page of an item.
Where items are judged, each by its field, an item is identified by ``id()`` until it reaches our
pipeline, and from there on by the context (:mod:`contextvars`) in which the other pipelines run,
because these may replace the item.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Container
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, finalize

from scrapy.http import Request, Response

from ...matching.stored_items import OWN_ITEMS
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ..async_bridge import from_any_thread
from ..settings import Policy
from .pending_claim import ItemShare, PendingClaim

#: Items between the middleware and the pipeline, at most; the oldest beyond that are kept and
#: counted as unjudged. Only items that another component has replaced stay that long.
_MAX_ITEMS = 10_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its consequences.

    :ivar pending: the claim that the outcome of the items settles; ``None`` where there is none.
    :ivar signature: signature of the page; ``None`` where there is none.
    :ivar items: see :attr:`~scrapy_neardup.stores.base.Claim.items`.
    :ivar is_kept: keep the items despite the verdict, because they hold more than this page.
    """

    verdict: Verdict
    policy: Policy
    pending: PendingClaim | None = None
    signature: PageSignature | None = None
    items: int = OWN_ITEMS
    is_kept: bool = False

    @property
    def is_copy(self) -> bool:
        """Is the page stored already, as another one or under its own address?"""
        verdict = self.verdict
        is_unchanged = verdict.kind == "revisit" and verdict.reason == Reason.UNCHANGED
        return verdict.is_duplicate or (is_unchanged and verdict.links_seen_at is None)

    @property
    def is_superfluous(self) -> bool:
        """Whether items of the page are dropped or tagged, because they are stored already."""
        drops = self.verdict.is_duplicate or self.policy.revisit == "drop"
        return self.is_copy and drops and not self.is_kept

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
    """The judgement that applies to an item.

    :ivar judgement: ``None`` where there is none.
    :ivar items: the item's bits, see :mod:`~scrapy_neardup.matching.stored_items`.
    :ivar share: the item's part in the outcome of the page where it began.
    :ivar digest: digest of the item's content.
    """

    judgement: Judgement | None
    items: int = OWN_ITEMS
    share: ItemShare | None = None
    digest: int = 0


@dataclass(slots=True)
class _Received:
    """An item that has reached our pipeline.

    :ivar sent: the record of when it left the spider; ``None`` where it is unknown.
    :ivar is_known: whether the item itself was sent, and not replaced by another component.
    :ivar is_over: whether it was stored or lost. One context serves several items in sequence.
    """

    sent: ItemJudgement | None
    is_known: bool = True
    is_over: bool = False


_in_pipelines: ContextVar[_Received | None] = ContextVar("in_pipelines", default=None)


_NO_CLAIM = PendingClaim(lambda items: None)


class ItemTracker:
    """Tracks the items of a crawl that are neither stored nor lost yet.

    :param by_item: whether items are judged, not pages.
    :ivar on_stored: called for each stored item with the judgement on its page and a digest of the
        item's content.
    """

    def __init__(self, *, by_item: bool) -> None:
        self._by_item = by_item
        self.on_stored: Callable[[Judgement, int], None] = lambda judgement, digest: None
        self._sent: OrderedDict[int, tuple[Any, deque[ItemJudgement]]] = OrderedDict()
        self._shares: WeakKeyDictionary[Response, list[ItemShare]] = WeakKeyDictionary()
        self._pending_claims: WeakKeyDictionary[Response, list[PendingClaim]] = WeakKeyDictionary()
        self._known_active: WeakSet[Response] = WeakSet()

    def judged(self, response: Response, pending: PendingClaim, active: Container[Request]) -> None:
        """Add the claim of a page or of an item; the outcome of the items settles it.

        :param active: see :meth:`end_inactive`.
        """
        self._note_active(response, active)
        self._pending_claims.setdefault(response, []).append(pending)
        # If another component removes items, only the end of the response tells; see
        # end_inactive(). Finalizers may run in any thread.
        finalize(response, from_any_thread(pending.abandon)).atexit = False

    def shares(self, response: Response, share: ItemShare, active: Container[Request]) -> None:
        """Add an item's part in the outcome of another page, where the item began.

        :param active: see :meth:`end_inactive`.
        """
        self._note_active(response, active)
        self._shares.setdefault(response, []).append(share)
        finalize(response, from_any_thread(share.lost)).atexit = False

    def send(self, item: Any, judgement: ItemJudgement) -> None:
        """Record an item that leaves the spider.

        One object may be sent several times, so there is a queue for each.
        """
        self._sent.setdefault(id(item), (item, deque()))[1].append(judgement)
        if len(self._sent) > _MAX_ITEMS:
            self._sent.popitem(last=False)

    def receive(self, item: Any) -> Judgement | None:
        """Return the judgement on an item that reaches our pipeline.

        :raises KeyError: when it is unknown: another component replaced it, or it has no page.
        """
        if id(item) not in self._sent:
            _in_pipelines.set(_Received(None, is_known=False))
            raise KeyError(id(item))
        sent = self._take(item)
        _in_pipelines.set(_Received(sent))
        return sent.judgement

    def end_inactive(self, active: Container[Request]) -> None:
        """End the claims of pages that Scrapy has finished processing.

        :param active: requests whose responses Scrapy is still processing.
        """
        for response, pending_claims in list(self._pending_claims.items()):
            # A middleware may have given a response another request, which is never active.
            if response in self._known_active and response.request not in active:
                for pending in pending_claims:
                    pending.abandon()
        for response, shares in list(self._shares.items()):
            if response in self._known_active and response.request not in active:
                for share in shares:
                    share.lost()

    def end_all(self) -> None:
        """End all claims, because the crawl is over."""
        for shares in list(self._shares.values()):
            for share in shares:
                share.lost()
        for pending_claims in list(self._pending_claims.values()):
            for pending in pending_claims:
                pending.abandon()

    def stored(self, item: Any, response: Any) -> None:
        """Note that an item has passed all pipelines, which may have replaced it."""
        sent, is_known = self._end_of(item)
        if sent is not None and sent.judgement is not None and not self._by_item:
            self.on_stored(sent.judgement, sent.digest)
        if (pending := self._pending_of(sent, response, is_known=is_known)) is not None:
            pending.item_stored(OWN_ITEMS if sent is None else sent.items)
        if sent is not None and sent.share is not None:
            sent.share.stored()

    def lost(self, item: Any, response: Any) -> None:
        """Note that an item was dropped, or a pipeline failed."""
        sent, is_known = self._end_of(item)
        if (pending := self._pending_of(sent, response, is_known=is_known)) is not None:
            pending.item_lost()
        if sent is not None and sent.share is not None:
            sent.share.lost()

    def _note_active(self, response: Response, active: Container[Request]) -> None:
        if response.request in active:
            self._known_active.add(response)

    def _pending_of(
        self, sent: ItemJudgement | None, response: Any, *, is_known: bool
    ) -> PendingClaim | None:
        pending_claims = (
            self._pending_claims.get(response, []) if isinstance(response, Response) else []
        )
        if not self._by_item:
            return pending_claims[0] if pending_claims else None
        if not is_known:
            # One item of this page has ended, but it is unknown which. Releasing a claim is always
            # safe: copies of it are stored, and do not wait for it.
            open_claims = (pending for pending in pending_claims if not pending.is_settled)
            next(open_claims, _NO_CLAIM).abandon()
        judgement = None if sent is None else sent.judgement
        return None if judgement is None else judgement.pending

    def _end_of(self, item: Any) -> tuple[ItemJudgement | None, bool]:
        """Return the record of an item that is stored or lost, and whether the item is known."""
        received = _in_pipelines.get()
        if received is not None and not received.is_over:
            received.is_over = True
            return received.sent, received.is_known
        if id(item) not in self._sent:
            return None, False
        # It was dropped before it reached our pipeline.
        return self._take(item), True

    def _take(self, item: Any) -> ItemJudgement:
        queue = self._sent[id(item)][1]
        sent = queue.popleft()
        if not queue:
            del self._sent[id(item)]
        return sent
