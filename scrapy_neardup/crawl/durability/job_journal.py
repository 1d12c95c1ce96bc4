"""Which pages the runs of a job stored, and in which feeds: a journal in the job's folder.

A run that overwrites a feed cuts off what earlier runs of the job wrote to it. The pages of those
runs then count as not stored: they are forgotten, and stored again when they are met.
"""

from __future__ import annotations

import json
import logging
import os
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from ...stores import Store
from ...stores.digests import key_digest, key_seed
from ...stores.in_process import InProcessStore
from .feeds import FeedTarget
from .job_state import Job

logger = logging.getLogger(__name__)

_STORED_AGAIN = (
    "This run overwrites %s, to which earlier runs of the job in %s wrote: %d pages that they "
    "stored are stored again"
)
_CUT_OFF = (
    "This run overwrites %s, to which earlier runs with JOBDIR %s wrote: %d pages that they "
    "stored are forgotten, so that a copy of them is stored. Scrapy does not fetch the pages "
    "themselves again. 'overwrite': False (-o, not -O) appends, %%(time)s in the name makes a file "
    "for each run"
)

#: Pages that wait in memory to be written, at most.
_WAITING = 256


@dataclass
class _Run:
    """A run of the job, as it was read.

    :ivar feeds: ids of the feeds that it wrote to.
    :ivar pages: digests of the keys of its pages, in the order in which they were stored.
    :ivar n_on_disk: how many of them are known to be on disk.
    """

    feeds: frozenset[str]
    pages: array[int] = field(default_factory=lambda: array("Q"))
    n_on_disk: int = 0

    @property
    def on_disk(self) -> npt.NDArray[np.uint64]:
        """Those that are known to be on disk; without feeds a page is when it is noted."""
        pages = np.frombuffer(self.pages, np.uint64)
        return pages[: self.n_on_disk] if self.feeds else pages


