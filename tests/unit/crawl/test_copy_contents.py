from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_neardup.crawl.copies.contents import Content, Contents, cluster_of, credible
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.reasons import Reason

SITE = "http://a.example"
ORIGINALS = [f"{SITE}/one", f"{SITE}/two?x=1"]
URLS = [*ORIGINALS, f"{SITE}/print/one", f"{SITE}/o", f"{SITE}/two", "https://a.example/long-name"]


def verdict_on(url: str, original: str | None = None) -> Verdict:
    if original is None or original == url:
        return Verdict("new", url, Reason.NO_MATCH)
    return Verdict("duplicate", url, Reason.SAME_TEXT, duplicate_of=original)


def met(*pages: tuple[str, str, str | None]) -> Contents:
    """Contents after pages of these URLs, originals and declared URLs."""
    contents = Contents()
    for url, original, declared in pages:
        contents.meet(verdict_on(url, original), url, declared)
    return contents


def best(contents: Contents, original: str = ORIGINALS[0]) -> tuple[str, bool]:
    return contents.best(contents.of_original(original))


_PAGES = st.lists(
    st.tuples(st.sampled_from(URLS), st.sampled_from(ORIGINALS), st.none() | st.sampled_from(URLS)),
    max_size=12,
)


@given(_PAGES, st.randoms())
def test_the_best_url_does_not_depend_on_the_order(pages, random):
    in_order = met(*pages)
    random.shuffle(pages)
    shuffled = met(*pages)
    for original in ORIGINALS:
        assert best(in_order, original) == best(shuffled, original)
        was, now = (contents.of_original(original) for contents in (in_order, shuffled))
        assert was.copies == now.copies


@given(_PAGES)
def test_every_change_of_the_best_url_is_told(pages):
    contents, told = Contents(), dict[str, tuple[str, bool]]()
    for url, original, declared in pages:
        affected = contents.meet(verdict_on(url, original), url, declared)
        told.update((content.original, contents.best(content)) for content in affected)
    for original in {original for _, original, _ in pages}:
        assert told[original] == best(contents, original)


def test_copies_are_counted_and_the_first_stays_the_original():
    one = ORIGINALS[0]
    contents = met((one, one, None), (URLS[3], one, None), (URLS[2], one, None))
    content = contents.of(verdict_on(URLS[2], one))
    assert content == Content(cluster_of(one), one, 2, met=URLS[3], recorded_best=one)
    assert best(contents) == (URLS[3], False)


def test_a_declared_url_counts_unless_something_contradicts_it():
    one, two = ORIGINALS
    page = (URLS[2], one, URLS[5])
    assert best(met(page)) == (URLS[5], True)
    met_here = best(met((URLS[2], one, None)))
    # The page there declares another one, it shows another content, or a page of another declares
    # it too.
    assert best(met(page, (URLS[5], one, URLS[3]))) == (URLS[3], True)
    assert best(met(page, (URLS[5], two, None))) == met_here
    assert best(met(page, (two, two, URLS[5]))) == met_here


def test_a_declared_url_that_shows_nothing_does_not_count():
    one, declared = ORIGINALS[0], URLS[3]
    page = (one, one, declared), (URLS[2], one, declared)
    after, before = met(*page), Contents()
    assert after.refute(declared) is after.of_original(one)
    assert after.has_other_best(after.of_original(one), declared)
    assert before.refute(declared) is None
    before.meet(verdict_on(one), one, declared)
    assert best(after) == best(before) == (one, False)


def test_a_changed_page_is_another_content():
    one = ORIGINALS[0]
    contents = met((one, one, URLS[5]), (URLS[2], one, None))
    contents.meet(Verdict("revisit", one, Reason.CHANGED), one)
    assert best(contents) == (one, False)
    assert contents.of_original(one).copies == 0


@pytest.mark.parametrize(("url", "is_declared"), [(URLS[3], False), (URLS[5], True)])
def test_a_best_url_of_an_earlier_run_holds_until_something_contradicts_it(url, is_declared):
    one = ORIGINALS[0]

    def restored() -> Contents:
        contents = Contents()
        recorded = Content.recorded(cluster_of(one), one, url, is_declared=is_declared)
        contents.restore(recorded)
        contents.meet(verdict_on(one), one)
        return contents

    assert best(restored()) == (url, is_declared)
    assert restored().better_urls() == {one: url}
    for contradiction in (
        lambda contents: contents.meet(verdict_on(url), url),
        lambda contents: [contents.refute(url)],
        lambda contents: contents.meet(Verdict("revisit", one, Reason.CHANGED), one),
    ):
        contents = restored()
        affected = contradiction(contents)
        assert contents.of_original(one) in affected
        assert best(contents) == (one, False)
        assert contents.better_urls() == {}


def test_items_of_one_page_are_contents_of_their_own():
    contents = Contents(by_item=True)
    for item in "#item-1", "#item-2":
        contents.meet(verdict_on(URLS[0] + item), URLS[0])
    contents.meet(verdict_on(URLS[3] + "#item-1", URLS[0] + "#item-2"), URLS[3])
    assert [contents.of_original(f"{URLS[0]}#item-{n}").copies for n in (1, 2)] == [0, 1]
    assert best(contents, URLS[0] + "#item-2") == (URLS[3], False)


@pytest.mark.parametrize(
    ("canonical", "url", "is_credible"),
    [
        (f"{SITE}/a", f"{SITE}/a?sid=1", True),
        ("https://www.a.example/a", f"{SITE}/a", True),
        (f"{SITE}/", f"{SITE}/?x=1", True),
        (f"{SITE}/", f"{SITE}/a", False),
        (f"{SITE}/tag/x", f"{SITE}/a", False),
        ("http://b.example/a", f"{SITE}/a", False),
        ("ftp://a.example/a", f"{SITE}/a", False),
        (f"{SITE}/{'a' * 3000}", f"{SITE}/a", False),
        (None, f"{SITE}/a", False),
    ],
)
def test_declared_urls_that_the_page_alone_shows_to_be_wrong(canonical, url, is_credible):
    assert credible(canonical, url) == (canonical if is_credible else None)


def test_a_url_that_is_only_the_lesser_string_is_no_better_one():
    one, other = f"{SITE}/b", f"{SITE}/a"
    contents = met((one, one, None), (other, one, None))
    assert best(contents, one) == (other, False)
    assert contents.better_urls() == {}
    contents.meet(verdict_on(f"{SITE}/c", one), f"{SITE}/c", other)
    assert contents.better_urls() == {one: other}
