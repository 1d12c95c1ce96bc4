"""Opens the store of a crawl, claims pages in it, and settles the claims.

While the store fails, pages are kept. Those that were stored meanwhile are added once the store
recovers.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic, perf_counter
from typing import TypeVar

from ..detector import NearDupDetector
from ..exceptions import InvalidOption, SignatureMismatch, StoreError
from ..matching.rule import Rule
from ..matching.stored_items import NO_ITEMS
from ..matching.verdict import Verdict, waited
from ..reasons import Reason
from ..signatures.signature import PageSignature
from ..stores import Claim, Store, Ticket, open_store
from ..stores.in_process import InProcessStore
from .async_bridge import in_thread, result_of, start, wait_for
from .durability.backlog import Backlog, StoredPage
from .durability.confirmations import Confirmations
from .durability.unconfirmed_pages import LostPages, UnconfirmedPages
from .settings import Config, as_setting

T = TypeVar("T")

#: Concurrent calls to a remote store.
_THREADS = 8
#: Seconds for which calls are paused after a failure: at first, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
#: Seconds between two claims while a page waits for the outcome of another: at first, and at most.
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 1.0


class StoreCalls:
    """Calls a store: a remote one in threads, one of this process directly.

    After each failure calls are paused for a longer while, so that no page waits for time-outs (a
    circuit breaker: Nygard, "Release It!", 2007).

    :param recipe: of the crawl's signatures. If another crawl was the first to write to an empty
        store that both had opened, and signs in another way, the store fails for this one.
    """

    def __init__(
        self, store: Store, on_failure: Callable[[StoreError], None], recipe: str = ""
    ) -> None:
        #: Seconds spent in a store of this process.
        self.seconds = 0.0
        self.threads = ThreadPoolExecutor(_THREADS, "neardup-call") if store.is_remote else None
        self._on_failure = on_failure
        self._store_name = store.name
        self._recipe = recipe
        self._pause = _FIRST_PAUSE
        self._paused_until = 0.0
        self._n_running = 0
        self._idle: Future[None] | None = None

    @property
    def is_paused(self) -> bool:
        """Whether calls are paused after a failure."""
        return monotonic() < self._paused_until

    @property
    def is_idle(self) -> bool:
        """Whether all calls of :meth:`tell` have ended."""
        return not self._n_running

    async def ask(self, call: Callable[[], T]) -> T:
        """Call, and return the answer.

        :raises StoreError: when it fails.
        """
        if self.threads is not None:
            return await in_thread(partial(self.call, call), self.threads)
        started = perf_counter()
        try:
            return self.call(call)
        finally:
            self.seconds += perf_counter() - started

    def call(self, call: Callable[[], T]) -> T:
        """Call in this thread; raises StoreError as well if the store is another crawl's now."""
        try:
            return call()
        except SignatureMismatch as error:
            # An earlier run may have signed a page in another way; then the store is not to blame.
            if error.other != self._recipe:
                raise
            raise StoreError(self._store_name, str(error)) from error

    def tell(self, call: Callable[[], None], if_lost: Callable[[], None] = lambda: None) -> None:
        """Call without waiting for the answer.

        :param if_lost: called when the store fails.
        """
        if self.threads is not None:
            self._n_running += 1
            start(self._tell_in_thread(call, if_lost))
            return
        try:
            self.call(call)
        except StoreError as error:
            self.failed(error)
            if_lost()

    def failed(self, error: StoreError) -> None:
        """Pause calls, and report the error."""
        self._paused_until = monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        self._on_failure(error)

    def succeeded(self) -> None:
        """Reset the length of the next pause."""
        self._pause = _FIRST_PAUSE

    async def finish(self) -> None:
        """Wait until all calls have ended."""
        if self._n_running:
            self._idle = Future()
            await result_of(self._idle)
            self._idle = None

    async def close(self, store: Store) -> None:
        """Close the store and end the threads; raises StoreError as the store does."""
        await in_thread(store.close, self.threads)
        if self.threads is not None:
            self.threads.shutdown(wait=False)

    async def _tell_in_thread(self, call: Callable[[], None], if_lost: Callable[[], None]) -> None:
        try:
            await in_thread(partial(self.call, call), self.threads)
        except StoreError as error:
            self.failed(error)
            if_lost()
        finally:
            self._n_running -= 1
            if not self._n_running and self._idle is not None:
                self._idle.set_result(None)


