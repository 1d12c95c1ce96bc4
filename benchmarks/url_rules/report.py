"""Formats the results of the URL rules benchmark."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any

from ..common.goals import Goal
from ..common.measuring import machine, machine_line, rounded
from ..common.tables import Table
from .crawl import UrlCrawl
from .request_seen import Times

PAGE = "learning.md"
_STATS = "neardup/url_rules/"
#: What has to be reached: of the superfluous fetches saved, of the unique pages stored.
_SAVED, _STORED = 0.8, 0.998
#: Contents and sections that are named.
_SHOWN, _SECTIONS = 20, 6
_HEAD = (
    "method",
    "fetched",
    "stored",
    "of",
    "superfluous",
    "saved, %",
    "would skip",
    "skipped",
    "in force",
    "withdrawn",
    "seconds",
    "MiB",
)
_SEEN_HEAD = ("crawl", "calls", "median", "mean", "99 %")
#: What was timed, see :class:`.request_seen.SeenTimes`.
_SEEN = {
    "whole": "all of it",
    "wrapped": "Scrapy's filter, which it asks first",
    "ours": "what it adds",
    "asked": "what it adds where Scrapy's has not seen the request",
    "alone": "all of it, fresh URLs one after the other",
}


@dataclass(frozen=True)
class Run:
    """A crawl of a site by a method.

    :ivar change: whether it is the site that changes.
    :ivar method: its short name; ``title`` is what it is called.
    :ivar contents: all that there is to be stored.
    :ivar all_superfluous: fetches that all URLs take beyond the first of each content, where that
        is known without a crawl.
    """

    seed: int
    change: bool
    method: str
    title: str
    contents: list[str]
    all_superfluous: int | None
    crawl: UrlCrawl

    @property
    def lost(self) -> list[str]:
        """Contents that were not stored."""
        return [name for name in self.contents if name not in self.crawl.stored]

    @property
    def stored(self) -> int:
        return len(self.contents) - len(self.lost)

    def learned(self, name: str) -> int | None:
        """Return a count of the learner; ``None`` for a method that does not learn."""
        if self.method not in ("report", "on"):
            return None
        return int(self.crawl.stats.get(_STATS + name, 0))

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "change": self.change,
            "method": self.title,
            "contents": len(self.contents),
            "lost": self.lost,
            "superfluous": self.crawl.superfluous,
            **vars(self.crawl),
            "seen": asdict(self.crawl.seen) if self.crawl.seen else None,
        }


@dataclass
class Result:
    """The results of all crawls.

    :ivar troubles: by method, why it could not take part.
    """

    runs: list[Run] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)

    def of(self, seed: int, method: str, *, change: bool) -> Run | None:
        for run in self.runs:
            if (run.seed, run.method, run.change) == (seed, method, change):
                return run
        return None

    def saved(self, run: Run) -> float | None:
        """The share of the superfluous fetches that a run has saved against Scrapy's filter."""
        without = self.of(run.seed, "off", change=run.change)
        all_of_them = without.crawl.superfluous if without else run.all_superfluous
        return 1 - run.crawl.superfluous / all_of_them if all_of_them else None

    @property
    def sites(self) -> list[tuple[int, bool]]:
        return list(dict.fromkeys((run.seed, run.change) for run in self.runs))

    @property
    def is_reached(self) -> bool:
        return all(goal.is_met is not False for goal in goals(self))


def _where(seed: int, *, change: bool) -> str:
    return f"seed {seed}" + (", changes" if change else "")


def goals(result: Result) -> list[Goal]:
    """Return the goals, with the figures of the worst site."""
    found = []
    for seed, change in result.sites:
        where = _where(seed, change=change)
        for method, bound in (("on", _STORED), ("report", 1.0)):
            if run := result.of(seed, method, change=change):
                share = run.stored / len(run.contents)
                name = f"{where}: unique pages stored, {run.title}"
                found.append(_goal(name, share, bound, len(run.contents), "pages"))
        run = result.of(seed, "on", change=change)
        if run and not change:
            found += _savings(result, run, where)
    return found


def _savings(result: Result, run: Run, where: str) -> list[Goal]:
    saved, fetched = result.saved(run), run.crawl.fetched.total()
    found = [_goal(f"{where}: superfluous fetches saved", saved, _SAVED, fetched, "fetches")]
    if other := result.of(run.seed, "maybedont", change=run.change):
        name = f"{where}: the same, against {other.title}"
        bound = result.saved(other) or 0.0
        found.append(_goal(name, saved, round(bound, 4), fetched, "fetches"))
    return found


def _goal(name: str, value: float | None, bound: float, n: int, of: str) -> Goal:
    return Goal(name, value, bound, n, of, at_most=False)


def goal_table(result: Result) -> Table:
    table = Table("goals", ("figure", "of", "measured", "to reach", "reached"))
    for goal in goals(result):
        # Of two thousand pages one is half a thousandth.
        cells = [*goal.row()]
        if goal.value is not None:
            cells[2] = f"{goal.value:.4f}"
        table.add(*cells)
    return table


def site_table(result: Result, seed: int, *, change: bool) -> Table:
    about = "that changes half-way" if change else "that stays as it is"
    table = Table(f"seed {seed}, a site {about}", _HEAD)
    for run in result.runs:
        if (run.seed, run.change) == (seed, change):
            table.add(*_row(result, run))
            table.notes += [*_spent(run), *_losses(run)]
    return table


