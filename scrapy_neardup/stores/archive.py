"""What a store that lives in one process asks of whoever keeps its pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Archive(Protocol):
    """Keeps pages by their numbers.

    See :class:`~scrapy_neardup.stores.in_process.InProcessStore` for what it is told when.
    """

    @property
    def problem(self) -> str | None:
        """What keeps it from being written, at present."""

    @property
    def forgotten(self) -> int:
        """How many pages were left out when it was loaded, not being confirmed."""

    @property
    def recipe(self) -> tuple[str, Mapping[str, str]]:
        """Recipe and parts of the pages that it keeps, as it was told them; ``""`` if never."""

    def load(self) -> Iterator[tuple[npt.NDArray[np.uint32], npt.NDArray[np.void]]]:
        """All numbers, ascending, with their rows, many at a time.

        Rows are of type :data:`~scrapy_neardup.stores.codec.ROW`. They are read before the next
        are asked for, and not kept.
        """

    def read(self, number: int) -> bytes:
        """A page, packed."""

    def read_all(self, numbers: Sequence[int]) -> list[bytes]:
        """Pages in the order of their numbers given, packed."""

    def of_site(self, digest: int, most: int) -> Iterable[int]:
        """Numbers of the newest pages of a site whose boilerplate is not in memory, oldest first.

        Some may just have been removed.
        """

    def put(self, number: int, row: bytes, page: bytes, mark: int) -> None:
        """Keep a page; with a mark above 0 it is not confirmed."""

    def remove(self, first: int, last: int) -> None:
        """Let go of all pages from one number to another, whose numbers are not put again."""

    def numbers(self) -> Iterator[npt.NDArray[np.intp]]:
        """Numbers of all pages, ascending, some thousands at a time.

        Some may just have been removed.
        """

    def confirm(self, mark: int) -> None:
        """What was put under a mark up to this one is confirmed."""

    def adopt(self, recipe: str, parts: Mapping[str, str]) -> None:
        """Recipe and parts of the pages that it keeps from now on."""

    def rules(self) -> dict[str, bytes]:
        """All rules by their names, as they were put before it was opened."""

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        """Keep rules, each in the place of what its name held; ``b""`` takes one away."""

    def known_duplicates(self, since: int) -> npt.NDArray[np.void]:
        """See :meth:`~scrapy_neardup.stores.Store.known_duplicates`."""

    def note_duplicates(self, known: npt.NDArray[np.void]) -> None:
        """Note known duplicates, of type :data:`~scrapy_neardup.stores.hints.KNOWN`."""

    def forget_duplicates(self, before: int) -> None:
        """Let go of known duplicates last seen before this time, in seconds since 1970."""

    def compact(self) -> None:
        """Give room back."""

    def flush(self) -> None:
        """Write what waits."""

    def close(self) -> None:
        """Write what is still to be written."""
