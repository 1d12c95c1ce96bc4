"""The interface of a store, in three parts, and the records that it returns.

What was stored of a page, ``items``, is explained at ``NO_ITEMS`` in ``matching/stored_items.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .._util.validation import require_number
from ..matching.needed_readings import NeededReadings
from ..matching.rule import Rule
from ..matching.site_boilerplate import Boilerplates
from ..matching.stored_items import OWN_ITEMS
from ..matching.verdict import Verdict, waited
from ..signatures.signature import PageSignature
from .better_urls import BetterUrl, BetterUrlChanges
from .body_cache import BodyCache

#: A reservation, as its store knows it.
Ticket = Hashable


@dataclass(frozen=True, slots=True)
class Claim:
    """The outcome of a lookup: a verdict, and a reservation unless the page is a duplicate.

    :ivar verdict: of a page that must wait, the verdict if the other page comes to be stored.
    :ivar ticket: the reservation, to be committed or released; ``None`` where there is none.
    :ivar is_blocked: near-duplicates of this page, or the page itself, are reserved: it must wait
        for their outcome and be claimed again.
    :ivar items: what was stored of the page that the verdict names, the original or this page
        before.
    :ivar must_read: whether the page itself has to be read in full, or its facts as well, and
        claimed again. The verdict then means nothing.
    :ivar unread: keys of pages that were read quickly or without their facts, and may have its
        content or show what recurs on its site; they have to be read in full and completed before
        it is claimed again. The verdict then means nothing.
    :ivar needs_facts: whether pages of one site are compared, so that the facts of all these pages
        have to be read as well.
    :ivar unchanged: the stored signature of this page, if its body is still the same: it takes the
        place of the page's own.
    :ivar outcome: completed when the blocking page is committed or released; ``None`` if another
        process decides that, so the claim has to be repeated.
    """

    verdict: Verdict
    ticket: Ticket | None = None
    is_blocked: bool = False
    outcome: Future[None] | None = None
    items: int = OWN_ITEMS
    must_read: bool = False
    unread: tuple[str, ...] = ()
    needs_facts: bool = True
    unchanged: PageSignature | None = None


def claim_after(page: PageSignature, needed: NeededReadings) -> Claim:
    """Return the claim of a page that is to be claimed again, after these readings."""
    must_read, unread, needs_facts = needed
    return Claim(waited(page), must_read=must_read, unread=unread, needs_facts=needs_facts)


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored page.

    :ivar signature: all that is known of it.
    :ivar stored_at: when it was stored last, in seconds since 1970.
    :ivar items: what was stored of it.
    """

    signature: PageSignature
    stored_at: int
    items: int = OWN_ITEMS


def unchanged_since(before: PageSignature, page: PageSignature) -> PageSignature | None:
    """Return the stored signature of a page, with its present URL, if its body is unchanged.

    Return ``None`` as well if the stored page was read quickly and this one in full, or if nothing
    is compared with the stored page any more.
    """
    says_enough = before.is_read or (before.is_comparable and not page.is_read)
    return before.found_at(page.url) if says_enough and page.has_body_of(before) else None


def require_time(name: str, seconds: int) -> None:
    """Check that this is a time that can be kept: it takes 32 bits.

    :raises InvalidOption: when it is not.
    """
    require_number(name, seconds, int, 0, 2**32 - 1, unit="seconds since 1970")


class ClaimStore(Protocol):
    """Judges pages and records those that were stored.

    A page is claimed when it arrives, and committed when a copy of it has been stored. If it
    counted as seen at once, a failure of the storage would lose it.
    """

    @property
    def secret(self) -> bytes:
        """Key of all sketches in this store; never to be published."""

    @property
    def holds_unread(self) -> bool:
        """Whether it can hold pages that were read quickly only."""

    @property
    def boilerplates(self) -> Boilerplates:
        """The boilerplate learned of each site."""

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        """Accept signatures of one recipe from now on.

        :param recipe: see :attr:`~scrapy_neardup.signatures.signer.Signer.recipe`.
        :param parts: the components of the recipe, for the message of the error.
        :raises SignatureMismatch: when the stored pages were signed in another way.
        """

    def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        """Look a page up and reserve it unless it is a duplicate, in one atomic step.

        Of any number of near-duplicates that arrive together, exactly one is ``"new"`` and the
        others are blocked. A page that is stored under its own address is a ``"revisit"``; if no
        item of it was stored, it may be a duplicate all the same.

        :raises SignatureMismatch: when the signature was made in another way than the first one.
        """

    def complete(self, key: str, signature: PageSignature | None) -> None:
        """Replace the signature of a page that was read quickly only, or without its facts.

        A page that is not known, or was read in full before, stays as it is.

        :param key: of a reserved or a committed page.
        :param signature: of the same page, read in full; ``None`` if it cannot be read any more.
            Nothing is then compared with it, or no page of its site.
        """

    def body_cache(self, max_bytes: int) -> BodyCache:
        """Return the cache for the bodies of pages that were read quickly.

        All crawls that use the store share it, within the highest of their bounds; the store closes
        it. Pages whose bodies it evicts are completed without a signature.
        """

    def commit(self, ticket: Ticket, *, confirmed: bool = True, items: int = OWN_ITEMS) -> None:
        """Record a reserved page as stored. A second call does nothing.

        :param confirmed: whether what was stored is known to be on disk. If not, the page is
            forgotten after an unclean stop, unless :meth:`confirm` comes before that.
        :param items: what was stored. With ``NO_ITEMS`` the page becomes known for its links alone,
            unless an item was stored of what its address held before: then that stays.
        """

    def release(self, ticket: Ticket) -> None:
        """Give up a reservation: no copy of the page was stored. Committed pages stay."""

    def mark(self) -> int:
        """Return a mark behind all pages committed until now, for :meth:`confirm`."""

    def confirm(self, mark: int) -> None:
        """Record that what this process stored before the mark is on disk."""

    def add(
        self,
        signature: PageSignature,
        stored_at: int | None = None,
        *,
        confirmed: bool = True,
        items: int = OWN_ITEMS,
    ) -> None:
        """Record a page without judging it; it replaces what was stored under its address.

        :param stored_at: seconds since 1970, below 2**32; now unless given.
        :param confirmed: see :meth:`commit`, like ``items``.
        :raises InvalidOption: when ``stored_at`` is out of range.
        :raises SignatureMismatch: when the signature was made in another way.
        """

    def find(self, key: str) -> Entry | None:
        """Return the page with this key, see ``PageSignature.key``."""


