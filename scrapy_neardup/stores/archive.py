"""Keeps the pages and hints of a store that lives in one process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..matching.site_boilerplate import MAX_ENTRIES
from .codec import site_in
from .hints import MemoryHints


class Archive:
    """Keeps pages by their numbers, here in memory; a subclass that keeps them elsewhere overrides.

    Numbers and site listings may include pages that were removed a moment ago.

    :ivar hints: rules and known duplicates.
    :ivar recipe: recipe and parts of the pages, as :meth:`adopt` was given them; ``""`` if never.
    :ivar forgotten: number of unconfirmed pages that were dropped when it was opened.
    """

    def __init__(
        self,
        hints: MemoryHints | None = None,
        recipe: str = "",
        parts: Mapping[str, str] | None = None,
        forgotten: int = 0,
    ) -> None:
        self.hints = hints or MemoryHints()
        self.recipe: tuple[str, Mapping[str, str]] = (recipe, parts or {})
        self.forgotten = forgotten
        self._pages: dict[int, bytes] = {}
        #: Numbers of each site's newest pages, by the site's digest.
        self._sites: defaultdict[int, list[int]] = defaultdict(list)

    @property
    def problem(self) -> str | None:
        """The reason why it cannot be written at present."""
        return None

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        """Set recipe and parts of the pages that are kept from now on."""
        self.recipe = (recipe, parts)

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        """Yield all numbers, ascending, with their rows, many at a time.

        Rows are of type :data:`~scrapy_neardup.stores.codec.ROW`. They are read before the next
        are asked for, and not kept.
        """
        yield from ()

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        """Return packed pages in the order of these numbers."""
        return [self._pages[number] for number in numbers]

    def of_site(self, digest: int, most: int) -> Sequence[int]:
        """Return the numbers of the pages of a site that were first stored last, ascending."""
        return self._sites[digest][-most:] if digest in self._sites else ()

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        """Keep a page; with a mark above 0 it is not confirmed."""
        self._pages[number] = page
        of_site = self._sites[site_in(row)]
        of_site.append(number)
        if len(of_site) == 2 * MAX_ENTRIES:
            del of_site[:MAX_ENTRIES]

    def replace(self, number: int, row: bytes, page: bytes) -> None:
        """Replace row and packed signature of a kept page, which stays as confirmed as it is."""
        self._pages[number] = page

    def renew(self, number: int, row: bytes, mark: int) -> None:
        """Replace the row of a kept page; with a mark above 0 it is not confirmed any more."""

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove pages, whose numbers are not used again."""
        for number in numbers:
            del self._pages[number]

    def note_unstored(self, digest: int, page: bytes) -> None:
        """Keep the packed signature of a page that was not stored, if later runs can find it.

        :param digest: of the page's key.
        """

    def find_unstored(self, digest: int) -> tuple[bytes, int] | None:
        """Return the packed signature of a page that was not stored, if it is kept.

        With it, when the page was seen, in seconds since 1970.
        """
        return None

    def forget_unstored(self, before: int) -> None:
        """Remove the signatures of unstored pages noted before a time, in seconds since 1970."""

    def confirm(self, mark: int) -> None:
        """Confirm what was put under a mark up to this one."""

    def compact(self) -> None:
        """Free unused space."""

    def flush(self) -> None:
        """Write what is pending."""

    def close(self) -> None:
        """Write what is pending, and close."""
