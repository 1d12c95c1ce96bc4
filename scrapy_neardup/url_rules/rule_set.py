"""All rules of one site: what is counted of each, which are in force, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from .evidence import Evidence, Key
from .path_patterns import PathPatterns
from .rule import NOTHING_NEW, State, UrlRule
from .skeletons import LeftOut
from .url_parts import Component, is_of_path, text_hash

EVERYWHERE = ""
#: Of how many patterns a rule must be borne out that is to hold everywhere,
FAMILIES_EVERYWHERE = 3
#: and how often within a family before it is applied there.
AGREEMENTS_IN_FAMILY = 3
#: A rule with so many hints or agreements, and no contradiction, is taken for granted while other
#: rules are tried; nothing is skipped for it.
_PROMISING, _PROMISING_ANY_TEXT = 4, 12
#: How many rules of a site are watched at most.
MAX_RULES = 2000
#: So many addresses of a family are fetched all the same when a rule failed in another family.
_PROBATION = 3
_MAX_DEMAND = 8
#: So often two contents may hang on one of several components before one of them is taken for it.
_DISPUTES = 3
#: Contradictions in so many patterns take a rule back that held everywhere.
_CONTRADICTED_FAMILIES = 2


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule was taken up or withdrawn.

    :ivar evidence: what spoke for it, or against it, in words.
    """

    rule: UrlRule
    is_taken_up: bool
    evidence: str


