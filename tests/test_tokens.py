from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup import InvalidOption
from scrapy_neardup.tokens import (
    jieba_words,
    normalize,
    rjieba_words,
    shingle_units,
    shipped_tokenizer,
)

TOKENIZE, _ = shipped_tokenizer("auto")
CHINESE = "他来到了网易杭研大厦，小明硕士毕业于中国科学院计算所，后在日本京都大学深造。"


def tokens(text: str) -> list[str]:
    return list(TOKENIZE(normalize(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ferry, twice a day!", ["the", "ferry", "twice", "a", "day"]),
        ("Straße ÜBER façade", ["strasse", "über", "façade"]),
        ("don't re-use snake_case v2.0", ["don", "t", "re", "use", "snake", "case", "v2", "0"]),
        ("Это русский текст", ["это", "русский", "текст"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("한국어 문장", ["한국어", "문장"]),
        # The published example of jieba's README, in accurate mode.
        ("我来到北京清华大学", ["我", "来到", "北京", "清华大学"]),
        ("使用Python编程", ["使用", "python", "编程"]),
        ("カタカナ", ["カタ", "タカ", "カナ"]),
        ("東京へ", ["東京", "へ"]),
        ("ภาษาไทย", [text[i : i + 2] for text in ["ภาษาไทย"] for i in range(6)]),
        ("", []),
        ("… — ?!", []),
    ],
)
def test_words_of_every_script(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＢＣ１２３", "abc123"),
        ("ﬁnance", "finance"),
        ("café", "cafe\u0301"),
        ("super\u00adcali", "supercali"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("a\u00a0b\u3000c\n\td", "a b c d"),
        ("カタカナ", "ｶﾀｶﾅ"),
        ("İstanbul", "i\u0307stanbul"),
    ],
)
def test_what_looks_the_same_is_the_same(one, other):
    assert normalize(one) == normalize(other)


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    assert normalize(normalize(text)) == normalize(text)


@given(st.text())
def test_composed_or_not_is_the_same(text):
    decomposed = unicodedata.normalize("NFD", text)
    assert normalize(decomposed) == normalize(unicodedata.normalize("NFC", text))


@given(st.text())
def test_tokens_never_hold_white_space_or_nothing(text):
    assert all(token and not any(map(str.isspace, token)) for token in tokens(text))


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=30))
def test_chinese_is_cut_but_not_changed(text):
    assert "".join(tokens(text)) == normalize(text)


@given(st.lists(st.text(st.sampled_from("中国人民的我来到北京清华大学计算机学生们"), min_size=1)))
def test_rjieba_and_jieba_give_the_same_words(runs):
    assert list(rjieba_words(runs)) == list(jieba_words(runs))


def test_shingles_take_han_characters_one_by_one():
    tokens = ["茶叶", "museum", "的", "ab", "カタ", "清华大学"]
    assert shingle_units(tokens) == [*"茶叶", "museum", "的", "ab", "カタ", *"清华大学"]


def test_both_jiebas_have_one_identity_and_the_pairs_another():
    jieba, rjieba, pairs = (shipped_tokenizer(name) for name in ("jieba", "rjieba", "pairs"))
    assert jieba[1] == rjieba[1] != pairs[1]
    assert list(jieba[0](CHINESE)) == list(rjieba[0](CHINESE))
    assert list(pairs[0]("中国人")) == ["中国", "国人"]


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidOption, match="'jeiba', but it must be 'auto', 'jieba'"):
        shipped_tokenizer("jeiba")


def test_a_planted_cache_file_is_not_read(tmp_path):
    (tmp_path / "jieba.cache").write_bytes(b"planted")
    program = (
        "import marshal, os, tempfile\n"
        "from scrapy_neardup.tokens import jieba_words\n"
        "marshal.load = lambda file: 1 / 0\n"
        "print(list(jieba_words(['我来到北京清华大学'])), os.listdir(tempfile.gettempdir()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program],
        env={"TMPDIR": str(tmp_path), "TEMP": str(tmp_path), "PATH": ""},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == "[['我', '来到', '北京', '清华大学']] ['jieba.cache']"
    assert done.stderr == ""
