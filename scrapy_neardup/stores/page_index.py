"""Finds the pages of a store that lives in one process, by fingerprint and by key."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import numpy.typing as npt

from ..exceptions import StoreError
from ..hashing.simhash_index import Candidates, SimhashIndex
from ..matching.candidates import site_digest
from ..matching.rule import learn
from ..matching.site_boilerplate import MAX_ENTRIES, Boilerplates, SiteBoilerplate
from ..signatures.signature import PageSignature
from .archive import Archive
from .codec import key_digest, key_seed, packed, row_of, with_items
from .page_table import PageTable, Reservation

#: Each claim that reserves a page takes a number, also where the page is known or is released.
MOST_NUMBERS = 1 << 32


class PageIndex:
    """The reserved and the committed pages. Its user must hold a lock.

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
        self._fingerprints = SimhashIndex()
        self._reserved_keys: dict[str, int] = {}
        self._next = 0
        self.boilerplates = Boilerplates(partial(_teach, archive, self.table))
        self._load()

    def __len__(self) -> int:
        return len(self._fingerprints) - len(self.table.reserved)

    def reserved(self, key: str) -> Reservation | None:
        number = self._reserved_keys.get(key)
        return None if number is None else self.table.reserved[number]

    def committed(self, key: str) -> tuple[int, PageSignature] | None:
        """Return number and signature of the page that was committed under this key."""
        digest = key_digest(key, self._key_seed)
        numbers = self.table.keys.numbers(digest)
        numbers = numbers[self.table.summaries(numbers)["key"] == digest]
        for number in numbers.tolist():
            if (page := self.table.page(number)).key == key:
                return number, page
        return None

    def has_expired(self, number: int) -> bool:
        return bool(self.table.summary(number)["stored_at"] < self._oldest)

    def near(self, fingerprint: int, distance: int) -> Candidates:
        """Return the pages within a distance that have not expired."""
        near = self._fingerprints.near(fingerprint, distance)
        alive = self.are_alive(near.keys)
        return Candidates(near.keys[alive], near.distances[alive])

    def all(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint64]]:
        """Return numbers, ascending, and fingerprints of the committed pages."""
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

    def reserve(self, signature: PageSignature, stored_at: int | None = None) -> int:
        """Reserve a page, and return its number.

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
        now = int(time.time()) if stored_at is None else stored_at
        digest = key_digest(signature.key, self._key_seed)
        row = row_of(signature, digest, now)
        self.table.put(number, row)
        self._fingerprints.add(signature.fingerprint, number)
        self.table.reserved[number] = Reservation(number, signature, digest, row, packed(signature))
        self._reserved_keys[signature.key] = number
        return number

    def commit(self, reserved: Reservation, items: int, mark: int) -> None:
        """Commit a reserved page; with a mark above 0 it is not confirmed."""
        self._withdraw(reserved)
        self.table.keys.add(reserved.digest, reserved.number)
        row = with_items(reserved.row, items)
        self.table.put(reserved.number, row)
        self._archive.put(reserved.number, row, reserved.packed, mark)

    def release(self, reserved: Reservation) -> None:
        self._withdraw(reserved)
        self._fingerprints.remove(reserved.page.fingerprint, reserved.number)

    def remove(self, number: int, page: PageSignature) -> None:
        """Remove a committed page.

        :raises StoreError: when what is known of it does not fit together.
        """
        try:
            self._fingerprints.remove(page.fingerprint, number)
            self.table.keys.remove(key_digest(page.key, self._key_seed), number)
        except KeyError:
            raise StoreError(
                self._store, "its index is damaged; put a whole copy in its place"
            ) from None
        self._archive.remove([number])

    @property
    def _oldest(self) -> float:
        """The time, in seconds since 1970, before which pages have expired."""
        return 0 if self._ttl is None else time.time() - self._ttl

    def _withdraw(self, reserved: Reservation) -> None:
        del self.table.reserved[reserved.number]
        self._reserved_keys.pop(reserved.page.key, None)

    def _load(self) -> None:
        # Raw bytes, for the system to take back: arrays of all sizes would leave holes behind.
        fingerprints, digests, loaded = bytearray(), bytearray(), bytearray()
        for all_numbers, all_rows in self._archive.load():
            self._next = int(all_numbers[-1]) + 1
            is_old = all_rows["summary"]["stored_at"] < int(self._oldest)
            if is_old.any():
                self._archive.remove(all_numbers[is_old].tolist())
            numbers, rows = all_numbers[~is_old], all_rows[~is_old]
            self.table.extend(numbers, rows)
            fingerprints += rows["fingerprint"].tobytes()
            digests += rows["summary"]["key"].tobytes()
            loaded += numbers.tobytes()
        # All at once, so that each bucket is made once, and as large as it must be.
        all_loaded = np.frombuffer(loaded, np.uint32)
        self.table.keys.extend(np.frombuffer(digests, "<u8"), all_loaded)
        del digests
        self._fingerprints.extend(np.frombuffer(fingerprints, "<u8"), all_loaded)


def _teach(archive: Archive, table: PageTable, site: str, boilerplate: SiteBoilerplate) -> None:
    """Learn again what had been learned of a site."""
    numbers = archive.of_site(site_digest(site), MAX_ENTRIES)
    for page in table.pages([number for number in numbers if table.is_committed(number)]):
        if page.site == site:
            learn(boilerplate, page)