def _row(result: Result, run: Run) -> list[object]:
    saved, came = result.saved(run), run.crawl
    learned = (run.learned(name) for name in ("would_skip", "skipped", "rules", "withdrawn"))
    return [
        run.title,
        came.fetched.total(),
        run.stored,
        len(run.contents),
        came.superfluous,
        "-" if saved is None else f"{100 * saved:.1f}",
        *("-" if count is None else count for count in learned),
        round(came.seconds),
        came.peak_bytes >> 20,
    ]


def _spent(run: Run) -> list[str]:
    """In which sections the superfluous fetches were, where some were to be saved."""
    by_section = Counter[str]()
    for content, times in run.crawl.fetched.items():
        by_section[content.partition("/")[0]] += times - 1
    if run.method == "off" or not by_section:
        return []
    most = ", ".join(f"{name} {number:,}" for name, number in by_section.most_common(_SECTIONS))
    return [f"{run.title}: superfluous, most of them: {most}"]


def _losses(run: Run) -> list[str]:
    """Return the lost contents, and whether they were not fetched or not stored."""
    notes = []
    if run.crawl.failed:
        notes.append(f"{run.title}: {run.crawl.failed} answers of no content")
    if twice := run.crawl.stored.total() - len(run.crawl.stored):
        notes.append(f"{run.title}: {twice} stored again")
    fetched = [name for name in run.lost if name in run.crawl.fetched]
    unfetched = [name for name in run.lost if name not in run.crawl.fetched]
    for how, names in (("never fetched", unfetched), ("fetched and not stored", fetched)):
        if names:
            more = ", …" if len(names) > _SHOWN else ""
            notes.append(f"{run.title}: {len(names)} {how}: {', '.join(names[:_SHOWN])}{more}")
    return notes


def seen_table(result: Result) -> Table:
    """Return a table of the dupefilter's times for the methods that learn."""
    table = Table("request_seen: processor time of one call, in microseconds", _SEEN_HEAD)
    for run in result.runs:
        if run.crawl.seen is None or run.method not in ("report", "on"):
            continue
        for name, text in _SEEN.items():
            times: Times | None = getattr(run.crawl.seen, name)
            if times is None:
                continue
            figures = map(rounded, (times.median, times.mean, times.p99))
            what = f"{_where(run.seed, change=run.change)}, {run.title}: {text}"
            table.add(what, times.calls, *figures)
    return table


def _tables(result: Result) -> list[Table]:
    tables = [site_table(result, seed, change=change) for seed, change in result.sites]
    seen = seen_table(result)
    return [*tables, seen] if seen.rows else tables


def _left_out(result: Result) -> list[str]:
    return [f"left out, because it cannot be used: {n} ({t})" for n, t in result.troubles.items()]


def as_text(result: Result) -> str:
    tables = [goal_table(result)] if goals(result) else []
    texts = [table.as_text() for table in (*tables, *_tables(result))]
    return "\n".join([*texts, "", *_left_out(result), machine_line()]).lstrip("\n")


def write_json(result: Result, path: Path) -> None:
    content = {
        "goals": [asdict(goal) | {"reached": goal.is_met} for goal in goals(result)],
        "reached": result.is_reached,
        "machine": machine(),
        "left out": result.troubles,
        "runs": [run.as_json() for run in result.runs],
    }
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


_INTRODUCTION = """\
Written by `{command}`. The sites are generated, so it is known which of their URLs lead to one
content; each is served on loopback and crawled once by each method, in a process of its own. With
Scrapy's filter alone every URL is fetched, judged and dropped after the fact. Superfluous are
fetches beyond the first of each content; saved is the share of them that a method does without.
"""
_ABOUT_SITES = """\
A site has session ids in queries and paths, sort orders, views, facets that select and others that
do not, a calendar without end, print and mobile views, other host names, numbers of pages and
versions and languages that matter, and the same names elsewhere, where they do not. Names, paths
and what matters are drawn from the seed. A site that changes gives some parameters that meant
nothing a meaning, when as many pages have been answered as it has contents; the pages that it then
has are counted among the unique ones.
"""
_ABOUT_SEEN = """\
The last table says how long the dupefilter holds a crawl up: processor time of each `request_seen`
within these crawls, where everything else leaves the processor's caches cold, with a garbage
collection where one fell into it. When a crawl with NEARDUP_URL_RULES = "on" is over,
its dupefilter is asked for URLs of the site with values that they never had, one after the other:
what the same takes with warm caches.
"""
_ABOUT_MAYBE_DONT = """\
MaybeDont's middleware is used as it documents, with its defaults, and with our words, so that
Chinese is not one long word to it; hooks are those of a Scrapy of today.
"""


def write_docs(result: Result, command: str, folder: Path) -> None:
    """Write the page of the documents."""
    about = (_ABOUT_SITES, _ABOUT_MAYBE_DONT, _ABOUT_SEEN)
    paragraphs = (_INTRODUCTION.format(command=command), *about)
    blocks = ["# What learning from URLs saves", *(_filled(text) for text in paragraphs)]
    blocks += [f"{machine_line()}.", *_left_out(result), "## Goals"]
    blocks += [goal_table(result).markdown_body(), "## The crawls"]
    blocks += [table.as_markdown() for table in _tables(result)]
    (folder / PAGE).write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _filled(text: str) -> str:
    return fill(" ".join(text.split()), 100, break_on_hyphens=False)
