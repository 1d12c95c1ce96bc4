"""An item has other texts if another one lacks a fair share of them."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter

import pytest

from scrapy_neardup.matching.item_texts import ItemTexts, is_text, sketches_differ
from scrapy_neardup.matching.stored_items import StoredItems
from tests.support.texts import FERRY, MUSEUM, article

TITLE = (("kettle", "in", "steel"), ("morning", "post"))


def text_of(seed: int, n: int = 400) -> str:
    """Return words of which every fifth is long."""
    words = article(n, seed=seed)
    return " ".join(
        f"{word}{word}{number % 7}" if number % 5 == 0 else word
        for number, word in enumerate(words)
    )


LONG = text_of(1)
OTHER, MENU = text_of(2), text_of(3, 150)


@pytest.mark.parametrize(
    "value",
    ["thanks, that helped.", "miller", "3 hours ago", "茶叶博物馆", "спасибо", "c# and c++", "no."],
)
def test_words_are_texts(value):
    assert is_text(value)


@pytest.mark.parametrize(
    "value",
    ["https://a.example/kettle", "/kettle", "29.50 €", "2026-01-02t03:04:05", "a3f9c2e1", "kx-200",
     "17", "02.01.2026 03:04", "", "★★★"],
)  # fmt: skip
def test_numbers_dates_identifiers_and_urls_are_none(value):
    assert not is_text(value)


@pytest.mark.parametrize(
    ("values", "stored", "differs"),
    [
        (["thanks, that helped."], ["no idea, sorry."], True),
        (["thanks, that helped."], ["thanks, that helped."], False),
        (["thanks, that helped."], ["thanks, that helped a lot."], True),
        (["thanks!", "christopher miller"], ["no.", "christopher miller"], True),
        # The title is judged with the page.
        (["kettle in steel", "thanks!"], ["kettle in steel", "no."], True),
        (["kettle in steel"], ["kettle"], False),
        (["kettle in steel | morning post"], ["kettle"], False),
        # What each view of a page has for itself.
        ([LONG, "https://a.example/2", "a3f9c2e1"], [LONG, "https://a.example/1", "17"], False),
        ([LONG, "section: sport"], [LONG, "section: football"], False),
        (["printed from our site", LONG], [LONG], False),
        ([f"home news sport {LONG} all rights reserved"], [LONG], False),
        ([LONG], [f"home news sport {LONG}"], False),
        ([f"{MENU} {LONG}"], [LONG], False),
        ([f"{MENU} {LONG}"], [f"{MENU} {OTHER}"], True),
        ([f"<article class='big'><p>{LONG}</p></article>"], [f"<div>{LONG}</div>"], False),
        (["<p>thanks</p>"], ["<p>no</p>"], True),
        (["<p class=a>thanks</p>"], ["<p>thanks</p>"], False),
        ([f"<!doctype html><p>{LONG}", "sport"], [f"<html>{MENU} {LONG}", "football"], False),
        ([LONG], [OTHER], True),
        ([FERRY.casefold()], [MUSEUM.casefold()], True),
        # Without texts there is nothing to compare.
        (["17", "29.50 €"], ["18", "30.50 €"], False),
        ([], ["thanks"], False),
        (["thanks, that helped."], [], True),
    ],
)
def test_an_item_differs_by_its_own_texts(values, stored, differs):
    assert ItemTexts.of(values, TITLE).differ_from(ItemTexts.of(stored, TITLE)) is differs


def test_many_and_long_values_are_compared_in_bounded_time():
    values = [*(f"{word} {number}" for number, word in enumerate(article(20_000))), "x " * 100_000]
    start = perf_counter()
    assert not ItemTexts.of(values).differ_from(ItemTexts.of(values))
    assert perf_counter() - start < 1


def test_texts_are_forgotten_with_the_items(monkeypatch):
    monkeypatch.setattr("scrapy_neardup.matching.stored_items._MAX_DIGESTS", 2)
    items, texts = StoredItems(), ItemTexts.of(["thanks"])
    for number in range(4):
        items.note(f"u{number}", number, texts=texts)
    items.note("u3", 4)
    assert [len(items.texts_of(f"u{number}")) for number in range(4)] == [0, 0, 0, 1]


def test_sketches_tell_other_texts_apart_and_find_edited_ones():
    texts = [" ".join(article(80, seed)) for seed in range(200)]
    edited = [" ".join(["edited", *text.split()[1:]]) for text in texts]
    sketches, of_edited = ([ItemTexts.of([t]).sketch for t in each] for each in (texts, edited))
    n_found = sum(not sketches_differ(a, b) for a, b in zip(sketches, of_edited, strict=True))
    n_taken = sum(not sketches_differ(a, b) for a, b in pairwise(sketches))
    assert n_found > 170
    assert n_taken <= 3
    assert not any(sketches_differ(0, sketch) for sketch in sketches)
