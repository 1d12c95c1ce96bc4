"""Makes skipped requests after all, a few at a time, in this run or in the next.

Scrapy's ``requests.seen`` contains skipped requests, and its queue does not: without a file of
their own they would be lost when the page for which they were skipped fails in the next run, or a
rule is withdrawn. The file is written when a run ends cleanly; after another end the job is
recovered as a whole, see :mod:`~scrapy_neardup.crawl.durability.job`.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.http import Request
from scrapy.utils.request import request_from_dict

from ...url_rules.learner import Learner
from ..async_bridge import engine_of, start, wait_for
from ..durability.job import Job

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")

#: What is done at once: URLs that are updated after changes of rules, and requests that are made.
_UPDATED_AT_ONCE, _MADE_AT_ONCE = 100, 20
#: Format of the file for the next run.
_VERSION = 1


class RefetchQueue:
    """Requests that were skipped and must be made.

    :param count: adds to a stat.
    :param learner: the source of requests.
    :param skips: else requests that the last run of the job skipped are made.
    :param job: keeps from one run to the next what was skipped.
    """

    def __init__(
        self,
        crawler: Crawler,
        count: Callable[[str, int], None],
        learner: Learner,
        job: Job | None,
        *,
        skips: bool,
    ) -> None:
        self._learner = learner
        self._crawler = crawler
        self._count = count
        self._job = job
        self._skips = skips
        #: Requests, as they are or packed.
        self._requests: deque[Request | bytes] = deque()
        self._is_stopped = False
        self._is_working = False

    def __len__(self) -> int:
        return len(self._requests)

    def load(self) -> None:
        """Take over what the last run of the job left."""
        if self._job is None:
            return
        try:
            learned, refetches = read_left(self._job.held)
        except (OSError, ValueError) as error:
            # The next run can only recover from a run that is not marked as ended cleanly.
            self._job.fail()
            logger.error(
                "%s cannot be read: %s. Requests that URL rules skipped in the last run are lost, "
                "as requests.seen contains them. Stop this run, and start it again with "
                "NEARDUP_RECOVER = True: it makes all requests again, and stores no unchanged "
                "page again",
                self._job.held,
                (isinstance(error, OSError) and error.strerror) or error,
            )
            return
        self._requests.extend(refetches)
        if self._skips:
            self._learner.resume(learned)
        else:
            self._requests.extend(request for _, request in learned.get("kept", ()))

    def save(self) -> None:
        """Leave what was not made, and what was skipped, to the next run of the job."""
        if self._job is None or not self._job.is_ours:
            return
        learned: dict[str, Any] = {}
        if self._skips:
            self._requests.extend(self._learner.take_refetches())
            learned = self._learner.state(self._packed)
        refetches = [packed for request in self._requests if (packed := self._packed(request))]
        try:
            write_left(self._job.held, learned, refetches)
        except OSError as error:
            self._job.fail()
            logger.error("Skipped requests cannot be kept for the next run: %s", error)

    def stop(self) -> None:
        """Make no more requests: the scheduler is closed."""
        self._is_stopped = True

    def process(self) -> None:
        """Make some requests, and the others in later turns of the event loop."""
        self._requests.extend(self._learner.take_refetches())
        is_more = self.make(_MADE_AT_ONCE) or self._learner.has_pending
        if is_more and not self._is_working:
            self._is_working = True
            start(self._work())

    def make(self, most: int) -> bool:
        """Make so many requests, at most, and return whether there are more."""
        engine = engine_of(self._crawler)
        spider = None if engine is None else engine.spider
        if engine is None or spider is None or self._is_stopped:
            return False
        for _ in range(min(most, len(self._requests))):
            request = self._requests.popleft()
            if isinstance(request, bytes):
                try:
                    request = request_from_dict(pickle.loads(request), spider=spider)
                except ValueError as error:  # the spider has no such callback any more
                    self._drop("from an earlier run", error)
                    continue
            self._count("url_rules/refetched", 1)
            engine.crawl(request.replace(dont_filter=True))
        return bool(self._requests)

    async def _work(self) -> None:
        """Do all that is left, a part in each turn of the event loop: pages must not wait."""
        is_more = True
        try:
            while is_more and not self._is_stopped:
                await wait_for(None, 0)
                is_more = self._learner.process_pending(_UPDATED_AT_ONCE)
                self._requests.extend(self._learner.take_refetches())
                is_more |= self.make(_MADE_AT_ONCE)
        finally:
            self._is_working = False

    def _packed(self, request: Request | bytes) -> bytes | None:
        """Return a request as bytes, packed as by Scrapy's own disk queues."""
        if isinstance(request, bytes):
            return request
        assert self._crawler.spider is not None
        try:
            return pickle.dumps(request.to_dict(spider=self._crawler.spider), protocol=4)
        except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
            self._drop(request, error)  # its callback is a lambda, for example
            return None

    def _drop(self, request: object, error: Exception) -> None:
        """Drop what cannot be packed, as Scrapy's own queues do."""
        logger.warning("A skipped request is lost, %s: %s", request, error)
        self._count("url_rules/let_go", 1)


def read_left(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    """Return what the last run left; nothing where there is no such file.

    :returns: see :meth:`~scrapy_neardup.url_rules.learner.Learner.state`, with packed requests; and
        packed requests that must be made.
    :raises OSError: when the file cannot be read.
    :raises ValueError: when it is damaged, or of another format.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}, []
    try:
        version, learned, refetches = pickle.loads(content)
    except Exception as error:  # whatever broken bytes make of the unpickler
        raise ValueError(f"it is damaged ({error!r})") from error
    if version != _VERSION:
        raise ValueError(
            f"it has format {version!r}, from another scrapy-neardup than this one, which reads "
            f"format {_VERSION}"
        )
    return learned, refetches


def write_left(path: Path, learned: dict[str, Any], refetches: list[bytes]) -> None:
    """Replace what the last run left, atomically; see :func:`read_left`.

    :raises OSError: when it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        pickle.dump((_VERSION, learned, refetches), file, protocol=4)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
