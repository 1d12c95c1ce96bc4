"""Every page is signed or refused with an error of the package, each time the same way."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmarks.corpora.hostile_bodies import attributes, nested, siblings, with_article
from benchmarks.corpora.hostile_pages import PAGES
from scrapy_neardup import ExtractionError
from scrapy_neardup.exceptions import LimitExceeded, NearDupError, NeedsScripts
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from tests.support.texts import FERRY, MUSEUM, TEA

URL = "https://a.example/page"
SIGNER = Signer(secret=b"a secret for tests")

SMALL = {name: page for name, page in PAGES.items() if not page.large}

#: Pages that are refused, with the reason.
REFUSED = {
    "nested-1e3": "too_nested",
    "nested-1e4": "too_nested",
    "nested-unclosed-1e4": "too_nested",
    "nested-tables-1e3": "too_nested",
    "scripts": "needs_scripts",
}
#: Large pages that are refused before anything is done that takes long.
REFUSED_EARLY = {
    "siblings-1e5": "too_many_tags",
    "attributes-1e5": "too_many_attributes",
    "nested-1e5": "too_many_tags",
    "token-5e7": "too_large",
    "bomb-zeros": "too_large",
    "marks-mixed-1e6": "text_too_long",
    "han-run-1e6": "text_too_long",
}
#: Pages in which there is no text, or none that is known to be text.
TEXTLESS = set("cut-gzip elf empty json open-comment open-quote open-script png zeros".split())


def outcome(html: str | bytes, content_type: str | None = None) -> PageSignature | str:
    """The signature, or the reason why there is none."""
    try:
        return SIGNER.sign_html(URL, html, content_type)
    except (LimitExceeded, NeedsScripts) as error:
        return error.reason
    except ExtractionError:
        return "extraction_failed"


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_hostile_page_is_signed_or_refused_the_same_way_twice(name):
    page = SMALL[name]
    body = page.make()
    first = outcome(body, page.content_type)
    assert first == outcome(body, page.content_type)
    assert page.make() == body
    if name in REFUSED:
        assert first == REFUSED[name]
    else:
        assert isinstance(first, PageSignature)
        assert (first.n_text == 0) == (name in TEXTLESS)


@pytest.mark.parametrize("name", REFUSED_EARLY)
def test_what_would_take_minutes_is_refused(name):
    page = PAGES[name]
    assert outcome(page.make(), page.content_type) == REFUSED_EARLY[name]


@pytest.mark.parametrize(
    "name",
    [
        "attributes-1e3", "cdata", "controls", "early-ends", "emoji", "entities",
        "external-entity", "gbk-as-latin-1", "gbk-as-utf-8", "nested-200", "nested-254",
        "nested-tables-100", "nuls", "open-cdata", "open-title", "references", "scattered-nuls",
        "spaced-ends", "surrogates", "utf-16-be", "utf-16-le", "utf-8-as-gbk", "unknown-label",
        "codec-label",
    ],
)  # fmt: skip
def test_what_can_be_read_is_read(name):
    text = SIGNER.read(PAGES[name].make(), PAGES[name].content_type).text
    assert name == "early-ends" or FERRY in text or TEA in text


def test_a_wrong_label_changes_nothing():
    labelled = {outcome(PAGES[name].make(), PAGES[name].content_type) for name in (
        "gbk-as-latin-1", "gbk-as-utf-8", "utf-16-be", "utf-16-le", "utf-8-as-gbk", "unknown-label"
    )}  # fmt: skip
    assert len(labelled) == 1


def test_no_entity_is_expanded_and_no_file_is_read(tmp_path):
    (tmp_path / "secret.txt").write_text("the secret", "utf-8")
    address = (tmp_path / "secret.txt").as_uri()
    body = (
        f'<!DOCTYPE html [<!ENTITY local SYSTEM "{address}"><!ENTITY more "lol">'
        '<!ENTITY most "&more;&more;&more;">]>'.encode()
        + with_article("<p>&local;&most;</p>")
    )
    page = SIGNER.read(body)
    assert "the secret" not in page.shown
    assert "lol" not in page.shown
    assert FERRY in page.text


def test_the_text_does_not_depend_on_what_surrounds_it():
    plain = SIGNER.read(with_article("")).text
    for around in (attributes(900), nested(254).replace(b"</body>", with_article("") + b"</body>")):
        assert MUSEUM in SIGNER.read(around).text
    assert SIGNER.read(with_article("<p>&#1;\0</p>")).text == plain


def test_long_pages_that_differ_at_their_end_only_do_not_become_equal():
    one, other = (outcome(siblings(20_000, "x{} ") + end) for end in (b"<p>one", b"<p>other"))
    assert isinstance(one, PageSignature)
    assert isinstance(other, PageSignature)
    assert one.text_digest != other.text_digest
    assert one.shown_digest != other.shown_digest


#: What soup is made of: tags, halves of tags, references, characters that parsers dislike.
PIECES = st.sampled_from(
    "<p> </p> <div> </div> <html> </html> <head> <title> </title> <body> </body> <table> <tr> <td> "
    "</table> <ul> <li> <a <img <script> </script> <style> </style> <!-- --> <![CDATA[ ]]> <?xml "
    "<!DOCTYPE <svg> </svg> <template> <noscript> <textarea> <select> <option> <br/> < > </ & &# "
    "&#x &#0; &#xD800; &#x301; &amp &lt; &tdot; = \" ' ferry museum 茶叶 博物馆 ไทย カナ "
    "مرحبا \u0301 \u200d \u202e \u0000 \u0001 \u000c \ufffe \ufeff \U0001f600 e\u0301\u0323".split(
        " "
    )
)
SOUP = st.lists(PIECES | st.text(max_size=4), max_size=60).map("".join)


@given(SOUP, st.booleans())
def test_tag_soup_is_signed_or_refused_the_same_way_from_text_and_bytes(soup, framed):
    text = f"<html><body><p>{FERRY}</p>{soup}</body></html>" if framed else soup
    first = outcome(text)
    assert first == outcome(text)
    try:
        body = text.encode()
    except UnicodeEncodeError:
        return
    # These would tell of another encoding than the label's.
    assume(not text.startswith(("\ufeff", "<\0")))
    assert outcome(body, "text/html; charset=utf-8") == first


@given(st.binary(max_size=300), st.sampled_from(["gbk", "utf-8", "utf-16", "latin-1", "big5", "x"]))
def test_bytes_of_any_kind_are_signed_or_refused(body, label):
    for html in (body, b"<html><body><p>" + body):
        first = outcome(html, f"text/html; charset={label}")
        assert first == outcome(html, f"text/html; charset={label}")


@given(SOUP)
def test_a_field_of_tag_soup_is_signed_or_refused(soup):
    def fragment() -> PageSignature | str:
        try:
            return SIGNER.sign(SIGNER.fragment_page(URL, soup))[0]
        except NearDupError as error:
            return str(error)

    assert fragment() == fragment()


def test_tokens_are_those_that_a_signature_is_made_of():
    page = SIGNER.read(PAGES["utf-16-le"].make())
    signature = SIGNER.sign_html(URL, PAGES["utf-16-le"].make())
    assert len(set(SIGNER.tokens(page.text))) == signature.n_features
    assert SIGNER.tokens("The ＦＥＲＲＹ  to") == ["the", "ferry", "to"]
