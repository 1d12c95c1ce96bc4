"""Measures how long the event loop is blocked, and which function blocks it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from time import perf_counter, thread_time

from scrapy.utils.asyncio import CallLaterResult, call_later

_SHARES = {"median": 0.5, "99 %": 0.99, "99.9 %": 0.999, "max": 1.0}


class Heartbeat:
    """A beat every *interval* seconds and how late each one came.

    Every beat that was due counts, also those that were missed while the loop
    was held: 100 ms without a turn of the loop are twenty late beats of 5 ms
    each, 100 ms to nothing late.  So "99 % within 12 ms" means that at 99 % of
    all moments something that became due would have waited 12 ms at most.

    A beat is late because this thread was at work, or because others had the
    cores: on a machine where more wants to run than there are cores, everybody
    waits.  So a beat's lateness is also counted as far as this thread has used
    processor time since the last turn of the loop; that is what its code held.
    """

    def __init__(self, interval: float = 0.005) -> None:
        self.interval = interval
        self.lateness = array("d")
        self.at_work = array("d")
        self._due = 0.0
        self._worked = 0.0
        self._next: CallLaterResult | None = None

    def start(self) -> None:
        self._due = perf_counter() + self.interval
        self._worked = thread_time()
        self._next = call_later(self.interval, self._beat)

    def stop(self) -> None:
        """Stop; beats that are overdue at this moment count as they are."""
        self._count(perf_counter())
        if self._next is not None:
            self._next.cancel()

    def _beat(self) -> None:
        now = perf_counter()
        self._count(now)
        self._next = call_later(self._due - now, self._beat)

    def _count(self, now: float) -> None:
        worked, self._worked = thread_time() - self._worked, thread_time()
        while self._due <= now:
            late = now - self._due
            self.lateness.append(late)
            self.at_work.append(min(late, worked))
            self._due += self.interval

    def figures(self) -> dict[str, float]:
        """Lateness in milliseconds, and what of it this thread was at work."""
        return {
            **distribution("", self.lateness),
            **distribution(", at work", self.at_work),
        }


def distribution(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """Milliseconds at median, 99 %, 99.9 % and maximum; nothing when there are none."""
    ordered = sorted(seconds)
    if not ordered:
        return {}
    last = len(ordered) - 1
    return {
        f"{share}{name}": 1000 * ordered[min(int(part * len(ordered)), last)]
        for share, part in _SHARES.items()
    }
