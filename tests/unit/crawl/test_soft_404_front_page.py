"""Addresses of front pages, and those of other pages."""

from __future__ import annotations

import pytest

from scrapy_neardup.crawl.soft_404.front_page import is_front_page

FRONT = (
    "",
    "/",
    "/index.html",
    "/home",
    "/Welcome.aspx",
    "/en",
    "/EN/",
    "/en/index.php",
    "/zh-cn",
    "/pt_BR/",
    "/es-419/",
    "/zh-Hant-TW/",
    "/sr-latn",
    "/us-en/",
)
#: The first ones are pages of Python's documentation, and two-letter folders that are no language.
OTHER = ("/gc", "/os-walk", "/re-sub", "/xy/", "/gc/index.html", "/en/shop", "/eng", "/e", "/xx-yy")


@pytest.mark.parametrize("path", FRONT)
def test_roots_languages_and_usual_names_are_front_pages(path):
    assert is_front_page(f"https://a.example{path}")
    assert is_front_page(f"https://a.example{path}?utm_source=x")


@pytest.mark.parametrize("path", OTHER)
def test_short_names_that_are_no_language_are_not(path):
    assert not is_front_page(f"https://a.example{path}")


def test_all_languages_are_known():
    babel = pytest.importorskip("babel")
    known = {code for code in babel.Locale("en").languages if len(code) == 2}
    found = {code for code in _two_letters() if is_front_page(f"https://a.example/{code}")}
    # These codes are withdrawn; some versions know them.
    assert found == known - {"bh", "sh"}


def _two_letters() -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [one + other for one in letters for other in letters]
