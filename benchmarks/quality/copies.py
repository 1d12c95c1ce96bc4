"""Counts the disguised copies that are found.

Each pair is an original page and a copy of it that looks different (corpora/disguises/). A new
detector checks the original and then the copy; the copy is found when it is called a duplicate.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing import Pool

from scrapy_neardup.matching.verdict import Verdict
from scrapy_neardup.signatures.signature import PageSignature

from ..common.tables import Table
from ..corpora.articles import Article
from ..corpora.disguises import DISGUISES, disguised_page
from ..corpora.pages import MadePage, original_page
from .detection import check_all, sign_html
from .figures import HALVES, Share, half_of_name
from .floors import Figure

_CHUNK = 16
#: Disguises that ``--list`` names.
_LISTED = 25


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one pair of original and copy.

    :ivar trouble: why the copy was not found; empty when it was.
    :ivar digest: of the two pages.
    """

    disguise: str
    article: str
    trouble: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class CopyFigures:
    """The figures over all pairs."""

    outcomes: tuple[Outcome, ...]

    def by_disguise(self, half: int | None = None) -> dict[str, Share]:
        """Return how many copies were found, by disguise, of all disguises or of one half."""
        found: dict[str, list[bool]] = defaultdict(list)
        for outcome in self.outcomes:
            if half is None or half_of_name(outcome.disguise) == half:
                found[outcome.disguise].append(not outcome.trouble)
        return {name: Share(sum(flags), len(flags)) for name, flags in found.items()}

    def found(self, half: int | None = None) -> float:
        """Return the share of pairs found, as the mean over disguises."""
        shares = self.by_disguise(half).values()
        return sum(share.value for share in shares) / len(shares) if shares else 0.0

    def table(self) -> Table:
        table = Table(
            f"disguised copies ({len(self.outcomes):,} pairs)",
            ("disguises", "number", "found, mean over disguises", "pairs found"),
        )
        for half, name in HALVES.items():
            shares = self.by_disguise(half)
            parts = sum(s.part for s in shares.values()), sum(s.whole for s in shares.values())
            table.add(name, len(shares), self.found(half), Share(*parts))
        return table

    def figures(self) -> dict[str, Figure]:
        """Return the figures for which floors are kept."""
        return {
            f"copies, {name}: found": Figure(self.found(half), "at least")
            for half, name in HALVES.items()
        }

    def listing(self) -> list[str]:
        """Return the disguises that were missed most, each with reasons of what was missed."""
        shares = self.by_disguise()
        worst = sorted(
            (name for name in shares if shares[name].value < 1), key=lambda n: shares[n].value
        )
        lines = [
            "",
            f"disguises that were missed most ({len(worst)} of {len(shares)} were missed once)",
        ]
        for name in worst[:_LISTED]:
            troubles = [o for o in self.outcomes if o.disguise == name and o.trouble]
            examples = "; ".join(f"{o.article}: {o.trouble}" for o in troubles[:2])
            lines.append(f"  {name}  found {shares[name]}  {examples}")
        return lines


def measure_copies(articles: Sequence[Article]) -> CopyFigures:
    """Measure all articles in all disguises that change them, on all cores."""
    jobs = [
        (name, article)
        for article in articles
        for name, disguise in DISGUISES.items()
        if disguise.applies_to(article)
    ]
    with Pool() as pool:
        return CopyFigures(tuple(pool.imap(_judged, jobs, _CHUNK)))


def _judged(job: tuple[str, Article]) -> Outcome:
    name, article = job
    original, signature = _original(article)
    copy = disguised_page(name, article)
    pages = "\n".join((original.url, original.html, copy.url, copy.html))
    digest = hashlib.sha256(pages.encode()).digest()
    return Outcome(name, article.name, _trouble(signature, copy), digest)


@cache
def _original(article: Article) -> tuple[MadePage, PageSignature | None]:
    page = original_page(article)
    return page, sign_html(page.url, page.html)


def _trouble(original: PageSignature | None, copy: MadePage) -> str:
    signature = sign_html(copy.url, copy.html)
    if original is None or signature is None:
        return "unreadable"
    verdict = check_all([original, signature])[-1]
    return "" if verdict.is_duplicate else _reasons(verdict)


def _reasons(verdict: Verdict) -> str:
    words = f"{verdict.kind}, {verdict.reason}"
    near = verdict.look_alike
    if near is None:
        return words
    return f"{words}, {near.objection} (distance {near.distance}, similarity {near.similarity:.2f})"
