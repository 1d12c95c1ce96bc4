from __future__ import annotations

import logging

import pytest
import trafilatura
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from resiliparse.extract.html2text import extract_plain_text

from scrapy_neardup import ExtractionError, InvalidOption
from scrapy_neardup.html.extraction import (
    _INVISIBLE,
    _parsed_page,
    _shown,
    _without_long_paragraphs,
    article_text,
    read_fragment,
    read_page,
    shipped_extractor,
    visible_text,
)
from scrapy_neardup.html.limits import PageLimits

PARAGRAPH = (
    "The ferry to Holm island leaves twice a day from the old pier, at eight in the morning and "
    "at five in the afternoon, except on Sundays, when the crew has a rest. "
)
ARTICLE = f"""<html><head><title> The
    ferry </title></head><body><nav><a href="/">Home</a> <a href="/news">News</a></nav>
    <article><h1>The ferry</h1><p>{PARAGRAPH * 3}</p></article>
    <footer>Printed by the harbour office</footer><script>var x = "secret";</script></body>
    </html>"""
FRONT = """<html><body><header>Masthead</header><nav><ul><li>Menu</li></ul></nav>
    <ul><li><a href="/1">One</a></li><li><a href="/2">Two<b>fold</b></a></li></ul>
    <select><option>Choose</option></select><footer>Foot</footer></body></html>"""


_PARTS = st.recursive(
    st.sampled_from(["", " ", "one", " two "]),
    lambda within: st.lists(
        st.tuples(st.sampled_from("p b script svg canvas noscript".split()), within, within).map(
            lambda made: f"<{made[0]}>{made[1]}</{made[0]}>{made[2]}"
        ),
        max_size=4,
    ).map("".join),
    max_leaves=30,
)


@given(_PARTS)
def test_invisible_elements_go_and_the_texts_around_them_stay(markup):
    """As lxml removes them, which takes quadratic time for what comes behind."""
    expected, body = (etree.HTML(f"<body>x{markup}</body>")[0] for _ in range(2))
    etree.strip_elements(expected, *_INVISIBLE, with_tail=False)
    shown = _shown(body)
    texts = etree.XPath("descendant::text()", smart_strings=False)(expected)
    assert isinstance(texts, list)
    assert shown.split() == " ".join(map(str, texts)).split()
    assert [each.tag for each in body.iter()] == [each.tag for each in expected.iter()]


def test_the_article_is_the_main_text():
    page = read_page(ARTICLE, article_text)
    assert page.title == "The ferry"
    assert PARAGRAPH.strip() in page.text
    for frame in ("Home", "harbour office", "secret"):
        assert frame not in page.text


def test_readers_comments_are_not_the_main_text():
    comments = f'<div id="comments"><p>{"First! I liked this ferry very much. " * 9}</p></div>'
    html = ARTICLE.replace("</article>", f"</article>{comments}")
    assert "First!" in (trafilatura.extract(html, fast=True) or "")
    assert read_page(html, article_text).text == read_page(ARTICLE, article_text).text


def test_what_a_page_shows_is_the_text_of_the_whole_body():
    page = read_page(FRONT.replace("<select>", "<script>x()</script><select>"), article_text)
    assert page.shown.split() == "Masthead Menu One Two fold Choose Foot".split()


@pytest.mark.parametrize("tag", ["span", "b", "a", "i"])
def test_a_paragraph_of_very_many_elements_keeps_its_text(tag):
    # What stands in it is joined first: trafilatura would leave thousands of text nodes in a row,
    # and lxml takes the square of their number.
    run = "".join(f"<{tag}>word{n}</{tag}> and " for n in range(2500))
    html = f"<html><body><article><p>{PARAGRAPH}</p><p>{run}</p></article></body></html>"
    tree = _parsed_page(html, PageLimits())
    assert tree is not None
    before = etree.tostring(tree)
    text = " ".join((article_text(html, tree) or "").split())
    assert all(f"word{n} and" in text for n in range(2500))
    assert etree.tostring(tree) == before
    [short] = _without_long_paragraphs(tree).xpath("//p[contains(., 'word0')]")
    assert len(short) == 0


