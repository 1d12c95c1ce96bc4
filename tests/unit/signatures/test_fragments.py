"""Fields of items: fragments of HTML are compared by their texts and by what they hold."""

from __future__ import annotations

import pytest

from scrapy_neardup import Rule
from scrapy_neardup.exceptions import SignatureMismatch
from scrapy_neardup.matching import candidates
from scrapy_neardup.matching.verdict import Match, revisit
from scrapy_neardup.signatures import signer as signing
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.stores import MemoryStore
from tests.support.claims import met
from tests.support.texts import FERRY, MUSEUM
from tests.unit.html.test_embedded_content import CARRIERS, PASSING

SECRET = bytes(32)
SIGNER = Signer(secret=SECRET)
SHORT = "No description available."
ONE, OTHER = "https://a.example/shop#item-1", "https://a.example/shop#item-2"
ELSEWHERE = "https://b.example/shop#item-1"


def signed(markup: str, url: str = ONE) -> PageSignature:
    return SIGNER.sign(SIGNER.fragment_page(url, markup))[0]


def why(one: str, other: str, urls: tuple[str, str] = (ONE, OTHER)) -> str:
    """The outcome of comparing two fields, which is the same in either order."""
    fields = signed(one, urls[0]), signed(other, urls[1])
    boilerplates, rule = MemoryStore(SECRET).boilerplates, Rule()
    outcome = rule.compare(*fields, boilerplates)
    assert outcome.reason == rule.compare(*fields[::-1], boilerplates).reason
    return outcome.reason


def described(held: str, more: str = "") -> str:
    return f"<p>{FERRY}</p><p>{MUSEUM} {more}</p>{held}"


def two(markup: str) -> tuple[str, str]:
    """The carrier of something with two values."""
    return markup.format(1, 1, 1), markup.format(2, 2, 2)


@pytest.mark.parametrize("name", CARRIERS)
def test_items_that_differ_in_what_they_hold_are_two(name):
    one, other = map(described, two(CARRIERS[name]))
    assert why(one, other) == "parts_differ"
    assert why(one, other, (ONE, ELSEWHERE)) == "parts_differ"
    assert why(one, one) == "same_text"


@pytest.mark.parametrize("name", CARRIERS)
def test_so_are_those_of_which_only_one_holds_something(name):
    held = two(CARRIERS[name])[0]
    shown = next((f"{each}<" for each in ("Report", "Size") if f"{each}</" in held), "<")
    assert why(described(held), described(f"<b>{shown}/b>")) == "parts_differ"


@pytest.mark.parametrize("name", ["picture", "document", "mail", "structured data", "drawing"])
def test_and_those_whose_texts_are_similar(name):
    one, other = two(CARRIERS[name])
    texts = "It was read 41 times.", "It was read 57 times."
    assert why(described(one, texts[0]), described(one, texts[1])) == "similar_text"
    assert why(described(one, texts[0]), described(other, texts[1])) == "parts_differ"


@pytest.mark.parametrize("name", [name for name in PASSING if name != "depth"])
def test_what_passes_makes_no_other_item(name):
    one, other = two(PASSING[name])
    assert why(described(one), described(other)) == "same_text"


@pytest.mark.parametrize(
    "stated",
    [
        '<meta itemprop="gtin13" content="400638133393{}">',
        '<meta property="product:price:amount" content="1{}.90">',
        "<title>Kettle {}</title>",
    ],
)
def test_what_titles_and_facts_of_pages_tell_is_held(stated):
    one, other = two(stated)
    assert why(described(one), described(other)) == "parts_differ"


def test_a_plain_text_holds_nothing():
    plain = f"{FERRY} {MUSEUM}"
    assert why(plain, plain) == "same_text"
    assert why(plain, f"<p>{FERRY}</p> <p>{MUSEUM}</p>") == "same_text"
    assert why(plain, f"<p>{plain}</p><img src=/a.jpg>") == "parts_differ"


@pytest.mark.parametrize("short", [SHORT, f"<p>{SHORT}</p>", f"<p>{SHORT}</p><img src=/a.jpg>"])
def test_short_fields_are_never_one(short):
    assert not signed(short).equals(signed(short))
    assert why(short, short) == "few_features"


def test_relative_addresses_count_with_the_folder_of_their_page():
    urls = "https://a.example/a/1#item-1", "https://a.example/b/1#item-1"
    beside, above = described('<img src="1.jpg">'), described('<img src="/1.jpg">')
    assert why(beside, beside, urls) == "parts_differ"
    assert why(above, above, urls) == "same_text"


@pytest.mark.parametrize("name", CARRIERS)
def test_an_item_that_holds_something_else_has_changed(name):
    one, other = map(described, two(CARRIERS[name]))
    same = revisit(signed(one), signed(one))
    assert (same.reason, same.same_shown) == ("unchanged", True)
    assert revisit(signed(other), signed(one)).reason == "changed"
    # Texts that are equal but for their case count as one.
    assert revisit(signed(other.replace("ferry", "Ferry")), signed(one)).reason == "changed"


def test_an_item_whose_case_has_changed_does_not_show_the_same():
    for markup in (FERRY, f"<p>{FERRY}</p>"):
        again = revisit(signed(markup.replace("ferry", "Ferry")), signed(markup))
        assert (again.reason, again.same_shown) == ("unchanged", False)


def test_among_many_items_of_one_text_the_copy_is_found():
    store, rule = MemoryStore(SECRET), Rule()
    wares = [described(f"<img src=/{n}.jpg>") for n in range(2 * candidates.MAX_RULED)]
    for n, ware in enumerate(wares):
        assert not met(store, signed(ware, f"https://a.example/all#item-{n}"), rule).is_duplicate
    for n in (0, candidates.MAX_RULED, len(wares) - 1):
        again = met(store, signed(wares[n], f"https://a.example/sale#item-{n}"), rule)
        assert again.duplicate_of == f"https://a.example/all#item-{n}"


def test_signatures_of_fields_that_were_made_without_what_they_hold_are_refused(monkeypatch):
    versions = tuple("shown-10" if v.startswith("shown-") else v for v in signing._VERSIONS)
    monkeypatch.setattr(signing, "_VERSIONS", versions)
    earlier = Signer(secret=SECRET)
    [before] = earlier.sign(earlier.fragment_page(ONE, FERRY))
    with pytest.raises(SignatureMismatch):
        Rule().compare(signed(FERRY), before, MemoryStore(SECRET).boilerplates)


def test_a_field_and_a_text_may_be_one():
    text = SIGNER.sign_text("https://a.example/", FERRY)
    assert isinstance(Rule().compare(signed(FERRY), text, MemoryStore(SECRET).boilerplates), Match)


@pytest.mark.parametrize("url", ["https://a.example/", "https://b.example/"])
def test_a_field_and_a_page_are_two(url):
    """The item may have other fields than those that were stored for the page."""
    html = f"<html><body><p>{FERRY}</p><p>{MUSEUM}</p></body></html>"
    boilerplates = MemoryStore(SECRET).boilerplates
    field, whole = signed(f"<p>{FERRY}</p><p>{MUSEUM}</p>"), SIGNER.sign_html(url, html)
    assert field.text_digest == whole.text_digest
    for one, other in (field, whole), (whole, field):
        assert Rule().compare(one, other, boilerplates).reason == "parts_differ"
        assert Rule(min_similarity=0).compare(one, other, boilerplates).reason == "parts_differ"
