from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup.methods import manber as module
from scrapy_neardup.methods.manber import _BASE, Manber, window_values
from scrapy_neardup.methods.words import members
from tests.support.texts import article

MODULUS = 2**30


def rolled(data: bytes, window: int) -> list[int]:
    """The values of all windows by Manber's rolling formula."""
    if len(data) < window:
        return []
    value = 0
    for byte in data[:window]:
        value = (value * _BASE + byte + 1) % MODULUS
    values = [value]
    for old, new in zip(data, data[window:], strict=False):
        value = (value * _BASE + new + 1 - (old + 1) * _BASE**window) % MODULUS
        values.append(value)
    return values


@given(st.binary(max_size=200), st.sampled_from([1, 2, 3, 7, 50, 51, 64, 199]) | st.integers(1, 99))
@example(b"a" * 51, 50)
@example(b"a" * 51, 51)
@example(b"a" * 50, 51)
@example(b"", 1)
def test_window_values_equal_the_rolling_formula(data, window):
    assert window_values(data, window).tolist() == rolled(data, window)


@given(st.binary(min_size=60, max_size=400), st.sampled_from([1, 4, 64]))
def test_windows_are_kept_where_the_lowest_bits_are_zero(data, one_in):
    kept = {value for value in rolled(data, 50) if value % one_in == 0}
    assert members(Manber(one_in=one_in).value(data)).tolist() == sorted(kept)


@pytest.mark.parametrize("size", [*range(4, 30), 300])
@pytest.mark.parametrize("window", [1, 5, 7, 8, 20])
def test_values_do_not_depend_on_the_pieces_that_are_read(size, window, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 7)
    data = random.Random(size).randbytes(size)
    found = members(Manber(window=window, one_in=1).value(data)).tolist()
    assert found == sorted(set(rolled(data, window)))


@pytest.mark.parametrize("letters", ["ab", "0123456789", "abcdefghijklmnopqrstuvwxyz"])
def test_one_window_in_64_is_kept_of_any_alphabet(letters):
    text = "".join(random.Random(1).choices(letters, k=200_000))
    kept = members(Manber().value(text)).size
    # Three standard deviations, if windows were independent.
    assert kept == pytest.approx(200_000 / 64, rel=3 / (200_000 / 64) ** 0.5)


def test_containment_is_the_share_of_the_new_content():
    quote, rest = " ".join(article(300)), " ".join(article(900, seed=2))
    method = Manber(one_in=4)
    part, whole = method.value(quote), method.value(f"{quote} {rest}")
    ours, theirs = set(members(part).tolist()), set(members(whole).tolist())
    assert method.similarity(part, whole) == len(ours & theirs) / len(ours) == 1.0
    assert method.similarity(whole, part) == len(ours & theirs) / len(theirs) < 0.4


def test_an_insertion_changes_only_the_windows_around_it():
    text = " ".join(article(2000)).encode()
    changed = text[:5000] + b"!" + text[5000:]
    method = Manber(one_in=1)
    lost = members(method.value(text)).size * (
        1 - method.similarity(*map(method.value, (text, changed)))
    )
    assert lost == pytest.approx(49)
