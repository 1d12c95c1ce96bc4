"""Prices, and numbers that are none."""

from __future__ import annotations

from time import process_time

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup.text.signs.currencies import (
    CODED_PRICE,
    NAMED_PRICE,
    PRICE,
    price_places,
    prices_in,
)

PRICES = [
    "19,- €", "€ 19,-", "19,-", "199:-", "199 SEK", "DKK 199", "19,99 PLN", "199,00 NOK",
    "kr 199,-", "₱199", "₦1900", "₿0.5", "៛4000", "5 元", "¥ 1980", "Rp 199.000", "Rp199.000",
    "RM19.90", "RM 5", "199.000đ", "199.000 VNĐ", "AED 19", "19 ر.س", "19 د.إ", "د.إ 19",
    "199 kn", "199,00 kn", "R199", "R 1 299.00", "COP 199.000", "19.900 COP", "19p", "142.9p",
    "19 جنيه", "19 تومان", "۱۹٬۰۰۰ تومان", "CHF 19.–", "19.– Fr.", "Fr. 19.90", "199 PHP",
    "19.99 ALL", "1,299.00 TRY", "S/ 19.90", "1 900 FCFA", '199 ש"ח', "12 TND", "TZS 5000",
    "5 EUR/m²", "199 р.", "19,99 ZŁ",
]  # fmt: skip
OTHERS = [
    "ALL 5", "5 ALL", "TOP 10", "10 TOP", "CUP 2024", "TRY 5", "try 5", "5 tops", "MAD 5",
    "AMD 5600", "R2D2", "R16", "205/55 R16", "R134a", "Corp 199", "Rp", "RM-57", "v2.0",
    "Python 3.11", "PHP 8.3.12", "PHP 8", "COP 28", "SDG 13", "CRC 32", "CVE 2024", "SEKTION 5",
    "1080p", "p. 19", "19 p.", "12 kn", "30 Sek.", "Do 5 Fr 6", "2024 р.", "5 сумка", "5 krill",
    "(5,-3)", "12:30", "5-3", "10,000", "AB-12", "19.99", "2024-05-01", "+49 30 1234", "3.5.1",
    "fr 2024", "ISO 4217",
]  # fmt: skip


@pytest.mark.parametrize("text", PRICES)
def test_a_number_beside_a_currency_is_a_price(text):
    found = prices_in(f"now {text} only")
    assert found
    digits = [each for each in text if each.isdecimal()]
    assert max(([c for c in price if c.isdecimal()] for price in found), key=len) == digits


@pytest.mark.parametrize("text", OTHERS)
def test_a_number_of_another_kind_is_none(text):
    assert prices_in(f"now {text} only") == []


def test_marks_of_direction_do_not_part_a_number_from_its_currency():
    assert prices_in("19\xa0\u200fر.س.\u200e".replace("\xa0", " ")) == ["19 ر.س"]


def test_a_character_that_folds_to_two_moves_no_price():
    assert prices_in("Straße İ: 19 SEK") == ["19 sek"]


@pytest.mark.parametrize(
    "piece", ["1", "1,", "1 ", "1 000 ", "r", "A1", "$", "1-", "fr ", "1'", "5p"]
)
def test_hostile_texts_take_linear_time(piece):
    text = piece * (40_000 // len(piece))
    begin = process_time()
    prices_in(text)
    list(NAMED_PRICE.finditer(text))
    assert process_time() - begin < 5


PIECES = [
    "19", "1 299", ".99", ",-", "€", " kr", "SEK ", "RM", "R", "Rp.", "fr. ", "EUR", "PHP", " TRY",
    "円", "5p", "S/", "JPY", "DA", "1980", "1,299.00", " 000", "-", "'", " ", "x", " plain words ",
    "a longer passage without any price, so that two of them are further apart than one reaches ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@example(f"EUR 5 {'x' * 34} 00012DA1")  # what is searched around EUR ends before the last digit
def test_prices_are_found_wherever_a_search_of_the_whole_text_finds_them(text):
    whole = [
        *regex.finditer(PRICE, text.casefold(), regex.VERSION1),
        *regex.finditer(CODED_PRICE, text, regex.VERSION1),
    ]
    assert price_places(text) == sorted({match.span() for match in whole})


@pytest.mark.parametrize(
    ("text", "price"),
    [("€12.00 17 people", "€12.00"), ("$1,299.00 30 sold", "$1,299.00"), ("€12 50", "€12 50")],
)
def test_a_number_behind_the_cents_is_none_of_the_price(text, price):
    assert prices_in(text) == [price]
