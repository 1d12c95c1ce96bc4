from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from scrapy_neardup import InvalidOption
from scrapy_neardup.methods import containment
from scrapy_neardup.methods.containment import Containment, ContainmentIndex
from scrapy_neardup.methods.manber import Manber
from tests.support.texts import article

MANBER = Manber()
PAGES = 150


def value_of(words):
    return MANBER.value(" ".join(words))


def packed(numbers):
    return np.array(sorted(numbers), "<u4").tobytes()


class Model:
    """Compares a value with all others."""

    def __init__(self, min_share, min_fingerprints, max_fingerprints, max_holders):
        self.min_share, self.min_fingerprints = min_share, min_fingerprints
        self.max_fingerprints, self.max_holders = max_fingerprints, max_holders
        self.known = {}

    def add(self, key, numbers):
        self.known.pop(key, None)
        if len(numbers) >= self.min_fingerprints:
            holders = [recorded for _, recorded in self.known.values()]
            recorded = {n for n in numbers if sum(n in each for each in holders) < self.max_holders}
            self.known[key] = numbers, recorded
        while sum(len(each) for each, _ in self.known.values()) > self.max_fingerprints:
            del self.known[next(iter(self.known))]

    def largest(self, numbers, but):
        found: list[tuple[Any, ...]] = []
        for age, (key, (all_of_it, recorded)) in enumerate(self.known.items()):
            shared = len(numbers & recorded)
            if key != but and shared >= self.min_fingerprints:
                found.append((-shared / len(numbers), 0, age, key, "contained_in"))
                found.append((-shared / len(all_of_it), 1, age, key, "contains"))
        if not found or -min(found)[0] < self.min_share:
            return None
        share, _, _, key, direction = min(found)
        return Containment(key, -share, direction)


@pytest.mark.parametrize("seed", range(12))
def test_it_finds_what_comparing_all_values_finds(seed, monkeypatch):
    monkeypatch.setattr(containment, "MAX_HOLDERS", 5)
    rng = random.Random(seed)
    least, most = rng.randint(1, 4), rng.choice([60, 10**6])
    share = rng.choice([0.25, 0.5, 1.0])
    index = ContainmentIndex[str](share, min_fingerprints=least, max_fingerprints=most)
    model, found = Model(share, least, most, 5), 0
    for _ in range(250):
        numbers = {n * 64 for n in rng.sample(range(30), rng.randint(0, 20))}
        key, but = (str(rng.randrange(40)) for _ in range(2))
        expected = model.largest(numbers, but)
        assert index.largest(packed(numbers), but=but) == expected
        found += expected is not None
        if rng.random() < 0.1:
            index.remove(but)
            model.known.pop(but, None)
        index.add(key, packed(numbers))
        model.add(key, numbers)
        assert len(index) == len(model.known)
    assert found


@pytest.mark.parametrize("part", [0.75, 0.5, 0.25])
def test_quotes_are_found_in_pages_and_pages_by_their_quotes(part):
    words = 150
    quotes = [value_of(article(words, seed=number)) for number in range(PAGES)]
    pages = []
    for number in range(PAGES):
        own = article(round(words / part) - words, seed=10_000 + number)
        middle = len(own) // 2
        pages.append(value_of([*own[:middle], *article(words, seed=number), *own[middle:]]))
    for known, new, direction in (quotes, pages, "contains"), (pages, quotes, "contained_in"):
        index = ContainmentIndex[int]()
        for number, value in enumerate(known):
            index.add(number, value)
        found = [index.largest(value) for value in new]
        hits = [
            number
            for number, each in enumerate(found)
            if each is not None and each[0] == number and each.direction == direction
        ]
        assert len(hits) >= 145


def test_unrelated_pages_and_pages_with_common_boilerplate_are_not_found():
    boilerplate = article(40, seed=999)
    index = ContainmentIndex[int]()
    for number in range(PAGES):
        value = value_of([*article(150, seed=number), *boilerplate])
        assert index.largest(value) is None
        index.add(number, value)


def test_the_oldest_are_dropped_and_counted_when_there_are_too_many():
    values = [packed(range(start, start + 640, 64)) for start in range(0, 6400, 640)]
    index = ContainmentIndex[int](max_fingerprints=35)
    for number, value in enumerate(values):
        index.add(number, value)
    assert (len(index), index.n_dropped) == (3, 7)
    assert index.largest(values[6]) is None
    assert index.largest(values[7]) == (7, 1.0, "contained_in")
    index.add(99, packed(range(0, 64 * 36, 64)))
    assert (len(index), index.n_dropped) == (0, 11)


def test_a_content_that_is_added_again_is_replaced():
    index = ContainmentIndex[str]()
    index.add("a", packed(range(0, 640, 64)))
    index.add("a", packed(range(640, 1280, 64)))
    assert index.largest(packed(range(0, 640, 64))) is None
    assert index.largest(packed(range(640, 1280, 64))) == ("a", 1.0, "contained_in")
    index.add("a", b"")
    assert not index


@pytest.mark.parametrize("value", [b"", packed([64, 128, 192])])
def test_too_few_windows_are_never_found(value):
    index = ContainmentIndex[str]()
    index.add("a", value)
    index.add("b", packed(range(0, 640, 64)))
    assert index.largest(value) is None
    assert len(index) == 1


@pytest.mark.parametrize(
    "options",
    [{"min_share": 0}, {"min_share": 1.5}, {"min_fingerprints": 0}, {"max_fingerprints": 0}],
)
def test_numbers_out_of_range_are_refused(options):
    [name] = options
    with pytest.raises(InvalidOption, match=name):
        ContainmentIndex(**options)
