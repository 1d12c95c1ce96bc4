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

#: Message that Twisted logs before the record of an unhandled error itself.
_UNHANDLED = "Unhandled error in Deferred:"
#: Attribute of an error that was logged. (Weak references would end before Twisted logs it.)
_MARK = "_neardup_is_logged"


def log_start_error(error: Exception) -> None:
    """Log an error before it is raised to Scrapy; with its traceback if it is unexpected."""
    logger.error("Cannot start the crawl: %s", error, exc_info=not isinstance(error, NearDupError))
    setattr(error, _MARK, True)
    for name in "asyncio", "twisted":
        logging.getLogger(name).addFilter(_is_about_another)
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


def _is_about_another(record: logging.LogRecord) -> bool:
    """Return whether a record is about an error that :func:`log_start_error` has not logged."""
    if record.name == "twisted" and record.getMessage().strip() == _UNHANDLED:
        return False
    return not (record.exc_info and hasattr(record.exc_info[1], _MARK))


def _stop_printing() -> None:
    """Stop Twisted from printing to standard error what it also logs.

    It prints until a log target is selected, which Scrapy never does.
    """
    observers = [getattr(observer, "__self__", None) for observer in theLogPublisher.observers]
    is_logged = any(isinstance(observer, PythonLoggingObserver) for observer in observers)
    if is_logged and getattr(globalLogBeginner, "_temporaryObserver", None) is not None:
        globalLogBeginner.beginLoggingTo([], discardBuffer=True, redirectStandardIO=False)
