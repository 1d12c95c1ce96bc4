"""The one index that a process holds: fills it, and times what is asked of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter, process_time, thread_time

from ...common.memory import free_as_a_crawl, resident_bytes
from .contestants import DISTANCE, Index
from .figures import Growth, Work
from .random_fingerprints import fingerprints

_SEED = 7


class _Held:
    """The index, and what goes with it."""

    index: Index
    empty_bytes: int
    asked: random.Random


def open_index(make: Callable[[], Index]) -> None:
    """Make the index of this process, which is empty."""
    free_as_a_crawl()
    _Held.index = make()
    _Held.empty_bytes = resident_bytes()
    _Held.asked = random.Random(_SEED)


def grow(first: int, last: int) -> Growth:
    """Add the fingerprints from one number to another."""
    index, key = _Held.index, first
    longest = longest_processor = 0.0
    for some in fingerprints(first, last):
        items = [index.item(fingerprint) for fingerprint in some.tolist()]
        clock, worked = perf_counter(), thread_time()
        for item in items:
            index.add(item, key)
            key += 1
            # The end of one is the beginning of the next: there are millions of them.
            clock_now, worked_now = perf_counter(), thread_time()
            longest = max(longest, clock_now - clock)
            longest_processor = max(longest_processor, worked_now - worked)
            clock, worked = clock_now, worked_now
    grown = resident_bytes() - _Held.empty_bytes
    return Growth(grown / last, 1000 * longest, 1000 * longest_processor)


def do_work(work: Work, size: int) -> tuple[float, int]:
    """Do the work; return the microseconds of each operation, and how many were found."""
    index, asked = _Held.index, _Held.asked
    if work.kind == "near":
        prints = [_stored(size) for _ in range(work.times)]
    else:
        prints = [asked.getrandbits(64) for _ in range(work.times)]
    items = [index.item(fingerprint) for fingerprint in prints]
    found = 0
    started = process_time()
    for item in items:
        if work.kind != "add":
            found += index.find(item, work.distance)
        if work.kind in ("add", "check"):
            index.add(item, size)
    return 1e6 * (process_time() - started) / work.times, found


def _stored(size: int) -> int:
    """Return a stored fingerprint, with up to three bits changed if possible."""
    asked = _Held.asked
    number = asked.randrange(size)
    [one] = next(fingerprints(number, number + 1)).tolist()
    bits = asked.sample(range(64), asked.randint(0, DISTANCE))
    return int(one) ^ (sum(1 << bit for bit in bits) if _Held.index.takes_bits else 0)
