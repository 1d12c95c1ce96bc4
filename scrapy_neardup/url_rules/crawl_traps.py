"""Finds shapes of URLs that yield nothing new: calendars, sign-in pages, endless facets."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from .evidence import Evidence
from .rule import NOTHING_NEW, UrlRule
from .rule_set import RuleSet

#: A trap has so many different duplicates in a row, at least, by the same bound as other rules.
MIN_RUN = 30
#: And so many for each original, at least: many originals may only mean that they came first.
_COPIES_PER_ORIGINAL = 15
_MAX_SHAPES = 1000
_MAX_ORIGINALS = 10_000


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