class RuleSet:
    """The rules of a site.

    :param now: the time in seconds since 1970.
    """

    def __init__(self, site: str, now: Callable[[], int]) -> None:
        self.rules: dict[Key, UrlRule] = {}
        #: What is left out anywhere, and what is left out anywhere while rules are tried.
        self.applied_components: Counter[Component] = Counter()
        self.tried_components: Counter[Component] = Counter()
        #: What something speaks for in any family, or spoke for once.
        self.agreed: set[Component] = set()
        self.changes: list[RuleChange] = []
        #: Does what canonical addresses say count?
        self.believes_names = True
        #: Comparisons that are older than this count no more, by rule.
        self._fresh_from: dict[Key, int] = {}
        self._site = site
        self._now = now
        #: The number of the last observation.
        self.observations = 0
        self._patterns: dict[Component, set[str]] = {}
        self._applied: set[Key] = set()
        self._on_trial: set[Key] = set()
        self._on_trial_everywhere: set[Component] = set()
        self._dirty: set[Key] = set()
        self._probation: dict[Key, int] = {}
        self._failed_in: Counter[Component] = Counter()
        self._disputes: Counter[Key] = Counter()
        #: What may explain trials of other rules of its family.
        self._suspected: set[Key] = set()

    # --- what holds -------------------------------------------------------------------------

    def applies(self, family: str, component: Component) -> bool:
        """Is it left out of the addresses of a family?"""
        return (family, component) in self._applied

    def is_tried(self, family: str, component: Component) -> bool:
        """Is it left out while other rules are tried?"""
        key = family, component
        if key in self._applied or key in self._on_trial:
            return True
        return component in self._on_trial_everywhere and key not in self.rules

    def in_force(self, family: str, component: Component) -> UrlRule | None:
        """The most general rule by which it is left out; ``None`` where it is not."""
        key = family, component
        if key not in self._applied:
            return None
        general = self.rules.get((EVERYWHERE, component))
        if general is not None and general.state == "in_force":
            return general
        return self.rules[key]

    def exhausted(self, shape: str) -> UrlRule | None:
        """The rule that addresses of this shape bring nothing new, where it is in force."""
        rule = self.rules.get((shape, NOTHING_NEW))
        return rule if rule is not None and rule.state == "in_force" else None

    def takes_probe(self, left_out: Iterable[LeftOut]) -> bool:
        """Is one more address to be fetched, to see whether these still hold?"""
        for family, component, _ in left_out if self._probation else ():
            key = family, component
            if left := self._probation.get(key):
                self._probation[key] = left - 1
                return True
        return False

    def _suspicion(self, key: Key) -> float:
        """How likely it is that this is what two contents hang on, beside others."""
        rules = [self.rules[k] for k in (key, (EVERYWHERE, key[1])) if k in self.rules]
        against = sum(rule.evidence.contradictions for rule in rules) + self._failed_in[key[1]]
        return (1 + against) / (1 + sum(rule.evidence.agreements for rule in rules))

    def idle_so_far(self, family: str, components: Iterable[Component]) -> int:
        """Of how many of these was it not seen that contents hang on them?"""
        idle = 0
        for component in components:
            rule = self.rules.get((family, component))
            idle += rule is None or not rule.evidence.contradictions
        return idle

    def seems_idle(self, key: Key) -> bool:
        """Does something speak for it that nothing hangs on this, and nothing against it?"""
        rule = self.rules.get(key)
        return (
            rule is not None and bool(rule.evidence.agreements) and not rule.evidence.contradictions
        )

    # --- what is counted --------------------------------------------------------------------

    def agree(
        self,
        key: Key,
        content: int,
        seen: int,
        *,
        by_name: bool = False,
        suspects: Collection[Key] = (),
    ) -> None:
        """One content under two addresses that differ only in this.

        :param seen: which observation it was; those from before a rule was withdrawn are old.
        :param by_name: only a canonical address says so.
        :param suspects: what they differ in as well, and what nothing may hang on.
        """
        if self._is_explained(suspects):
            return
        self.agreed.add(key[1])
        self._suspect(suspects)
        for rule_key in (key, (EVERYWHERE, key[1])):
            rule = self._rule(rule_key)
            if seen <= self._fresh_from.get(rule_key, -1):
                continue
            if by_name:
                rule.evidence.agree_by_name(content)
            else:
                rule.evidence.agree(content, suspects)
        if not by_name:
            self._patterns.setdefault(key[1], set()).add(key[0])
        self._dirty.add(key)

    def hint(self, key: Key, content: int) -> None:
        """One content under two addresses that differ in this, and in more."""
        self._rule(key).evidence.hint(content)
        self._dirty.add(key)

    def contradict(
        self,
        key: Key,
        contents: tuple[int, int],
        seen: int,
        *,
        brings_new: bool,
        suspects: Collection[Key] = (),
    ) -> None:
        """Two contents under addresses that differ only in this.

        :param brings_new: would a page have been lost that is not stored otherwise?
        :param suspects: see :meth:`agree`.
        """
        if key not in self.rules and key[1][0] in ("segment", "param") and len(key[1]) == 3:
            # A text or a value that nothing spoke for yet: nearly all are like that.
            return
        rule, general = self._rule(key), self._rule((EVERYWHERE, key[1]))
        if seen <= self._fresh_from.get(key, -1):
            return
        rule.evidence.contradict(*contents, suspects)
        general.evidence.contradict(text_hash(key[0]), 0, suspects)
        self._suspect(suspects)
        if key in self._applied and (brings_new or not rule.evidence.is_strong(rule.max_share)):
            self._withdraw(key, rule, general)
        self._dirty.add(key)
        if self._matters(key):
            self._void(key)

    def _matters(self, key: Key) -> bool:
        """Is it known that contents hang on it?"""
        rule = self.rules.get(key)
        if rule is None:
            return False
        # Few contradictions do not keep a rule from being in force.
        return rule.state == "withdrawn" or (
            rule.evidence.is_contradicted and key not in self._applied
        )

    def _is_explained(self, suspects: Iterable[Key]) -> bool:
        """Do two addresses differ in what matters? Then what they show says nothing of the rest."""
        return any(self._matters(suspect) for suspect in suspects)

    def _suspect(self, suspects: Collection[Key]) -> None:
        self._suspected.update(suspects)
        if len(self._suspected) > MAX_RULES:
            # What was counted stays so, whatever turns out to explain it.
            self._suspected.clear()

    def _void(self, suspect: Key) -> None:
        """It matters: what was seen where it was left out as well proves nothing."""
        if suspect not in self._suspected:
            return
        self._suspected.discard(suspect)
        for key, rule in self.rules.items():
            if key[0] in (suspect[0], EVERYWHERE) and rule.evidence.void(suspect):
                self._dirty.add(key)
                if rule.state == "in_force" and not rule.evidence.is_strong(rule.max_share):
                    self._set(rule, "watched", "what spoke for it proves nothing")

    def doubt(
        self, key: Key, contents: tuple[int, int], seen: int, suspects: Collection[Key]
    ) -> None:
        """Two contents under addresses that differ in this, and in what is on trial."""
        if self._is_explained(suspects):
            return
        if key in self._applied:
            self._disputes[key] += 1
            self._probation[key] = _PROBATION
            if self._disputes[key] < _DISPUTES:
                return
            del self._disputes[key]
        self.contradict(key, contents, seen, brings_new=False, suspects=suspects)

    def dispute(
        self, keys: list[Key], contents: tuple[int, int], seen: int, *, brings_new: bool
    ) -> None:
        """Two contents under addresses that differ in these, and nobody knows which it is.

        The next addresses that would be skipped for them are fetched, to find out. What is in
        dispute again and again is taken to be it.
        """
        self._disputes.update(keys)
        worst = max(keys, key=lambda key: (self._disputes[key], self._suspicion(key)))
        if len(keys) == 1 or self._disputes[worst] >= _DISPUTES:
            others = [key for key in keys if key != worst]
            self.contradict(worst, contents, seen, brings_new=brings_new, suspects=others)
            for key in keys:
                del self._disputes[key]
        else:
            self._probation.update((key, _PROBATION) for key in keys if key in self._applied)
        if len(self._disputes) > MAX_RULES:
            self._disputes.clear()

    def exhaust(self, shape: str, pages: int, *, is_enough: bool = False) -> None:
        """So many pages of this shape in a row brought nothing new.

        :param is_enough: a budget says so, however little it proves.
        """
        rule = self._rule((shape, NOTHING_NEW))
        rule.evidence = Evidence(pages)
        if rule.state in ("watched", "withdrawn") and (is_enough or rule.is_proven):
            self._set(rule, "in_force", f"{pages} pages in a row brought nothing new")

    def replenish(self, shape: str) -> None:
        """A page of this shape is new after all."""
        rule = self.rules.get((shape, NOTHING_NEW))
        if rule is not None and rule.state == "in_force":
            rule.evidence = Evidence()
            rule.demand = min(2 * rule.demand, _MAX_DEMAND)
            self._set(rule, "withdrawn", "a page was new")

    def disbelieve_names(self) -> None:
        """The canonical addresses of this site say nothing."""
        self.believes_names = False
        for key, rule in self.rules.items():
            rule.evidence.disbelieve_names()
            self._dirty.add(key)

    def adopt(self, rule: UrlRule) -> None:
        """Take over a rule of an earlier crawl, or of another worker; the newer state counts."""
        key = rule.family, rule.component
        if not self.believes_names:
            rule.evidence.disbelieve_names()
        own = self.rules.get(key)
        if own is not None and (own.changed_at, own.state) >= (rule.changed_at, rule.state):
            return
        if own is not None and rule.state != "withdrawn":
            own.evidence.reconcile(rule.evidence)
            rule.evidence = own.evidence
        self.rules[key] = rule
        self.agreed.add(rule.component)
        self._dirty.add(key)

    def rename(self, patterns: PathPatterns) -> None:
        """Other segments vary from now on: count patterns as one that have become one."""
        renamed: dict[Key, UrlRule] = {}
        for (family, component), rule in self.rules.items():
            rule.family = _renamed(family, patterns)
            key = rule.family, component
            if key in renamed:
                renamed[key].evidence.add(rule.evidence)
                if rule.state in ("withdrawn", "off"):
                    renamed[key].state = rule.state
            else:
                renamed[key] = rule
        self.rules = renamed
        for component, names in self._patterns.items():
            self._patterns[component] = {_renamed(name, patterns) for name in names}
        for keys in (self._applied, self._on_trial, self._suspected):
            keys.clear()
        for counter in (self.applied_components, self.tried_components):
            counter.clear()
        self._dirty |= set(renamed)

    # --- what follows -----------------------------------------------------------------------

    def settle(self) -> tuple[set[Key], set[Key]]:
        """Decide anew on what was counted since.

        :returns: what is left out now and was not before, or the other way round; and the same for
            what is left out while rules are tried.
        """
        applied: set[Key] = set()
        tried: set[Key] = set()
        while self._dirty:
            family, component = key = self._dirty.pop()
            if component == NOTHING_NEW or key not in self.rules:
                continue
            general = self._rule((EVERYWHERE, component))
            if self._settle_general(component, general, tried):
                self._dirty |= {k for k in self.rules if k[1] == component and k[0]}
            if family:
                self._settle_local(key, self.rules[key], general, applied, tried)
        self._bound()
        return applied, tried

    def _settle_general(self, component: Component, general: UrlRule, tried: set[Key]) -> bool:
        """Has anything changed for all patterns?"""
        before = general.state
        spread = len(self._patterns.get(component, ())) >= FAMILIES_EVERYWHERE
        if general.state in ("watched", "withdrawn") and spread and general.is_proven:
            self._failed_in.pop(component, None)
            self._set(general, "in_force", general.evidence_text)
        # A segment stands for another page wherever nothing else is known.
        holds = general.state == "in_force" and not is_of_path(component)
        if holds != (component in self._on_trial_everywhere):
            tried.add((EVERYWHERE, component))
            if holds:
                self._on_trial_everywhere.add(component)
                self.tried_components[component] += 1
            else:
                self._on_trial_everywhere.discard(component)
                self._less(self.tried_components, component)
            return True
        return before != general.state

    def _settle_local(
        self, key: Key, rule: UrlRule, general: UrlRule, applied: set[Key], tried: set[Key]
    ) -> None:
        """Decide anew for one family."""
        is_general = general.state == "in_force" and self._bears_out(rule)
        if rule.state in ("watched", "withdrawn") and not is_general and rule.is_proven:
            self._set(rule, "in_force", rule.evidence_text)
        applies = (rule.state == "in_force" or is_general) and general.state != "off"
        promising = rule.state == "watched" and not rule.evidence.contradictions
        # Print, amp and the like are rules of their own, and would never be seen behind this one.
        enough = _PROMISING_ANY_TEXT if key[1][0] == "segment_at" else _PROMISING
        is_tried = promising and (
            rule.evidence.hints >= enough or key[1] in self._on_trial_everywhere
        )
        if self._put(key, self._applied, self.applied_components, applies):
            applied.add(key)
        if self._put(key, self._on_trial, self.tried_components, applies or is_tried):
            tried.add(key)

    def _bears_out(self, rule: UrlRule) -> bool:
        """Does a family bear out what holds everywhere?"""
        evidence = rule.evidence
        return (
            rule.state == "watched"
            and evidence.agreements >= AGREEMENTS_IN_FAMILY
            and not evidence.contradictions
        )

    def _put(self, key: Key, keys: set[Key], components: Counter[Component], is_in: bool) -> bool:
        if (key in keys) == is_in:
            return False
        if is_in:
            keys.add(key)
            components[key[1]] += 1
        else:
            keys.discard(key)
            self._less(components, key[1])
        return True

    def _less(self, components: Counter[Component], component: Component) -> None:
        components[component] -= 1
        if components[component] <= 0:
            del components[component]

    def _withdraw(self, key: Key, rule: UrlRule, general: UrlRule) -> None:
        component = key[1]
        self._take_back(key, rule, "two contents where there should be one")
        self._failed_in[component] += 1
        if general.state == "in_force" and (
            self._failed_in[component] >= _CONTRADICTED_FAMILIES
            or not general.evidence.is_strong(general.max_share)
        ):
            self._take_back((EVERYWHERE, component), general, "it failed in more than one family")
        for other in self._applied:
            if other[1] == component and other != key:
                self._probation[other] = _PROBATION

    def _take_back(self, key: Key, rule: UrlRule, why: str) -> None:
        rule.evidence = Evidence()
        rule.demand = min(2 * rule.demand, _MAX_DEMAND)
        self._fresh_from[key] = self.observations
        if not key[0]:
            self._patterns.pop(key[1], None)
        self._set(rule, "withdrawn", why)

    def _set(self, rule: UrlRule, state: State, why: str) -> None:
        rule.state = state
        rule.changed_at = self._now()
        self.changes.append(RuleChange(rule, state == "in_force", why))

    def _rule(self, key: Key) -> UrlRule:
        rule = self.rules.get(key)
        if rule is None:
            rule = self.rules[key] = UrlRule(self._site, *key)
        return rule

    def _bound(self) -> None:
        """Forget what little speaks for when there are too many, oldest first."""
        if len(self.rules) <= MAX_RULES:
            return
        weak: Iterator[Key] = (
            key
            for key, rule in self.rules.items()
            if rule.state == "watched" and rule.evidence.hints < _PROMISING
        )
        for key in list(weak)[: MAX_RULES // 4]:
            self._forget(key)
        for key in list(self.rules)[: max(0, len(self.rules) - 2 * MAX_RULES)]:
            self._forget(key)
        self.agreed &= {component for _, component in self.rules}

    def _forget(self, key: Key) -> None:
        del self.rules[key]
        self._fresh_from.pop(key, None)
        self._probation.pop(key, None)
        if not key[0]:
            self._patterns.pop(key[1], None)
        self._put(key, self._applied, self.applied_components, False)
        self._put(key, self._on_trial, self.tried_components, False)
        if not key[0] and key[1] in self._on_trial_everywhere:
            self._on_trial_everywhere.discard(key[1])
            self._less(self.tried_components, key[1])


def _renamed(family: str, patterns: PathPatterns) -> str:
    """What a family is called from now on; of a shape, its path."""
    path, mark, names = family.partition("?")
    if path in ("", "/"):
        return family
    # A segment that varied does so for ever.
    return patterns.name(tuple(path[1:].split("/"))) + mark + names
