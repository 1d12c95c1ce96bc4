from __future__ import annotations

import random

import numpy as np
import pytest

from scrapy_neardup.crawl.requests import duplicate_urls, known_copies
from scrapy_neardup.crawl.requests.duplicate_urls import DuplicateUrls, UnsavedRows
from scrapy_neardup.crawl.requests.known_copies import CONFIRM_FROM, StoredDuplicateUrls
from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.reasons import Reason
from scrapy_neardup.stores import MemoryStore
from scrapy_neardup.stores import hints as advice
from scrapy_neardup.stores.hints import COPY, ending_of

SITE = "http://example.com"
URL = f"{SITE}/a?b=2&a=1"
ORIGINAL = f"{SITE}/a"
TEXT, OTHER_TEXT = bytes(range(16)), bytes(range(1, 17))
EVERYTHING = 2**63


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class World:
    """A site, and crawls of it one after the other that share a store."""

    def __init__(self, ttl: float = 100, sample_rate: float = 0.0) -> None:
        self.store, self.clock = MemoryStore(), Clock()
        self.ttl, self.sample_rate = ttl, sample_rate

    def crawl(self) -> DuplicateUrls:
        known = DuplicateUrls(self.ttl, self.clock, self.sample_rate)
        known.open(self.store.secret, self.store.known_duplicates(known.since))
        return known

    def save(self, known: DuplicateUrls) -> None:
        if (unsaved := known.take_unsaved(EVERYTHING)) is not None:
            self.store.note_duplicates(unsaved.rows, unsaved.seen_at)

    def crawl_with(self, *urls: str, original: str = ORIGINAL) -> None:
        """A crawl in which these led to a duplicate."""
        known = self.crawl()
        for url in urls:
            copy(known, url, original)
        self.save(known)

    def next_day(self) -> DuplicateUrls:
        self.clock.now += 10
        return self.crawl()


def duplicate(url: str, original: str = ORIGINAL, text: bytes = TEXT) -> Verdict:
    return Verdict("duplicate", url, Reason.SAME_TEXT, original, 0, 1.0, original_text=text)


def unchanged(url: str = ORIGINAL, text: bytes = TEXT) -> Verdict:
    return Verdict("revisit", url, Reason.UNCHANGED, original_text=text)


def copy(
    known: DuplicateUrls, url: str, original: str = ORIGINAL, text: bytes = TEXT, mark: int = 0
) -> None:
    """A fetch of it leads to a duplicate."""
    known.judged(duplicate(url, original, text))
    known.add(url, duplicate(url, original, text), mark)


def numbered(count: int) -> list[str]:
    return [f"{SITE}/copy/{number}" for number in range(count)]


def taken(known: DuplicateUrls, confirmed: int = EVERYTHING) -> UnsavedRows:
    unsaved = known.take_unsaved(confirmed)
    assert unsaved is not None
    return unsaved


CHANGED = Verdict("revisit", ORIGINAL, Reason.CHANGED)
NEW = Verdict("new", ORIGINAL, Reason.NO_MATCH)
OTHER_DUPLICATE = duplicate(ORIGINAL, f"{SITE}/other")


# --- when it is believed ----------------------------------------------------------------


def test_a_duplicate_url_is_known_for_ever_with_an_infinite_ttl():
    world = World(ttl=float("inf"))
    world.crawl_with(URL)
    world.clock.now += 1e9
    later = world.crawl()
    later.judged(unchanged())
    assert URL in later


def test_duplicate_url_is_superfluous_until_the_ttl_once_the_original_is_confirmed():
    world = World()
    world.crawl_with(URL, f"{SITE}/other")
    world.clock.now += 60
    later = world.crawl()
    assert later.status_of(URL) == "copy"
    later.judged(unchanged(f"{ORIGINAL}#top"))
    assert f"{SITE}/a?a=1&b=2#top" in later
    assert later.status_of(f"{SITE}/b") == "unknown"
    world.clock.now += 60
    assert later.status_of(URL) == "unknown"
    assert world.crawl().status_of(URL) == "unknown"


@pytest.mark.parametrize(
    "shown",
    [
        unchanged(text=OTHER_TEXT),
        unchanged(f"{SITE}/unheard-of"),
        duplicate(f"{SITE}/b"),
        duplicate(f"{SITE}/b", text=OTHER_TEXT),
        Verdict("new", f"{SITE}/b", Reason.NO_MATCH),
    ],
)
def test_duplicate_url_needs_its_original_again(shown):
    world = World()
    world.crawl_with(URL)
    later = world.next_day()
    later.judged(shown)
    assert later.status_of(URL) == "copy"


def test_what_this_crawl_learned_needs_the_original_again():
    known = World().crawl()
    known.judged(NEW)
    copy(known, URL)
    assert known.status_of(URL) == "copy"
    known.judged(unchanged())
    assert URL in known
    copy(known, URL)
    assert known.status_of(URL) == "copy"


