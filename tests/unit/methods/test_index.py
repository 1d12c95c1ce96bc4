from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup._util.encoding import utf8
from scrapy_neardup.methods import METHODS, Method, MethodIndex, MethodMatch, keys, open_method

#: Each method with parameters that suit texts of few words.
SMALL = [
    *("exact", "simhash:32,max_distance=9", "simhash:64,max_distance=0", "simhash:64,tables=4"),
    *("simhash:64,tables=16", "simhash:64,tables=20", "simhash:128,max_distance=40"),
    *("nilsimsa:40", "sentences:2,min_similarity=0.5", "manber:2,one_in=1,min_similarity=0.3"),
    *("minhash:16,width=2,rows=0,min_similarity=0.4", "bottomk:8,width=2,min_similarity=0.4"),
    *("words:min_similarity=0.5", "tags:min_similarity=0.5", "keywords:min_similarity=0.4"),
]
#: Those whose keys are counted.
COUNTING = [*("bottomk", "words", "keywords", "sentences", "manber:8,one_in=4")]
TEXTS = st.lists(
    st.sampled_from(["the", "ferry", "ferries", "harbour", "dredged.", "2026", "港口", "Spring"]),
    max_size=9,
).map(" ".join)
COMMON = [f"w{number}{'.' if number % 7 == 0 else ''}" for number in range(40)]
#: Texts of a few dozen words and sentences, of which most have most words in common.
SHARING = st.builds(
    lambda start, end, own: " ".join([*own, *COMMON[start:end]]),
    *(st.integers(0, 12), st.integers(20, 40), TEXTS.map(str.split)),
)
#: Pages with this notice have some 40 of 100 words, and one of three sentences, in common.
NOTICE = " ".join(f"notice{number}" for number in range(36)) + ". "
#: Numbers are added with a text, those that are there already removed.
STEPS = st.lists(st.tuples(st.integers(0, 9), TEXTS), max_size=25)


def test_every_method_is_tried():
    assert {written.partition(":")[0] for written in SMALL} == set(METHODS)


def filled(method: Method, steps: list[tuple[int, str]]) -> tuple[MethodIndex, dict[int, bytes]]:
    index = MethodIndex(method)
    kept: dict[int, bytes] = {}
    for number, text in steps:
        if number in kept:
            index.remove(number)
            del kept[number]
        elif value := method.value(text):
            index.add(number, value)
            kept[number] = value
    return index, kept


def near(method: Method, kept: dict[int, bytes], value: bytes) -> list[MethodMatch]:
    """The near-duplicates of a value, by brute force."""
    matches = [
        MethodMatch(number, method.similarity(value, known))
        for number, known in kept.items()
        if value and method.is_near(value, known)
    ]
    return sorted(matches, key=lambda match: (-match.similarity, match.number))


@pytest.mark.parametrize("written", SMALL)
@given(steps=STEPS, text=TEXTS)
def test_an_index_finds_what_brute_force_finds(written, steps, text):
    method = open_method(written)
    index, kept = filled(method, steps)
    value = method.value(text)
    assert index.near(value) == near(method, kept, value)
    assert len(index) == len(kept)
    assert all(index[number] == known for number, known in kept.items())


@pytest.fixture(params=[4096, 0])
def left(request):
    """Sweep the postings of removed values when so many are left, or most are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_LEFT", request.param)
        yield


@pytest.mark.usefixtures("left")
@pytest.mark.parametrize("written", COUNTING)
@given(steps=st.lists(st.tuples(st.integers(0, 9), SHARING), max_size=25))
def test_texts_that_share_much_are_found_after_each_step(written, steps):
    method = open_method(written)
    index, kept = MethodIndex(method), dict[int, bytes]()
    for number, text in steps:
        replaced(index, kept, number, method.value(text))
        assert index.near(method.value(text)) == near(method, kept, method.value(text))


def replaced(index: MethodIndex, kept: dict[int, bytes], number: int, value: bytes) -> None:
    """Replace a value by another one, which may be empty."""
    if number in kept:
        index.remove(number)
        del kept[number]
    if value:
        index.add(number, value)
        kept[number] = value


def revisions(drawn: random.Random, number: int) -> list[str]:
    """Texts with a notice in all of them, each with up to a third of another one's words new."""
    texts, kept = [], [list[str]()]
    for _ in range(number):
        words = list(drawn.choice(kept)) or [drawn.randbytes(3).hex() for _ in range(60)]
        for place in drawn.sample(range(60), drawn.randrange(20)):
            words[place] = drawn.randbytes(3).hex()
        kept.append(words)
        sentences = [" ".join(words[start : start + 10]) for start in range(0, 60, 10)]
        texts.append(NOTICE + ". ".join(sentences))
    return texts


@pytest.mark.usefixtures("left")
@pytest.mark.parametrize("written", [*COUNTING, "sentences:6,min_similarity=0.6", "words:0.6"])
def test_revised_pages_with_a_notice_are_found_as_by_brute_force(written):
    method, drawn = open_method(written), random.Random(3)
    index, kept, pairs = MethodIndex(method), dict[int, bytes](), 0
    for text in revisions(drawn, 150):
        value = method.value(text)
        expected = near(method, kept, value)
        assert index.near(value) == expected
        pairs += len(expected)
        replaced(index, kept, drawn.randrange(100), value)
    assert 20 <= pairs <= 3000


