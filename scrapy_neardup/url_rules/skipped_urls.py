"""What was skipped, kept until nobody can need it any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from .rule import UrlRule
from .skeletons import Form
from .url_parts import UrlParts

#: A rule by its name, and a family.
ProbeKey = tuple[str, str]


class SkippedUrl:
    """An address that was skipped.

    :ivar normal: what is left of it by the rules in force.
    :ivar rules: by which it was skipped.
    :ivar request: what is to be done if it must be fetched after all; nothing here looks at it.
    """

    __slots__ = ("address", "digest", "normal", "request", "rules")

    def __init__(
        self,
        address: UrlParts,
        digest: int,
        normal: Form,
        rules: tuple[UrlRule, ...],
        request: Any = None,
    ) -> None:
        self.address = address
        self.digest = digest
        self.normal = normal
        self.rules = rules
        self.request = request


class SkippedUrls:
    """Those of one site."""

    def __init__(self) -> None:
        self._all: dict[int, SkippedUrl] = {}
        self._by_normal: dict[int, dict[int, SkippedUrl]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[SkippedUrl]:
        return iter(self._all.values())

    def get(self, digest: int) -> SkippedUrl | None:
        return self._all.get(digest)

    def add(self, skipped: SkippedUrl) -> None:
        if (before := self._all.get(skipped.digest)) is not None:
            self.remove(before)
        self._all[skipped.digest] = skipped
        self._by_normal.setdefault(skipped.normal.digest, {})[skipped.digest] = skipped

    def remove(self, skipped: SkippedUrl) -> None:
        del self._all[skipped.digest]
        group = self._by_normal[skipped.normal.digest]
        del group[skipped.digest]
        if not group:
            del self._by_normal[skipped.normal.digest]

    def change(self, skipped: SkippedUrl, normal: Form) -> None:
        """Other components of it are left out from now on."""
        self.remove(skipped)
        skipped.normal = normal
        self.add(skipped)

    def of_normal(self, digest: int) -> list[SkippedUrl]:
        return list(self._by_normal.get(digest, {}).values())

    def let_go(self, number: int) -> int:
        """Forget so many, first those for whose rules most speaks; returns how many it were."""
        proof = {rule: rule.evidence.agreements for one in self for rule in one.rules}
        by_proof = sorted(
            self._all.values(),
            key=lambda one: min((proof[rule] for rule in one.rules), default=0),
            reverse=True,
        )[:number]
        for skipped in by_proof:
            self.remove(skipped)
        return len(by_proof)

    def spread(self, of_each: int, probes: Probes) -> Iterable[SkippedUrl]:
        """Of each rule, and family, that skipped any, so many of those that came last.

        Fewer where some were fetched all the same, but never none; and none where few came since
        this was asked last.
        """
        keys = {skipped.digest: probe_keys(skipped.rules, skipped.normal) for skipped in self}
        number = Counter(key for of_one in keys.values() for key in of_one)
        due = {key: max(1, of_each - probes.made[key]) for key in probes.ask(number)}
        chosen = []
        for skipped in reversed(self._all.values()):
            if any(due.get(key, 0) > 0 for key in keys[skipped.digest]):
                chosen.append(skipped)
                for key in keys[skipped.digest]:
                    due[key] = due.get(key, 0) - 1
        return chosen


class Probes:
    """What was fetched although it would have been skipped, by rule and family."""

    def __init__(self) -> None:
        self.made: Counter[ProbeKey] = Counter()
        #: How many were skipped when it was asked last.
        self.asked: dict[ProbeKey, int] = {}

    def ask(self, skipped: Counter[ProbeKey]) -> list[ProbeKey]:
        """Of which rules are so many addresses skipped that some should be tried?"""
        due = [key for key, number in skipped.items() if number >= 2 * self.asked.get(key, 0)]
        self.asked.update((key, skipped[key]) for key in due)
        return due


def probe_keys(rules: Iterable[UrlRule], form: Form) -> list[ProbeKey]:
    """Under which a probe of these rules is counted."""
    return [(rule.name, form.family) for rule in rules]
