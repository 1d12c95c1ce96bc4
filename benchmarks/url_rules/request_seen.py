"""Measures the processor time of each ``request_seen`` call, during a crawl and after it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from time import thread_time
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
from scrapy.dupefilters import RFPDupeFilter
from scrapy.http import Request

from scrapy_neardup import NearDupDupeFilter


@dataclass(frozen=True)
class Times:
    """Times of a number of calls, in microseconds."""

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
    """Times of ``request_seen``.

    :ivar whole: with what it wraps.
    :ivar wrapped: Scrapy's filter alone.
    :ivar ours: without that.
    :ivar asked: likewise, of requests that Scrapy's filter had not seen: of others, nothing is
        asked of ours.
    :ivar alone: the whole, of URLs that were not asked for before, one after the other when the
        crawl is over; ``None`` where that was not timed.
    """

    whole: Times
    wrapped: Times
    ours: Times
    asked: Times
    alone: Times | None = None


def fresh_urls(urls: Iterable[str], number: int, seed: int) -> Iterator[str]:
    """Return URLs of a site with new values of their last parameters.

    :param urls: at least one of them with parameters.
    """
    with_query = [url for url in urls if urlsplit(url).query]
    for count, url in enumerate(Random(seed).choices(with_query, k=number)):
        parts = urlsplit(url)
        *others, (name, _) = parse_qsl(parts.query, keep_blank_values=True)
        yield parts._replace(query=urlencode([*others, (name, f"fresh{count}")])).geturl()


class _Watch:
    """Times and answers of a class's request_seen; the last one that was asked."""

    def __init__(self, filter_class: Any) -> None:
        self.seconds, self.answers = array("d"), array("b")
        self.asked: Any = None
        self._class, self._method = filter_class, filter_class.request_seen
        filter_class.request_seen = self._watched(self._method)

    def stop(self) -> None:
        self._class.request_seen = self._method

    def _watched(self, method: Callable[[Any, Request], bool]) -> Callable[[Any, Request], bool]:
        def call(dupefilter: Any, request: Request) -> bool:
            self.asked = dupefilter
            started = thread_time()
            answer = method(dupefilter, request)
            self.seconds.append(thread_time() - started)
            self.answers.append(answer)
            return answer

        return call


class SeenClock:
    """Times the dupefilters of this process from now on."""

    def __init__(self) -> None:
        self._whole, self._wrapped = _Watch(NearDupDupeFilter), _Watch(RFPDupeFilter)

    def stop(self, fresh: Iterable[str] = ()) -> SeenTimes | None:
        """The times; ``None`` when there was no call that Scrapy's filter had not seen.

        :param fresh: URLs that the dupefilter is asked for now, as it is after its crawl.
        """
        for watch in (self._whole, self._wrapped):
            watch.stop()
        whole, wrapped = (np.array(watch.seconds) for watch in (self._whole, self._wrapped))
        is_asked = np.array(self._wrapped.answers) == 0
        if not is_asked.any():
            return None
        ours = whole - wrapped
        times = SeenTimes(*map(Times.of, (whole, wrapped, ours, ours[is_asked])))
        return replace(times, alone=_alone(self._whole.asked, fresh))


def _alone(dupefilter: NearDupDupeFilter, urls: Iterable[str]) -> Times | None:
    requests, seconds = [Request(url) for url in urls], array("d")
    for request in requests:
        started = thread_time()
        dupefilter.request_seen(request)
        seconds.append(thread_time() - started)
    return Times.of(seconds) if seconds else None