class HintStore(Protocol):
    """Keeps hints: URL rules, known duplicates, visits of pages, and best URLs of contents.

    :mod:`~scrapy_neardup.stores.hints` says what they are and how many are kept.
    """

    def rules(self) -> dict[str, bytes]:
        """Return all rules by their names, as :meth:`put_rules` was given them."""

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        """Store rules; of several writers of one name the last one wins.

        :param rules: serialised rules, by names of any characters; ``b""`` deletes a rule. New
            names beyond :data:`~scrapy_neardup.stores.hints.MAX_RULES` are ignored.
        """

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        """Return URLs that led to a duplicate at this time or later, and endings.

        :param since: seconds since 1970.
        :returns: array of type :data:`~scrapy_neardup.stores.hints.KNOWN`, shape ``(n,)``: each
            digest once, the newest last; of more than
            :data:`~scrapy_neardup.stores.hints.MAX_KNOWN` the newest.
        """

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        """Record that URLs led to duplicates, or that what was noted of originals has ended.

        A store need not tell the two apart: for each digest it keeps what was noted last.

        :param copies: of type :data:`~scrapy_neardup.stores.hints.COPY`, shape ``(n,)``.
        :param seen_at: seconds since 1970, below 2**32.
        :raises InvalidOption: when ``seen_at`` is out of range.
        """

    def visits(self) -> npt.NDArray[np.void]:
        """Return the history of each page that was visited, in no order.

        :returns: array of type :data:`~scrapy_neardup.stores.visits.HISTORY`, shape ``(n,)``.
        """

    def note_visits(self, visits: npt.NDArray[np.void]) -> None:
        """Add visits to the histories of their pages.

        A visit no later than the last one of its page is ignored, so it does no harm to note it
        twice. One that led to another page is ignored if its own page has no history.

        :param visits: of type :data:`~scrapy_neardup.stores.visits.VISIT`, shape ``(n,)``.
        """

    def better_urls(self) -> dict[str, BetterUrl]:
        """Return the best URLs of contents, by the URLs of originals that have another one."""

    def note_better_urls(self, changes: BetterUrlChanges) -> None:
        """Record the best URLs of contents; of several writers of one the last one wins.

        :param changes: by the URLs of originals; ``None`` removes what is recorded. New originals
            beyond :data:`~scrapy_neardup.stores.better_urls.MAX_BETTER_URLS` are ignored.
        """


class StoreAdministration(Protocol):
    """Describes, lists, prunes and closes a store."""

    @property
    def name(self) -> str:
        """The name of the store in logs: its address without a password."""

    @property
    def is_remote(self) -> bool:
        """Whether a call may wait for a network."""

    @property
    def problem(self) -> str | None:
        """The reason why the store cannot be written at present; writes are retried."""

    @property
    def forgotten(self) -> int:
        """Number of pages dropped at opening: after an unclean stop nobody knew them on disk."""

    def __len__(self) -> int:
        """Return the number of stored pages, without reservations."""

    def entries(self) -> Iterator[Entry]:
        """Yield all stored pages, oldest first."""

    def forget(self, key: str) -> bool:
        """Remove a page; return whether it was there."""

    def compact(self) -> int:
        """Remove expired pages and known duplicates, free their space, return the page count."""

    def close(self) -> None:
        """Write what is pending, release all reservations, and close the store.

        What was committed and not confirmed until then is forgotten at the next opening.

        :raises StoreError: when something could not be written.
        """


class Store(ClaimStore, HintStore, StoreAdministration, Protocol):
    """Records signatures of stored pages and judges new pages against them.

    Calls may be made from any thread. Calls to a store that :attr:`is_remote` may wait for a
    network and must not be made in an event loop; they raise
    :exc:`~scrapy_neardup.exceptions.StoreUnreachable` when there is no answer in time.
    """


class Users:
    """Counts the crawls of one process that have a store open; each of them closes it.

    :param lock: a store that holds it while it closes makes :meth:`join` wait for that.
    """

    def __init__(self, lock: AbstractContextManager[object]) -> None:
        #: Called when the last user has closed the store.
        self.at_close: Callable[[], None] = lambda: None
        self._lock = lock
        self._count = 1

    @property
    def is_closed(self) -> bool:
        with self._lock:
            return not self._count

    def join(self) -> bool:
        """Add a user; return false when the store is closed."""
        with self._lock:
            if not self._count:
                return False
            self._count += 1
            return True

    def leave(self) -> bool:
        """Remove a user; return whether that was the last one."""
        with self._lock:
            self._count = max(0, self._count - 1)
            return not self._count
