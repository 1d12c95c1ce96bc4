"""The state of a store that lives in one process: what is reserved, and what was committed.

Lookups run against an index in memory. What is needed of one page alone, its sketch, title and
address, is kept by an archive: a dictionary, or a file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from ..exceptions import InvalidOption, SignatureMismatch, StoreError
from ..hashing.minhash import SKETCH_BINS
from ..hashing.simhash_index import Candidates, SimhashIndex
from ..matching.all_pairs import Pair, matching_pairs
from ..matching.candidates import FIRST_BINS, SUMMARY_DTYPE, Summaries, find_original, site_digest
from ..matching.rule import Rule, learn
from ..matching.site_boilerplate import MAX_ENTRIES, Boilerplates, SiteBoilerplate
from ..matching.stored_items import NO_ITEMS, OWN_ITEMS
from ..matching.verdict import Verdict, revisit, revisit_of_links
from ..signatures.signature import PageSignature
from .archive import Archive
from .base import Claim, Entry, Ticket
from .codec import packed, parts_of, row_of, sketch_in, unpacked, with_items
from .digests import KeyTable, key_digest, key_seed
from .growing_rows import Column, Rows
from .hints import known_at, take_changes

#: Each claim that reserves a page takes a number, also where the page is known or is released.
MOST_NUMBERS = 1 << 32
_LATEST = np.iinfo(SUMMARY_DTYPE["stored_at"]).max


@dataclass(slots=True)
class _Reservation:
    """A page that was claimed.

    :ivar digest: of its key.
    :ivar row: see :func:`~scrapy_neardup.stores.codec.row_of`.
    :ivar outcome: for those who wait for it; few have any.
    """

    page: PageSignature
    digest: int
    row: bytes
    packed: bytes
    outcome: Future[None] | None = None

    def settle(self) -> None:
        """Tell those who wait."""
        if self.outcome is not None:
            self.outcome.set_result(None)


class InProcessStore:
    """See :class:`~scrapy_neardup.stores.Store`.

    :param archive: where the pages are kept.
    :param secret: key of the sketches, 16 to 64 bytes.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    """

    is_remote = False

    def __init__(
        self, name: str, archive: Archive, secret: bytes, ttl: float | None = None
    ) -> None:
        self.name = name
        self.secret = secret
        #: Called when the last user has closed it.
        self.at_close: Callable[[], None] = lambda: None
        self._archive = archive
        self._ttl = ttl
        self._lock = threading.RLock()
        self._index = SimhashIndex()
        self._keys = KeyTable()
        self._key_seed = key_seed(secret)
        self._reserved: dict[int, _Reservation] = {}
        # Nothing below refers to the store: whoever drops it gets its memory back at once, and not
        # when cycles are collected, which is seldom in a process with much in memory.
        self._signatures = _StoredSignatures(archive, self._reserved)
        self.boilerplates = Boilerplates(partial(_teach, archive, self._signatures, self._keys))
        self._reserved_keys: dict[str, int] = {}
        self._rules = archive.rules()
        self._recipe = ""
        self._next = 0
        self._commits = 0
        self._users = 1
        self._load()

    @property
    def problem(self) -> str | None:
        return self._archive.problem

    @property
    def forgotten(self) -> int:
        return self._archive.forgotten

    def __len__(self) -> int:
        return len(self._index) - len(self._reserved)

    @property
    def is_closed(self) -> bool:
        """Has its last user closed it?"""
        with self._lock:
            return not self._users

    @property
    def ttl(self) -> float | None:
        """Seconds after which a page is forgotten."""
        return self._ttl

    def shared(self) -> InProcessStore | None:
        """This store for one user more, each of whom closes it; ``None`` when it is closed.

        Waits for one that is being closed: what is opened after it finds all that it wrote.
        """
        with self._lock:
            if not self._users:
                return None
            self._users += 1
            return self

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        with self._lock:
            if self._recipe:
                if recipe != self._recipe:
                    raise SignatureMismatch(self._recipe, recipe)
                return
            known, known_parts = self._archive.recipe
            if known != recipe:
                if len(self):
                    raise SignatureMismatch(known, recipe, known_parts, parts)
                self._archive.adopt(recipe, parts)
            self._recipe = self._signatures.recipe = recipe

    def claim(self, signature: PageSignature, rule: Rule) -> Claim:
        with self._lock:
            self._require_open()
            self.adopt(signature.recipe, {})
            learn(self.boilerplates.of(signature.site), signature)
            if (number := self._reserved_keys.get(signature.key)) is not None:
                return self._blocked_by(number, revisit(signature, self._reserved[number].page))
            known = self._known_page(signature.key)
            if known is None or self._has_expired(known[0]):
                return self._judged(signature, rule)
            if (items := self._signatures.items_at(known[0])) != NO_ITEMS:
                return Claim(revisit(signature, known[1]), self._reserve(signature), items=items)
            claim = self._judged(signature, rule)
            if claim.is_blocked or claim.verdict.is_duplicate:
                return claim
            return replace(claim, verdict=revisit_of_links(claim.verdict, signature, known[1]))

    def commit(self, ticket: Ticket, *, confirmed: bool = True, items: int = OWN_ITEMS) -> None:
        with self._lock:
            if (reserved := self._reservation(ticket)) is None:
                return
            assert isinstance(ticket, int)
            # May fail, and is done before anything changes: the reservation can still be released.
            before = self._known_page(reserved.page.key)
            if items == NO_ITEMS and before is not None and self._has_items(before[0]):
                self.release(ticket)
                return
            if before is not None:
                self._remove(*before)
            self._withdraw(ticket, reserved)
            self._keys.add(reserved.digest, ticket)
            self._commits += 1
            mark = 0 if confirmed else self._commits
            row = with_items(reserved.row, items)
            self._signatures.put(ticket, row)
            self._archive.put(ticket, row, reserved.packed, mark)
        reserved.settle()

    def release(self, ticket: Ticket) -> None:
        with self._lock:
            if (reserved := self._reservation(ticket)) is None:
                return
            assert isinstance(ticket, int)
            self._withdraw(ticket, reserved)
            self._index.remove(reserved.page.fingerprint, ticket)
        reserved.settle()

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
        if stored_at is not None and not 0 <= stored_at <= _LATEST:
            raise InvalidOption("stored_at", stored_at, f"seconds since 1970, 0 to {_LATEST}")
        with self._lock:
            self._require_open()
            self.adopt(signature.recipe, {})
            learn(self.boilerplates.of(signature.site), signature)
            self.commit(self._reserve(signature, stored_at), confirmed=confirmed, items=items)

    def find(self, key: str) -> Entry | None:
        with self._lock:
            known = self._known_page(key)
            return None if known is None or self._has_expired(known[0]) else self._entry(*known)

    def forget(self, key: str) -> bool:
        with self._lock:
            if (known := self._known_page(key)) is None:
                return False
            self._remove(*known)
            return True

    def entries(self) -> Iterator[Entry]:
        for numbers in self._archive.numbers():
            for number in numbers.tolist():
                with self._lock:
                    # It may have been replaced or forgotten since.
                    if not self._is_committed(number):
                        continue
                    entry = self._entry(number, self._signatures.page(number))
                yield entry

    def numbers(self) -> npt.NDArray[np.intp]:
        """Numbers of all pages remembered, ascending, which is the order they were stored in."""
        return self._remembered()[0]

    def page(self, number: int) -> PageSignature:
        """The page of this number."""
        with self._lock:
            return self._signatures.page(number)

    def pairs(self, rule: Rule) -> Iterator[Pair]:
        """All pairs of pages remembered that the rule takes for one content.

        See :func:`~scrapy_neardup.matching.all_pairs.matching_pairs`. While they are asked for,
        the store must not change.
        """
        return matching_pairs(*self._remembered(), self._signatures, rule)

    def rules(self) -> dict[str, bytes]:
        with self._lock:
            return dict(self._rules)

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        with self._lock:
            self._require_open()
            self._archive.put_rules(take_changes(self._rules, rules))

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        with self._lock:
            return self._archive.known_duplicates(since)

    def note_duplicates(self, copies: npt.NDArray[np.void], seen_at: int) -> None:
        known = known_at(copies, seen_at)
        with self._lock:
            self._require_open()
            self._archive.note_duplicates(known)

    def compact(self) -> int:
        if self._ttl is not None:
            with self._lock:
                self._archive.forget_duplicates(int(time.time() - self._ttl))
        count = 0
        for numbers in self._archive.numbers():
            for number in numbers.tolist():
                with self._lock:
                    if self._is_committed(number) and self._has_expired(number):
                        self._remove(number, self._signatures.page(number))
                        count += 1
        self._archive.compact()
        return count

    def flush(self) -> None:
        """Write what waits to be written, now.

        :raises StoreError: when it cannot be written; it goes on waiting.
        """
        self._archive.flush()

    def close(self) -> None:
        with self._lock:
            if not self._users:
                return
            self._users -= 1
            if self._users:
                return
            for ticket in list(self._reserved):
                self.release(ticket)
            try:
                self._archive.close()
            finally:
                self.at_close()

    def _require_open(self) -> None:
        if not self._users:
            raise StoreError(self.name, "it has been closed")

    def _load(self) -> None:
        self._signatures.recipe = self._archive.recipe[0]
        oldest = 0 if self._ttl is None else int(time.time() - self._ttl)
        fingerprints, digests, loaded = Column("<u8"), Column("<u8"), Column("<u4")
        for all_numbers, all_rows in self._archive.load():
            self._next = int(all_numbers[-1]) + 1
            old = all_rows["summaries"]["stored_at"] < oldest
            for first, last in _runs(all_numbers, old):
                self._archive.remove(first, last)
            numbers, rows = all_numbers[~old], all_rows[~old]
            self._signatures.extend(numbers, rows)
            fingerprints.append(rows["fingerprint"])
            digests.append(rows["summaries"]["key"])
            loaded.append(numbers)
        # All at once, so that each bucket is made once, and as large as it must be.
        self._keys.extend(digests.values, loaded.values)
        del digests
        self._index.extend(fingerprints.values, loaded.values)

    def _judged(self, signature: PageSignature, rule: Rule) -> Claim:
        """The verdict by what was committed; of what is only reserved, what to wait for."""
        near = self._without_expired(self._index.near(signature.fingerprint, rule.max_distance))
        is_open = np.isin(near.keys, list(self._reserved))
        found = find_original(
            signature, near, self._signatures, rule, self.boilerplates, is_open=is_open
        )
        if found.blocker is not None:
            return self._blocked_by(found.blocker, found.verdict)
        if found.verdict.is_duplicate:
            return Claim(found.verdict, items=found.items)
        return Claim(found.verdict, self._reserve(signature))

    def _blocked_by(self, number: int, verdict: Verdict) -> Claim:
        reserved = self._reserved[number]
        reserved.outcome = reserved.outcome or Future()
        return Claim(verdict, is_blocked=True, outcome=reserved.outcome)

    def _reserve(self, signature: PageSignature, stored_at: int | None = None) -> int:
        number = self._next
        if number >= MOST_NUMBERS:
            raise StoreError(
                self.name,
                f"it has given out all its {MOST_NUMBERS:,} numbers; export its pages and import "
                "them into another store or namespace",
            )
        self._next += 1
        now = int(time.time()) if stored_at is None else stored_at
        digest = self._digest(signature.key)
        row = row_of(signature, digest, now)
        self._signatures.put(number, row)
        self._index.add(signature.fingerprint, number)
        self._reserved[number] = _Reservation(signature, digest, row, packed(signature))
        self._reserved_keys[signature.key] = number
        return number

    def _reservation(self, ticket: Ticket) -> _Reservation | None:
        """``None`` where it is none, or none any more."""
        return self._reserved.get(ticket) if isinstance(ticket, int) else None

    def _withdraw(self, number: int, reserved: _Reservation) -> None:
        del self._reserved[number]
        self._reserved_keys.pop(reserved.page.key, None)

    def _remove(self, number: int, page: PageSignature) -> None:
        try:
            self._index.remove(page.fingerprint, number)
            self._keys.remove(self._digest(page.key), number)
        except KeyError:
            raise StoreError(
                self.name, "its index is damaged; put a whole copy in its place"
            ) from None
        self._archive.remove(number, number)

    def _is_committed(self, number: int) -> bool:
        return _is_committed(self._signatures, self._keys, number)

    def _known_page(self, key: str) -> tuple[int, PageSignature] | None:
        """Number and signature of the page that was committed under this key."""
        digest = self._digest(key)
        if digest not in self._keys:
            return None
        numbers = self._keys.numbers(digest)
        numbers = numbers[self._signatures.summaries(numbers)["key"] == digest]
        for number in numbers.tolist():
            if (page := self._signatures.page(number)).key == key:
                return number, page
        return None

    def _digest(self, key: str) -> int:
        return key_digest(key, self._key_seed)

    def _has_items(self, number: int) -> bool:
        """Was an item of this page stored, and is it still remembered?"""
        return self._signatures.items_at(number) != NO_ITEMS and not self._has_expired(number)

    def _has_expired(self, number: int) -> bool:
        if self._ttl is None:
            return False
        return bool(self._signatures.summaries_at(number)["stored_at"] < time.time() - self._ttl)

    def _without_expired(self, near: Candidates) -> Candidates:
        if self._ttl is None or not near.keys.size:
            return near
        alive = self._are_alive(near.keys)
        return Candidates(near.keys[alive], near.distances[alive])

    def _are_alive(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Which of these pages have not expired?"""
        if self._ttl is None:
            return np.ones(numbers.size, bool)
        alive: npt.NDArray[np.bool_] = (
            self._signatures.summaries(numbers)["stored_at"] >= time.time() - self._ttl
        )
        return alive

    def _remembered(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint64]]:
        """Numbers, ascending, and fingerprints of what is committed and has not expired."""
        with self._lock:
            fingerprints, keys = self._index.entries()
            order = np.argsort(keys)
            numbers = keys[order].astype(np.intp)
            is_open = np.isin(numbers, np.fromiter(self._reserved, np.intp))
            kept = self._are_alive(numbers) & ~is_open
        return numbers[kept], fingerprints[order][kept]

    def _entry(self, number: int, page: PageSignature) -> Entry:
        stored_at = int(self._signatures.summaries_at(number)["stored_at"])
        return Entry(page, stored_at, self._signatures.items_at(number))


