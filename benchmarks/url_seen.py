"""How long request_seen holds a crawl up: processor time of each call, within the crawl."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import thread_time
from typing import Any

import numpy as np
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Request

from scrapy_neardup import NearDupDupeFilter


@dataclass(frozen=True)
class Times:
    """Of so many calls, in microseconds."""

    calls: int
    median: float
    mean: float
    p99: float

    @classmethod
    def of(cls, seconds: Collection[float]) -> Times:
        """:param seconds: of each call; at least one."""
        values = 1e6 * np.asarray(seconds)
        median, p99 = np.quantile(values, (0.5, 0.99)).tolist()
        return cls(len(values), median, float(values.mean()), p99)


@dataclass(frozen=True)
class SeenTimes:
    """What request_seen took.

    :ivar whole: with what it wraps.
    :ivar wrapped: Scrapy's filter alone.
    :ivar ours: without that.
    :ivar asked: likewise, of requests that Scrapy's filter had not seen: of others, nothing is
        asked of ours.
    """

    whole: Times
    wrapped: Times
    ours: Times
    asked: Times


class _Watch:
    """Times and answers of a method."""

    def __init__(self) -> None:
        self.seconds, self.answers = array("d"), array("b")

    def watched(self, method: Callable[[Any, Request], bool]) -> Callable[[Any, Request], bool]:
        def call(dupefilter: Any, request: Request) -> bool:
            started = thread_time()
            answer = method(dupefilter, request)
            self.seconds.append(thread_time() - started)
            self.answers.append(answer)
            return answer

        return call


class SeenClock:
    """Times the dupefilters of this process from now on, for good."""

    def __init__(self) -> None:
        self._whole, self._wrapped = _Watch(), _Watch()
        watches = ((NearDupDupeFilter, self._whole), (RFPDupeFilter, self._wrapped))
        for filter_class, watch in watches:
            watched = watch.watched(filter_class.request_seen)
            filter_class.request_seen = watched  # type: ignore[assignment, method-assign]

    @property
    def times(self) -> SeenTimes | None:
        """``None`` when there was no call that Scrapy's filter had not seen."""
        whole, wrapped = (np.array(watch.seconds) for watch in (self._whole, self._wrapped))
        is_asked = np.array(self._wrapped.answers) == 0
        if not is_asked.any():
            return None
        ours = whole - wrapped
        return SeenTimes(*map(Times.of, (whole, wrapped, ours, ours[is_asked])))
