from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.request import RequestFingerprinter, fingerprint

from scrapy_neardup.crawl.requests import request_fingerprints as fingerprints
from scrapy_neardup.crawl.requests.request_fingerprints import (
    RememberedFingerprints,
    remember_fingerprints,
)

PLAIN = "http://a.example/b?d=1&c=2"
#: Not in its canonical form: a parameter without a value gets an equals sign.
ODD = "http://a.example/b?d"


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
    st.sampled_from([PLAIN, "http://a.example/b?c=2&d=1", f"{PLAIN}#x", "http://a.example/B"])
    | st.text("/.?&=;%4aAé", max_size=8).map("http://a.example/".__add__),
    method=st.sampled_from(["GET", "POST", "HEAD"]),
    body=st.sampled_from([b"", b"x"]),
    meta=st.sampled_from([{}, {"depth": 1}, {"verbatim_url": True}, {"verbatim_url": False}]),
    headers=st.sampled_from([{}, {"Cookie": "a"}]),
)


@given(st.lists(REQUESTS, max_size=12))
def test_fingerprints_are_scrapys(requests):
    remembered = RememberedFingerprints(RequestFingerprinter())
    assert [remembered.fingerprint(one) for one in requests] == [
        fingerprint(one.copy()) for one in requests
    ]


def test_scrapy_looks_at_nothing_else():
    """A Scrapy whose fingerprints hang on more must not be answered from memory."""
    looked_at = set()

    class Watched(Request):
        def __getattribute__(self, name: str) -> Any:
            looked_at.add(name)
            return super().__getattribute__(name)

    class Meta(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            looked_at.add(f"meta[{key}]")
            return super().get(key, default)

    request = Watched(PLAIN)
    request._meta = Meta()
    looked_at.clear()
    fingerprint(request)
    public = {name for name in looked_at if not name.startswith("_")}
    assert public - {"meta[verbatim_url]", "meta"} == {"url", "method", "body"}


def test_a_url_is_computed_once(counting):
    remembered = RememberedFingerprints(counting)
    counting.asked = 0
    assert remembered.fingerprint(Request(ODD)) == remembered.fingerprint(Request(ODD))
    assert counting.asked == 1
    remembered.fingerprint(Request(ODD, method="POST"))
    assert counting.asked == 2


def test_scrapy_is_not_asked_for_plain_urls(counting):
    remembered = RememberedFingerprints(counting)
    counting.asked = 0
    assert remembered.fingerprint(Request(PLAIN)) == fingerprint(Request(PLAIN))
    assert counting.asked == 0


def test_a_scrapy_that_hashes_something_else_is_always_asked():
    class Later(RequestFingerprinter):
        def fingerprint(self, request: Request) -> bytes:
            return b"later" + super().fingerprint(request)

    remembered = RememberedFingerprints(Later())
    assert remembered.fingerprint(Request(PLAIN)) == b"later" + fingerprint(Request(PLAIN))


def test_what_was_not_met_for_longest_is_forgotten(counting, monkeypatch):
    monkeypatch.setattr(fingerprints, "MAX_URLS", 2)
    remembered = RememberedFingerprints(counting)
    counting.asked = 0
    for page, asked in (("a", 1), ("b", 2), ("a", 2), ("c", 3), ("a", 3), ("b", 4)):
        remembered.fingerprint(Request(f"{ODD}{page}"))
        assert counting.asked == asked


def test_long_urls_are_not_remembered(counting):
    remembered = RememberedFingerprints(counting)
    counting.asked = 0
    for _ in range(2):
        remembered.fingerprint(Request(f"http://a.example/{'a' * 3000}"))
    assert counting.asked == 2


def test_a_projects_own_fingerprinter_is_always_asked(counting):
    own = RFPDupeFilter(fingerprinter=counting)
    remember_fingerprints(own)
    assert own.fingerprinter is counting
    other = BaseDupeFilter()
    remember_fingerprints(other)
    assert vars(other) == {}


def test_scrapys_filter_takes_them_from_memory():
    scrapys = RFPDupeFilter()
    remember_fingerprints(scrapys)
    assert isinstance(scrapys.fingerprinter, RememberedFingerprints)
    urls = [PLAIN, PLAIN, f"{PLAIN}&e=3", "http://a.example/b?c=2&d=1"]
    assert [scrapys.request_seen(Request(url)) for url in urls] == [False, True, False, True]
