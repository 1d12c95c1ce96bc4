"""Keeps the pages and hints of a store that lives in one process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from .hints import MemoryHints


class PageArchive(Protocol):
    """Keeps pages by their numbers.

    Numbers and site listings may include pages that were removed a moment ago.
    """

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        """Yield all numbers, ascending, with their rows, many at a time.

        Rows are of type :data:`~scrapy_neardup.stores.codec.ROW`. They are read before the next
        are asked for, and not kept.
        """

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        """Return packed pages in the order of these numbers."""

    def of_site(self, digest: int, most: int) -> Iterable[int]:
        """Return the numbers of the newest pages of a site, oldest first."""

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        """Keep a page; with a mark above 0 it is not confirmed."""

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove pages, whose numbers are not used again."""

    def confirm(self, mark: int) -> None:
        """Confirm what was put under a mark up to this one."""


class Archive:
    """Keeps what :class:`~scrapy_neardup.stores.in_process.InProcessStore` tells it to.

    A subclass that keeps it outside of memory overrides the methods, which do nothing here.

    :ivar pages: the pages.
    :ivar hints: rules and known duplicates.
    :ivar recipe: recipe and parts of the pages, as :meth:`adopt` was given them; ``""`` if never.
    :ivar forgotten: number of unconfirmed pages that were dropped when it was opened.
    """

    def __init__(
        self,
        pages: PageArchive,
        hints: MemoryHints,
        recipe: str = "",
        parts: Mapping[str, str] | None = None,
        forgotten: int = 0,
    ) -> None:
        self.pages = pages
        self.hints = hints
        self.recipe: tuple[str, Mapping[str, str]] = (recipe, parts or {})
        self.forgotten = forgotten

    @property
    def problem(self) -> str | None:
        """The reason why it cannot be written at present."""
        return None

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        """Set recipe and parts of the pages that are kept from now on."""
        self.recipe = (recipe, parts)

    def compact(self) -> None:
        """Free unused space."""

    def flush(self) -> None:
        """Write what is pending."""

    def close(self) -> None:
        """Write what is pending, and close."""
