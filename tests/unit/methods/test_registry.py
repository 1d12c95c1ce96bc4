from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from scrapy_neardup.exceptions import InvalidOption
from scrapy_neardup.methods import METHODS, Method, open_method
from scrapy_neardup.methods.word_sets import Words
from tests.support.parts import letters


@dataclass(frozen=True, kw_only=True)
class FirstLetters(Method):
    """One's own method: the first letters."""

    name: ClassVar[str] = "first_letters"
    number: int = 3
    letters: Literal["any", "small"] = "any"
    level: Literal[1, 2] = 1
    is_loud: bool = False
    names: tuple[str, ...] | None = None
    min_similarity: float = 0.5

    def value(self, content: str | bytes) -> bytes:
        assert isinstance(content, str)
        return content[: self.number].encode()

    def similarity(self, new: bytes, known: bytes) -> float:
        return float(new == known)


@dataclass(frozen=True, kw_only=True)
class FirstWords(Words):
    """A subclass of a shipped method, with a parameter of its own."""

    number: int = 3


@dataclass(frozen=True, kw_only=True)
class Demanding(Words):
    """A parameter without a default."""

    number: int


@dataclass(frozen=True, kw_only=True)
class Nameless(Method):
    """Its class has no name."""

    value, similarity = FirstLetters.value, FirstLetters.similarity


class Boundless(Nameless):
    """It has no least similarity."""

    name = "boundless"


PATH = f"{__name__}.FirstLetters"


@pytest.mark.parametrize("name", METHODS)
def test_a_name_opens_its_method(name):
    method = open_method(name)
    assert type(method) is METHODS[name]
    assert method.name == name
    assert method.reads == ("bytes" if name == "tags" else "text")
    assert method == open_method(f" {name}: ") == METHODS[name]()
    assert method.requirement
    documentation = METHODS[name].__doc__ or ""
    assert "Good for: " in documentation
    assert "Bad for: " in documentation


