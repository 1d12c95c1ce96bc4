from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.request import RequestFingerprinter, fingerprint

from scrapy_neardup import dupefilters
from scrapy_neardup.dupefilters import (
    CachedFingerprints,
    cache_fingerprints,
)

URL = "http://a.example/b?d=1&c=2"


class Counting(RequestFingerprinter):
    """Scrapy's own, and how often it was asked."""

    asked = 0

    def fingerprint(self, request: Request) -> bytes:
        self.asked += 1
        return super().fingerprint(request)


@pytest.fixture
def counting():
    return Counting()


REQUESTS = st.builds(
    Request,
    st.sampled_from([URL, "http://a.example/b?c=2&d=1", f"{URL}#x", "http://a.example/B"])
    | st.text("/.?&=;%4aAé", max_size=8).map("http://a.example/".__add__),
    method=st.sampled_from(["GET", "POST", "HEAD"]),
    body=st.sampled_from([b"", b"x"]),
    meta=st.sampled_from([{}, {"depth": 1}, {"verbatim_url": True}, {"verbatim_url": False}]),
    headers=st.sampled_from([{}, {"Cookie": "a"}]),
)


@given(st.lists(REQUESTS, max_size=12))
def test_fingerprints_are_scrapys(requests):
    cached = CachedFingerprints(RequestFingerprinter())
    assert [cached.fingerprint(one) for one in requests] == [
        fingerprint(one.copy()) for one in requests
    ]


def test_scrapy_looks_at_nothing_else():
    """A Scrapy whose fingerprints hang on more must not be answered from the cache."""
    looked_at = set()

    class Watched(Request):
        def __getattribute__(self, name: str) -> Any:
            looked_at.add(name)
            return super().__getattribute__(name)

    class Meta(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            looked_at.add(f"meta[{key}]")
            return super().get(key, default)

    request = Watched(URL)
    request._meta = Meta()
    looked_at.clear()
    fingerprint(request)
    public = {name for name in looked_at if not name.startswith("_")}
    assert public - {"meta[verbatim_url]", "meta"} == {"url", "method", "body"}


def test_a_url_is_computed_once(counting):
    cached = CachedFingerprints(counting)
    assert cached.fingerprint(Request(URL)) == cached.fingerprint(Request(URL))
    assert counting.asked == 1
    cached.fingerprint(Request(URL, method="POST"))
    assert counting.asked == 2


def test_the_least_recently_used_url_is_evicted(counting, monkeypatch):
    monkeypatch.setattr(dupefilters, "MAX_URLS", 2)
    cached = CachedFingerprints(counting)
    for page, asked in (("a", 1), ("b", 2), ("a", 2), ("c", 3), ("a", 3), ("b", 4)):
        cached.fingerprint(Request(f"{URL}{page}"))
        assert counting.asked == asked


def test_long_urls_are_not_cached(counting):
    cached = CachedFingerprints(counting)
    for _ in range(2):
        cached.fingerprint(Request(f"http://a.example/{'a' * 3000}"))
    assert counting.asked == 2


def test_a_projects_own_fingerprinter_is_always_asked(counting):
    own = RFPDupeFilter(fingerprinter=counting)
    cache_fingerprints(own)
    assert own.fingerprinter is counting
    other = BaseDupeFilter()
    cache_fingerprints(other)
    assert vars(other) == {}


def test_scrapys_dupefilter_uses_the_cache():
    scrapys = RFPDupeFilter()
    cache_fingerprints(scrapys)
    assert isinstance(scrapys.fingerprinter, CachedFingerprints)
    urls = [URL, URL, f"{URL}&e=3", "http://a.example/b?c=2&d=1"]
    assert [scrapys.request_seen(Request(url)) for url in urls] == [False, True, False, True]
