"""The values of a text, and the differences between those of two texts."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup import NearDupDetector
from scrapy_neardup._util.sequences import common_subsequence
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.text import value_differences
from scrapy_neardup.text.idf import IdfTable, shipped_table, token_hashes
from scrapy_neardup.text.value_differences import Difference, agreement
from scrapy_neardup.text.values import (
    CODE,
    FIRST_NUMBER,
    MAX_VALUES,
    Codes,
    numbers_were_replaced,
    value_codes,
    with_points_of,
)
from scrapy_neardup.text.weighting import are_names, are_numbers

WORDS = range(1, 128)


def values_of(text: str) -> list[int]:
    judge = NearDupDetector(store=MemoryStore(b"a secret for tests"))
    return judge.signature(url="https://a.example/", text=text).value_codes


def difference(one: bytes, other: bytes, *, is_cut: bool = False) -> Difference:
    """The difference of values written as bytes: words, from 128 numbers, from 192 dates."""
    texts = (
        [4 * value + FIRST_NUMBER * ((value >= 128) + (value >= 192)) for value in values]
        for values in (one, other)
    )
    return value_differences.difference(*texts, is_cut=is_cut)


def codes_of(tokens: list[str], idf: IdfTable) -> Codes:
    hashes = token_hashes(tokens)
    return value_codes(hashes, are_numbers(tokens), are_names(tokens), idf.weights(hashes), idf)


def kinds(text: str) -> str:
    """Of each value of a text: a word, a number, one of a date, or one with a sign."""
    return "".join("wnds"[value // FIRST_NUMBER] for value in values_of(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This is what it was and is.", ""),
        ("Zanzibar is the one that has 120 of these", "wn"),
        ("It has 4,812 of these and 1.234.567 of those", "nn"),
        ("It is 60 by 90 and 4,81 by 1,8123", "nnnnnn"),
        ("It has the code AB12CD or 1234567890 and not 15min or A1", "wwwnn"),
        ("It is 60303ae, 9f86d08 or 0000ff and not 12a, 100mb, 20feb or 12,345", "wwwnnnn"),
        ("on 2024-05-03 at 12:30", "ddddd"),
        ("In the year 1987 there were 1987654 of them", "dn"),
        ("2024年5月3日 12时30分", "ddddd"),
        ("for 12.50 and 5 of them", "nnn"),
        ("version 3.12", "wnn"),
        ("the score was 3:1", "wnn"),
        ("at 3:10 and at 12:5", "ddnn"),
        ("it was 31:28, 101:98 and 1:72", "nnnnnn"),
        ("at 24:00 and at 00:59:31 and at 12:31:58", "dddddddd"),
        ("it was 3-0 and then 2-1", "nnnn"),
        ("is CVE-2024-10321 and is ISO-8859-1 and is 3-200", "wwwwwdn"),
        ("is UTF-8 and is May-2024 and is 5-May-2024", "wnddddd"),
        ("on 3-4-2024, 12-5, 3-12, 03-04, 3/4 and 2-3 March", "ddd" + "dd" * 4 + "ddd"),
        ("on 15 March and on June 3", "dddd"),
        ("el 3 de marzo de 2022", "ddd"),
        ("it may be that in May", ""),
        ("on 3.5.2024 and on 2024.05.03", "dddddd"),
        ("version 3.5 of 2024", "wnnd"),
        # symbols, prices and ticks
        ("for €12 or 12.50 $ or 5元", "wnwnnwn"),
        ("for 12 990 ₽ or 5 eur or 7.5万円", "wnwnwwnnw"),
        ("for $12 90 and at -5", "wnnws"),
        ("5 ‰ of 10² or −7 at -12:30", "sswswdd"),
        ("in London, Paris or 上海", "www"),
        ("this − that and ∀ these ♯", "ww"),
        ("for 700 euros, rs. 700 and 700 доллара", "wnwwwnwnw"),
        ("this ✓ and that ✗✗ and ★★★☆☆", "www"),
        ("more → here ● © 3 ■", "n"),
    ],
)
def test_numbers_and_words_that_are_not_common_are_values(text, expected):
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("this ✓ that ✗", "this ✗ that ✓"),
        ("★★★☆☆ it is", "★★☆☆☆ it is"),
        ("for $12", "for €12"),
        ("for $12", "for 12"),
        ("$5 for this and $7 for that", "$7 for this and $5 for that"),
        ("at -5 it is", "at 5 it is"),
        ("at −5 it is", "at +5 it is"),
        ("-5 it is", "5 it is"),
        ("it is 😀", "it is 😢"),
        ("it is \ue893", "it is \uf123"),
        ("ひらがな ○ ひらがな", "ひらがな × ひらがな"),
        ("the 10² of it", "the 102 of it"),
        ("code aBcDeF is", "code AbCdEf is"),
        ("at 5 ‰ it is", "at 5 % it is"),
        ("at 5‰ it is", "at 5% it is"),
        # operators
        ("total += price", "total -= price"),
        ("total *= price", "total /= price"),
        ("total+=price", "total-=price"),
        ("if (a == b) it", "if (a != b) it"),
        ("if (a <= b) it", "if (a >= b) it"),
        ("x[i] && y is", "x[i] || y is"),
        ('is "a" === 5', 'is "a" !== 5'),
    ],
)
def test_symbols_tell_texts_apart(one, other):
    assert values_of(one) != values_of(other)
    assert values_of(one) == values_of(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from 300-500 it is", "from 300–500 it is"),
        ("for $1,200.50", "for $1.200,50"),
        ("it is • so", "it is so"),
        ("home | shop | it", "home / shop / it"),
        ("this - that", "this – that"),
        ("this → that => it -> so", "this that it so"),
        ("* this * ", "this"),
        ("==== this ====", "this"),
        ("more >", "more <"),
        ("read <<", "read"),
        ("total+=price", "total += price"),
        ("the m² of it", "the m2 of it"),
        ("getElementById is", "getelementbyid is"),
    ],
)
def test_dashes_and_bullets_do_not(one, other):
    assert values_of(one) == values_of(other)


@pytest.mark.parametrize(
    ("one", "other", "numbers", "dates"),
    [
        ("on 5 March 2026 it is", "on 12 March 2026 it is", True, True),
        ("on 5 March 2026 it is", "on 5 April 2026 it is", True, True),
        ("on 5 March 2025 it is", "on 5 March 2026 it is", True, True),
        ("on 2026-03-05 it is", "on 2026-03-12 it is", True, True),
        ("am 5.3.2026 ist", "am 12.3.2026 ist", True, True),
        ("3月5日", "3月12日", True, True),
        ("at 19:30 it is", "at 20:15 it is", True, True),
        ("it has 5 beds", "it has 12 beds", True, False),
        ("it has 1,005 beds", "it has 1,012 beds", True, False),
        ("lot 5 on 5 March", "lot 7 on 6 March", True, True),
        ("it was built in 1978", "it was built in 1985", True, True),
        ("it is effective on 5 March", "it is effective on 6 March", True, True),
        ("the last day is 5 March", "the last day is 6 March", True, True),
        ("it was 31:28 of it", "it was 29:27 of it", True, False),
        # one date in another format
        ("on 5 March 2026 it is", "on Mar 5, 2026 it is", False, False),
        ("on 5 March 2026 it is", "on 2026-03-05 it is", False, False),
        ("on 5 March 2026 it is", "on 05.03.2026 it is", False, False),
        ("on 5 March 2026 it is", "el 5 de marzo de 2026 it is", False, False),
        ("on 5 March 2026: it is", "on 2026-03-05: it is", False, False),
        # counters and times of a visit
        ("5 comments", "12 comments", False, False),
        ("it was viewed 1,005 times", "it was viewed 1,012 times", False, False),
        ("it was 5 days ago", "it was 12 days ago", False, False),
        ("in 5 seconds", "in 12 seconds", False, False),
        ("阅读数:412", "阅读数:415", False, False),
        ("412回閲覧", "415回閲覧", False, False),
        ("コメント412件", "コメント415件", False, False),
        ("조회수 412", "조회수 415", False, False),
        ("المشاهدات: 412", "المشاهدات: 415", False, False),
        ("only 3 left", "only 4 left", False, False),
        ("room 3 on the left", "room 4 on the left", True, False),
        ("updated on 5 March", "updated on 6 March", False, False),
        ("as of 5 March", "as of 6 March", False, False),
        ("copyright 2024", "copyright 2025", False, False),
        ("updated in 2024", "updated in 2025", False, False),
        ("it was last online on 5 March", "it was last online on 6 March", False, False),
        ("at 31:04:12:55 it is", "at 31:07:48:21 it is", False, False),
        ("更新日期:2026年3月5日", "更新日期:2026年3月12日", False, False),
        ("last updated by it on 2026-03-05", "last updated by it on 2026-03-12", False, False),
        ("last visit on Thu 5 March 2026", "last visit on Fri 6 March 2026", False, False),
        ("printed from it by all on 5 March", "printed from it by all on 6 March", False, False),
        ("local time: 5 March", "local time: 6 March", False, False),
        ("delivered by Thu. 5 March", "delivered by Fri. 6 March", False, False),
        ("stand: 5. märz 2026", "stand: 6. märz 2026", False, False),
        ("hoy: 5 de marzo de 2026", "hoy: 6 de marzo de 2026", False, False),
        # words that say so elsewhere
        ("it is edited. It is on 5 March", "it is edited. It is on 6 March", True, True),
        ("they came last. Visit it on 5 March", "they came last. Visit it on 6 March", True, True),
        ("更新。3月5日", "更新。3月6日", True, True),
        ("a visit on 5 March", "a visit on 6 March", True, True),
        ("it is current on 5 March", "it is current on 6 March", True, True),
        ("local people on 5 March", "local people on 6 March", True, True),
        ("he joined it on 5 March", "he joined it on 6 March", True, True),
        ("from today until 5 March", "from today until 6 March", True, True),
        ("checked in on the day, 5 March", "checked in on the day, 6 March", True, True),
        ("it was modified on 5 March 1921", "it was modified on 6 March 1921", True, True),
        ("it has 5 rooms. Visitors like it", "it has 12 rooms. Visitors like it", True, False),
        ("many like to read this. 5 are open", "many like to read this. 12 are open", True, False),
        ("the data of 5 March show it", "the data of 6 March show it", True, True),
        ("有5间房。浏览一下", "有12间房。浏览一下", True, False),
        # amounts beside words of counters
        ("take 5 ml three times daily", "take 12 ml three times daily", True, False),
        ("take 2.5 ml three times", "take 7.5 ml three times", True, False),
        ("served with 5 g of it", "served with 12 g of it", True, False),
        ("each 5 mg is available", "each 12 mg is available", True, False),
        ("5 times daily", "12 times daily", False, False),
        # what has the words of none of these
        ("it is 5 years old", "it is 12 years old", True, False),
        ("send it back within 14 days", "send it back within 30 days", True, False),
        ("bake it at 180 degrees", "bake it at 200 degrees", True, False),
        ("two years ago. 12 High Street", "two years ago. 14 High Street", True, False),
        ("members meet on 5 March", "members meet on 12 March", True, True),
        ("at 7 pm", "at 8 pm", True, False),
        ("晚上19时30分", "晚上20时15分", True, True),
        ("on March 19th", "on March 20th", True, False),
        ("it was 1850 of it", "it was 1950 of it", True, False),
        ("at 10:32 it is", "at 10:33 it is", False, False),
        ("at 10:30:05 it is", "at 10:35:10 it is", False, False),
        ("10时32分", "10时33分", False, False),
        # one more, and a number in another place
        ("on 5 March it is", "on 5 March and on 12 March it is", False, False),
        ("on 5 March it is", "on 5 March 2026 it is", False, False),
        ("it has 5 of 12", "it has 12 of 5", False, False),
    ],
)
def test_numbers_and_dates_that_each_visit_shows_alike_may_be_replaced(one, other, numbers, dates):
    texts = values_of(one), values_of(other)
    assert numbers_were_replaced(*texts, as_many=True) == (numbers, dates)
    assert numbers_were_replaced(*texts[::-1], as_many=True) == (numbers, dates)


@pytest.mark.parametrize(
    ("one", "other"),
    [("it was so 5 of it", "it was seen 5 of it"), ("12 of it is", "12 times it is")],
)
def test_a_number_is_the_same_whatever_stands_around_it(one, other):
    texts = values_of(one), values_of(other)
    assert texts[0] != texts[1]
    assert value_differences.difference(*texts).places == 0
    assert agreement(*texts) == (1, 1)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("it is in room 12 of it", "it is in room Zanzibar of it", 1),
        ("it is 12.5 of it", "it is Zanzibar of it", 1),
        ("it is 5 of it", "it is 7 of it", 0),
        ("it is 12 of it", "it is of it", 0),
        # the numbers of a visit and of a date
        ("it was read 12 times", "it was read Zanzibar times", 0),
        ("it was on 5 May of it", "it was on Zanzibar of it", 0),
        # sentences
        ("it is 1 2 3 4 5 of it", "it is Zanzibar of it", 0),
        ("it is 12 of Zanzibar in it", "it is Samarkand in it", 0),
    ],
)
def test_numbers_in_place_of_names_are_counted(one, other, expected):
    for texts in ((one, other), (other, one)):
        assert value_differences.difference(*map(values_of, texts)).kinds == expected


def test_a_symbol_behind_a_counter_does_not_depend_on_it():
    one, other = (values_of(f"it was seen {number} ❤ by all") for number in (1034, 1035))
    assert one[1:] == other[1:]
    assert one[0] != other[0]


def test_values_of_a_heading_are_counted_with_its_symbols():
    judge = NearDupDetector(store=MemoryStore(b"a secret for tests"))
    page = judge.signature(
        url="https://a.example/", title="Zanzibar ★ 120", text="Zanzibar ★ 120 it is ★ and 7"
    )
    assert (page.n_heading, page.n_values) == (3, 5)


def test_symbols_of_a_text_do_not_depend_on_those_signed_with_it():
    judge = NearDupDetector(store=MemoryStore(b"a secret for tests"))
    texts = ["this ✓ that", "ひらがな ○ 3:10", "it costs $5 😀", ""]
    pages = [judge.signer.text_page("https://a.example/", text) for text in texts]
    together = judge.signer.sign(*pages)
    assert [page.values for page in together] == [judge.signer.sign(p)[0].values for p in pages]
    assert all(page.values for page in together[:3])


def test_equal_tokens_have_equal_values_and_others_do_not():
    tokens = [f"word{'abcdefghij'[n % 10]}{n}" for n in range(10_000)]
    codes = codes_of(tokens, shipped_table("multilingual"))
    again = codes_of(tokens, shipped_table("multilingual"))
    assert codes.dtype == CODE
    assert (codes == again).all()
    assert (codes < FIRST_NUMBER).all()
    # Of 2^30 codes, two of 10,000 agree by chance in one case of 20.
    assert len(set(codes.tolist())) == 10_000


def test_by_a_table_without_words_only_numbers_are_values():
    tokens = ["zanzibar", "120"]
    codes = codes_of(tokens, IdfTable("none", 16, {}))
    assert (codes > 0).tolist() == [False, True]


def test_only_the_first_values_are_kept():
    text = " ".join(map(str, range(1000, 2000)))
    assert len(values_of(text)) == MAX_VALUES
    assert values_of(text) == values_of(text + " and 7 more")


#: Words, each of which comes once.
DISTINCT = st.permutations(list(WORDS)).map(lambda values: bytes(values[:60]))


@given(DISTINCT, st.sets(st.integers(0, 28), max_size=12))
def test_replaced_places_are_counted_one_by_one(values, places):
    changed = bytearray(values)
    for place in places:
        # Apart from each other, and by what is nowhere else.
        changed[2 * place + 1] = 128 + place
    found = difference(values, bytes(changed))
    assert found.places == found.replaced == len(places)
    assert found.added == found.added_to_each == found.words == found.exchanged == 0
    assert found.share == len(places) / 60
    assert difference(bytes(changed), values) == found


@given(DISTINCT, st.integers(0, 60), st.integers(1, 40))
def test_what_is_added_replaces_nothing(values, place, count):
    added = values[:place] + bytes(range(128, 128 + count)) + values[place:]
    assert (
        difference(values, added)
        == difference(added, values)
        == (0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, count, 0)
    )
    assert agreement(values, added) == (1, 60 / (60 + count))


def test_what_each_text_has_for_itself_is_counted_within_the_texts():
    texts = b"\1\2\3\4\5\6", b"\1\2\7\3\4\5\6", b"\1\2\3\4\x08\5\6", b"\1\2\3\4\5\6\x09"
    one, behind_two, behind_four, at_the_end = texts
    assert difference(one, behind_two).added_to_each == 0
    assert difference(behind_two, behind_four).added_to_each == 1
    assert difference(behind_two, at_the_end).added_to_each == 0


@given(DISTINCT, st.integers(0, 20), st.integers(30, 60), st.integers(0, 30), st.integers(0, 30))
def test_the_longest_stretch_that_only_one_text_has(values, place, other_place, count, other):
    """Values are added to each text, at two places apart from each other."""
    own, of_other = bytes(range(128, 128 + count)), bytes(range(158, 158 + other))
    one = values[:place] + own + values[place:]
    two = values[:other_place] + of_other + values[other_place:]
    found = difference(one, two)
    assert (found.longest_added, found.longest_added_to_each) == (
        max(count, other),
        min(count, other),
    )


def test_of_cut_texts_the_end_is_no_addition():
    added, cut = b"\5\6\7\1\2\3\4", b"\1\2\3\4\x08\x09\x0a"
    assert difference(added, cut).longest_added_to_each == 3
    found = difference(added, cut, is_cut=True)
    assert (found.longest_added, found.longest_added_to_each) == (3, 0)


def test_a_range_that_moved_on_replaces_what_was_there():
    found = difference(b"\1\xc1\xc2\2", b"\1\xc2\xc3\2")
    assert (found.places, found.replaced, found.added) == (0.4, 1, 0)


@given(DISTINCT, st.randoms(use_true_random=False))
def test_an_order_of_paragraphs_changes_nothing(values, random):
    paragraphs = [values[start : start + 10] for start in range(0, 60, 10)]
    random.shuffle(paragraphs)
    assert difference(values, b"".join(paragraphs)) == (*[0] * len(Difference._fields),)


def test_what_has_changed_places_is_told_from_what_was_moved():
    there, back = b"\1\5\2\3\6\4", b"\1\6\2\3\5\4"
    assert difference(there, back) == (*[0] * 9, 2, *[0] * 3)


def signed(text: str) -> int:
    """Return how many numbers of a text have another sign than in "from 15 to 20"."""
    return value_differences.difference(values_of(text), values_of("from 15 to 20")).signs


def test_a_number_with_another_sign_is_told_from_another_number():
    assert [signed("from -15 to 20"), signed("from 15² to 20"), signed("from 15 ‰ to 20")] == [
        1,
        0,
        1,
    ]
    assert signed("from 1⁵ to 20") == 1
    assert signed("from -16 to 20") == signed("from 16 to 20") == signed("from 15 to 20") == 0


def test_where_paragraphs_were_moved_nothing_was_exchanged():
    """If they have a value in common, an alignment may leave short stretches between."""
    one, other, third = b"\1\2\3\4", b"\5\6\4", b"\2\1\4"
    assert difference(one + other + third, third + other + one).exchanged == 0


@pytest.mark.parametrize(
    ("one", "other", "places", "words"),
    [
        # a date alone counts little, with a number it does not count at all
        (b"\x01\xc0\x02", b"\x01\xc1\x02", 0.4, 0),
        (b"\x01\xc0\x80\x02", b"\x01\xc1\x81\x02", 1, 0),
        (b"\x01\x05\x02", b"\x01\x06\x02", 1, 1),
        (b"\x01\x05\x02", b"\x01\x80\x02", 1, 0),
        # of one stretch at most four
        (b"\x01" + bytes(range(10, 19)) + b"\x02", b"\x01" + bytes(range(20, 29)) + b"\x02", 4, 1),
        # names at the beginning and at the end; longer ones that are unequal are added
        (b"\x05\x01\x02", b"\x06\x07\x01\x02", 1, 1),
        (b"\x01\x02\x05", b"\x01\x02\x06\x07", 1, 1),
        (bytes(range(5, 10)) + b"\x01\x02", b"\x0b\x01\x02", 0, 0),
        (b"\x01\x02\x0b", b"\x01\x02" + bytes(range(5, 10)), 0, 0),
        # a longer line at the end is an address, unless the other is three times as long
        (b"\x01\x02" + bytes(range(20, 22)), b"\x01\x02" + bytes(range(5, 11)), 2, 1),
        (b"\x01\x02" + bytes(range(20, 22)), b"\x01\x02" + bytes(range(5, 12)), 0, 0),
        # the time of a print view, and a counter
        (b"\x01\x02\x05\xc0\xc1\xc2\xc3\xc4\xc5", b"\x01\x02\x06\x80\x81", 0, 0),
        # more dates than one has parts are several
        (b"\x01\xc0\xc1\xc2\xc3\x02", b"\x01\xc4\xc5\xc6\xc7\x02", 0.8, 0),
        (b"\x05\x01\x02", b"\x06\x01\x02", 1, 1),
        # a long one is a block of its own
        (b"\x01" + bytes(range(10, 31)) + b"\x02", b"\x01" + bytes(range(40, 61)) + b"\x02", 0, 0),
    ],
)
def test_places_of_one_stretch(one, other, places, words):
    found = difference(one, other)
    assert (found.places, found.words) == (places, words)
    assert found.share == places / 20


#: Numbers of two tables, of which two are equal.
TABLE = bytes(range(128, 152))
OTHER_TABLE = bytes([*range(160, 166), 137, *range(166, 177), 149, *range(177, 182)])


@pytest.mark.parametrize(
    ("one", "other", "places"),
    [
        (b"\x01" + TABLE + b"\x02", b"\x01" + OTHER_TABLE + b"\x02", 4),
        (TABLE + b"\x01", OTHER_TABLE + b"\xb7\x01", 4),
        (b"\x01" + TABLE, b"\x01" + OTHER_TABLE[5:], 4),
        # twice as long
        (b"\x01" + TABLE + b"\x02", b"\x01" + OTHER_TABLE[14:] + b"\x02", 0),
        # half of the numbers are equal
        (b"\x01" + TABLE, b"\x01" + OTHER_TABLE[:12] + TABLE[12:], 4),
        # words
        (b"\x01" + bytes(range(20, 44)), b"\x01" + bytes(range(50, 75)), 0),
    ],
)
def test_numbers_that_two_tables_share_by_chance_are_no_match(one, other, places):
    found = difference(one, other)
    assert (found.places, found.replaced) == (places, int(places > 0))


def test_rows_are_matched_by_their_names():
    """Else the longest equal stretch would be, which is of two rows."""
    row, other_row, third_row = (
        tuple(FIRST_NUMBER + n for n in range(m, m + 3)) for m in (0, 3, 6)
    )
    table, other = (1, *row, 2, *other_row, 3), (1, *third_row, 2, *row, 3)
    blocks = [block for block in value_differences._blocks(table, other) if block[2]]
    assert blocks == [(0, 0, 1), (4, 4, 1), (8, 8, 1)]


def test_neighbours_that_changed_places_are_exchanged():
    assert difference(b"\1\5\6\2", b"\1\6\5\2").exchanged == 1


@pytest.mark.parametrize(
    ("one", "other", "exchanged"),
    [
        # names of three words, with and without a word between
        (b"\1\5\6\7\x08\x0a\x0b\x0c\2", b"\1\x0a\x0b\x0c\x08\5\6\7\2", 1),
        (b"\1\5\6\7\x0a\x0b\2", b"\1\x0a\x0b\5\6\7\2", 1),
        # a line that was moved behind a longer one
        (b"\1\5\6" + bytes(range(10, 19)) + b"\2", b"\1" + bytes(range(10, 19)) + b"\5\6\2", 0),
        # lines in the order of the alphabet
        (b"\1\5\6\7\x08\x0a\2", b"\1\6\x0a\5\7\x08\2", 0),
    ],
)
def test_longer_names_are_exchanged_if_they_are_the_ends(one, other, exchanged):
    assert difference(one, other).exchanged == difference(other, one).exchanged == exchanged


def test_numbers_that_change_places_with_others_are_replaced():
    assert difference(b"\1\x83\x81\x82\2", b"\1\x84\x85\x83\2").numbers == 3


def test_an_end_that_was_cut_off_replaces_nothing():
    texts = b"\1\2\5", b"\1\2\6\7"
    assert (difference(*texts).places, difference(*texts, is_cut=True).places) == (1, 0)


REPETITIVE = st.lists(st.integers(1, 3), min_size=60, max_size=90).map(bytes)


@given(REPETITIVE, REPETITIVE)
def test_repetitive_texts_are_aligned_by_a_longest_common_subsequence(one, other):
    pairs = common_subsequence(one, other)
    assert all(one[a] == other[b] for a, b in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    # Its length by the textbook's table.
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, j in product(range(len(one)), range(len(other))):
        equal = one[i] == other[j]
        lengths[i + 1][j + 1] = (
            lengths[i][j] + 1 if equal else max(lengths[i][j + 1], lengths[i + 1][j])
        )
    assert len(pairs) == lengths[-1][-1]


@pytest.mark.parametrize("first", [0x0E01, 0x1780, 0x1000, 0x0E81])
@pytest.mark.parametrize("length", [100, 300, 3000, 30_000])
def test_a_number_behind_a_long_text_of_a_script_without_spaces_is_seen(first, length):
    rest = "".join(chr(first + n * n % 40) for n in range(length))
    one, other = (values_of(f"{rest} 4{n} {rest}") for n in (1, 2))
    assert len(one) == len(other) <= MAX_VALUES
    assert sum(a != b for a, b in zip(one, other, strict=True)) == 1


@given(st.binary(max_size=MAX_VALUES) | REPETITIVE, st.binary(max_size=MAX_VALUES) | REPETITIVE)
def test_either_order_says_the_same(one, other):
    assert difference(one, other) == difference(other, one)
    assert difference(one, other).share >= 0
    assert difference(one, one) == (*[0] * len(Difference._fields),)
    assert agreement(one, other) == agreement(other, one)[::-1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("8", "8.5"),
        ("5", "0.5"),
        ("15", "1.5"),
        ("1.2", "1.2.1"),
        ("2", "2-3"),
        ("2", "2–3"),
        ("7 am", "7 pm"),
        ("7:30 a.m.", "7:30 p.m."),
        ("12.50", "12.60"),
    ],
)
def test_a_part_of_a_number_is_another_value(one, other):
    values, others = (values_of(f"The size is {number} here") for number in (one, other))
    assert not set(values) <= set(others)
    assert not set(others) <= set(values)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("8.5", "8,5"),
        ("4,812", "4812"),
        ("8 and 5", "8, 5"),
        ("8. It", "8 it"),
        ("555-1234", "555 1234"),
        ("7 pm", "7 p.m."),
        ("7 am", "7"),
        ("7 pmk", "7 pmq"),
    ],
)
def test_a_number_is_the_same_value_however_it_is_written(one, other):
    values, others = (values_of(f"The size is {number} of 3") for number in (one, other))
    numbers, of_others = ([v for v in each if v >= FIRST_NUMBER] for each in (values, others))
    assert numbers == of_others


@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ("12.5 of 3-4", "12 5 of 3 4", True),
        ("12.5", "12", False),
        ("12.5", "12 6", False),
        ("7 pm", "7 am", False),
    ],
)
def test_a_copy_may_lack_the_points_of_numbers(one, other, are_equal):
    values, others = (np.array(values_of(f"It is {text} of it"), CODE) for text in (one, other))
    assert np.array_equal(with_points_of(values, others), values) is are_equal
    assert np.array_equal(with_points_of(others, values), others) is are_equal
