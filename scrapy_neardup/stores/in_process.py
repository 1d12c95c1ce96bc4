"""A store that lives in one process: an index in memory, and an archive of whole pages."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..exceptions import SignatureMismatch, StoreError
from ..matching.all_pairs import Pair, matching_pairs
from ..matching.candidates import Found, find_original
from ..matching.method_matching import find_original_by, matches_by, pairs_by
from ..matching.needed_readings import needed_readings
from ..matching.rule import Rule, learn, learn_text
from ..matching.stored_items import NO_ITEMS, OWN_ITEMS
from ..matching.verdict import FactsNeeded, Match, Verdict, revisit, revisit_of_links, waited
from ..methods import Method
from ..reasons import Reason
from ..signatures.passages import Passages
from ..signatures.signature import PASSAGES_PART, Extraction, PageSignature
from .archive import Archive
from .base import Claim, Entry, Ticket, Users, claim_after, require_time, unchanged_since
from .body_cache import BodyCache
from .hints import HintMethods, MemoryHints
from .page_index import PageIndex
from .page_table import Reservation


class InProcessStore(HintMethods):
    """See :class:`~scrapy_neardup.stores.Store`.

    It has many methods because it has all of a store's, under one lock; what they work with is in
    :class:`~scrapy_neardup.stores.page_index.PageIndex` and the archive.

    :param archive: where pages and hints are kept.
    :param secret: key of the sketches, 16 to 64 bytes.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    """

    is_remote = False
    holds_unread = True
    #: Whether the store can hold values of methods (``NEARDUP_METHOD``).
    holds_values = False
    #: Whether pages that may be copies of pages of other sites only are read without their facts.
    #: Where pages outlive the process, so that later versions are compared, all facts are read.
    reads_facts_late = False

    def __init__(
        self, name: str, archive: Archive, secret: bytes, ttl: float | None = None
    ) -> None:
        self.name = name
        self.secret = secret
        self.ttl = ttl
        self.hints: MemoryHints = archive.hints
        self.forgotten = archive.forgotten
        self._archive = archive
        self._lock = threading.RLock()
        self.users = Users(self._lock)
        self._index = PageIndex(name, archive, secret, ttl, archive.recipe[0])
        self.boilerplates = self._index.boilerplates
        self._bodies: BodyCache | None = None
        self._recipe = ""
        self._commits = 0

    @property
    def problem(self) -> str | None:
        return self._archive.problem

    @property
    def extraction(self) -> Extraction:
        """The way in which its pages are read, see ``NEARDUP_EXTRACTION``."""
        return "lazy" if PASSAGES_PART in self._archive.recipe[1] else "full"

    def __len__(self) -> int:
        return len(self._index)

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        with self._lock:
            if self._recipe:
                if recipe != self._recipe:
                    known_parts = self._archive.recipe[1] if parts else None
                    raise SignatureMismatch(self._recipe, recipe, known_parts, parts)
                return
            known, known_parts = self._archive.recipe
            if known != recipe:
                if len(self):
                    raise SignatureMismatch(known, recipe, known_parts, parts)
                self._archive.adopt(recipe, parts)
            self._recipe = self._index.table.recipe = recipe

    def use_method(self, method: Method) -> None:
        """Judge pages by a method from now on, in place of the rule.

        :param method: whose values the signatures have. Their recipe names it, so a store that
            has pages has them of this method.
        """
        with self._lock:
            self._index.use_method(method)

    def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        with self._lock:
            claim = self._claim(signature, rule)
            unread = () if claim.is_blocked else self._index.unread_texts(signature, claim.verdict)
            return Claim(waited(signature), unread=unread) if unread else claim

    def unread_candidates(self, signature: PageSignature, rule: Rule) -> set[str]:
        """Return keys of pages that may have a page's content, but were read quickly only."""
        with self._lock:
            pages = map(self._index.table.page, self._index.alike(signature, rule).numbers)
            return {page.key for page in pages if page.can_still_be_read}

    def complete(self, key: str, signature: PageSignature | None) -> None:
        with self._lock:
            unread = self._index.partly_read(key)
            if signature is not None and unread:
                self._require_open(signature)
                if not unread[0][1].is_read:
                    learn_text(self.boilerplates.of(unread[0][1].site), signature)
            for number, page in unread:
                complete = signature and signature.with_quick_parts_of(page)
                self._index.complete(number, complete or page.given_up())

    def commit(self, ticket: Ticket, *, confirmed: bool = True, items: int = OWN_ITEMS) -> None:
        with self._lock:
            if (reserved := self._index.table.reserved.get(ticket)) is None:
                return
            # This may fail, so it comes first: the reservation can then still be released.
            before = self._index.committed(reserved.page.key)
            if before is not None:
                has_items = self._index.table.items(before[0]) != NO_ITEMS
                if items == NO_ITEMS and has_items and not self._index.has_expired(before[0]):
                    self.release(ticket)
                    return
                if before[0] != reserved.renews:
                    self._index.remove(*before)
            self._commits += 1
            self._index.commit(reserved, items, 0 if confirmed else self._commits)
        reserved.settle()

    def release(self, ticket: Ticket) -> None:
        with self._lock:
            if (reserved := self._index.table.reserved.get(ticket)) is None:
                return
            self._index.release(reserved)
        reserved.settle()

    def body_cache(self, max_bytes: int) -> BodyCache:
        with self._lock:
            if self._bodies is None:
                self._bodies = self._new_body_cache(max_bytes)
            self._bodies.allow(max_bytes)
            return self._bodies

    def mark(self) -> int:
        return self._commits

    def confirm(self, mark: int) -> None:
        with self._lock:
            self._archive.confirm(mark)

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
        with self._lock:
            self._require_open(signature)
            learn(self.boilerplates.of(signature.site), signature)
            ticket = self._index.reserve(signature, stored_at=stored_at)
            self.commit(ticket, confirmed=confirmed, items=items)

    def find(self, key: str) -> Entry | None:
        with self._lock:
            known = self._index.unexpired(key)
            return None if known is None else self._index.table.entry(*known)

    def note_unstored(self, signature: PageSignature) -> None:
        """Keep the signature of a page that was not stored.

        Where it outlives the process, :meth:`find_unstored` returns it in later runs. What is kept
        is bounded, and nothing is compared with it.
        """
        with self._lock:
            self._require_open(signature)
            self._index.note_unstored(signature)

    def find_unstored(self, key: str) -> PageSignature | None:
        """Return the signature of a page that was not stored, if it is kept."""
        with self._lock:
            return self._index.find_unstored(key)

    def forget(self, key: str) -> bool:
        with self._lock:
            if (known := self._index.committed(key)) is None:
                return False
            self._index.remove(*known)
            if self._bodies is not None:
                self._bodies.discard(key)
            return True

    def entries(self) -> Iterator[Entry]:
        with self._lock:
            numbers = self._index.numbers()
            times = self._index.table.summaries(numbers)["stored_at"]
        for number in numbers[np.argsort(times, kind="stable")].tolist():
            with self._lock:
                # It may have been replaced or forgotten since.
                if not self._index.table.is_committed(number):
                    continue
                entry = self._index.table.entry(number, self._index.table.page(number))
            yield entry

    def numbers(self) -> npt.NDArray[np.intp]:
        """Return the numbers of all stored pages, ascending: first stored, first."""
        with self._lock:
            numbers = self._index.numbers()
            return numbers[self._index.are_alive(numbers)]

    def page(self, number: int) -> PageSignature:
        with self._lock:
            return self._index.table.page(number)

    def pairs(self, rule: Rule) -> Iterator[Pair]:
        """Yield the :func:`~scrapy_neardup.matching.all_pairs.matching_pairs` of stored pages.

        Meanwhile the store must not change.
        """
        method = self._index.method
        if method is not None:
            near = self._index.near_by_method
            return pairs_by(method, self.numbers().tolist(), near, self._index.table, rule)
        with self._lock:
            known = self.numbers()
            numbers, fingerprints = self._index.all()
            read = self._index.are_alive(numbers)
        return matching_pairs(numbers[read], fingerprints[read], self._index.table, rule, known)

    def matches(self, signature: PageSignature, rule: Rule) -> list[tuple[PageSignature, Match]]:
        """Return all stored pages that a page is a near-duplicate of, most similar first.

        Neither is the page recorded, nor is anything learned from it.
        """
        table, method = self._index.table, self._index.method
        with self._lock:
            if method is not None:
                found = self._index.near_by_method(signature.value)
                committed_only = [match for match in found if table.is_committed(match.number)]
                return list(matches_by(method, signature, committed_only, table, rule))
            near = self._index.near(signature.fingerprint, rule.max_distance)
            pages = table.pages(near.keys[~table.are_reserved(near.keys)].tolist())
        outcomes = ((page, rule.compare(signature, page, self.boilerplates)) for page in pages)
        matches = [(page, outcome) for page, outcome in outcomes if isinstance(outcome, Match)]
        return sorted(matches, key=lambda each: -each[1].similarity)

    def compact(self) -> int:
        if self.ttl is not None:
            self.hints.forget_duplicates(int(time.time() - self.ttl))
            self.hints.forget_visits(int(time.time() - self.ttl))
            self._archive.forget_unstored(int(time.time() - self.ttl))
        with self._lock:
            numbers = self._index.numbers()
            expired = numbers[~self._index.are_alive(numbers)]
        count = 0
        for number in expired.tolist():
            with self._lock:
                if self._index.table.is_committed(number):
                    self._index.remove(number, self._index.table.page(number))
                    count += 1
        self._archive.compact()
        with self._lock:
            if self._bodies is not None:
                self._bodies.compact(lambda key: bool(self._index.versions(key)))
        return count

    def flush(self) -> None:
        """Write what is pending, now.

        :raises StoreError: when it cannot be written; it stays pending.
        """
        self._archive.flush()

    def close(self) -> None:
        with self._lock:
            if self.users.is_closed or not self.users.leave():
                return
            for ticket in list(self._index.table.reserved):
                self.release(ticket)
            try:
                self._archive.close()
            finally:
                if self._bodies is not None:
                    self._bodies.close()
                    self._bodies = None
                self.users.at_close()

    def _new_body_cache(self, max_bytes: int) -> BodyCache:
        return BodyCache(max_bytes, self._body_evicted)

    def _body_evicted(self, key: str) -> None:
        # If this fails, the page is completed when its body is next requested.
        with suppress(StoreError):
            self.complete(key, None)

    def _require_open(self, signature: PageSignature) -> None:
        """Check that the store is open and holds signatures of the same recipe."""
        if self.users.is_closed:
            raise StoreError(self.name, "it has been closed")
        self.adopt(signature.recipe, {})

    def _claim(self, signature: PageSignature, rule: Rule) -> Claim:
        self._require_open(signature)
        if (reserved := self._index.reserved(signature.key)) is not None:
            return _blocked_by(reserved, revisit(signature, reserved.page))
        known = self._index.unexpired(signature.key)
        unchanged = None if known is None else unchanged_since(known[1], signature)
        if unchanged is not None:
            signature = unchanged
        elif signature.passages:
            recorded = self._passages_or_claim(signature, rule, known)
            if isinstance(recorded, Claim):
                return recorded
            signature = replace(signature, passages=recorded.tobytes())
        if unchanged is None:
            # Of a page that has not changed, everything was learned when it was stored.
            learn(self.boilerplates.of(signature.site), signature)
        claim = self._judged_beside(known, signature, rule)
        return claim if unchanged is None else replace(claim, unchanged=unchanged)

    def _passages_or_claim(
        self, signature: PageSignature, rule: Rule, known: tuple[int, PageSignature] | None
    ) -> Passages | Claim:
        """Return the passages to record, or a claim that says which pages must be read first."""
        alike = self._index.alike(signature, rule)
        table = self._index.table
        others = [table.page(number) for number in alike.numbers]
        if known is not None:
            others.append(known[1])
        late = self.reads_facts_late
        needed = needed_readings(signature, others, suffice=alike.suffice, reads_facts_late=late)
        return alike.recorded if needed.is_none else claim_after(signature, needed)

    def _judged_beside(
        self, known: tuple[int, PageSignature] | None, signature: PageSignature, rule: Rule
    ) -> Claim:
        """Judge a page by what is known under its own key, then by the other pages."""
        if known is None:
            return self._judged(signature, rule)
        if (items := self._index.table.items(known[0])) != NO_ITEMS:
            # An unchanged page keeps its number, unless a TTL could expire it before its item is
            # stored.
            renews = known[0] if signature is known[1] and self.ttl is None else None
            ticket = self._index.reserve(signature, renews=renews)
            return Claim(revisit(signature, known[1]), ticket, items=items)
        claim = self._judged(signature, rule)
        if claim.is_blocked or claim.verdict.is_duplicate:
            return claim
        return replace(claim, verdict=revisit_of_links(claim.verdict, signature, known[1]))

    def _judged(self, signature: PageSignature, rule: Rule) -> Claim:
        """Judge a page by the committed ones; a reserved one may have to be waited for."""
        if not signature.is_read:
            verdict = Verdict("new", signature.url, Reason.NO_MATCH)
            return Claim(verdict, self._index.reserve(signature))
        try:
            found = self._found(signature, rule)
        except FactsNeeded as needed:
            return claim_after(signature, needed.readings)
        if found.blocker is not None:
            return _blocked_by(self._index.table.reserved[found.blocker], found.verdict)
        verdict = self._index.unless_edited(found.verdict, signature)
        if verdict.is_duplicate:
            return Claim(verdict, items=found.items)
        return Claim(verdict, self._index.reserve(signature))

    def _found(self, signature: PageSignature, rule: Rule) -> Found:
        table, method = self._index.table, self._index.method
        if method is not None:
            matches = self._index.near_by_method(signature.value)
            numbers = np.array([match.number for match in matches], np.intp)
            reserved = table.are_reserved(numbers)
            return find_original_by(method, signature, matches, table, rule, is_reserved=reserved)
        near = self._index.near(signature.fingerprint, rule.max_distance)
        reserved = table.are_reserved(near.keys)
        return find_original(signature, near, table, rule, self.boilerplates, is_reserved=reserved)


def _blocked_by(reserved: Reservation, verdict: Verdict) -> Claim:
    reserved.outcome = reserved.outcome or Future()
    return Claim(verdict, is_blocked=True, outcome=reserved.outcome)
