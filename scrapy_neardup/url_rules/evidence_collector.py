"""Counts what comparisons of URLs show of the rules of a site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from .rule import Key
from .rule_set import EVERYWHERE, MAX_RULES, RuleSet
from .url_parts import text_hash

#: So many of the next URLs are fetched for a rule that failed in another pattern.
_RETESTS = 3
#: So often two contents may be explained by one of several rules before one is chosen.
_MAX_UNEXPLAINED = 3
#: A rule for all paths is withdrawn when it fails in so many patterns.
_MAX_FAILURES = 2


class EvidenceCollector:
    """Counts agreements and contradictions, and withdraws rules that fail.

    In all methods, *observation* is the number of the later observation of two that are compared:
    what was observed before a rule was withdrawn does not count. *Confounders* are keys of what
    else two URLs differ in, of which it is not known whether it selects a page. A trial does not
    count once one of its confounders turns out to do so.
    """

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        #: Counts contradictions that one of several rules explains.
        self._unexplained: Counter[Key] = Counter()
        self._confounders: set[Key] = set()

    def agree(
        self,
        key: Key,
        content: int,
        observation: int,
        *,
        by_canonical_url: bool = False,
        confounders: Collection[Key] = (),
    ) -> None:
        """Count one content at two URLs that differ only in the component of the key.

        :param by_canonical_url: only the canonical URL of a page says so.
        """
        if any(map(self._selects_pages, confounders)):
            return
        rules = self._rules
        rules.agreed.add(key[1])
        self._note(confounders)
        for rule_key in (key, (EVERYWHERE, key[1])):
            evidence = rules.rule(rule_key).evidence
            if not rules.counts(rule_key, observation):
                continue
            if by_canonical_url:
                evidence.agree_by_canonical_url(content)
            else:
                evidence.agree(content, confounders)
        if not by_canonical_url:
            rules.agreed_patterns.setdefault(key[1], set()).add(key[0])
        rules.changed.add(key)

    def hint(self, key: Key, content: int) -> None:
        """Count one content at two URLs that differ in this component and in others."""
        self._rules.rule(key).evidence.hint(content)
        self._rules.changed.add(key)

    def contradict(
        self,
        key: Key,
        contents: tuple[int, int],
        observation: int,
        *,
        brings_new: bool,
        confounders: Collection[Key] = (),
    ) -> None:
        """Count two contents at URLs that differ only in the component of the key.

        :param brings_new: whether a page would have been lost that is not stored otherwise.
        """
        rules, component = self._rules, key[1]
        is_single = component[0] in ("segment", "param") and len(component) == 3
        if is_single and key not in rules.by_key:
            # Nearly all single segments and values select pages.
            return
        rule, general = rules.rule(key), rules.rule((EVERYWHERE, component))
        if not rules.counts(key, observation):
            return
        rule.evidence.contradict(*contents, confounders)
        general.evidence.contradict(text_hash(key[0]), 0, confounders)
        self._note(confounders)
        if rules.is_applied(*key) and (brings_new or not rule.evidence.is_strong(rule.max_share)):
            self._withdraw(key)
        rules.changed.add(key)
        if self._selects_pages(key):
            self._discard_explained_by(key)

    def contradict_with_confounders(
        self, key: Key, contents: tuple[int, int], observation: int, confounders: Collection[Key]
    ) -> None:
        """Count two contents at URLs that differ in a component and in what is on trial.

        A rule in force has to be contradicted like this several times.
        """
        if any(map(self._selects_pages, confounders)):
            return
        if self._rules.is_applied(*key):
            self._unexplained[key] += 1
            self._rules.retests[key] = _RETESTS
            if self._unexplained[key] < _MAX_UNEXPLAINED:
                return
            del self._unexplained[key]
        self.contradict(key, contents, observation, brings_new=False, confounders=confounders)

    def contradict_one_of(
        self, keys: list[Key], contents: tuple[int, int], observation: int, *, brings_new: bool
    ) -> None:
        """Count two contents at URLs that differ in several components.

        The next URLs that would be skipped for these are fetched, to find out which one it is.
        When that goes on, the likeliest is contradicted.
        """
        self._unexplained.update(keys)
        worst = max(keys, key=lambda key: (self._unexplained[key], self._likelihood(key)))
        if len(keys) == 1 or self._unexplained[worst] >= _MAX_UNEXPLAINED:
            others = [key for key in keys if key != worst]
            self.contradict(worst, contents, observation, brings_new=brings_new, confounders=others)
            for key in keys:
                del self._unexplained[key]
        else:
            applied = (key for key in keys if self._rules.is_applied(*key))
            self._rules.retests.update(dict.fromkeys(applied, _RETESTS))
        if len(self._unexplained) > MAX_RULES:
            self._unexplained.clear()

    def clear_confounders(self) -> None:
        """Let all trials count, whatever turns out to explain them."""
        self._confounders.clear()

    def _selects_pages(self, key: Key) -> bool:
        """Decide whether contents are known to depend on the component."""
        rule = self._rules.by_key.get(key)
        if rule is None:
            return False
        # A rule in force may have some contradictions.
        return rule.state == "withdrawn" or (
            rule.evidence.is_contradicted and not self._rules.is_applied(*key)
        )

    def _likelihood(self, key: Key) -> float:
        """Return how likely contents depend on the component, relative to other ones."""
        by_key = self._rules.by_key
        rules = [by_key[k] for k in (key, (EVERYWHERE, key[1])) if k in by_key]
        contradictions = sum(rule.evidence.contradictions for rule in rules)
        agreements = sum(rule.evidence.agreements for rule in rules)
        return (1 + contradictions + self._rules.failures[key[1]]) / (1 + agreements)

    def _note(self, confounders: Collection[Key]) -> None:
        self._confounders.update(confounders)
        if len(self._confounders) > MAX_RULES:
            self._confounders.clear()

    def _discard_explained_by(self, confounder: Key) -> None:
        """Discard trials in which this differed as well, as it is known to select pages."""
        if confounder not in self._confounders:
            return
        self._confounders.discard(confounder)
        for key, rule in self._rules.by_key.items():
            if key[0] not in (confounder[0], EVERYWHERE):
                continue
            if rule.evidence.discard_explained_by(confounder):
                self._rules.changed.add(key)
                if rule.state == "in_force" and not rule.evidence.is_strong(rule.max_share):
                    self._rules.set_state(rule, "watched", "what spoke for it proves nothing")

    def _withdraw(self, key: Key) -> None:
        """Withdraw a rule, the one for all paths where it fails too, and retest it elsewhere."""
        rules, component = self._rules, key[1]
        rules.withdraw(key, "two contents where there should be one")
        rules.failures[component] += 1
        general = rules.by_key[EVERYWHERE, component]
        if general.state == "in_force" and (
            rules.failures[component] >= _MAX_FAILURES
            or not general.evidence.is_strong(general.max_share)
        ):
            rules.withdraw((EVERYWHERE, component), "it failed in more than one path pattern")
        for pattern in rules.applied.get(component, set()) - {key[0]}:
            rules.retests[pattern, component] = _RETESTS