@pytest.mark.parametrize("is_loaded", [True, False])
def test_one_of_many_copies_must_lead_to_the_original_again(is_loaded):
    world, urls = World(), numbered(CONFIRM_FROM)
    world.crawl_with(*urls)
    known = world.next_day() if is_loaded else World().crawl()
    if not is_loaded:
        for url in urls:
            copy(known, url)
    known.judged(unchanged())
    assert {known.status_of(url) for url in urls} == {"copy"}
    known.judged(duplicate(urls[0]))
    assert all(url in known for url in urls[1:])


def test_ttl_zero_disables_duplicate_urls():
    world = World(ttl=0)
    known = world.crawl()
    copy(known, URL)
    known.judged(unchanged())
    assert known.status_of(URL) == "unknown"
    assert known.take_unsaved(EVERYTHING) is None


def test_each_crawl_samples_other_urls():
    world, urls = World(sample_rate=0.2), numbered(1000)
    first, second = (
        {url for url in urls if known.explores(url)} for known in (world.crawl(), world.next_day())
    )
    assert 100 < len(first) < 300
    assert len(first & second) < 100
    assert not any(map(World().crawl().explores, urls))
    assert all(map(World(sample_rate=1).crawl().explores, urls))


# --- how it ends ------------------------------------------------------------------------


ENDINGS = {
    "original changed": (CHANGED, ()),
    "original new": (NEW, ()),
    "original is a duplicate": (OTHER_DUPLICATE, ()),
    "original redirects": (unchanged(f"{SITE}/login"), (ORIGINAL,)),
    "copy is new": (Verdict("new", URL, Reason.NO_MATCH), ()),
    "copy is stored": (unchanged(URL), ()),
    "copy of another": (duplicate(URL, f"{SITE}/other"), ()),
    "copy of other content": (duplicate(URL, text=OTHER_TEXT), ()),
    "copy redirects": (Verdict("new", f"{SITE}/login", Reason.NO_MATCH), (URL,)),
}


