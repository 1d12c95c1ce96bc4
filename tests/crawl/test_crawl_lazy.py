"""Crawls that read in full only those pages that may be copies."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scrapy_neardup.exceptions import MissingPackage
from scrapy_neardup.signatures.signer import Signer
from tests.support.crawl import LOOPS, Crawl, run_crawl
from tests.support.reports import data_of, neardup, texts_of
from tests.support.server import Answer, Site, serving
from tests.support.texts import FERRY, MUSEUM, TEA, article

LAZY: dict[str, Any] = {"NEARDUP_EXTRACTION": "lazy", "CONCURRENT_REQUESTS": 1}


def page(text: str, title: str, frame: str = "") -> str:
    paragraphs = "".join(f"<p>{clause}</p>" for clause in re.split("(?<=[.,;]) ", text))
    return (
        f"<html><head><title>{title}</title></head><body><div>{frame}</div>"
        f"<article><h1>{title}</h1>{paragraphs}</article></body></html>"
    )


def story(seed: int = 0) -> str:
    """A few words of a made-up language, in sentences."""
    words = " ".join(article(120, seed=seed, vocabulary=10**6))
    return re.sub(r"((?:\w+ ){9}\w+) ", r"\1. ", words)


PAGES = {
    "/ferry": page(FERRY, "Ferry"),
    "/museum": page(MUSEUM, "Museum"),
    "/story": page(story(), "Story"),
    "/copy": page(f"{FERRY} Book now.", "Ferry", "News of all islands"),
}


def crawled(site: Site, *paths: str, loop: str = "reactor", **settings: Any) -> Crawl:
    return run_crawl([site.url(path) for path in paths], {**LAZY, **settings}, loop=loop)


def statistics(crawl: Crawl) -> dict[str, int]:
    return {
        name: crawl.counts()[name]
        for name in ("pages/new", "pages/duplicate", "read_in_full", "bodies_evicted")
        if name in crawl.counts()
    }


@pytest.mark.parametrize(("loop", "workers"), [(LOOPS[0], 0), (LOOPS[-1], 1)])
def test_only_copies_their_originals_and_pages_of_their_template_are_read_in_full(loop, workers):
    guides = {
        f"/{n}": page(f"{story(n)}. {FERRY[: len(FERRY) // 2]}", f"Guide {n}") for n in range(1, 4)
    }
    pages = {**guides, **PAGES}
    with serving(pages) as site:
        crawl = crawled(site, *pages, loop=loop, NEARDUP_WORKERS=workers)
    assert crawl.stored == ["1", "2", "3", "ferry", "museum", "story"]
    read = 2 + len(guides)
    assert statistics(crawl) == {"pages/new": 6, "pages/duplicate": 1, "read_in_full": read}
    assert [(found["path"], found["reason"]) for found in crawl.dropped] == [
        ("copy", "similar_text")
    ]
    assert crawl.logged("WARNING") == []


def test_verdicts_are_those_of_reading_in_full():
    with serving(PAGES) as site:
        lazy, full = (crawled(site, *PAGES, NEARDUP_EXTRACTION=how) for how in ("lazy", "full"))
        verdicts = [
            {each["url"]: each["reason"] for each in crawl.judged} for crawl in (lazy, full)
        ]
    assert verdicts[0] == verdicts[1]
    assert "read_in_full" not in full.counts()


def offer(price: str, text: str = FERRY) -> str:
    """A page whose price stands beside its text."""
    body = page(text, "Ferry").replace("<article>", f'<p class="price">{price}</p><article>')
    return re.sub("<h1>.*</h1>", "", body).replace("<div></div>", "<h1>Ferry</h1>")


@pytest.mark.parametrize("are_bodies_kept", [True, False])
def test_the_facts_of_a_page_are_read_once_another_page_of_its_site_may_be_a_copy(are_bodies_kept):
    half = ". ".join([*FERRY.split(". ")[:4], story()])
    offers = {"/ferry": offer("€ 9"), "/half": offer("€ 9", half), "/copy": offer("€ 9 &nbsp;")}
    pages = {**offers, "/other": offer("€ 12")}
    settings = {} if are_bodies_kept else {"NEARDUP_BODY_CACHE": 0}
    with serving(pages) as site:
        # On another site is a page that has a half of its text.
        urls = [site.url("/ferry"), site.url("/half", "localhost"), site.url("/ferry", "localhost")]
        urls += [site.url("/copy"), site.url("/other")]
        crawl = run_crawl(urls, {**LAZY, **settings})
    assert "other" in crawl.stored
    dropped = sorted(found["path"] for found in crawl.dropped)
    assert dropped == (["copy", "ferry"] if are_bodies_kept else [])


def test_the_report_shows_both_texts(tmp_path):
    report = tmp_path / "report.html"
    with serving(PAGES) as site:
        crawled(site, *PAGES, NEARDUP_REPORT=str(report), NEARDUP_KEEP_TEXT=True)
        texts = texts_of(report)
        assert texts.keys() == {site.url("/ferry"), site.url("/copy")}
    assert all(FERRY[:60] in text for text in texts.values())
    assert sorted(data_of(report)["titles"].values()) == "Ferry Ferry Museum Story".split()


def test_a_copy_of_a_page_whose_body_was_evicted_is_stored():
    with serving(PAGES) as site:
        crawl = crawled(site, *PAGES, NEARDUP_BODY_CACHE=0)
    assert crawl.stored == ["copy", "ferry", "museum", "story"]
    assert statistics(crawl) == {"pages/new": 4, "bodies_evicted": 4}
    [warning] = crawl.logged("WARNING")
    assert warning.startswith("NEARDUP_BODY_CACHE is 0")
    assert "bodies evicted" in crawl.logged("INFO")[-1]


def test_a_copy_takes_the_place_of_an_original_that_was_not_stored():
    failing: dict[str, Any] = {
        "ITEM_PIPELINES": {"tests.support.crawl.Failing": 500},
        "FAIL_AFTER": 0.2,
    }
    with serving(PAGES, together=2) as site:
        crawl = crawled(
            site, "/ferry", "/copy", **failing, CONCURRENT_REQUESTS=2, FAIL_PATHS={"ferry": "raise"}
        )
    assert "copy" in crawl.stored


@pytest.mark.parametrize("are_bodies_lost", [False, True])
@pytest.mark.slow
def test_a_later_run_reads_the_pages_of_an_earlier_one(tmp_path, are_bodies_lost):
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    with serving(PAGES) as site:
        first = crawled(site, "/ferry", "/museum", **store)
        assert statistics(first) == {"pages/new": 2}
        if are_bodies_lost:
            (tmp_path / "store.sqlite-bodies").unlink()
        again = crawled(site, "/copy", **store)
        refused = crawled(site, "/copy", **store, NEARDUP_EXTRACTION="full")
    found = {"pages/new": 1, "read_in_full": 1}
    if not are_bodies_lost:
        found = {"pages/duplicate": 1, "read_in_full": 2}
    assert statistics(again) == found
    assert refused.stats["finish_reason"] == "neardup_store"
    [error] = refused.logged("ERROR")
    assert (
        "made with extraction lazy (passages-5, quick-sketch-1), but is used with extraction full"
        in error
    )


@pytest.mark.slow
def test_a_crawl_does_without_the_file_of_bodies(tmp_path):
    (tmp_path / "store.sqlite-bodies").mkdir()
    with serving(PAGES) as site:
        crawl = crawled(site, *PAGES, NEARDUP_STORE=f"sqlite:///{tmp_path}/store.sqlite")
    assert crawl.stored == ["ferry", "museum", "story"]
    assert len(crawl.logged("WARNING")) == 1
    assert crawl.logged("ERROR") == []


@pytest.mark.parametrize("extraction", ["lazy", "full"])
def test_unchanged_pages_are_not_read_again(tmp_path, extraction):
    settings = {
        "NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite",
        "NEARDUP_EXTRACTION": extraction,
    }
    pages = {path: PAGES[path] for path in ("/ferry", "/museum", "/story")}
    with serving(pages) as site:
        for _ in range(2):
            again = crawled(site, *pages, **settings)
        pages["/museum"] = page(f"{MUSEUM} New opening hours.", "Museum")
        pages["/copy"] = PAGES["/copy"]
        changed = crawled(site, *pages, **settings)
    assert again.stored == ["ferry", "museum", "story"]
    assert again.counts()["revisits/unchanged"] == again.counts()["unchanged_bodies"] == 3
    assert [found["path"] for found in changed.dropped] == ["copy"]
    assert (changed.counts()["revisits/changed"], changed.counts()["unchanged_bodies"]) == (1, 2)
    if extraction == "lazy":
        assert "read_in_full" not in again.counts()
        # The copy, its original, and both versions of the museum.
        assert changed.counts()["read_in_full"] == 4


@pytest.mark.parametrize("extraction", ["lazy", "full"])
def test_unchanged_copies_are_not_read_again(tmp_path, extraction):
    settings = {
        "NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite",
        "NEARDUP_EXTRACTION": extraction,
    }
    pages = dict(PAGES)
    with serving(pages) as site:
        first = crawled(site, *pages, **settings)
        # The copy comes first, and then its original.
        again = crawled(site, *reversed(pages), **settings)
        pages["/copy"] = page(f"{TEA} Book now.", "Tea")
        changed = crawled(site, *pages, **settings)
    for crawl in (first, again):
        assert crawl.stored == ["ferry", "museum", "story"]
        [copy] = crawl.dropped
        assert (copy["path"], copy["reason"]) == ("copy", "similar_text")
        assert copy["duplicate_of"] == site.url("/ferry")
    assert again.counts()["unchanged_bodies"] == 4
    assert "read_in_full" not in again.counts()
    assert changed.stored == ["copy", "ferry", "museum", "story"]
    assert changed.counts()["unchanged_bodies"] == 3


def test_an_unchanged_copy_is_stored_when_its_original_has_changed(tmp_path):
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    pages = dict(PAGES)
    with serving(pages) as site:
        crawled(site, *pages, **settings)
        pages["/ferry"] = PAGES["/museum"]
        del pages["/museum"]
        stored = crawled(site, "/ferry", "/copy", **settings).stored
        pages["/ferry"] = PAGES["/ferry"]
        # It has become the original.
        last = crawled(site, "/copy", "/ferry", **settings)
    assert "copy" in stored
    assert "copy" in last.stored


class Shop(dict[str, Answer | str]):
    """Pages, and a shop that answers every address."""

    def get(self, path: str, default: Any = None) -> Any:
        is_soft = path.startswith("/shop/") and path not in self
        return self.missing(path) if is_soft else super().get(path, default)

    @staticmethod
    def missing(path: str) -> str:
        name = path.rpartition("/")[2]
        text = f"There is no product called {name} any more. We looked for {name} in our whole "
        text += "catalogue and found nothing. Please check the address, or go back to the front "
        text += "page, where all departments are listed. You can also write to our service."
        return page(text, "Page not found | Shop")


@pytest.mark.slow
def test_soft_404s_are_found_among_unchanged_pages(tmp_path):
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    pages = Shop(PAGES)
    pages["/news/red"] = Shop.missing("/shop/red")
    with serving(pages) as site:
        first = crawled(site, "/ferry", "/news/red", "/shop/red", **settings)
        paths = "/ferry", "/shop/red", "/shop/blue", "/shop/green", "/story"
        again = crawled(site, *paths, **settings, NEARDUP_SOFT_404="drop", DOWNLOAD_DELAY=0.3)
    assert [found["path"] for found in first.dropped] == ["shop/red"]
    assert again.stored == ["ferry", "story"]


def test_an_unchanged_copy_beyond_a_lower_limit_is_kept(tmp_path):
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    with serving(PAGES) as site:
        assert len(crawled(site, *PAGES, **settings).dropped) == 1
        crawl = crawled(site, "/copy", **settings, NEARDUP_MAX_BODY_BYTES=100)
    assert (crawl.stored, crawl.counts("undecided/")) == (["copy"], {"too_large": 1})


def test_an_unchanged_page_whose_item_fails_keeps_its_body(tmp_path):
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    failing: dict[str, Any] = {
        "ITEM_PIPELINES": {"tests.support.crawl.Failing": 500},
        "FAIL_PATHS": {"ferry": "raise"},
    }
    with serving(PAGES) as site:
        crawled(site, "/ferry", **store)
        assert crawled(site, "/ferry", **store, **failing).stored == []
        copied = crawled(site, "/copy", **store)
    assert statistics(copied) == {"pages/duplicate": 1, "read_in_full": 2}


def test_unchanged_pages_without_bodies_are_read_in_full_once(tmp_path):
    store = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    pages = {path: PAGES[path] for path in ("/ferry", "/museum")}
    with serving(pages) as site:
        crawls = [crawled(site, *pages, **store, NEARDUP_BODY_CACHE=0).counts() for _ in range(3)]
    assert [crawl.get("read_in_full", 0) for crawl in crawls] == [0, 2, 0]
    assert [crawl.get("unchanged_bodies", 0) for crawl in crawls] == [0, 0, 2]


@pytest.mark.slow
def test_unchanged_pages_are_not_read_again_with_redis(redis_server):
    pages = {path: PAGES[path] for path in ("/ferry", "/museum", "/story")}
    redis = {"NEARDUP_STORE": redis_server.address}
    with serving(pages) as site:
        crawls = [crawled(site, *pages, **redis) for _ in range(3)]
        pages["/copy"] = PAGES["/copy"]
        copied = crawled(site, *pages, **redis)
    assert [statistics(crawl) for crawl in crawls] == [{"pages/new": 3}, {}, {}]
    counts = crawls[-1].counts()
    assert counts["revisits/unchanged"] == counts["unchanged_bodies"] == 3
    # The body of the original has gone from one of its versions to the next.
    assert statistics(copied) == {"pages/duplicate": 1, "read_in_full": 2}


def test_the_report_shows_the_texts_of_unchanged_pages(tmp_path):
    report = tmp_path / "report.html"
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    with serving(PAGES) as site:
        crawled(site, "/ferry", **settings)
        shown: dict[str, Any] = {"NEARDUP_REPORT": str(report), "NEARDUP_KEEP_TEXT": True}
        crawled(site, "/ferry", "/copy", **settings, **shown)
        assert texts_of(report).keys() == {site.url("/ferry"), site.url("/copy")}
    assert sorted(data_of(report)["titles"].values()) == ["Ferry", "Ferry"]


@pytest.mark.parametrize("content_type", ["text/html; charset=koi8-r", "text/html"])
def test_a_body_in_another_encoding_is_another_one(tmp_path, content_type):
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite"}
    body = page(FERRY, "Паром").encode("koi8-r")
    pages = {"/1": Answer(body, "text/html; charset=koi8-r")}
    with serving(pages) as site:
        crawled(site, "/1", **settings)
        pages["/1"] = Answer(body, content_type)
        again = crawled(site, "/1", **settings)
    assert again.counts().get("read_in_full", 0) == (0 if "koi8" in content_type else 2)


def test_a_changed_page_is_stored_again(tmp_path):
    settings = {"NEARDUP_STORE": f"sqlite:///{tmp_path}/store.sqlite", "NEARDUP_REVISIT": "drop"}
    pages = {"/1": PAGES["/ferry"], "/2": PAGES["/story"]}
    with serving(pages) as site:
        crawled(site, *pages, **settings)
        pages["/1"] = PAGES["/museum"]
        assert crawled(site, *pages, **settings).stored == ["1"]


@pytest.mark.slow
def test_commands_read_a_store_with_unread_pages(tmp_path):
    store = f"sqlite:///{tmp_path}/store.sqlite"
    report = tmp_path / "report.html"
    with serving(PAGES) as site:
        crawled(site, *PAGES, NEARDUP_STORE=store)
    done = neardup("report", store, "-o", report)
    assert done.returncode == 0, done.stderr
    assert data_of(report)["origin"]["kind"] == "store"
    done = neardup("pairs", "--store", store, "-o", tmp_path / "pairs.jsonl")
    assert done.returncode == 0, done.stderr
    done = neardup("scan", tmp_path, "--store", store, "-o", tmp_path / "scan.jsonl")
    assert (
        "made with extraction lazy (passages-5, quick-sketch-1), but is used with extraction full"
        in done.stderr
    )


@pytest.mark.slow
def test_verdicts_with_redis_are_those_in_memory(redis_server):
    redis = {"NEARDUP_STORE": redis_server.address}
    with serving({**PAGES, "/again": PAGES["/copy"]}) as site:
        in_memory, shared = crawled(site, *PAGES), crawled(site, *PAGES, **redis)
        verdicts = [
            {each["url"]: each["reason"] for each in crawl.judged} for crawl in (in_memory, shared)
        ]
        assert verdicts[0] == verdicts[1]
        assert statistics(in_memory) == statistics(shared)
        # Another process reads the pages of the first one.
        again = crawled(site, "/again", "/museum", **redis)
        assert again.stored == ["museum"]
        assert statistics(again) == {"pages/duplicate": 1, "read_in_full": 1}
        assert again.counts()["pages/revisit"] == 1
    assert shared.logged("WARNING") == again.logged("WARNING") == []


@pytest.mark.slow
def test_pages_go_from_a_file_to_redis_without_their_bodies(redis_server, tmp_path):
    file, export = f"sqlite:///{tmp_path}/store.sqlite", tmp_path / "export.jsonl"
    with serving(PAGES) as site:
        crawled(site, "/ferry", "/museum", "/copy", NEARDUP_STORE=file)
        neardup("store", "export", file, "--with-secret", "-o", export)
        done = neardup("store", "import", redis_server.address, export, "--namespace", "crawl")
        assert done.returncode == 0, done.stderr
        redis = {"NEARDUP_STORE": redis_server.address, "NEARDUP_NAMESPACE": "crawl"}
        crawl = crawled(site, "/copy", "/story", **redis)
        report = tmp_path / "report.html"
        done = neardup("report", redis_server.address, "--namespace", "crawl", "-o", report)
    # The one that was read in full is an original still.
    assert crawl.stored == ["story"]
    assert done.returncode == 0, done.stderr
    assert data_of(report)["origin"]["kind"] == "store"


def test_reading_quickly_needs_its_package(monkeypatch):
    monkeypatch.setattr("scrapy_neardup.signatures.plugins.can_read_quickly", lambda: False)
    with pytest.raises(MissingPackage, match=re.escape('pip install "scrapy-neardup[lazy]"')):
        Signer(secret=bytes(32), extraction="lazy")
