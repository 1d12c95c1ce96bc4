"""Converts learned rules to those of ``duplicate-url-discarder``, where that is possible.

Its rules (version 0.3) remove parts of URLs that match a pattern of ``url-matcher``. There, a ``*``
matches anything, slashes included; a path is a prefix unless the pattern ends in ``|``; and a
pattern with a path is for one host, with or without ``www.``. If a URL matches two patterns, both
rules apply. A rule whose conversion would match more URLs than itself is left out with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from ...url_rules.rule import UrlRule
from ...url_rules.url_parts import Component, is_path_component

_WWW: Component = ("host", "www")
_TRAILING_SLASH: Component = ("segment", "", "last")
#: Numbers of the segments at these places; ``None`` for any but the first and the last.
_PLACES = {"first": 0, "inner": None, "last": -1}

_NO_PROCESSOR = {
    "path_param": "it cannot remove path parameters",
    "scheme": "it cannot unify http and https",
    "host": "it removes www. only together with trailing slashes",
    "nothing_new": "it has no rules for families that bring nothing new",
}


class Inexpressible(Exception):
    """A rule has no equivalent; the message says why."""


@dataclass(frozen=True)
class Conversion:
    """The rules in force, converted where possible.

    :ivar rules: the converted rules, as written to the file.
    :ivar converted: the learned rules that these express.
    :ivar refused: the other learned rules, and the reasons.
    """

    rules: list[dict[str, Any]]
    converted: list[UrlRule]
    refused: list[tuple[UrlRule, str]]


class _Removal(NamedTuple):
    """The change of a processor to URLs that match ``include`` and none of ``exclude``."""

    processor: str
    include: str
    exclude: tuple[str, ...]
    argument: str | int | None


class _Paths(NamedTuple):
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
        """Return whether a path can belong to both sets."""
        sizes = len(self.segments), len(other.segments)
        return (
            (self.is_open or sizes[0] >= sizes[1])
            and (other.is_open or sizes[1] >= sizes[0])
            and all(
                "*" in (a, b) or a.lower() == b.lower()
                for a, b in zip(self.segments, other.segments, strict=False)
            )
        )

    def are_within(self, pattern: str) -> bool:
        """Return whether a pattern matches all of these paths."""
        sample = "/" + "/".join(segment.replace("*", "x") for segment in self.segments)
        expression = re.escape(pattern.removesuffix("|")).replace(r"\*", ".*")
        return bool(re.fullmatch(expression, sample + "x/x" * self.is_open, re.IGNORECASE))


_ALL = _Paths(("",), is_open=True)


class _Target(NamedTuple):
    """The part to remove from URLs with some paths: a segment by its position, or a parameter."""

    paths: _Paths
    what: int | str


def convert(rules: Iterable[UrlRule]) -> Conversion:
    """Convert the rules in force among all rules of a store."""
    done = Conversion([], [], [])
    # Rules for a whole site come first, because they may imply others.
    ordered = sorted(rules, key=lambda r: (r.site, bool(r.pattern), -r.evidence.agreements, r.name))
    for _, of_site in groupby(ordered, key=lambda rule: rule.site):
        _Site(list(of_site)).convert(done)
    return done


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
        #: The segments that are removed.
        self._cuts: list[_Target] = []

    def convert(self, done: Conversion) -> None:
        """Convert the rules in force, and add them to what is done."""
        removals: list[_Removal] = []
        everywhere: set[Component] = set()
        for rule in self._in_force:
            try:
                if rule.component not in everywhere:
                    removals += list(self._removals(rule))
            except Inexpressible as reason:
                done.refused.append((rule, str(reason)))
                continue
            done.converted.append(rule)
            if not rule.pattern:
                everywhere.add(rule.component)
        done.rules.extend(_merged(removals))

    def _removals(self, rule: UrlRule) -> Iterator[_Removal]:
        """Yield what a rule removes; raise Inexpressible if it has no equivalent."""
        if not rule.pattern and rule.component not in self._everywhere:
            raise Inexpressible("the exceptions to the rule are not in the store")
        if not rule.pattern and rule.component in (_WWW, _TRAILING_SLASH):
            both = {_WWW, _TRAILING_SLASH}
            if not both <= self._everywhere or any(map(self._failures, both)):
                raise Inexpressible("it removes both www. and trailing slashes on a whole site")
            yield _Removal("normalizer", rule.site, (), None)
            return
        if (kind := str(rule.component[0])) in _NO_PROCESSOR:
            raise Inexpressible(_NO_PROCESSOR[kind])
        targets = _targets(rule)
        cuts = targets if is_path_component(rule.component) else []
        for number, cut in enumerate(cuts):
            others = [*self._cuts, *cuts[:number]]
            if any(cut.paths.meets(other.paths) for other in others if cut != other):
                raise Inexpressible("it would remove two segments of a path instead of one")
        for target in targets:
            yield self._removal(rule, target, "subpathRemoval" if cuts else "queryRemoval")
        self._cuts += cuts

    def _removal(self, rule: UrlRule, target: _Target, processor: str) -> _Removal:
        paths, failures = target.paths, self._failures(rule.component)
        failing = [other.paths.pattern for failure in failures for other in _targets(failure)]
        if any(map(paths.are_within, failing)):
            raise Inexpressible("its patterns cannot exclude the paths where the rule fails")
        excluded = {rule.site + path for path in (*paths.beyond, *failing)}
        # A pattern without a path is for all hosts of the site; excluded patterns have a path.
        where = "" if paths == _ALL and not excluded else paths.pattern
        return _Removal(processor, rule.site + where, tuple(sorted(excluded)), target.what)

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


def _targets(rule: UrlRule) -> list[_Target]:
    """Return what a rule removes from which paths; raise Inexpressible if nothing can.

    The family of a rule that removes a segment is that of the path without it.
    """
    kind, what, *more = rule.component
    place: int | None
    if kind == "param":
        if more:
            raise Inexpressible("it removes a parameter whatever its value")
        return [_Target(_Paths(_segments(rule.pattern)) if rule.pattern else _ALL, what)]
    if kind == "segment_at":
        text, place = "*", int(what)
    elif "*" in str(what):
        raise Inexpressible("a * in its patterns matches anything")
    elif more == ["file"]:
        raise Inexpressible("it cannot keep the slash before a segment that it removes")
    else:
        text, place = str(what), _PLACES[str(more[0])]
    if not rule.pattern:
        if place is None or place < 0:
            raise Inexpressible("it counts segments from the first one only")
        return [_Target(_Paths(("*",) * place + (text, "*"), is_open=True), place)]
    rest = _segments(rule.pattern)
    if place is None:
        places = list(range(1, len(rest)))
    elif place < 0:
        places = [len(rest)]
    else:
        # Behind a segment, the path of / is one empty segment.
        rest = rest or ("",)
        places = [place] if place < len(rest) else []
    return [_Target(_Paths((*rest[:n], text, *rest[n:])), n) for n in places]


def _segments(family: str) -> tuple[str, ...]:
    """Return the segments of a family's paths; ``/`` has none."""
    return tuple(family[1:].split("/")) if family != "/" else ()


def _merged(removals: Iterable[_Removal]) -> Iterator[dict[str, Any]]:
    """Yield the rules, one with all arguments for each pattern; none depends on their order."""
    merged: dict[_Removal, list[str | int]] = {}
    for removal in removals:
        arguments = merged.setdefault(removal._replace(argument=None), [])
        if removal.argument is not None and removal.argument not in arguments:
            arguments.append(removal.argument)
    for removal, arguments in merged.items():
        pattern = {"include": [removal.include]}
        if removal.exclude:
            pattern["exclude"] = list(removal.exclude)
        yield {
            "args": arguments,
            "order": 100,
            "processor": removal.processor,
            "urlPattern": pattern,
        }
