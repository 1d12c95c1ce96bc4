from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.html.extraction import article_text, read_page, visible_text
from scrapy_neardup.html.sanitizing import repaired, without_early_ends
from scrapy_neardup.text.characters import bounded_marks
from tests.support.texts import FERRY, MUSEUM

#: Two marks of different classes: their order is changed by normalisation.
ABOVE, BELOW = "\u0301", "\u0323"


def text_of(body: str) -> str:
    return read_page(f"<html><body>{body}</body></html>", visible_text).text


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("&#0;", "\u2060"),
        ("&#x1;", "\u2060"),
        ("&#x1", "\u2060"),
        ("&#0000000000001;", "\u2060"),
        ("&#12;", " "),
        ("&#xFFFE;", "\u2060"),
        ("&#xD800;", "\ufffd"),
        ("&#x110000;", "\ufffd"),
        (f"&#{'9' * 5000};", "\ufffd"),
        (f"&#x{'0' * 5000}41;", "A"),
        ("&#65;", "A"),
        ("&#x4e2d;", "中"),
        ("&#38;#1;", "&#1;"),
        ("\1", ""),
        ("\0", ""),
        ("\f", " "),
        ("\ud800", "\ufffd"),
        ("\uffff", ""),
    ],
)
def test_what_no_tree_can_hold_costs_itself_and_not_the_page(reference, shown):
    assert text_of(f"<p>before{reference}zero</p><p>next</p>").split("zero")[0] == (
        f"before{shown}"
    )
    page = f"<html><body><article><p>{FERRY}</p><p>{reference}{MUSEUM}</p></article></body></html>"
    text = read_page(page, article_text).text
    assert "lighthouse" in text
    assert "headphones" in text


def test_what_is_taken_out_does_not_make_a_reference_of_what_is_left():
    assert repaired("&#&#1;1; &\1#1;") == "&#\u20601; \u2060"


def test_a_reference_to_half_a_character_does_not_depend_on_the_parser():
    assert repaired("a&#xD800;b&#57343;c&#x110000;d") == "a\ufffdb\ufffdc\ufffdd"


@given(st.text())
def test_a_repaired_page_needs_no_repair(text):
    once = repaired(text)
    assert repaired(once) == once


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Mn", "Cn"])))
def test_ordinary_text_is_left_alone(text):
    html = text.replace("&", "").replace("<", "")
    assert repaired(html) == html


def test_marks_are_those_that_normalisation_puts_in_order():
    """The class in the pattern against the definition, for every character."""
    for code in range(0x110000):
        decomposed = unicodedata.normalize("NFKD", chr(code))
        if unicodedata.category(chr(code)) not in ("Cn", "Cs"):
            run = bounded_marks(chr(code) * 31)
            # Python's tables may be older than those of the regex package, never newer.
            if all(map(unicodedata.combining, decomposed)):
                assert run == chr(code) * 30 + "\u25cc" + chr(code), hex(code)
            elif unicodedata.unidata_version >= "17":
                assert run == chr(code) * 31, hex(code)


@pytest.mark.parametrize(
    ("html", "runs"),
    [
        ("e" + (ABOVE + BELOW) * 100, 7),
        ("e" + f"{ABOVE}\u200d{BELOW}\u200d" * 100, 7),
        ("e" + "&#x301;&#803;" * 100, 7),
        ("e" + "&tdot;&DownBreve;" * 100, 7),
        ("e" + (ABOVE + BELOW) * 15, 1),
        ("ﾞ" * 31, 2),
        ("e" + "\u0f73" * 31, 2),
    ],
)
def test_no_run_of_marks_is_long(html, runs):
    assert len(repaired(html).split("\u25cc")) == runs


def test_marks_behind_a_bound_still_tell_two_texts_apart():
    one, other = (bounded_marks("e" + ABOVE * 50 + last) for last in (ABOVE, BELOW))
    assert unicodedata.normalize("NFC", one) != unicodedata.normalize("NFC", other)


@pytest.mark.parametrize(
    "start",
    [
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/x.dtd">\n<html>',
        '<!DOCTYPE html SYSTEM "about:legacy-compat"/><html>',
        '<html lang="en"/>',
        '<!doctype html><html xmlns="http://www.w3.org/1999/xhtml" />',
        "<?xml version='1.0' encoding='gbk'?><html>",
    ],
)
def test_a_faulty_start_costs_nothing(start):
    html = f"{start}<head><title>名</title></head><body><p>名{FERRY}</p></body></html>"
    page = read_page(html, visible_text)
    assert (page.title, page.text) == ("名", f"名{FERRY}")


@pytest.mark.parametrize("end", ["</html>", "</body>", "</body></html>", "</HTML\n>", "</body/>"])
@pytest.mark.parametrize("tag", ["p", "pre", "center", "dl", "form", "blockquote", "table", "b"])
def test_nothing_is_lost_behind_an_end(end, tag):
    behind = f"<{tag}>{FERRY}</{tag}>"
    early = f"<html><head><title>t</title></head>{end}{behind}</body></html>"
    within = f"<html><body><p>{MUSEUM}</p>{end}{behind}</body></html>"
    assert read_page(early, visible_text).shown.split() == FERRY.split()
    assert read_page(within, visible_text).shown.split() == f"{MUSEUM} {FERRY}".split()


PIECES = st.sampled_from(["</html>", "</body x>", "</", "ht", "ml", "body", ">", "<", "/", " "])


@given(st.lists(PIECES).map("".join))
def test_no_early_end_is_left(html):
    assert not re.search(r"</(html|body)[\s/>]", without_early_ends(f"{html}<p>"))


@pytest.mark.parametrize(
    "html",
    [
        "<p>x</body></html>",
        "<p>x</body ></html>\n<!-- 0.3 s --><script>count()</script><noscript></noscript>",
        "<p>x</body></html> }); // remove the overlay </body></html>",
        "</htmlx></bodyguard><p>x",
    ],
)
def test_what_is_no_early_end_is_left_alone(html):
    assert without_early_ends(html) == html


def test_an_end_with_attributes_does_not_end_the_page():
    html = f"<html><body><p>one</p></html {' ' * 99} </body></html><p>{FERRY}</p></body></html>"
    assert FERRY in read_page(html, visible_text).text


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("10<sup>2</sup>", "10²"),
        ("<i>10</i><SUP class='a'> 2 </SUP>", "10²"),
        ("10<sup>&minus;3</sup>", "10⁻³"),
        ("10<sup>-12</sup>", "10⁻¹²"),
        ("101<sub>2</sub>", "101₂"),
        ("2<sup>n</sup>", "2ⁿ"),
        ("3 &times; 10<sup>12</sup>", "3 × 10¹²"),
        # cents, ordinals, footnotes, and what stands behind a letter
        ("19<sup>99</sup>", "1999"),
        ("1<sup>st</sup>", "1st"),
        ("1987<sup><a>[1]</a></sup>", "1987[1]"),
        ("word<sup>1</sup>", "word1"),
        ("H<sub>2</sub>O", "H2O"),
    ],
)
def test_raised_digits_stay_raised(markup, shown):
    assert text_of(f"<p>{markup}</p>") == shown
