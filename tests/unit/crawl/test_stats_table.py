"""The summary table at the end of the log, for stats of real crawls."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata

import pytest

from scrapy_neardup._util.escaping import on_one_line, printable
from scrapy_neardup._util.heavy_hitters import HeavyHitters
from scrapy_neardup.crawl.monitoring.crawl_log import summary
from scrapy_neardup.crawl.monitoring.duplicate_floods import DuplicateFlood

EVERYTHING = {
    "neardup/pages/new": 50,
    "neardup/pages/duplicate": 30,
    "neardup/pages/revisit": 15,
    "neardup/pages/undecided": 5,
    "neardup/revisits/changed": 5,
    "neardup/revisits/unchanged": 10,
    "neardup/undecided/few_features": 1,
    "neardup/undecided/no_text": 4,
    "neardup/skipped/not_text": 2,
    "neardup/skipped/status": 7,
    "neardup/items/kept": 60,
    "neardup/items/dropped": 40,
    "neardup/items/unjudged": 3,
    "neardup/bytes/judged": 2_000_000,
    "neardup/bytes/duplicate": 500_000,
    "neardup/requests/refused": 4,
    "neardup/url_rules/skipped": 26,
    **{f"neardup/url_rules/skipped/shop.example param p{n}": n for n in range(1, 6)},
    "neardup/url_rules/skipped/others": 11,
    "neardup/url_rules/would_skip": 2,
    "neardup/url_rules/refetched": 1,
    "neardup/links/skipped": 9,
    "neardup/workers_lost": 1,
    "neardup/bodies_evicted": 6,
    "neardup/store/errors": 3,
    "neardup/store/forgotten": 8,
    "item_scraped_count": 60,
}


EXPECTED = """\
  pages judged              100
    new                      50  50.0 %
    duplicate                30  30.0 %
    revisit                  15  15.0 %  unchanged 10, changed 5
    undecided                 5   5.0 %  no_text 4, few_features 1
  passed over                 9          status 7, not_text 2
  items kept                 60  60.0 %
  items dropped              40  40.0 %
  items unjudged              3   3.0 %
  bytes of duplicates  500.0 kB  25.0 %  of 2.0 MB judged
  requests refused            4
  requests skipped           26          others 11, {rules}
  would be skipped            2
  later fetched               1
  links skipped               9
  workers lost                1
  bodies evicted              6
  store failures              3
  pages forgotten             8
  swallowed by               40          https://shop.example/wall/0
                             40          https://shop.example/wall/1
                             40          https://shop.example/wall/2
                                         and 2 more, see the warnings above
  duplicates of               7          https://shop.example/7
                              6          https://shop.example/6
                              5          https://shop.example/5
                              4          https://shop.example/4
                              3          https://shop.example/3
  remembered                 50
  report                                 /tmp/report.html""".format(
    rules="shop.example param p5 5, shop.example param p4 4, and 3 more"
)


def swallowed(original: str, pages: int = 40, what: str = "duplicates") -> DuplicateFlood:
    return DuplicateFlood(what, "shop.example", original, original, 30, 50, 1, None, pages)


def table(stats=EVERYTHING, clusters=(), walls=(), report=None) -> list[str]:
    frequent = HeavyHitters()
    for url in clusters:
        frequent.add(url)
    return summary(stats, frequent, walls, "50", report).split("\n")


def test_a_table_with_everything():
    clusters = [f"https://shop.example/{n}" for n in range(8) for _ in range(n)]
    walls = [swallowed(f"https://shop.example/wall/{n}") for n in range(5)]
    lines = table(clusters=clusters, walls=walls, report="/tmp/report.html")
    assert "\n".join(lines) == EXPECTED


def test_empty_rows_are_left_out():
    assert table({}) == ["  remembered  50"]


@pytest.mark.parametrize("url", ["https://a.example/\x1b[31m", "https://a.example/\u202egpj.exe"])
def test_urls_are_printed_literally(url):
    for lines in (table(clusters=[url]), table(walls=[swallowed(url)]), table(report=url)):
        assert not any(unicodedata.category(c).startswith("C") for c in "".join(lines))
        assert any("https://a.example/\ufffd" in line for line in lines)


def test_a_new_line_and_markup_stay_in_their_row():
    lines = table({}, clusters=["https://a.example/\n[red]forged :smile:"])
    assert [line.split() for line in lines] == [
        ["duplicates", "of", "1", "https://a.example/\ufffd[red]forged", ":smile:"],
        ["remembered", "50"],
    ]


def test_an_address_is_on_one_line_and_not_endless():
    [line, _] = table({}, clusters=["https://a.example/" + "x" * 100 + "/" + "y" * 5000])
    assert "x" * 100 in line
    assert line.endswith("y...")
    assert len(line) < 200


def test_counts_that_may_be_too_low_say_so():
    frequent = HeavyHitters(capacity=1)
    for url in "aabca":
        frequent.add(url)
    assert frequent.error
    [line, _] = summary({}, frequent, [], "50", None).split("\n")
    assert line.startswith("  duplicates of, at least")


@pytest.mark.slow
def test_the_environment_changes_nothing():
    program = (
        "from scrapy_neardup._util.heavy_hitters import HeavyHitters\n"
        "from scrapy_neardup.crawl.monitoring.crawl_log import summary\n"
        "f = HeavyHitters(); f.add('https://a.example/' + 'x' * 120)\n"
        "print(summary({'neardup/pages/new': 1}, f, [], '1', None))\n"
    )
    forced = {"FORCE_COLOR": "1", "COLUMNS": "20", "TERM": "xterm-256color", "CLICOLOR_FORCE": "1"}
    plain, coloured = (
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True, text=True, check=True, env={**os.environ, **more},
        ).stdout
        for more in ({}, forced)
    )  # fmt: skip
    assert plain == coloured
    assert "\x1b" not in plain
    assert "x" * 120 in plain


def test_printable_keeps_what_is_read_and_nothing_else():
    assert printable("茶 tea\n") == "茶 tea\n"
    assert printable("a\x00\x1b\u200f\u2066b") == "a\ufffd\ufffd\ufffd\ufffdb"
    assert on_one_line("a\nb") == "a\ufffdb"
    assert on_one_line("abcdefgh", 8) == "abcdefgh"
    assert on_one_line("abcdefghi", 8) == "abcde..."
