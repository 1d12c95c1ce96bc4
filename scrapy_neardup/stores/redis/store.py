"""Pages in a Redis, a cluster of them, or one that Sentinels watch: any number of processes agree.

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
import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..._util.urls import site_of
from ...exceptions import InvalidOption, SignatureMismatch, StoreError, StoreUnreachable
from ...matching.candidates import site_digest
from ...matching.rule import Rule, Scope, learn
from ...matching.site_boilerplate import Boilerplates, SiteBoilerplate
from ...matching.stored_items import NO_ITEMS, OWN_ITEMS
from ...matching.verdict import Verdict
from ...signatures.signature import PageSignature
from ..base import Claim, Entry, Ticket
from ..codec import packed, row_of, unpacked, with_items
from ..digests import key_digest, key_seed
from ..hints import known_at
from ..reading import StoreReader
from ..users import Users
from .address import RedisAddress
from .connection import CALL_SECONDS, CONNECT_SECONDS, Link
from .hints import RedisHints
from .layout import unpacked_number
from .leases import LEASE_SECONDS, LeaseRegistry
from .lookup import Lookup
from .namespace import RedisNamespace
from .pages import RedisPages, Row, Stored
from .signature_source import Changed

#: After so many seconds, a claim asks the server nothing more.
CLAIM_SECONDS = 6.0
#: A claim that others keep getting ahead of is judged so often; then it waits like a blocked one.
_TRIES = 8
#: How long an attempt that was given up may still be on its way to the server.
_ON_ITS_WAY = 3_600_000
_SERIAL_BYTES = 8
#: Names of sites that are known to be on the server's list.
_MOST_LISTED = 100_000


class _Ticket(NamedTuple):
    """A reservation: a number, and the site where each has numbers of its own."""

    site: str | None
    number: int


@dataclass(frozen=True, slots=True)
class _Held:
    """What was reserved."""

    pages: RedisPages
    number: bytes
    token: bytes
    page: Row
    outcome: Future[None] = field(default_factory=Future)


class _Overdue(NamedTuple):
    """What is to be given up when the server answers again."""

    pages: RedisPages
    key: bytes
    token: bytes


class RedisStore:
    """See :class:`~scrapy_neardup.stores.Store`.

    :param address: see :class:`~scrapy_neardup.stores.redis.address.RedisAddress`.
    :param namespace: pages of one namespace are compared with each other only.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    :param scope: ``"site"`` keeps each site's pages in a slot of their own, so that a cluster
        spreads them, and compares no pages of two sites; ``None`` is what the namespace is, and
        ``"all"`` for a new one.
    :param secret: for a namespace without a page, 16 to 64 bytes; one with pages keeps its own.
    :param lease: seconds after which what a process held is let go of when it gave no sign of life.
    :param connect_timeout: and ``call_timeout``: seconds.
    :raises InvalidOption: when the address is none, or the package ``redis`` is missing.
    :raises StoreUnreachable: when there is no answer.
    :raises StoreError: when the server or the namespace cannot be used.
    """

    is_remote = True

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
        self._link = Link(RedisAddress.parse(address), connect_timeout, call_timeout)
        self.name = self._link.name
        self.ttl = ttl
        self.boilerplates = Boilerplates(self._teach)
        self._space = RedisNamespace(self._link, namespace)
        self._advice = RedisHints(self._link, self._space.whole)
        self._runs = LeaseRegistry(
            self._link,
            self._space.whole,
            lease,
            at_renewal=self._catch_up,
            at_loss=self._enter_again,
        )
        self._lock = threading.Lock()
        self.users = Users(threading.Lock())
        self._judging = threading.RLock()
        self._held: dict[Ticket, _Held] = {}
        self._held_keys: dict[tuple[str | None, bytes], Ticket] = {}
        self._overdue: deque[_Overdue] = deque()
        self._listed: set[str] = set()
        self._unconfirmed: set[str | None] = set()
        self._recipe = ""
        self._serial = 0
        self._commits = 0
        self._committing: set[int] = set()
        try:
            self._open(scope, secret)
        except BaseException:
            self._link.close()
            raise

    @property
    def problem(self) -> str | None:
        return self._link.problem

    @property
    def secret(self) -> bytes:
        return self._space.secret

    @property
    def is_closed(self) -> bool:
        """Whether its last user has closed it."""
        return self.users.is_closed

    def __len__(self) -> int:
        return sum(map(len, self._parts()))

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        if self._recipe:
            if recipe != self._recipe:
                raise SignatureMismatch(self._recipe, recipe)
            return
        known, known_parts = self._pages(None).adopt(
            recipe, json.dumps(dict(parts)), self._space.keys, by_site=self._space.is_by_site
        )
        if known.decode() != recipe:
            raise SignatureMismatch(known.decode(), recipe, json.loads(known_parts), parts)
        self._recipe = recipe

    def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        """See :meth:`~scrapy_neardup.stores.Store.claim`.

        :raises InvalidOption: when pages of two sites are to be compared that are kept apart.
        """
        if self._space.is_by_site and rule.scope != "site":
            raise InvalidOption(
                "scope",
                rule.scope,
                f"'site' in namespace {self._space.name!r}, which keeps each site's pages apart",
            )
        with self._link.within(CLAIM_SECONDS):
            self.adopt(signature.recipe, {})
            self._catch_up()
            with self._alone():
                learn(self.boilerplates.of(signature.site), signature)
            return self._claimed(signature, rule)

    def commit(self, ticket: Ticket, *, confirmed: bool = True, items: int = OWN_ITEMS) -> None:
        if (held := self._held.get(ticket)) is None:
            return
        with self._marked(held.pages.part.site, confirmed=confirmed) as mark:
            if not held.pages.commit(held.number, held.page, mark, items):
                # The reservation is gone, but the page has been stored.
                held.pages.add(held.page._replace(row=with_items(held.page.row, items)), mark)
        self._let_go(ticket)

    def release(self, ticket: Ticket) -> None:
        if (held := self._let_go(ticket)) is None:
            return
        try:
            held.pages.release(held.page.key, held.token)
        except StoreError:
            self._overdue.append(_Overdue(held.pages, held.page.key, held.token))
            raise

    def mark(self) -> int:
        with self._lock:
            return min(self._committing, default=self._commits + 1) - 1

    def confirm(self, mark: int) -> None:
        for site in list(self._unconfirmed):
            self._pages(site).confirm(mark)
            with self._lock:
                if mark == self._commits and not self._committing:
                    self._unconfirmed.discard(site)

    def add(
        self,
        signature: PageSignature,
        stored_at: int | None = None,
        *,
        confirmed: bool = True,
        items: int = OWN_ITEMS,
    ) -> None:
        with self._link.within(CLAIM_SECONDS):
            self.adopt(signature.recipe, {})
            with self._alone():
                learn(self.boilerplates.of(signature.site), signature)
            pages = self._pages_for_writing(signature.site)
            now = int(time.time()) if stored_at is None else stored_at
            row = self._row(signature, now, items)
            with self._marked(pages.part.site, confirmed=confirmed) as mark:
                pages.add(row, mark)
            self._let_go(self._held_keys.get((pages.part.site, row.key)))

    def find(self, key: str) -> Entry | None:
        pages = self._pages(site_of(key))
        if not (number := pages.known(self._digest(key))):
            return None
        stored = pages.stored(number)
        if stored is None or not self._counts(stored) or stored.stored_at < self._oldest:
            return None
        entry = self._entry(stored)
        return entry if entry.signature.key == key else None

    def forget(self, key: str) -> bool:
        return self._pages(site_of(key)).forget(self._digest(key))

    def entries(self) -> Iterator[Entry]:
        """All pages remembered, oldest first; where sites are kept apart, site by site."""
        for pages in self._parts():
            for stored in pages.all():
                if self._counts(stored):
                    yield self._entry(stored)

    def rules(self) -> dict[str, bytes]:
        return self._advice.rules()

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        self._advice.put_rules(rules)

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        return self._advice.known_duplicates(since)

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        self._advice.note_duplicates(known_at(copies, seen_at))

    def compact(self) -> int:
        if self.ttl is None:
            return 0
        self._advice.forget_duplicates(int(self._oldest))
        return sum(pages.expire(int(self._oldest)) for pages in self._parts())

    def close(self) -> None:
        if not self.users.leave():
            return
        try:
            # What cannot be given up now ends with the lease.
            with contextlib.suppress(StoreError):
                for ticket in list(self._held):
                    self.release(ticket)
                self._catch_up()
                is_done = not any(self._pages(s).has_unconfirmed() for s in self._unconfirmed)
                self._runs.close(is_done=is_done)
        finally:
            self._runs.stop()
            self._link.close()
            self.users.at_close()

    # --- opening ---

    def _open(self, scope: Scope | None, secret: bytes | None) -> None:
        self._link.check()
        self._space.enter(scope)
        if secret and not len(self):
            self._space.give_secret(secret)
        self._key_seed = key_seed(self.secret)
        self._runs.register()
        self.forgotten = sum([self._reap(run) for run in self._runs.dead()])
        self._runs.start()

    def _enter_again(self) -> None:
        """Write again what the server has forgotten: it stopped, and kept nothing on disk."""
        self._space.enter_again()
        with self._lock:
            self._listed.clear()

    def _reap(self, run: bytes) -> int:
        """Let go of what a dead run held; how many pages had it committed?"""
        if self._space.is_by_site:
            sites = self._link.command("SMEMBERS", self._runs.sites_of(run))
            parts = [self._pages(name.decode("utf-8", "surrogatepass")) for name in sites]
        else:
            parts = [self._pages(None)]
        forgotten = sum([pages.reap(run) for pages in parts])
        self._runs.remove(run)
        return forgotten

    # --- claims ---

    def _claimed(self, signature: PageSignature, rule: Rule) -> Claim:
        pages = self._pages_for_writing(signature.site)
        page = self._row(signature, int(time.time()))
        lookup = Lookup(
            pages, signature, rule, page.key,
            boilerplates=self.boilerplates, oldest=self._oldest,
            is_gone=self._is_gone, judging=self._alone,
        )  # fmt: skip
        token = self._token()
        for _ in range(_TRIES):
            try:
                found = lookup.finding()
            except Changed:
                continue
            if found.blocker:
                return self._blocked_by(pages, found.blocker, found.verdict)
            if found.verdict.is_duplicate:
                return Claim(found.verdict, items=found.items)
            try:
                number = pages.reserve(page, token, found.look, rule.max_distance)
            except StoreUnreachable as error:
                if not self._link.is_refusal(error):
                    # Whether it was reserved nobody knows.
                    self._overdue.append(_Overdue(pages, page.key, token))
                raise
            if number is not None:
                ticket = self._hold(_Held(pages, number, token, page))
                return Claim(found.verdict, ticket, items=found.items)
        return Claim(Verdict("undecided", signature.url, "waited"), is_blocked=True)

    def _blocked_by(self, pages: RedisPages, number: bytes, verdict: Verdict) -> Claim:
        own = self._held.get(_Ticket(pages.part.site, unpacked_number(number)))
        return Claim(verdict, is_blocked=True, outcome=None if own is None else own.outcome)

    def _hold(self, held: _Held) -> Ticket:
        site = held.pages.part.site
        ticket = _Ticket(site, unpacked_number(held.number))
        with self._lock:
            self._held[ticket] = held
            self._held_keys[site, held.page.key] = ticket
        return ticket

    def _let_go(self, ticket: Ticket | None) -> _Held | None:
        """What was held, which has its outcome."""
        with self._lock:
            if ticket is None or (held := self._held.pop(ticket, None)) is None:
                return None
            place = held.pages.part.site, held.page.key
            if self._held_keys.get(place) == ticket:
                del self._held_keys[place]
        held.outcome.set_result(None)
        return held

    def _catch_up(self) -> None:
        """Give up what could not be given up in time."""
        # Other threads may do the same.
        with contextlib.suppress(IndexError):
            while True:
                overdue = self._overdue.popleft()
                try:
                    overdue.pages.release(overdue.key, overdue.token, _ON_ITS_WAY)
                except StoreError:
                    self._overdue.appendleft(overdue)
                    raise

    def _is_gone(self, run: bytes) -> bool:
        """Is a run dead? What it held is let go of."""
        if self._runs.is_alive(run):
            return False
        self._reap(run)
        return True

    def _counts(self, stored: Stored) -> bool:
        return stored.holder is None or self._runs.is_alive(stored.holder.run)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread judges, or learns."""
        if not self._judging.acquire(timeout=CLAIM_SECONDS):
            raise StoreUnreachable(self.name, "other calls have been waiting for its answers")
        try:
            yield
        finally:
            self._judging.release()

    # --- parts, and what is written to them ---

    def _pages(self, site: str | None) -> RedisPages:
        """The part in which a site's pages are."""
        return RedisPages(self._link, self._space.part(site), self._runs.id)

    def _pages_for_writing(self, site: str) -> RedisPages:
        """The same, put on the lists of sites that there are, and that this run was at."""
        if self._space.is_by_site and site not in self._listed:
            name = site.encode("utf-8", "surrogatepass")
            self._link.commands(
                ("SADD", self._space.site_names, name),
                ("SADD", self._runs.sites_of(self._runs.id), name),
            )
            with self._lock:
                if len(self._listed) >= _MOST_LISTED:
                    self._listed.clear()
                self._listed.add(site)
        return self._pages(site)

    def _parts(self) -> Iterator[RedisPages]:
        return map(self._pages, self._space.sites())

    def _row(self, signature: PageSignature, stored_at: int, items: int = NO_ITEMS) -> Row:
        digest = self._digest(signature.key)
        row = row_of(signature, int.from_bytes(digest, "little"), stored_at, items)
        return Row(digest, row, packed(signature), signature.recipe)

    def _digest(self, key: str) -> bytes:
        return key_digest(key, self._key_seed).to_bytes(8, "little")

    def _token(self) -> bytes:
        with self._lock:
            self._serial += 1
            return self._runs.id + self._serial.to_bytes(_SERIAL_BYTES, "little")

    @contextlib.contextmanager
    def _marked(self, site: str | None, *, confirmed: bool) -> Iterator[int]:
        """A mark for a page that is not confirmed, or 0."""
        with self._lock:
            self._commits += 1
            mark = self._commits
            self._committing.add(mark)
            if not confirmed:
                self._unconfirmed.add(site)
        try:
            yield 0 if confirmed else mark
        finally:
            with self._lock:
                self._committing.remove(mark)

    @property
    def _oldest(self) -> float:
        """What was stored before it, in seconds since 1970, has expired."""
        return 0 if self.ttl is None else time.time() - self.ttl

    def _entry(self, stored: Stored) -> Entry:
        recipe = self._recipe or self._space.recipe()
        return Entry(unpacked(stored.page, recipe), stored.stored_at, stored.items)

    def _teach(self, site: str, boilerplate: SiteBoilerplate) -> None:
        """Learn what other processes, or earlier ones, knew of a site."""
        for data in self._pages(site).of_site(site_digest(site)):
            page = unpacked(data, self._recipe)
            if page.site == site:
                learn(boilerplate, page)


def canonical_address(address: str) -> str:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    RedisAddress.parse(address)
    return address


def open_store(
    address: str, namespace: str, ttl: float | None, scope: Scope | None, secret: bytes | None
) -> RedisStore:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    return RedisStore(address, namespace, ttl, scope=scope, secret=secret)


def open_reader(address: str) -> StoreReader:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    from .reading import RedisReader

    return RedisReader(address)
