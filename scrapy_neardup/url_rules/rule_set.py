"""All rules of one site: which are in force or on trial, and for which path patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .path_patterns import PathPatterns
from .rule import NOTHING_NEW, Evidence, Key, State, UrlRule
from .url_parts import Component, is_path_component

#: The pattern of a rule for all paths.
EVERYWHERE = ""
#: A rule for all paths has to agree in so many patterns,
MIN_PATTERNS_EVERYWHERE = 3
#: and is then applied to a pattern in which it has so many agreements.
MIN_AGREEMENTS_IN_PATTERN = 3
#: A rule with so many hints or agreements, and no contradiction, is on trial: no URL is skipped
#: for it, but URLs are compared as if it were in force.
_HINTS_FOR_TRIAL, _HINTS_FOR_TRIAL_OF_ANY_SEGMENT = 4, 12
#: Rules of a site that are watched at most.
MAX_RULES = 2000
MAX_DEMAND = 8


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule came into force or was withdrawn.

    :ivar evidence: the reason, in words.
    """

    rule: UrlRule
    is_taken_up: bool
    evidence: str


@dataclass(slots=True)
class CrawlState:
    """Options and state that the sites of a crawl share.

    :ivar sample_rate: share of what would be skipped that is fetched, 0.0 to 1.0.
    :ivar cluster_budget: see :class:`~scrapy_neardup.url_rules.decisions.CrawlTraps`.
    :ivar seed: selects the share that is fetched.
    :ivar now: returns seconds since 1970.
    :ivar changes: of rules, in order.
    :ivar refetches: requests that were skipped and must be made.
    """

    sample_rate: float
    cluster_budget: int | None
    seed: int
    now: Callable[[], int]
    changes: list[RuleChange] = field(default_factory=list)
    refetches: list[Any] = field(default_factory=list)


