"""Matches pages with a library of stored pages that does not change (``--library``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..._util.wording import quantity
from ...matching.verdict import Verdict
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ...sources.readers import PageReader
from ...sources.record import Record
from ...stores.in_process import InProcessStore
from .options import Judge, warn_undecided
from .output import format_counts, print_message, report_skipped
from .quotes import Quotes


class Library:
    """The pages of a library, to be matched with others.

    :param judge: signs the pages; the store of its detector, in memory, gets those of the library.
    :param all_matches: whether a page matches all pages of the library that it is a near-duplicate
        of, or the nearest only.
    :param quotes: gets the pages of the library as well.
    """

    def __init__(self, judge: Judge, *, all_matches: bool, quotes: Quotes | None = None) -> None:
        assert isinstance(judge.detector.store, InProcessStore)
        self._judge = judge
        self._store = judge.detector.store
        self._all_matches = all_matches
        self._quotes = quotes

    def read(self, pages: PageReader) -> Iterator[Record]:
        """Read the library, and yield its pages. Of pages with one URL the last is kept."""
        unreadable: Counter[str] = Counter()
        for record, outcome in self._judge.signatures(pages, "library", self._quotes):
            if not isinstance(outcome, PageSignature):
                warn_undecided(record, outcome, unreadable)
                unreadable[outcome.reason] += 1
            elif not outcome.n_features:
                unreadable["no_text"] += 1
            else:
                self._store.add(outcome)
                if self._quotes is not None:
                    self._quotes.store()
                yield record
        left_out = f"; left out: {format_counts(unreadable)}" if unreadable else ""
        print_message(f"library: {quantity(len(self._store), 'page')}{left_out}")
        report_skipped(pages)
        if self._quotes is not None:
            self._quotes.begin_counting()

    def matches(self, page: PageSignature) -> list[Verdict]:
        """Return the verdicts on a page: one for each match, or one that says there is none."""
        claim = self._judge.detector.claim(page)
        if claim.ticket is not None:
            self._store.release(claim.ticket)
        verdict = claim.verdict
        # What is now at an address, or under an id, may be a copy of another page.
        has_changed = verdict.reason == Reason.CHANGED
        is_revisit = verdict.kind == "revisit"
        if not (has_changed or (self._all_matches and (verdict.is_duplicate or is_revisit))):
            return [verdict]
        matches = [
            Verdict(
                "duplicate", page.url, match.reason, other.url, match.distance, match.similarity
            )
            for other, match in self._store.matches(page, self._judge.detector.rule)
            if not (is_revisit and other.key == page.key)
        ]
        if is_revisit and not has_changed:
            return [verdict, *matches]
        return matches[: None if self._all_matches else 1] or [verdict]
