"""Applies changes of rules to the URLs of a site, a few at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import islice

from .comparisons import Comparisons
from .decisions import Decisions
from .evidence import Key
from .rule_set import EVERYWHERE, RuleSet
from .skeletons import RuleMatcher, UrlReducer
from .skipped_urls import SkippedUrl, SkippedUrls
from .url_parts import SCHEME
from .visited_urls import VisitedUrl, VisitedUrls

#: All URLs have a scheme: this key stands for a change that concerns all of them.
_EVERYTHING: Key = (EVERYWHERE, SCHEME)
#: Visited URLs that are compared again with each observation.
_COMPARED_AT_ONCE = 30


class PendingUpdates:
    """Reduces known URLs again when rules change, and refetches what is no longer superfluous.

    Until all is done, a URL that is still reduced by old rules makes no other one superfluous.

    :param normalizer: leaves out what the rules in force leave out.
    :param trial_reducer: leaves out what is on trial as well.
    :param refetch: takes skipped URLs that are to be fetched.
    """

    def __init__(
        self,
        rules: RuleSet,
        visited: VisitedUrls,
        skipped: SkippedUrls,
        decisions: Decisions,
        *,
        normalizer: UrlReducer,
        trial_reducer: UrlReducer,
        refetch: Callable[[SkippedUrl], None],
    ) -> None:
        self._rules = rules
        self._visited = visited
        self._skipped = skipped
        self._decisions = decisions
        self._normalizer = normalizer
        self._trial_reducer = trial_reducer
        self._refetch = refetch
        #: Keys that were added to or removed from those applied, and from those on trial.
        self._applied: set[Key] = set()
        self._on_trial: set[Key] = set()
        self._is_reducing = False
        self._must_review = False
        self._steps = self._work()
        #: Visited URLs that are reduced in another way since they were compared.
        self._to_compare: OrderedDict[int, VisitedUrl] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._on_trial) or self._is_reducing or self._must_review

    def process(self, most: int) -> bool:
        """Process so many URLs, at most, and return whether there are more."""
        return all(next(self._steps, False) for _ in range(most))

    def reevaluate(self) -> None:
        """Decide on the rules, and note what that changes."""
        applied, on_trial = self._rules.reevaluate()
        self._applied |= applied
        self._on_trial |= applied | on_trial
        if any(not change.is_taken_up for change in self._rules.changes) or any(
            not self._rules.is_applied(*key) for key in applied
        ):
            self.review_skipped()

    def reduce_all(self) -> None:
        """Reduce all URLs again: path patterns have changed."""
        self._applied.add(_EVERYTHING)
        self._on_trial.add(_EVERYTHING)
        self.review_skipped()

    def review_skipped(self) -> None:
        """Look for skipped URLs that are no longer superfluous."""
        self._must_review = True

    def compare_again(self, comparisons: Comparisons) -> None:
        """Compare some URLs that are reduced in another way now."""
        for digest in list(islice(self._to_compare, _COMPARED_AT_ONCE)):
            visited = self._to_compare.pop(digest)
            if visited.content is not None and self._visited.get(digest) is visited:
                comparisons.compare(visited)

    def _work(self) -> Iterator[bool]:
        """Yield ``True`` for each URL that was processed, ``False`` when there is none."""
        while True:
            if self._on_trial:
                self._is_reducing = True
                yield from self._reduce_again()
                self._is_reducing = False
            elif self._must_review:
                self._must_review = False
                yield from self._review()
            else:
                yield False

    def _reduce_again(self) -> Iterator[bool]:
        is_applied = bool(self._applied)
        applied, on_trial = RuleMatcher(self._applied), RuleMatcher(self._on_trial)
        self._applied, self._on_trial = set(), set()
        for visited in list(self._visited):
            parts, digest = visited.parts, visited.digest
            if self._visited.get(digest) is visited and on_trial.matches(
                parts, visited.trial.pattern
            ):
                normalized = visited.normalized
                if is_applied and applied.matches(parts, normalized.pattern):
                    normalized = self._normalizer.reduce(parts, digest)
                trial = self._trial_reducer.reduce(parts, digest)
                if trial.digest != visited.trial.digest:
                    self._to_compare[digest] = visited
                self._visited.change(visited, normalized, trial)
            yield True
        for skipped in list(self._skipped) if is_applied else ():
            if skipped in self._skipped and applied.matches(
                skipped.parts, skipped.normalized.pattern
            ):
                normalized = self._normalizer.reduce(skipped.parts, skipped.digest)
                self._skipped.change(skipped, normalized)
            yield True

    def _review(self) -> Iterator[bool]:
        for skipped in list(self._skipped):
            if self._on_trial:
                # Rules have changed again: the URLs are to be reduced first.
                self._must_review = True
                return
            if skipped in self._skipped:
                rules = self._decisions.skipping_rules(skipped.digest, skipped.normalized)
                if rules:
                    skipped.rules = rules
                else:
                    self._refetch(skipped)
            yield True
