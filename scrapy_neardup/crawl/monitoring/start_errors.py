"""Errors that end a crawl before it starts: one line of the log each, and no traceback.

Scrapy fails a crawl for what its components raise while they start, which gives ``scrapy crawl``
exit status 1. Most scripts do not await such a crawl, so asyncio and Twisted log the error once
more, with its whole traceback. :func:`log_start_error` keeps that out of the log.
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

#: What Twisted logs of an error that nobody handles, in a record before that of the error itself.
_UNHANDLED = "Unhandled error in Deferred:"
#: Attribute of an error that was logged. (Weak references to it end before Twisted logs it.)
_MARK = "_neardup_is_logged"


def log_start_error(error: Exception) -> None:
    """Log an error that is about to be raised to Scrapy; with its traceback if it is unexpected."""
    logger.error("Cannot start the crawl: %s", error, exc_info=not isinstance(error, NearDupError))
    setattr(error, _MARK, True)
    for name in "asyncio", "twisted":
        logging.getLogger(name).addFilter(_unreported)
    _stop_printing()


async def close_unstarted(crawler: Crawler, error: Exception, reason: str) -> None:
    """Log an error, and close a spider that is still being opened.

    Scrapy would close it without ``spider_opened``, which its own extensions fail on, and with the
    reason ``"shutdown"``. As it does for ``CloseSpider``, the start is completed first.
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
        """Is this record about something else?"""
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
    """Let Twisted no longer print to standard error what goes to the log as well.

    It prints until a log target is selected, which Scrapy never does.
    """
    is_logged = any(
        isinstance(getattr(observer, "__self__", None), PythonLoggingObserver)
        for observer in theLogPublisher.observers
    )
    if is_logged and getattr(globalLogBeginner, "_temporaryObserver", None) is not None:
        globalLogBeginner.beginLoggingTo([], discardBuffer=True, redirectStandardIO=False)
