"""Crawls generated sites by several methods: Scrapy's filter, URL rules, MaybeDont."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from scrapy_neardup.crawl.settings import SETTINGS

from ..common.measuring import apart
from ..common.options import say
from ..common.packages import Package
from ..common.programs import environment, module_command
from .crawl import UrlCrawl, UrlJob, crawl
from .report import Result, Run
from .request_seen import fresh_urls
from .site import UrlSite

PAGES, URLS = 2000, 20_000
#: URLs that the dupefilter is asked for when it has learned.
_FRESH = 4000
_LEARN = "NEARDUP_URL_RULES"
_MAYBE_DONT = Package("MaybeDont", "MaybeDont", "benchmarks.url_rules.maybe_dont")


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
        """The reason why the method cannot be measured; empty if it can."""
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
    options = ["--seed", site.seed, "--pages", pages, "--urls", urls]
    if change_after:
        options += ["--change-after", change_after]
    command = module_command("benchmarks.url_rules.server", *options)
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment(), stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"


def crawled(
    seed: int,
    method: str,
    pages: int = PAGES,
    urls: int = URLS,
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
                say(f"seed {seed}, {METHODS[name].title}")
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
