"""Pages that were read without their facts, by which only pages of their own site are compared."""

from __future__ import annotations

import pytest

from scrapy_neardup.matching.rule import Rule
from scrapy_neardup.matching.verdict import Mismatch, revisit
from scrapy_neardup.signatures.signature import FACTS_GONE, PageSignature
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.record import Record
from scrapy_neardup.stores import MemoryStore, Store, open_store
from tests.support.texts import FERRY, MUSEUM

SECRET = bytes(range(32))
RULE = Rule()


def page(price: str, text: str = FERRY) -> str:
    """An article with a price beside it, which is no part of its text."""
    paragraphs = "".join(f"<p>{clause.strip()}.</p>" for clause in text.split(".") if clause)
    return (
        "<html><head><title>Ferry</title></head><body><main><h1>Ferry</h1>"
        f"<div class='price'><span>{price}</span></div><article>{paragraphs}</article></main>"
        "</body></html>"
    )


HERE, ALSO_HERE, ELSEWHERE = "https://a.example/1", "https://a.example/2", "https://b.example/1"


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer(secret=SECRET, extraction="lazy")


@pytest.fixture
def store(signer: Signer) -> MemoryStore:
    store = MemoryStore(SECRET)
    store.adopt(signer.recipe, signer.parts)
    return store


def quick(signer: Signer, url: str, html: str) -> PageSignature:
    [signature] = signer.sign(signer.quick_page(url, html))
    return signature


def read(signer: Signer, url: str, html: str, *, needs_facts: bool) -> PageSignature:
    [signature] = signer.sign(signer.html_page(url, html, needs_facts=needs_facts))
    return signature.with_quick_parts_of(quick(signer, url, html))


def stored(store: Store, signature: PageSignature) -> None:
    claim = store.claim(signature, RULE)
    assert claim.verdict.kind == "new"
    store.commit(claim.ticket)


def test_only_the_text_of_a_copy_on_another_site_is_needed(store, signer):
    stored(store, quick(signer, HERE, page("€ 9")))
    claim = store.claim(quick(signer, ELSEWHERE, page("€ 12")), RULE)
    assert (claim.must_read, claim.unread, claim.needs_facts) == (True, (HERE,), False)
    store.complete(HERE, read(signer, HERE, page("€ 9"), needs_facts=False))
    claim = store.claim(read(signer, ELSEWHERE, page("€ 12"), needs_facts=False), RULE)
    assert (claim.verdict.kind, claim.verdict.duplicate_of) == ("duplicate", HERE)


@pytest.mark.parametrize(("price", "kind"), [("€ 9", "duplicate"), ("€ 12", "new")])
def test_the_facts_of_pages_of_one_site_are_read_and_compared(store, signer, price, kind):
    stored(store, read(signer, HERE, page("€ 9"), needs_facts=False))
    claim = store.claim(quick(signer, ALSO_HERE, page(price)), RULE)
    assert (claim.must_read, claim.unread, claim.needs_facts) == (True, (HERE,), True)
    store.complete(HERE, read(signer, HERE, page("€ 9"), needs_facts=True))
    claim = store.claim(read(signer, ALSO_HERE, page(price), needs_facts=True), RULE)
    assert claim.verdict.kind == kind


def test_facts_are_read_before_pages_that_only_their_fingerprints_found_are_compared(store, signer):
    stored(store, read(signer, HERE, page("€ 9"), needs_facts=False))
    # The original may be stored after the page was looked up by its passages.
    other = read(signer, ALSO_HERE, page("€ 12"), needs_facts=False)
    claim = store.claim(other, RULE)
    assert (claim.must_read, claim.unread, claim.needs_facts) == (True, (HERE,), True)
    store.complete(HERE, read(signer, HERE, page("€ 9"), needs_facts=True))
    claim = store.claim(other, RULE)
    assert (claim.must_read, claim.unread) == (True, ())


@pytest.mark.parametrize("is_given_up_by_eviction", [False, True])
def test_a_page_whose_facts_cannot_be_read_any_more_is_no_original_on_its_site(
    store, signer, is_given_up_by_eviction
):
    stored(store, read(signer, HERE, page("€ 9"), needs_facts=False))
    if is_given_up_by_eviction:
        # There is no room for its body.
        cache = store.body_cache(0)
        cache.put(HERE, Record(HERE, HERE, b""), b"")
    else:
        store.complete(HERE, None)
    known = store.find(HERE)
    assert known is not None
    assert (known.signature.facts, known.signature.is_read) == (FACTS_GONE, True)
    copy = read(signer, ALSO_HERE, page("€ 9", FERRY + " Book now."), needs_facts=True)
    claim = store.claim(copy, RULE)
    assert claim.verdict.kind == "new"
    assert claim.verdict.look_alike is not None
    assert claim.verdict.look_alike.objection == "facts_unknown"
    # Its text is known, though.
    elsewhere = read(signer, ELSEWHERE, page("€ 12"), needs_facts=False)
    assert store.claim(elsewhere, RULE).verdict.is_duplicate


def test_facts_that_were_read_are_not_replaced_by_none(store, signer):
    whole = read(signer, HERE, page("€ 9"), needs_facts=True)
    stored(store, whole)
    store.complete(HERE, read(signer, HERE, page("€ 9"), needs_facts=False))
    store.complete(HERE, None)
    found = store.find(HERE)
    assert found is not None
    assert found.signature.facts == whole.facts


def test_other_pages_of_a_site_are_not_asked_for(store, signer):
    stored(store, read(signer, HERE, page("€ 9"), needs_facts=False))
    claim = store.claim(quick(signer, ALSO_HERE, page("€ 9", MUSEUM)), RULE)
    assert claim.verdict.kind == "new"


def test_a_store_that_outlives_the_process_has_all_facts(signer, tmp_path):
    with_file = open_store(f"sqlite:///{tmp_path}/store.sqlite", "spider", secret=SECRET)
    with_file.adopt(signer.recipe, signer.parts)
    try:
        stored(with_file, quick(signer, HERE, page("€ 9")))
        claim = with_file.claim(quick(signer, ELSEWHERE, page("€ 12")), RULE)
        assert (claim.unread, claim.needs_facts) == ((HERE,), True)
    finally:
        with_file.close()


def test_pages_without_facts_agree_with_none_of_their_site(signer, store):
    texts = [read(signer, url, page("€ 9"), needs_facts=False) for url in (HERE, ALSO_HERE)]
    other = read(signer, ALSO_HERE, page("€ 9", FERRY + " Book now."), needs_facts=True)
    for pair in [(texts[0], other), (other, texts[0])]:
        outcome = RULE.compare_either_way(*pair, store.boilerplates)
        assert isinstance(outcome, Mismatch)
        assert outcome.reason == "facts_unknown"
    # A later version, whose facts are not known, may have changed.
    assert revisit(texts[0], texts[0]).reason == "changed"


def test_all_but_the_facts_are_those_of_a_whole_reading(signer):
    some, whole = (read(signer, HERE, page("€ 9"), needs_facts=each) for each in (False, True))
    assert some.awaits_facts
    assert not whole.lacks_facts
    assert some.is_partly_read
    assert not whole.is_partly_read
    assert (some.sketch, some.values, some.text_digest) == (
        whole.sketch,
        whole.values,
        whole.text_digest,
    )
    assert some.shown_digest == whole.shown_digest