class JobJournal:
    """The journal of a job.

    Each line is a value of JSON: ``{"feeds": [...]}`` begins a run, a string is the key of a page,
    and a number says how many of the run's pages are on disk. A line that a kill or a full disk
    has cut off is passed over.

    :param path: of the file; no other process writes it.
    :param secret: of the job's store.
    :raises OSError: when the file cannot be read.
    """

    def __init__(self, path: Path, secret: bytes) -> None:
        self._path = path
        self._seed = key_seed(secret)
        self._runs = self._read()
        self._stored = _sorted(self._runs)
        self._has_feeds = False
        self._n_noted = 0
        self._waiting: deque[str] = deque()
        self._writing = Lock()

    def __contains__(self, key: str) -> bool:
        """Did an earlier run store this page, and is it known to be on disk?"""
        digest = np.uint64(key_digest(key, self._seed))
        place = int(np.searchsorted(self._stored, digest))
        return place < len(self._stored) and self._stored[place] == digest

    @property
    def feeds(self) -> frozenset[str]:
        """Ids of all feeds to which runs of the job wrote."""
        return frozenset().union(*(run.feeds for run in self._runs))

    def lost(self, overwritten: Collection[str]) -> Iterator[str]:
        """Keys of pages that lie in feeds of these ids, and not also in others on disk."""
        left = _sorted([run for run in self._runs if run.feeds.isdisjoint(overwritten)])
        number = -1
        for line in self._lines():
            number += isinstance(line, dict)
            if isinstance(line, str) and not self._runs[number].feeds.isdisjoint(overwritten):
                digest = np.uint64(key_digest(line, self._seed))
                place = int(np.searchsorted(left, digest))
                if place == len(left) or left[place] != digest:
                    yield line

    def begin(self, feeds: Sequence[str], overwritten: Collection[str] = ()) -> None:
        """Begin a run that writes to feeds of these ids, without the runs that are lost by it.

        :raises OSError: when the file cannot be written.
        """
        if any(not run.feeds.isdisjoint(overwritten) for run in self._runs):
            self._drop_runs(overwritten)
        self._has_feeds = bool(feeds)
        self._write([{"feeds": list(feeds)}], sync=True)

    def note(self, key: str) -> None:
        """A page has been stored.

        Waits for no disk that another thread waits for. What cannot be written is tried again with
        the next page, and by :meth:`saving`, which says so.
        """
        self._waiting.append(key)
        self._n_noted += 1
        is_due = not self._has_feeds or len(self._waiting) >= _WAITING
        if is_due and self._writing.acquire(blocking=False):
            try:
                with suppress(OSError):
                    self._write_waiting()
            finally:
                self._writing.release()

    def saving(self) -> Callable[[], None]:
        """What notes that all pages until now are on disk, to be called in a thread.

        It raises OSError when that could not be written.
        """
        n_on_disk = self._n_noted

        def save() -> None:
            with self._writing:
                self._write_waiting()
                self._write([n_on_disk], sync=True)

        return save

    def _write_waiting(self) -> None:
        keys = [self._waiting.popleft() for _ in range(len(self._waiting))]
        try:
            if keys:
                self._write(keys)
        except OSError:
            self._waiting.extendleft(reversed(keys))
            raise

    def _write(self, lines: Sequence[object], *, sync: bool = False) -> None:
        # The last line may have been cut off, so each piece begins on a line of its own.
        data = "".join(f"\n{json.dumps(line)}" for line in lines).encode() + b"\n"
        with self._path.open("ab", buffering=0) as file:
            if file.write(data) != len(data):
                raise OSError(f"{self._path} cannot be written: the disk may be full")
            if sync:
                os.fsync(file.fileno())

    def _drop_runs(self, overwritten: Collection[str]) -> None:
        """Let go of the runs that wrote to these feeds."""
        draft, number = self._path.with_name(f"{self._path.name}.new"), -1
        with draft.open("w", encoding="ascii") as file:
            for line in self._lines():
                number += isinstance(line, dict)
                if number >= 0 and self._runs[number].feeds.isdisjoint(overwritten):
                    file.write(f"{json.dumps(line)}\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
        self._runs = [run for run in self._runs if run.feeds.isdisjoint(overwritten)]
        self._stored = _sorted(self._runs)

    def _read(self) -> list[_Run]:
        runs: list[_Run] = []
        for line in self._lines():
            if isinstance(line, dict):
                runs.append(_Run(frozenset(line.get("feeds", ()))))
            elif runs and isinstance(line, str):
                runs[-1].pages.append(key_digest(line, self._seed))
            elif runs and isinstance(line, int):
                runs[-1].n_on_disk = line
        return runs

    def _lines(self) -> Iterator[object]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue


def begun(job: Job, store: Store, feeds: Sequence[FeedTarget]) -> tuple[JobJournal, int]:
    """A journal whose run has begun, and how many pages were forgotten for it.

    :param store: of which those pages are forgotten that only lie in feeds that are overwritten.
    :raises OSError: when the journal cannot be read or written.
    :raises StoreError: when the store does not forget them.
    """
    journal = JobJournal(job.journal, store.secret)
    overwritten = sorted(journal.feeds.intersection(f.id for f in feeds if f.is_overwritten))
    forgotten = sum(map(store.forget, journal.lost(overwritten)))
    # The journal must know of them until the store does not.
    if isinstance(store, InProcessStore):
        store.flush()
    journal.begin([feed.id for feed in feeds], overwritten)
    if forgotten:
        message = _STORED_AGAIN if job.is_recovered else _CUT_OFF
        logger.warning(message, ", ".join(overwritten), job.folder, forgotten)
    return journal, forgotten


def _sorted(runs: Sequence[_Run]) -> npt.NDArray[np.uint64]:
    """Pages of these runs that are on disk, ascending."""
    return np.unique(np.concatenate([np.empty(0, np.uint64), *(run.on_disk for run in runs)]))
