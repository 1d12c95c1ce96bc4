"""Pages in a Redis, a cluster of them, or one that Sentinels watch, for any number of processes.

A page is judged here, with what is read from the server; the server decides the order. A claim

1. reads the buckets in which near fingerprints stand, and how many numbers have been given so far;
2. reads what the judgement asks for of the few pages that are near;
3. asks the server to reserve the page. A script does so in one step, unless a page that is near, or
   one of the same address, was given a number since: then the claim begins again.

Nothing is reserved for a duplicate, so it takes no third step: what it is a duplicate of was there.

Whoever can read the Redis can read the namespace's secret.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..._util.urls import site_of
from ...exceptions import InvalidOption, StoreError, StoreUnreachable
from ...matching.candidates import site_digest
from ...matching.rule import Rule, Scope, learn, learn_text
from ...matching.site_boilerplate import Boilerplates, SiteBoilerplate
from ...matching.stored_items import NO_ITEMS, OWN_ITEMS
from ...matching.verdict import waited
from ...signatures.signature import PageSignature
from ..base import Claim, Entry, Ticket, Users, require_time
from ..body_cache import BodyCache
from ..codec import key_digest, key_seed, packed, row_of, unpacked, with_items
from ..hints import HintMethods
from .address import RedisAddress
from .bodies import PagePlace, RedisBodyCache, Taken
from .claims import Changed, PageJudge
from .connection import CALL_SECONDS, CONNECT_SECONDS, RedisConnection, check_server, is_refusal
from .hints import RedisHints
from .leases import LEASE_SECONDS
from .namespace import RedisNamespace
from .pages import NewPage, RedisPages, StoredRow
from .reservations import CommitMarks, Reservation, Reservations

#: After so many seconds, a claim asks the server nothing more.
CLAIM_SECONDS = 6.0
#: A claim that others keep getting ahead of is judged so often; then it waits like a blocked one.
_TRIES = 8
#: Of a token, behind the id of its run.
_TOKEN_BYTES = 8


class RedisStore(HintMethods):
    """See :class:`~scrapy_neardup.stores.Store`.

    It has many methods because it has all of a store's; what they work with is in ``_namespace``,
    ``_reservations``, ``_marks`` and ``_leases``.

    :param address: see :class:`~scrapy_neardup.stores.redis.address.RedisAddress`.
    :param namespace: see :func:`~scrapy_neardup.stores.open_store`, like ``ttl`` and ``secret``.
    :param scope: ``"site"`` keeps each site's pages in a slot of their own, so that a cluster
        spreads them, and compares no pages of two sites; ``None`` is what the namespace is, and
        ``"all"`` for a new one.
    :param lease: seconds after which what a process held is let go of when it gave no sign of life.
    :param connect_timeout: and ``call_timeout``: seconds.
    :raises InvalidOption: when the address is none.
    :raises StoreUnreachable: when there is no answer.
    :raises StoreError: when the server or the namespace cannot be used.
    """

    is_remote = True
    holds_unread = True

    def __init__(
        self,
        address: str,
        namespace: str = "default",
        ttl: float | None = None,
        *,
        scope: Scope | None = None,
        secret: bytes | None = None,
        lease: float = LEASE_SECONDS,
        connect_timeout: float = CONNECT_SECONDS,
        call_timeout: float = CALL_SECONDS,
    ) -> None:
        self._connection = RedisConnection(
            RedisAddress.parse(address), connect_timeout, call_timeout
        )
        self.name = self._connection.name
        self.ttl = ttl
        self.users = Users(threading.Lock())
        self.boilerplates = Boilerplates(self._teach)
        self._namespace = RedisNamespace(self._connection, namespace, lease)
        self._leases = self._namespace.leases
        self.hints: RedisHints = RedisHints(self._connection, self._namespace.whole)
        self._bodies = RedisBodyCache(self._connection, self._namespace.whole, self._place_of)
        self._reservations = Reservations()
        self._marks = CommitMarks()
        self._judging = threading.RLock()
        self._recipe = ""
        try:
            self._open(scope, secret)
        except BaseException:
            self._connection.close()
            raise

    @property
    def problem(self) -> str | None:
        return self._connection.problem

    @property
    def secret(self) -> bytes:
        return self._namespace.secret

    def __len__(self) -> int:
        return sum(len(pages) for pages in self._namespace.all())

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        self._namespace.adopt(recipe, parts)
        self._recipe = recipe

    def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        """See :meth:`~scrapy_neardup.stores.Store.claim`.

        :raises InvalidOption: when pages of two sites are to be compared that are kept apart.
        """
        if self._namespace.is_by_site and rule.scope != "site":
            name = self._namespace.name
            expected = f"'site' in namespace {name!r}, which keeps each site's pages apart"
            raise InvalidOption("scope", rule.scope, expected)
        with self._connection.within(CLAIM_SECONDS):
            self._reservations.release_overdue()
            self.adopt(signature.recipe, {})
            if not signature.passages:
                self._learn(signature)
            return self._judged(signature, rule)

    def commit(self, ticket: Ticket, *, confirmed: bool = True, items: int = OWN_ITEMS) -> None:
        if (held := self._reservations.get(ticket)) is None:
            return
        with self._marks.next(held.pages.part.site, confirmed=confirmed) as mark:
            if not held.pages.commit(held.number, held.page, mark, items):
                # The reservation is gone, but the page has been stored.
                held.pages.add(held.page._replace(row=with_items(held.page.row, items)), mark)
        self._reservations.settle(ticket)

    def release(self, ticket: Ticket) -> None:
        held = self._reservations.get(ticket)
        self._reservations.release(ticket)
        if held is not None and held.has_body:
            self._bodies.remove(PagePlace(held.pages.part.site, held.number))

    def complete(self, key: str, signature: PageSignature | None) -> None:
        with self._connection.within(CLAIM_SECONDS):
            taken = self._bodies.taken(key)
            place = self._place_of(key) if taken is None else taken.place
            if place is None:
                return
            self._complete_at(place, key, signature, taken)
            if signature is not None:
                self._complete_others(place, key, signature)

    def body_cache(self, max_bytes: int) -> BodyCache:
        self._bodies.is_used = True
        self._bodies.allow(max_bytes)
        return self._bodies

    def mark(self) -> int:
        return self._marks.last()

    def confirm(self, mark: int) -> None:
        for site in self._marks.sites:
            self._namespace.of(site).confirm(mark)
            self._marks.confirm(site, mark)

    def add(
        self,
        signature: PageSignature,
        stored_at: int | None = None,
        *,
        confirmed: bool = True,
        items: int = OWN_ITEMS,
    ) -> None:
        if stored_at is not None:
            require_time("stored_at", stored_at)
        with self._connection.within(CLAIM_SECONDS):
            self.adopt(signature.recipe, {})
            self._learn(signature)
            pages = self._namespace.for_writing(signature.site)
            now = int(time.time()) if stored_at is None else stored_at
            page = self._new_page(signature, now, items)
            with self._marks.next(pages.part.site, confirmed=confirmed) as mark:
                pages.add(page, mark)
            self._reservations.settle_key(pages.part.site, page.key)

    def find(self, key: str) -> Entry | None:
        reader = self._namespace.of(site_of(key))
        if not (number := reader.known(self._digest(key))):
            return None
        stored = reader.stored(number)
        if stored is None or not self._counts(stored) or stored.stored_at < self._oldest:
            return None
        entry = self._entry(stored)
        return entry if entry.signature.key == key else None

    def forget(self, key: str) -> bool:
        return self._bodies.forget(self._namespace.of(site_of(key)), self._digest(key))

    def entries(self) -> Iterator[Entry]:
        """Yield all stored pages, oldest first; where sites are kept apart, site by site."""
        for pages in self._namespace.all():
            for stored in pages.all():
                if self._counts(stored):
                    yield self._entry(stored)

    def compact(self) -> int:
        if self.ttl is None:
            return 0
        self.hints.forget_duplicates(int(self._oldest))
        self.hints.forget_visits(int(self._oldest))
        return sum(pages.expire(int(self._oldest)) for pages in self._namespace.all())

    def close(self) -> None:
        if not self.users.leave():
            return
        try:
            # What cannot be given up now ends with the lease.
            with contextlib.suppress(StoreError):
                for ticket in list(self._reservations):
                    self.release(ticket)
                self._reservations.release_overdue()
                parts = map(self._namespace.of, self._marks.sites)
                is_done = not any(pages.has_unconfirmed() for pages in parts)
                self._leases.close(is_done=is_done)
        finally:
            self._leases.stop()
            self._connection.close()
            self.users.at_close()

    def _open(self, scope: Scope | None, secret: bytes | None) -> None:
        check_server(self._connection)
        self._namespace.enter(scope)
        if secret and not len(self):
            self._namespace.give_secret(secret)
        self._key_seed = key_seed(self.secret)
        self._leases.register()
        self.forgotten = sum([self._namespace.reap(run) for run in self._leases.dead()])
        self._leases.start(self._reservations.release_overdue, self._namespace.enter_again)

    def _learn(self, signature: PageSignature) -> None:
        with self._alone():
            learn(self.boilerplates.of(signature.site), signature)

    def _judged(self, signature: PageSignature, rule: Rule) -> Claim:
        pages = self._namespace.for_writing(signature.site)
        judge = PageJudge(
            pages, signature, rule, self._digest(signature.key),
            boilerplates=self.boilerplates, oldest=self._oldest,
            is_gone=self._namespace.is_gone, judging=self._alone, bodies=self._bodies,
        )  # fmt: skip
        now = int(time.time())
        token = self._leases.id + secrets.token_bytes(_TOKEN_BYTES)
        for _ in range(_TRIES):
            try:
                found = judge.judge()
            except Changed:
                continue
            if found.answer is not None:
                return found.answer
            if found.blocker:
                own = self._reservations.get((pages.part.site, found.blocker))
                return Claim(found.verdict, is_blocked=True, outcome=own.outcome if own else None)
            if found.verdict.is_duplicate:
                return Claim(found.verdict, items=found.items, unchanged=found.unchanged)
            claimed = replace(found.unchanged or signature, passages=found.passages)
            page = self._new_page(claimed, now)
            try:
                number = pages.reserve(page, token, found.lookup, rule.max_distance)
            except StoreUnreachable as error:
                if not is_refusal(error):
                    # Whether it was reserved nobody knows.
                    self._reservations.release_later(pages, page.key, token)
                raise
            if number is not None:
                held = Reservation(pages, number, token, page, has_body=not claimed.is_read)
                self._reservations[held.ticket] = held
                if held.has_body:
                    self._bodies.expect(signature.key, PagePlace(pages.part.site, number))
                return Claim(
                    found.verdict, held.ticket, items=found.items, unchanged=found.unchanged
                )
        return Claim(waited(signature), is_blocked=True)

    def _complete_at(
        self,
        place: PagePlace,
        key: str,
        signature: PageSignature | None,
        taken: Taken | None = None,
        *,
        learns: bool = True,
    ) -> None:
        """Complete one version of a page, and remove its body."""
        pages = self._namespace.of(place.site)
        [stored] = pages.stored_many([place.number])
        if stored is None:
            return
        before = unpacked(stored.page, self._recipe)
        if before.key != key:
            return
        if not before.is_read:
            if signature is not None:
                self._complete(pages, place.number, stored, before, signature, learns=learns)
            elif not self._bodies.may_be_elsewhere(stored.holder, taken):
                pages.give_up(place.number, stored.page, before)
            else:
                return
        self._bodies.remove(place)

    def _complete_others(self, done: PagePlace, key: str, signature: PageSignature) -> None:
        """Complete the stored version of a page that is reserved once more, unchanged."""
        pages = self._namespace.of(done.site)
        others = [n for n in pages.versions(self._digest(key)) if n != done.number]
        for number, stored in zip(others, pages.stored_many(others), strict=True):
            if stored and signature.has_body_of(unpacked(stored.page, self._recipe)):
                self._complete_at(PagePlace(done.site, number), key, signature, learns=False)

    def _complete(
        self,
        pages: RedisPages,
        number: bytes,
        stored: StoredRow,
        before: PageSignature,
        signature: PageSignature,
        *,
        learns: bool,
    ) -> None:
        """Put a page that was read in full in the place of what was read of it quickly."""
        self.adopt(signature.recipe, {})
        complete = replace(
            signature.with_quick_parts_of(before),
            url=before.url,
            key=before.key,
            site=before.site,
        )
        page = self._new_page(complete, stored.stored_at)
        if pages.complete(number, stored.page, page.row, page.page) and learns:
            with self._alone():
                learn_text(self.boilerplates.of(before.site), complete)

    def _counts(self, stored: StoredRow) -> bool:
        return stored.holder is None or self._leases.is_alive(stored.holder.run)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads from judging and learning."""
        if not self._judging.acquire(timeout=CLAIM_SECONDS):
            raise StoreUnreachable(self.name, "other calls have been waiting for its answers")
        try:
            yield
        finally:
            self._judging.release()

    def _new_page(self, signature: PageSignature, stored_at: int, items: int = NO_ITEMS) -> NewPage:
        digest = self._digest(signature.key)
        row = row_of(signature, int.from_bytes(digest, "little"), stored_at, items)
        return NewPage(digest, row, packed(signature), signature.recipe)

    def _place_of(self, key: str) -> PagePlace | None:
        """Return where the page is that is reserved or else committed under a key."""
        pages = self._namespace.of(site_of(key))
        number = pages.present(self._digest(key))
        return PagePlace(pages.part.site, number) if number else None

    def _digest(self, key: str) -> bytes:
        return key_digest(key, self._key_seed).to_bytes(8, "little")

    @property
    def _oldest(self) -> float:
        """The time, in seconds since 1970, before which pages have expired."""
        return 0 if self.ttl is None else time.time() - self.ttl

    def _entry(self, stored: StoredRow) -> Entry:
        recipe = self._recipe or self._namespace.recipe()
        return Entry(unpacked(stored.page, recipe), stored.stored_at, stored.items)

    def _teach(self, site: str, boilerplate: SiteBoilerplate) -> None:
        """Learn what other processes, or earlier ones, knew of a site."""
        for data in self._namespace.of(site).of_site(site_digest(site)):
            page = unpacked(data, self._recipe)
            if page.site == site:
                learn(boilerplate, page)
