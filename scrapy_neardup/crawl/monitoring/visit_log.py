"""Collects the visits of pages, from which ``scrapy neardup changes`` lists changes."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..._util.urls import page_key
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...stores.visits import UNCHANGED, VISIT, page_digest

#: Visits that wait for a store that fails, at most; the oldest are dropped.
_MAX_WAITING = 100_000


class VisitLog:
    """The visits that the store does not have yet.

    :param is_kept: whether the store outlives the crawl; else nothing is noted.
    """

    def __init__(self, *, is_kept: bool) -> None:
        self._is_kept = is_kept
        self._waiting: list[tuple[int, int, float, int]] = []

    def note(self, verdict: Verdict, urls: Iterable[str]) -> None:
        """Note the verdict on a page.

        :param urls: the URL of its request, and those that redirected to it.
        """
        if verdict.kind == "undecided" or not self._is_kept:
            return
        shown_at = verdict.duplicate_of or verdict.url
        self.note_moved((verdict.url, *urls), shown_at)
        if verdict.kind != "duplicate":
            change = verdict.change if verdict.reason == Reason.CHANGED else None
            visit = (int(time.time()), UNCHANGED if change is None else change, 0)
            self._waiting.append((page_digest(page_key(shown_at)), *visit))

    def note_moved(self, urls: Iterable[str], target: str) -> None:
        """Note that URLs lead to a page, which may have another URL."""
        if not self._is_kept:
            return
        key = page_key(target)
        visit = (int(time.time()), UNCHANGED, page_digest(key))
        others = {page_key(url) for url in urls} - {key}
        self._waiting += [(page_digest(other), *visit) for other in others]

    def take(self) -> npt.NDArray[np.void]:
        """Return the visits, of type :data:`~scrapy_neardup.stores.visits.VISIT`, and drop them."""
        taken, self._waiting = self._waiting, []
        return np.array(taken, VISIT)

    def put_back(self, visits: npt.NDArray[np.void]) -> None:
        """Keep visits that could not be stored."""
        self._waiting = [*visits.tolist(), *self._waiting][-_MAX_WAITING:]
