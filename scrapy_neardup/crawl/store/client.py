"""Claims pages in the store of a crawl, and settles the claims.

While a store gives no answer, pages are kept. What was stored meanwhile is added once the store
recovers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import NamedTuple, TypeVar

from ...detector import NearDupDetector
from ...exceptions import StoreError
from ...matching.rule import Rule
from ...matching.stored_items import NO_ITEMS
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ...stores import Claim, Ticket
from ..async_bridge import in_thread, wait_for, yield_to_loop
from .calls import StoreCalls
from .confirmations import Confirmations

T = TypeVar("T")

#: Seconds between two questions whether another page has its outcome: at first, and at most.
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 1.0
#: Pages that wait for a store to recover; of more than these the oldest are given up.
_BACKLOG = 100_000


class StoreClient:
    """The store as one crawl uses it.

    :param detector: with its store open.
    :param max_wait: seconds that a page waits at most for the outcome of another one.
    :param on_failure: called with each error of the store.
    :param on_stored: called with the key of each page, when all of it has been stored.
    :ivar waits: how many pages had to wait for another one.
    :ivar added: how many pages were added to the store after it had failed.
    """

    def __init__(
        self,
        detector: NearDupDetector,
        max_wait: float,
        on_failure: Callable[[StoreError], None],
        on_stored: Callable[[str], None] = lambda key: None,
    ) -> None:
        self.store = detector.store
        self.waits = 0
        self.added = 0
        self._n_given_up = 0
        self._max_wait = max_wait
        self._on_stored = on_stored
        self._detector = detector
        self._calls = StoreCalls(self.store, on_failure)
        self._confirmations = Confirmations(self.store)
        self._claimed: dict[Ticket, PageSignature] = {}
        self._backlog: deque[_Addition] = deque()

    @property
    def seconds(self) -> float:
        """Seconds spent in a store of this process."""
        return self._calls.seconds

    @property
    def n_unrecorded(self) -> int:
        """How many stored pages the store has not recorded."""
        return self._n_given_up + len(self._backlog)

    @property
    def confirmed(self) -> int:
        """The mark up to which what this crawl stored is known to be on disk."""
        return self._confirmations.confirmed

    async def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        """Claim a page, after waiting for those whose outcome decides.

        A page that waited too long, or that the store could not be asked about, is undecided
        (``"waited"``, ``"store_unreachable"``).

        :raises SignatureMismatch: when the store holds pages that were signed in another way.
        """
        if self._calls.is_paused:
            return self._unanswered(signature)
        try:
            if self._backlog:
                await self._add_backlog()
            claim = await self._claim_in_turn(signature, rule)
        except StoreError as error:
            self._calls.failed(error)
            return self._unanswered(signature)
        self._calls.succeeded()
        if claim.ticket is not None:
            self._claimed[claim.ticket] = signature
        if not self.store.is_remote:
            # Pages that were signed together are claimed in a row, which takes less time: what
            # becomes of a page sweeps the processor's caches of all that a claim needs.
            await yield_to_loop()
        return claim

    def signature(self, ticket: Ticket | None) -> PageSignature | None:
        """Return the signature of a page that is claimed; ``None`` where there is no claim."""
        return None if ticket is None else self._claimed.get(ticket)

    def settle(self, ticket: Ticket, items: int | None, *, confirmed: bool = True) -> None:
        """Commit a claim, or release it.

        :param items: what was stored of the page, see
            :mod:`~scrapy_neardup.matching.stored_items`; ``None`` releases the claim.
        :param confirmed: is what was stored known to be on disk?
        """
        signature = self._claimed.pop(ticket, None)
        if signature is None:
            return  # settled when the crawl was closed
        if items is None:
            if not isinstance(ticket, _Unanswered):
                # A reservation that nobody gives up ends with its lease.
                self._calls.tell(lambda: self.store.release(ticket))
            return
        if items != NO_ITEMS:
            self._on_stored(signature.key)
        later = partial(self._add_later, _Addition(signature, items, confirmed))
        if isinstance(ticket, _Unanswered):
            later()
            return
        if not confirmed:
            self._confirmations.leave_open()
        commit = partial(self.store.commit, ticket, confirmed=confirmed, items=items)
        self._calls.tell(commit, later)

    def mark(self) -> int:
        """Return a mark behind all pages that are committed, for :meth:`confirm`."""
        return self.store.mark()

    def confirm(self, mark: int) -> None:
        """Confirm what this crawl stored before the mark: it is on disk."""
        up_to = self._confirmations.confirmable(mark, is_idle=self._calls.is_idle)
        if up_to > self._confirmations.confirmed:
            self._confirmations.confirmed = up_to
            self._calls.tell(lambda: self.store.confirm(up_to))

    async def advise(self, call: Callable[[], T], *, aside: bool = False) -> T | None:
        """Return what the store answers to a question that no page depends on.

        :param aside: ask in a thread whatever the store, for the answer may take long.
        :returns: ``None`` where the store fails.
        """
        if self._calls.is_paused:
            return None
        try:
            return await (in_thread(call, self._calls.threads) if aside else self._calls.ask(call))
        except StoreError as error:
            self._calls.failed(error)
            return None

    async def close(self, *, confirmed: bool = False) -> None:
        """Release what is not settled, add what waits, and close the store.

        :param confirmed: is all that was stored known to be on disk?
        :raises StoreError: when something could not be written.
        """
        for ticket in list(self._claimed):
            self.settle(ticket, None)
        await self._calls.finish()
        try:
            if self._backlog:
                await self._add_backlog()
            if confirmed:
                up_to = self._confirmations.confirmable(self.store.mark(), is_idle=True)
                await self._calls.ask(lambda: self.store.confirm(up_to))
        finally:
            self._confirmations.leave()
            await self._calls.close(self.store)

    async def _claim_in_turn(self, signature: PageSignature, rule: Rule) -> Claim:
        give_up, delay = monotonic() + self._max_wait, _FIRST_DELAY
        claim = await self._calls.ask(lambda: self._detector.claim(signature, rule=rule))
        self.waits += claim.is_blocked
        while claim.is_blocked:
            left = give_up - monotonic()
            if left <= 0:
                return Claim(Verdict("undecided", signature.url, Reason.WAITED))
            # An outcome in this process ends the wait at once; another process must be asked again.
            await wait_for(claim.outcome, min(left, _LONGEST_DELAY if claim.outcome else delay))
            delay = min(2 * delay, _LONGEST_DELAY)
            claim = await self._calls.ask(lambda: self._detector.claim(signature, rule=rule))
        return claim

    def _unanswered(self, signature: PageSignature) -> Claim:
        ticket = _Unanswered()
        self._claimed[ticket] = signature
        return Claim(Verdict("undecided", signature.url, Reason.STORE_UNREACHABLE), ticket)

    def _add_later(self, page: _Addition) -> None:
        self._backlog.append(page)
        if len(self._backlog) > _BACKLOG:
            self._backlog.popleft()
            self._n_given_up += 1

    async def _add_backlog(self) -> None:
        """Add what was stored while the store failed."""
        while self._backlog:
            page = self._backlog.popleft()
            if not page.confirmed:
                self._confirmations.leave_open()
            add = partial(
                self.store.add, page.signature, confirmed=page.confirmed, items=page.items
            )
            try:
                await self._calls.ask(add)
            except StoreError:
                self._backlog.appendleft(page)
                raise
            self.added += 1


class _Addition(NamedTuple):
    """A page that is to be added once the store recovers.

    :ivar items: what was stored of it, see :data:`~scrapy_neardup.matching.stored_items.NO_ITEMS`.
    :ivar confirmed: is that known to be on disk?
    """

    signature: PageSignature
    items: int
    confirmed: bool


class _Unanswered:
    """Stands for the claim of a page that the store was not asked about."""