def test_content_behind_an_early_end_is_read():
    body = f"<body><article><p>{PARAGRAPH * 3}</p></article></body>"
    for early in ("</head></html>", "</head></body></html>", "</head></HTML >"):
        html = f"<html><head><title>Ferry</title>{early}{body}</html>"
        assert PARAGRAPH.strip() in read_page(html, article_text).text


def test_a_page_without_an_article_is_read_whole_but_for_its_menus():
    page = read_page(FRONT, visible_text)
    assert page.text.split() == ["One", "Twofold"]
    assert page.title == ""


@pytest.mark.parametrize("part", ["article", "main", "section", "li"])
def test_the_header_of_a_part_is_content(part):
    entry = "<header><h2>Title</h2></header><p>Text</p><footer>Tags</footer>"
    body = f"<{part}>{entry}</{part}>"
    text = read_page(FRONT.replace("<select>", f"{body}<select>"), visible_text).text
    assert text.split() == "One Twofold Title Text".split()


def test_resiliparse_takes_the_article_too():
    extractor, identity = shipped_extractor("resiliparse")
    page = read_page(ARTICLE, extractor)
    assert (page.title, identity) == ("The ferry", "resiliparse-5")
    assert PARAGRAPH.strip() in " ".join(page.text.split())
    assert "secret" not in page.text


def test_where_resiliparse_finds_little_trafilatura_is_asked():
    posts = "".join(f"<li><a href=/{n}>A post about ferry {n}</a></li>" for n in range(20))
    html = f"<html><body><p>Last posts</p><ul>{posts}</ul></body></html>"
    extractor, _ = shipped_extractor("resiliparse")
    assert "ferry 7" not in extract_plain_text(html, main_content=True)
    assert "ferry 7" in read_page(html, extractor).text


@pytest.mark.parametrize("name", ["trafilatura", "resiliparse"])
def test_where_trafilatura_finds_nothing_the_visible_text_is_taken(name):
    html = "<html><body><div class='footer'><i>Closed</i> on Mondays</div></body></html>"
    assert trafilatura.extract(html, fast=True) is None
    extractor, _ = shipped_extractor(name)
    assert read_page(html, extractor).text.split() == ["Closed", "on", "Mondays"]


@pytest.mark.parametrize("html", ["", " ", "\n", "<!-- only a comment -->", "<html></html>"])
def test_an_empty_page_has_no_text(html):
    assert read_page(html, article_text).text.strip() == ""


@pytest.mark.parametrize(
    "fragment",
    [
        "<p>{}</p>",
        "\n<!-- from a feed --> <DIV class='x'>{}</DIV>",
        "<article><h1>Ferry</h1><p>{}</p></article>",
        "<ul><li>{}</li></ul>",
        "<b>Holm.</b> {}",
        "<body><p>{}</p></body>",
    ],
)
@pytest.mark.parametrize("name", ["trafilatura", "resiliparse", "visible"])
def test_a_fragment_has_the_text_that_it_holds(name, fragment):
    extractor, _ = shipped_extractor(name)
    page = read_page(fragment.format(PARAGRAPH * 3), extractor)
    assert " ".join((PARAGRAPH * 3).split()) in " ".join(page.text.split())
    assert page.shown


@pytest.mark.parametrize(
    "data",
    [
        '{{"text": "{}"}}',
        "<rss><channel><description>{}</description></channel></rss>",
        "<?xml version='1.0'?><feed><entry>{}</entry></feed>",
        "<preview>{}</preview>",
    ],
)
def test_what_is_no_html_has_no_text(data):
    assert read_page(data.format(PARAGRAPH * 3), article_text).text == ""


