"""Learns the rules of one site from the pages that were judged."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from .comparisons import CanonicalUrls, Comparisons
from .decisions import CrawlTraps, Decisions
from .evidence_collector import EvidenceCollector
from .known_urls import KnownUrls, SkippedUrl, VisitedUrl
from .rule import UrlRule
from .rule_set import CrawlState, RuleSet
from .url_parts import SCHEME, Component, UrlParts

#: Of each rule so many skipped URLs are fetched before a crawl ends.
LAST_PROBES = 3
#: Visited URLs that are compared again with each observation.
_COMPARED_AT_ONCE = 30


class SiteLearner:
    """The rules of a site, and its URLs."""

    def __init__(self, site: str, crawl: CrawlState) -> None:
        self.name = site
        self.rules = rules = RuleSet(site, crawl)
        self.urls = urls = KnownUrls(rules)
        self._crawl = crawl
        self._collector = collector = EvidenceCollector(rules)
        self._comparisons = Comparisons(collector, urls)
        self._canonical_urls = CanonicalUrls(collector, urls)
        self._traps = CrawlTraps(rules, crawl.cluster_budget)
        self.decisions = Decisions(urls, self._canonical_urls, self._traps)
        self.updates = PendingUpdates(urls, self.decisions, self._refetch)

    def begin(self, parts: UrlParts) -> None:
        """Note that a URL is being fetched."""
        digest = parts.digest
        if self.urls.visited.get(digest) is None:
            self.urls.visit(parts, digest)

    def fail(self, parts: UrlParts) -> None:
        """Note that a fetch yielded nothing: a URL that was skipped for it is fetched.

        The canonical one, where a page names it.
        """
        visited = self.urls.visited.get(parts.digest)
        if visited is None:
            return
        self.urls.visited.remove(visited)
        if self.updates:
            # One that was skipped for it may not have been reduced again yet.
            self.updates.review_skipped()
        digest = visited.normalized.digest
        if not self.urls.visited.with_normalized(digest):
            group = self.urls.skipped.with_normalized(digest)
            canonical = (one for one in group if self._canonical_urls.is_canonical(one.digest))
            for skipped in [*canonical, *group][:1]:
                self._refetch(skipped)

    def content_of(self, parts: UrlParts) -> int | None:
        """Return the content of a URL, or of one that is the same by the rules in force."""
        digest = parts.digest
        visited = self.urls.visited.get(digest)
        normalized = self.urls.normalizer.reduce(parts, digest)
        group = [visited] if visited else self.urls.visited.with_normalized(normalized.digest)
        return next((one.content for one in group if one.content is not None), None)

    def in_flight(self) -> list[UrlParts]:
        """Return the URLs that are being fetched, or whose fetch has no known result."""
        return [visited.parts for visited in self.urls.visited if visited.content is None]

    def refetch_probes(self) -> None:
        """Refetch some of what each rule skipped, before the crawl ends."""
        for skipped in self.decisions.choose_probes(LAST_PROBES):
            self._refetch(skipped)

    def observe(
        self,
        parts: UrlParts,
        content: int,
        *,
        is_duplicate: bool,
        depth: int = 0,
        parent: UrlParts | None = None,
        canonical: UrlParts | None = None,
        alternates: Iterable[UrlParts] = (),
    ) -> None:
        """Learn from a page, see :meth:`.Learner.observe`.

        :param content: the same number for pages of one content.
        """
        self.rules.observations += 1
        self._learn_url(parts)
        digest = parts.digest
        visited = self.urls.visited.get(digest) or self.urls.visit(parts, digest)
        same = self.urls.visited.judge(visited, content, self.rules.observations)
        self._comparisons.compare(visited, brings_new=not is_duplicate)
        self._comparisons.look_for_hints(visited, same)
        normalized = visited.normalized
        if is_duplicate:
            self._traps.duplicate(normalized.shape, normalized.digest, content, depth)
        else:
            self._traps.new(normalized.shape)
            led = None if parent is None else self.urls.visited.get(parent.digest)
            if led is not None and led.normalized.shape != normalized.shape:
                # Pages of a list may say the same, and lead to new entries.
                self._traps.new(led.normalized.shape)
        if canonical is not None:
            self._canonical_urls.learn(visited, canonical)
        self._canonical_urls.learn_alternates(list(alternates))
        self.updates.compare_again(self._comparisons)
        self.updates.reevaluate()

    def adopt(self, rules: Iterable[UrlRule]) -> None:
        """Take over rules of an earlier crawl or of another worker."""
        for rule in rules:
            self.rules.adopt(rule)
        self.updates.reevaluate()
        self.updates.review_skipped()

    def resume(
        self,
        visited: Iterable[tuple[UrlParts, int | None]],
        skipped: Iterable[tuple[UrlParts, Any]],
    ) -> None:
        """Take over what the last run of this crawl visited and skipped.

        :param visited: URLs with their contents; ``None`` for those that were never judged.
        :param skipped: URLs with their requests, which are refetched if they are not superfluous.
        """
        visited = list(visited)
        # What is left of a URL depends on the path patterns.
        for parts, content in visited:
            if content is not None:
                self._learn_url(parts)
        self.updates.reevaluate()
        for parts, content in visited:
            one = self.urls.visit(parts, parts.digest)
            if content is not None:
                self.urls.visited.judge(one, content, self.rules.observations)
        for parts, request in skipped:
            normalized = self.urls.normalizer.reduce(parts, parts.digest)
            self.urls.skipped.add(SkippedUrl(parts, parts.digest, normalized, (), request))
        self.updates.review_skipped()

    def _learn_url(self, parts: UrlParts) -> None:
        if self.urls.patterns.learn(parts.segments):
            self.rules.merge_patterns(self.urls.patterns)
            self._collector.clear_confounders()
            self.rules.reevaluate()
            self.updates.reduce_all()
        self.decisions.learn_values(parts)

    def _refetch(self, skipped: SkippedUrl) -> None:
        self.urls.skipped.remove(skipped)
        self._crawl.refetches.append(skipped.request)
        self.begin(skipped.parts)


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
            if visited.content is not None and visited in self._urls.visited:
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
            if visited in urls.visited and parts.has_any(changed):
                urls.visited.normalize(visited, urls.normalizer.reduce(parts, digest))
                trial = urls.trial_reducer.reduce(parts, digest)
                if trial.digest != visited.trial.digest:
                    self._to_compare[digest] = visited
                urls.visited.try_out(visited, trial)
            yield True
        for skipped in list(urls.skipped):
            if skipped in urls.skipped and skipped.parts.has_any(changed):
                normalized = urls.normalizer.reduce(skipped.parts, skipped.digest)
                urls.skipped.normalize(skipped, normalized)
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