@pytest.mark.parametrize("written", [*SMALL, *COUNTING])
@given(a=TEXTS | SHARING, b=TEXTS | SHARING)
def test_near_values_have_as_many_keys_in_common_as_each_needs(written, a, b):
    method = open_method(written)
    values = method.value(a), method.value(b)
    if all(values) and method.is_near(*values):
        needed = max(map(method.keys_in_common, values))
        ours, theirs = map(method.keys, values)
        assert needed >= 1
        assert ours is None or theirs is None or len(set(ours) & set(theirs)) >= needed


@given(STEPS, TEXTS)
def test_bands_find_nothing_that_is_not_near(steps, text):
    method = open_method("minhash:16,width=1,rows=2,min_similarity=0.4")
    index, kept = filled(method, steps)
    value = method.value(text)
    found = {match.number for match in index.near(value)}
    equal = {number for number, known in kept.items() if value == known}
    assert equal <= found <= {match.number for match in near(method, kept, value)}


@pytest.mark.parametrize("written", SMALL)
@given(steps=STEPS)
def test_removing_undoes_adding(written, steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keys, "_LEFT", 0)
        index, kept = filled(open_method(written), steps)
        for number in kept:
            index.remove(number)
    assert not len(index)
    if isinstance(index._keys, keys.KeyCounts):
        assert not any(index._keys._postings._buckets)
        assert len(index._keys._free) == len(index._keys._needed)
    else:
        assert not index._keys._numbers
    with pytest.raises(KeyError):
        index.remove(0)


@given(TEXTS, TEXTS)
@pytest.mark.parametrize("written", SMALL)
def test_similarities_are_0_to_1_and_a_value_is_near_itself(written, a, b):
    method = open_method(written)
    values = method.value(a), method.value(b)
    if all(values):
        assert 0 <= method.similarity(*values) <= 1
        assert method.similarity(values[0], values[0]) == pytest.approx(1)
        assert method.is_near(values[0], values[0])
        assert method.explain(*values)
        assert method.describe(values[0])
        if not written.startswith("manber"):
            assert method.similarity(*values) == pytest.approx(method.similarity(*values[::-1]))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    "content",
    [
        *(
            "",
            " \n\t\u3000",
            "a",
            "ab",
            "abc",
            "abcd",
            ".",
            "。\n！",
            "\0",
            "\ud800",
            "\udfff a \ud83d",
        ),
        *("word " * 20_000, "港" * 20_000, "a" * 100_000, "\u0301" * 5_000, "…" * 9, "1 2 3"),
        *(b"", b" ", b"\x00", b"ab", b"\xff\xfe\xfd", b"abcd", b"\x00" * 100_000),
    ],
    ids=lambda content: repr(content[:12]),
)
def test_any_content_has_a_value(name, content):
    method = open_method(name)
    value = method.value(content)
    assert isinstance(value, bytes)
    assert value == method.value(content)
    if not content.strip():
        assert value == b""
    if value:
        assert method.is_near(value, value)
        index = MethodIndex(method)
        index.add(1, value)
        assert [match.number for match in index.near(value)] == [1]
    assert MethodIndex(method).near(value) == []


def pages(number: int) -> list[str]:
    drawn = random.Random(1)
    own = [[drawn.randbytes(6).hex() for _ in range(54)] for _ in range(number)]
    return [f"{NOTICE}{' '.join(words[:24])}. {' '.join(words[24:])}." for words in own]


def compared(method: Method, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the list that grows by each value that the method compares another one with."""
    seen, is_near = [], type(method).is_near

    def noted(self: Method, new: bytes, known: bytes) -> bool:
        seen.append(known)
        return is_near(self, new, known)

    monkeypatch.setattr(type(method), "is_near", noted)
    return seen


@pytest.mark.parametrize("written", COUNTING)
def test_pages_that_share_a_notice_are_not_compared(written, monkeypatch):
    method = open_method(written)
    index, values = MethodIndex(method), [method.value(text) for text in pages(100)]
    for number, value in enumerate(values):
        index.add(number, value)
    seen = compared(method, monkeypatch)
    for number, value in enumerate(values):
        assert [match.number for match in index.near(value)] == [number]
    assert len(seen) == len(values)


@pytest.mark.parametrize("written", COUNTING)
def test_a_page_of_a_notice_is_not_compared_with_longer_ones(written, monkeypatch):
    method = open_method(written)
    index = MethodIndex(method)
    for number, text in enumerate(pages(100)):
        index.add(number, method.value(text))
    seen = compared(method, monkeypatch)
    assert index.near(method.value(NOTICE)) == []
    assert seen == []


@dataclass(frozen=True, kw_only=True)
class Letters(Method):
    """A method of a user's own, with no more than keys: equal first letters of words."""

    name: ClassVar[str] = "letters"
    min_similarity: float = 1.0

    def value(self, content):
        return bytes(word[0] for word in utf8(content).split())

    def similarity(self, new, known):
        return float(bool(set(new) & set(known)))

    def keys(self, value):
        return ((-1) ** letter * letter << 90 for letter in value)


@given(STEPS, TEXTS)
def test_keys_may_be_any_numbers_and_occur_repeatedly(steps, text):
    method = Letters()
    index, kept = filled(method, steps)
    assert index.near(method.value(text)) == near(method, kept, method.value(text))
