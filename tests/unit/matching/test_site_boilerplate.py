from __future__ import annotations

import numpy as np
import pytest

from scrapy_neardup.hashing.minhash import SKETCH_BINS
from scrapy_neardup.matching.site_boilerplate import (
    MAX_ENTRIES,
    MAX_SITES,
    Boilerplates,
    SiteBoilerplate,
    TextBoilerplate,
    TitleBoilerplate,
)
from scrapy_neardup.text.titles import title_of, title_parts, title_words


def title(text: str) -> tuple[tuple[str, ...], ...]:
    return title_of(map(str.split, title_parts(text)))


def learned(*titles: str) -> TitleBoilerplate:
    boilerplate = TitleBoilerplate()
    for text in titles:
        boilerplate.learn(title(text))
    return boilerplate


def own_words(boilerplate: TitleBoilerplate, text: str) -> frozenset[str]:
    return title_words(boilerplate.own_parts(title(text)))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Kettle X200 | The Shop", ["kettle x200", "the shop"]),
        ("The ferry – Harbour News", ["the ferry", "harbour news"]),
        ("The ferry - Harbour News", ["the ferry", "harbour news"]),
        ("e-mail and 24/7 - Help", ["e-mail and 24/7", "help"]),
        ("文章标题_栏目_网站名", ["文章标题", "栏目", "网站名"]),
        ("公告（第二期）·网站", ["公告", "第二期", "网站"]),
        ("», |  · ", []),
        ("", []),
    ],
)
def test_a_title_is_cut_at_its_separators(text, parts):
    words = tuple(tuple(part.replace(",", "").split()) for part in parts)
    assert title(text.replace(",", "")) == words


def test_the_sites_name_is_not_the_pages_own():
    boilerplate = learned("Ferry | Harbour News", "Museum | Harbour News", "Bridge | Harbour News")
    assert own_words(boilerplate, "Ferry | Harbour News") == {"ferry"}
    assert own_words(boilerplate, "Harbour News") == set()


def test_before_it_is_known_it_is():
    boilerplate = learned("Ferry | Harbour News", "Museum | Harbour News")
    assert own_words(boilerplate, "Ferry | Harbour News") == {"ferry", "harbour", "news"}


def test_copies_of_a_page_teach_nothing():
    boilerplate = learned(*["Ferry | Harbour News"] * 50)
    assert own_words(boilerplate, "Ferry | Harbour News") == {"ferry", "harbour", "news"}


def test_and_neither_does_their_text():
    boilerplate = SiteBoilerplate()
    for _ in range(9):
        boilerplate.learn(title("Ferry | Harbour News"), sketch(b0=7))
    assert own_places(boilerplate.texts, sketch(b0=7)) == [0]


def test_what_comes_back_on_few_pages_stays_the_pages_own():
    goods = [f"Ware {number} | Shop" for number in range(40)]
    colours = [f"{ware} | navy | Shop" for ware in ("Jumper", "Scarf", "Cap", "Glove")]
    boilerplate = learned(*goods, *colours)
    assert own_words(boilerplate, "Jumper | navy | Shop") == {"jumper", "navy"}


def test_titles_are_learned_in_bounded_memory():
    boilerplate = SiteBoilerplate()
    empty = np.zeros(SKETCH_BINS, np.uint8)
    for number in range(20 * MAX_ENTRIES):
        page_title = title(f"Page {number} of many {number} | Part {number} | Site")
        boilerplate.learn(page_title, empty)
        boilerplate.learn_thin(page_title, number.to_bytes(16, "big"))
    tables = vars(boilerplate.titles)
    assert max(len(table) for table in tables.values() if hasattr(table, "__len__")) <= MAX_ENTRIES
    assert len(boilerplate._thin_texts) <= MAX_ENTRIES
    # What the titles share has outlived all that they do not.
    assert own_words(boilerplate.titles, "Page 7 | Site") == {"page", "7"}


def sketch(**values: int) -> np.ndarray:
    out = np.zeros(SKETCH_BINS, np.uint8)
    for place, value in values.items():
        out[int(place[1:])] = value
    return out


