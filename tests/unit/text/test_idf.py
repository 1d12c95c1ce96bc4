from __future__ import annotations

import gzip
from functools import partial

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup import IdfTable, InvalidOption
from scrapy_neardup.text.idf import read_table, shipped_table, token_hashes, weights_of, write_table
from scrapy_neardup.text.vocabulary import weigh
from tests.support.reference import idf_weights

TOKENS = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1)
WEIGHTS = st.dictionaries(TOKENS, st.integers(1, 255), max_size=20)


@given(WEIGHTS, st.integers(1, 255), st.lists(TOKENS, max_size=10))
def test_each_token_has_its_weight_and_all_others_the_default(weights, default, others):
    table = IdfTable("test", default, weights)
    asked = [*weights, *others]
    expected = [weights.get(token, default) for token in asked]
    assert table.weights(token_hashes(asked)).tolist() == expected


def test_the_shipped_table_says_what_its_file_says():
    weights, default = idf_weights()
    table = shipped_table("multilingual")
    assert len(table) == len(weights) > 200_000
    tokens = [*list(weights)[::1000], "zzqqxxy"]
    expected = [*(weights[token] for token in tokens[:-1]), default]
    assert table.weights(token_hashes(tokens)).tolist() == expected


@pytest.mark.parametrize(
    ("common", "rare"),
    [("the", "kettle"), ("的", "电脑"), ("中国", "茶壶"), ("und", "fähre"), ("de", "fragata")],
)
def test_common_words_of_any_language_weigh_less(common, rare):
    common_weight, rare_weight = shipped_table("multilingual").weights(token_hashes([common, rare]))
    assert common_weight * 4 < rare_weight


@pytest.mark.parametrize("known", ["straße", "strasse"])
def test_a_word_with_a_sharp_s_weighs_as_little_as_in_either_spelling(known):
    table = IdfTable("test", 80, {known: 3})
    asked = ["straße", "weiß", "ferry"]
    assert weights_of(asked, token_hashes(asked), table).tolist() == [3, 80, 80]


def test_the_table_none_weighs_all_alike():
    assert len(set(shipped_table("none").weights(token_hashes(["the", "kettle"])))) == 1


@given(weights=WEIGHTS, default=st.integers(1, 255))
def test_a_table_is_read_as_it_was_written(tmp_path_factory, weights, default):
    path = tmp_path_factory.mktemp("idf") / "own.gz"
    write_table(path, "own", default, weights)
    again = path.read_bytes()
    write_table(path, "own", default, dict(reversed(weights.items())))
    assert path.read_bytes() == again, "equal content, equal bytes"
    assert read_table(path).digest == IdfTable("own", default, weights).digest


def test_another_weight_is_another_digest():
    tables = [
        IdfTable("a", 80, {"x": 1}),
        IdfTable("a", 80, {"x": 2}),
        IdfTable("a", 81, {"x": 1}),
        IdfTable("a", 80, {"y": 1}),
        IdfTable("a", 80, {}),
    ]
    assert len({table.digest for table in tables}) == len(tables)
    assert IdfTable("other name", 80, {"x": 1}).digest == tables[0].digest


def packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


@pytest.mark.parametrize(
    "content",
    [
        b"not gzip",
        packed(b"not json\n"),
        packed(b"[]\n"),
        packed(b'{"format": "another", "version": 1, "default": 1}\n1\tx'),
        packed(b'{"format": "scrapy-neardup-idf", "version": 2, "default": 1}\n1\tx'),
        packed(b'{"format": "scrapy-neardup-idf", "version": 1}\n1\tx'),
        packed(b'{"format": "scrapy-neardup-idf", "version": 1, "default": 1}\n1 x'),
        packed(b'{"format": "scrapy-neardup-idf", "version": 1, "default": 1}\n0\tx'),
        packed(b'{"format": "scrapy-neardup-idf", "version": 1, "default": 1}\nx\tx'),
        packed(b'{"format": "scrapy-neardup-idf", "version": 1, "default": 1}\n1\tx')[:-9],
        packed(b"\xff\xfe"),
    ],
)
def test_what_is_no_table_is_refused_by_name(tmp_path, content):
    path = tmp_path / "broken.gz"
    path.write_bytes(content)
    with pytest.raises(InvalidOption, match=r"broken\.gz.*scrapy-neardup-idf version 1"):
        read_table(path)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidOption, match=r"absent\.gz.*No such file"):
        read_table(tmp_path / "absent.gz")


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidOption, match="'mulitlingual', but it must be one of 'multilingual'"):
        shipped_table("mulitlingual")


def test_features_are_log_tf_times_idf():
    table = IdfTable("test", 80, {"the": 1, "ferry": 50})
    hashes, weights = weigh(["the", "ferry", "the", "pier", "the", "ferry"], table)
    assert hashes.tolist() == token_hashes(["the", "ferry", "pier"]).tolist()
    # 16 (1 + ln 3) = 33.6, 16 (1 + ln 2) = 27.1, 16 (1 + ln 1) = 16
    assert weights.tolist() == [34 * 1, 27 * 50, 16 * 80]


def test_tokens_with_digits_weigh_least():
    tokens = ["ferry", "2024", "x200", "٣"]
    assert weigh(tokens, IdfTable("test", 80, {})).weights.tolist() == [16 * 80, 16, 16, 16]


def test_repeating_a_word_a_thousand_times_does_not_weigh_a_thousandfold():
    table = shipped_table("none")
    once, often = (weigh(["spam"] * times, table).weights[0] for times in (1, 1000))
    assert often < 8 * once


def test_no_tokens_are_no_features():
    hashes, weights = weigh([], shipped_table("none"))
    assert hashes.dtype == np.uint64
    assert hashes.shape == weights.shape == (0,)


def test_a_lone_surrogate_is_hashed_like_any_character():
    assert token_hashes(["\ud800"]) != token_hashes(["\ud801"])


@given(
    st.lists(st.sampled_from(["the", "", "a b", "\ud800", "茶叶"]) | st.text(max_size=4)),
    st.sampled_from([0, 99]),
)
def test_tokens_are_hashed_in_their_order_whatever_is_in_them(tokens, seed):
    digest = partial(xxhash.xxh3_64_intdigest, seed=seed)
    expected = [digest(token.encode("utf-8", "surrogatepass")) for token in tokens]
    assert token_hashes(tokens, seed).tolist() == expected


def test_a_hash_like_the_tables_last_one_or_beyond_is_looked_up():
    table = IdfTable("test", 80, {"the": 1, "ferry": 50})
    known = token_hashes(["the", "ferry"])
    asked = np.array([0, *known, *(known + np.uint64(1)), 2**64 - 1], np.uint64)
    assert table.weights(asked).tolist() == [80, 1, 50, 80, 80, 80]
