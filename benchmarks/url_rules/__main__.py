"""Measures the requests that URL rules save on generated sites with known duplicates.

Each site is crawled once by each method, in a process of its own: with Scrapy's own filter, where
everything is fetched, judged and dropped after the fact; with NEARDUP_URL_RULES = "report"
and "on"; and with MaybeDont's middleware (``pip install --group benchmarks``). Printed are
fetches, unique pages stored, how many of the superfluous fetches, those beyond the first of each
content, are saved, and how long the dupefilter took for each request: in the crawl, where all else
leaves the caches cold, and with "on" one after the other when it is over. The site that changes
gives parameters that meant nothing a meaning, when as many pages have been answered as it has
contents.

The exit status is 1 if a goal is not reached.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from ..common.options import add_settings, at_least, command_parser
from .learning import METHODS, PAGES, URLS, examine
from .report import as_text, write_docs, write_json
from .site import UrlSite

_NAME = "benchmarks.url_rules"
_SEEDS = (1, 2, 3)


def arguments() -> argparse.Namespace:
    parser = command_parser(_NAME, __doc__)
    add = parser.add_argument
    add("--seed", type=int, nargs="+", default=[*_SEEDS], metavar="N", help="which sites")
    add("--pages", type=at_least(1), default=PAGES, metavar="N", help="contents of a site")
    add("--urls", type=at_least(1), default=URLS, metavar="N", help="URLs of a site")
    add("--change", choices=("never", "half-way", "both"), default="never")
    add("--only", choices=METHODS, nargs="+", default=[*METHODS], help="some methods")
    add("--json", type=Path, metavar="FILE")
    add("--docs", type=Path, metavar="FOLDER", help="where to write the page")
    add_settings(parser, "a setting for all crawls")
    options = parser.parse_args()
    try:
        UrlSite(1, options.pages, options.urls)
    except ValueError as error:
        parser.error(str(error))
    return options


def command(options: argparse.Namespace) -> str:
    """Return the command line of this run."""
    words = ["python", "-m", _NAME, "--seed", *map(str, options.seed)]
    words += ["--change", options.change]
    for name, usual in (("pages", PAGES), ("urls", URLS)):
        if (value := getattr(options, name)) != usual:
            words += [f"--{name}", str(value)]
    if [*options.only] != [*METHODS]:
        words += ["--only", *options.only]
    for name, value in options.settings:
        words += ["--set", f"{name}={value}"]
    return shlex.join(words)


def main() -> int:
    options = arguments()
    result = examine(options)
    print(as_text(result))
    if options.json:
        write_json(result, options.json)
    if options.docs:
        write_docs(result, command(options), options.docs)
    return 0 if result.is_reached else 1


if __name__ == "__main__":
    sys.exit(main())
