"""The log lines on soft 404s; those that warn come once for each host."""

from __future__ import annotations

import logging

from ..._util.escaping import on_one_line
from ..monitoring.crawl_log import CrawlStats
from ..settings import Policy
from .probe import ProbeAnswer

logger = logging.getLogger("scrapy_neardup")

_SOFT = (
    "%s answers to addresses that do not exist as if they did: <%s> %s. Pages like this answer are "
    "soft 404s: they are never originals, and their items are %s"
)
_UNCLEAR = (
    "%s answers to addresses that do not exist as if they did, and its answers cannot be told from "
    "its pages: <%s> %s. Its soft 404s are not recognised (logged once for each host, counted in "
    "neardup/soft_404/unclear)"
)
_LATE = (
    "Pages of %s turned out to be soft 404s after they were judged, such as <%s>: their items may "
    "be stored. They are no longer originals (logged once for each host, counted in "
    "neardup/soft_404/late, signal soft_404_found_late)"
)


class Soft404Log:
    """Writes the log lines of one crawl.

    :param policy: that of the crawl.
    """

    def __init__(self, policy: Policy, stats: CrawlStats) -> None:
        self._policy = policy
        self._stats = stats

    def soft(self, host: str, answer: ProbeAnswer) -> None:
        """Log that a host answers as if a missing page were there."""
        done = "dropped" if self._policy.drops_soft_404s else "kept and counted"
        logger.info("%s", on_one_line(_SOFT % (host, answer.url, answer.description, done)))

    def unclear(self, host: str, answer: ProbeAnswer) -> None:
        """Warn that the answers of a host cannot be told from its pages."""
        words = map(on_one_line, (host, answer.url, answer.description))
        self._stats.warn_once(f"unclear answers of {host}", _UNCLEAR, *words)

    def failed(self, host: str, error: BaseException) -> None:
        """Log that a host gave no answer, or that it may not be asked."""
        logger.debug("%s gave no answer for a missing address: %r", host, error)

    def late(self, host: str, url: str) -> None:
        """Warn that a page turned out to be a soft 404 after it was judged."""
        told = map(on_one_line, (host, url))
        self._stats.warn_once(f"soft 404s of {host}", _LATE, *told)
