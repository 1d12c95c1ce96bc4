"""What is asked of a memory of pages, whichever backend keeps it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..matching.rule import Rule
from ..matching.site_boilerplate import Boilerplates
from ..matching.stored_items import OWN_ITEMS
from ..matching.verdict import Verdict
from ..signatures.signature import PageSignature

#: A reservation, as its store knows it.
Ticket = Hashable


@dataclass(frozen=True, slots=True)
class Claim:
    """What became of a page that was looked up, and reserved unless it is a duplicate.

    :ivar verdict: of a page that must wait, the verdict if the other page comes to be stored.
    :ivar ticket: the reservation, to be committed or released; ``None`` where there is none.
    :ivar is_blocked: near-duplicates of this page, or the page itself, are reserved: it must wait
        for their outcome and be claimed again.
    :ivar items: what was stored of the page that the verdict names, the original or this page
        before: see ``NO_ITEMS`` in ``matching/stored_items.py``.
    :ivar outcome: done when there is one; ``None`` where another process will know it, so that
        one has to ask again from time to time.
    """

    verdict: Verdict
    ticket: Ticket | None = None
    is_blocked: bool = False
    outcome: Future[None] | None = None
    items: int = OWN_ITEMS


@dataclass(frozen=True, slots=True)
class Entry:
    """A page that is remembered.

    :ivar signature: all that is known of it.
    :ivar stored_at: when it was stored last, in seconds since 1970.
    :ivar items: what was stored of it, see ``NO_ITEMS`` in ``matching/stored_items.py``.
    """

    signature: PageSignature
    stored_at: int
    items: int = OWN_ITEMS


class Store(Protocol):
    """Remembers signatures and judges a page against them.

    A page is claimed when it is met, and committed when one copy of it has been stored: what is
    marked as seen before that is lost when storing fails.

    Calls may be made from any thread. Those of a store that :attr:`is_remote` may wait for a
    network and are not to be made in an event loop; they raise
    :exc:`~scrapy_neardup.exceptions.StoreUnreachable` when there is no answer in time.
    """

    @property
    def name(self) -> str:
        """What a log calls it: its address without a password."""

    @property
    def is_remote(self) -> bool:
        """May a call wait for a network?"""

    @property
    def problem(self) -> str | None:
        """What keeps it from being written, at present; it is tried again, nothing is lost."""

    @property
    def secret(self) -> bytes:
        """Key of all sketches in this store; never to be published."""

    @property
    def boilerplates(self) -> Boilerplates:
        """What was learned of each site."""

    @property
    def forgotten(self) -> int:
        """How many pages were forgotten when it was opened, because nobody knows whether they
        had reached the disk before an unclean stop.
        """

    def __len__(self) -> int:
        """Number of pages remembered; reservations do not count."""

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        """Take signatures of one recipe from now on.

        :param recipe: see :attr:`~scrapy_neardup.signatures.signature.Signer.recipe`.
        :param parts: what it was made of, for the message of the error.
        :raises SignatureMismatch: when the pages remembered were signed in another way.
        """

    def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        """Look a page up and reserve it unless it is a duplicate: one atomic step.

        Of any number of near-duplicates that arrive together, exactly one is ``"new"`` and the
        others are blocked. What it finds near is judged by
        ``matching.candidates.find_original``. A page that is remembered under its own address
        is a ``"revisit"``; if no item of it was stored, it may be a duplicate all the same.

        :raises SignatureMismatch: when the signature was made in another way than the first one.
        """

    def commit(self, ticket: Ticket, *, confirmed: bool = True, items: int = OWN_ITEMS) -> None:
        """Remember a reserved page: it has been stored. To say so again does nothing.

        With ``NO_ITEMS`` in ``matching/stored_items.py`` it becomes known for its links alone,
        unless an item was stored of what its address held before: then that stays.

        :param confirmed: is what was stored known to be on disk? If not, the page is forgotten
            after an unclean stop, unless :meth:`confirm` comes before that.
        :param items: what was stored, see ``NO_ITEMS`` in ``matching/stored_items.py``.
        """

    def release(self, ticket: Ticket) -> None:
        """Give a reservation up: no copy of the page was stored. What has been committed stays."""

    def mark(self) -> int:
        """A mark behind all pages committed until now, for :meth:`confirm`."""

    def confirm(self, mark: int) -> None:
        """What this process stored before the mark is known to be on disk."""

    def add(
        self,
        signature: PageSignature,
        stored_at: int | None = None,
        *,
        confirmed: bool = True,
        items: int = OWN_ITEMS,
    ) -> None:
        """Remember a page without judging it, in the place of what its address held.

        :param stored_at: seconds since 1970, below 2**32; now unless given.
        :param confirmed: see :meth:`commit`, like ``items``.
        :raises InvalidOption: when it is no such time.
        :raises SignatureMismatch: when it was made in another way.
        """

    def find(self, key: str) -> Entry | None:
        """The page of this :attr:`~scrapy_neardup.signatures.signature.PageSignature.key`."""

    def forget(self, key: str) -> bool:
        """Forget a page. Was it remembered?"""

    def entries(self) -> Iterator[Entry]:
        """All pages remembered, oldest first."""

    def rules(self) -> dict[str, bytes]:
        """All rules by their names, as :meth:`put_rules` was given them.

        See :mod:`~scrapy_neardup.stores.hints` for what they are, and what becomes of them when
        there is no room.
        """

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        """Keep rules, each in the place of what its name held; of several writers the last wins.

        :param rules: what their maker has packed, by names of any characters; ``b""`` takes a rule
            away. Of new names, those are passed over that would be more than
            :data:`~scrapy_neardup.stores.hints.MAX_RULES`.
        """

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        """Addresses that were seen to lead to a duplicate at this time or later, and endings.

        :param since: seconds since 1970.
        :returns: array of type :data:`~scrapy_neardup.stores.hints.KNOWN`, shape ``(n,)``: each
            digest once, the newest last, of more than
            :data:`~scrapy_neardup.stores.hints.MAX_KNOWN` the newest.
        """

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        """Note that addresses led to duplicates, or that what was noted of originals has ended.

        A store need not tell the two apart: it keeps of each digest what was noted last.

        :param copies: of type :data:`~scrapy_neardup.stores.hints.COPY`, shape ``(n,)``: digests
            of 64 bits that nobody can foretell.
        :param seen_at: seconds since 1970, below 2**32.
        :raises InvalidOption: when it is no such time.
        """

    def compact(self) -> int:
        """Forget what has expired and give its room back; returns how many pages that were.

        Known duplicates expire as pages do. Rules do not.
        """

    def close(self) -> None:
        """Write what is still to be written, release all reservations, and let go of the store.

        What was committed and not confirmed until then is forgotten at the next opening.

        :raises StoreError: when something could not be written.
        """
