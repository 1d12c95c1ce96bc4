from __future__ import annotations

from scrapy_neardup import known_urls
from scrapy_neardup.known_urls import KnownUrls
from scrapy_neardup.stores.advice import COPY
from scrapy_neardup.stores.memory import MemoryStore

URL = "http://example.com/a?b=2&a=1"
ORIGINAL = "http://example.com/a"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def opened(store: MemoryStore, ttl: float, clock: Clock) -> KnownUrls:
    known = KnownUrls(ttl, clock)
    known.open(store.secret, store.known_duplicates(known.since))
    return known


def test_a_url_is_known_for_its_time_in_this_crawl_and_in_the_next():
    store, clock = MemoryStore(), Clock()
    first = opened(store, 100, clock)
    assert URL not in first
    first.add(URL, ORIGINAL)
    first.add("http://example.com/other", ORIGINAL)
    assert "http://example.com/a?a=1&b=2#top" in first
    store.note_duplicates(first.take_unsaved(0), int(clock.now))
    assert len(first.take_unsaved(0)) == 0
    clock.now += 60
    later = opened(store, 100, clock)
    later.meet(ORIGINAL)
    assert URL in later
    assert "http://example.com/b" not in later
    clock.now += 60
    assert URL not in first
    assert URL not in later
    much_later = opened(store, 100, clock)
    much_later.meet(ORIGINAL)
    assert URL not in much_later


def test_a_copy_of_what_was_not_met_yet_may_be_the_only_way_to_it():
    store, clock = MemoryStore(), Clock()
    first = opened(store, 100, clock)
    others = [f"http://example.com/{name}" for name in "xyz"]
    first.add(URL, ORIGINAL)
    for other in others:
        first.add(other, f"{other}/original")
    store.note_duplicates(first.take_unsaved(0), int(clock.now))
    later = opened(store, 100, clock)
    assert not any(url in later for url in (URL, *others))
    later.meet("http://example.com/unheard-of")
    later.meet("http://example.com/y/original#top")
    assert [other for other in others if other in later] == [others[1]]
    assert URL not in later
    # What led to a duplicate in this crawl is known in any case: it was fetched just then.
    later.add(URL, ORIGINAL)
    assert URL in later


def test_with_no_time_nothing_is_known():
    known = opened(MemoryStore(), 0, Clock())
    known.add(URL, ORIGINAL)
    assert URL not in known
    assert len(known.take_unsaved(0)) == 0


def test_what_could_not_be_saved_is_saved_later():
    known = opened(MemoryStore(), 100, Clock())
    known.add(URL, ORIGINAL)
    unsaved = known.take_unsaved(0)
    known.add("http://example.com/other", ORIGINAL)
    known.put_back(unsaved)
    assert known.take_unsaved(0)[0] == unsaved[0]


def test_digests_hang_on_the_secret():
    digests = set()
    for secret in (bytes(32), bytes(31) + b"1"):
        known = opened(MemoryStore(secret), 100, Clock())
        known.add(URL, ORIGINAL)
        [(digest, original)] = known.take_unsaved(0).tolist()
        digests |= {digest, original}
    assert len(digests) == 4


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(known_urls, "MAX_KNOWN", 10)
    known = opened(MemoryStore(), 100, Clock())
    urls = [f"http://example.com/{number}" for number in range(30)]
    for url in urls:
        known.add(url, ORIGINAL)
    assert [url for url in urls if url in known] == urls[-10:]
    assert known.take_unsaved(0).shape == (10,)
    assert known.take_unsaved(0).dtype == COPY


def test_a_copy_is_not_saved_before_its_original_is_on_disk():
    known = opened(MemoryStore(), 100, Clock())
    known.add(URL, ORIGINAL, mark=3)
    known.add("http://example.com/other", ORIGINAL, mark=5)
    assert len(known.take_unsaved(2)) == 0
    assert len(known.take_unsaved(4)) == 1
    assert URL in known
    assert len(known.take_unsaved(4)) == 0
    assert len(known.take_unsaved(5)) == 1
