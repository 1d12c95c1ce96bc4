"""Detected floods: hand-made cases, and a comparison with a plain version of the rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_neardup import Verdict
from scrapy_neardup._util.urls import site_of
from scrapy_neardup.crawl.monitoring.duplicate_floods import (
    MAX_NAMED,
    MAX_SITES,
    DuplicateFlood,
    DuplicateFloodDetector,
)
from scrapy_neardup.reasons import Reason

pytestmark = pytest.mark.slow

SHOP = "https://shop.example"


def new(url: str) -> Verdict:
    return Verdict("new", url, Reason.NO_MATCH)


def copy(url: str, original: str) -> Verdict:
    return Verdict("duplicate", url, Reason.SAME_TEXT, original, 0, 1.0)


def undecided(url: str, reason: str) -> Verdict:
    return Verdict("undecided", url, Reason(reason))


def good(number: int, start: int = 0) -> list[Verdict]:
    return [new(f"{SHOP}/good/{n}") for n in range(start, start + number)]


def noticed(verdicts: list[Verdict]) -> list[tuple[int, DuplicateFlood]]:
    """Return the floods that are noticed, each with the number of pages until then."""
    swallowing = DuplicateFloodDetector()
    found = [(n, swallowing.judged(verdict)) for n, verdict in enumerate(verdicts, start=1)]
    named = [(n, cluster) for n, cluster in found if cluster is not None]
    assert [cluster for _, cluster in named] == swallowing.named
    return named


LOGIN = f"{SHOP}/login"


def walled(number: int) -> list[Verdict]:
    """Pages of three sections that all show the login page."""
    return [copy(f"{SHOP}/{'news shop blog'.split()[n % 3]}/{n}", LOGIN) for n in range(number)]


def test_a_wall_is_noticed_once_and_described():
    [(after, found)] = noticed([*good(60), *walled(90), *good(60, 60), *walled(90)])
    assert after == 60 + 30
    assert (found.what, found.site, found.original) == ("duplicates", "shop.example", LOGIN)
    assert found.example == f"{SHOP}/blog/29"
    assert (found.last, found.of) == (30, 50)
    assert (found.shapes, found.shape) == (3, None)
    # Of the second flood, 29 pages had come before it was one.
    assert found.pages == 90 + 61


def test_a_wall_that_stands_from_the_start_is_noticed():
    [(after, _)] = noticed([new(LOGIN), *walled(40)])
    assert after == 31


def test_an_endless_space_has_one_shape():
    months = [copy(f"{SHOP}/calendar/{n}?view=month", LOGIN) for n in range(40)]
    [(_, found)] = noticed([*good(60), *months])
    assert (found.shapes, found.shape) == (1, "shop.example/calendar/*?view")


def test_a_few_strays_leave_it_one_shape():
    months = [copy(f"{SHOP}/calendar/{n}", LOGIN) for n in range(28)]
    strays = [copy(f"{SHOP}/print", LOGIN), copy(f"{SHOP}/news/tower", LOGIN)]
    [(_, found)] = noticed([*strays, *months])
    assert (found.shapes, found.shape) == (3, "shop.example/calendar/*")


def test_pages_of_every_site_that_show_one_content_are_noticed():
    verdicts = [copy(f"https://site{n}.example/", "https://proxy.example/") for n in range(40)]
    [(after, found)] = noticed(verdicts)
    assert (after, found.site, found.shapes) == (30, "", 30)


def test_duplicates_of_many_originals_are_no_flood():
    mirror = [copy(f"https://mirror.example/{n}", f"{SHOP}/good/{n}") for n in range(100)]
    prints = [copy(f"{SHOP}/print/{n}", f"{SHOP}/good/{n}") for n in range(100)]
    assert noticed([*good(100), *mirror, *prints]) == []


def test_the_same_address_again_and_items_of_one_page_are_one():
    again = [copy(f"{SHOP}/ticker", LOGIN)] * 100
    items = [copy(f"{SHOP}/comments#item-{n}", LOGIN) for n in range(100)]
    assert noticed([*again, *items]) == []


def test_scattered_duplicates_are_no_flood():
    pairs = zip(good(100), walled(100), strict=True)
    assert noticed([verdict for pair in pairs for verdict in pair]) == []


@pytest.mark.parametrize("reason", ["no_text", "few_features", "thin_text"])
def test_too_little_text_is_noticed_where_it_was_not_so_before(reason):
    short = [undecided(f"{SHOP}/gone/{n}", reason) for n in range(40)]
    [(after, found)] = noticed([*good(60), *short])
    assert (after, found.what, found.original) == (90, reason, f"{SHOP}/gone/0")
    # A site of pictures is like that from the start, and a young crawl knows of no before.
    assert noticed([*short, *good(60), *short]) == []
    assert noticed([*good(29), *short]) == []
    # Other sites' pages do not say what is usual here.
    others = [new(f"https://site{n}.example/") for n in range(100)]
    assert noticed([*others, *short]) == []


@pytest.mark.parametrize(("short_before", "is_noticed"), [(4, True), (5, False)])
def test_what_was_usual_before_is_one_page_in_ten(short_before, is_noticed):
    before = [undecided(f"{SHOP}/brief/{n}", "few_features") for n in range(short_before)]
    short = [undecided(f"{SHOP}/gone/{n}", "few_features") for n in range(31)]
    found = noticed([*before, *good(60 - short_before), *short])
    assert bool(found) is is_noticed


def test_other_undecided_pages_are_no_wall():
    late = [undecided(f"{SHOP}/late/{n}", "timeout") for n in range(60)]
    assert noticed([*good(60), *late]) == []


def test_known_pages_that_come_to_show_one_text_are_noticed():
    swallowing = DuplicateFloodDetector()
    changed = [Verdict("revisit", f"{SHOP}/{n}", Reason.CHANGED) for n in range(60)]
    for number, verdict in enumerate(changed):
        assert swallowing.judged(verdict, b"%d" % number) is None
    found = [swallowing.judged(verdict, b"login") for verdict in changed]
    [cluster] = [cluster for cluster in found if cluster is not None]
    assert (cluster.what, cluster.original, cluster.pages) == ("changed", f"{SHOP}/0", 60)
    unchanged = Verdict("revisit", f"{SHOP}/", Reason.UNCHANGED)
    assert not any(swallowing.judged(unchanged, b"same") for _ in range(60))


def test_only_some_are_named_and_memory_is_bounded():
    walls = [
        copy(f"https://site{site}.example/{n}", f"https://site{site}.example/login")
        for site in range(MAX_NAMED + 5)
        for n in range(30)
    ]
    assert [found.site for _, found in noticed(walls)] == [
        f"site{site}.example" for site in range(MAX_NAMED)
    ]
    swallowing = DuplicateFloodDetector()
    for number in range(MAX_SITES + 100):
        swallowing.judged(new(f"https://site{number}.example/"))
    assert len(swallowing._sites) == MAX_SITES


def test_frequent_site_is_not_evicted():
    swallowing = DuplicateFloodDetector()
    wall = walled(30)
    assert not any(map(swallowing.judged, wall[:29]))
    for number in range(MAX_SITES + 100):
        swallowing.judged(new(f"https://site{number}.example/"))
        if number % 100 == 0:
            swallowing.judged(new(f"{SHOP}/good/{number}"))
    assert swallowing.judged(wall[29]) is not None


_urls = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"https?://[\[\]:@a-z0-9.\-]{0,12}[/?#;=&%\w]{0,20}", fullmatch=True),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_urls, min_size=1, max_size=5), st.text(max_size=20))
def test_any_url_is_accepted(urls, original):
    """Whatever it raised would cost a page."""
    swallowing = DuplicateFloodDetector()
    for number in range(60):
        url = urls[number % len(urls)]
        swallowing.judged(copy(f"{url}{number}", original))
    assert all(found.of <= 50 for found in swallowing.named)


# --- against the rule itself ------------------------------------------------------------

_runs = st.lists(
    st.tuples(
        st.sampled_from(["a.example", "b.example"]),
        st.sampled_from(["new", "copy of one", "copy of many", "few_features", "timeout"]),
        st.sampled_from(["fresh", "same"]),
        st.integers(1, 45),
    ),
    max_size=10,
)


def verdicts_of(runs: list[tuple[str, str, str, int]]) -> list[Verdict]:
    verdicts: list[Verdict] = []
    for site, what, addresses, length in runs:
        for _ in range(length):
            at = len(verdicts) if addresses == "fresh" else 0
            url = f"https://{site}/{at}"
            if what == "new":
                verdicts.append(new(url))
            elif what.startswith("copy"):
                original = 0 if what.endswith("one") else len(verdicts) % 5
                verdicts.append(copy(url, f"https://{site}/original/{original}"))
            else:
                verdicts.append(undecided(url, what))
    return verdicts


def spelt_out(verdicts: list[Verdict]) -> list[tuple[int, str, str]]:
    """After how many pages, of which site, which original or reason: the rule, read aloud."""
    found: list[tuple[int, str, str]] = []
    for end, last in enumerate(verdicts, start=1):
        so_far = verdicts[:end]
        for site in (site_of(last.url), ""):
            own = [v for v in so_far if site in ("", site_of(v.url))]
            window, before = own[-50:], own[:-50]
            if last.kind == "duplicate":
                key = str(last.duplicate_of)
                alike = [v for v in window if v.duplicate_of == key]
                is_unusual = True
            elif last.reason == Reason.FEW_FEATURES and site:
                key = f"{site} few_features"
                alike = [v for v in window if v.reason == Reason.FEW_FEATURES]
                usual = sum(v.reason == Reason.FEW_FEATURES for v in before)
                is_unusual = len(before) >= 30 and usual <= len(before) / 10
            else:
                continue
            is_named = key in {name for *_, name in found}
            if len({v.url for v in alike}) >= 30 and is_unusual and not is_named:
                found.append((end, site, key))
    return found


@settings(max_examples=150, deadline=None)
@given(_runs)
def test_detected_floods_match_the_rule(runs):
    verdicts = verdicts_of(runs)
    assert [
        (
            after,
            found.site,
            found.original if found.what == "duplicates" else f"{found.site} {found.what}",
        )
        for after, found in noticed(verdicts)
    ] == spelt_out(verdicts)