@pytest.mark.parametrize(
    ("written", "parameters"),
    [
        ("simhash:128", {"bits": 128, "max_distance": 12}),
        ("simhash:64,tables=16,ties=set", {"bits": 64, "tables": 16, "ties": "set"}),
        ("simhash: bits = 32 , weights = tf", {"bits": 32, "weights": "tf"}),
        ("nilsimsa:24", {"min_score": 24, "min_similarity": (24 + 128) / 256}),
        ("minhash:256,min_similarity=0.7", {"hashes": 256, "min_similarity": 0.7}),
        ("bottomk:64", {"hashes": 64}),
        ("words:0.6", {"min_similarity": 0.6}),
        ("sentences:5", {"number": 5}),
        ("manber:30,one_in=16", {"window": 30, "one_in": 16}),
        ("keywords:2.5", {"min_weight": 2.5}),
        ("tags:0.9", {"min_similarity": 0.9}),
        ("exact", {"min_similarity": 1.0}),
        (f"{PATH}:7", {"number": 7}),
        (f"{__name__}.FirstWords:5", {"number": 5, "min_similarity": 0.8}),
        (f"{PATH}:level=2,is_loud=True", {"level": 2, "is_loud": True}),
        (f"{PATH}:letters=small,min_similarity=1", {"letters": "small", "min_similarity": 1}),
    ],
)
def test_parameters_follow_a_name(written, parameters):
    method = open_method(written)
    assert {name: getattr(method, name) for name in parameters} == parameters


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("simhsah", "method is 'simhsah', but it must be 'simhash', or another of exact, "),
        ("minhash2", "method is 'minhash2', but it must be 'minhash', or another of "),
        ("", "method is '', but it must be one of exact, simhash, "),
        ("own", "method is 'own', but it must be one of .*, or an import path"),
        ("no.such.module", r"method is 'no.such.module', .* a valid import path \(No module named"),
        ("scrapy_neardup.methods.Nothing", "a valid import path .*Nothing"),
        (".Exact", "a valid import path"),
        ("scrapy_neardup.Rule", "'scrapy_neardup.Rule', but it must be .* a subclass of Method"),
        ("scrapy_neardup.methods.Method", "Method', but it must be .* a subclass of Method"),
        (f"{__name__}.Nameless", "but it must be a method whose class has a name"),
        (f"{__name__}.Boundless", "min_similarity is None, but it must be above 0, at most 1"),
        ("simhash:128,64", "'simhash:128,64', .* simhash with parameters named bits, max_distance"),
        ("simhash:128,ties", "'simhash:128,ties', .* simhash with parameters named bits"),
        ("minhash:size=3", "'minhash:size=3', .* parameters named hashes, width, rows, min_sim"),
        ("words:tokenizer=x", "words with parameters named min_similarity, measure$"),
        ("simhash:wide", "method simhash: bits is 'wide', but it must be a whole number"),
        ("simhash:ties=up", "method simhash: ties is 'up', but it must be one of clear, set"),
        ("words:min_similarity=high", "method words: min_similarity is 'high', .* a finite number"),
        ("simhash:48", "method simhash: bits is 48, but it must be 32, 64 or 128"),
        ("nilsimsa:129", "method nilsimsa: min_score is 129, but it must be -128 to 128"),
        ("minhash:0", "method minhash: hashes is 0, but it must be 1 to 4096"),
        ("minhash:rows=129", "method minhash: rows is 129, but it must be 0 to 128"),
        ("bottomk:width=0", "method bottomk: width is 0, but it must be 1 to 4096"),
        ("sentences:0", "method sentences: number is 0, but it must be 1 to 4096"),
        ("manber:0", "method manber: window is 0, but it must be 1 to 4096"),
        ("minhash:hashes=99999999", "hashes is 99999999, but it must be 1 to 4096"),
        ("bottomk:4097", "method bottomk: hashes is 4097, but it must be 1 to 4096"),
        ("minhash:width=99999999", "width is 99999999, but it must be 1 to 4096"),
        ("sentences:5000", "method sentences: number is 5000, but it must be 1 to 4096"),
        ("manber:window=5000", "method manber: window is 5000, but it must be 1 to 4096"),
        ("keywords:5.1", "method keywords: min_weight is 5.1, but it must be 0 to 5"),
        ("keywords:-1", "method keywords: min_weight is -1.0, but it must be 0 to 5"),
        ("keywords:nan", "method keywords: min_weight is 'nan', but it must be a finite number"),
        ("keywords:inf", "method keywords: min_weight is 'inf', but it must be a finite number"),
        ("simhash:bits=64,bits=32", "'simhash:bits=64,bits=32', .* simhash with bits given once"),
        ("simhash:64,bits=64", "'simhash:64,bits=64', .* simhash with bits given once"),
        (f"{PATH}:is_loud=no", "is_loud is 'no', but it must be one of True, False"),
        (f"{PATH}:level=3", "level is '3', but it must be one of 1, 2"),
        (f"{PATH}:names=x", "names is 'x', but it must be left out"),
        (f"{__name__}.Demanding", "Demanding', but it must be a method that can be made"),
        ("manber:one_in=48", "method manber: one_in is 48, but it must be a power of 2"),
        *(
            (
                f"{name}:min_similarity={bound.strip(chr(39))}",
                f"method {name}: min_similarity is {bound}, but it",
            )
            for name in METHODS
            if name not in ("simhash", "nilsimsa")
            for bound in ("0.0", "1.5", "'nan'")
        ),
    ],
)
def test_errors_name_the_value_and_what_is_right(written, message):
    with pytest.raises(InvalidOption, match=message):
        open_method(written)


def test_errors_name_the_option():
    with pytest.raises(InvalidOption, match=r"^NEARDUP_METHOD is 'x', "):
        open_method("x", option="NEARDUP_METHOD")
    with pytest.raises(InvalidOption, match=r"^--method simhash: bits is 3, "):
        open_method("simhash:3", option="--method")


def test_a_tokenizer_is_for_methods_that_read_words():
    assert open_method("words", letters).value("a b") == open_method("words").value("b a")
    assert open_method("words", letters).value("ab") == open_method("words").value("b a")
    assert open_method("exact", letters) == open_method("exact")
