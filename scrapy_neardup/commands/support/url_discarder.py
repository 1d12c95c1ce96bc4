"""Converts learned rules to those of ``duplicate-url-discarder``, where that is possible.

Its rules (version 0.3) remove parts of URLs that match a pattern of ``url-matcher``. There, a ``*``
matches anything, slashes included; a path is a prefix unless the pattern ends in ``|``; and a
pattern with a path is for one host, with or without ``www.``. If a URL matches two patterns, both
rules apply. A rule whose conversion would match more URLs than itself is left out with a reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...url_rules.rule import UrlRule
from ...url_rules.url_parts import Component

#: All rules have the same order, because none depends on another.
_ORDER = 100
_WWW: Component = ("host", "www")
_TRAILING_SLASH: Component = ("segment", "", "last")

_NO_PROCESSOR = {
    "path_param": "it cannot remove path parameters",
    "scheme": "it cannot unify http and https",
    "host": "it removes www. only together with trailing slashes",
    "nothing_new": "it has no rules for families that bring nothing new",
}


class Inexpressible(Exception):
    """A rule has no equivalent; the message says why."""


class Conversion(NamedTuple):
    """The rules in force, converted where possible.

    :ivar rules: the converted rules, as written to the file.
    :ivar converted: the learned rules that these express.
    :ivar refused: the other learned rules, and the reasons.
    """

    rules: list[dict[str, Any]]
    converted: list[UrlRule]
    refused: list[tuple[UrlRule, str]]


@dataclass(frozen=True, slots=True)
class _Paths:
    """A set of paths of a site.

    :ivar segments: ``"*"`` matches any segment.
    :ivar is_open: whether more segments may follow.
    """

    segments: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def pattern(self) -> str:
        """The pattern for url-matcher, in which ``*`` matches deeper paths as well."""
        return "/" + "/".join(self.segments) + ("" if self.is_open else "|")

    @property
    def beyond(self) -> list[str]:
        """Patterns to exclude: unwanted matches with more segments, or with empty ones."""
        size = len(self.segments)
        if "*" not in self.segments:
            return []
        empty = [
            "/" + "/".join((*self.segments[:place], "", ""))
            for place in range(size - 1)
            if self.segments[place] == "*"
        ]
        if self.is_open:
            return empty
        if self.segments[-1] == "*":
            empty.append("/" + "/".join((*self.segments[:-1], "|")))
        return ["/*" * (size + 1), *empty]

    def meets(self, other: _Paths) -> bool:
        """Can a path belong to both?"""
        sizes = len(self.segments), len(other.segments)
        return (
            (self.is_open or sizes[0] >= sizes[1])
            and (other.is_open or sizes[1] >= sizes[0])
            and all(
                "*" in (a, b) or a.lower() == b.lower()
                for a, b in zip(self.segments, other.segments, strict=False)
            )
        )


_ALL = _Paths(("",), is_open=True)


class _Cut(NamedTuple):
    """A segment to be removed from some paths."""

    paths: _Paths
    place: int


def convert(rules: Iterable[UrlRule]) -> Conversion:
    """Convert the rules in force among all rules of a store."""
    of_site: defaultdict[str, list[UrlRule]] = defaultdict(list)
    # Rules for a whole site come first, because they may imply others.
    for rule in sorted(rules, key=lambda r: (bool(r.pattern), -r.evidence.agreements, r.name)):
        of_site[rule.site].append(rule)
    conversions = [_Site(of_site[site]).convert() for site in sorted(of_site)]
    return Conversion(
        [rule for conversion in conversions for rule in conversion.rules],
        [rule for conversion in conversions for rule in conversion.converted],
        [refused for conversion in conversions for refused in conversion.refused],
    )


class _Site:
    """Converts the rules of one site.

    :param rules: all rules of the site, those for the whole site first.
    """

    def __init__(self, rules: Sequence[UrlRule]) -> None:
        self._rules = rules
        off = {rule.component for rule in rules if rule.state == "off" and not rule.pattern}
        self._in_force = [
            rule for rule in rules if rule.state == "in_force" and rule.component not in off
        ]
        #: Components of rules for the whole site, whose exceptions are all known: there is one
        #: family for each contradiction.
        self._everywhere = {
            rule.component
            for rule in self._in_force
            if not rule.pattern
            and rule.evidence.contradictions <= len(self._failures(rule.component))
        }
        self._cuts: list[_Cut] = []
        self._converted_everywhere: set[Component] = set()

    def convert(self) -> Conversion:
        """Convert the rules in force."""
        done = Conversion([], [], [])
        for rule in self._in_force:
            try:
                done.rules.extend(self._convert_rule(rule))
            except Inexpressible as reason:
                done.refused.append((rule, str(reason)))
            else:
                done.converted.append(rule)
                if not rule.pattern:
                    self._converted_everywhere.add(rule.component)
        return done._replace(rules=_merged(done.rules))

    def _convert_rule(self, rule: UrlRule) -> list[dict[str, Any]]:
        if rule.component in self._converted_everywhere:
            return []
        if not rule.pattern and rule.component not in self._everywhere:
            raise Inexpressible("the exceptions to the rule are not in the store")
        if not rule.pattern and rule.component in (_WWW, _TRAILING_SLASH):
            return self._normalizer(rule)
        kind = str(rule.component[0])
        if kind in _NO_PROCESSOR:
            raise Inexpressible(_NO_PROCESSOR[kind])
        if kind == "param":
            if len(rule.component) == 3:
                raise Inexpressible("it removes a parameter whatever its value")
            [paths] = _where(rule)
            return [self._rule(rule, "queryRemoval", rule.component[1], paths)]
        cuts = _cuts(rule)
        self._require_disjoint(cuts)
        converted = [self._rule(rule, "subpathRemoval", cut.place, cut.paths) for cut in cuts]
        self._cuts += cuts
        return converted

    def _normalizer(self, rule: UrlRule) -> list[dict[str, Any]]:
        """Convert a rule to the processor that removes two parts, if both rules hold everywhere."""
        both = {_WWW, _TRAILING_SLASH}
        if not both <= self._everywhere or any(map(self._failures, both)):
            raise Inexpressible("it removes both www. and trailing slashes on a whole site")
        return [_rule("normalizer", [], rule.site, [])]

    def _rule(
        self, rule: UrlRule, processor: str, argument: str | int, paths: _Paths
    ) -> dict[str, Any]:
        failing = [
            other.pattern for failure in self._failures(rule.component) for other in _where(failure)
        ]
        if any(_leaves_nothing(pattern, paths) for pattern in failing):
            raise Inexpressible("its patterns cannot exclude the paths where the rule fails")
        excluded = [*paths.beyond, *failing]
        # A pattern without a path is for all hosts of the site; excluded patterns have a path.
        where = "" if paths == _ALL and not excluded else paths.pattern
        return _rule(
            processor,
            [argument],
            rule.site + where,
            [rule.site + path for path in excluded],
        )

    def _failures(self, component: Component) -> list[UrlRule]:
        """Return the rules of the families in which a component may not be removed."""
        return [
            rule
            for rule in self._rules
            if rule.component == component
            and rule.pattern
            and rule.state != "in_force"
            and (rule.state != "watched" or rule.evidence.contradictions)
        ]

    def _require_disjoint(self, cuts: Sequence[_Cut]) -> None:
        """Check that no two rules would remove a segment each from one path.

        :raises Inexpressible: when they would.
        """
        known = [*self._cuts, *cuts]
        for number, cut in enumerate(cuts, start=len(self._cuts)):
            if any(cut.paths.meets(other.paths) for other in known[:number] if cut != other):
                raise Inexpressible("it would remove two segments of a path instead of one")


def _where(rule: UrlRule) -> list[_Paths]:
    """Return the paths to which a rule applies."""
    if rule.component[0] in ("segment", "segment_at"):
        return [cut.paths for cut in _cuts(rule)]
    return [_Paths(_segments(rule.pattern)) if rule.pattern else _ALL]


def _cuts(rule: UrlRule) -> list[_Cut]:
    """Return the segments that a rule removes, with their paths.

    The family of the rule is that of the path without the segment.
    """
    kind, what, *more = rule.component
    if kind == "segment_at":
        return _cuts_at(rule.pattern, int(what))
    text, place = str(what), str(more[0])
    if "*" in text:
        raise Inexpressible("a * in its patterns matches anything")
    if place == "file":
        raise Inexpressible("it cannot keep the slash before a segment that it removes")
    if place == "first":
        rest = _behind(rule.pattern) if rule.pattern else ("*",)
        return [_Cut(_Paths((text, *rest), is_open=not rule.pattern), 0)]
    if not rule.pattern:
        raise Inexpressible("it counts segments from the first one only")
    rest = _segments(rule.pattern)
    # An inner one is neither the first nor the last.
    places = [len(rest)] if place == "last" else range(1, len(rest))
    return [_Cut(_Paths((*rest[:n], text, *rest[n:])), n) for n in places]


def _cuts_at(family: str, place: int) -> list[_Cut]:
    """Return the cuts of a rule that removes any segment at a place; -1 is the last one."""
    if not family:
        if place == -1:
            raise Inexpressible("it counts segments from the first one only")
        return [_Cut(_Paths(("*",) * (place + 2), is_open=True), place)]
    if place == -1:
        rest = _segments(family)
        return [_Cut(_Paths((*rest, "*")), len(rest))]
    rest = _behind(family)
    return [_Cut(_Paths((*rest[:place], "*", *rest[place:])), place)] if place < len(rest) else []


def _behind(family: str) -> tuple[str, ...]:
    """Return the segments of a family after another one; those of ``/`` are one empty segment."""
    return _segments(family) or ("",)


def _segments(family: str) -> tuple[str, ...]:
    """Return the segments of a family's paths; ``/`` has none."""
    return tuple(family[1:].split("/")) if family != "/" else ()


def _leaves_nothing(pattern: str, paths: _Paths) -> bool:
    """Does an excluded pattern match all of these paths?"""
    sample = "/" + "/".join(segment.replace("*", "x") for segment in paths.segments)
    expression = re.escape(pattern.removesuffix("|")).replace(r"\*", ".*")
    return bool(re.fullmatch(expression, sample + "x/x" * paths.is_open, re.IGNORECASE))


def _rule(
    processor: str, arguments: list[str | int], include: str, exclude: list[str]
) -> dict[str, Any]:
    pattern = {"include": [include], **({"exclude": sorted(set(exclude))} if exclude else {})}
    return {
        "args": arguments, "order": _ORDER, "processor": processor, "urlPattern": pattern
    }  # fmt: skip


def _merged(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge rules for the same pattern into one with all their arguments."""
    joined: dict[str, dict[str, Any]] = {}
    for rule in rules:
        place = f"{rule['processor']} {rule['urlPattern']}"
        known = joined.setdefault(place, rule)
        known["args"] += [argument for argument in rule["args"] if argument not in known["args"]]
    return list(joined.values())