class RuleSet:
    """The rules of a site; an :class:`.EvidenceCollector` counts their evidence.

    :ivar applied: what is left out of URLs by rules in force, with the path patterns.
    :ivar on_trial: that, and what is left out while rules are on trial.
    :ivar agreed: components with an agreement or a hint in any pattern.
    :ivar changed: keys whose evidence has changed since :meth:`reevaluate`.
    :ivar failures: in how many patterns a component was withdrawn.
    :ivar retests: how many of the next URLs that a rule would skip are fetched.
    :ivar observations: number of the last observation.
    """

    def __init__(self, site: str, crawl: CrawlState) -> None:
        self.by_key: dict[Key, UrlRule] = {}
        self.applied: dict[Component, set[str]] = {}
        self.on_trial: dict[Component, set[str]] = {}
        self.agreed: set[Component] = set()
        self.agreed_patterns: dict[Component, set[str]] = {}
        self.crawl = crawl
        self.changed: set[Key] = set()
        self.failures: Counter[Component] = Counter()
        self.retests: dict[Key, int] = {}
        self.uses_canonical_urls = True
        self.observations = 0
        self._site = site
        #: Whether a URL may have ceased to be superfluous since :meth:`reevaluate` was called.
        self._is_less = False
        #: Observations up to this one do not count, by rule.
        self._reset_at: dict[Key, int] = {}

    def is_applied(self, pattern: str, component: Component) -> bool:
        """Decide whether rules in force leave a component out of URLs of a pattern."""
        return pattern in self.applied.get(component, ())

    def is_on_trial(self, pattern: str, component: Component) -> bool:
        """Decide whether it is left out while rules are on trial."""
        patterns = self.on_trial.get(component, ())
        return pattern in patterns or (
            EVERYWHERE in patterns and (pattern, component) not in self.by_key
        )

    def in_force(self, pattern: str, component: Component) -> UrlRule | None:
        """Return the most general rule that leaves a component out of URLs of a pattern."""
        if not self.is_applied(pattern, component):
            return None
        general = self.by_key.get((EVERYWHERE, component))
        is_general = general is not None and general.state == "in_force"
        return general if is_general else self.by_key[pattern, component]

    def rule(self, key: Key) -> UrlRule:
        """Return the rule of a key, a new one if there is none."""
        rule = self.by_key.get(key)
        if rule is None:
            rule = self.by_key[key] = UrlRule(self._site, *key)
        return rule

    def counts(self, key: Key, observation: int) -> bool:
        """Decide whether an observation is later than the withdrawal of the rule."""
        return observation > self._reset_at.get(key, -1)

    def set_state(self, rule: UrlRule, state: State, why: str) -> None:
        rule.state = state
        rule.changed_at = self.crawl.now()
        self._is_less |= state != "in_force"
        self.crawl.changes.append(RuleChange(rule, state == "in_force", why))

    def withdraw(self, key: Key, why: str) -> None:
        """Withdraw a rule, which then needs twice the evidence, all of it new."""
        rule = self.by_key[key]
        rule.evidence = Evidence()
        rule.demand = min(2 * rule.demand, MAX_DEMAND)
        self._reset_at[key] = self.observations
        if not key[0]:
            self.agreed_patterns.pop(key[1], None)
        self.set_state(rule, "withdrawn", why)

    def ignore_canonical_urls(self) -> None:
        """Stop counting canonical URLs: those of this site are wrong."""
        self.uses_canonical_urls = False
        for key, rule in self.by_key.items():
            rule.evidence.ignore_canonical_urls()
            self.changed.add(key)

    def adopt(self, rule: UrlRule) -> None:
        """Take over a rule of an earlier crawl or of another worker; the newer state counts."""
        key = rule.pattern, rule.component
        if not self.uses_canonical_urls:
            rule.evidence.ignore_canonical_urls()
        own = self.by_key.get(key)
        if own is not None and (own.changed_at, own.state) >= (rule.changed_at, rule.state):
            return
        if own is not None and rule.state != "withdrawn":
            own.evidence.reconcile(rule.evidence)
            rule.evidence = own.evidence
        self.by_key[key] = rule
        self.agreed.add(rule.component)
        self.changed.add(key)

    def merge_patterns(self, patterns: PathPatterns) -> None:
        """Merge the rules of patterns that have become one."""
        merged: dict[Key, UrlRule] = {}
        for (pattern, component), rule in self.by_key.items():
            rule.pattern = _current(pattern, patterns)
            key = rule.pattern, component
            if key in merged:
                merged[key].evidence.add(rule.evidence)
                if rule.state in ("withdrawn", "off"):
                    merged[key].state = rule.state
            else:
                merged[key] = rule
        self.by_key = merged
        for component, names in self.agreed_patterns.items():
            self.agreed_patterns[component] = {_current(name, patterns) for name in names}
        self.applied.clear()
        self.on_trial.clear()
        self.changed |= set(merged)

    def reevaluate(self) -> tuple[set[Component], bool]:
        """Decide on the rules whose evidence has changed.

        :returns: the components that are left out of other URLs than before, on trial or not, and
            whether some URL may be superfluous no longer.
        """
        changed: set[Component] = set()
        while self.changed:
            pattern, component = key = self.changed.pop()
            if component == NOTHING_NEW or key not in self.by_key:
                continue
            general = self.rule((EVERYWHERE, component))
            if self._reevaluate_everywhere(component, general, changed):
                self.changed |= {k for k in self.by_key if k[1] == component and k[0]}
            if pattern:
                is_applied, is_on_trial = self._reevaluate_pattern(self.by_key[key], general)
                if _set_member(self.applied, key, is_applied):
                    changed.add(component)
                    self._is_less |= not is_applied
                if _set_member(self.on_trial, key, is_applied or is_on_trial):
                    changed.add(component)
        self._bound()
        is_less, self._is_less = self._is_less, False
        return changed, is_less

    def _reevaluate_everywhere(
        self, component: Component, general: UrlRule, changed: set[Component]
    ) -> bool:
        """Decide on a rule for all paths, and return whether that affects other rules."""
        before = general.state
        patterns = len(self.agreed_patterns.get(component, ()))
        if (
            general.state in ("watched", "withdrawn")
            and patterns >= MIN_PATTERNS_EVERYWHERE
            and general.is_proven
        ):
            self.failures.pop(component, None)
            self.set_state(general, "in_force", general.evidence_text)
        # Where nothing else is known, a path segment selects a page.
        holds = general.state == "in_force" and not is_path_component(component)
        if _set_member(self.on_trial, (EVERYWHERE, component), holds):
            changed.add(component)
            return True
        return before != general.state

    def _reevaluate_pattern(self, rule: UrlRule, general: UrlRule) -> tuple[bool, bool]:
        """Decide on the rule of a pattern, and return whether it is applied, and on trial."""
        evidence, component = rule.evidence, rule.component
        is_uncontradicted = rule.state == "watched" and not evidence.contradictions
        is_general = (
            general.state == "in_force"
            and is_uncontradicted
            and evidence.agreements >= MIN_AGREEMENTS_IN_PATTERN
        )
        if rule.state in ("watched", "withdrawn") and not is_general and rule.is_proven:
            self.set_state(rule, "in_force", rule.evidence_text)
        is_applied = (rule.state == "in_force" or is_general) and general.state != "off"
        # A rule on any last segment would hide those on single ones, such as "print".
        is_any = component[0] == "segment_at"
        hints = _HINTS_FOR_TRIAL_OF_ANY_SEGMENT if is_any else _HINTS_FOR_TRIAL
        return is_applied, rule.state == "watched" and is_uncontradicted and (
            evidence.hints >= hints or EVERYWHERE in self.on_trial.get(component, ())
        )

    def _bound(self) -> None:
        """Forget the oldest rules with little evidence when there are too many."""
        if len(self.by_key) <= MAX_RULES:
            return
        weak = [
            key
            for key, rule in self.by_key.items()
            if rule.state == "watched" and rule.evidence.hints < _HINTS_FOR_TRIAL
        ]
        forgotten = dict.fromkeys(weak[: MAX_RULES // 4])
        rest = [key for key in self.by_key if key not in forgotten]
        for key in (*forgotten, *rest[: max(0, len(rest) - 2 * MAX_RULES)]):
            del self.by_key[key]
            self._reset_at.pop(key, None)
            self.retests.pop(key, None)
            if not key[0]:
                self.agreed_patterns.pop(key[1], None)
            _set_member(self.applied, key, False)
            _set_member(self.on_trial, key, False)
        self.agreed &= {component for _, component in self.by_key}


def _set_member(patterns: dict[Component, set[str]], key: Key, is_member: bool) -> bool:
    """Add or remove a key, and return whether that changes anything."""
    pattern, component = key
    members = patterns.get(component, set())
    if (pattern in members) == is_member:
        return False
    members ^= {pattern}
    if members:
        patterns[component] = members
    else:
        del patterns[component]
    return True


def _current(pattern: str, patterns: PathPatterns) -> str:
    """Return the current name of a path pattern, or of a shape."""
    path, mark, names = pattern.partition("?")
    if path in ("", "/"):
        return pattern
    # A segment that varied does so for ever.
    return patterns.name(tuple(path[1:].split("/"))) + mark + names
