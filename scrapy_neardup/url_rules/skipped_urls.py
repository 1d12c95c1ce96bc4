"""The URLs of a site that were skipped, with their requests, in case these must be made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .rule import UrlRule
from .skeletons import ReducedUrl
from .url_parts import UrlParts

#: The name of a rule, and a path pattern.
ProbeKey = tuple[str, str]


@dataclass(slots=True, eq=False)
class SkippedUrl:
    """A URL that was skipped.

    :ivar normalized: what the rules in force leave of it.
    :ivar rules: those by which it was skipped.
    :ivar request: is handed back if it must be made; nothing here looks at it.
    """

    parts: UrlParts
    digest: int
    normalized: ReducedUrl
    rules: tuple[UrlRule, ...]
    request: Any = None


class SkippedUrls:
    """The skipped URLs of one site, by their digests and by what rules leave of them."""

    def __init__(self) -> None:
        self._all: dict[int, SkippedUrl] = {}
        self._by_normalized: dict[int, dict[int, SkippedUrl]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[SkippedUrl]:
        return iter(self._all.values())

    def __contains__(self, skipped: SkippedUrl) -> bool:
        return self._all.get(skipped.digest) is skipped

    def with_normalized(self, digest: int) -> list[SkippedUrl]:
        """Return those of which the rules in force leave the same."""
        return list(self._by_normalized.get(digest, {}).values())

    def add(self, skipped: SkippedUrl) -> None:
        if (before := self._all.get(skipped.digest)) is not None:
            self.remove(before)
        self._all[skipped.digest] = skipped
        self._by_normalized.setdefault(skipped.normalized.digest, {})[skipped.digest] = skipped

    def remove(self, skipped: SkippedUrl) -> None:
        del self._all[skipped.digest]
        group = self._by_normalized[skipped.normalized.digest]
        del group[skipped.digest]
        if not group:
            del self._by_normalized[skipped.normalized.digest]

    def change(self, skipped: SkippedUrl, normalized: ReducedUrl) -> None:
        """Set what is left of a URL by changed rules."""
        self.remove(skipped)
        skipped.normalized = normalized
        self.add(skipped)

    def drop(self, number: int) -> int:
        """Forget URLs, those of the best proven rules first, and return how many."""
        proof = {rule: rule.evidence.agreements for one in self for rule in one.rules}
        by_proof = sorted(
            self._all.values(),
            key=lambda one: min((proof[rule] for rule in one.rules), default=0),
            reverse=True,
        )[:number]
        for skipped in by_proof:
            self.remove(skipped)
        return len(by_proof)

    def choose_probes(self, of_each: int, probes: Probes) -> Iterable[SkippedUrl]:
        """Return, of each rule and path pattern, the URLs that were skipped last.

        Fewer where probes were fetched before, but at least one; and none where not many more
        were skipped since the last choice.

        :param of_each: how many of a rule and pattern.
        """
        keys = {skipped.digest: probe_keys(skipped.rules, skipped.normalized) for skipped in self}
        number = Counter(key for of_one in keys.values() for key in of_one)
        due = Counter({key: max(1, of_each - probes.made[key]) for key in probes.due(number)})
        chosen = []
        for skipped in reversed(self._all.values()):
            if any(due[key] > 0 for key in keys[skipped.digest]):
                chosen.append(skipped)
                due.subtract(keys[skipped.digest])
        return chosen


class Probes:
    """Counts the URLs that were fetched to test rules that would have skipped them."""

    def __init__(self) -> None:
        self.made: Counter[ProbeKey] = Counter()
        #: How many URLs were skipped at the last choice.
        self.skipped: dict[ProbeKey, int] = {}

    def due(self, skipped: Counter[ProbeKey]) -> list[ProbeKey]:
        """Return the keys of which at least twice as many were skipped as at the last choice."""
        due = [key for key, number in skipped.items() if number >= 2 * self.skipped.get(key, 0)]
        self.skipped.update((key, skipped[key]) for key in due)
        return due


def probe_keys(rules: Iterable[UrlRule], reduced: ReducedUrl) -> list[ProbeKey]:
    """Return the keys under which a probe of these rules is counted."""
    return [(rule.name, reduced.pattern) for rule in rules]
