"""Applies changes of rules to the URLs of a site, a few at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import islice

from .comparisons import Comparisons
from .decisions import Decisions
from .known_urls import KnownUrls, SkippedUrl, VisitedUrl
from .url_parts import SCHEME, Component

#: Visited URLs that are compared again with each observation.
_COMPARED_AT_ONCE = 30


class PendingUpdates:
    """Reduces known URLs again when rules change, and refetches what is no longer superfluous.

    Until all is done, a URL that is still reduced by old rules makes no other one superfluous.

    :param refetch: takes skipped URLs that are to be fetched.
    """

    def __init__(
        self, urls: KnownUrls, decisions: Decisions, refetch: Callable[[SkippedUrl], None]
    ) -> None:
        self._urls = urls
        self._decisions = decisions
        self._refetch = refetch
        #: What is left out of other URLs than before: the first two items of components.
        self._changed: set[Component] = set()
        self._is_reducing = False
        self._must_review = False
        self._steps = self._work()
        #: Visited URLs that are reduced in another way since they were compared.
        self._to_compare: OrderedDict[int, VisitedUrl] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._changed) or self._is_reducing or self._must_review

    def process(self, most: int) -> bool:
        """Process so many URLs, at most, and return whether there are more."""
        return all(next(self._steps, False) for _ in range(most))

    def reevaluate(self) -> None:
        """Decide on the rules, and note what that changes."""
        changed, may_review = self._urls.rules.reevaluate()
        self._changed.update(component[:2] for component in changed)
        self._must_review |= may_review

    def reduce_all(self) -> None:
        """Reduce all URLs again: path patterns have changed."""
        # All have a scheme.
        self._changed.add(SCHEME)
        self.review_skipped()

    def review_skipped(self) -> None:
        """Look for skipped URLs that are no longer superfluous."""
        self._must_review = True

    def compare_again(self, comparisons: Comparisons) -> None:
        """Compare some URLs that are reduced in another way now."""
        for digest in list(islice(self._to_compare, _COMPARED_AT_ONCE)):
            visited = self._to_compare.pop(digest)
            if visited.content is not None and self._urls.visited.get(digest) is visited:
                comparisons.compare(visited)

    def _work(self) -> Iterator[bool]:
        """Yield ``True`` for each URL that was processed, ``False`` when there is none."""
        while True:
            if self._changed:
                self._is_reducing = True
                changed, self._changed = self._changed, set()
                yield from self._reduce_again(changed)
                self._is_reducing = False
            elif self._must_review:
                self._must_review = False
                yield from self._review()
            else:
                yield False

    def _reduce_again(self, changed: set[Component]) -> Iterator[bool]:
        urls = self._urls
        for visited in list(urls.visited):
            parts, digest = visited.parts, visited.digest
            if urls.visited.get(digest) is visited and parts.has_any(changed):
                normalized = urls.normalizer.reduce(parts, digest)
                trial = urls.trial_reducer.reduce(parts, digest)
                if trial.digest != visited.trial.digest:
                    self._to_compare[digest] = visited
                urls.visited.change(visited, normalized, trial)
            yield True
        for skipped in list(urls.skipped):
            if skipped in urls.skipped and skipped.parts.has_any(changed):
                normalized = urls.normalizer.reduce(skipped.parts, skipped.digest)
                urls.skipped.change(skipped, normalized)
            yield True

    def _review(self) -> Iterator[bool]:
        for skipped in list(self._urls.skipped):
            if self._changed:
                # Rules have changed again: the URLs are to be reduced first.
                self._must_review = True
                return
            if skipped in self._urls.skipped:
                rules = self._decisions.skipping_rules(skipped.digest, skipped.normalized)
                if rules:
                    skipped.rules = rules
                else:
                    self._refetch(skipped)
            yield True
