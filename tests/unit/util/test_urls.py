from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from scrapy_neardup._util.urls import (
    _canonical,
    are_on_one_host,
    is_dated_list,
    is_list,
    is_page_of_list,
    page_key,
    site_of,
)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.example.co.uk/a", "example.co.uk"),
        ("http://news.example.com:8080/", "example.com"),
        ("https://alice.github.io/post", "alice.github.io"),
        ("https://bob.github.io/post", "bob.github.io"),
        ("https://新闻.example.中国/", "example.中国"),
        ("http://127.0.0.1:8000/a", "127.0.0.1"),
        ("http://[::1]:8000/a", "::1"),
        ("http://localhost:8000/a", "localhost"),
        ("http://www.shop.example/a", "shop.example"),
        ("http://co.uk/", "co.uk"),
        ("http://intranet/a", "intranet"),
        ("data:text/html,x", ""),
        ("", ""),
        ("http://[broken/", ""),
    ],
)
def test_the_site_is_the_registrable_domain(url, site):
    assert site_of(url) == site


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        *(
            (f"https://a.example/{path}", True)
            for path in (
                *(
                    "",
                    "index.html",
                    "?utm_source=x&page=2",
                    "index.php?lang=de",
                    "tag/x",
                    "archives/1900/10",
                ),
                *("blog/page/3", "2020/05/17", "en/2020", "news/2020/05/", "archive"),
            )
        ),
        *(
            (f"https://a.example/{path}", False)
            for path in (
                *("?p=17", "index.php?id=17", "index.php?title=Tea", "default.aspx?page=1&item=17"),
                *(
                    "hotel/2001",
                    "act/1998/7",
                    "archives/1234.html",
                    "1812/7",
                    "ferry",
                    "2020/05/17/tea",
                ),
            )
        ),
        ("http://[broken/", False),
    ],
)
def test_addresses_of_lists(url, expected):
    assert is_list(url) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/", True),
        ("http://www.a.example/x", True),
        ("https://m.a.example/", True),
        ("https://b.a.example/", False),
        ("https://www.example/", False),
        ("http://[broken/", False),
    ],
)
def test_views_of_one_host(url, expected):
    assert are_on_one_host("https://a.example/", url) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.example/?b=2&a=1", "http://a.example/?a=1&b=2"),
        ("http://a.example/x#part", "http://a.example/x"),
        ("http://a.example/%7euser", "http://a.example/~user"),
    ],
)
def test_spellings_of_one_address(one, other):
    assert page_key(one) == page_key(other)


def test_other_arguments_are_another_page():
    assert page_key("http://a.example/?page=1") != page_key("http://a.example/?page=2")


def test_a_url_that_cannot_be_parsed_stands_for_itself():
    assert page_key("http://[broken/") == "http://[broken/"


def canonical(url: str) -> str:
    try:
        return canonicalize_url(url)
    except ValueError:
        return url


#: What stands in addresses, one by one and in groups, and what only looks like it.
_PIECES = [
    *"abZ09-_.~!$&'()*+,/:;=@?#|[]%\"<>\\`^{} é你\t\n\x00\x7f\ud800",
    *(".. /. /./ /.. // /a/ ?a= &a= &b=1 a=b ;x=1 :80 %E4%BD%A0 %FF".split()),
    *("%e4 %2F %41 %7E %20 %00 %2 %G0".split()),
]
_STARTS = [
    *("http://a.example/ https://a.example/x? https://a.example:8080/ http://a.example".split()),
    *("http://A.example/ http://[::1]/ http://u:p@a.example/ http:// data:".split()),
]


@given(st.sampled_from(_STARTS), st.lists(st.sampled_from(_PIECES), max_size=8), st.booleans())
@settings(max_examples=1000)
def test_the_key_is_w3libs_canonical_url(start, pieces, ends_with_start):
    url = "".join([*pieces, start] if ends_with_start else [start, *pieces])
    assert page_key(url) == canonical(url)


def test_long_urls_are_not_cached():
    before = _canonical.cache_info()
    url = f"http://a.example/{'a' * 3000}?b=2&a=1"
    assert page_key(url) == canonical(url)
    assert _canonical.cache_info() == before


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("2024/05/", True),
        ("archives/2024/", True),
        ("blog/archives/2024/05/index.html", True),
        ("news/2024.html", True),
        ("archives/", False),
        ("archives/page/7/", False),
        ("archives/1234.html", False),
        ("tag/2024/", False),
        ("a/b/c/archives/2024/", False),
        ("", False),
    ],
)
def test_is_dated_list(path, expected):
    assert is_dated_list(f"https://a.example/{path}") is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/tag/boats/page/2/", True),
        ("https://a.example/tag/boats/page-3/index.html", True),
        ("https://a.example/tag/boats/?page=2", True),
        ("https://a.example/tag/boats/", False),
        ("https://a.example/tag/boats/?id=2", False),
        ("https://a.example/tag/ships/page/2/", False),
        ("https://a.example/issue/page-1", False),
        ("https://b.example/tag/boats/page/2/", False),
        ("https://[a.example/", False),
    ],
)
@pytest.mark.parametrize("page", ["", "index.html", "page/5/", "?page=5"])
def test_is_page_of_list(url, expected, page):
    assert is_page_of_list(url, f"https://a.example/tag/boats/{page}") is expected
