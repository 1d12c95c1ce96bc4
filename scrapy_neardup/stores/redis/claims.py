"""Judges a page by those that Redis holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...hashing.minhash import SKETCH_BINS
from ...hashing.simhash import hamming_distance
from ...hashing.simhash_index import Candidates
from ...matching.candidates import Summaries, find_original
from ...matching.passage_candidates import passage_candidates
from ...matching.rule import Rule, learn
from ...matching.site_boilerplate import Boilerplates
from ...matching.stored_items import NO_ITEMS, OWN_ITEMS
from ...matching.unread_texts import unread_texts
from ...matching.verdict import Verdict, revisit, revisit_of_links, waited
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ..base import Claim, unchanged_since
from ..codec import ROW, sketch_in, unpacked
from .bodies import PagePlace, RedisBodyCache
from .layout import packed_number
from .pages import (
    Holder,
    Lookup,
    PageReader,
    RedisPages,
    StoredRow,
    holder_of,
    parsed_rows,
)
from .passages import FoundSharers, SharingPage, SharingPages, bucket_fields


class Changed(Exception):
    """Raised when what a claim looks at was changed meanwhile: it has to look again."""


class Judgement(NamedTuple):
    """A verdict, with what it rests on.

    :ivar blocker: number of a reserved page that has to be waited for; empty where there is none.
    :ivar items: see :attr:`~scrapy_neardup.stores.base.Claim.items`.
    :ivar passages: those that are to be recorded of the page.
    :ivar answer: the claim, where other pages have to be read or to be waited for first.
    :ivar unchanged: see :attr:`~scrapy_neardup.stores.base.Claim.unchanged`.
    """

    verdict: Verdict
    lookup: Lookup
    blocker: bytes = b""
    items: int = OWN_ITEMS
    passages: bytes = b""
    answer: Claim | None = None
    unchanged: PageSignature | None = None


class RedisSignatureSource:
    """See :class:`~scrapy_neardup.matching.candidates.SignatureSource`."""

    def __init__(self, reader: PageReader, recipe: str) -> None:
        self._reader = reader
        self._recipe = recipe
        self._rows = np.empty(0, ROW)
        self._places: dict[int, int] = {}
        self._pages: dict[int, bytes] = {}

    def load(self, near: Candidates) -> tuple[Candidates, list[Holder | None]]:
        """Read rows; return the pages that are there, and who holds each."""
        rows = self._reader.rows([packed_number(n) for n in near.keys.tolist()])
        there = [place for place, row in enumerate(rows) if row is not None]
        found = [row for row in rows if row is not None]
        self._rows = parsed_rows(found)
        kept = Candidates(near.keys[there], near.distances[there])
        self._places = {number: place for place, number in enumerate(kept.keys.tolist())}
        return kept, [holder_of(row) for row in found]

    def summaries(self, numbers: npt.NDArray[np.intp]) -> Summaries:
        summaries: Summaries = self._rows["summary"][self._at(numbers)]
        return summaries

    def first_bins(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        bins: npt.NDArray[np.uint8] = self._rows["first_bins"][self._at(numbers)]
        return bins

    def sketches(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        self._read(numbers.tolist())
        joined = b"".join([sketch_in(self._pages[number]) for number in numbers.tolist()])
        return np.frombuffer(joined, np.uint8).reshape(numbers.size, SKETCH_BINS)

    def page(self, number: int) -> PageSignature:
        self._read([number])
        return unpacked(self._pages[number], self._recipe)

    def _at(self, numbers: npt.NDArray[np.intp]) -> list[int]:
        return [self._places[number] for number in numbers.tolist()]

    def _read(self, numbers: list[int]) -> None:
        """Read those of these pages that were not read yet.

        :raises Changed: when one of them is there no more.
        """
        missing = [number for number in numbers if number not in self._pages]
        if not missing:
            return
        found = self._reader.pages([packed_number(n) for n in missing])
        for number, page in zip(missing, found, strict=True):
            if page is None:
                raise Changed
            self._pages[number] = page


@dataclass(frozen=True)
class PageJudge:
    """Judges one page.

    :param key: digest of the page's key.
    :param oldest: what was stored before it, in seconds since 1970, has expired.
    :param is_gone: returns whether a run is dead. Then its pages are there no more.
    :param judging: held while a site's boilerplate is asked, which only one thread may do.
    :param bodies: of pages that were read quickly.
    """

    pages: RedisPages
    signature: PageSignature
    rule: Rule
    key: bytes
    boilerplates: Boilerplates
    oldest: float
    is_gone: Callable[[bytes], bool]
    judging: Callable[[], AbstractContextManager[None]]
    bodies: RedisBodyCache

    def judge(self) -> Judgement:
        """Return the judgement on the page.

        :raises Changed: when what was found is there no more.
        """
        page = self.signature
        fingerprint = page.fingerprint if page.is_read else None
        sampled = bucket_fields(page.passages)
        lookup = self.pages.look(fingerprint, self.rule.max_distance, self.key, sampled)
        found = self._judge_by(lookup)
        if found.answer is None and not found.blocker and found.verdict.is_duplicate:
            return self._unless_unread(found, lookup)
        return found

    def _judge_by(self, lookup: Lookup) -> Judgement:
        page = self.signature
        if lookup.reserved:
            before = self._page(self._stored(lookup.reserved))
            return Judgement(revisit(page, before or page), lookup, lookup.reserved)
        stored = self._stored(lookup.known) if lookup.known else None
        before = None if stored is None else self._page(stored)
        if stored is not None and before is not None:
            unchanged = unchanged_since(before, page)
            if unchanged is not None:
                judge = replace(self, signature=unchanged)
                return judge._unchanged(lookup, stored, before)
        recorded = b""
        if page.passages:
            by_passages = self._by_passages(lookup, before)
            if by_passages.answer is not None:
                return by_passages
            recorded = by_passages.passages
            with self.judging():
                learn(self.boilerplates.of(page.site), page)
            if not page.is_read:
                return by_passages
        if stored is not None and before is not None:
            return self._revisited(lookup, stored, before)._replace(passages=recorded)
        with self.judging():
            return self._judged(lookup)._replace(passages=recorded)

    def _unchanged(self, lookup: Lookup, stored: StoredRow, before: PageSignature) -> Judgement:
        """Judge a page by its stored signature, which holds for it still."""
        page = self.signature
        if page.is_read and stored.items == NO_ITEMS:
            lookup = self.pages.look(page.fingerprint, self.rule.max_distance, self.key)
        with self.judging():
            learn(self.boilerplates.of(page.site), page)
        found = self._revisited(lookup, stored, before)
        return found._replace(passages=page.passages, unchanged=page)

    def _by_passages(self, lookup: Lookup, before: PageSignature | None) -> Judgement:
        """Judge by passages alone: by them the page is new, or others have to be read first.

        :param before: what is stored under the page's own address.
        """
        page = self.signature
        sharing = SharingPages(self.pages, page.recipe)
        with self.judging():
            alike = passage_candidates(
                page, FoundSharers(lookup.buckets), sharing, self.boilerplates, self.rule
            )
        others = self._present(sharing.found(alike.numbers), lookup)
        unread = [other for other in others if not other.page.is_read]
        verdict = waited(page)
        if self._must_wait_for_body(unread):
            return Judgement(verdict, lookup, answer=Claim(verdict, is_blocked=True))
        keys = {other.page.key for other in unread}
        if before is not None and before.can_still_be_read:
            keys.add(before.key)
        is_like_none = not others and before is None and alike.suffice
        if keys or not (page.is_read or is_like_none):
            answer = Claim(verdict, must_read=not page.is_read, unread=tuple(keys))
            return Judgement(verdict, lookup, answer=answer)
        new = Verdict("new", page.url, Reason.NO_MATCH)
        return Judgement(new, lookup, passages=alike.recorded.tobytes())

    def _unless_unread(self, found: Judgement, lookup: Lookup) -> Judgement:
        """Return a judgement, unless other pages have to be read in full before it is final."""
        sharing = SharingPages(self.pages, self.signature.recipe)
        sharers = FoundSharers(lookup.buckets)
        numbers = unread_texts(self.signature, found.verdict, sharers, sharing)
        unread = self._present(sharing.found(numbers), lookup)
        if not unread:
            return found
        verdict = waited(self.signature)
        if self._must_wait_for_body(unread):
            answer = Claim(verdict, is_blocked=True)
        else:
            answer = Claim(verdict, unread=tuple(other.page.key for other in unread))
        return Judgement(verdict, lookup, answer=answer)

    def _present(self, sharing: Iterable[SharingPage], lookup: Lookup) -> list[SharingPage]:
        """Return those of these pages that count.

        :raises Changed: when one of them was completed after the lookup, or its run is dead.
        """
        others = [
            other
            for other in sharing
            if other.row.stored_at >= self.oldest and (other.page.is_read or other.page.passages)
        ]
        if any(self.is_gone(run) for run in {o.row.holder.run for o in others if o.row.holder}):
            raise Changed
        page, seen = self.signature, set(lookup.near.keys.tolist())
        for other in others:
            if page.is_read and other.page.is_read and other.number not in seen:
                distance = hamming_distance(page.fingerprint, other.page.fingerprint)
                if distance <= self.rule.max_distance:
                    raise Changed
        return others

    def _must_wait_for_body(self, unread: Sequence[SharingPage]) -> bool:
        """Return whether a page is reserved whose body is on its way, or will never be there.

        :raises Changed: when a stored page has no body any more: nothing is compared with it.
        """
        site = self.pages.part.site
        missing = self.bodies.missing([PagePlace(site, packed_number(o.number)) for o in unread])
        numbers = {place.number for place in missing}
        gone = [other for other in unread if packed_number(other.number) in numbers]
        if any(other.row.holder and other.row.holder.is_reserved for other in gone):
            return True
        for other in gone:
            self.pages.give_up(packed_number(other.number), other.row.page, other.page)
        if gone:
            raise Changed
        return False

    def _revisited(self, lookup: Lookup, stored: StoredRow, before: PageSignature) -> Judgement:
        blocker = b"" if self.pages.is_settled(stored.holder) else lookup.known
        if blocker or stored.items != NO_ITEMS:
            return Judgement(revisit(self.signature, before), lookup, blocker, stored.items)
        with self.judging():
            found = self._judged(lookup)
        if found.blocker or found.verdict.is_duplicate:
            return found
        verdict = revisit_of_links(found.verdict, self.signature, before)
        return found._replace(verdict=verdict)

    def _stored(self, number: bytes) -> StoredRow:
        stored = self.pages.stored(number)
        if stored is None or (stored.holder and self.is_gone(stored.holder.run)):
            raise Changed
        return stored

    def _page(self, stored: StoredRow) -> PageSignature | None:
        """Return the page of this key; ``None`` when it expired, or only its digest is equal."""
        page = unpacked(stored.page, self.signature.recipe)
        is_it = page.key == self.signature.key and stored.stored_at >= self.oldest
        return page if is_it else None

    def _judged(self, lookup: Lookup) -> Judgement:
        """Judge by what is settled; what is not may have to be waited for."""
        if not self.signature.is_read:
            return Judgement(Verdict("new", self.signature.url, Reason.NO_MATCH), lookup)
        source = RedisSignatureSource(self.pages, self.signature.recipe)
        near, holders = source.load(lookup.near)
        if any(self.is_gone(run) for run in {holder.run for holder in holders if holder}):
            raise Changed
        alive = source.summaries(near.keys)["stored_at"] >= self.oldest
        is_settled = np.array([self.pages.is_settled(holder) for holder in holders], bool)
        found = find_original(
            self.signature,
            Candidates(near.keys[alive], near.distances[alive]),
            source,
            self.rule,
            self.boilerplates,
            is_reserved=~is_settled[alive],
        )
        blocker = b"" if found.blocker is None else packed_number(found.blocker)
        return Judgement(found.verdict, lookup, blocker, found.items)
