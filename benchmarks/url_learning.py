"""What learning from URLs saves, on generated sites whose truth is known.

    python benchmarks/url_learning.py --seed 1 2 3 [--change both] [--json FILE] [--docs docs]

Each site is crawled once by each method, in a process of its own: with Scrapy's own filter, where
everything is fetched, judged and dropped after the fact; with NEARDUP_URL_RULES = "report"
and "on"; and with MaybeDont's middleware (``pip install --group benchmarks``). Printed are
fetches, unique pages stored, how many of the superfluous fetches, those beyond the first of each
content, are saved, and how long the dupefilter took for each request: in the crawl, where all else
leaves the caches cold, and with "on" one after the other when it is over. The site that changes
gives parameters that meant nothing a meaning, when as many pages have been answered as it has
contents.

The exit status is 1 when something that has to be reached is not.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring import apart, at_least_one
from peers import Package
from url_crawl import UrlCrawl, UrlJob, crawl
from url_report import Result, Run, as_text, write_docs, write_json
from url_seen import fresh_urls
from url_site import UrlSite

from scrapy_neardup.crawl.settings import SETTINGS

_PAGES, _URLS = 2000, 20_000
#: URLs that the dupefilter is asked for when it has learned.
_FRESH = 4000
_SEEDS = (1, 2, 3)
_SERVER = Path(__file__).with_name("url_server.py")
_LEARN = "NEARDUP_URL_RULES"
_MAYBE_DONT = Package("MaybeDont", "MaybeDont", "maybe_dont")


@dataclass(frozen=True)
class Method:
    """A way to crawl.

    :ivar needs: a setting of ours without which there is nothing to measure.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    maybe_dont: bool = False

    @property
    def trouble(self) -> str:
        """Why it cannot take part; empty when it can."""
        if self.maybe_dont:
            return _MAYBE_DONT.trouble
        unknown = [name for name in self.settings if name not in SETTINGS]
        return f"there is no setting {', '.join(unknown)}" if unknown else ""

    @property
    def title(self) -> str:
        return _MAYBE_DONT.title if self.maybe_dont else self.name


METHODS = {
    "off": Method("Scrapy's filter"),
    "report": Method("report", {_LEARN: "report"}),
    "on": Method("on", {_LEARN: "on"}),
    "maybedont": Method("MaybeDont", maybe_dont=True),
}


@contextmanager
def served(site: UrlSite, pages: int, urls: int, change_after: int | None) -> Iterator[str]:
    """The site, served by a process of its own; its address as a proxy."""
    command: list[object] = [sys.executable, _SERVER, "--seed", site.seed]
    command += ["--pages", pages, "--urls", urls]
    if change_after:
        command += ["--change-after", change_after]
    pipe = subprocess.PIPE
    with subprocess.Popen([*map(str, command)], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"


def crawled(
    seed: int,
    method: str,
    pages: int = _PAGES,
    urls: int = _URLS,
    *,
    change: bool = False,
    settings: Sequence[tuple[str, str]] = (),
) -> Run:
    """Crawl a site by one method, and say what there was to be found."""
    site = UrlSite(seed, pages, urls, changes=change)
    how = METHODS[method]
    learn = {_LEARN: "off"} if _LEARN in SETTINGS else {}
    with served(site, pages, urls, pages if change else None) as proxy:
        given = {**learn, **how.settings, **dict(settings)}
        fresh = [*fresh_urls(site.urls, _FRESH, seed)] if method == "on" else ()
        job = UrlJob(site.start_url, proxy, given, how.maybe_dont, seed, fresh)
        came: UrlCrawl = apart(crawl, job)
    contents = [content.id for content in (*site.contents, *site.later)]
    superfluous = None if change else len(site.urls) - len(contents)
    return Run(seed, change, method, how.title, contents, superfluous, came)


def examine(options: argparse.Namespace) -> Result:
    """Crawl all sites by all methods, and say on the standard error how far it is."""
    changes = {"never": [False], "half-way": [True], "both": [False, True]}[options.change]
    taking = [name for name in options.only if not METHODS[name].trouble]
    result = Result(
        troubles={METHODS[n].name: METHODS[n].trouble for n in options.only if n not in taking}
    )
    for change in changes:
        for seed in options.seed:
            for name in taking:
                print(f"seed {seed}, {METHODS[name].title}", file=sys.stderr, flush=True)
                result.runs.append(
                    crawled(
                        seed,
                        name,
                        options.pages,
                        options.urls,
                        change=change,
                        settings=options.settings,
                    )
                )
    return result


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").partition("\n")[0], allow_abbrev=False
    )
    add = parser.add_argument
    add("--seed", type=int, nargs="+", default=[*_SEEDS], metavar="N", help="which sites")
    add("--pages", type=at_least_one, default=_PAGES, metavar="N", help="contents of a site")
    add("--urls", type=at_least_one, default=_URLS, metavar="N", help="URLs of a site")
    add("--change", choices=("never", "half-way", "both"), default="never")
    add("--only", choices=METHODS, nargs="+", default=[*METHODS], help="some methods")
    add("--json", type=Path, metavar="FILE")
    add("--docs", type=Path, metavar="FOLDER", help="where to write the page")
    add(
        "--set",
        dest="settings",
        type=_setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting for all crawls (repeatable)",
    )
    options = parser.parse_args()
    try:
        UrlSite(1, options.pages, options.urls)
    except ValueError as error:
        parser.error(str(error))
    return options


def command(options: argparse.Namespace) -> str:
    """What to type for another run like this one."""
    words = ["python", "benchmarks/url_learning.py", "--seed", *map(str, options.seed)]
    words += ["--change", options.change]
    for name, usual in (("pages", _PAGES), ("urls", _URLS)):
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
