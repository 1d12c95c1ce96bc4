"""Logs errors that end a crawl before it starts: one line each, and no traceback.

If a component raises while it starts, Scrapy fails the crawl, and ``scrapy crawl`` exits with
status 1. Most scripts do not await such a crawl, so asyncio and Twisted log the error once more,
with its whole traceback. :func:`log_start_error` keeps that out of the log.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from twisted.logger import globalLogBeginner
from twisted.python.log import PythonLoggingObserver, theLogPublisher

from ...exceptions import NearDupError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger("scrapy_neardup")

#: Message of the record that Twisted logs before that of an unhandled error itself.
_UNHANDLED = "Unhandled error in Deferred:"
#: Attribute of an error that was logged. (Weak references would end before Twisted logs it.)
_MARK = "_neardup_is_logged"


def log_start_error(error: Exception) -> None:
    """Log an error before it is raised to Scrapy; with its traceback if it is unexpected."""
    logger.error("Cannot start the crawl: %s", error, exc_info=not isinstance(error, NearDupError))
    setattr(error, _MARK, True)
    for name in "asyncio", "twisted":
        logging.getLogger(name).addFilter(_unreported)
    _stop_printing()


async def close_unstarted(crawler: Crawler, error: Exception, reason: str) -> None:
    """Log an error, and close a spider that is still being opened.

    Scrapy would close it with the reason ``"shutdown"`` and without ``spider_opened``, so its own
    extensions would fail. Complete the start first, as Scrapy does for ``CloseSpider``.
    """
    assert crawler.spider is not None
    assert crawler.engine is not None
    await crawler.signals.send_catch_log_async(signals.spider_opened, spider=crawler.spider)
    log_start_error(error)
    await crawler.engine.close_spider_async(reason=reason)


class _UnreportedErrors(logging.Filter):
    """Rejects the records of errors that :func:`log_start_error` has logged."""

    def __init__(self) -> None:
        super().__init__()
        self._unhandled: logging.LogRecord | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is about another error."""
        unhandled, self._unhandled = self._unhandled, None
        if record.exc_info and hasattr(record.exc_info[1], _MARK):
            return False
        if unhandled is not None:
            logging.getLogger(unhandled.name).callHandlers(unhandled)
        if record.name == "twisted" and record.getMessage().strip() == _UNHANDLED:
            self._unhandled = record
            return False
        return True


_unreported = _UnreportedErrors()


def _stop_printing() -> None:
    """Stop Twisted from printing to standard error what it also logs.

    It prints until a log target is selected, which Scrapy never does.
    """
    is_logged = any(
        isinstance(getattr(observer, "__self__", None), PythonLoggingObserver)
        for observer in theLogPublisher.observers
    )
    if is_logged and getattr(globalLogBeginner, "_temporaryObserver", None) is not None:
        globalLogBeginner.beginLoggingTo([], discardBuffer=True, redirectStandardIO=False)
