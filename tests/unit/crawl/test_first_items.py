"""Items with one text on each page of a site: what tells them from a wall."""

from __future__ import annotations

import pytest

from scrapy_neardup import Verdict
from scrapy_neardup.crawl.monitoring.duplicate_floods import DuplicateFlood
from scrapy_neardup.crawl.monitoring.first_pages import FIRST, FirstPages, texts_of
from scrapy_neardup.reasons import Reason
from scrapy_neardup.signatures.signer import Signer
from tests.support.texts import FERRY

SITE = "https://shop.example"
_signer = Signer(secret=b"0123456789abcdef")


def flood_among(fields: list[str], *, are_copies: bool) -> DuplicateFlood | None:
    """Return the flood that the first items of pages reveal, which are copies of the first."""
    first, found, original = FirstPages(), None, None
    for n, markup in enumerate(fields):
        url = f"{SITE}/ware-{n}#item-1"
        [field] = _signer.sign(_signer.fragment_page(url, markup))
        verdict = Verdict("new", url, Reason.NO_MATCH)
        if field.n_features < 20:
            verdict = Verdict("undecided", url, Reason.FEW_FEATURES)
        elif original is not None and are_copies:
            text = original.text_digest
            verdict = Verdict(
                "duplicate", url, Reason.SIMILAR_TEXT, original.url, original_text=text
            )
        original = original or field
        found = first.judged(verdict, "shop.example", texts_of(verdict, field)) or found
    return found


@pytest.mark.parametrize("held", ["", "<img src=/logo.png>"])
def test_one_content_on_each_page_is_a_wall(held):
    texts = [f"<p>{FERRY} Asked {n} times.</p>{held}" for n in range(FIRST)]
    found = flood_among(texts, are_copies=True)
    assert found is not None
    assert found.what == "first_pages"


def test_one_text_with_another_picture_on_each_page_is_none():
    wares = [f"<p>{FERRY}</p><img src=/{n}.jpg>" for n in range(FIRST)]
    assert flood_among(wares, are_copies=False) is None


@pytest.mark.parametrize("markup", ["No description available.", "<p>No description.</p>"])
def test_a_short_text_on_each_page_is_none(markup):
    assert flood_among([markup] * FIRST, are_copies=False) is None