def own_places(boilerplate: TextBoilerplate, page: np.ndarray) -> list[int]:
    return np.flatnonzero(boilerplate.own(page)).tolist()


def test_what_many_pages_hold_is_the_sites():
    boilerplate = TextBoilerplate()
    for number in range(1, 11):
        boilerplate.learn(sketch(b0=7, b1=number, b2=9 if number < 3 else number + 20))
    page = sketch(b0=7, b1=1, b2=9, b3=5)
    assert own_places(boilerplate, page) == [1, 2, 3]
    assert own_places(TextBoilerplate(), page) == [0, 1, 2, 3]


def test_a_value_of_the_boilerplate_outlives_passing_ones():
    boilerplate = TextBoilerplate()
    for number in range(1, 200):
        boilerplate.learn(sketch(b0=number % 250 + 1 if number % 3 else 7))
    assert own_places(boilerplate, sketch(b0=7)) == []
    assert own_places(boilerplate, sketch(b0=199 + 1)) == [0]
    assert own_places(boilerplate, sketch(b0=197 + 1)) == [0]


def test_counters_do_not_overflow():
    boilerplate = TextBoilerplate()
    for _ in range(70_000):
        boilerplate.learn(sketch(b0=7))
    assert own_places(boilerplate, sketch(b0=7, b1=1)) == [1]


@pytest.mark.parametrize("every", [1, 3, 7, 1000])
def test_a_site_is_learned_alike_however_often_it_is_asked_about(every):
    rng = np.random.default_rng(7)
    boilerplate, titles, texts = SiteBoilerplate(), TitleBoilerplate(), TextBoilerplate()
    for number in range(100):
        page_title = title(f"Page {number % 60} | Part {number % 5} | Site")
        page = rng.integers(0, 4, SKETCH_BINS).astype(np.uint8)
        boilerplate.learn(page_title, page)
        if titles.learn(page_title):
            texts.learn(page)
        if number % every == 0:
            assert boilerplate.titles.own_parts(page_title) == titles.own_parts(page_title)
            assert own_places(boilerplate.texts, page) == own_places(texts, page)
    assert boilerplate.titles.count == titles.count
    assert own_places(boilerplate.texts, page) == own_places(texts, page)


def test_of_a_site_that_nobody_asks_about_few_pages_wait():
    boilerplate = SiteBoilerplate()
    for number in range(1000):
        boilerplate.learn(title(f"Page {number}"), sketch(b0=7))
        assert len(boilerplate._waiting) < 16


def test_a_text_under_several_titles_is_a_notice():
    boilerplate = SiteBoilerplate()
    boilerplate.learn_thin(title("One"), b"text")
    boilerplate.learn_thin(title("One"), b"text")
    assert not boilerplate.is_notice(b"text")
    boilerplate.learn_thin(title("Two"), b"text")
    assert boilerplate.is_notice(b"text")
    assert not boilerplate.is_notice(b"other")


def test_sites_are_remembered_in_bounded_number():
    boilerplates = Boilerplates()
    first = boilerplates.of("first.example")
    for number in range(MAX_SITES - 1):
        boilerplates.of(f"{number}.example")
    assert boilerplates.of("first.example") is first
    for number in range(MAX_SITES):
        boilerplates.of(f"more{number}.example")
    assert boilerplates.of("first.example") is not first
    assert len(boilerplates._sites) == MAX_SITES


def test_a_site_that_was_forgotten_is_learned_again():
    taught = []

    def teach(site: str, boilerplate: SiteBoilerplate) -> None:
        taught.append(site)
        boilerplate.learn_thin(title("One"), b"text")
        boilerplate.learn_thin(title("Two"), b"text")

    boilerplates = Boilerplates(teach)
    assert boilerplates.of("a.example").is_notice(b"text")
    assert boilerplates.of("a.example") is boilerplates.of("a.example")
    assert taught == ["a.example"]
    for number in range(MAX_SITES):
        boilerplates.of(f"{number}.example")
    assert boilerplates.of("a.example").is_notice(b"text")
    assert taught.count("a.example") == 2
