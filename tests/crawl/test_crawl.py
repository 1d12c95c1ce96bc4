"""The add-on in real crawls, over real HTTP, each in a process of its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import LOOPS, run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import BRIDGE, FERRY, MUSEUM, TEA, article, page, replaced

pytestmark = pytest.mark.smoke

Pages = dict[str, Answer | str]

SIX: Pages = {
    "/ferry": page(FERRY, "The ferry", "Harbour news"),
    "/ferry?sid=1": page(FERRY, "The ferry", "Harbour news, 3 readers online"),
    "/print/ferry": f"<html><head><title>The ferry</title></head><p>{FERRY}</p></html>",
    "/museum": page(MUSEUM, "The museum", "Harbour news"),
    "/tea": page(TEA, "茶叶博物馆", "本地新闻"),
    "/bridge": page(BRIDGE, "石桥通车", "本地新闻"),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_each_content_is_stored_once(loop):
    with serving(SIX) as site:
        crawl = run_crawl([site.url(path) for path in SIX], loop=loop)
    assert len(crawl.items) == 4
    assert {"museum", "tea", "bridge"} < set(crawl.stored)
    assert crawl.counts("pages/") == {"new": 4, "duplicate": 2}
    assert crawl.counts("items/") == {"kept": 4, "dropped": 2}
    assert crawl.stats["neardup/responses"] == 6
    assert crawl.stats["neardup/seconds"] > 0
    original = next(iter(set(crawl.stored) - {"museum", "tea", "bridge"}))
    for item in crawl.dropped:
        assert item["class"] == "NearDuplicate"
        assert item["duplicate_of"] == site.url(f"/{original}")
        assert item["url"] == site.url(f"/{item['path']}")
        assert 0 <= item["distance"] <= 11
        assert 0.73 <= item["similarity"] <= 1
    assert crawl.stats["item_dropped_reasons_count/NearDuplicate"] == 2


@pytest.mark.parametrize("loop", LOOPS)
def test_eight_identical_pages_at_once_leave_one(loop):
    pages = {f"/{number}": page(FERRY, "The ferry") for number in range(8)}
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 8, "DOWNLOAD_DELAY": 0}
    with serving(pages, together=8) as site:
        crawl = run_crawl([site.url(path) for path in pages], settings, loop=loop)
    assert len(crawl.items) == 1
    assert {item["duplicate_of"] for item in crawl.dropped} == {site.url(f"/{crawl.stored[0]}")}
    assert len(crawl.dropped) == 7


def test_without_the_addon_all_are_stored():
    with serving(SIX) as site:
        crawl = run_crawl([site.url(path) for path in SIX], {"ADDONS": {}})
    assert len(crawl.items) == 6
    assert crawl.counts() == {}


# --- what happens to items --------------------------------------------------------------

TWO: Pages = {"/1": page(FERRY, "The ferry"), "/2": page(FERRY, "The ferry")}


@pytest.mark.slow
@pytest.mark.parametrize("item", ["dict", "dataclass", "attrs", "pydantic", "scrapy"])
def test_items_of_any_kind_are_tagged(item):
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], {"NEARDUP_ACTION": "tag"}, item=item)
    tags = {stored["path"]: stored.get("neardup") for stored in crawl.items}
    original = next(path for path, tag in tags.items() if tag is None)
    copy = next(path for path, tag in tags.items() if tag is not None)
    assert tags[copy] == {"of": site.url(f"/{original}"), "distance": 0, "similarity": 1.0}
    assert crawl.counts("items/") == {"kept": 1, "tagged": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "item", ["closed", "closed dataclass", "closed attrs", "closed pydantic", "frozen"]
)
def test_untaggable_item_is_kept_and_logged_once(item):
    pages = {**TWO, "/3": TWO["/1"]}
    with serving(pages) as site:
        crawl = run_crawl([site.url(p) for p in pages], {"NEARDUP_ACTION": "tag"}, item=item)
    assert crawl.stored == ["1", "2", "3"]
    assert all(item.get("neardup") is None for item in crawl.items)
    assert crawl.counts("items/") == {"kept": 1, "untagged": 2}
    [warning] = crawl.logged("WARNING")
    assert "have no field 'neardup' that can be set" in warning
    assert not any(text.startswith("Tagged") for text in crawl.logged("DEBUG"))


def test_report_action_changes_nothing():
    pages = {
        "/1": page(FERRY, "The ferry", links="/a"),
        "/2": page(FERRY, "The ferry", links="/b"),
        "/a": page(MUSEUM, "The museum"),
        "/b": page(TEA, "茶叶博物馆"),
    }
    settings = {"NEARDUP_ACTION": "report", "NEARDUP_LINKS": "skip"}
    with serving(pages) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
    assert crawl.stored == ["1", "2", "a", "b"]
    assert all("neardup" not in item for item in crawl.items)
    assert crawl.counts("items/") == {"kept": 3, "reported": 1}
    [report] = crawl.logged("DEBUG", "scrapy_neardup.pipelines")
    assert report.startswith(f"Would drop an item of <{site.url('/')}")
    assert "near-duplicate of" in report
    assert crawl.counts("pages/") == {"new": 3, "duplicate": 1}


def test_a_page_is_judged_once_however_many_items_it_yields():
    with serving(TWO) as site:
        # Of a page of several items a copy's are dropped where they are equal.
        urls = [site.url("/1"), site.url("/1", "localhost")]
        crawl = run_crawl(urls, items_per_page=3)
        other = run_crawl([site.url("/1"), site.url("/2")], items_per_page=3)
    assert len(crawl.items) == len(crawl.dropped) == 3
    assert len(other.items) == other.counts()["kept_items"] + 3 == 6
    assert crawl.counts("pages/") == {"new": 1, "duplicate": 1}
    assert sorted(judged["kind"] for judged in crawl.judged) == ["duplicate", "new"]


def test_one_object_sent_several_times_is_judged_each_time():
    with serving(TWO) as site:
        urls = [site.url("/1"), site.url("/1", "localhost")]
        crawl = run_crawl(urls, item="shared", items_per_page=3)
    assert len(crawl.items) == len(crawl.dropped) == 3
    assert "neardup/items/unjudged" not in crawl.stats


def test_components_without_the_judge_name_it_in_the_error():
    settings = {
        "ADDONS": {},
        "ITEM_PIPELINES": {"scrapy_neardup.NearDupPipeline": 100},
        "SPIDER_MIDDLEWARES": {"scrapy_neardup.NearDupSpiderMiddleware": 100},
        "DOWNLOADER_MIDDLEWARES": {"scrapy_neardup.NearDupDownloaderMiddleware": 25},
        "DUPEFILTER_CLASS": "scrapy_neardup.NearDupDupeFilter",
    }
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
        assert crawl.stored == ["1", "2"]
        missing = [text for text in crawl.logged("WARNING", "scrapy") if "NearDupJudge is" in text]
        assert len(missing) == 3
        extension = {"EXTENSIONS": {"scrapy_neardup.NearDupJudge": 100}}
        assert (
            len(run_crawl([site.url("/1"), site.url("/2")], {**settings, **extension}).items) == 1
        )


def test_items_that_came_from_no_page_are_kept():
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1")], start_items=[{"path": "start", "text": ""}])
    assert crawl.stored == ["1", "start"]
    assert crawl.counts("items/") == {"kept": 2, "unjudged": 1}


def test_items_that_another_pipeline_replaced_are_kept_and_counted():
    settings = {"ITEM_PIPELINES": {"tests.support.crawl.Replacing": 50}}
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
    assert crawl.stored == ["1", "2"]
    assert crawl.counts("items/") == {"kept": 2, "unjudged": 2}


# --- what happens to links --------------------------------------------------------------

LINKED: Pages = {
    "/1": page(FERRY, "The ferry", links="/a"),
    "/2": page(FERRY, "The ferry", links="/b /c"),
    "/a": page(MUSEUM, "The museum"),
    "/b": page(TEA, "茶叶博物馆"),
    "/c": page(BRIDGE, "石桥通车"),
}
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1}


def test_links_of_a_duplicate_are_followed():
    with serving(LINKED) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], ONE_BY_ONE)
    assert sorted(site.hits) == ["/1", "/2", "/a", "/b", "/c"]
    assert len(crawl.items) == 4


def test_links_of_a_duplicate_are_skipped():
    with serving(LINKED) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], {**ONE_BY_ONE, "NEARDUP_LINKS": "skip"})
    links = {"/1": 1, "/2": 2}[f"/{crawl.dropped[0]['path']}"]
    assert crawl.stats["neardup/links/skipped"] == links
    assert sum(site.hits.values()) == 2 + (3 - links)


# --- what is not judged -----------------------------------------------------------------


def test_response_without_text_passes_through_and_is_counted():
    pages: Pages = {
        "/json": Answer('{"a": 1}', "application/json"),
        "/json2": Answer('{"a": 1}', "application/json"),
        "/png": Answer(b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        "/xml": Answer("<?xml version='1.0'?><a/>", "application/xml"),
        "/css": Answer("a { color: red }", "text/css"),
        "/gone": Answer(page(FERRY), status=404),
        "/gone2": Answer(page(FERRY), status=404),
        "/empty": Answer(""),
        "/empty2": Answer(""),
        "/blank": "<html><body><script>x</script></body></html>",
        "/short": "<html><body><p>Closed on Mondays.</p></body></html>",
        "/plain": Answer(FERRY, "text/plain"),
        "/fail": page(FERRY),
    }
    with serving(pages) as site:
        crawl = run_crawl([site.url(path) for path in pages])
    assert crawl.stored == sorted(path[1:] for path in pages if path != "/fail")
    assert crawl.counts("skipped/") == {"not_text": 5, "status": 2, "callback_failed": 1}
    assert crawl.counts("undecided/") == {"no_text": 3, "few_features": 1}
    assert crawl.counts("pages/") == {"undecided": 4, "new": 1}
    assert crawl.stats["neardup/responses"] == len(pages)


def test_a_page_that_yields_nothing_is_counted_and_not_remembered():
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1")], items_per_page=0)
    assert crawl.counts() == {"responses": 1, "skipped/no_output": 1}


def test_failing_custom_part_loses_no_page():
    settings = {"NEARDUP_TOKENIZER": "tests.support.parts.never"}
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
    assert crawl.stored == ["1", "2"]
    assert crawl.counts("undecided/") == {"failed": 2}
    [warning] = crawl.logged("WARNING")
    assert "ZeroDivisionError" in warning
    assert site.url("/") in warning


def test_failing_extractor_loses_no_page():
    settings = {"NEARDUP_EXTRACTOR": "tests.support.parts.never"}
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings)
    assert crawl.stored == ["1", "2"]
    assert crawl.counts("undecided/") == {"extraction_failed": 2}
    assert len(crawl.logged("WARNING")) == 1


# --- per request, per run ---------------------------------------------------------------


@pytest.mark.parametrize("wish", [False, "off", "0"])
def test_request_meta_disables_a_request(wish):
    with serving(TWO) as site:
        meta = {site.url("/2"): {"neardup": wish}}
        crawl = run_crawl([site.url("/1"), site.url("/2")], meta=meta)
    assert crawl.stored == ["1", "2"]
    assert crawl.counts("skipped/") == {"disabled": 1}


def test_a_request_can_have_thresholds_of_its_own():
    words = article(400)
    pages = {
        "/1": page(" ".join(words), "Words"),
        "/2": page(" ".join(replaced(words, 0.02)), "Words"),
        "/3": page(" ".join(replaced(words, 0.03)), "Words"),
    }
    with serving(pages) as site:
        meta: dict[str, dict[str, Any]] = {
            site.url("/2"): {"neardup": {"min_similarity": 1}},
            site.url("/3"): {"neardup": {"action": "tag"}},
        }
        crawl = run_crawl([site.url(path) for path in pages], ONE_BY_ONE, meta=meta)
    assert crawl.stored == ["1", "2", "3"]
    assert [item["path"] for item in crawl.items if "neardup" in item] == ["3"]


@pytest.mark.slow
@pytest.mark.parametrize("wish", [{"max_distance": 12}, {"distance": 3}, "perhaps", 7])
def test_invalid_meta_is_logged_and_keeps_the_page(wish):
    with serving(TWO) as site:
        meta = {site.url(path): {"neardup": wish} for path in TWO}
        crawl = run_crawl([site.url(path) for path in TWO], meta=meta)
    assert crawl.stored == ["1", "2"]
    assert crawl.counts("skipped/") == {"bad_meta": 2}
    [warning] = crawl.logged("WARNING")
    assert "neardup" in warning
    assert "must be" in warning


def test_each_error_in_meta_is_logged_once_up_to_ten():
    wishes = [{"max_distance": 12}, {"max_distance": 12}, *range(2, 20)]
    pages = {f"/{n}": page(FERRY) for n, _ in enumerate(wishes)}
    with serving(pages) as site:
        meta = {site.url(f"/{n}"): {"neardup": wish} for n, wish in enumerate(wishes)}
        crawl = run_crawl([site.url(path) for path in pages], ONE_BY_ONE, meta=meta)
    assert crawl.counts("skipped/") == {"bad_meta": len(wishes)}
    warnings = crawl.logged("WARNING")
    assert len(warnings) == 10
    assert "'max_distance'] is 12, but" in warnings[0]
    assert "is 2, but" in warnings[1]
    assert all("counted in neardup/skipped/bad_meta" in text for text in warnings)
    assert [n for n, text in enumerate(warnings) if "Further warnings" in text] == [9]


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [({}, {"neardup": "off"}), ({"NEARDUP_ENABLED": "false"}, {}), ({"NEARDUP_ENABLED": 0}, {})],
)
def test_spider_argument_disables_a_run(settings, arguments):
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings, arguments=arguments)
    assert crawl.stored == ["1", "2"]
    assert crawl.counts() == {}
    assert crawl.logged("WARNING") == []


def test_addon_is_disabled_in_contract_checks():
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/2")], environment={"SCRAPY_CHECK": "true"})
    assert crawl.stored == ["1", "2"]
    assert crawl.counts() == {}


# --- scope and revisits -----------------------------------------------------------------


@pytest.mark.parametrize(("scope", "stored"), [("all", 1), ("site", 2)])
def test_scope(scope, stored):
    with serving(TWO) as site:
        start = [site.url("/1"), site.url("/2"), site.url("/1", "localhost")]
        crawl = run_crawl(start, {"NEARDUP_SCOPE": scope})
    assert len(crawl.items) == stored


def test_same_url_again_is_a_revisit_and_stored():
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1"), site.url("/1")], dont_filter=True)
    assert crawl.stored == ["1", "1"]
    assert crawl.counts("pages/") == {"new": 1, "revisit": 1}


# --- items judged by a field ------------------------------------------------------------


def test_items_are_judged_by_their_field():
    texts = [FERRY, MUSEUM, f"<p>{FERRY}</p>", "", TEA]
    with serving({"/1": page("nothing of importance")}) as site:
        crawl = run_crawl(
            [site.url("/1")], {"NEARDUP_ITEM_FIELD": "text"}, items_per_page=5, texts=texts
        )
    assert sorted(item["text"] for item in crawl.items) == sorted([FERRY, MUSEUM, "", TEA])
    [dropped] = crawl.dropped
    assert dropped["text"] == f"<p>{FERRY}</p>"
    assert (dropped["url"], dropped["duplicate_of"]) == (
        site.url("/1#item-3"),
        site.url("/1#item-1"),
    )
    assert crawl.counts("judged_items/") == {"new": 3, "duplicate": 1, "undecided": 1}
    assert crawl.counts("undecided/") == {"no_text": 1}
    assert len(crawl.judged) == 5


def test_items_of_any_response_are_judged_by_their_field():
    pages = {f"/{n}": Answer('{"a": 1}', "application/json") for n in range(3)}
    with serving(pages) as site:
        crawl = run_crawl(
            [site.url(path) for path in pages], {"NEARDUP_ITEM_FIELD": "text"}, texts=[MUSEUM]
        )
    assert len(crawl.items) == 1


def test_an_item_without_the_field_is_kept():
    with serving(TWO) as site:
        crawl = run_crawl([site.url(path) for path in TWO], {"NEARDUP_ITEM_FIELD": "body"})
    assert crawl.stored == ["1", "2"]
    assert crawl.counts("undecided/") == {"no_field": 2}
    assert crawl.logged("WARNING") == []


# --- requests that are not made ---------------------------------------------------------


LED_BACK: Pages = {
    "/1": page(FERRY, "The ferry", links="/3"),
    "/2": page(FERRY, "The ferry"),
    # What comes last is fetched first: the original is met again before the copy is asked for.
    "/3": page(MUSEUM, "The museum", links="/4 /1"),
    "/4": page(BRIDGE, "A bridge", links="/2"),
}
IN_ORDER = {
    "CONCURRENT_REQUESTS": 1,
    "DOWNLOAD_DELAY": 0.3,
    "NEARDUP_DUPLICATE_URL_TTL": 3600,
    "NEARDUP_URL_RULES_SAMPLE_RATE": 0,
}


@pytest.mark.parametrize("ttl", [3600, "inf"])
def test_url_known_to_lead_to_a_duplicate_is_refused(ttl):
    settings = {**IN_ORDER, "NEARDUP_DUPLICATE_URL_TTL": ttl}
    with serving(LED_BACK) as site:
        # Scrapy's own filter does not know what was requested with dont_filter.
        crawl = run_crawl([site.url("/1"), site.url("/2")], settings, dont_filter=True)
        assert site.hits["/2"] == 1
    assert crawl.stored == ["1", "1", "3", "4"]
    assert crawl.stats["neardup/requests/refused"] == 1
    # The other is the link to /3 of the page that was met again.
    assert crawl.stats["dupefilter/filtered"] == 2
    assert any("leads to a near-duplicate" in text for text in crawl.logged("DEBUG"))


@pytest.mark.slow
@pytest.mark.parametrize(("status", "hits"), [(301, 1), (302, 2)])
def test_url_with_a_permanent_redirect_to_a_duplicate_is_refused(status, hits):
    pages: Pages = {
        **LED_BACK,
        "/go": Answer(status=status, headers={"Location": "/2"}),
        "/4": page(BRIDGE, "A bridge", links="/go"),
    }
    with serving(pages) as site:
        crawl = run_crawl([site.url("/1"), site.url("/go")], IN_ORDER, dont_filter=True)
        assert (site.hits["/go"], site.hits["/2"]) == (hits, 1)
    assert crawl.stats["neardup/requests/refused"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "meta"),
    [({"NEARDUP_ACTION": "tag"}, {}), ({"NEARDUP_ACTION": "report"}, {}), ({}, {"neardup": False})],
)
def test_url_of_a_kept_duplicate_is_fetched(settings, meta):
    with serving(LED_BACK) as site:
        run_crawl(
            [site.url("/1"), site.url("/2")],
            {**IN_ORDER, **settings},
            dont_filter=True,
            meta={site.url("/2"): meta},
        )
        assert site.hits["/2"] == 2


def test_the_projects_own_dupefilter_is_wrapped():
    settings = {"DUPEFILTER_CLASS": "tests.support.crawl.Counting"}
    pages = {"/1": page(FERRY, links="/1")}
    with serving(pages) as site:
        crawl = run_crawl([site.url("/1")], settings)
    assert crawl.stats["dupefilter/filtered"] == 1
    assert any("Filtered duplicate request" in text for _, _, text in crawl.log)


# --- settings ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("NEARDUP_ENABLED", "maybe", "'on' or 'off' (or True, False, 1, 0)"),
        ("NEARDUP_MAX_DISTANCE", 12, "a whole number from 0 to 11"),
        ("NEARDUP_MAX_DISTANCE", "3.5", "a whole number from 0 to 11"),
        ("NEARDUP_MIN_SIMILARITY", "high", "a number from 0 to 1"),
        ("NEARDUP_ACTION", "delete", "one of 'drop', 'tag', 'report'"),
        ("NEARDUP_LINKS", "ignore", "one of 'follow', 'skip'"),
        ("NEARDUP_SCOPE", "host", "'all' or 'site'"),
        ("NEARDUP_ITEM_FIELD", 5, "a name"),
        ("NEARDUP_REVISIT", "skip", "one of 'store', 'drop'"),
        ("NEARDUP_NAMESPACE", 5, "a name"),
        ("NEARDUP_TTL", 0, "a number of seconds above 0"),
        ("NEARDUP_MAX_WAIT", "long", "a number of seconds above 0"),
        ("NEARDUP_ON_STORE_ERROR", "ignore", "one of 'keep', 'stop'"),
        ("NEARDUP_URL_RULES", "yes", "one of 'off', 'report', 'on'"),
        ("NEARDUP_ITEM_LOG_LEVEL", "loud", "one of 'DEBUG', 'INFO', 'WARNING', 'OFF'"),
        ("NEARDUP_ITEM_LOG_LEVEL", 10, "one of 'DEBUG', 'INFO', 'WARNING', 'OFF'"),
        ("NEARDUP_URL_RULES_SAMPLE_RATE", "1.5", "a number from 0 to 1"),
        ("NEARDUP_CLUSTER_BUDGET", 0, "a whole number of 1 or more"),
        ("NEARDUP_CONTAINMENT_FIELD", "", "the name of a field"),
        ("NEARDUP_CONTAINMENT_FIELD", 5, "the name of a field"),
        ("NEARDUP_DUPLICATE_URL_TTL", -1, "a number of seconds of 0 or more"),
        ("NEARDUP_LINKS_MIN_DEPTH", 0.5, "a whole number of 0 or more"),
        ("NEARDUP_RECOVER", "perhaps", "'on' or 'off'"),
        ("NEARDUP_STORE", "sqlite:///", "'sqlite:///relative/path' or 'sqlite:////absolute/path'"),
        ("NEARDUP_MIN_FEATURES", -1, "a whole number of 0 or more"),
        ("NEARDUP_IDF", "german", "one of 'multilingual', 'none'"),
        ("NEARDUP_TOKENIZER", "jeiba", "'auto', 'jieba', 'rjieba', 'pairs'"),
        ("NEARDUP_EXTRACTOR", "tests.support.parts.absent", "a valid import path"),
        ("NEARDUP_STORE", "mysql://", "'memory'"),
        ("NEARDUP_WORKERS", "-1", "a whole number of 0 or more"),
        ("NEARDUP_WORKERS", 1.5, "a whole number of 0 or more"),
        ("NEARDUP_PAGE_TIMEOUT", 0, "a number of seconds above 0"),
        ("NEARDUP_PAGE_TIMEOUT", "nan", "a number of seconds above 0, at most 1000000"),
        ("NEARDUP_WORKER_MEMORY", "1G", "a whole number of 0 or more"),
        ("NEARDUP_MAX_TAGS", 0, "a whole number of 1 or more"),
        ("NEARDUP_MAX_NESTING", "9999", "a whole number from 1 to 2000"),
    ],
)
def test_a_wrong_value_is_refused_at_start(setting, value, expected):
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1")], {setting: value})
        assert not site.hits
    assert any(
        level == "CRITICAL" and setting in text and "must be" in text and expected in text
        for _, level, text in crawl.log
    ), crawl.log


def test_a_wrong_spider_argument_is_refused_at_start():
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1")], arguments={"neardup": "of"})
        assert not site.hits
    [refusal] = [text for _, level, text in crawl.log if level == "CRITICAL"]
    assert "spider argument neardup is 'of', but it must be 'on' or 'off'" in refusal


def test_an_unknown_setting_is_reported_with_the_name_that_is_meant():
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1")], {"NEARDUP_MAX_DISTANSE": 3})
    [warning] = crawl.logged("WARNING")
    assert "NEARDUP_MAX_DISTANSE" in warning
    assert "did you mean NEARDUP_MAX_DISTANCE?" in warning


def test_numbers_may_come_from_the_command_line():
    settings = {"NEARDUP_MAX_DISTANCE": "3", "NEARDUP_MIN_SIMILARITY": "0.9"}
    with serving(TWO) as site:
        crawl = run_crawl([site.url("/1")], settings)
    [start] = [text for text in crawl.logged("INFO") if text.startswith("Dropping")]
    assert "resemblance at least 0.9 (min_similarity)" in start
    assert "Hamming distance at most 3 of 64 bits (max_distance)" in start


def test_one_message_at_the_start_and_one_at_the_end():
    with serving(SIX) as site:
        crawl = run_crawl([site.url(path) for path in SIX])
    start, end = crawl.logged("INFO")
    assert start.startswith(
        "Dropping near-duplicate pages: resemblance at least 0.73 (min_similarity), Hamming "
        "distance at most 11 of 64 bits (max_distance); "
        "texts of fewer than 20 distinct words (min_features) are kept unless whole pages are "
        "equal; pages of all sites are compared (scope all); links of duplicates are followed "
        "(links follow); items of unchanged pages are stored again (revisit store); tokenizer "
        "rjieba (jieba-"
    )
    assert start.endswith("idf multilingual; store memory, 0 pages known")
    assert end.startswith("Judged pages: duplicate 2, new 4; undecided for: none; passed over:")
    assert end.split("\n")[0].endswith("items: dropped 2, kept 4; 4 remembered")
    drops = [text for text in crawl.logged("DEBUG") if text.startswith("Dropped an item of <")]
    assert len(drops) == 2
    assert not any(text.startswith("Dropped: ") for _, _, text in crawl.log)
    assert crawl.logged("WARNING") == []