class _StoredSignatures:
    """The pages by their numbers; see :class:`~scrapy_neardup.matching.candidates.SignatureSource`.

    What is asked of many pages at once stands in arrays; the rest is read one by one.

    :param archive: has those that are committed.
    :param reserved: the others.
    """

    def __init__(self, archive: Archive, reserved: Mapping[int, _Reservation]) -> None:
        self.recipe = ""
        self._archive = archive
        self._reserved = reserved
        self._summaries = Rows(SUMMARY_DTYPE)
        # By themselves: to look at them in many pages moves little memory.
        self._first_bins = Rows(np.uint8, FIRST_BINS)

    def put(self, number: int, row: bytes) -> None:
        _, self._summaries[number], self._first_bins[number] = parts_of(row)

    def extend(self, numbers: npt.NDArray[np.uint32], rows: npt.NDArray[np.void]) -> None:
        self._summaries.put(numbers, rows["summaries"])
        self._first_bins.put(numbers, rows["first_bins"])

    def page(self, number: int) -> PageSignature:
        return unpacked(self._read(number), self.recipe)

    def pages(self, numbers: Sequence[int]) -> list[PageSignature]:
        return [unpacked(data, self.recipe) for data in self._read_all(numbers)]

    def __contains__(self, number: int) -> bool:
        """May it be here? Of what was never put this may be said as well."""
        return number in self._summaries

    def summaries_at(self, number: int) -> Summaries:
        return self._summaries[number]

    def key_at(self, number: int) -> int:
        return int(self._summaries[number]["key"])

    def items_at(self, number: int) -> int:
        return int(self._summaries[number]["items"])

    def summaries(self, numbers: npt.NDArray[np.intp]) -> Summaries:
        return self._summaries.take(numbers)

    def first_bins(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        return self._first_bins.take(numbers)

    def sketches(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        joined = b"".join(map(sketch_in, self._read_all(numbers.tolist())))
        return np.frombuffer(joined, np.uint8).reshape(numbers.size, SKETCH_BINS)

    def _read(self, number: int) -> bytes:
        reserved = self._reserved.get(number)
        return self._archive.read(number) if reserved is None else reserved.packed

    def _read_all(self, numbers: Sequence[int]) -> list[bytes]:
        stored = [number for number in numbers if number not in self._reserved]
        found = dict(zip(stored, self._archive.read_all(stored), strict=True))
        return [
            found[number] if number in found else self._reserved[number].packed
            for number in numbers
        ]


def _is_committed(signatures: _StoredSignatures, keys: KeyTable, number: int) -> bool:
    return number in signatures and keys.has(signatures.key_at(number), number)


def _teach(
    archive: Archive,
    signatures: _StoredSignatures,
    keys: KeyTable,
    site: str,
    boilerplate: SiteBoilerplate,
) -> None:
    """Learn again what had been learned of a site."""
    numbers = [
        number
        for number in archive.of_site(site_digest(site), MAX_ENTRIES)
        if _is_committed(signatures, keys, number)
    ]
    for page in signatures.pages(numbers):
        if page.site == site:
            learn(boilerplate, page)


def _runs(
    numbers: npt.NDArray[np.uint32], chosen: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    """First and last number of each run of those that were chosen."""
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    for start, end in edges.reshape(-1, 2).tolist():
        yield int(numbers[start]), int(numbers[end - 1])
