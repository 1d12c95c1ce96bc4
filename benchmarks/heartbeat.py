"""How long the event loop, or the reactor, was held."""

from __future__ import annotations

from array import array
from time import perf_counter

from scrapy.utils.asyncio import CallLaterResult, call_later


class Heartbeat:
    """A beat every *interval* seconds and how late each one came.

    Every beat that was due counts, also those that were missed while the loop
    was held: 100 ms without a turn of the loop are twenty late beats of 5 ms
    each, 100 ms to nothing late.  So "99 % within 12 ms" means that at 99 % of
    all moments something that became due would have waited 12 ms at most.
    """

    def __init__(self, interval: float = 0.005) -> None:
        self.interval = interval
        self.lateness = array("d")
        self._due = 0.0
        self._next: CallLaterResult | None = None

    def start(self) -> None:
        self._due = perf_counter() + self.interval
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
        while self._due <= now:
            self.lateness.append(now - self._due)
            self._due += self.interval

    def figures(self) -> dict[str, float]:
        """Return the lateness at median, 99 %, 99.9 % and maximum, in milliseconds."""
        ordered = sorted(self.lateness)

        def at(share: float) -> float:
            return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]

        if not ordered:
            return {}
        return {"median": at(0.5), "99 %": at(0.99), "99.9 %": at(0.999), "max": at(1.0)}
