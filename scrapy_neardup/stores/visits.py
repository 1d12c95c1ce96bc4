"""The history of each page over recrawls: how often it was visited, and how often it had changed.

Like hints, a history is advice: losing it costs nobody a page.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from .codec import key_digest

#: A visit of a page: digest of its key, see :func:`page_digest`; seconds since 1970; the share of
#: its text that has changed since the visit before, 0 to 1, or :data:`UNCHANGED`; and the digest of
#: the page that its address leads to now, 0 for itself.
VISIT = np.dtype([("page", "<u8"), ("seen_at", "<u4"), ("change", "<f4"), ("moved_to", "<u8")])
#: The history of a page: the times of the first and the last visit, how many there were after the
#: first, in how many of them the page had changed, when it last had, and by how much; the page that
#: its address leads to now, and since when it was seen to lead there, both 0 for itself.
HISTORY = np.dtype(
    [
        ("page", "<u8"),
        ("first_at", "<u4"),
        ("last_at", "<u4"),
        ("visits", "<u4"),
        ("changes", "<u4"),
        ("changed_at", "<u4"),
        ("change", "<f4"),
        ("moved_to", "<u8"),
        ("moved_at", "<u4"),
    ]
)
#: The change of a page that has not changed, in a visit.
UNCHANGED = -1.0

Visits = npt.NDArray[np.void]
Histories = npt.NDArray[np.void]


def page_digest(key: str) -> int:
    """Return the digest, 1 to 2**64 - 1, of ``PageSignature.key``."""
    return key_digest(key, seed=0) or 1


class MemoryVisits:
    """The histories of a namespace in memory, for any thread.

    See :class:`~scrapy_neardup.stores.base.HintStore`.
    """

    def __init__(self) -> None:
        self._visits_lock = threading.Lock()
        self._histories: dict[int, tuple[int | float, ...]] = {}

    def note_visits(self, visits: Visits) -> None:
        with self._visits_lock:
            for page, seen_at, change, moved_to in visits.tolist():
                self._note(page, seen_at, change, moved_to)

    def visits(self) -> Histories:
        with self._visits_lock:
            rows = [(page, *history) for page, history in self._histories.items()]
        return np.array(rows, HISTORY)

    def forget_visits(self, before: int) -> None:
        """Remove the histories of pages that were last visited before this time."""
        with self._visits_lock:
            kept = {page: row for page, row in self._histories.items() if row[1] >= before}
            self._histories = kept

    def _note(self, page: int, seen_at: int, change: float, moved_to: int) -> None:
        history = self._histories.get(page)
        if history is None:
            # A page that always led elsewhere is not known here.
            if not moved_to:
                is_changed = change >= 0
                self._histories[page] = (
                    *(seen_at, seen_at, int(is_changed), int(is_changed)),
                    *((seen_at, change) if is_changed else (0, 0.0)),
                    *(0, 0),
                )
            return
        first_at, last_at, visits, changes, changed_at, last_change, led_to, moved_at = history
        if seen_at <= last_at:
            return
        if change >= 0:
            changes, changed_at, last_change = changes + 1, seen_at, change
        if moved_to != led_to:
            moved_at = seen_at if moved_to else 0
        self._histories[page] = (
            *(first_at, seen_at, visits + 1, changes, changed_at, last_change),
            *(moved_to, moved_at),
        )
