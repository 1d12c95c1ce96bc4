from __future__ import annotations

import pytest

from scrapy_neardup.urls import page_key, site_of


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
