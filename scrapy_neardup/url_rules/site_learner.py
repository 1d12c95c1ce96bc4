"""Learns the rules of one site from the pages that were judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .comparisons import CanonicalUrls, Comparisons
from .crawl_traps import CrawlTraps
from .decisions import Decisions
from .evidence_collector import EvidenceCollector
from .known_urls import KnownUrls, SkippedUrl
from .pending_updates import PendingUpdates
from .rule import UrlRule
from .rule_set import Crawl, RuleSet
from .url_parts import UrlParts

#: Of each rule so many skipped URLs are fetched before a crawl ends.
LAST_PROBES = 3


class SiteLearner:
    """The rules of a site, and its URLs."""

    def __init__(self, site: str, crawl: Crawl) -> None:
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
        """Return the URLs that are being fetched, or whose fetch was never heard of."""
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
