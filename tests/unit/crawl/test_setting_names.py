from __future__ import annotations

import pytest
from scrapy.settings import Settings

from scrapy_neardup.crawl.setting_names import (
    SYNONYMS,
    closing_settings,
    ineffective_settings,
    unknown_settings,
)
from scrapy_neardup.crawl.settings import PREFIX, SETTINGS, Config

NONE: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TRESHOLD", ("MAX_DISTANCE", "MIN_SIMILARITY")),
        ("SIMILARITY_THRESHOLD", ("MIN_SIMILARITY",)),
        ("HAMMING_DISTANCE", ("MAX_DISTANCE",)),
        ("MAX_DISTANSE", ("MAX_DISTANCE",)),
        ("DISTANCE", ("MAX_DISTANCE",)),
        ("REDIS_URL", ("STORE",)),
        ("DATABASE", ("STORE",)),
        ("TIMEOUT", ("PAGE_TIMEOUT",)),
        ("NUM_WORKERS", ("WORKERS",)),
        ("ENABLE", ("ENABLED",)),
        ("FIELD", ("ITEM_FIELD", "CONTAINMENT_FIELD")),
        ("REVISITS", ("REVISIT",)),
        ("MAX_COLOUR", NONE),
        ("FROBNICATE", NONE),
        ("", NONE),
        ("X", NONE),
    ],
)
def test_unknown_setting_name_gets_suggestions(name, meant):
    [said] = unknown_settings(Settings({PREFIX + name: 1}))
    hint = "; did you mean " + " or ".join(PREFIX + option for option in meant) + "?"
    expected = f"{PREFIX}{name} is not a known setting, so it is ignored"
    assert said == expected + (hint if meant else "")


def test_synonyms_name_existing_settings():
    assert {PREFIX + name for name in SYNONYMS} <= set(SETTINGS)


@pytest.mark.parametrize("name", ["CLOSESPIDER_TIMEOUT_NO_ITEM", "CLOSESPIDER_PAGECOUNT_NO_ITEM"])
def test_limits_that_dropped_items_do_not_reset_are_named(name):
    [said] = closing_settings(Settings({name: 60}), "drop")
    assert said.startswith(f"{name} does not count the items of duplicates")
    assert not [*closing_settings(Settings({name: 60}), "tag")]
    assert not [*closing_settings(Settings({"CLOSESPIDER_TIMEOUT": 60}), "drop")]


@pytest.mark.parametrize(
    ("name", "value", "lacks", "other"),
    [
        ("NEARDUP_RECOVER", "True", "without JOBDIR", {"JOBDIR": "job"}),
        ("NEARDUP_KEEP_TEXT", True, "without NEARDUP_REPORT", {"NEARDUP_REPORT": "report.html"}),
        ("NEARDUP_MAX_DISTANCE", 3, "with NEARDUP_METHOD", {}),
        (
            "NEARDUP_CLUSTER_BUDGET",
            "5",
            "without NEARDUP_URL_RULES = 'on'",
            {"NEARDUP_URL_RULES": "on"},
        ),
        (
            "NEARDUP_LINKS_MIN_DEPTH",
            1,
            "without NEARDUP_LINKS = 'skip'",
            {"NEARDUP_LINKS": "skip"},
        ),
        (
            "NEARDUP_BODY_CACHE",
            256,
            "without NEARDUP_EXTRACTION = 'lazy'",
            {"NEARDUP_EXTRACTION": "lazy"},
        ),
        (
            "NEARDUP_METRICS_INTERVAL",
            "5",
            "without NEARDUP_METRICS",
            {"NEARDUP_METRICS": "crawl.prom"},
        ),
    ],
)
def test_settings_without_effect_are_named(name, value, lacks, other):
    def said(**given):
        settings = Settings(given)
        return [*ineffective_settings(settings, Config.from_settings(settings))]

    method = {"NEARDUP_METHOD": "simhash"} if lacks.endswith("METHOD") else {}
    [warning] = said(**{name: value}, **method)
    assert warning.startswith(f"{name} has no effect {lacks}: ")
    assert said(**{name: value}, **other) == []
    off = {"NEARDUP_CLUSTER_BUDGET": None, "NEARDUP_LINKS_MIN_DEPTH": "0"}
    assert said(NEARDUP_RECOVER="False", NEARDUP_KEEP_TEXT="0", **off) == []
    by_default = Settings()
    by_default.set(name, value, "default")
    assert [*ineffective_settings(by_default, Config.from_settings(by_default))] == []


@pytest.mark.parametrize(
    ("more", "is_warned"),
    [
        ({}, True),
        ({"NEARDUP_BODY_CACHE": "1"}, False),
        ({"NEARDUP_ITEM_FIELD": "text"}, False),
        ({"NEARDUP_MIN_SIMILARITY": "0.4"}, False),
    ],
)
def test_lazy_extraction_without_bodies_is_warned_of(more, is_warned):
    settings = Settings({"NEARDUP_EXTRACTION": "lazy", "NEARDUP_BODY_CACHE": "0", **more})
    said = [*ineffective_settings(settings, Config.from_settings(settings))]
    assert len(said) == is_warned
    start = "NEARDUP_BODY_CACHE is 0, so NEARDUP_EXTRACTION = 'lazy' finds next to no copies: "
    assert all(text.startswith(start) for text in said)
