"""Crawls in which a method judges in place of the rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from scrapy.http import Request, Response

from tests.support.crawl import LOOPS, Crawl, CrawlSpider, run_crawl
from tests.support.server import Site, serving
from tests.support.texts import FERRY, MUSEUM, TEA, article, page, replaced

CONTENTS = 8
#: Of the numbers of workers, the one that takes longer.
SLOW_WORKER = pytest.param(1, marks=pytest.mark.slow)


def article_page(seed: int, title: str, edited: int = 0) -> str:
    words = article(250, seed=seed)
    return page(" ".join([*words[:-edited], *words[:edited]] if edited else words), title)


#: Articles and edited copies of them with other titles, which the rule keeps on one site.
ARTICLES = {
    **{f"/article/{n}": article_page(n, f"Article {n}") for n in range(CONTENTS)},
    **{f"/copy/{n}": article_page(n, f"Zanzibar {n}", edited=2) for n in range(CONTENTS)},
}
TEXTS = {"/ferry": page(FERRY, "Ferry"), "/museum": page(MUSEUM, "Museum")}


class LinkSpider(CrawlSpider):
    """Yields items of copies only."""

    def parse(self, response: Response) -> Iterator[Any]:
        outputs = super().parse(response)
        yield from (each for each in outputs if "copy" in response.url or isinstance(each, Request))


def crawled(site: Site, *paths: str, **settings: Any) -> Crawl:
    return run_crawl([site.url(path) for path in paths], settings)


def contents(crawl: Crawl) -> set[str]:
    return {path.rpartition("/")[2] for path in crawl.stored}


@pytest.mark.smoke
@pytest.mark.parametrize(("loop", "workers"), [(LOOPS[0], 0), (LOOPS[-1], 1)])
def test_copies_are_dropped_and_every_content_is_stored(loop, workers):
    settings = {"NEARDUP_METHOD": "bottomk:min_similarity=0.7", "NEARDUP_WORKERS": workers}
    with serving(ARTICLES) as site:
        crawl = run_crawl([site.url(path) for path in ARTICLES], settings, loop=loop)
        originals = {
            item["url"]: item["duplicate_of"].replace("/article/", "/copy/")
            for item in crawl.dropped
        }
    assert contents(crawl) == {str(number) for number in range(CONTENTS)}
    assert len(crawl.items) == len(crawl.dropped) == CONTENTS
    assert {item["path"].partition("/")[2] for item in crawl.dropped} == contents(crawl)
    for dropped in crawl.dropped:
        assert dropped["duplicate_of"].rpartition("/")[2] == dropped["url"].rpartition("/")[2]
        assert (dropped["reason"], dropped["distance"]) == ("method", None)
        assert 0.7 <= dropped["similarity"] <= 1
    assert len(originals) == CONTENTS
    assert crawl.counts("pages/") == {"new": CONTENTS, "duplicate": CONTENTS}
    assert crawl.logged("WARNING") == []
    [started] = [text for text in crawl.logged("INFO") if text.startswith("Dropping")]
    assert "the method bottomk-1:hashes=128" in started
    assert "; texts of fewer than 20 distinct words (min_features) are kept; pages of" in started


@pytest.mark.parametrize("workers", [0, SLOW_WORKER])
def test_tags_of_bodies_are_compared(workers):
    pages = {"/ferry": page(FERRY), "/tea": page(TEA), "/copy": page(FERRY).replace("Home", "Hom")}
    with serving(pages) as site:
        crawl = crawled(
            site,
            *pages,
            NEARDUP_METHOD="tags",
            NEARDUP_WORKERS=workers,
            CONCURRENT_REQUESTS=1,
        )
        assert [item["duplicate_of"] for item in crawl.dropped] == [site.url("/ferry")]
    assert crawl.stored == ["ferry", "tea"]


@pytest.mark.parametrize("workers", [0, SLOW_WORKER])
def test_keywords_judge_titles_comments_and_captions(workers):
    titles = [
        "Man bites dog in the old harbour of Holm",
        "The old harbour of Holm bites a man: a dog",
        "MAN BITES DOG, in the old harbour of Holm!",
        "Museum of weaving opens after two years of repairs",
        "Museum of weaving opens after two years of repairs (video)",
        "Great fun",
        "",
    ]
    settings = {
        "NEARDUP_METHOD": "keywords",
        "NEARDUP_ITEM_FIELD": "text",
        "NEARDUP_WORKERS": workers,
    }
    with serving({"/1": page("no matter")}) as site:
        crawl = run_crawl([site.url("/1")], settings, items_per_page=len(titles), texts=titles)
        told = {item["text"]: item["duplicate_of"] for item in crawl.dropped}
        assert told == {
            titles[2]: site.url("/1#item-1"),
            titles[4]: site.url("/1#item-4"),
        }
    assert crawl.counts("judged_items/") == {"new": 4, "duplicate": 2, "undecided": 1}
    assert crawl.counts("undecided/") == {"no_text": 1}
    [started] = [text for text in crawl.logged("INFO") if text.startswith("Dropping")]
    assert "min_features" not in started


def test_short_pages_are_kept_undecided():
    pages = {f"/{n}": page(f"No description of ware {n} yet", "Ware") for n in range(2)}
    with serving(pages) as site:
        crawl = crawled(site, *pages, NEARDUP_METHOD="words")
    assert crawl.stored == ["0", "1"]
    assert crawl.counts("undecided/") == {"few_features": 2}


def test_a_page_again_is_a_revisit_and_tags_name_the_original():
    pages = {"/ferry": page(FERRY), "/copy": page(FERRY, frame="Mirror")}
    with serving(pages) as site:
        urls = [site.url(path) for path in ("/ferry", "/ferry", "/copy")]
        settings = {
            "NEARDUP_METHOD": "exact",
            "NEARDUP_ACTION": "tag",
            "CONCURRENT_REQUESTS": 1,
        }
        crawl = run_crawl(urls, settings, dont_filter=True)
        assert crawl.items[-1]["neardup"] == {
            "of": site.url("/ferry"),
            "distance": None,
            "similarity": 1.0,
        }
    assert crawl.counts("pages/") == {"new": 1, "revisit": 1, "duplicate": 1}


def test_pages_of_links_only_are_no_originals():
    pages = {"/links": page(FERRY, links="/copy/1"), "/copy/1": page(FERRY, links="/copy/2")}
    with serving({**pages, "/copy/2": page(FERRY)}) as site:
        settings = {"NEARDUP_METHOD": "exact", "CONCURRENT_REQUESTS": 1}
        crawl = run_crawl([site.url("/links")], settings, spider=f"{__name__}.LinkSpider")
        assert [item["duplicate_of"] for item in crawl.dropped] == [site.url("/copy/1")]
    assert crawl.stored == ["copy/1"]
    assert crawl.counts("links_seen") == {"": 1}


# --- what must not happen ----------------------------------------------------------------


@pytest.mark.parametrize("how", [pytest.param("drop", marks=pytest.mark.slow), "raise"])
@pytest.mark.parametrize("workers", [0, SLOW_WORKER])
def test_no_content_is_lost_when_a_pipeline_fails(how, workers):
    failing = {f"article/{n}": how for n in range(0, CONTENTS, 2)}
    with serving(ARTICLES, together=len(ARTICLES)) as site:
        crawl = crawled(
            site,
            *ARTICLES,
            NEARDUP_METHOD="bottomk:min_similarity=0.7",
            NEARDUP_WORKERS=workers,
            CONCURRENT_REQUESTS_PER_DOMAIN=len(ARTICLES),
            CONCURRENT_REQUESTS=len(ARTICLES),
            ITEM_PIPELINES={"tests.support.crawl.Failing": 200},
            FAIL_PATHS=failing,
            FAIL_AFTER=0.3,
        )
    assert contents(crawl) == {str(number) for number in range(CONTENTS)}
    assert len(crawl.items) == CONTENTS


@pytest.mark.slow
def test_items_of_one_page_that_wait_for_each_other_end():
    texts = [FERRY, MUSEUM, FERRY, MUSEUM, FERRY]
    with serving({"/1": page("no matter"), "/2": page("none")}) as site:
        crawl = run_crawl(
            [site.url("/1"), site.url("/2")],
            {
                "NEARDUP_METHOD": "tests.support.own_methods.Within:min_similarity=0.3",
                "NEARDUP_ITEM_FIELD": "text",
                "CONCURRENT_ITEMS": 1,
                "ITEM_PIPELINES": {"tests.support.crawl.Failing": 200},
                "FAIL_PATHS": {"1": "raise"},
                "FAIL_AFTER": 0.1,
            },
            items_per_page=5,
            texts=texts,
            seconds=60,
        )
    assert {item["text"] for item in crawl.items} == {FERRY, MUSEUM}
    assert "undecided/waited" not in crawl.counts()


def test_pages_that_are_near_in_one_direction_only_do_not_wait_for_each_other_in_vain():
    long, short = (" ".join(article(words, seed=3)) for words in (900, 200))
    pages = {
        **{f"/long/{n}": page(long, f"Long {n}") for n in range(3)},
        **{f"/short/{n}": page(short, f"Short {n}") for n in range(3)},
    }
    with serving(pages, together=len(pages)) as site:
        crawl = crawled(
            site,
            *pages,
            NEARDUP_METHOD="tests.support.own_methods.Within",
            CONCURRENT_REQUESTS=len(pages),
            CONCURRENT_REQUESTS_PER_DOMAIN=len(pages),
            ITEM_PIPELINES={"tests.support.crawl.Failing": 200},
            FAIL_PATHS={"long/0": "raise", "short/0": "raise"},
            FAIL_AFTER=0.3,
        )
    assert {path.partition("/")[0] for path in crawl.stored} >= {"long"}
    assert crawl.counts("undecided/") == {}


# --- methods of one's own ----------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, SLOW_WORKER])
def test_a_method_of_ones_own_judges(workers):
    pages = {"/ferry": page(FERRY), "/loud": page(FERRY.upper()), "/tea": page(TEA)}
    with serving(pages) as site:
        crawl = crawled(
            site,
            *pages,
            NEARDUP_METHOD="tests.support.own_methods.Shouted",
            NEARDUP_WORKERS=workers,
            CONCURRENT_REQUESTS=1,
        )
    assert crawl.stored == ["ferry", "tea"]


@pytest.mark.parametrize("workers", [0, SLOW_WORKER])
def test_pages_whose_value_cannot_be_made_are_kept(workers):
    pages = {
        **{f"/museum/{n}": page(MUSEUM, "Museum") for n in range(3)},
        **{f"/ferry/{n}": page(FERRY, "Ferry", f"{n}") for n in range(3)},
    }
    with serving(pages) as site:
        crawl = crawled(
            site,
            *pages,
            NEARDUP_METHOD="tests.support.own_methods.FailingValue",
            NEARDUP_WORKERS=workers,
            CONCURRENT_REQUESTS=1,
        )
    assert crawl.stored == ["ferry/0", "museum/0", "museum/1", "museum/2"]
    assert crawl.counts("undecided/") == {"failed": 3}
    [warning] = crawl.logged("WARNING")
    assert "method shouted failed: ZeroDivisionError('museum')" in warning


def test_pages_that_cannot_be_compared_are_kept():
    pages = {f"/ferry/{n}": page(FERRY, "Ferry", f"{n}") for n in range(3)} | TEXTS
    with serving(pages) as site:
        crawl = crawled(
            site,
            *pages,
            NEARDUP_METHOD="tests.support.own_methods.FailingSimilarity",
            CONCURRENT_REQUESTS=1,
        )
    assert len(crawl.stored) == len(pages)
    assert crawl.counts("pages/") == {"new": 2, "undecided": 3}
    assert crawl.counts("undecided/") == {"failed": 3}
    [warning] = crawl.logged("WARNING")
    assert "method shouted failed: ZeroDivisionError('similarity')" in warning


# --- settings ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"NEARDUP_METHOD": "minhsah"}, "NEARDUP_METHOD is 'minhsah'"),
        ({"NEARDUP_METHOD": 5}, "NEARDUP_METHOD is 5, but it must be a name, an import path"),
        ({"NEARDUP_METHOD": "minhash:0"}, "NEARDUP_METHOD minhash: hashes"),
        ({"NEARDUP_STORE": "sqlite:///{path}/s.sqlite"}, "sqlite cannot hold the values"),
        ({"NEARDUP_STORE": "redis://:pass@127.0.0.1:1/0"}, "redis cannot hold the values"),
        ({"JOBDIR": "{path}/job"}, 'used with NEARDUP_STORE = "memory", with a JOBDIR too'),
        ({"NEARDUP_EXTRACTION": "lazy"}, "NEARDUP_EXTRACTION is 'lazy', but it must be 'full'"),
    ],
)
def test_what_cannot_be_is_refused_at_start(settings, expected, tmp_path):
    given = {
        name: value.format(path=tmp_path) if isinstance(value, str) else value
        for name, value in settings.items()
    }
    with serving(TEXTS) as site:
        crawl = run_crawl([site.url("/ferry")], {"NEARDUP_METHOD": "minhash", **given})
        assert not site.hits
    assert [text for _, level, text in crawl.log if level == "CRITICAL" and expected in text]
    assert not list(tmp_path.rglob("*.sqlite*"))


def test_thresholds_of_the_rule_are_said_to_have_no_effect():
    with serving(TEXTS) as site:
        crawl = crawled(site, *TEXTS, NEARDUP_METHOD="words", NEARDUP_MIN_SIMILARITY=0.9)
    assert len(crawl.stored) == 2
    [warning] = crawl.logged("WARNING")
    assert warning.startswith("NEARDUP_MIN_SIMILARITY has no effect with NEARDUP_METHOD")


@pytest.mark.slow
def test_thresholds_of_a_request_are_said_to_have_no_effect():
    with serving(TEXTS) as site:
        options = {"neardup": {"min_similarity": 0.9, "scope": "site"}}
        urls = [site.url(path) for path in TEXTS]
        crawl = run_crawl(urls, {"NEARDUP_METHOD": "words"}, meta=dict.fromkeys(urls, options))
    assert len(crawl.stored) == 2
    [warning] = crawl.logged("WARNING")
    assert warning.startswith("request.meta['neardup']['min_similarity'] has no effect with")


def test_edits_beyond_the_methods_threshold_are_kept():
    words = article(250)
    pages = {"/1": page(" ".join(words)), "/2": page(" ".join(replaced(words, 0.3)))}
    with serving(pages) as site:
        crawl = crawled(site, *pages, NEARDUP_METHOD="minhash")
    assert crawl.stored == ["1", "2"]
