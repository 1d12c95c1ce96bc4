from __future__ import annotations

import subprocess
import sys
from html.entities import html5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.exceptions import LimitExceeded, UnreadablePage
from scrapy_neardup.html.limits import PageLimits
from scrapy_neardup.html.quick_text import quick_text

LIMITS = PageLimits()
SENTENCES = [
    f"The ferry number {i} to Holm leaves from the old pier at {i} o'clock" for i in range(12)
]
ARTICLE = "".join(f"<p>{sentence}.</p>" for sentence in SENTENCES)


def page(body: str, head: str = "<title>Ferries</title>") -> str:
    return f"<html><head>{head}</head><body>{body}</body></html>"


def squeezed(text: str) -> str:
    return "".join(text.lower().replace("'", "").split())


def test_passages_are_the_sentences_outside_of_menus_and_links():
    menu = "<nav>Home Contact Imprint</nav><ul><li><a href=/a>Another article</a></li></ul>"
    read = quick_text(page(menu + ARTICLE + "<footer>All rights reserved</footer>"), LIMITS)
    assert read.title == "Ferries"
    assert read.passages == list(map(squeezed, SENTENCES))


def test_a_page_of_links_has_their_texts_as_passages():
    links = "".join(f"<li><a href=/{i}>Story number {i}</a></li>" for i in range(5))
    assert quick_text(page(f"<ul>{links}</ul>"), LIMITS).passages == [
        f"storynumber{i}" for i in range(5)
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ARTICLE, f"<table><tr><td>{ARTICLE}</td></tr></table>"),
        ("<p>船票五元。今天开往霍尔姆岛！</p>", "<div>船票五元。<br>今天开往霍尔姆岛！</div>"),
        ("<p>Fare: 5 €; boats leave daily</p>", "<p>FARE: 5 €<br>Boats leave daily</p>"),
        ("<p>Boats leave daily. Dogs travel free.</p>",
         "<p>Boats leave daily.</p><p>Dogs travel free.</p>"),
        ("<p>臺灣的船票價格</p>", "<p>台湾的船票价格</p>"),
        ("<p>L'île d'«Holm» - au nord…</p>", "<p>L’île d’“Holm” – au nord...</p>"),
        ("<p>“Boats leave daily.” Dogs travel free.</p>",
         "<p>Boats leave daily. Dogs, travel free</p>"),
        ("<p>今天开往“霍尔姆岛”，船票五元。明天不开船。</p>",
         "<p>今天开往「霍尔姆岛」,船票五元.明天不开船．</p>"),
    ],
)  # fmt: skip
def test_markup_case_punctuation_and_form_of_characters_do_not_change_the_passages(one, other):
    assert quick_text(page(one), LIMITS).passages == quick_text(page(other), LIMITS).passages


@pytest.mark.parametrize(
    "hidden",
    ["<script>x = 'secret words'</script>", "<style>.secret-words{}</style>",
     "<noscript>secret words</noscript>", "<template>secret words</template>",
     "<svg><title>secret words</title></svg>", "<!-- secret words -->"],
)  # fmt: skip
def test_what_is_not_shown_is_not_read(hidden):
    read = quick_text(page(hidden + ARTICLE), LIMITS)
    assert read.title == "Ferries"
    assert not any("secretwords" in passage for passage in read.passages)


def test_the_title_of_an_image_is_not_the_pages():
    assert quick_text(page("<svg><title>Logo</title></svg>" + ARTICLE, head=""), LIMITS).title == ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<div id=root></div><script src=app.js></script>", True),
        ("<script>window.__DATA__ = {" + 500 * "x" + "}</script><p>Loading</p>", True),
        ("<div id=root></div>" + 20 * ARTICLE + "<script src=app.js></script>", False),
        ("<p>A short page without scripts</p>", False),
    ],
)
def test_pages_that_scripts_may_fill_need_a_full_reading(body, expected):
    assert quick_text(page(body), LIMITS).needs_reading is expected


def test_limits_hold():
    with pytest.raises(LimitExceeded):
        quick_text(page(50 * "<p>x"), PageLimits(tags=20))
    with pytest.raises(LimitExceeded):
        quick_text(page(f"<p {' '.join(f'a{i}=1' for i in range(30))}>"), PageLimits(attributes=20))
    with pytest.raises(LimitExceeded):
        quick_text(page("<p>" + 200 * "word "), PageLimits(text_chars=500))


def test_a_text_that_is_too_long_is_refused_before_it_is_normalised(monkeypatch):
    # Each of these letters becomes eighteen.
    html = page("<p>" + 600 * "\ufdfa ")
    monkeypatch.setattr("scrapy_neardup.html.quick_text.normalize", lambda text: 1 / 0)
    with pytest.raises(LimitExceeded):
        quick_text(html, PageLimits(text_chars=500))


