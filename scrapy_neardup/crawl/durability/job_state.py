"""Did the last run with this JOBDIR end cleanly?

Scrapy writes ``requests.seen`` as it goes, and what is still to be fetched only at a clean end.
After a kill the requests that were under way, and those that waited, are in the first alone: they
are filtered for ever (scrapy#4106, scrapy#2399).
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
_QUEUE_STATE = "active.json"
_HELD = "neardup.held"
_JOURNAL = "neardup.stored"


class Job:
    """A job directory.

    :param folder: it exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Whatever ends the process lets go of it.
        self._lock = FileLock(folder / _LOCK, thread_local=False)
        self._has_failed = False
        #: Does this run make all requests again?
        self.is_recovered = False

    @property
    def ended_uncleanly(self) -> bool:
        """Was the last run stopped before it had ended by itself?"""
        if (self.folder / _MARKER).exists():
            return True
        queue = self.folder / _QUEUE
        has_no_queue = queue.is_dir() and not (queue / _QUEUE_STATE).exists()
        return has_no_queue and self._has_seen

    @property
    def has_lost_requests(self) -> bool:
        """Was it stopped so that there are requests that are never made again?"""
        return self.ended_uncleanly and self._has_seen

    @property
    def held(self) -> Path:
        """Where a run leaves what it held back to the next one."""
        return self.folder / _HELD

    @property
    def journal(self) -> Path:
        """Where it is noted which pages the runs of the job stored."""
        return self.folder / _JOURNAL

    @property
    def is_ours(self) -> bool:
        """Does this process run it?"""
        return self._lock.is_locked

    def fail(self) -> None:
        """What a run needs of the one before is not on disk: this one does not end cleanly."""
        self._has_failed = True

    def recover(self) -> Path | None:
        """Put aside what Scrapy remembers of requests, so that all are made again.

        Also what waits is put aside: the files of its queue are not whole after a kill. So is what
        rules held back: it is met again.

        :returns: the folder to which it was moved; ``None`` where another process runs the job.
        """
        # Killed amid this, the job is still one that has not ended cleanly.
        if not self.begin():
            return None
        aside = Path(mkdtemp("", strftime("unclean-%Y%m%d-", gmtime()), self.folder))
        for name in (_SEEN, _QUEUE, _HELD):
            if (self.folder / name).exists():
                (self.folder / name).rename(aside / name)
        self.is_recovered = True
        return aside

    def begin(self) -> bool:
        """Note that a run has begun; not where another process runs the job."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        (self.folder / _MARKER).touch()
        return True

    def end(self) -> None:
        """Note that it has ended cleanly."""
        if self._lock.is_locked:
            if not self._has_failed:
                (self.folder / _MARKER).unlink(missing_ok=True)
            self._lock.release(force=True)

    @property
    def _has_seen(self) -> bool:
        return (self.folder / _SEEN).exists()


def recover_where_asked(config: Config, job: Job | None) -> None:
    """Say what an unclean stop has lost, and have it fetched again where that is asked for."""
    if job is None or not job.ended_uncleanly:
        return
    if not config.recover:
        if job.has_lost_requests:
            logger.warning(
                "The last run with JOBDIR %s did not end cleanly: requests that were under way or "
                "waiting are never made again, for requests.seen has them. NEARDUP_RECOVER = True "
                "has them made again",
                job.folder,
            )
        return
    aside = job.recover()
    if aside is None:
        logger.error("Nothing is recovered: another process runs the job in %s", job.folder)
        return
    logger.warning(
        "The last run did not end cleanly: all requests are made again, and pages that the job has "
        "stored already and that have not changed are not stored again. The old requests.seen and "
        "requests.queue are in %s",
        aside,
    )
