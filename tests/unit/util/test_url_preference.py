from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup._util.url_preference import preference

#: Pieces of URLs, so that many differ in one thing only.
_URLS = st.builds(
    lambda *pieces: "".join(pieces),
    st.sampled_from(["http://", "https://", "HTTPS://", "http:", "//", ""]),
    st.sampled_from(["a.example", "amp.a.example", "A.example", "[a", "a.example:80", ""]),
    st.sampled_from(["", "/", "/print", "/x", "/x;jsessionid=1", "/x.amp", "/print/x.html"]),
    st.sampled_from(["", "?", "?a=1", "?sid=1", "?view=print", "?a=1&b=2", "?PHPSESSID=1&a"]),
    st.sampled_from(["", "#", "#print", "\ud800"]),
)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("http://a.example/article-with-a-long-name?a=1", "https://a.example/x?sid=1"),
        ("http://a.example/article;x=1", "http://a.example/x;jsessionid=12AB"),
        ("http://a.example/a?a=1&b=2&c=3", "https://a.example/print/a"),
        ("http://a.example/a?a=1", "https://a.example/a?view=print"),
        ("http://a.example/a?a=1", "https://a.example/a?amp=1"),
        ("http://a.example/a.html", "https://a.example/a-print.html"),
        ("http://a.example/a?a=1", "https://amp.a.example/a"),
        ("http://a.example/print-shops", "https://a.example/Print-Version/x"),
        ("http://a.example/long/name/of/it", "https://a.example/a?utm_source=x"),
        ("https://a.example/a/long", "http://a.example/a"),
        ("https://a.example/a", "https://a.example/a/"),
        ("https://a.example/a", "https://a.example/b"),
        ("http://a.example/a?print=1&sid=2", "http://[broken/"),
    ],
)
def test_the_better_url_comes_first(better, worse):
    assert preference(better) < preference(worse)


@given(st.lists(_URLS | st.text(), unique=True, min_size=2), st.randoms())
def test_the_order_is_strict_and_total(urls, random):
    keys = {url: preference(url) for url in urls}
    assert len(set(keys.values())) == len(urls)
    ordered = sorted(urls, key=preference)
    random.shuffle(urls)
    assert sorted(urls, key=preference) == ordered