class StoreClient:
    """Uses the store for one crawl.

    :param max_wait: seconds that a page waits at most for the outcome of another one.
    :param on_failure: called with each error of the store.
    :param on_stored: called with the key of each page whose items have been stored.
    :ivar calls: the calls to the store.
    :ivar unconfirmed: the pages of this crawl that a feed may still lose.
    :ivar waits: number of pages that had to wait for another one.
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
        self._max_wait = max_wait
        self._on_stored = on_stored
        self._detector = detector
        self.calls = StoreCalls(self.store, on_failure, detector.signer.recipe)
        self._confirmations = Confirmations(self.store)
        self._claimed: dict[Ticket, PageSignature] = {}
        self.unconfirmed = UnconfirmedPages()
        self._lost = LostPages(self.store, self.calls.ask)
        self._backlog = Backlog(self.store, self.calls.ask, self._confirmations.leave_open)

    @property
    def n_unrecorded(self) -> int:
        """Number of stored pages that the store has not recorded."""
        return self._backlog.n_given_up + len(self._backlog)

    @property
    def added(self) -> int:
        """Number of pages that were added to the store after a failure."""
        return self._backlog.n_added

    @property
    def n_waiting(self) -> int:
        """Number of these that are to be added to the store."""
        return len(self._backlog)

    @property
    def n_unwritten(self) -> int:
        """Number of stored pages that the store has in memory, because its disk takes none."""
        is_refused = self.store.problem is not None
        return getattr(self.store, "n_unwritten", 0) if is_refused else 0

    @property
    def confirmed(self) -> int:
        """The mark up to which the pages of this crawl are known to be on disk."""
        return self._confirmations.confirmed

    async def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        """Claim a page, after waiting for claimed pages that it may be a duplicate of.

        A page that waited too long is undecided (``"waited"``), and so is one while the store
        fails (``"store_unreachable"``).

        :raises SignatureMismatch: when the page was signed in another way than this crawl's.
        """
        if self.calls.is_paused:
            return self._claim_without_store(signature)
        try:
            if self._lost:
                await self._lost.forget()
            if self._backlog:
                await self._backlog.write()
            claim = await self._claim_after_waiting(signature, rule)
        except StoreError as error:
            self.calls.failed(error)
            return self._claim_without_store(signature)
        self.calls.succeeded()
        if claim.ticket is not None:
            self._claimed[claim.ticket] = claim.unchanged or signature
        return claim

    async def complete(self, key: str, signature: PageSignature | None) -> None:
        """Replace the signature of a page that was read quickly, see :meth:`Store.complete`."""
        await self.advise(lambda: self.store.complete(key, signature))

    def settle(self, ticket: Ticket, items: int | None, *, confirmed: bool = True) -> None:
        """Commit a claim, or release it.

        :param items: the stored items of the page, see
            :mod:`~scrapy_neardup.matching.stored_items`; ``None`` releases the claim.
        :param confirmed: whether these are known to be on disk.
        """
        signature = self._claimed.pop(ticket, None)
        if signature is None:
            return  # it was settled when the crawl was closed
        if items is None:
            if not isinstance(ticket, _LocalTicket):
                # If this fails, the claim ends with its lease.
                self.calls.tell(lambda: self.store.release(ticket))
            return
        if items != NO_ITEMS:
            self._on_stored(signature.key)
        record = self._recording(signature.key, is_at_risk=not confirmed and items != NO_ITEMS)
        add_later = partial(self._backlog.add, StoredPage(signature, items, confirmed, record))
        if isinstance(ticket, _LocalTicket):
            add_later()
            return
        if not confirmed:
            self._confirmations.leave_open()
        commit = partial(self.store.commit, ticket, confirmed=confirmed, items=items)
        self.calls.tell(lambda: record(commit), add_later)

    def confirm(self, mark: int) -> None:
        """Confirm that the pages that this crawl stored before a mark of the store are on disk."""
        up_to = self._confirmations.confirmable(mark, is_idle=self.calls.is_idle)
        if up_to > self._confirmations.confirmed:
            self._confirmations.confirmed = up_to
            self.calls.tell(lambda: self.store.confirm(up_to))

    def lose(self, since: int) -> int:
        """Have the store forget pages whose items may be lost; return how many there are.

        No later page is judged before that.

        :param since: number of the first of them, see :attr:`unconfirmed`.
        """
        lost = self.unconfirmed.lose(since)
        self._lost.add(lost, before=self.unconfirmed.next)
        start(self._forget_lost())
        return len(lost)

    async def advise(self, call: Callable[[], T], *, aside: bool = False) -> T | None:
        """Call the store for something optional, and return the answer.

        :param aside: call even a store of this process in a thread, as it may take long.
        :returns: ``None`` when the store fails.
        """
        if self.calls.is_paused:
            return None
        try:
            if aside:
                return await in_thread(partial(self.calls.call, call), self.calls.threads)
            return await self.calls.ask(call)
        except StoreError as error:
            self.calls.failed(error)
            return None

    async def note(self, call: Callable[[], None]) -> bool:
        """Call the store to write something optional; return false when the store fails."""

        def written() -> bool:
            call()
            return True

        return bool(await self.advise(written))

    async def catch_up(self) -> None:
        """Record all pages that were stored so far, as far as the store takes them now."""
        await self.calls.finish()
        # What it does not take is tried again, and reported, when it is closed.
        with suppress(StoreError):
            await self._lost.forget()
            await self._backlog.write()
        if isinstance(self.store, InProcessStore):
            with suppress(StoreError):
                await in_thread(self.store.flush)

    async def close(self, *, confirmed: bool = False) -> None:
        """Release the open claims, add the pages of the backlog, and close the store.

        :param confirmed: whether all stored items are known to be on disk.
        :raises StoreError: when something could not be written.
        """
        for ticket in list(self._claimed):
            self.settle(ticket, None)
        await self.calls.finish()
        try:
            if self._backlog:
                await self._backlog.write()
            if confirmed:
                up_to = self._confirmations.confirmable(self.store.mark(), is_idle=True)
                await self.calls.ask(lambda: self.store.confirm(up_to))
        finally:
            self._confirmations.leave()
            await self.calls.close(self.store)

    async def _forget_lost(self) -> None:
        try:
            await self._lost.forget()
        except StoreError as error:
            # It is tried again before the next page is judged.
            self.calls.failed(error)

    async def _claim_after_waiting(self, signature: PageSignature, rule: Rule) -> Claim:
        deadline, delay = monotonic() + self._max_wait, _FIRST_DELAY
        claim = await self.calls.ask(lambda: self._detector.claim(signature, rule=rule))
        self.waits += claim.is_blocked
        while claim.is_blocked:
            left = deadline - monotonic()
            if left <= 0:
                return Claim(waited(signature))
            # An outcome in this process ends the wait at once; that of another needs polling.
            await wait_for(claim.outcome, min(left, _LONGEST_DELAY if claim.outcome else delay))
            delay = min(2 * delay, _LONGEST_DELAY)
            claim = await self.calls.ask(lambda: self._detector.claim(signature, rule=rule))
        return claim

    def _claim_without_store(self, signature: PageSignature) -> Claim:
        ticket = _LocalTicket()
        self._claimed[ticket] = signature
        return Claim(Verdict("undecided", signature.url, Reason.STORE_UNREACHABLE), ticket)

    def _recording(self, key: str, *, is_at_risk: bool) -> Callable[[Callable[[], None]], None]:
        """Return a function that has a page recorded by a call of the store."""
        if not is_at_risk:
            return lambda record: record()
        number = self.unconfirmed.note(key)
        return lambda record: self._lost.record(record, key, number)


class _LocalTicket:
    """Ticket of a page that was claimed while the store failed."""


async def open_detector(config: Config, spider_name: str) -> NearDupDetector:
    """Return the detector with its store; opens the store in a thread.

    :raises InvalidOption: when a setting of the store or of a part has an invalid value.
    :raises StoreError: when the store cannot be used.
    """
    settings = config.store_settings
    try:
        if not isinstance(settings.store, str):
            return NearDupDetector(**config.parts, store=settings.store)
        namespace = settings.namespace
        if namespace is None and settings.store != "memory":
            namespace = spider_name
        address: str = settings.store
        return await in_thread(
            lambda: NearDupDetector(
                **config.parts,
                store=open_store(address, namespace, settings.ttl, config.policy.rule.scope),
            )
        )
    except InvalidOption as error:
        raise as_setting(error) from None
