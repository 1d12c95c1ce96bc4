"""The overlap of two texts that were read quickly, estimated from their sketches."""

from __future__ import annotations

import random
import re

import pytest

from scrapy_neardup.hashing.minhash import ShingleKey
from scrapy_neardup.signatures.quick_sketch import (
    BINS,
    MIN_SHINGLES,
    SHINGLE_WORDS,
    SIZE,
    overlap,
    quick_sketch,
    ratio_of_sizes,
)

KEY = ShingleKey.from_secret(b"of a test, 16 bytes or more")
#: Four standard errors of an estimate near a half.
ERROR = 4 * (0.25 / BINS) ** 0.5
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]
LATIN = [f"w{number}" for number in range(3000)]


def true_overlap(text: str, other: str) -> tuple[float, float]:
    """Return resemblance and containment, counted over the sets of shingles."""
    words = (re.findall(r"[\u4e00-\u9fff]|\w+", each) for each in (text, other))
    runs = (list(zip(*(each[n:] for n in range(SHINGLE_WORDS)), strict=False)) for each in words)
    one, two = map(set, runs)
    return len(one & two) / len(one | two), len(one & two) / min(len(one), len(two))


@pytest.mark.parametrize(("words", "blank"), [(LATIN, " "), (HAN, "")])
@pytest.mark.parametrize("sizes", [(400, 400, 0), (300, 300, 100), (200, 800, 100), (40, 900, 20)])
def test_estimates_are_near_what_counting_gives(words, blank, sizes):
    n_words, n_others, n_shared = sizes
    for seed in range(10):
        drawn = random.Random(seed).sample(words, n_words + n_others)
        text = blank.join(drawn[:n_words])
        other = blank.join([*drawn[:n_shared], *drawn[n_words:]])
        found = overlap(quick_sketch(text, KEY), quick_sketch(other, KEY))
        assert found is not None
        resemblance, containment = true_overlap(text, other)
        assert found.resemblance == pytest.approx(resemblance, abs=ERROR)
        share = (n_words + n_others) / min(n_words, n_others)
        assert found.containment == pytest.approx(containment, abs=ERROR * share)


def test_equal_texts_have_all_in_common_whatever_stands_between_their_words():
    words = LATIN[:100]
    found = overlap(quick_sketch(" ".join(words), KEY), quick_sketch("; ".join(words), KEY))
    assert found == (1.0, 1.0)


def test_the_order_of_words_counts():
    text, turned = (quick_sketch(" ".join(LATIN[:200][::step]), KEY) for step in (1, -1))
    found = overlap(text, turned)
    assert found is not None
    assert found.resemblance < 0.1


def test_what_a_text_repeats_counts_once():
    line = " ".join(LATIN[:60])
    found = overlap(quick_sketch(" . ".join([line] * 50), KEY), quick_sketch(line, KEY))
    assert found is not None
    assert found.containment > 0.9


def test_another_key_makes_another_sketch():
    text, other = " ".join(LATIN[:200]), ShingleKey.from_secret(b"another key of a test")
    found = overlap(quick_sketch(text, KEY), quick_sketch(text, other))
    assert found is not None
    assert found.resemblance < 0.1


def test_a_short_text_has_no_sketch_and_is_compared_with_none():
    least = MIN_SHINGLES + SHINGLE_WORDS - 1
    assert quick_sketch("", KEY) == quick_sketch(" ".join(LATIN[: least - 1]), KEY) == b""
    sketch = quick_sketch(" ".join(LATIN[:least]), KEY)
    assert len(sketch) == SIZE
    assert overlap(sketch, b"") is None
    assert overlap(b"", sketch) is None


def test_the_ratio_of_two_lengths_is_that_of_their_shingles():
    short, long = (quick_sketch("".join(HAN[: n + 2]), KEY) for n in (100, 400))
    assert ratio_of_sizes(short, long) == ratio_of_sizes(long, short) == 1 / 4
    assert ratio_of_sizes(short, b"") == 1.0
