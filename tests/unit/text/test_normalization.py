from __future__ import annotations

import unicodedata
from fractions import Fraction
from importlib.resources import files
from unicodedata import category, combining

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_neardup.text.normalization import folded, normalize, single_spaced

#: Of every kind that is folded in a way of its own, and what may change what stands before it.
ODD = st.sampled_from(
    "aA é ß İ ſ ﬁ … ™ ½ ２ ，\u3000\xa0\t\n\x1c\x85\u2028 \xad\u200b\u2060\ufe0f\u3164 "
    "\u0301\u0323\u0344\u0345\u0327 \u1100\u1161\u11a8가각 か\u3099ｶﾞ कि\u093c ॐ "
    "Σσς 茶學漢かё\u0640\uf900\ufa6c ǅ ΐ \u1e9e 😀𝟙𠮷\ud800\udc00\uffff\ufffe\0"
)
CJK = r"[\p{Han}\p{Hiragana}\p{Katakana}ー]"
TABLE = files("scrapy_neardup.text").joinpath("data/traditional.txt").read_text("utf-8")
LETTERS = str.maketrans(*TABLE.split()) | {ord("ё"): "е"}
#: The letters "eng" and "sct" as parts of flags.
ENG, SCT = "\U000e0065\U000e006e\U000e0067", "\U000e0073\U000e0063\U000e0074"
TEXTS = st.text(st.characters() | ODD, max_size=25)


def by_the_letter(text: str) -> str:
    """Normalise a whole text by Unicode's tables; for texts without long runs of marks."""
    composed = unicodedata.normalize("NFKC", text)
    folded = "".join("ß" if each in "ßẞ" else each.casefold() for each in composed)
    seen = regex.sub(
        r"[\p{Default_Ignorable_Code_Point}\u0640--\u3164]", "", folded, flags=regex.V1
    )
    seen = unicodedata.normalize("NFKC", seen).translate(LETTERS)
    seen = "".join(map(digits_of, seen))
    lines = regex.split(r"[\n\v\f\r\x85\u2028\u2029]", seen)
    lines = [regex.sub(rf"(?<={CJK})\s+(?={CJK})", "", line) for line in lines]
    return " ".join(" ".join(lines).split())


def digits_of(character: str) -> str:
    """A character; of one that is a number and no digit to Unicode's tables, the digits."""
    number = unicodedata.numeric(character, None) if category(character) == "No" else None
    if number is None or unicodedata.normalize("NFKC", character) != character:
        return character
    return "\u2044".join(str(Fraction(number).limit_denominator(1000)).split("/"))


@given(TEXTS)
@example("A E\u0301 B 𝟙ﬁ\u3000 \u0301É\n½ C\u00adD 😀 …")
def test_what_is_folded_by_characters_is_what_is_folded_as_a_whole(text):
    assert folded(text).text == normalize(text) == by_the_letter(text)


#: Characters that may be folded otherwise beside others: those that join, and every 61st.
CONTEXT_SENSITIVE = [
    character
    for character in map(chr, range(0x30000))
    if combining(character) or category(character) in ("Mn", "Mc", "Me", "Cf", "Lm", "Sk", "Zs")
] + list(map(chr, range(0, 0x30000, 61)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "behind", "characters"),
    [
        ("", "", list(map(chr, range(0x30000)))),
        ("e", "e", CONTEXT_SENSITIVE),
        ("가", "\u0301", CONTEXT_SENSITIVE),
        ("か", "가", CONTEXT_SENSITIVE),
    ],
    ids=["alone", "e-e", "hangul-accent", "kana-hangul"],
)
def test_every_character_is_folded_alike_whatever_stands_around_it(before, behind, characters):
    for character in characters:
        text = before + character + behind
        assert folded(text).text == by_the_letter(text), hex(ord(character))


def test_lines_stay_apart():
    text, apart = "第 一行 \n 第二 行", "第一行 第二行"
    assert normalize(text) == folded(text).text == apart


@given(TEXTS)
@example("\ud83d\ude00  \ud83d \ude00")
def test_white_space_becomes_single_blanks(text):
    seen = len("".join(text.split()))
    data = " ".join(text.split()).encode("utf-8", "surrogatepass")
    assert single_spaced(text) == (data, seen)
    assert folded(text).length == seen


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＢＣ１２３", "abc123"),
        ("ﬁnance", "finance"),
        ("café", "cafe\u0301"),
        ("super\u00adcali", "supercali"),
        ("漢語 教學", "汉语教学"),
        ("北 京 市 ， 海淀", "北京市 , 海淀"),
        ("中文 abc 中文", "中文 abc 中文"),
        ("한국 어", "한국 어"),
        ("Ещё раз", "еще раз"),
        ("كتـــاب", "كتاب"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("a\u00a0b\u3000c\n\td", "a b c d"),
        ("カタカナ", "ｶﾀｶﾅ"),
        ("İstanbul", "i\u0307stanbul"),
        ("STRAẞE", "Straße"),
        ("ክፍል ፲፪", "ክፍል 102"),
        ("❷ ⓫ ➀", "2 11 1"),
        ("൘", "1\u2044160"),
        ("\U0001f3f4\U000e0067\U000e0062 a\U000e0067b", "\U0001f3f4 ab"),
    ],
)
def test_what_looks_the_same_is_the_same(one, other):
    assert normalize(one) == normalize(other)


@pytest.mark.parametrize("around", ["", " filled up to more characters" * 9])
def test_flags_of_parts_of_a_country_stay_apart(around):
    flags = [f"\U0001f3f4\U000e0067\U000e0062{part}\U000e007f{around}" for part in (ENG, SCT)]
    assert [normalize(flag) for flag in flags] == flags == [folded(flag).text for flag in flags]


def test_flags_without_an_end_take_linear_time():
    text = "\U0001f3f4" + "\U000e0067" * 200_000
    assert normalize(text + text) == "\U0001f3f4" * 2


@pytest.mark.parametrize("around", ["", " filled up to more characters" * 9])
def test_the_sharp_s_is_a_letter_of_its_own(around):
    assert normalize(f"Weiß{around}") != normalize(f"Weiss{around}")


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    assert normalize(normalize(text)) == normalize(text)


@given(st.text())
def test_composed_or_not_is_the_same(text):
    decomposed = unicodedata.normalize("NFD", text)
    assert normalize(decomposed) == normalize(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u0301\u200d\u0323", "\u0344"])
def test_many_marks_are_normalised_like_few(marks):
    few, many = (normalize("e" + marks * count) for count in (30, 50_000))
    assert normalize(many) == many
    assert many.startswith(few[:10])
    assert max(map(len, many.split("\u25cc"))) <= 31