@pytest.mark.parametrize(("verdict", "urls"), ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("is_loaded", [True, False])
def test_other_content_discards_all_records_of_an_original(verdict, urls, is_loaded):
    world, other = World(), f"{SITE}/b"
    known = world.crawl()
    for url in (URL, other):
        copy(known, url)
    world.save(known)
    if is_loaded:
        known = world.next_day()
    known.judged(unchanged())
    assert other in known
    known.judged(verdict, urls)
    for _ in range(2):
        assert {known.status_of(url) for url in (URL, other)} == {"unknown"}
        world.save(known)
        known = world.next_day()
        known.judged(unchanged())


def test_unjudged_document_discards_records():
    for address in (URL, ORIGINAL):
        world = World()
        world.crawl_with(URL)
        known = world.next_day()
        known.judged(unchanged())
        known.passed([address])
        assert known.status_of(URL) == "unknown"


def test_undecided_page_suspends_records_in_this_crawl():
    for address in (URL, ORIGINAL):
        world = World()
        world.crawl_with(URL)
        known = world.next_day()
        known.judged(Verdict("undecided", address, Reason.NO_TEXT))
        known.judged(unchanged())
        assert known.status_of(URL) == "copy"
        world.save(known)
        known = world.next_day()
        known.judged(unchanged())
        assert URL in known


def test_a_redirect_to_the_original_or_to_a_copy_of_it_agrees():
    world, other = World(), f"{SITE}/b"
    world.crawl_with(URL, other)
    known = world.next_day()
    known.judged(unchanged(), [URL])
    known.judged(duplicate(f"{SITE}/c"), [ORIGINAL, other])
    assert {known.status_of(url) for url in (URL, other)} == {"superfluous"}


def test_what_is_learned_after_an_ending_holds():
    world = World()
    world.crawl_with(URL)
    known = world.next_day()
    known.judged(CHANGED)
    copy(known, URL, text=OTHER_TEXT)
    world.save(known)
    known = world.next_day()
    known.judged(unchanged(text=OTHER_TEXT))
    assert URL in known
    # Back to the first content, which has ended.
    known.judged(CHANGED)
    world.save(known)
    known = world.next_day()
    known.judged(unchanged())
    assert known.status_of(URL) == "unknown"


def test_an_original_that_another_crawl_stored_anew_ends_what_was_learned_before():
    known = World().crawl()
    copy(known, URL)
    other = f"{SITE}/b"
    copy(known, other, text=OTHER_TEXT)
    known.judged(unchanged(text=OTHER_TEXT))
    assert [known.status_of(url) for url in (URL, other)] == ["unknown", "superfluous"]
    assert [row[0] for row in taken(known).rows[1:].tolist()] == [known.digest_of(other)]


def test_discarding_is_later_than_the_records_whatever_the_clock_says():
    world = World()
    ahead = world.crawl()
    world.clock.now += 5
    copy(ahead, URL)
    world.save(ahead)
    world.clock.now -= 5
    behind = world.crawl()
    behind.judged(CHANGED)
    world.save(behind)
    known = world.crawl()
    known.judged(unchanged())
    assert known.status_of(URL) == "unknown"


# --- floods -----------------------------------------------------------------------------


def test_floods_are_neither_kept_nor_recorded():
    world, urls = World(), numbered(6)
    world.crawl_with(urls[0])
    world.crawl_with(f"{SITE}/p", original=f"{SITE}/q")
    known = world.next_day()
    for url in urls[1:3]:
        copy(known, url)
    world.save(known)
    copy(known, urls[3])
    copy(known, f"{SITE}/other", f"{SITE}/original", OTHER_TEXT)
    known.flood(TEXT)
    for url in urls[4:]:
        copy(known, url)
    known.judged(unchanged())
    assert {known.status_of(url) for url in urls} == {"unknown"}
    assert known.status_of(f"{SITE}/other") == "copy"
    world.save(known)
    known = world.next_day()
    known.judged(unchanged())
    known.judged(unchanged(f"{SITE}/original", OTHER_TEXT))
    assert {known.status_of(url) for url in urls} == {"unknown"}
    assert f"{SITE}/other" in known


def test_number_of_recorded_floods_is_bounded(monkeypatch):
    monkeypatch.setattr(duplicate_urls, "_MAX_FLOODS", 2)
    known = World().crawl()
    for number in range(5):
        known.flood(bytes([number]) * 16)
    assert len(known._floods) == 2


# --- saving -----------------------------------------------------------------------------


def test_unsaved_rows_are_saved_later():
    world = World()
    world.crawl_with(f"{SITE}/b")
    known = world.next_day()
    copy(known, URL, f"{SITE}/original")
    known.judged(CHANGED)
    unsaved = taken(known)
    assert known.take_unsaved(EVERYTHING) is None
    copy(known, f"{SITE}/other", f"{SITE}/original")
    known.put_back(unsaved)
    again = taken(known)
    assert again.rows[:2].tolist() == unsaved.rows.tolist()
    assert again.rows[0].tolist() == ending_of(known.digest_of(ORIGINAL))
    assert len(again.rows) == 3
    assert again.seen_at > unsaved.seen_at


def test_discarded_records_are_not_saved():
    known = World().crawl()
    copy(known, URL)
    unsaved = taken(known)
    known.put_back(unsaved)
    known.judged(CHANGED)
    assert [row[2] for row in taken(known).rows.tolist()] == [0]


def test_digests_depend_on_the_secret():
    digests = set()
    for secret in (bytes(32), bytes(31) + b"1"):
        world = World()
        world.store = MemoryStore(secret)
        known = world.crawl()
        copy(known, URL)
        [(digest, original, _)] = taken(known).rows.tolist()
        digests |= {digest, original}
    assert len(digests) == 4


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(known_copies, "MAX_KNOWN", 10)
    known, urls = World().crawl(), numbered(30)
    for number, url in enumerate(urls):
        copy(known, url, f"{SITE}/original/{number // 3}")
    assert [url for url in urls if known.status_of(url) == "copy"] == urls[-10:]
    assert len(known._known._originals) == 4
    rows = taken(known).rows
    assert rows.shape == (10,)
    assert rows.dtype == COPY


def test_a_copy_is_not_saved_before_its_original_is_on_disk():
    known = World().crawl()
    copy(known, URL, mark=3)
    copy(known, f"{SITE}/other", mark=5)
    assert known.take_unsaved(2) is None
    assert len(taken(known, 4).rows) == 1
    assert known.take_unsaved(4) is None
    assert len(taken(known, 5).rows) == 1


# --- by brute force ---------------------------------------------------------------------


def test_records_since_the_last_discarding_are_loaded():
    """Against a dictionary, with few originals and contents."""
    rng = random.Random(1)
    for _ in range(200):
        world, plain = World(ttl=1000), dict[int, tuple[int, int]]()
        for time in range(1, rng.randrange(2, 12)):
            rows = {}
            for _ in range(rng.randrange(4)):
                original = rng.randrange(100, 103)
                if rng.random() < 0.3:
                    rows[original ^ (2**64 - 1)] = ending_of(original)
                    plain = {d: row for d, row in plain.items() if row[0] != original}
            for _ in range(rng.randrange(4)):
                row = rng.randrange(1, 6), rng.randrange(100, 103), rng.randrange(7, 9)
                rows[row[0]] = row
                plain[row[0]] = row[1:]
            world.store.note_duplicates(np.array([*rows.values()], COPY), time)
        found = advice.without_ended(world.store.known_duplicates(0))
        assert {d: (o, c) for d, o, c, _ in found.tolist()} == plain
        loaded = StoredDuplicateUrls(found)
        for digest in range(8):
            copy = loaded.get(digest)
            assert (copy and copy.shown) == plain.get(digest)
        for content in (7, 8):
            with_content = {original for original, at in plain.values() if at == content}
            assert set(loaded.originals_with(content)) == with_content
