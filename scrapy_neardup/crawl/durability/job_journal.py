"""The journal of a job: records which pages its runs stored, and in which feeds.

A run that overwrites a feed deletes what earlier runs of the job wrote to it. The pages of those
runs then count as not stored: they are forgotten, and stored again when they are fetched.
"""

from __future__ import annotations

import json
import logging
import os
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from ...stores import Store
from ...stores.codec import key_digest, key_seed
from ...stores.in_process import InProcessStore
from .job_state import Job

logger = logging.getLogger(__name__)

_STORED_AGAIN = (
    "This run overwrites %s, written by earlier runs with JOBDIR %s: it stores %d pages again "
    "that they stored there"
)
_OVERWRITTEN = (
    "This run overwrites %s, written by earlier runs with JOBDIR %s: %d pages that they stored "
    "there are forgotten, so that near-duplicates of them can be stored. Scrapy does not fetch "
    "the pages themselves again. To keep them, append with 'overwrite': False (-o instead of -O), "
    "or write a file per run with %%(time)s in its name"
)

#: Pages that are buffered in memory before they are written, at most.
_MAX_BUFFERED = 256


@dataclass
class _Run:
    """A run of the job, as read from the journal.

    :ivar feeds: ids of the feeds that it wrote to.
    :ivar pages: digests of the keys of its pages, in the order in which they were stored.
    :ivar n_on_disk: number of pages that are known to be on disk.
    """

    feeds: frozenset[str]
    pages: array[int] = field(default_factory=lambda: array("Q"))
    n_on_disk: int = 0


