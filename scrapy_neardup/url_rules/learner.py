"""Learns the rules of all sites of a crawl, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from xxhash import xxh3_64_intdigest

from .decisions import Decision
from .rule import UrlRule
from .rule_set import CrawlState, RuleChange
from .site_learner import SiteLearner
from .url_parts import UrlParts, parse_url, text_hash

#: Visited URLs of all sites together.
MAX_URLS = 30_000
MAX_SITES = 5_000
#: Skipped requests that are kept, of all sites together.
MAX_SKIPPED = 20_000
#: So many more skipped requests are dropped at once.
_STEP = 500
#: Bounds are checked each so many calls: to count all sites takes long where there are many.
_CHECKED_EVERY = 500

_FETCH = Decision("fetch")


class Learner:
    """Learns which URLs yield nothing new, and decides which requests are skipped.

    It has a method for each event of a crawl, and for each part of its state that is stored. URLs
    that cannot be learned from are always to be fetched.

    :param sample_rate: share of what would be skipped that is fetched, 0.0 to 1.0.
    :param cluster_budget: fetches that a site may spend on near-duplicates of one original;
        ``None`` for no bound.
    :param seed: selects the share that is fetched.
    :param now: returns seconds since 1970.
    :ivar urls_ignored: how often a URL could not be learned from.
    """

    def __init__(
        self,
        sample_rate: float = 0.05,
        cluster_budget: int | None = None,
        seed: int = 0,
        now: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        self.urls_ignored = 0
        self.crawl = CrawlState(sample_rate, cluster_budget, seed, now)
        self._sites = _Sites(self.crawl)

    # --- requests ---------------------------------------------------------------------------

    def decide(self, url: str) -> Decision:
        """Decide whether a fetch would yield anything new. Nothing is changed."""
        parts = parse_url(url)
        if parts is None or not self._sites.has_rules(parts.site):
            return _FETCH
        return self._sites.get_or_add(parts.site).decisions.decide(parts)

    def begin(self, url: str) -> None:
        """Note that a URL is being fetched: the same ones are skipped unless it fails."""
        if (parts := self._parsed(url)) is not None:
            self._sites.get_or_add(parts.site).begin(parts)

    def keep(self, decision: Decision, request: Any) -> None:
        """Keep a skipped request, until :meth:`take_refetches` returns it.

        :param decision: the last one, to skip it.
        """
        if (skipped := decision.skipped) is not None:
            skipped.request = request
            self._sites.get_or_add(skipped.parts.site).urls.skipped.add(skipped)
            self._sites.bound()

    def fail(self, url: str) -> None:
        """Note that a fetch yielded nothing, or that its page was not stored."""
        parts = parse_url(url)
        if parts is not None and (site := self._sites.get(parts.site)) is not None:
            site.fail(parts)
            self._sites.note(site)

    def end(self) -> bool:
        """Note that no request is left, and return whether there are some to refetch now.

        What was being fetched has failed. When that leaves nothing to refetch, some of what each
        rule skipped are refetched, to test it a last time.
        """
        while self.process_pending(_STEP):
            pass
        for site in self._sites.values():
            for parts in site.in_flight():
                site.fail(parts)
        if not self.crawl.refetches:
            for site in self._sites.values():
                site.refetch_probes()
        return bool(self.crawl.refetches)

    def redirect(self, url: str, target: str) -> None:
        """Note that a URL redirects to one that is not fetched, as it is known."""
        parts, other = parse_url(url), parse_url(target)
        if parts is None or (site := self._sites.get(parts.site)) is None:
            return
        content = None if other is None or other.site != parts.site else site.content_of(other)
        if content is None:
            site.fail(parts)
        else:
            site.observe(parts, content, is_duplicate=True)
            self._sites.note(site)

    def take_refetches(self) -> list[Any]:
        """Return skipped requests that must be made, past any filter."""
        refetches, self.crawl.refetches = self.crawl.refetches, []
        return refetches

    # --- pages ------------------------------------------------------------------------------

    def observe(
        self,
        url: str,
        content: str,
        *,
        is_duplicate: bool,
        depth: int = 0,
        parent: str | None = None,
        canonical: str | None = None,
        alternates: Iterable[str] = (),
    ) -> None:
        """Learn from a page that was fetched and judged.

        :param content: the key of the stored original.
        :param depth: number of links from the start.
        :param parent: URL of the page with the link to this one.
        :param canonical: canonical URL that the page names.
        :param alternates: URLs of the page and of its versions in other languages.
        """
        if (parts := self._parsed(url)) is None:
            return
        site = self._sites.get_or_add(parts.site)
        site.observe(
            parts,
            text_hash(content),
            is_duplicate=is_duplicate,
            depth=depth,
            parent=next(_on_site(parts.site, [parent or ""]), None),
            canonical=next(_on_site(parts.site, [canonical or ""]), None),
            alternates=list(_on_site(parts.site, alternates)),
        )
        self._sites.note(site)
        self._sites.bound()

    @property
    def has_pending(self) -> bool:
        """Whether there is work for :meth:`process_pending`."""
        return bool(self._sites.pending)

    def process_pending(self, most: int) -> bool:
        """Process a part of what follows from changed rules; return whether more is left.

        :param most: URLs that are looked at, at most; some ten microseconds each.
        """
        pending = self._sites.pending
        if pending:
            name, site = next(iter(pending.items()))
            if not site.updates.process(most):
                del pending[name]
        return bool(pending)

    # --- rules ------------------------------------------------------------------------------

    def take_changes(self) -> list[RuleChange]:
        """Return the rules that came into force or were withdrawn since the last call."""
        changes, self.crawl.changes = self.crawl.changes, []
        return changes

    @property
    def in_force(self) -> list[UrlRule]:
        """All rules in force."""
        rules = (rule for site in self._sites.values() for rule in site.rules.by_key.values())
        return [rule for rule in rules if rule.state == "in_force"]

    @property
    def dropped(self) -> int:
        """Number of skipped requests that were dropped."""
        return self._sites.dropped

    def load(self, rules: Mapping[str, bytes]) -> int:
        """Take over the rules of a store that have changed since the last call.

        :returns: how many of them could not be read.
        """
        return self._sites.load(rules)

    # --- from one run to the next -----------------------------------------------------------

    def state(self, packed: Callable[[Any], bytes | None]) -> dict[str, Any]:
        """Return what the next run of this crawl needs in order to lose no skipped request.

        :param packed: packs a request; returns ``None`` when that is impossible.
        :returns: plain values, for :meth:`resume`.
        """
        known: list[Any] = []
        kept: list[Any] = []
        probes: dict[str, Any] = {}
        for site in self._sites.values():
            known += ((tuple(one.parts), one.content) for one in site.urls.visited)
            requests = ((tuple(one.parts), packed(one.request)) for one in site.urls.skipped)
            kept += (one for one in requests if one[1] is not None)
            probes[site.name] = dict(site.decisions.probes), dict(site.decisions.skipped)
        return {"known": known, "kept": kept, "probes": probes}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue the last run of this crawl; the rules are to be loaded before.

        What was skipped by a rule that is not in force any more is refetched.

        :param state: of :meth:`state`; empty for nothing.
        """
        visited: defaultdict[str, list[tuple[UrlParts, int | None]]] = defaultdict(list)
        skipped: defaultdict[str, list[tuple[UrlParts, Any]]] = defaultdict(list)
        for plain, content in state.get("known", ()):
            visited[plain[0]].append((UrlParts(*plain), content))
        for plain, request in state.get("kept", ()):
            skipped[plain[0]].append((UrlParts(*plain), request))
        for name in {**visited, **skipped}:
            site = self._sites.get_or_add(name)
            site.resume(visited[name], skipped[name])
            made, counted = state.get("probes", {}).get(name, ({}, {}))
            site.decisions.probes.update(made)
            site.decisions.skipped.update(counted)
            self._sites.note(site)

    def _parsed(self, url: str) -> UrlParts | None:
        parts = parse_url(url)
        if parts is None:
            self.urls_ignored += 1
        return parts


