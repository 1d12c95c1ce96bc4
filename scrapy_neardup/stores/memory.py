"""Pages in this process, for as long as it lives."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..matching.site_boilerplate import MAX_ENTRIES
from .codec import site_in
from .hints import KnownLog
from .in_process import InProcessStore


class MemoryStore(InProcessStore):
    """Keeps signatures in a dictionary, what is looked up in an index.

    :param secret: key of the sketches, 16 to 64 bytes; drawn at random unless given.
    :param ttl: seconds after which a page is forgotten; ``None`` for never.
    """

    def __init__(self, secret: bytes | None = None, ttl: float | None = None) -> None:
        super().__init__("memory", Dictionary(), secret or secrets.token_bytes(32), ttl)


class Dictionary:
    """See :class:`~scrapy_neardup.stores.archive.Archive`; ends with its process."""

    problem: str | None = None
    forgotten = 0

    def __init__(self) -> None:
        self._pages: dict[int, bytes] = {}
        #: Numbers of each site's newest pages, by the site's digest.
        self._sites: defaultdict[int, list[int]] = defaultdict(list)
        self._known = KnownLog()
        self.recipe: tuple[str, Mapping[str, str]] = ("", {})

    def read(self, number: int) -> bytes:
        return self._pages[number]

    def read_all(self, numbers: Sequence[int]) -> list[bytes]:
        return [self.read(number) for number in numbers]

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        yield from ()

    def of_site(self, digest: int, most: int) -> Sequence[int]:
        return self._sites[digest][-most:] if digest in self._sites else ()

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        self._pages[number] = page
        of_site = self._sites[site_in(row)]
        of_site.append(number)
        if len(of_site) == 2 * MAX_ENTRIES:
            del of_site[:MAX_ENTRIES]

    def remove(self, first: int, last: int) -> None:
        for number in range(first, last + 1):
            del self._pages[number]

    def numbers(self) -> Iterator[npt.NDArray[np.intp]]:
        yield np.array(sorted(self._pages), np.intp)

    def confirm(self, mark: int) -> None:
        """Memory does not outlive an unclean stop."""

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        self.recipe = (recipe, parts)

    def rules(self) -> dict[str, bytes]:
        return {}

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        """The store has them already."""

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        return self._known.since(since)

    def note_duplicates(self, known: npt.NDArray[np.void]) -> None:
        self._known.note(known)

    def forget_duplicates(self, before: int) -> None:
        self._known.forget_before(before)

    def compact(self) -> None:
        """A dictionary gives its room back by itself."""

    def flush(self) -> None:
        """There is nothing to write."""

    def close(self) -> None:
        """There is nothing to write."""