def test_the_title_of_a_drawing_is_not_the_title_of_the_page():
    html = "<html><body><svg><title>An icon</title></svg><p>Text</p></body></html>"
    assert read_page(html, visible_text).title == ""


def test_deep_nesting_does_not_end_the_walk():
    html = "<html><body>" + "<div>" * 200 + "deep" + "</div>" * 200 + "</body></html>"
    assert read_page(html, visible_text).text.strip() == "deep"


def test_an_extractor_that_fails_is_named():
    def clumsy(html, tree):
        raise ZeroDivisionError

    with pytest.raises(ExtractionError, match="extractor clumsy failed: ZeroDivision") as info:
        read_page(ARTICLE, clumsy)
    assert isinstance(info.value.cause, ZeroDivisionError)


def test_the_extractor_gets_the_html_and_its_tree():
    page = read_page(ARTICLE, lambda html, tree: f"{len(html)} {tree.tag}")
    assert page.text == f"{len(ARTICLE)} html"


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("plain text, 3 < 4", ["plain", "text,", "3", "<", "4"]),
        ("<p>One</p><p>two<b>fold</b></p>", ["One", "twofold"]),
        ("<nav>Kept</nav><script>not()</script>", ["Kept"]),
        ("", []),
    ],
)
def test_a_field_is_read_whole(markup, words):
    assert read_fragment(markup).text.split() == words


def test_a_page_without_an_article_warns_nobody(caplog):
    with caplog.at_level(logging.WARNING):
        read_page("<html><body></body></html>", article_text)
    assert caplog.records == []


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidOption, match="'trafilatrua', but it must be 'trafilatura'"):
        shipped_extractor("trafilatrua")


@pytest.mark.parametrize("extractor", [article_text, visible_text])
def test_a_menu_with_entries_is_a_list(extractor):
    entries = "<li>Sunday: closed</li><li>Monday: open</li>"
    listed, of_menu, buttons = (
        read_page(ARTICLE.replace("</article>", f"{beside}</article>"), extractor)
        for beside in (
            f"<ul>{entries}</ul>",
            f"<menu>{entries}</menu>",
            "<menu><button>Print</button></menu>",
        )
    )
    assert (of_menu.text, of_menu.facts) == (listed.text, listed.facts)
    assert "Monday: open" in of_menu.text
    assert "Print" not in buttons.text


def test_letters_in_flags_stay_in_the_text():
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e007f"
    html = ARTICLE.replace("the crew", "the &#x1F3F4;&#xe0067;\U000e0062&#917631; crew")
    assert f"the {flag} crew" in read_page(html, article_text).text


def test_characters_for_private_use_stay_in_the_text():
    html = ARTICLE.replace("the crew", "the &#xE893;&#58515; \uf8ff crew")
    text = read_page(html, article_text).text
    assert "the \ue893\ue493 \uf8ff crew" in text
    assert text.replace("\ue893\ue493 \uf8ff ", "") == read_page(ARTICLE, article_text).text


@pytest.mark.parametrize("start", ["", "<head>", "<html><meta charset=utf-8>", "<!doctype html>"])
@pytest.mark.parametrize("tag", ["main", "article", "section", "header", "my-page", "div"])
def test_a_page_without_tags_of_head_and_body_is_read_as_one_with_them(start, tag):
    title = f"{start}<title>The ferry</title><style>p {{}}</style>"
    content = f"<{tag}><h1>Ferry to Holm</h1><p>{PARAGRAPH}</p></{tag}><script>var x = 1</script>"
    content += f"<p>{PARAGRAPH}</p><footer>Printed by the harbour office</footer>"
    whole = f"<html><head>{title}</head><body>{content}</body></html>"
    one, other = (
        read_page(html, lambda html, tree: PARAGRAPH) for html in (title + content, whole)
    )
    assert (one.title, one.text, one.shown, one.facts) == (
        other.title,
        other.text,
        other.shown,
        other.facts,
    )
    assert one.facts
