"""Whose item is this? From the spider through the pipelines to the end of each item.

Items themselves stay untouched. Where pages are judged, Scrapy's signals name the page of an item.
Where items are judged, each by its field, an item is known by its identity until it reaches our
pipeline, and from there on by the context in which the other pipelines are run: they may put
another item in its place.
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

#: Items on their way from the middleware to the pipeline; beyond this the oldest are let go
#: (kept and counted as unjudged). Only items that another component replaced get old.
_MAX_ITEMS = 10_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what is to follow from it.

    :ivar pending: to be told what becomes of the items; ``None`` where nothing hangs on that.
    :ivar signature: of the page; ``None`` where there is none.
    :ivar items: see :attr:`~scrapy_neardup.stores.base.Claim.items`.
    :ivar is_kept: items are kept whatever the verdict says, for they hold more than this page.
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
        """Are items of the page not to be stored, for they are stored already?"""
        drops = self.verdict.is_duplicate or self.policy.revisit == "drop"
        return self.is_copy and drops and not self.is_kept

    @property
    def knows_links(self) -> bool:
        """Did an earlier page of this content yield these links, and no item that was stored?"""
        return self.verdict.links_seen_at is not None and self.verdict.kind != "revisit"

    @property
    def skips_links(self) -> bool:
        knows = self.verdict.is_duplicate or self.knows_links
        return knows and self._acts and self.policy.links == "skip"

    @property
    def refuses_requests(self) -> bool:
        return self.verdict.is_duplicate and self.policy.action == "drop"

    @property
    def _acts(self) -> bool:
        return self.policy.action != "report"


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was noted of an item that left the spider.

    :ivar items: what is remembered of it, see :mod:`~scrapy_neardup.matching.stored_items`.
    :ivar share: its part in the outcome of the page where it began.
    """

    judgement: Judgement | None
    items: int = OWN_ITEMS
    share: ItemShare | None = None
    digest: int = 0


@dataclass(slots=True)
class _Received:
    """An item that has reached our pipeline.

    :ivar sent: what was noted of it; ``None`` where it is not known.
    :ivar is_known: is it one that was sent? Else another component put it in that one's place.
    :ivar is_over: has it come to its end? One context serves several items, one after the other.
    """

    sent: _Sent | None
    is_known: bool = True
    is_over: bool = False


_in_pipelines: ContextVar[_Received | None] = ContextVar("in_pipelines", default=None)


_NOBODYS = PendingClaim(lambda items: None)


