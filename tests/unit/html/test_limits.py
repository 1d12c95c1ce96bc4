from __future__ import annotations

import dataclasses
import pickle
import tracemalloc
from contextlib import suppress

import pytest

from scrapy_neardup import InvalidOption
from scrapy_neardup.exceptions import LimitExceeded
from scrapy_neardup.html.extraction import read_fragment, read_page, visible_text
from scrapy_neardup.html.limits import PageLimits
from scrapy_neardup.reasons import Reason
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.record import Record
from scrapy_neardup.workers import sign_record

SECRET = b"a secret for tests"


def refused(html: str, **limits: int) -> tuple[str, int, int] | None:
    """Return the reason why a page is refused, the value and the bound; ``None`` if it is read."""
    try:
        signer(**limits).read(html)
    except LimitExceeded as error:
        return error.reason, error.value, error.bound
    return None


def signer(**limits: int) -> Signer:
    return Signer(
        secret=SECRET, tokenizer="pairs", idf="none", extractor="visible",
        limits=PageLimits(**limits),
    )  # fmt: skip


def page(body: str) -> str:
    return f"<html><head><title>T</title></head><body>{body}</body></html>"


#: Bytes of such a page.
SIZE = len(page("ä" * 100).encode())


@pytest.mark.parametrize(
    ("html", "limits", "expected"),
    [
        (page("ä" * 100), {"body_bytes": SIZE}, None),
        (page("ä" * 100), {"body_bytes": SIZE - 1}, ("too_large", SIZE, SIZE - 1)),
        (page("<p>" * 6 + "</p>" * 90), {"tags": 10}, None),
        (page("<p>" * 7 + "</p>" * 90), {"tags": 10}, ("too_many_tags", 11, 10)),
        (page("3 < 4 " * 99), {"tags": 10}, None),
        (page("<p a b=1 c='2' d=\"3\">x"), {"attributes": 4}, None),
        (page("<p a b=1 c='2' d=\"3\" e>x"), {"attributes": 4}, ("too_many_attributes", 5, 4)),
        (page("<p a=1 b/c='>'d=3 e = '4' f>x"), {"attributes": 4}, ("too_many_attributes", 6, 4)),
        (page('<p a="1 2 3 4 5 6 7 8 9">x'), {"attributes": 4}, None),
        (page("<i a b><i c d><i e f>x"), {"attributes": 4}, None),
        (page("<div>" * 3 + "x"), {"nesting": 5}, None),
        (page("<div>" * 4 + "x"), {"nesting": 5}, ("too_nested", 6, 5)),
        (page("<p>x" * 50), {"nesting": 5}, None),
        (page("<p>x" * 25), {"text_chars": 73}, None),
        (page("<p>x" * 25), {"text_chars": 72}, ("text_too_long", 73, 72)),
        (page(f"<nav>{'x' * 51}</nav>"), {"text_chars": 50}, ("text_too_long", 51, 50)),
        (
            f"<html><head><title>{'x' * 51}</title></head><body>x</body></html>",
            {"text_chars": 50},
            ("text_too_long", 51, 50),
        ),
    ],
)
def test_the_limit_itself_is_allowed_and_one_more_is_not(html, limits, expected):
    assert refused(html, **limits) == expected


@pytest.mark.parametrize("value", ["=1", "='>'", ' = ">="'])
def test_attributes_are_counted_to_the_end_of_the_longest_tag(value):
    tag = "".join(f" a{number}{value}" for number in range(6500))
    for html in (page(f"<p{tag}>x"), f"<html><body><p{tag}"):
        assert refused(html, attributes=6500) is None
        assert refused(html, attributes=6499) == ("too_many_attributes", 6500, 6499)


@pytest.mark.parametrize("signs", [1998, 1999, 2000, 2001, 4000, 4001])
def test_what_stands_behind_many_signs_of_one_value_is_counted(signs):
    html = page(f"<p a{'=' * signs}1 b c='>' d>x")
    assert refused(html, attributes=4) is None
    assert refused(html, attributes=3) == ("too_many_attributes", 4, 3)


@pytest.mark.parametrize("given", ["=", "= ", " a=1", " a='>'"])
def test_a_tag_of_any_length_is_looked_through_in_little_memory(given):
    html = page(f"<p{given * 300_000}>x")
    tracemalloc.start()
    try:
        with suppress(LimitExceeded):
            PageLimits().check_markup(html)
        assert tracemalloc.get_traced_memory()[1] < 5 * len(html)
    finally:
        tracemalloc.stop()


def test_a_body_of_bytes_is_refused_before_it_is_decoded():
    with pytest.raises(LimitExceeded, match="at least 100 bytes; the limit is 99") as info:
        signer(body_bytes=99).sign_html("https://a.example/", b"\xff" * 100, encoding="utf-16")
    assert (info.value.reason, info.value.value, info.value.bound) == ("too_large", 100, 99)


def test_the_bytes_of_a_body_count_as_they_came():
    """Decoded, a character of two bytes in GBK has three in UTF-8."""
    body = page("茶" * 100).encode("gbk")
    within = signer(body_bytes=len(body))
    assert within.read(body, encoding="gbk").text == "茶" * 100
    with pytest.raises(LimitExceeded):
        signer(body_bytes=len(body) - 1).read(body, encoding="gbk")
    record = Record("1", "https://a.example/", body, "text", encoding="gbk")
    assert sign_record(within, record).n_text == len(body.decode("gbk"))


def test_texts_and_fragments_have_the_same_limits():
    narrow = signer(text_chars=9, tags=9)
    for sign in (
        lambda: narrow.sign_text("https://a.example/", "x" * 10),
        lambda: narrow.sign_text("https://a.example/", "x", title="x" * 10),
        lambda: narrow.fragment_page("https://a.example/", "x" * 10),
        lambda: narrow.fragment_page("https://a.example/", f"<p>{'x' * 10}"),
        lambda: narrow.fragment_page("https://a.example/", "<p>" * 9),
    ):
        with pytest.raises(LimitExceeded):
            sign()
    assert read_fragment("<p>" * 6 + "x", PageLimits(tags=9)).text.split() == ["x"]


def test_limits_do_not_change_a_signature():
    signers = signer(), signer(tags=50)
    one, other = (each.sign_html("https://a.example/", page("some words")) for each in signers)
    assert one == other


def test_the_deepest_limit_is_read_to_its_depth():
    deepest = PageLimits(nesting=2000, tags=5000)
    assert read_page(page("<b>" * 1998 + "deep"), visible_text, deepest).text == "deep"
    assert refused(page("<b>" * 1999 + "deep"), nesting=2000) == ("too_nested", 2001, 2000)
    assert refused(page("<b>" * 20000 + "deep"), nesting=2000) == ("too_nested", 2001, 2000)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(PageLimits)])
@pytest.mark.parametrize("value", [0, 1.5, True, "9", None])
def test_a_limit_is_a_positive_number(name, value):
    with pytest.raises(InvalidOption, match=f"{name} is {value!r}, but it must be a whole number"):
        PageLimits(**{name: value})


def test_a_nesting_that_cannot_be_read_is_refused():
    with pytest.raises(InvalidOption, match="nesting is 2001, but it must be a whole number from"):
        PageLimits(nesting=2001)


def test_the_error_survives_the_way_between_processes():
    error = LimitExceeded(Reason.TOO_NESTED, 12_000, 500)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.reason, copy.value, copy.bound) == ("too_nested", 12_000, 500)
    assert str(copy) == str(error)
    assert "12,000 levels of nesting" in str(error)
