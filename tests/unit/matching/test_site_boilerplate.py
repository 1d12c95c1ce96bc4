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
from scrapy_neardup.text.titles import title_of, title_parts


def title(text: str) -> tuple[tuple[str, ...], ...]:
    return title_of(map(str.split, title_parts(text)))


def learned(*titles: str) -> TitleBoilerplate:
    frame = TitleBoilerplate()
    for text in titles:
        frame.learn(title(text))
    return frame


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
    frame = learned("Ferry | Harbour News", "Museum | Harbour News", "Bridge | Harbour News")
    assert frame.core(title("Ferry | Harbour News")) == {"ferry"}
    assert frame.core(title("Harbour News")) == set()


def test_before_it_is_known_it_is():
    frame = learned("Ferry | Harbour News", "Museum | Harbour News")
    assert frame.core(title("Ferry | Harbour News")) == {"ferry", "harbour", "news"}


def test_copies_of_a_page_teach_nothing():
    frame = learned(*["Ferry | Harbour News"] * 50)
    assert frame.core(title("Ferry | Harbour News")) == {"ferry", "harbour", "news"}


def test_and_neither_does_their_text():
    frame = SiteBoilerplate()
    for _ in range(9):
        frame.learn(title("Ferry | Harbour News"), sketch(b0=7))
    assert own_places(frame.texts, sketch(b0=7)) == [0]


def test_what_comes_back_on_few_pages_stays_the_pages_own():
    goods = [f"Ware {number} | Shop" for number in range(40)]
    colours = [f"{ware} | navy | Shop" for ware in ("Jumper", "Scarf", "Cap", "Glove")]
    frame = learned(*goods, *colours)
    assert frame.core(title("Jumper | navy | Shop")) == {"jumper", "navy"}


def test_titles_are_learned_in_bounded_memory():
    frame = SiteBoilerplate()
    empty = np.zeros(SKETCH_BINS, np.uint8)
    for number in range(20 * MAX_ENTRIES):
        page_title = title(f"Page {number} of many {number} | Part {number} | Site")
        frame.learn(page_title, empty)
        frame.learn_thin(page_title, number.to_bytes(16, "big"))
    tables = vars(frame.titles)
    assert max(len(table) for table in tables.values() if hasattr(table, "__len__")) <= MAX_ENTRIES
    assert len(frame._thin_texts) <= MAX_ENTRIES
    # What the titles share has outlived all that they do not.
    assert frame.titles.core(title("Page 7 | Site")) == {"page", "7"}


def sketch(**values: int) -> np.ndarray:
    out = np.zeros(SKETCH_BINS, np.uint8)
    for place, value in values.items():
        out[int(place[1:])] = value
    return out


def own_places(frame: TextBoilerplate, page: np.ndarray) -> list[int]:
    return np.flatnonzero(frame.own(page)).tolist()


def test_what_many_pages_hold_is_the_sites():
    frame = TextBoilerplate()
    for number in range(1, 11):
        frame.learn(sketch(b0=7, b1=number, b2=9 if number < 3 else number + 20))
    page = sketch(b0=7, b1=1, b2=9, b3=5)
    assert own_places(frame, page) == [1, 2, 3]
    assert own_places(TextBoilerplate(), page) == [0, 1, 2, 3]


def test_a_value_of_the_frame_outlives_passing_ones():
    frame = TextBoilerplate()
    for number in range(1, 200):
        frame.learn(sketch(b0=number % 250 + 1 if number % 3 else 7))
    assert own_places(frame, sketch(b0=7)) == []
    assert own_places(frame, sketch(b0=199 + 1)) == [0]
    assert own_places(frame, sketch(b0=197 + 1)) == [0]


def test_counters_do_not_overflow():
    frame = TextBoilerplate()
    for _ in range(70_000):
        frame.learn(sketch(b0=7))
    assert own_places(frame, sketch(b0=7, b1=1)) == [1]


@pytest.mark.parametrize("every", [1, 3, 7, 1000])
def test_a_site_is_learned_alike_however_often_it_is_asked_about(every):
    rng = np.random.default_rng(7)
    frame, titles, texts = SiteBoilerplate(), TitleBoilerplate(), TextBoilerplate()
    for number in range(100):
        page_title = title(f"Page {number % 60} | Part {number % 5} | Site")
        page = rng.integers(0, 4, SKETCH_BINS).astype(np.uint8)
        frame.learn(page_title, page)
        if titles.learn(page_title):
            texts.learn(page)
        if number % every == 0:
            assert frame.titles.core(page_title) == titles.core(page_title)
            assert own_places(frame.texts, page) == own_places(texts, page)
    assert frame.titles.met == titles.met
    assert own_places(frame.texts, page) == own_places(texts, page)


def test_of_a_site_that_nobody_asks_about_few_pages_wait():
    frame = SiteBoilerplate()
    for number in range(1000):
        frame.learn(title(f"Page {number}"), sketch(b0=7))
        assert len(frame._waiting) < 16


def test_a_text_under_several_titles_is_a_notice():
    frame = SiteBoilerplate()
    frame.learn_thin(title("One"), b"text")
    frame.learn_thin(title("One"), b"text")
    assert not frame.is_notice(b"text")
    frame.learn_thin(title("Two"), b"text")
    assert frame.is_notice(b"text")
    assert not frame.is_notice(b"other")


def test_sites_are_remembered_in_bounded_number():
    frames = Boilerplates()
    first = frames.of("first.example")
    for number in range(MAX_SITES - 1):
        frames.of(f"{number}.example")
    assert frames.of("first.example") is first
    for number in range(MAX_SITES):
        frames.of(f"more{number}.example")
    assert frames.of("first.example") is not first
    assert len(frames._sites) == MAX_SITES


def test_a_site_that_was_forgotten_is_learned_again():
    taught = []

    def teach(site: str, frame: SiteBoilerplate) -> None:
        taught.append(site)
        frame.learn_thin(title("One"), b"text")
        frame.learn_thin(title("Two"), b"text")

    frames = Boilerplates(teach)
    assert frames.of("a.example").is_notice(b"text")
    assert frames.of("a.example") is frames.of("a.example")
    assert taught == ["a.example"]
    for number in range(MAX_SITES):
        frames.of(f"{number}.example")
    assert frames.of("a.example").is_notice(b"text")
    assert taught.count("a.example") == 2
