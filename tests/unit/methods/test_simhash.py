from __future__ import annotations

from collections import Counter
from hashlib import md5

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.exceptions import InvalidOption
from scrapy_neardup.methods.simhash import Simhash, fingerprint
from tests.support.reference import fingerprint as reference_fingerprint

WIDTHS = [32, 64, 128]
WORDS = st.lists(st.sampled_from("alpha beta gamma delta 2026 epsilon zeta".split()), min_size=1)


def charikar(weights: dict[int, int], bits: int, *, set_ties: bool) -> int:
    """Simhash by the letter: one sum for each bit of the hashes."""
    sums = [sum(w if h >> bit & 1 else -w for h, w in weights.items()) for bit in range(bits)]
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0 or (set_ties and not total))


def xxh3(word: str, bits: int) -> int:
    digest = xxhash.xxh3_128_intdigest if bits == 128 else xxhash.xxh3_64_intdigest
    number: int = digest(word.encode()) % 2**bits
    return number


def md5_bits(word: str, bits: int) -> int:
    number = int(md5(word.encode()).hexdigest(), 16)
    return number if bits == 128 else (number >> 32) % 2**bits


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("ties", ["set", "clear"])
@given(data=st.data())
def test_fingerprints_equal_the_sum_over_each_bit(bits, ties, data):
    hashes = st.integers(0, 2**bits - 1)
    # Small weights and opposite hashes: ties are frequent.
    weights = data.draw(st.dictionaries(hashes, st.integers(1, 3), min_size=1, max_size=9))
    weights |= {hashed ^ (2**bits - 1): weight for hashed, weight in list(weights.items())[:2]}
    packed = b"".join(hashed.to_bytes(bits // 8, "big") for hashed in weights)
    found = fingerprint(packed, np.array([*weights.values()], float), set_ties=ties == "set")
    assert int.from_bytes(found, "big") == charikar(weights, bits, set_ties=ties == "set")


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize(("name", "hashed"), [("xxh3", xxh3), ("md5", md5_bits)])
@pytest.mark.parametrize("weights", ["tf", "none"])
@pytest.mark.parametrize("ties", ["set", "clear"])
@given(words=WORDS)
def test_texts_have_the_fingerprint_of_their_words(bits, name, hashed, weights, ties, words):
    counts = Counter(words) if weights == "tf" else dict.fromkeys(words, 1)
    expected = charikar(
        {hashed(word, bits): count for word, count in counts.items()}, bits, set_ties=ties == "set"
    )
    method = Simhash(bits=bits, hash=name, weights=weights, ties=ties)
    assert int.from_bytes(method.value(" ".join(words)), "big") == expected


@given(WORDS)
def test_with_idf_weights_64_bits_are_those_of_the_rule(words):
    assert int.from_bytes(Simhash().value(" ".join(words)), "big") == reference_fingerprint(words)


def test_ties_decide_whether_opposite_hashes_set_all_bits_or_none():
    hashes, weights = bytes(8) + b"\xff" * 8, np.ones(2)
    assert fingerprint(hashes, weights, set_ties=True) == b"\xff" * 8
    assert fingerprint(hashes, weights) == bytes(8)


def python_2_hash(word: str) -> int:
    """The hash of strings of Python 2, at 128 bits."""
    hashed = ord(word[0]) << 7
    for sign in word:
        hashed = (hashed * 1_000_003 ^ ord(sign)) % 2**128
    return hashed ^ len(word)


@pytest.mark.parametrize(("ties", "differ"), [("set", 14), ("clear", 7)])
def test_the_published_example_needs_ties_that_are_set(ties, differ):
    """The much copied Python module of 2007 prints .97584098811 as similarity, and 14 of 128 bits.

    Its similarity is the quotient of the fingerprints as numbers, which some call a cosine.
    """
    texts = ("This is a test string for testing", "This is a test string for testing also!")
    values = []
    for words in map(str.split, texts):
        packed = b"".join(python_2_hash(word).to_bytes(16, "big") for word in words)
        values.append(fingerprint(packed, np.ones(len(words)), set_ties=ties == "set"))
    assert Simhash(bits=128, ties=ties).explain(*values) == f"{differ} of 128 bits differ"
    smaller, larger = sorted(int.from_bytes(value, "big") for value in values)
    assert (round(smaller / larger, 11) == 0.97584098811) == (ties == "set")


@pytest.mark.parametrize(("bits", "distance"), [(32, 3), (64, 3), (128, 12)])
def test_a_width_has_its_distance(bits, distance):
    method = Simhash(bits=bits)
    known = bytes(bits // 8)
    for flipped in (distance, distance + 1):
        new = ((1 << flipped) - 1).to_bytes(bits // 8, "big")
        assert method.is_near(new, known) == (flipped <= distance)
        assert method.similarity(new, known) == 1 - flipped / bits
        assert method.explain(new, known) == f"{flipped} of {bits} bits differ"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 48}, "bits is 48, but it must be 32, 64 or 128"),
        ({"max_distance": 64}, "max_distance is 64, but it must be 0 to 63"),
        ({"tables": 10}, "tables is 10, but it must be 0, 4, 16 or 20"),
        *(
            ({"tables": 4, **other}, "tables is 4, but it must be 0, unless bits is 64")
            for other in ({"bits": 32}, {"bits": 128}, {"max_distance": 4})
        ),
    ],
)
def test_values_out_of_range_are_refused(options, message):
    with pytest.raises(InvalidOption, match=message):
        Simhash(**options)
