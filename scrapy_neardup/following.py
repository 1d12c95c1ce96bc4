"""Whose item is this? From the spider through the pipelines to the end of each item.

Items themselves stay untouched. Where pages are judged, Scrapy's signals name the page of an item.
Where items are judged, each by its field, an item is known by its identity until it reaches our
pipeline, and from there on by the context in which the other pipelines are run: they may put
another item in its place.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Container
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, finalize

from scrapy.http import Request, Response

from .awaiting import from_any_thread
from .config import Policy
from .judgement import Verdict
from .outcomes import Outcome

#: Items on their way from the middleware to the pipeline; beyond this the oldest are let go
#: (kept and counted as unjudged). Only items that another component replaced get old.
_MAX_ITEMS = 10_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what is to follow from it.

    :ivar outcome: to be told what becomes of the items; ``None`` where nothing hangs on that.
    """

    verdict: Verdict
    policy: Policy
    outcome: Outcome | None = None

    @property
    def is_superfluous(self) -> bool:
        """Is it stored already, in a copy or under its own address?"""
        is_unchanged = self.verdict.kind == "revisit" and self.verdict.reason == "unchanged"
        return self.verdict.is_duplicate or (is_unchanged and self.policy.revisit == "drop")

    @property
    def skips_links(self) -> bool:
        return self.verdict.is_duplicate and self._acts and self.policy.links == "skip"

    @property
    def refuses_requests(self) -> bool:
        return self.verdict.is_duplicate and self.policy.action == "drop"

    @property
    def _acts(self) -> bool:
        return self.policy.action != "report"


@dataclass(slots=True)
class _Received:
    """An item that has reached our pipeline.

    :ivar is_known: is it one that was sent? Else another component put it in that one's place.
    :ivar is_over: has it come to its end? One context serves several items, one after the other.
    """

    outcome: Outcome | None
    is_known: bool = True
    is_over: bool = False


_in_pipelines: ContextVar[_Received | None] = ContextVar("in_pipelines", default=None)


_NOBODYS = Outcome(lambda is_stored, is_whole: None)


class ItemsUnderWay:
    """The items of a crawl that are neither stored nor lost.

    :param by_item: is each item judged by itself? Else each page is.
    """

    def __init__(self, *, by_item: bool) -> None:
        self._by_item = by_item
        self._sent: OrderedDict[int, tuple[Any, deque[Judgement | None]]] = OrderedDict()
        self._outcomes: WeakKeyDictionary[Response, list[Outcome]] = WeakKeyDictionary()
        self._known_active: WeakSet[Response] = WeakSet()

    def judged(self, response: Response, outcome: Outcome, active: Container[Request]) -> None:
        """A page, or an item of it, was judged; its end is to be told to this outcome.

        :param active: see :meth:`let_go`.
        """
        if response.request in active:
            self._known_active.add(response)
        self._outcomes.setdefault(response, []).append(outcome)
        # Where another component takes items away, nothing else tells of their end; see let_go().
        # Garbage is collected in any thread.
        finalize(response, from_any_thread(outcome.abandoned)).atexit = False

    def send(self, item: Any, judgement: Judgement | None) -> None:
        """An item leaves the spider. One object may be sent several times, so each has a queue."""
        self._sent.setdefault(id(item), (item, deque()))[1].append(judgement)
        if len(self._sent) > _MAX_ITEMS:
            self._sent.popitem(last=False)

    def receive(self, item: Any) -> Judgement | None:
        """An item reaches our pipeline.

        :raises KeyError: when it is not known: another component replaced it, or it has no page.
        """
        if id(item) not in self._sent:
            _in_pipelines.set(_Received(None, is_known=False))
            raise KeyError(id(item))
        judgement = self._taken(item)
        _in_pipelines.set(_Received(None if judgement is None else judgement.outcome))
        return judgement

    def let_go(self, active: Container[Request]) -> None:
        """Of pages that Scrapy is done with, nothing more will be heard.

        :param active: requests whose responses are still being processed.
        """
        for response, outcomes in list(self._outcomes.items()):
            # A middleware may have given a response another request, which is never active.
            if response in self._known_active and response.request not in active:
                for outcome in outcomes:
                    outcome.abandoned()

    def stored(self, item: Any, response: Any) -> None:
        """An item has passed all pipelines; they may have replaced it."""
        if (outcome := self._outcome_of(item, response)) is not None:
            outcome.item_stored()

    def lost(self, item: Any, response: Any) -> None:
        """An item was dropped, or a pipeline failed; the item is the one that was sent."""
        if (outcome := self._outcome_of(item, response)) is not None:
            outcome.item_lost()

    def _outcome_of(self, item: Any, response: Any) -> Outcome | None:
        own, is_known = self._own_outcome(item)
        outcomes = self._outcomes.get(response, []) if isinstance(response, Response) else []
        if not self._by_item:
            return outcomes[0] if outcomes else None
        if not is_known:
            # Some item of this page has its end, and nobody knows which. To release a claim is
            # always safe: its copies are stored. Else they would wait for it.
            open_ones = (outcome for outcome in outcomes if not outcome.is_known)
            next(open_ones, _NOBODYS).abandoned()
        return own

    def _own_outcome(self, item: Any) -> tuple[Outcome | None, bool]:
        """What an item hangs on by itself; and is it known which item it is?"""
        received = _in_pipelines.get()
        if received is not None and not received.is_over:
            received.is_over = True
            return received.outcome, received.is_known
        if id(item) not in self._sent:
            return None, False
        # It was dropped before it reached our pipeline.
        judgement = self._taken(item)
        return None if judgement is None else judgement.outcome, True

    def _taken(self, item: Any) -> Judgement | None:
        noted = self._sent[id(item)][1]
        judgement = noted.popleft()
        if not noted:
            del self._sent[id(item)]
        return judgement
