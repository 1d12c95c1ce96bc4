"""Pages in this process, for as long as it lives."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ..exceptions import InvalidOption
from ..matching.rule import Scope
from ..matching.site_boilerplate import MAX_ENTRIES
from .archive import Archive
from .codec import site_in
from .hints import MemoryHints
from .in_process import InProcessStore
from .reading import StoreReader


class MemoryStore(InProcessStore):
    """Keeps signatures in a dictionary, and an index of them.

    :param secret: key of the sketches, 16 to 64 bytes; drawn at random unless given.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    """

    def __init__(self, secret: bytes | None = None, ttl: float | None = None) -> None:
        archive = Archive(MemoryPages(), MemoryHints())
        super().__init__("memory", archive, secret or secrets.token_bytes(32), ttl)


class MemoryPages:
    """See :class:`~scrapy_neardup.stores.archive.PageArchive`."""

    def __init__(self) -> None:
        self._pages: dict[int, bytes] = {}
        #: Numbers of each site's newest pages, by the site's digest.
        self._sites: defaultdict[int, list[int]] = defaultdict(list)

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        yield from ()

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        return [self._pages[number] for number in numbers]

    def of_site(self, digest: int, most: int) -> Sequence[int]:
        return self._sites[digest][-most:] if digest in self._sites else ()

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        self._pages[number] = page
        of_site = self._sites[site_in(row)]
        of_site.append(number)
        if len(of_site) == 2 * MAX_ENTRIES:
            del of_site[:MAX_ENTRIES]

    def remove(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            del self._pages[number]

    def confirm(self, mark: int) -> None:
        """Do nothing: memory does not outlive an unclean stop."""


def canonical_address(address: str) -> str:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    if address != "memory":
        raise InvalidOption("store", address, "'memory'")
    return address


def open_store(
    address: str, namespace: str, ttl: float | None, scope: Scope | None, secret: bytes | None
) -> MemoryStore:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    store = MemoryStore(secret, ttl)
    # A user who never closes it: it lives as long as the process.
    store.users.join()
    return store


def open_reader(address: str) -> StoreReader:
    """See :class:`~scrapy_neardup.stores.factory.Backend`."""
    raise InvalidOption("store", address, "the address of a store that outlives its process")
