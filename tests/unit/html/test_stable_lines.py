"""Short lines, and what of them is the same in each copy of a page."""

from __future__ import annotations

import pytest

from scrapy_neardup.html.facts.stable_lines import stable_text


@pytest.mark.parametrize(
    ("line", "other", "is_same"),
    [
        ("12 people are viewing this", "9 people are viewing this", True),
        ("100+ bought in past month", "200+ bought in past month", True),
        ("In 12 carts", "In 31 carts", True),
        ("5 Personen sehen sich das an", "8 Personen sehen sich das an", True),
        # what the words of these say elsewhere
        ("Set of 6 baskets", "Set of 12 baskets", False),
        ("3 hours of whale watching", "4 hours of whale watching", False),
        ("2 rooms looking on the sea", "3 rooms looking on the sea", False),
        ("2026-03-12", "2026-03-19", False),
    ],
)
def test_visitors_and_buyers_are_left_out(line, other, is_same):
    assert (stable_text(line) == stable_text(other)) is is_same
