"""Accounts for every page of a crawl: each must have exactly one outcome."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

#: How many pages a problem names before it only counts them.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A served page: ``url`` as recorded, ``request_url`` as the crawler asks for it."""

    id: str
    url: str
    request_url: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a page, or the verdict on it as the add-on's signal reports it.

    ``kind`` is "stored", "dropped" or "failed", or that of the verdict. Only a near-duplicate whose
    original is named counts as dropped; an item that was dropped for another cause has failed, with
    the cause as its reason.
    """

    kind: str
    reason: str = ""
    duplicate_of: str | None = None
    distance: int | None = None
    similarity: float | None = None


@dataclass(slots=True)
class Crawl:
    """The record of a crawl: figures, Scrapy's stats, and the events of each page."""

    addon: bool
    figures: dict[str, float]
    beats: dict[str, float]
    slices: dict[str, float]
    stats: dict[str, Any]
    outcomes: list[list[Outcome]]
    judgements: list[Outcome | None]
    answered: int = 0

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Crawl:
        values = json.loads(path.read_text(encoding="utf-8"))
        values["outcomes"] = [[Outcome(**o) for o in page] for page in values["outcomes"]]
        values["judgements"] = [j and Outcome(**j) for j in values["judgements"]]
        return cls(**values)


@dataclass(slots=True)
class Account:
    """The sums of one crawl and what is wrong with them."""

    answered: int
    stored: int
    dropped: int
    failed: int
    failures: Counter[str]
    problems: list[str] = field(default_factory=list)


def read_catalogue(path: Path) -> list[CatalogueEntry]:
    """Return the catalogue that the page server wrote."""
    with path.open(encoding="utf-8") as file:
        return [CatalogueEntry(**json.loads(line)) for line in file]


def account_for(catalogue: list[CatalogueEntry], crawl: Crawl) -> Account:
    """Add up the outcomes of *crawl* and check them against everything that is known."""
    all_outcomes = [outcome for page in crawl.outcomes for outcome in page]
    kinds = Counter(outcome.kind for outcome in all_outcomes)
    account = Account(
        answered=crawl.answered,
        stored=kinds["stored"],
        dropped=kinds["dropped"],
        failed=kinds["failed"],
        failures=Counter(outcome.reason for outcome in all_outcomes if outcome.kind == "failed"),
    )
    account.problems.extend(_page_problems(catalogue, crawl))
    account.problems.extend(_sum_problems(len(catalogue), account))
    account.problems.extend(_stats_problems(account, crawl))
    return account


def _page_problems(catalogue: list[CatalogueEntry], crawl: Crawl) -> Iterator[str]:
    pages = list(zip(catalogue, crawl.outcomes, strict=True))
    yield from _named("without an outcome", [page.url for page, outcomes in pages if not outcomes])
    yield from _named(
        "with several outcomes", [page.url for page, outcomes in pages if len(outcomes) > 1]
    )
    stored = {
        page.request_url for page, outcomes in pages if any(o.kind == "stored" for o in outcomes)
    }
    orphans = [
        f"{page.url} (of {outcome.duplicate_of})"
        for page, outcomes in pages
        for outcome in outcomes
        if outcome.kind == "dropped" and outcome.duplicate_of not in stored
    ]
    yield from _named("dropped for an original that was not stored", orphans)


def _named(what: str, pages: list[str]) -> Iterator[str]:
    if pages:
        more = f" and {len(pages) - _NAMED} more" if len(pages) > _NAMED else ""
        yield f"{len(pages)} {what}: {', '.join(pages[:_NAMED])}{more}"


def _sum_problems(pages: int, account: Account) -> Iterator[str]:
    total = account.stored + account.dropped + account.failed
    if total != pages:
        yield f"stored + dropped + failed = {total}, but there are {pages} pages"
    # A failed page may have been answered (a pipeline raised) or not (a timeout).
    if not pages - account.failed <= account.answered <= pages:
        yield (
            f"the server answered {account.answered} pages of {pages}, {account.failed} have failed"
        )


def _stats_problems(account: Account, crawl: Crawl) -> Iterator[str]:
    """Compare with what Scrapy and the add-on counted."""
    expected = {"item_scraped_count": account.stored}
    if crawl.addon:
        judged = sum_of(crawl.stats, "neardup/pages/") + sum_of(crawl.stats, "neardup/skipped/")
        expected["neardup/items/dropped"] = account.dropped
        expected["neardup/responses"] = judged
    for name, value in expected.items():
        if crawl.stats.get(name, 0) != value:
            yield f"stat {name} is {crawl.stats.get(name, 0)}, expected {value}"


def sum_of(stats: dict[str, Any], prefix: str) -> int:
    """Return the sum of all stats below *prefix*."""
    return sum(value for name, value in stats.items() if name.startswith(prefix))


@dataclass(slots=True)
class Run:
    """The crawls of one invocation, the pages served to them, and the totals."""

    served: dict[str, Any]
    catalogue: list[CatalogueEntry]
    crawls: list[Crawl] = field(default_factory=list)
    accounts: list[Account] = field(default_factory=list)

    def add(self, crawl: Crawl) -> None:
        self.crawls.append(crawl)
        self.accounts.append(account_for(self.catalogue, crawl))

    def of(self, addon: bool) -> list[tuple[Crawl, Account]]:
        """Return the crawls with, or without, the add-on."""
        pairs = zip(self.crawls, self.accounts, strict=True)
        return [(crawl, account) for crawl, account in pairs if crawl.addon == addon]

    def problems(self) -> list[str]:
        return [
            f"crawl {number} ({'with' if crawl.addon else 'without'} the add-on): {problem}"
            for number, crawl in enumerate(self.crawls, start=1)
            for problem in self.accounts[number - 1].problems
        ]
