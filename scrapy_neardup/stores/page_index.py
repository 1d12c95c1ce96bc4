"""Finds the pages of a store that lives in one process, by fingerprint and by key."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from .._util.urls import page_key
from ..exceptions import MethodFailed, StoreError
from ..hashing.postings import Postings
from ..hashing.simhash_index import Candidates, SimhashIndex
from ..matching.candidates import site_digest
from ..matching.passage_candidates import PassageCandidates, passage_candidates
from ..matching.rule import Rule, learn
from ..matching.site_boilerplate import MAX_ENTRIES, Boilerplates, SiteBoilerplate
from ..matching.unread_texts import unread_texts
from ..matching.verdict import Verdict, revisit_of_copy
from ..methods import Method, MethodIndex, MethodMatch
from ..methods.base import guarded
from ..signatures.passages import passages_in
from ..signatures.signature import PASSAGES_PART, PageSignature
from .archive import Archive
from .codec import key_digest, key_seed, packed, passages_of, row_of, unpacked, was_read, with_items
from .page_table import PageTable, Reservation, UnreadPages

#: Each claim that reserves a page takes a number, also where the page is known or is released.
MOST_NUMBERS = 1 << 32
#: Committed pages that were looked up last: a page is looked up some four times until it is stored.
_RECENT = 256
#: Pages that are read at once to load their passages.
_PAGES_AT_ONCE = 1 << 12


class PageIndex:
    """The reserved and the committed pages. Its user must hold a lock.

    It has many methods because a page that is reserved, committed, completed or removed changes all
    of its indexes at once: fingerprints, passages, keys and rows.

    It does not refer to its store: whoever drops that gets its memory back at once, and not when
    cycles are collected, which is seldom in a process with much in memory.

    :param store: the name of the store, for errors.
    :param archive: has the committed pages, which are loaded.
    :param ttl: seconds after which a page expires; ``None`` for never.
    """

    def __init__(
        self, store: str, archive: Archive, secret: bytes, ttl: float | None, recipe: str
    ) -> None:
        self.table = PageTable(archive, recipe)
        self._store = store
        self._archive = archive
        self._ttl = ttl
        self._key_seed = key_seed(secret)
        #: Of pages that were read in full, and passages of all that were read quickly.
        self._fingerprints = SimhashIndex()
        self._passages = Postings()
        #: The method that judges in place of the rule, and the pages that have values of it.
        self.method: Method | None = None
        self._values: MethodIndex | None = None
        self._reserved_keys: dict[str, int] = {}
        #: Reservations of committed pages that are as they were, by the numbers of these.
        self._renewals: dict[int, Reservation] = {}
        self._recent: dict[str, tuple[int, PageSignature]] = {}
        self._next = 0
        self.boilerplates = Boilerplates(partial(_teach, archive, self.table))
        self._load()

    def __len__(self) -> int:
        return len(self.table.keys)

    def reserved(self, key: str) -> Reservation | None:
        number = self._reserved_keys.get(key)
        return None if number is None else self.table.reserved[number]

    def committed(self, key: str) -> tuple[int, PageSignature] | None:
        """Return number and signature of the page that was committed under this key."""
        if (recent := self._recent.get(key)) is not None:
            return recent
        if (found := self._find_committed(key)) is not None:
            self._recent[key] = found
            if len(self._recent) > _RECENT:
                del self._recent[next(iter(self._recent))]
        return found

    def unexpired(self, key: str) -> tuple[int, PageSignature] | None:
        """Return what :meth:`committed` returns, unless the page has expired."""
        known = self.committed(key)
        return None if known is None or self.has_expired(known[0]) else known

    def note_unstored(self, page: PageSignature) -> None:
        """Keep the signature of a page that was not stored, if later runs can find it."""
        self._archive.note_unstored(key_digest(page.key, self._key_seed), packed(page))

    def find_unstored(self, key: str) -> PageSignature | None:
        """Return the signature of a page that was not stored, if it is kept."""
        page, _ = self._unstored(key)
        return page

    def unless_edited(self, verdict: Verdict, page: PageSignature) -> Verdict:
        """Return a verdict, but that of a revisit for a copy that has outlived its original.

        Where a site has moved, the stored pages have the old addresses for ever, and what is edited
        since would be dropped as a copy of them.
        """
        original = None if verdict.duplicate_of is None else page_key(verdict.duplicate_of)
        known = None if original is None else self.committed(original)
        if known is None:
            return verdict
        before, seen_at = self._unstored(page.key)
        if before is None or self.table.entry(*known).stored_at > seen_at:
            return verdict
        return revisit_of_copy(page, before, known[1]) or verdict

    def _unstored(self, key: str) -> tuple[PageSignature | None, int]:
        """Return the signature of a page that was not stored, if kept, and when it was seen."""
        data, seen_at = self._archive.find_unstored(key_digest(key, self._key_seed)) or (None, 0)
        page = None if data is None else unpacked(data, self.table.recipe)
        return (page if page is not None and page.key == key else None), seen_at

    def versions(self, key: str) -> list[tuple[int, PageSignature]]:
        """Return numbers and signatures of the page under this key: reserved, then committed."""
        reserved, known = self.reserved(key), self.committed(key)
        if reserved is None or reserved.renews is not None:
            return [] if known is None else [known]
        return [(reserved.number, reserved.page), *([] if known is None else [known])]

    def partly_read(self, key: str) -> list[tuple[int, PageSignature]]:
        """Return those of the :meth:`versions` of a page, with one body, that were partly read.

        A page that has not changed since it was stored may be reserved once more.
        """
        versions = self.versions(key)
        return [
            (number, page)
            for number, page in versions
            if page.is_partly_read and (page is versions[0][1] or page.has_body_of(versions[0][1]))
        ]

    def has_expired(self, number: int) -> bool:
        if self._ttl is None:
            return False
        return bool(self.table.summary(number)["stored_at"] < self._oldest)

    def near(self, fingerprint: int, distance: int) -> Candidates:
        """Return the pages within a distance that have not expired."""
        near = self._fingerprints.near(fingerprint, distance)
        if self._ttl is None or not near.keys.size:
            return near
        alive = self.are_alive(near.keys)
        return Candidates(near.keys[alive], near.distances[alive])

    def use_method(self, method: Method) -> None:
        """Index the values of a method from now on; there must be no page yet."""
        if self.method is None:
            self.method, self._values = method, MethodIndex(method)

    def near_by_method(self, value: bytes) -> list[MethodMatch]:
        """Return the pages that the method calls near and that have not expired.

        :raises MethodFailed: when the method fails.
        """
        assert self.method is not None
        assert self._values is not None
        with guarded(self.method):
            near = self._values.near(value)
        if self._ttl is None or not near:
            return near
        alive = self.are_alive(np.array([match.number for match in near], np.intp))
        return [match for match, is_alive in zip(near, alive.tolist(), strict=True) if is_alive]

    def alike(self, signature: PageSignature, rule: Rule) -> PassageCandidates:
        """Return the pages that have passages of a page that was read quickly.

        If it was read in full since, they are only those that were not: the others are found by
        their fingerprints.
        """
        pages = UnreadPages(self.table) if signature.is_read else self.table
        found = passage_candidates(signature, self._passages, pages, self.boilerplates, rule)
        if self._ttl is None or not found.numbers:
            return found
        numbers = np.array(found.numbers, np.intp)
        return found._replace(numbers=numbers[self.are_alive(numbers)].tolist())

    def unread_texts(self, signature: PageSignature, verdict: Verdict) -> tuple[str, ...]:
        """Return the keys of the pages to read in full before this verdict is final."""
        numbers = unread_texts(signature, verdict, self._passages, self.table)
        found = zip(numbers, self.table.pages(numbers), strict=True)
        # If another version of a page is reserved, that one would be read.
        return tuple(page.key for n, page in found if self.versions(page.key)[0][0] == n)

    def numbers(self) -> npt.NDArray[np.intp]:
        """Return the numbers of all committed pages, ascending."""
        return np.sort(self.table.keys.all())

    def all(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint64]]:
        """Return numbers, ascending, and fingerprints of the committed pages that were read."""
        fingerprints, keys = self._fingerprints.entries()
        order = np.argsort(keys)
        numbers = keys[order].astype(np.intp)
        committed = ~self.table.are_reserved(numbers)
        return numbers[committed], fingerprints[order][committed]

    def are_alive(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        if self._ttl is None:
            return np.ones(numbers.size, bool)
        alive: npt.NDArray[np.bool_] = self.table.summaries(numbers)["stored_at"] >= self._oldest
        return alive

    def reserve(
        self,
        signature: PageSignature,
        *,
        stored_at: int | None = None,
        renews: int | None = None,
    ) -> int:
        """Reserve a page, and return the number of the reservation.

        :param renews: number of the committed page, if that is as it was. It stays in all indexes
            under its own number.
        :raises StoreError: when there is no number left.
        """
        number = self._next
        if number >= MOST_NUMBERS:
            raise StoreError(
                self._store,
                f"it has given out all its {MOST_NUMBERS:,} numbers; export its pages and import "
                "them into another store or namespace",
            )
        self._next += 1
        digest = key_digest(signature.key, self._key_seed)
        reserved = Reservation(number, signature, digest, renews=renews)
        if renews is None:
            self._enter(reserved, stored_at)
        else:
            self._renewals[renews] = reserved
        self.table.reserved[number] = reserved
        self._reserved_keys[signature.key] = number
        return number

    def commit(self, reserved: Reservation, items: int, mark: int) -> None:
        """Commit a reserved page; with a mark above 0 it is not confirmed."""
        self._withdraw(reserved)
        if reserved.renews is not None:
            self._renew(reserved.renews, reserved, items, mark)
            return
        self.table.keys.add(reserved.digest, reserved.number)
        row = with_items(reserved.row, items)
        self.table.put(reserved.number, row)
        self._archive.put(reserved.number, row, reserved.packed, mark)

    def release(self, reserved: Reservation) -> None:
        self._withdraw(reserved)
        if reserved.renews is None:
            self._unindex(reserved.page, reserved.number)

    def remove(self, number: int, page: PageSignature) -> None:
        """Remove a committed page.

        :raises StoreError: when what is known of it does not fit together.
        """
        self._recent.pop(page.key, None)
        try:
            self._unindex(page, number)
            self.table.keys.remove(key_digest(page.key, self._key_seed), number)
        except KeyError:
            raise StoreError(
                self._store, "its index is damaged; put a whole copy in its place"
            ) from None
        self._archive.remove([number])
        if (reserved := self._renewals.pop(number, None)) is not None:
            reserved.renews = None
            self._enter(reserved)

    def complete(self, number: int, signature: PageSignature) -> None:
        """Replace the signature of a page, reserved or committed."""
        before = self.table.page(number)
        self._recent.pop(before.key, None)
        signature = replace(signature, url=before.url, key=before.key, site=before.site)
        self._unindex(before, number)
        self._index(signature, number)
        summary = self.table.summary(number)
        row = row_of(
            signature, int(summary["key"]), int(summary["stored_at"]), int(summary["items"])
        )
        self.table.put(number, row)
        if (renewal := self._renewals.get(number)) is not None:
            renewal.page = signature
        if (reserved := self.table.reserved.get(number)) is not None:
            reserved.page, reserved.row, reserved.packed = signature, row, packed(signature)
        else:
            self._archive.replace(number, row, packed(signature))

    def _find_committed(self, key: str) -> tuple[int, PageSignature] | None:
        digest = key_digest(key, self._key_seed)
        if not (numbers := self.table.keys.numbers(digest)).size:
            return None
        numbers = numbers[self.table.summaries(numbers)["key"] == digest]
        for number in numbers.tolist():
            if (page := self.table.page(number)).key == key:
                return number, page
        return None

    def _enter(self, reserved: Reservation, stored_at: int | None = None) -> None:
        """Enter a reserved page in all indexes."""
        now = int(time.time()) if stored_at is None else stored_at
        reserved.row = row_of(reserved.page, reserved.digest, now)
        reserved.packed = packed(reserved.page)
        self.table.put(reserved.number, reserved.row)
        self._index(reserved.page, reserved.number)

    def _renew(self, number: int, reserved: Reservation, items: int, mark: int) -> None:
        """Note that a committed page was stored once more."""
        row = row_of(reserved.page, reserved.digest, int(time.time()), items)
        self.table.put(number, row)
        self._archive.renew(number, row, mark)

    def _index(self, page: PageSignature, number: int) -> None:
        if page.value and self.method is not None and self._values is not None:
            # First, because it may fail.
            with guarded(self.method):
                self._values.add(number, page.value)
        if page.is_read:
            self._fingerprints.add(page.fingerprint, number)
        if page.passages:
            self._passages.add(passages_in(page.passages), number)

    def _unindex(self, page: PageSignature, number: int) -> None:
        if page.is_read:
            self._fingerprints.remove(page.fingerprint, number)
        if page.passages:
            self._passages.remove(passages_in(page.passages), number)
        if page.value and self.method is not None and self._values is not None:
            # Even if its keys cannot be made again, it is no longer found.
            with suppress(MethodFailed), guarded(self.method):
                self._values.remove(number)

    @property
    def _oldest(self) -> float:
        """The time, in seconds since 1970, before which pages have expired."""
        return 0 if self._ttl is None else time.time() - self._ttl

    def _withdraw(self, reserved: Reservation) -> None:
        del self.table.reserved[reserved.number]
        if reserved.renews is not None:
            del self._renewals[reserved.renews]
        self._reserved_keys.pop(reserved.page.key, None)

    def _load(self) -> None:
        # Raw bytes, for the system to take back: arrays of all sizes would leave holes behind.
        fingerprints, digests, loaded, of_read = (bytearray() for _ in range(4))
        for all_numbers, all_rows in self._archive.load():
            self._next = int(all_numbers[-1]) + 1
            is_old = all_rows["summary"]["stored_at"] < int(self._oldest)
            if is_old.any():
                self._archive.remove(all_numbers[is_old].tolist())
            numbers, rows = all_numbers[~is_old], all_rows[~is_old]
            self.table.extend(numbers, rows)
            digests += rows["summary"]["key"].tobytes()
            loaded += numbers.tobytes()
            is_read = was_read(rows["summary"])
            fingerprints += rows["fingerprint"][is_read].tobytes()
            of_read += numbers[is_read].tobytes()
        # All at once, so that each bucket is made once, and as large as it must be.
        all_loaded = np.frombuffer(loaded, np.uint32)
        self.table.keys.extend(np.frombuffer(digests, "<u8"), all_loaded)
        del digests
        self._fingerprints.extend(
            np.frombuffer(fingerprints, "<u8"), np.frombuffer(of_read, np.uint32)
        )
        if PASSAGES_PART in self._archive.recipe[1]:
            self._load_passages(all_loaded)

    def _load_passages(self, numbers: npt.NDArray[np.uint32]) -> None:
        hashes, owners = [], []
        for start in range(0, numbers.size, _PAGES_AT_ONCE):
            some = numbers[start : start + _PAGES_AT_ONCE]
            passages = [passages_of(data) for data in self._archive.read(some.tolist())]
            hashes.append(passages_in(b"".join(passages)))
            owners.append(np.repeat(some, [passages_in(data).size for data in passages]))
        if hashes:
            self._passages.extend(np.concatenate(hashes), np.concatenate(owners))


def _teach(archive: Archive, table: PageTable, site: str, boilerplate: SiteBoilerplate) -> None:
    """Learn again what had been learned of a site."""
    numbers = archive.of_site(site_digest(site), MAX_ENTRIES)
    for page in table.pages([number for number in numbers if table.is_committed(number)]):
        if page.site == site:
            learn(boilerplate, page)