def _on_site(site: str, urls: Iterable[str]) -> Iterator[UrlParts]:
    """Yield the parts of those URLs that are on a site."""
    return (parts for parts in map(parse_url, urls) if parts is not None and parts.site == site)


class _Sites(OrderedDict[str, SiteLearner]):
    """The learners of sites, those used last at the end, and the rules of a store.

    :ivar pending: sites whose URLs are to be updated after changes of rules.
    :ivar dropped: number of skipped requests that were dropped.
    """

    def __init__(self, crawl: CrawlState) -> None:
        super().__init__()
        self.pending: dict[str, SiteLearner] = {}
        self.dropped = 0
        self._crawl = crawl
        #: Rules by sites and names; sites change them as they learn.
        self._stored: dict[str, dict[str, UrlRule]] = {}
        #: Digests of the loaded rules, by their names.
        self._digests: dict[str, int] = {}
        self._calls = 0

    def has_rules(self, name: str) -> bool:
        return name in self or name in self._stored

    def get_or_add(self, name: str) -> SiteLearner:
        site = self.get(name)
        if site is None:
            site = self[name] = SiteLearner(name, self._crawl)
            site.adopt(self._stored.get(name, {}).values())
            self.note(site)
        self.move_to_end(name)
        return site

    def note(self, site: SiteLearner) -> None:
        """Note whether URLs of a site are to be updated."""
        if site.updates:
            self.pending[site.name] = site

    def load(self, rules: Mapping[str, bytes]) -> int:
        """See :meth:`Learner.load`."""
        unread = 0
        changed: defaultdict[str, list[UrlRule]] = defaultdict(list)
        for name, packed in rules.items():
            digest = xxh3_64_intdigest(packed)
            if self._digests.get(name) == digest:
                continue
            self._digests[name] = digest
            try:
                rule = UrlRule.from_bytes(packed)
            except ValueError:
                unread += 1
            else:
                self._stored.setdefault(rule.site, {})[rule.name] = rule
                changed[rule.site].append(rule)
        for site in filter(None, map(self.get, changed)):
            site.adopt(changed[site.name])
            self.note(site)
        return unread

    def bound(self) -> None:
        """Forget the sites that were used least recently, and skipped requests.

        These of the site that has most of them.
        """
        self._calls += 1
        if self._calls % _CHECKED_EVERY:
            return
        visited = sum(len(site.urls.visited) for site in self.values())
        while len(self) > 1 and (visited > MAX_URLS or len(self) > MAX_SITES):
            name, site = self.popitem(last=False)
            self.pending.pop(name, None)
            visited -= len(site.urls.visited)
            self.dropped += len(site.urls.skipped)
        skipped = sum(len(site.urls.skipped) for site in self.values())
        if skipped > MAX_SKIPPED:
            largest = max(self.values(), key=lambda site: len(site.urls.skipped))
            self.dropped += largest.urls.skipped.drop(skipped - MAX_SKIPPED + _STEP)
