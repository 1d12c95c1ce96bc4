"""Did the last run with this JOBDIR end cleanly?

Scrapy writes ``requests.seen`` as it goes, and what is still to be fetched only at a clean end.
After a kill the requests that were under way, and those that waited, are in the first alone: they
are filtered for ever (scrapy#4106, scrapy#2399).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from time import gmtime, strftime

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
