"""Decides which URLs of a site are fetched, and in which order.

Some shapes of URLs yield nothing new: calendars, sign-in pages, endless facets.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from xxhash import xxh3_64_intdigest

from .comparisons import CanonicalUrls
from .known_urls import KnownUrls, SkippedUrl
from .rule import NOTHING_NEW, Evidence, UrlRule
from .rule_set import RuleSet
from .url_parts import SCHEME, Component, LeftOut, ReducedUrl, UrlParts, path_components

#: Parameters and probes that are remembered.
_MAX_REMEMBERED = 4096
#: A budget that is spent lowers the priority of a request by so much.
_DELAY_OVER_BUDGET = 10
#: A parameter of which so many values were fetched is taken to have any.
_FEW_VALUES = 10
#: A trap has so many different duplicates in a row, at least, by the same bound as other rules.
MIN_RUN = 30
#: And so many for each original, at least: many originals may only mean that they came first.
_COPIES_PER_ORIGINAL = 15
_MAX_SHAPES = 1000
_MAX_ORIGINALS = 10_000

#: The name of a rule, and a path pattern.
_ProbeKey = tuple[str, str]


class Decision(NamedTuple):
    """The action for a request, and its reason.

    :ivar action: ``"fetch"``, ``"skip"``, or ``"explore"``: fetched to test the rules that would
        skip it.
    :ivar rules: those by which it is superfluous; the first one stands for all.
    :ivar delay: by how much its priority is to be lowered. URLs with fewer parts of which nobody
        knows whether they select a page come first, so that fewer fetches teach more.
    :ivar skipped: is to be kept when it is skipped.
    """

    action: Literal["fetch", "skip", "explore"]
    rules: tuple[UrlRule, ...] = ()
    delay: int = 0
    skipped: SkippedUrl | None = None


class Decisions:
    """Decides by the rules of a site and by the URLs that were visited.

    :ivar probes: counts the URLs that were fetched to test rules that would have skipped them.
    :ivar skipped: how many URLs were skipped when :meth:`choose_probes` chose last.
    """

    def __init__(
        self,
        urls: KnownUrls,
        canonical_urls: CanonicalUrls,
        traps: CrawlTraps,
    ) -> None:
        self.probes: Counter[_ProbeKey] = Counter()
        self.skipped: dict[_ProbeKey, int] = {}
        self._rules = urls.rules
        self._urls = urls
        self._canonical_urls = canonical_urls
        self._traps = traps
        self._probed: OrderedDict[int, None] = OrderedDict()
        #: Some values of each parameter that were fetched.
        self._values: OrderedDict[Component, set[str]] = OrderedDict()

    def decide(self, parts: UrlParts) -> Decision:
        """Decide whether a fetch of this URL would yield anything new."""
        digest = parts.digest
        reduced = self._urls.normalizer.reduce(parts, digest)
        rules = self.skipping_rules(digest, reduced)
        if not rules:
            return Decision("fetch", delay=self._delay(parts, digest, reduced))
        if self._is_probe(digest, reduced, rules):
            return Decision("explore", rules)
        return Decision("skip", rules, skipped=SkippedUrl(parts, digest, reduced, rules))

    def skipping_rules(self, digest: int, reduced: ReducedUrl) -> tuple[UrlRule, ...]:
        """Return the rules by which a URL is superfluous; none when it is to be fetched."""
        visited = self._urls.visited
        if visited.get(digest) is not None:
            return ()
        for other in visited.with_normalized(reduced.digest):
            if rules := self._rules_between(reduced.left_out, other.normalized.left_out):
                return rules
        trap = self._traps.rule_in_force(reduced.shape)
        return () if trap is None else (trap,)

    def learn_values(self, parts: UrlParts) -> None:
        """Note the values of parameters that were fetched."""
        for name, value in parts.params:
            values = self._values.setdefault(("param", name), set())
            if len(values) < _FEW_VALUES:
                values.add(value)
        while len(self._values) > _MAX_REMEMBERED:
            self._values.popitem(last=False)

    def choose_probes(self, of_each: int) -> list[SkippedUrl]:
        """Return, of each rule and path pattern, the URLs that were skipped last.

        Fewer where probes were fetched before, but at least one; and none where not twice as many
        were skipped as at the last choice.

        :param of_each: how many of a rule and pattern.
        """
        skipped = self._urls.skipped
        keys = {one.digest: _probe_keys(one.rules, one.normalized) for one in skipped}
        number = Counter(key for of_one in keys.values() for key in of_one)
        due = Counter[_ProbeKey]()
        for key, count in number.items():
            if count >= 2 * self.skipped.get(key, 0):
                self.skipped[key] = count
                due[key] = max(1, of_each - self.probes[key])
        chosen = []
        for one in reversed(list(skipped)):
            if any(due[key] > 0 for key in keys[one.digest]):
                chosen.append(one)
                due.subtract(keys[one.digest])
        return chosen

    def _rules_between(
        self, one: tuple[LeftOut, ...], other: tuple[LeftOut, ...]
    ) -> tuple[UrlRule, ...]:
        """Return the rules that make two URLs one; none unless all of them are in force."""
        rules: dict[UrlRule, None] = {}
        for left_out in (*one, *other):
            if left_out in one and left_out in other:
                continue
            rule = self._rules.in_force(*left_out[:2])
            if rule is None:
                # A visited URL may still be reduced by a rule that was withdrawn.
                return ()
            rules[rule] = None
        return tuple(rules)

    def _delay(self, parts: UrlParts, digest: int, reduced: ReducedUrl) -> int:
        """Return how many parts may not select pages; more for shapes over budget.

        None for the canonical URL of a page: it is to stand for the others.
        """
        delay = _DELAY_OVER_BUDGET if reduced.shape in self._traps.slow else 0
        if self._canonical_urls.is_canonical(digest):
            return delay
        rest, by_key = reduced.parts, self._rules.by_key
        for component in {component for component, _ in rest.pieces()} - {SCHEME}:
            rule = by_key.get((reduced.pattern, component))
            delay += rule is None or not rule.evidence.contradictions
        delay += self._canonical_urls.is_alias(parts.label, parts.scheme)
        for component, segments, _ in path_components(rest.segments):
            # To find the pattern of the shorter path takes longest.
            if component in self._rules.agreed:
                rule = by_key.get((self._urls.patterns.name(segments), component))
                delay += rule is not None and rule.evidence.is_one_sided
        return delay

    def _is_probe(self, digest: int, reduced: ReducedUrl, rules: tuple[UrlRule, ...]) -> bool:
        if digest in self._probed:
            return True
        crawl = self._rules.crawl
        hashed = xxh3_64_intdigest(digest.to_bytes(8, "little"), seed=crawl.seed)
        is_probe = (
            hashed < int(crawl.sample_rate * 2**64)
            or self._has_new_value(reduced.left_out)
            or self._is_retest(reduced.left_out)
        )
        if not is_probe:
            return False
        self._probed[digest] = None
        if len(self._probed) > _MAX_REMEMBERED:
            self._probed.popitem(last=False)
        self.probes.update(_probe_keys(rules, reduced))
        return True

    def _has_new_value(self, left_out: Iterable[LeftOut]) -> bool:
        """Decide whether a parameter with few values has one that was never fetched.

        That ``start=0`` does not select a page does not show that ``start=10`` does not.
        """
        for _, component, value in left_out:
            values = self._values.get(component) if len(component) == 2 else None
            if values is not None and len(values) < _FEW_VALUES and value not in values:
                return True
        return False

    def _is_retest(self, left_out: Iterable[LeftOut]) -> bool:
        """Decide whether a rule for this URL is to be tested again, and count the test."""
        retests = self._rules.retests
        for pattern, component, _ in left_out:
            if left := retests.get((pattern, component)):
                retests[pattern, component] = left - 1
                return True
        return False


def _probe_keys(rules: Iterable[UrlRule], reduced: ReducedUrl) -> list[_ProbeKey]:
    """Return the keys under which a probe of these rules is counted."""
    return [(rule.name, reduced.pattern) for rule in rules]


@dataclass(slots=True)
class _Run:
    """Duplicates of one shape in a row: their reduced URLs, originals and depths."""

    pages: set[int] = field(default_factory=set)
    originals: set[int] = field(default_factory=set)
    depths: set[int] = field(default_factory=set)

    @property
    def is_trap(self) -> bool:
        return (
            len(self.pages) >= MIN_RUN
            and len(self.originals) * _COPIES_PER_ORIGINAL <= len(self.pages)
            and len(self.depths) > 1
        )


class CrawlTraps:
    """Maintains the rules that a shape of URLs yields nothing new.

    A shape is a path pattern with the names of parameters.

    :param budget: near-duplicates of one original after which their shapes are slowed down; after
        twice as many they are skipped. ``None`` for no bound.
    :ivar slow: shapes to be slowed down.
    """

    def __init__(self, rules: RuleSet, budget: int | None) -> None:
        self.slow: set[str] = set()
        self._rules = rules
        self._budget = budget
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        #: Shapes of the near-duplicates of an original.
        self._spent: OrderedDict[int, list[str]] = OrderedDict()

    def rule_in_force(self, shape: str) -> UrlRule | None:
        """Return the rule that a shape yields nothing new, where it is in force."""
        rule = self._rules.by_key.get((shape, NOTHING_NEW))
        return rule if rule is not None and rule.state == "in_force" else None

    def new(self, shape: str) -> None:
        """Note that a page of this shape was new."""
        self._runs.pop(shape, None)
        if self.rule_in_force(shape) is not None:
            self._rules.withdraw((shape, NOTHING_NEW), "a page was new")

    def duplicate(self, shape: str, reduced: int, original: int, depth: int) -> None:
        """Note that a page of this shape was a duplicate.

        :param reduced: digest of its reduced URL, which counts once.
        """
        if shape not in self._runs and len(self._runs) >= _MAX_SHAPES:
            self._runs.popitem(last=False)
        run = self._runs.setdefault(shape, _Run())
        if len(run.pages) < _MAX_ORIGINALS:
            run.pages.add(reduced)
            run.originals.add(original)
            run.depths.add(depth)
        if run.is_trap:
            self._take_up(shape, len(run.pages))
        if self._budget is not None:
            self._spend(self._budget, original, shape)

    def _spend(self, budget: int, original: int, shape: str) -> None:
        if original not in self._spent and len(self._spent) >= _MAX_ORIGINALS:
            self._spent.popitem(last=False)
        shapes = self._spent.setdefault(original, [])
        shapes.append(shape)
        if len(shapes) >= budget and len(self.slow) < _MAX_SHAPES:
            self.slow.update(shapes)
        if len(shapes) >= 2 * budget:
            del self._spent[original]
            for spent in set(shapes):
                self._take_up(spent, shapes.count(spent), is_over_budget=True)

    def _take_up(self, shape: str, pages: int, *, is_over_budget: bool = False) -> None:
        rule = self._rules.rule((shape, NOTHING_NEW))
        rule.evidence = Evidence(pages)
        if rule.state in ("watched", "withdrawn") and (is_over_budget or rule.is_proven):
            self._rules.set_state(rule, "in_force", f"{pages} pages in a row brought nothing new")
