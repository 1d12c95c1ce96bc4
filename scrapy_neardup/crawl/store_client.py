"""A crawl's way to its store: asked without holding the event loop, and allowed to fail.

While a store gives no answer, pages are kept. What was stored meanwhile is added when the store is
back. After a failure it is left alone for a while, for longer after each, so that no page waits
for time-outs (a circuit breaker: Nygard, "Release It!", 2007).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from time import monotonic, perf_counter
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from ..detector import NearDupDetector
from ..exceptions import StoreError
from ..matching.rule import Rule
from ..matching.stored_items import NO_ITEMS
from ..matching.verdict import Verdict
from ..reasons import Reason
from ..signatures.signature import PageSignature
from ..stores import Claim, Store, Ticket
from .async_bridge import in_thread, result_of, start, wait_for, yield_to_loop

T = TypeVar("T")

#: Calls to a remote store that may be under way at once.
_THREADS = 8
#: Seconds for which a store that failed is left alone: at first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
#: Seconds between two questions whether another page has its outcome: at first, and at most.
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 1.0
#: Pages that wait for a store to come back; of more than these the oldest are let go.
_BACKLOG = 100_000


#: The crawls of this process by their stores: what one says of the disk is not true of others.
_crawls: WeakKeyDictionary[Store, list[StoreClient]] = WeakKeyDictionary()


class StoreClient:
    """Claims pages in a store, and settles the claims.

    :param detector: with its store open.
    :param max_wait: seconds that a page waits at most for the outcome of another one.
    :param on_failure: called with what the store said, whenever it failed.
    :param on_stored: called with the key of each page, when all of it has been stored.
    """

    def __init__(
        self,
        detector: NearDupDetector,
        max_wait: float,
        on_failure: Callable[[StoreError], None],
        on_stored: Callable[[str], None] = lambda key: None,
    ) -> None:
        self.store = detector.store
        #: Seconds spent in a store of this process.
        self.seconds = 0.0
        #: How many pages had to wait for another one.
        self.waits = 0
        #: How many pages were added to the store after it had been away, and how many never were.
        self.added, self.let_go = 0, 0
        self._max_wait = max_wait
        self._on_failure = on_failure
        self._on_stored = on_stored
        is_remote = self.store.is_remote
        self._threads = ThreadPoolExecutor(_THREADS, "neardup-call") if is_remote else None
        self._detector = detector
        self._claimed: dict[Ticket, PageSignature] = {}
        #: A mark before the oldest page that is not confirmed; ``None`` when all are.
        self._oldest: int | None = None
        self._confirmed = 0
        self._has_left = False
        _crawls.setdefault(self.store, []).append(self)
        self._backlog: deque[_Addition] = deque()
        self._pause = _FIRST_PAUSE
        self._left_alone_until = 0.0
        self._under_way = 0
        self._idle: Future[None] | None = None

    @property
    def backlog(self) -> int:
        """How many pages are still to be added."""
        return len(self._backlog)

    async def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        """Claim a page, after waiting for those whose outcome decides.

        A page that waited too long, or that the store could not be asked about, is undecided
        (``"waited"``, ``"store_unreachable"``).

        :raises SignatureMismatch: when the store holds pages that were signed in another way.
        """
        if monotonic() < self._left_alone_until:
            return self._unanswered(signature)
        try:
            if self._backlog:
                await self._add_backlog()
            claim = await self._claim_in_turn(signature, rule)
        except StoreError as error:
            self._failed(error)
            return self._unanswered(signature)
        self._pause = _FIRST_PAUSE
        if claim.ticket is not None:
            self._claimed[claim.ticket] = signature
        if self._threads is None:
            # Pages that were signed together are claimed in a row, which takes less time: what
            # becomes of a page sweeps the processor's caches of all that a claim needs.
            await yield_to_loop()
        return claim

    def text_digest(self, ticket: Ticket | None) -> bytes | None:
        """Of the text of a page that is claimed; ``None`` where there is no claim."""
        signature = None if ticket is None else self._claimed.get(ticket)
        return None if signature is None else signature.text_digest

    def key(self, ticket: Ticket | None) -> str | None:
        """Of a page that is claimed; ``None`` where there is no claim."""
        signature = None if ticket is None else self._claimed.get(ticket)
        return None if signature is None else signature.key

    def settle(
        self,
        ticket: Ticket,
        items: int | None,
        *,
        confirmed: bool = True,
    ) -> None:
        """Commit a claim, or release it.

        :param items: what was stored of the page, see
            :mod:`~scrapy_neardup.matching.stored_items`; ``None`` releases the claim.
        :param confirmed: is what was stored known to be on disk?
        """
        signature = self._claimed.pop(ticket, None)
        if signature is None:
            return  # settled when the crawl was closed
        if isinstance(ticket, _Unanswered):
            if items is not None:
                self._note_stored(signature, items)
                self._add_later(_Addition(signature, items, confirmed))
        elif items is not None:
            if not confirmed:
                self._leave_open()
            self._note_stored(signature, items)
            lost = partial(self._add_later, _Addition(signature, items, confirmed))
            commit = partial(self.store.commit, ticket, confirmed=confirmed, items=items)
            self._tell(commit, lost)
        else:
            # A reservation that nobody gives up ends with its lease.
            self._tell(lambda: self.store.release(ticket))

    def _note_stored(self, signature: PageSignature, items: int) -> None:
        if items != NO_ITEMS:
            self._on_stored(signature.key)

    def mark(self) -> int:
        """A mark behind all pages that are committed, for :meth:`confirm`."""
        return self.store.mark()

    @property
    def confirmed(self) -> int:
        """The mark up to which what this crawl stored is known to be on disk."""
        return self._confirmed

    def confirm(self, mark: int) -> None:
        """What this crawl stored before the mark is on disk."""
        up_to = self._confirmable(mark)
        if up_to > self._confirmed:
            self._confirmed = up_to
            self._tell(lambda: self.store.confirm(up_to))

    async def advise(self, call: Callable[[], T], *, aside: bool = False) -> T | None:
        """What the store answers to a question that no page hangs on; ``None`` where it fails.

        :param aside: ask in a thread whatever the store, for the answer may take long.
        """
        if monotonic() < self._left_alone_until:
            return None
        try:
            return await (in_thread(call, self._threads) if aside else self._ask(call))
        except StoreError as error:
            self._failed(error)
            return None

    async def close(self, *, confirmed: bool = False) -> None:
        """Release what is not settled, add what waits, and close the store.

        :param confirmed: is all that was stored known to be on disk?
        :raises StoreError: when something could not be written.
        """
        for ticket in list(self._claimed):
            self.settle(ticket, None)
        if self._under_way:
            self._idle = Future()
            await result_of(self._idle)
        try:
            if self._backlog:
                await self._add_backlog()
            if confirmed:
                up_to = self._confirmable(self.store.mark())
                await self._ask(lambda: self.store.confirm(up_to))
        finally:
            self._leave()
            await in_thread(self.store.close, self._threads)
            if self._threads is not None:
                self._threads.shutdown(wait=False)

    def _leave_open(self) -> None:
        """What is committed next is not confirmed."""
        if self._oldest is None:
            self._oldest = self.store.mark()

    def _confirmable(self, mark: int) -> int:
        """A mark before which also the other crawls that share the store have all on disk."""
        is_all = mark == self.store.mark() and not self._under_way
        self._oldest = None if is_all else mark
        others = (crawl._oldest for crawl in _crawls[self.store] if crawl is not self)
        return min([mark, *(oldest for oldest in others if oldest is not None)])

    def _leave(self) -> None:
        """What this crawl leaves unconfirmed stays so until the last one has left."""
        self._has_left = True
        if all(crawl._has_left for crawl in _crawls[self.store]):
            del _crawls[self.store]

    async def _claim_in_turn(self, signature: PageSignature, rule: Rule) -> Claim:
        give_up, delay = monotonic() + self._max_wait, _FIRST_DELAY
        claim = await self._ask(lambda: self._detector.claim(signature, rule=rule))
        self.waits += claim.is_blocked
        while claim.is_blocked:
            left = give_up - monotonic()
            if left <= 0:
                return Claim(Verdict("undecided", signature.url, Reason.WAITED))
            # An outcome in this process ends the wait at once; another process must be asked again.
            await wait_for(claim.outcome, min(left, _LONGEST_DELAY if claim.outcome else delay))
            delay = min(2 * delay, _LONGEST_DELAY)
            claim = await self._ask(lambda: self._detector.claim(signature, rule=rule))
        return claim

    async def _ask(self, call: Callable[[], T]) -> T:
        """What the store answers; a remote one is asked in a thread."""
        if self._threads is not None:
            return await in_thread(call, self._threads)
        started = perf_counter()
        try:
            return call()
        finally:
            self.seconds += perf_counter() - started

    def _tell(self, call: Callable[[], None], if_lost: Callable[[], None] = lambda: None) -> None:
        """Call without waiting for the answer."""
        if self._threads is not None:
            self._under_way += 1
            start(self._told_aside(call, if_lost))
            return
        try:
            call()
        except StoreError as error:
            self._failed(error)
            if_lost()

    async def _told_aside(self, call: Callable[[], None], if_lost: Callable[[], None]) -> None:
        try:
            await in_thread(call, self._threads)
        except StoreError as error:
            self._failed(error)
            if_lost()
        finally:
            self._under_way -= 1
            if not self._under_way and self._idle is not None:
                self._idle.set_result(None)

    def _unanswered(self, signature: PageSignature) -> Claim:
        ticket = _Unanswered()
        self._claimed[ticket] = signature
        return Claim(Verdict("undecided", signature.url, Reason.STORE_UNREACHABLE), ticket)

    def _add_later(self, page: _Addition) -> None:
        self._backlog.append(page)
        if len(self._backlog) > _BACKLOG:
            self._backlog.popleft()
            self.let_go += 1

    async def _add_backlog(self) -> None:
        """Add what was stored while the store was away."""
        while self._backlog:
            page = self._backlog.popleft()
            if not page.confirmed:
                self._leave_open()
            add = partial(
                self.store.add, page.signature, confirmed=page.confirmed, items=page.items
            )
            try:
                await self._ask(add)
            except StoreError:
                self._backlog.appendleft(page)
                raise
            self.added += 1

    def _failed(self, error: StoreError) -> None:
        self._left_alone_until = monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        self._on_failure(error)


class _Addition(NamedTuple):
    """A page that is to be added to the store when it is back.

    :ivar items: what was stored of it, see :data:`~scrapy_neardup.matching.stored_items.NO_ITEMS`.
    :ivar confirmed: is that known to be on disk?
    """

    signature: PageSignature
    items: int
    confirmed: bool


class _Unanswered:
    """Stands for the claim of a page that the store was not asked about."""
