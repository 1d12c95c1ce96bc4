"""Stored pages that may have the content of a page, judged by passages alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from scrapy_neardup.hashing.minhash import ShingleKey
from scrapy_neardup.hashing.postings import Postings
from scrapy_neardup.matching.passage_candidates import (
    MAX_PAGES,
    MAX_RECORDED,
    MIN_RARE,
    PassageCandidates,
    passage_candidates,
)
from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.matching.site_boilerplate import Boilerplates
from scrapy_neardup.signatures.quick_sketch import quick_sketch
from scrapy_neardup.signatures.signature import PageSignature


class Shelf:
    """Stored pages, as a store keeps them: with the passages that were recorded."""

    def __init__(self) -> None:
        self.index, self.stored = Postings(), list[PageSignature]()

    def pages(self, numbers: Sequence[int]) -> list[PageSignature]:
        return [self.stored[number] for number in numbers]

    def candidates(self, page: PageSignature, rule: Rule = Rule()) -> PassageCandidates:  # noqa: B008
        return passage_candidates(page, self.index, self, Boilerplates(), rule)

    def store(self, *pages: PageSignature) -> None:
        for page in pages:
            recorded = self.candidates(page).recorded
            self.index.add(recorded, len(self.stored))
            self.stored.append(replace(page, passages=recorded.tobytes()))


def page(passages: Iterable[int], site: str = "a.example", title: str = "ferry") -> PageSignature:
    """A page of so many passages; equal numbers are equal passages."""
    hashes = (np.array(list(passages), np.uint64) + np.uint64(1)) * np.uint64(0x9E37_79B9_7F4A_7C15)
    return PageSignature.unread(
        url=f"https://{site}/{passages}",
        key=f"https://{site}/{passages}",
        site=site,
        title=((title,),),
        recipe="",
        passages=hashes.astype("<u8").tobytes(),
    )


@pytest.mark.parametrize(
    ("site", "shared", "is_found"),
    [
        ("b.example", 6, False),
        ("b.example", 7, True),
        ("b.example", 32, True),
        ("a.example", 9, False),
        ("a.example", 10, True),
    ],
)
def test_pages_that_share_a_part_of_their_passages_are_candidates(site, shared, is_found):
    shelf = Shelf()
    shelf.store(page(range(32)))
    other = page(range(32 - shared, 64 - shared), site)
    assert shelf.candidates(other).numbers == [0] * is_found


KEY = ShingleKey.from_secret(b"of a test, 16 bytes or more")


def text_of(*ranges: range) -> bytes:
    """Sketch of a text of so many words; equal numbers are equal words."""
    return quick_sketch(" ".join(f"w{n}" for numbers in ranges for n in numbers), KEY)


@pytest.mark.parametrize(
    ("site", "title", "text", "is_found"),
    [
        ("a.example", "ferry", text_of(range(200), range(1000, 1800)), False),
        ("a.example", "ferry", text_of(range(400), range(1000, 1020)), True),
        ("b.example", "ferry", text_of(range(100), range(1000, 1800)), False),
        # Two sites have more or less around a text.
        ("b.example", "ferry", text_of(range(350), range(1000, 1800)), True),
        ("a.example", "museum", text_of(range(320), range(1000, 1080)), False),
        ("a.example", "museum", text_of(range(400), range(1000, 1002)), True),
        ("b.example", "ferry", b"", True),
    ],
)
def test_their_texts_must_have_as_much_in_common_as_the_rule_needs(site, title, text, is_found):
    shelf = Shelf()
    shelf.store(replace(page(range(32)), quick_sketch=text_of(range(400))))
    other = replace(page(range(32), site, title), quick_sketch=text)
    assert shelf.candidates(other).numbers == [0] * is_found


@pytest.mark.parametrize(
    ("shared", "text", "is_found"),
    [
        (6, text_of(range(400), range(1000, 1400)), True),
        (5, text_of(range(400), range(1000, 1400)), False),
        (6, text_of(range(200), range(1000, 1600)), False),
        (6, text_of(range(400)), False),
        (6, b"", False),
    ],
    ids=["within", "too few", "not within", "as long", "no sketch"],
)
def test_a_text_within_a_longer_one_needs_fewer_common_passages(shared, text, is_found):
    shelf = Shelf()
    shelf.store(replace(page(range(32)), quick_sketch=text_of(range(400))))
    longer = replace(page(range(32 - shared, 64 - shared)), quick_sketch=text)
    assert shelf.candidates(longer).numbers == [0] * is_found


@pytest.mark.parametrize(("shared", "is_found"), [(29, False), (30, True)])
def test_under_another_title_of_the_site_they_must_show_nearly_the_same(shared, is_found):
    shelf = Shelf()
    shelf.store(page(range(32)))
    other = page(range(32 - shared, 64 - shared), title="museum")
    assert shelf.candidates(other).numbers == [0] * is_found


def test_a_page_that_shows_the_same_is_found_though_its_passages_have_become_common():
    shelf = Shelf()
    # Most passages of the first page are those of a template that later pages have as well.
    shelf.store(page(range(64)))
    for n in range(1, MAX_PAGES):
        shelf.store(page([*range(24), *range(100 * n, 100 * n + 40)], title=str(n)))
    assert shelf.candidates(page(range(64), title="museum")).numbers == [0]


def test_what_many_pages_have_is_neither_recorded_nor_compared():
    shelf, frame = Shelf(), list(range(1000, 1010))
    own = [list(range(100 * n, 100 * n + 20)) for n in range(MAX_PAGES + 2)]
    pages = [page([*frame, *texts], title=str(texts)) for texts in own]
    shelf.store(*pages[:-1])
    assert [len(stored.passages) // 8 for stored in shelf.stored] == [30] * MAX_PAGES + [20]
    assert shelf.candidates(pages[-1]).numbers == []
    copy = page([*frame, *own[0]], site="b.example")
    assert shelf.candidates(copy).numbers == [0]


def test_a_page_of_boilerplate_alone_cannot_be_judged_and_is_compared_with_the_nearest():
    shelf = Shelf()
    shelf.store(*(page(range(32), title=str(n)) for n in range(MAX_PAGES)))
    found = shelf.candidates(page(range(32 + MIN_RARE - 1), title="other"))
    assert not found.suffice
    assert found.numbers == list(range(MAX_PAGES))


def test_the_first_passages_that_are_rare_are_recorded():
    found = Shelf().candidates(page(range(64)))
    assert found.suffice
    assert found.recorded.tobytes() == page(range(MAX_RECORDED)).passages


@pytest.mark.parametrize(
    ("rule", "numbers", "suffice"),
    [
        (Rule(scope="site"), [], True),
        (Rule(min_similarity=0.6), [0], True),
        (Rule(min_similarity=0.49), [0], False),
    ],
)
def test_the_rule_decides_what_can_be_a_candidate(rule, numbers, suffice):
    shelf = Shelf()
    shelf.store(page(range(32)))
    found = shelf.candidates(page(range(31, 63), site="b.example"), rule)
    assert (found.numbers, found.suffice) == (numbers, suffice)
    usual = shelf.candidates(page(range(31, 63), site="b.example"))
    assert (usual.numbers, usual.suffice) == ([], True)