class JobJournal:
    """The journal of a job.

    Each line is a JSON value: ``{"feeds": [...]}`` begins a run, a string is the key of a page, and
    a number says how many pages of the run are on disk. A line that a kill or a full disk has cut
    off is ignored.

    :param path: the file; no other process writes it.
    :param secret: secret of the job's store.
    :raises OSError: when the file cannot be read.
    """

    def __init__(self, path: Path, secret: bytes) -> None:
        self._path = path
        self._seed = key_seed(secret)
        self._runs = self._read()
        self._stored = _on_disk(self._runs)
        self._has_feeds = False
        self._n_noted = 0
        self._buffer: deque[str] = deque()
        self._writing = Lock()

    def __contains__(self, key: str) -> bool:
        """Return whether an earlier run stored this page, and it is known to be on disk."""
        return self._is_among(self._stored, key)

    @property
    def feeds(self) -> frozenset[str]:
        """Ids of all feeds to which runs of the job wrote."""
        return frozenset().union(*(run.feeds for run in self._runs))

    def lost(self, overwritten: Collection[str]) -> Iterator[str]:
        """Yield the keys of pages that are only on disk in feeds of these ids."""
        kept = _on_disk([run for run in self._runs if run.feeds.isdisjoint(overwritten)])
        for number, line in self._lines():
            is_overwritten = not self._runs[number].feeds.isdisjoint(overwritten)
            if is_overwritten and isinstance(line, str) and not self._is_among(kept, line):
                yield line

    def begin(self, feeds: Sequence[str], overwritten: Collection[str] = ()) -> None:
        """Begin a run that writes to feeds of these ids; drop the runs that it overwrites.

        :raises OSError: when the file cannot be written.
        """
        if any(not run.feeds.isdisjoint(overwritten) for run in self._runs):
            self._drop_runs(overwritten)
        self._has_feeds = bool(feeds)
        self._write([{"feeds": list(feeds)}], sync=True)

    def note(self, key: str) -> None:
        """Record that a page has been stored.

        Never waits for another thread that is writing. When writing fails, it is retried with the
        next page, and by :meth:`saving`, which raises the error.
        """
        self._buffer.append(key)
        self._n_noted += 1
        is_due = not self._has_feeds or len(self._buffer) >= _MAX_BUFFERED
        if is_due and self._writing.acquire(blocking=False):
            try:
                with suppress(OSError):
                    self._write_buffer()
            finally:
                self._writing.release()

    def saving(self) -> Callable[[], None]:
        """Return a function that records that all pages so far are on disk, for a thread.

        It raises OSError when the journal cannot be written.
        """
        n_on_disk = self._n_noted

        def save() -> None:
            with self._writing:
                self._write_buffer()
                self._write([n_on_disk], sync=True)

        return save

    def _write_buffer(self) -> None:
        keys = [self._buffer.popleft() for _ in range(len(self._buffer))]
        try:
            if keys:
                self._write(keys)
        except OSError:
            self._buffer.extendleft(reversed(keys))
            raise

    def _write(self, lines: Sequence[object], *, sync: bool = False) -> None:
        # The last line may have been cut off, so begin on a new line.
        data = "".join(f"\n{json.dumps(line)}" for line in lines).encode() + b"\n"
        with self._path.open("ab", buffering=0) as file:
            if file.write(data) != len(data):
                raise OSError(f"cannot write all of {self._path}: the disk may be full")
            if sync:
                os.fsync(file.fileno())

    def _drop_runs(self, overwritten: Collection[str]) -> None:
        """Remove the runs that wrote to these feeds, also from the file."""
        draft = self._path.with_name(f"{self._path.name}.new")
        with draft.open("w", encoding="ascii") as file:
            for number, line in self._lines():
                if self._runs[number].feeds.isdisjoint(overwritten):
                    file.write(f"{json.dumps(line)}\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
        self._runs = [run for run in self._runs if run.feeds.isdisjoint(overwritten)]
        self._stored = _on_disk(self._runs)

    def _read(self) -> list[_Run]:
        runs: list[_Run] = []
        for _, line in self._lines():
            if isinstance(line, dict):
                runs.append(_Run(frozenset(line.get("feeds", ()))))
            elif isinstance(line, str):
                runs[-1].pages.append(key_digest(line, self._seed))
            elif isinstance(line, int):
                runs[-1].n_on_disk = line
        return runs

    def _lines(self) -> Iterator[tuple[int, object]]:
        """Yield the values of the lines, each with the number of its run, from 0 on."""
        if not self._path.exists():
            return
        number = -1
        with self._path.open("rb") as file:
            for line in file:
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                number += isinstance(value, dict)
                if number >= 0:
                    yield number, value

    def _is_among(self, digests: npt.NDArray[np.uint64], key: str) -> bool:
        """Is a page among these digests, which are in ascending order?"""
        digest = np.uint64(key_digest(key, self._seed))
        place = int(np.searchsorted(digests, digest))
        return place < len(digests) and bool(digests[place] == digest)


def begin_run(job: Job, store: Store, feeds: Mapping[str, bool]) -> tuple[JobJournal, int]:
    """Begin a run in the journal of a job; return the journal and how many pages were forgotten.

    :param store: forgets the pages that are only in feeds that the run overwrites.
    :param feeds: the run's feeds by id; does it overwrite them?
    :raises OSError: when the journal cannot be read or written.
    :raises StoreError: when the store fails to forget them.
    """
    journal = JobJournal(job.journal, store.secret)
    overwritten = sorted(feed for feed in journal.feeds if feeds.get(feed))
    forgotten = sum(map(store.forget, journal.lost(overwritten)))
    # The store must have forgotten them before they leave the journal.
    if isinstance(store, InProcessStore):
        store.flush()
    journal.begin(list(feeds), overwritten)
    if forgotten:
        message = _STORED_AGAIN if job.is_recovered else _OVERWRITTEN
        logger.warning(message, ", ".join(overwritten), job.folder, forgotten)
    return journal, forgotten


def _on_disk(runs: Sequence[_Run]) -> npt.NDArray[np.uint64]:
    """Return the digests of the pages of these runs that are on disk, ascending.

    Of a run without feeds these are all pages.
    """
    pages = [run.pages[: run.n_on_disk] if run.feeds else run.pages for run in runs]
    return np.unique(np.concatenate([np.empty(0, np.uint64), *pages]))
