"""Learned rules in the words of ``duplicate-url-discarder``, where it has words for them.

Its rules (version 0.3) take parts out of URLs that match a pattern of ``url-matcher``. There, a
``*`` stands for anything, slashes included; a path is the beginning of one unless the pattern ends
in ``|``; and a pattern with a path is of one host, with or without ``www.``. Of two patterns that a
URL matches, both rules apply. What would reach further than the learned rule is left out, and the
reason told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...url_rules.rule import UrlRule
from ...url_rules.url_parts import Component

#: All rules are of one rank: none depends on what another one has done.
_ORDER = 100
_WWW: Component = ("host", "www")
_TRAILING_SLASH: Component = ("segment", "", "last")

_NO_PROCESSOR = {
    "path_param": "it has nothing for path parameters",
    "scheme": "it has nothing for http and https",
    "host": "it takes www. off only together with trailing slashes",
    "nothing_new": "it has nothing for families that bring nothing new",
}


class Inexpressible(Exception):
    """A rule has no equivalent; the message says why."""


class Expressed(NamedTuple):
    """What became of the rules in force.

    :ivar rules: as the file has them.
    :ivar is_said: those that are in there.
    :ivar refused: the others, and why.
    """

    rules: list[dict[str, Any]]
    is_said: list[UrlRule]
    refused: list[tuple[UrlRule, str]]


@dataclass(frozen=True, slots=True)
class _Paths:
    """Some paths of a site.

    :ivar segments: ``"*"`` for any one.
    :ivar is_open: may more segments follow?
    """

    segments: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def pattern(self) -> str:
        """As url-matcher has it; deeper paths match as well where a segment may be any."""
        return "/" + "/".join(self.segments) + ("" if self.is_open else "|")

    @property
    def beyond(self) -> list[str]:
        """Patterns of paths that match, and are not meant: deeper ones, and empty segments."""
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
        """May a path be one of both?"""
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
    """A segment to be taken out of some paths."""

    paths: _Paths
    place: int


def expressed(rules: Iterable[UrlRule]) -> Expressed:
    """The rules in force among all rules of a store, as far as they can be said."""
    of_site: defaultdict[str, list[UrlRule]] = defaultdict(list)
    # What holds everywhere first: it may say what others say.
    for rule in sorted(rules, key=lambda r: (bool(r.pattern), -r.evidence.agreements, r.name)):
        of_site[rule.site].append(rule)
    all_said = [_Site(of_site[site]).expressed() for site in sorted(of_site)]
    return Expressed(
        [rule for said in all_said for rule in said.rules],
        [rule for said in all_said for rule in said.is_said],
        [refused for said in all_said for refused in said.refused],
    )


class _Site:
    """One site.

    :param rules: all of it, those that hold everywhere first.
    """

    def __init__(self, rules: Sequence[UrlRule]) -> None:
        self._rules = rules
        off = {rule.component for rule in rules if rule.state == "off" and not rule.pattern}
        self._in_force = [
            rule for rule in rules if rule.state == "in_force" and rule.component not in off
        ]
        #: What holds everywhere but in families that are known: each of these contradicts once.
        self._everywhere = {
            rule.component
            for rule in self._in_force
            if not rule.pattern
            and rule.evidence.contradictions <= len(self._failures(rule.component))
        }
        self._cuts: list[_Cut] = []
        self._is_said_everywhere: set[Component] = set()

    def expressed(self) -> Expressed:
        done = Expressed([], [], [])
        for rule in self._in_force:
            try:
                done.rules.extend(self._express(rule))
            except Inexpressible as reason:
                done.refused.append((rule, str(reason)))
            else:
                done.is_said.append(rule)
                if not rule.pattern:
                    self._is_said_everywhere.add(rule.component)
        return done._replace(rules=_joined(done.rules))

    def _express(self, rule: UrlRule) -> list[dict[str, Any]]:
        if rule.component in self._is_said_everywhere:
            return []
        if not rule.pattern and rule.component not in self._everywhere:
            raise Inexpressible("the store does not say where it fails")
        if not rule.pattern and rule.component in (_WWW, _TRAILING_SLASH):
            return self._normalizer(rule)
        kind = str(rule.component[0])
        if kind in _NO_PROCESSOR:
            raise Inexpressible(_NO_PROCESSOR[kind])
        if kind == "param":
            if len(rule.component) == 3:
                raise Inexpressible("it takes a parameter away with all values that it has")
            [paths] = _where(rule)
            return [self._said(rule, "queryRemoval", rule.component[1], paths)]
        cuts = _cuts(rule)
        self._require_apart(cuts)
        said = [self._said(rule, "subpathRemoval", cut.place, cut.paths) for cut in cuts]
        self._cuts += cuts
        return said

    def _normalizer(self, rule: UrlRule) -> list[dict[str, Any]]:
        """One processor takes off two things, so both must hold wherever it is used."""
        both = {_WWW, _TRAILING_SLASH}
        if not both <= self._everywhere or any(map(self._failures, both)):
            raise Inexpressible("it takes www. and trailing slashes off a whole site, or neither")
        return [_rule("normalizer", [], rule.site, [])]

    def _said(
        self, rule: UrlRule, processor: str, argument: str | int, paths: _Paths
    ) -> dict[str, Any]:
        failing = [
            other.pattern for failure in self._failures(rule.component) for other in _where(failure)
        ]
        if any(_leaves_nothing(pattern, paths) for pattern in failing):
            raise Inexpressible("its patterns cannot tell these paths from those where it fails")
        excluded = [*paths.beyond, *failing]
        # Without a path it is of all hosts of the site; what is excluded has one.
        where = "" if paths == _ALL and not excluded else paths.pattern
        return _rule(
            processor,
            [argument],
            rule.site + where,
            [rule.site + path for path in excluded],
        )

    def _failures(self, component: Component) -> list[UrlRule]:
        """Of a component that may be left out elsewhere, the families where it may not."""
        return [
            rule
            for rule in self._rules
            if rule.component == component
            and rule.pattern
            and rule.state != "in_force"
            and (rule.state != "watched" or rule.evidence.contradictions)
        ]

    def _require_apart(self, cuts: Sequence[_Cut]) -> None:
        """Two segments would be taken out of one path where either rule alone takes one."""
        known = [*self._cuts, *cuts]
        for number, cut in enumerate(cuts, start=len(self._cuts)):
            if any(cut.paths.meets(other.paths) for other in known[:number] if cut != other):
                raise Inexpressible("it would take two segments out of a path, where one is to go")


def _where(rule: UrlRule) -> list[_Paths]:
    """The paths that a rule is about."""
    if rule.component[0] in ("segment", "segment_at"):
        return [cut.paths for cut in _cuts(rule)]
    return [_Paths(_segments(rule.pattern)) if rule.pattern else _ALL]


def _cuts(rule: UrlRule) -> list[_Cut]:
    """Which segments a rule takes out of which paths; its family is that of what is left."""
    kind, what, *more = rule.component
    if kind == "segment_at":
        return _cuts_at(rule.pattern, int(what))
    text, place = str(what), str(more[0])
    if "*" in text:
        raise Inexpressible("a * stands for anything in its patterns")
    if place == "file":
        raise Inexpressible("it cannot leave the slash in front of a segment that it takes away")
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
    """Whatever stands at a place is taken out; -1 is the last one, and no other number is."""
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
    """The segments of a family's paths where there are some; ``/`` has an empty one then."""
    return _segments(family) or ("",)


def _segments(family: str) -> tuple[str, ...]:
    """The segments of a family's paths; ``/`` has none."""
    return tuple(family[1:].split("/")) if family != "/" else ()


def _leaves_nothing(pattern: str, paths: _Paths) -> bool:
    """Does a pattern that is excluded match all of these paths?"""
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


def _joined(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Arguments for one pattern in one rule, and each rule once."""
    joined: dict[str, dict[str, Any]] = {}
    for rule in rules:
        place = f"{rule['processor']} {rule['urlPattern']}"
        known = joined.setdefault(place, rule)
        known["args"] += [argument for argument in rule["args"] if argument not in known["args"]]
    return list(joined.values())