@pytest.mark.parametrize("name", ["div", "x-term"])
def test_nesting_costs_no_recursion(name):
    nested = f"<p>{9_900 * f'<{name}>'}some words"
    assert quick_text(page(nested), LIMITS).passages == ["somewords"]


@given(st.text(alphabet="<>/=\"' \nab!-&;#\0é船", max_size=80))
def test_any_text_is_read_or_refused(html):
    try:
        read = quick_text(html, LIMITS)
    except UnreadablePage:
        return
    assert all(len(passage) >= 4 and passage.split() == [passage] for passage in read.passages)


@pytest.mark.parametrize(
    "other",
    [
        ARTICLE.replace("ferry number", "<b>ferry</b> <span>number</span>"),
        ARTICLE.replace("Holm", "<a href=/holm>Holm</a>"),
        ARTICLE.replace(" from the", "\nfrom\tthe"),
        ARTICLE.replace("</p><p>", " "),
        ARTICLE.replace("old pier", "<mark>old</mark> <abbr>pier</abbr>"),
        ARTICLE.replace("old pier", "<!-- -->old<!-- --> pier"),
        ARTICLE.replace("old pier", "<nobr>old</nobr> <output>pier</output>"),
        ARTICLE.replace("old pier", "<x-term>old</x-term> <x-term>pier</x-term>"),
        ARTICLE.replace("pier", "<ruby>pier<rp>(</rp><rt>peer</rt><rp>)</rp></ruby>"),
        *(
            ARTICLE.replace("<p>", f"<{name}>")
            .replace("</p>", f"</{name}>")
            .replace("Holm", "<a href=/holm>Holm</a>")
            .replace("the old pier", "the <a href=/pier>old pier</a>")
            for name in ("li", "div", "center")
        ),
        *(
            ARTICLE.replace("<p>", f"<{name}>")
            .replace("</p>", f"</{name}>")
            .replace("leaves", "<a href=/leaves>leaves</a>")
            for name in ("li", "div", "dd", "blockquote")
        ),
    ],
)
def test_inline_elements_and_wrapped_lines_do_not_end_a_passage(other):
    assert quick_text(page(other), LIMITS).passages == quick_text(page(ARTICLE), LIMITS).passages


def test_links_in_rows_of_links_are_no_part_of_a_sentence():
    menu = "<div><a href=/a>News and views</a> | <a href=/b>Sports and games</a> (12)</div>"
    assert quick_text(page(menu + ARTICLE), LIMITS).passages == list(map(squeezed, SENTENCES))


def test_full_stops_in_numbers_and_addresses_end_no_sentence():
    text = "<p>Version 3.11.7 is at ferries.example. It is free.</p>"
    assert quick_text(page(text), LIMITS).passages == ["version3117isatferriesexample", "itisfree"]


@pytest.mark.parametrize("end", "؟۔।։።។။")
def test_sentences_end_in_other_scripts(end):
    text = f"<p>First of the two{end} Second of the two{end}</p>"
    assert quick_text(page(text), LIMITS).passages == ["firstofthetwo", "secondofthetwo"]


@pytest.mark.parametrize(
    ("html", "takes_long"),
    [
        ("<div>" * 20_000 + "</p>" * 10_000, True),
        ("<p><button>" * 6_000, True),
        ("<b>" * 11_000, True),
        ("<i></b>" * 6_000, True),
        ("</p>" * 130_000, True),
        ("<ul>" + "<li>Okapi<br>" * 9_000, False),
        ("<div><b>Okapi</b></DIV>" * 5_000, False),
        ("<div>" * 5_000 + "</p>" * 4_000, False),
    ],
    ids=["deep", "between others", "open", "no ends of them", "ends", "list", "even", "few"],
)
def test_page_that_may_take_the_parser_long_is_read_in_full(html: str, takes_long: bool) -> None:
    found = quick_text(f"<title>Okapi</title>{html}", PageLimits())
    assert (found == ("", [], "", True)) == takes_long


@pytest.mark.parametrize("reference", ["&nGt;", "&nLt;"])
def test_references_that_are_shorter_than_their_characters_do_no_harm(reference: str) -> None:
    # They ended the process: the parser wrote beyond its memory.
    code = (
        "from scrapy_neardup.html.quick_text import quick_text, PageLimits\n"
        f"html = '<p>' + 'a' * 16_379 + '{reference}' + 'b' * 600_000\n"
        "print(len(quick_text(html, PageLimits()).text))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(16_379 + len(html5[reference[1:]]) + 600_000)
