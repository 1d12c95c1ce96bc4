"""Did the last run with this JOBDIR end cleanly?

Scrapy writes ``requests.seen`` as it goes, and what is still to be fetched only at a clean end.
After a kill the requests that were under way, and those that waited, are in the first alone: they
are filtered for ever (scrapy#4106, scrapy#2399).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from time import gmtime, strftime

from .config import Config

logger = logging.getLogger(__name__)

_MARKER = "neardup.running"
_SEEN = "requests.seen"
_QUEUE = "requests.queue"
_QUEUE_STATE = "active.json"


@dataclass(frozen=True)
class Job:
    """A job directory.

    :ivar folder: it exists.
    """

    folder: Path

    @property
    def has_lost_requests(self) -> bool:
        """Did the last run end uncleanly, with requests that are not fetched again?"""
        if not (self.folder / _SEEN).exists():
            return False
        queue = self.folder / _QUEUE
        has_no_queue = queue.is_dir() and not (queue / _QUEUE_STATE).exists()
        return has_no_queue or (self.folder / _MARKER).exists()

    def recover(self) -> Path:
        """Put aside what Scrapy remembers of requests, so that all are made again.

        Also what waits is put aside: the files of its queue are not whole after a kill.

        :returns: the folder to which it was moved.
        """
        aside = Path(mkdtemp("", strftime("unclean-%Y%m%d-", gmtime()), self.folder))
        for name in (_SEEN, _QUEUE):
            if (self.folder / name).exists():
                (self.folder / name).rename(aside / name)
        return aside

    def begin(self) -> None:
        """Note that a run has begun."""
        (self.folder / _MARKER).touch()

    def end(self) -> None:
        """Note that it has ended cleanly."""
        (self.folder / _MARKER).unlink(missing_ok=True)


def recovered(config: Config) -> Config:
    """Say what an unclean stop has lost, and have it fetched again where that is asked for."""
    if config.job is None or not (job := Job(config.job)).has_lost_requests:
        return config
    if not config.recover:
        logger.warning(
            "The last run with JOBDIR %s did not end cleanly: requests that were under way or "
            "waiting are never made again, for requests.seen has them. NEARDUP_RECOVER = True has "
            "them made again",
            config.job,
        )
        return config
    aside = job.recover()
    logger.warning(
        "The last run did not end cleanly: all requests are made again, and pages that are stored "
        "already and have not changed are not stored again. The old requests.seen and "
        "requests.queue are in %s",
        aside,
    )
    return replace(config, policy=replace(config.policy, revisit="drop"))