class ItemTracker:
    """The items of a crawl that are neither stored nor lost.

    :param by_item: is each item judged by itself? Else each page is.
    :ivar on_stored: called for each item that was stored, with the judgement on its page and a
        digest of what the item says.
    """

    def __init__(self, *, by_item: bool) -> None:
        self._by_item = by_item
        self.on_stored: Callable[[Judgement, int], None] = lambda judgement, digest: None
        self._sent: OrderedDict[int, tuple[Any, deque[_Sent]]] = OrderedDict()
        self._shares: WeakKeyDictionary[Response, list[ItemShare]] = WeakKeyDictionary()
        self._pending_claims: WeakKeyDictionary[Response, list[PendingClaim]] = WeakKeyDictionary()
        self._known_active: WeakSet[Response] = WeakSet()

    def judged(self, response: Response, pending: PendingClaim, active: Container[Request]) -> None:
        """A page, or an item of it, was judged; its end is to be told to this claim.

        :param active: see :meth:`let_go`.
        """
        self._note_active(response, active)
        self._pending_claims.setdefault(response, []).append(pending)
        # Where another component takes items away, nothing else tells of their end; see let_go().
        # Garbage is collected in any thread.
        finalize(response, from_any_thread(pending.abandoned)).atexit = False

    def shares(self, response: Response, share: ItemShare, active: Container[Request]) -> None:
        """An item of a response has a part in the outcome of another page.

        :param active: see :meth:`let_go`.
        """
        self._note_active(response, active)
        self._shares.setdefault(response, []).append(share)
        finalize(response, from_any_thread(share.lost)).atexit = False

    def send(
        self,
        item: Any,
        judgement: Judgement | None,
        items: int = OWN_ITEMS,
        share: ItemShare | None = None,
        digest: int = 0,
    ) -> None:
        """An item leaves the spider. One object may be sent several times, so each has a queue."""
        sent = _Sent(judgement, items, share, digest)
        self._sent.setdefault(id(item), (item, deque()))[1].append(sent)
        if len(self._sent) > _MAX_ITEMS:
            self._sent.popitem(last=False)

    def receive(self, item: Any) -> Judgement | None:
        """An item reaches our pipeline.

        :raises KeyError: when it is not known: another component replaced it, or it has no page.
        """
        if id(item) not in self._sent:
            _in_pipelines.set(_Received(None, is_known=False))
            raise KeyError(id(item))
        sent = self._taken(item)
        _in_pipelines.set(_Received(sent))
        return sent.judgement

    def let_go(self, active: Container[Request]) -> None:
        """Of pages that Scrapy is done with, nothing more will be heard.

        :param active: requests whose responses are still being processed.
        """
        for response, pending_claims in list(self._pending_claims.items()):
            # A middleware may have given a response another request, which is never active.
            if response in self._known_active and response.request not in active:
                for pending in pending_claims:
                    pending.abandoned()
        for response, shares in list(self._shares.items()):
            if response in self._known_active and response.request not in active:
                for share in shares:
                    share.lost()

    def end_all(self) -> None:
        """The crawl is over: what was stored until now is all."""
        for shares in list(self._shares.values()):
            for share in shares:
                share.lost()
        for pending_claims in list(self._pending_claims.values()):
            for pending in pending_claims:
                pending.abandoned()

    def stored(self, item: Any, response: Any) -> None:
        """An item has passed all pipelines; they may have replaced it."""
        sent, is_known = self._end_of(item)
        if sent is not None and sent.judgement is not None and not self._by_item:
            self.on_stored(sent.judgement, sent.digest)
        if (pending := self._pending_of(sent, response, is_known=is_known)) is not None:
            pending.item_stored(OWN_ITEMS if sent is None else sent.items)
        if sent is not None and sent.share is not None:
            sent.share.stored()

    def lost(self, item: Any, response: Any) -> None:
        """An item was dropped, or a pipeline failed; the item is the one that was sent."""
        sent, is_known = self._end_of(item)
        if (pending := self._pending_of(sent, response, is_known=is_known)) is not None:
            pending.item_lost()
        if sent is not None and sent.share is not None:
            sent.share.lost()

    def _note_active(self, response: Response, active: Container[Request]) -> None:
        if response.request in active:
            self._known_active.add(response)

    def _pending_of(
        self, sent: _Sent | None, response: Any, *, is_known: bool
    ) -> PendingClaim | None:
        pending_claims = (
            self._pending_claims.get(response, []) if isinstance(response, Response) else []
        )
        if not self._by_item:
            return pending_claims[0] if pending_claims else None
        if not is_known:
            # Some item of this page has its end, and nobody knows which. To release a claim is
            # always safe: its copies are stored. Else they would wait for it.
            open_ones = (pending for pending in pending_claims if not pending.is_known)
            next(open_ones, _NOBODYS).abandoned()
        judgement = None if sent is None else sent.judgement
        return None if judgement is None else judgement.pending

    def _end_of(self, item: Any) -> tuple[_Sent | None, bool]:
        """What was noted of an item that has come to its end; and is it known which item it is?"""
        received = _in_pipelines.get()
        if received is not None and not received.is_over:
            received.is_over = True
            return received.sent, received.is_known
        if id(item) not in self._sent:
            return None, False
        # It was dropped before it reached our pipeline.
        return self._taken(item), True

    def _taken(self, item: Any) -> _Sent:
        noted = self._sent[id(item)][1]
        sent = noted.popleft()
        if not noted:
            del self._sent[id(item)]
        return sent
