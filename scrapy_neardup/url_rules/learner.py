"""All sites of a crawl, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xxhash import xxh3_64_intdigest

from .rule import UrlRule
from .rule_set import RuleChange
from .site_learner import Decision, SiteLearner
from .url_parts import UrlParts, parse_url

#: Addresses that are known at most, of all sites together.
MAX_ADDRESSES = 30_000
MAX_SITES = 5_000
#: SkippedUrl requests that are kept at most, in case they are wanted after all.
MAX_SKIPPED = 20_000
#: In how large steps room is made.
_STEP = 500
#: How often it is looked whether there is room.
_TURN = 50

_FETCH = Decision("fetch")


class Learner:
    """Learns which URLs bring nothing new, and says so.

    URLs that cannot be learned from are to be fetched, whatever they are.

    :param explore: share of what would be skipped that is fetched all the same, 0.0 to 1.0.
    :param cluster_budget: fetches that a site may spend on near-duplicates of one original;
        ``None`` for no bound.
    :param seed: whatever is fetched all the same is another share with another seed.
    :param now: the time in seconds since 1970.
    """

    def __init__(
        self,
        explore: float = 0.05,
        cluster_budget: int | None = None,
        seed: int = 0,
        now: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        #: Kept requests that were forgotten, and URLs that were not learned from.
        self.let_go, self.unlearned = 0, 0
        self._explore, self._budget, self._seed, self._now = explore, cluster_budget, seed, now
        self._sites: OrderedDict[str, SiteLearner] = OrderedDict()
        self._stored: dict[str, dict[str, UrlRule]] = {}
        self._changes: list[RuleChange] = []
        self._wanted: list[Any] = []
        self._turns = 0
        #: Sites whose rules have changed, see :meth:`tidy`.
        self._untidy: dict[str, SiteLearner] = {}
        #: Digests of the rules that were loaded, by their names.
        self._loaded: dict[str, int] = {}

    # --- requests ---------------------------------------------------------------------------

    def decide(self, url: str) -> Decision:
        """Would a fetch bring anything new? Nothing is changed by asking."""
        address = parse_url(url)
        site = None if address is None else self._sites.get(address.site)
        if address is None or (site is None and address.site not in self._stored):
            return _FETCH
        return (site or self._site(address.site)).decide(address)

    def begin(self, url: str) -> None:
        """It is being fetched: no other address of its normal form need be, unless it fails."""
        address = self._address(url)
        if address is not None:
            self._site(address.site).begin(address)

    def keep(self, decision: Decision, request: Any) -> None:
        """It was skipped; it is handed back by :meth:`take_wanted` when it is wanted after all.

        :param decision: the last one, to skip it.
        """
        if (skipped := decision.skipped) is not None:
            skipped.request = request
            self._site(skipped.address.site).skipped.add(skipped)
            self._bound_skipped()

    def fail(self, url: str) -> None:
        """Nothing came of a fetch, or what came of it was not stored."""
        address = parse_url(url)
        if address is not None and (site := self._sites.get(address.site)) is not None:
            site.fail(address)
            self._note_changes(site)

    def end(self) -> bool:
        """No request is left. Are there some now, of those that were skipped?

        What was being fetched, and was not heard of since, has failed. When that leaves nothing
        to do, some of what each rule skipped are fetched, to see whether it was right to the end.
        """
        while self.process_pending(_STEP):
            pass
        for site in self._sites.values():
            for address in site.under_way():
                site.fail(address)
        if not self._wanted:
            for site in self._sites.values():
                site.probe()
        return bool(self._wanted)

    def redirect(self, url: str, target: str) -> None:
        """A fetch led on to an address that is not fetched, because that is known."""
        address, other = parse_url(url), parse_url(target)
        if address is None or (site := self._sites.get(address.site)) is None:
            return
        content = None if other is None or other.site != address.site else site.content_of(other)
        if content is None:
            site.fail(address)
        else:
            site.observe(address, content, is_duplicate=True)
            self._note_changes(site)

    def take_wanted(self) -> list[Any]:
        """Requests that were skipped and are to be made after all; without any filter."""
        wanted, self._wanted[:] = [*self._wanted], []
        return wanted

    # --- pages ------------------------------------------------------------------------------

    def observe(
        self,
        url: str,
        content: str,
        *,
        is_duplicate: bool,
        depth: int = 0,
        canonical: str | None = None,
        alternates: Iterable[str] = (),
    ) -> None:
        """A page was fetched and judged.

        :param content: what it shows: the key of the stored original.
        :param depth: links from the start to it.
        :param canonical: address that the page names as its own.
        :param alternates: addresses of it and of its versions in other languages.
        """
        address = self._address(url)
        if address is None:
            return
        name = parse_url(canonical) if canonical else None
        others = (parse_url(alternate) for alternate in alternates)
        site = self._site(address.site)
        site.observe(
            address,
            xxh3_64_intdigest(content.encode("utf-8", "surrogatepass")),
            is_duplicate=is_duplicate,
            depth=depth,
            canonical=name if name and name.site == address.site else None,
            alternates=[a for a in others if a is not None and a.site == address.site],
        )
        self._note_changes(site)
        self._bound()

    def process_pending(self, most: int) -> bool:
        """Do a part of what follows from changes of rules, so that nothing waits for all of it.

        :param most: addresses that are looked at, at most; some ten microseconds each.
        :returns: is there more to do?
        """
        if self._untidy:
            name, site = next(iter(self._untidy.items()))
            if not site.process_pending(most):
                del self._untidy[name]
        return bool(self._untidy)

    def take_changes(self) -> list[RuleChange]:
        """Rules that were taken up or withdrawn since the last time."""
        changes, self._changes = self._changes, []
        return changes

    # --- from one run to the next -----------------------------------------------------------

    def state(self, packed: Callable[[Any], bytes | None]) -> dict[str, Any]:
        """What the next run of this crawl needs so that nothing that was skipped is lost.

        :param packed: packs a request; ``None`` when that cannot be done.
        :returns: plain values, for :meth:`resume`.
        """
        sites = self._sites.values()
        return {
            "known": [(tuple(one.address), one.content) for site in sites for one in site.known],
            "kept": [
                (tuple(one.address), request)
                for site in sites
                for one in site.skipped
                if (request := packed(one.request)) is not None
            ],
            "probes": {
                site.name: (dict(site.probes.made), dict(site.probes.asked)) for site in sites
            },
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the last run of this crawl ended.

        Rules are to be loaded before. What was skipped by one that is not there any more, or not in
        force, is wanted.

        :param state: of :meth:`state`; empty for nothing.
        """
        known: defaultdict[str, list[tuple[UrlParts, int | None]]] = defaultdict(list)
        kept: defaultdict[str, list[tuple[UrlParts, Any]]] = defaultdict(list)
        for plain, content in state.get("known", ()):
            known[plain[0]].append((UrlParts(*plain), content))
        for plain, request in state.get("kept", ()):
            kept[plain[0]].append((UrlParts(*plain), request))
        for name in {**known, **kept}:
            site = self._site(name)
            site.recall(known[name], kept[name])
            made, asked = state.get("probes", {}).get(name, ({}, {}))
            site.probes.made.update(made)
            site.probes.asked.update(asked)
            self._note_changes(site)

    # --- rules ------------------------------------------------------------------------------

    @property
    def has_pending(self) -> bool:
        """Is there something for :meth:`tidy` to do?"""
        return bool(self._untidy)

    @property
    def in_force(self) -> list[UrlRule]:
        """All rules in force."""
        return [
            rule
            for site in self._sites.values()
            for rule in site.book.rules.values()
            if rule.state == "in_force"
        ]

    def load(self, rules: Mapping[str, bytes]) -> int:
        """Take over rules of a store, those that are not as they were the last time.

        :returns: how many of them could not be read.
        """
        unread = 0
        of_site: defaultdict[str, list[UrlRule]] = defaultdict(list)
        for name, packed in rules.items():
            digest = xxh3_64_intdigest(packed)
            if self._loaded.get(name) == digest:
                continue
            self._loaded[name] = digest
            try:
                rule = UrlRule.from_bytes(packed)
            except ValueError:
                unread += 1
                continue
            self._stored.setdefault(rule.site, {})[rule.name] = rule
            if rule.site in self._sites:
                # Each has its own: a site changes its rules as it learns.
                of_site[rule.site].append(UrlRule.from_bytes(packed))
        for name, news in of_site.items():
            self._sites[name].adopt(news)
            self._note_changes(self._sites[name])
        return unread

    # --- bounds -----------------------------------------------------------------------------

    def _note_changes(self, site: SiteLearner) -> None:
        self._changes += site.take_changes()
        if site.has_pending:
            self._untidy[site.name] = site

    def _address(self, url: str) -> UrlParts | None:
        address = parse_url(url)
        if address is None:
            self.unlearned += 1
        return address

    def _site(self, name: str) -> SiteLearner:
        site = self._sites.get(name)
        if site is None:
            site = SiteLearner(
                name,
                explore=self._explore,
                seed=self._seed,
                budget=self._budget,
                now=self._now,
                wanted=self._wanted,
            )
            self._sites[name] = site
            site.adopt(self._stored.get(name, {}).values())
            self._note_changes(site)
        self._sites.move_to_end(name)
        return site

    def _bound(self) -> None:
        """Forget the sites that were not met for longest."""
        if not self._is_turn():
            return
        known = sum(len(site.known) for site in self._sites.values())
        while len(self._sites) > 1 and (known > MAX_ADDRESSES or len(self._sites) > MAX_SITES):
            name, site = self._sites.popitem(last=False)
            self._untidy.pop(name, None)
            known -= len(site.known)
            self.let_go += len(site.skipped)

    def _bound_skipped(self) -> None:
        if not self._is_turn():
            return
        kept = sum(len(site.skipped) for site in self._sites.values())
        if kept > MAX_SKIPPED:
            largest = max(self._sites.values(), key=lambda site: len(site.skipped))
            self.let_go += largest.skipped.let_go(kept - MAX_SKIPPED + _STEP)

    def _is_turn(self) -> bool:
        """From time to time: to count all sites takes long where there are many."""
        self._turns += 1
        return self._turns % _TURN == 0
