from __future__ import annotations

import random

import nilsimsa as reference
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.methods import nilsimsa as module
from scrapy_neardup.methods.nilsimsa import Nilsimsa, code, score

#: The codes of a spam mail and its variant that are printed with descriptions of Nilsimsa.
PRINTED = (
    "773e2df0a02a319ec34a0b71d54029111da90838cbc20ecd3d2d4e18c25a3025",
    "47182cf0802a11dec24a3b75d5042d310ca90838c9d20ecc3d610e98560a3645",
)
BYTES = st.binary(max_size=300) | st.text(max_size=100).map(lambda text: text.encode())


@given(BYTES)
def test_codes_equal_those_of_the_nilsimsa_package(data):
    assert code(data).hex() == reference.Nilsimsa(data).hexdigest()


@pytest.mark.parametrize("size", [*range(1, 40), 300])
def test_codes_do_not_depend_on_the_pieces_that_are_read(size, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 7)
    data = random.Random(size).randbytes(size)
    assert code(data).hex() == reference.Nilsimsa(data).hexdigest()


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_scores_equal_those_of_the_nilsimsa_package(a, b):
    assert score(a, b) == reference.compare_digests(a.hex(), b.hex())


def test_the_printed_codes_score_92_and_differ_in_36_bits():
    a, b = map(bytes.fromhex, PRINTED)
    assert score(a, b) == 92
    assert Nilsimsa().similarity(a, b) == 1 - 36 / 256
    assert Nilsimsa().explain(a, b) == "score 92 of 128"


@pytest.mark.parametrize(("least", "is_near"), [(92, True), (93, False)])
def test_the_score_is_compared_with_the_least_one(least, is_near):
    assert Nilsimsa(min_score=least).is_near(*map(bytes.fromhex, PRINTED)) is is_near


@pytest.mark.parametrize("text", ["", " ", "a", "ab", "\n\n\n"])
def test_a_text_without_a_triple_has_no_value(text):
    assert Nilsimsa().value(text) == b""
