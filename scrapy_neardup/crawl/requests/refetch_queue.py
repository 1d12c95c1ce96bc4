"""Makes skipped requests after all, a few at a time, in this run or in the next."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy.http import Request

from ...url_rules.learner import Learner
from ..async_bridge import start, wait_for
from ..durability.job_state import Job
from ..scrapy_versions import engine_of
from . import deferred

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")

#: What is done at once: URLs that are updated after changes of rules, and requests that are made.
_UPDATED_AT_ONCE, _MADE_AT_ONCE = 100, 20


class RefetchQueue:
    """Requests that were skipped and must be made.

    :param count: adds to a stat.
    :param learner: the source of requests.
    :param job: keeps from one run to the next what was skipped.
    """

    def __init__(
        self,
        crawler: Crawler,
        count: Callable[[str, int], None],
        learner: Learner,
        job: Job | None = None,
    ) -> None:
        self._learner = learner
        self._crawler = crawler
        self._count = count
        self._job = job
        #: Requests, as they are or packed.
        self._requests: deque[Request | bytes] = deque()
        self._is_stopped = False
        self._is_working = False

    def __len__(self) -> int:
        return len(self._requests)

    def load(self, *, skips: bool) -> None:
        """Take over what the last run of the job left.

        :param skips: are requests skipped? Else those that were skipped are made.
        """
        if self._job is None:
            return
        try:
            left = deferred.read(self._job.held)
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
        self._requests.extend(left.refetches)
        if skips:
            self._learner.resume(left.learned)
        else:
            self._requests.extend(request for _, request in left.learned.get("kept", ()))

    def save(self, *, skips: bool) -> None:
        """Leave what was not made, and what was skipped, to the next run of the job."""
        if self._job is None or not self._job.is_ours:
            return
        left = deferred.DeferredRequests()
        if skips:
            self._requests.extend(self._learner.take_refetches())
            left.learned = self._learner.state(self._packed)
        left.refetches = [packed for request in self._requests if (packed := self._packed(request))]
        try:
            deferred.write(self._job.held, left)
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
            packed = self._requests.popleft()
            try:
                request = packed if isinstance(packed, Request) else deferred.unpack(packed, spider)
            except ValueError as error:
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
        if isinstance(request, bytes):
            return request
        assert self._crawler.spider is not None
        try:
            return deferred.pack(request, self._crawler.spider)
        except ValueError as error:
            self._drop(request, error)
            return None

    def _drop(self, request: object, error: Exception) -> None:
        """Drop what cannot be packed, as Scrapy's own queues do."""
        logger.warning("A skipped request is lost, %s: %s", request, error)
        self._count("url_rules/let_go", 1)
