"""Crawl the example site; show the stored pages, and the dropped pages with their originals.

Run ``make demo`` at the root of the repository, or ``python demo.py`` here. The site is served on
loopback by a process of its own; two spiders crawl it side by side. At the end the stored pages
are compared with the ones written down in website/expected.json, and any difference makes the
exit status 1.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import scrapy
from neardup_example.extensions import Ledger
from neardup_example.table import format_table
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.utils.project import get_project_settings

HERE = Path(__file__).parent
EXPECTED = HERE / "website" / "expected.json"

#: Where each spider starts on the newspaper's host.
STARTS = {"site": "/", "shop": "/shop/"}

Label = Callable[[str], str]


def main() -> int:
    options = parse_options()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # titles are Chinese, whatever the console is
    with website() as (news, mirror):
        crawlers = crawl(news, reactor=options.reactor, report=options.report)
    label = labels(news, mirror)
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    results = {name: result(crawler, label) for name, crawler in crawlers.items()}
    for name, found in results.items():
        found["differences"] = differences(expected[name], found)
        show(name, found, len(expected[name]))
    if options.json:
        text = json.dumps(results, ensure_ascii=False, indent=1, default=str)
        options.json.write_text(text, encoding="utf-8")
    return int(any(found["differences"] for found in results.values()))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument(
        "--no-reactor",
        dest="reactor",
        action="store_false",
        help="crawl without a Twisted reactor (TWISTED_REACTOR_ENABLED=False, Scrapy 2.15)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE")
    parser.add_argument(
        "--report", type=Path, metavar="FOLDER", help="write a page about each crawl to FOLDER"
    )
    options = parser.parse_args()
    if not options.reactor and scrapy.version_info < (2, 15):
        parser.error(f"--no-reactor needs Scrapy 2.15, this is {scrapy.__version__}")
    return options


@contextmanager
def website() -> Iterator[tuple[str, str]]:
    """Base URLs of both hosts, served by a child process that ends with its standard input."""
    command = [sys.executable, "-m", "website"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=HERE, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        news, mirror = process.stdout.readline().split()
        yield news, mirror


def crawl(news: str, *, reactor: bool, report: Path | None) -> dict[str, Crawler]:
    """Run both spiders in this process, each with a judge and a memory of its own."""
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "neardup_example.settings")
    settings = get_project_settings()
    if not reactor:
        settings["TWISTED_REACTOR_ENABLED"] = False
    if report:
        settings["NEARDUP_REPORT"] = str(report / "%(name)s.html")
        settings["NEARDUP_KEEP_TEXT"] = True
    process = AsyncCrawlerProcess(settings)
    crawlers = {name: process.create_crawler(name) for name in STARTS}
    for name, crawler in crawlers.items():
        process.crawl(crawler, url=news + STARTS[name])
    process.start()
    return crawlers


def labels(news: str, mirror: str) -> Label:
    """A function that writes a URL as expected.json does: ``news:/path`` or ``mirror:/path``."""

    def label(url: str) -> str:
        return unquote(url.replace(news, "news:", 1).replace(mirror, "mirror:", 1))

    return label


def result(crawler: Crawler, label: Label) -> dict[str, Any]:
    """What a crawl stored, dropped and counted."""
    ledger = crawler.get_extension(Ledger)
    assert ledger is not None
    assert crawler.stats is not None
    stats = crawler.stats.get_stats()
    return {
        "stored": [{"url": label(page.url), "title": page.title} for page in ledger.stored],
        "dropped": [
            {
                "url": label(drop.url),
                "duplicate_of": label(drop.duplicate_of or ""),
                "distance": drop.distance,
                "similarity": drop.similarity,
                "reason": drop.reason,
            }
            for drop in ledger.dropped
        ],
        "stats": {key: value for key, value in stats.items() if key.startswith("neardup/")},
    }


def differences(contents: list[dict[str, Any]], found: dict[str, Any]) -> list[str]:
    """Return a line for each difference between the stored pages and the expected contents.

    Any page of a content may be the stored one, because that depends on the order of responses.
    """
    content_of = {url: number for number, entry in enumerate(contents) for url in entry["urls"]}
    stored = {page["url"] for page in found["stored"]}
    lines = [f"stored, but not expected: {url}" for url in sorted(stored - set(content_of))]
    for content in contents:
        kept = sorted(stored.intersection(content["urls"]))
        if not kept:
            lines.append(f"lost: {content['name']}")
        elif len(kept) > 1:
            lines.append(f"stored {len(kept)} times: {content['name']}: {', '.join(kept)}")
    lines.extend(
        f"not one content: {drop['url']} and {drop['duplicate_of']}"
        for drop in found["dropped"]
        if content_of.get(drop["url"]) != content_of.get(drop["duplicate_of"])
    )
    return lines


def show(name: str, found: dict[str, Any], contents: int) -> None:
    times = Counter(page["url"] for page in found["stored"])
    titles = {page["url"]: page["title"] for page in found["stored"]}
    stored = [[str(times[url]), url, titles[url]] for url in sorted(times)]
    dropped = [
        [
            drop["url"],
            drop["duplicate_of"],
            str(drop["distance"]),
            f"{drop['similarity']:.2f}",
            drop["reason"],
        ]
        for drop in sorted(found["dropped"], key=itemgetter("url"))
    ]
    print(f"\n=== {name}: {len(stored)} pages stored ===\n")
    print(format_table(["items", "page", "title"], stored))
    print(f"\n=== {name}: {len(dropped)} near-duplicates dropped ===\n")
    print(format_table(["page", "duplicate of", "distance", "similarity", "reason"], dropped))
    if found["differences"]:
        heading = f"\n{name}: the stored pages DIFFER from website/expected.json:"
        print(heading, *found["differences"], sep="\n  ")
    else:
        print(f"\n{name}: the stored pages match website/expected.json ({contents} contents)")


if __name__ == "__main__":
    sys.exit(main())
