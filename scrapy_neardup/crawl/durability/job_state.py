"""The state of a job directory (JOBDIR): detects unclean stops and recovers from them.

Scrapy writes ``requests.seen`` continuously, but the queue of pending requests only at a clean end.
After a kill, requests that were in progress or queued are in ``requests.seen`` only, so they are
filtered for ever (scrapy#4106, scrapy#2399).
"""

from __future__ import annotations

import logging
from pathlib import Path
from tempfile import mkdtemp
from time import gmtime, strftime

from filelock import FileLock, Timeout

from ..settings import Config

logger = logging.getLogger(__name__)

_MARKER = "neardup.running"
_LOCK = "neardup.lock"
_SEEN = "requests.seen"
_QUEUE = "requests.queue"
_HELD = "neardup.held"


class Job:
    """A job directory.

    :param folder: an existing directory.
    :ivar held: file of the requests that a run deferred, for the next one.
    :ivar journal: file of the :class:`~scrapy_neardup.crawl.durability.job_journal.JobJournal`.
    :ivar is_recovered: whether this run makes all requests again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held = folder / _HELD
        self.journal = folder / "neardup.stored"
        # The system releases it when the process ends in whatever way.
        self._lock = FileLock(folder / _LOCK, thread_local=False)
        self._has_failed = False
        self.is_recovered = False

    @property
    def ended_uncleanly(self) -> bool:
        """Whether the last run stopped without ending cleanly."""
        queue = self.folder / _QUEUE
        has_no_queue = queue.is_dir() and not (queue / "active.json").exists()
        return (self.folder / _MARKER).exists() or (has_no_queue and self.has_seen_requests)

    @property
    def has_seen_requests(self) -> bool:
        """Whether Scrapy has recorded requests, which it does not make again."""
        return (self.folder / _SEEN).exists()

    @property
    def is_ours(self) -> bool:
        """Does this process run the job?"""
        return self._lock.is_locked

    def fail(self) -> None:
        """Mark this run as not ending cleanly, because its state on disk is incomplete."""
        self._has_failed = True

    def recover(self) -> Path | None:
        """Move Scrapy's records of requests aside, so that all requests are made again.

        The queue is moved as well, because its files are incomplete after a kill, and so are the
        requests that URL rules deferred, because the crawl finds them again.

        :returns: the directory that has them now; ``None`` if another process runs the job.
        """
        # The marker comes first: a kill from here on leaves an unclean job.
        if not self.begin():
            return None
        aside = Path(mkdtemp("", strftime("unclean-%Y%m%d-", gmtime()), self.folder))
        for name in (_SEEN, _QUEUE, _HELD):
            if (self.folder / name).exists():
                (self.folder / name).rename(aside / name)
        self.is_recovered = True
        return aside

    def begin(self) -> bool:
        """Mark a run as begun; return ``False`` if another process runs the job."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        (self.folder / _MARKER).touch()
        return True

    def end(self) -> None:
        """Mark the run as ended, cleanly unless :meth:`fail` was called."""
        if self._lock.is_locked:
            if not self._has_failed:
                (self.folder / _MARKER).unlink(missing_ok=True)
            self._lock.release(force=True)


def recover_where_asked(config: Config, job: Job | None) -> None:
    """Recover an unclean job if NEARDUP_RECOVER is on; otherwise warn of its lost requests."""
    if job is None or not job.ended_uncleanly:
        return
    if config.recover:
        aside = job.recover()
        if aside is None:
            logger.error("Cannot recover JOBDIR %s: another process runs this job", job.folder)
        else:
            logger.warning(
                "The last run did not end cleanly: all requests are made again; pages that the job "
                "has stored are not stored again unless they have changed. The old requests.seen "
                "and requests.queue are in %s",
                aside,
            )
    elif job.has_seen_requests:
        logger.warning(
            "The last run with JOBDIR %s did not end cleanly: Scrapy will not repeat the requests "
            "that were in progress or queued, because they are in requests.seen. Set "
            "NEARDUP_RECOVER = True to repeat them",
            job.folder,
        )
