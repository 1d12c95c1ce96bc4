"""The state of a job directory (JOBDIR), and the journal of the pages that its runs stored.

Scrapy writes ``requests.seen`` continuously, but the queue of pending requests only at a clean end.
After a kill, requests that were in progress or queued are in ``requests.seen`` only, so they are
filtered for ever (scrapy#4106, scrapy#2399).
"""

from __future__ import annotations

import json
import logging
import os
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from time import gmtime, strftime

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from ...exceptions import InvalidOption
from ...stores import Store
from ...stores.codec import key_digest, key_seed
from ...stores.in_process import InProcessStore
from ..settings import Config

logger = logging.getLogger(__name__)

_MARKER = "neardup.running"
_LOCK = "neardup.lock"
_SEEN = "requests.seen"
_QUEUE = "requests.queue"
_HELD = "neardup.held"

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


class Job:
    """A job directory.

    :param folder: an existing directory.
    :ivar held: file of the requests that a run deferred, for the next one.
    :ivar journal: file of the :class:`~scrapy_neardup.crawl.durability.job.JobJournal`.
    :ivar is_recovered: whether this run makes all requests again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held = folder / _HELD
        self.journal = folder / "neardup.stored"
        # The system releases it when the process ends in whatever way.
        self._lock = FileLock(folder / _LOCK, thread_local=False)
        self._has_begun = self._has_failed = False
        self.is_recovered = False

    @property
    def ended_uncleanly(self) -> bool:
        """Whether the last run stopped without ending cleanly."""
        queue = self.folder / _QUEUE
        has_no_queue = queue.is_dir() and not (queue / "active.json").exists()
        # A run that is stopped while it starts leaves an empty file and no queue.
        seen = self.folder / _SEEN
        has_lost_requests = has_no_queue and seen.exists() and seen.stat().st_size > 0
        return (self.folder / _MARKER).exists() or has_lost_requests

    @property
    def has_seen_requests(self) -> bool:
        """Whether Scrapy has recorded requests, which it does not make again."""
        return (self.folder / _SEEN).exists()

    @property
    def is_ours(self) -> bool:
        """Whether this process runs the job."""
        return self._lock.is_locked

    def fail(self) -> None:
        """Mark this run as not ending cleanly, because its state on disk is incomplete."""
        self._has_failed = True

    def claim(self) -> None:
        """Keep other crawls from running the job, until :meth:`end`.

        Two would take requests from one queue, and neither would ever see it empty.

        :raises InvalidOption: when another crawl runs it, of this process or of another one.
        """
        if self.is_ours:
            return
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            expected = (
                "a folder that no other crawl uses: another process, or another spider of this "
                "process, runs the job. Wait until that is done, or give each crawl a JOBDIR of "
                "its own"
            )
            raise InvalidOption("JOBDIR", str(self.folder), expected) from None

    def recover(self) -> Path:
        """Move Scrapy's records of requests aside, so that all requests are made again.

        The queue is moved as well, because its files are incomplete after a kill, and so are the
        requests that URL rules deferred, because the crawl finds them again.

        :returns: the directory that has them now.
        :raises InvalidOption: when another crawl runs the job.
        """
        # The marker comes first: a kill from here on leaves an unclean job.
        self.begin()
        aside = Path(mkdtemp("", strftime("unclean-%Y%m%d-", gmtime()), self.folder))
        for name in (_SEEN, _QUEUE, _HELD):
            if (self.folder / name).exists():
                (self.folder / name).rename(aside / name)
        self.is_recovered = True
        return aside

    def begin(self) -> None:
        """Mark a run as begun.

        :raises InvalidOption: when another crawl runs the job.
        """
        self.claim()
        (self.folder / _MARKER).touch()
        self._has_begun = True

    def end(self, *, is_clean: bool = True) -> None:
        """Mark the run as ended, cleanly unless :meth:`fail` was called; give up the job.

        A run that has not begun leaves the mark of the last one.
        """
        if self.is_ours:
            if self._has_begun and is_clean and not self._has_failed:
                (self.folder / _MARKER).unlink(missing_ok=True)
            self._lock.release(force=True)


def claim_and_recover(config: Config, job: Job | None) -> None:
    """Claim a job, before Scrapy opens its queue, and say if its last run did not end cleanly.

    It is then recovered if NEARDUP_RECOVER is on; otherwise a warning names its lost requests.

    :raises InvalidOption: when another crawl runs the job.
    """
    if job is None:
        return
    job.claim()
    if not job.ended_uncleanly:
        return
    if config.recover:
        logger.warning(
            "The last run did not end cleanly: all requests are made again; pages that the job "
            "has stored are not stored again unless they have changed. The old requests.seen "
            "and requests.queue are in %s",
            job.recover(),
        )
    elif job.has_seen_requests:
        logger.warning(
            "The last run with JOBDIR %s did not end cleanly: Scrapy will not repeat the requests "
            "that were in progress or queued, because they are in requests.seen. Set "
            "NEARDUP_RECOVER = True to repeat them",
            job.folder,
        )


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
    """The journal of a job: records which pages its runs stored, and in which feeds.

    A run that overwrites a feed deletes what earlier runs of the job wrote to it. The pages of
    those runs then count as not stored: they are forgotten, and stored again when they are fetched.

    Each line is a JSON value: ``{"feeds": [...]}`` begins a run, a string is the key of a page, and
    a number says how many pages of the run are on disk. A line that a kill or a full disk has cut
    off is ignored.

    :param job: no other process writes its file.
    :param secret: secret of the job's store.
    :raises OSError: when the file cannot be read.
    """

    def __init__(self, job: Job, secret: bytes) -> None:
        self._job = job
        self._path = job.journal
        self._seed = key_seed(secret)
        self._runs = self._read()
        self._stored = _on_disk(self._runs)
        self._has_feeds = False
        self._n_noted = 0
        self._buffer: deque[str] = deque()
        self._writing = Lock()

    def repeats(self, key: str) -> bool:
        """Return whether this run makes all requests again, and an earlier one stored this page.

        The page must be known to be on disk.
        """
        return self._job.is_recovered and self._is_among(self._stored, key)

    def begin(self, store: Store, feeds: Mapping[str, bool]) -> int:
        """Begin a run, and return how many pages were forgotten; warn of them.

        :param store: forgets the pages that are only in feeds that the run overwrites.
        :param feeds: whether the run overwrites each of its feeds, by id.
        :raises OSError: when the file cannot be read or written.
        :raises StoreError: when the store fails to forget them.
        """
        written = frozenset().union(*(run.feeds for run in self._runs))
        overwritten = sorted(feed for feed in written if feeds.get(feed))
        is_kept = [run.feeds.isdisjoint(overwritten) for run in self._runs]
        forgotten = 0
        if not all(is_kept):
            kept = _on_disk(list(compress(self._runs, is_kept)))
            for number, line in self._lines():
                if isinstance(line, str) and not (is_kept[number] or self._is_among(kept, line)):
                    forgotten += store.forget(line)
            # The store must have forgotten them before they leave the journal.
            if isinstance(store, InProcessStore):
                store.flush()
            self._rewrite(is_kept)
            self._stored = kept
        self._has_feeds = bool(feeds)
        self._write([{"feeds": list(feeds)}], sync=True)
        if forgotten:
            message = _STORED_AGAIN if self._job.is_recovered else _OVERWRITTEN
            logger.warning(message, ", ".join(overwritten), self._job.folder, forgotten)
        return forgotten

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

    def _rewrite(self, is_kept: Sequence[bool]) -> None:
        """Remove the other runs from the file."""
        draft = self._path.with_name(f"{self._path.name}.new")
        with draft.open("w", encoding="ascii") as file:
            for number, line in self._lines():
                if is_kept[number]:
                    file.write(f"{json.dumps(line)}\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)

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
        """Return whether a page is among these digests, which are in ascending order."""
        digest = np.uint64(key_digest(key, self._seed))
        place = int(np.searchsorted(digests, digest))
        return place < len(digests) and bool(digests[place] == digest)


def _on_disk(runs: Sequence[_Run]) -> npt.NDArray[np.uint64]:
    """Return the digests of the pages of these runs that are on disk, ascending.

    Of a run without feeds these are all pages.
    """
    pages = [run.pages[: run.n_on_disk] if run.feeds else run.pages for run in runs]
    return np.unique(np.concatenate([np.empty(0, np.uint64), *pages]))
