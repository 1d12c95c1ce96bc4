"""Computes what is left of a URL when some of its components are left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from .path_patterns import PathPatterns
from .url_parts import (
    SCHEME,
    Component,
    UrlParts,
    label_hash,
    param_hash,
    path_components,
    path_hash,
    path_param_hash,
    scheme_hash,
)

_MASK = 2**64 - 1

_MAX_LENGTH = 10**6

#: What was left out: the path pattern, the component, and its text.
LeftOut = tuple[str, Component, str]


class ReducedUrl(NamedTuple):
    """A URL without the components that rules leave out.

    :ivar digest: of the URL that is left.
    :ivar pattern: of the path that is left.
    :ivar left_out: all that was left out.
    """

    digest: int
    pattern: str
    segments: tuple[str, ...]
    path_params: tuple[tuple[str, str, str], ...]
    params: tuple[tuple[str, str], ...]
    label: str
    scheme: str
    left_out: tuple[LeftOut, ...]

    @property
    def shape(self) -> str:
        """Path pattern and names of parameters."""
        params = self.params
        if not params:
            return self.pattern
        if len(params) == 1:
            return f"{self.pattern}?{params[0][0]}"
        return f"{self.pattern}?{'&'.join(sorted({name for name, _ in params}))}"


class Skeleton(NamedTuple):
    """A URL without one component.

    :ivar pattern: of the path that is left.
    :ivar digest: of what is left.
    :ivar varying: ``None`` for a component that a URL has or has not. Else other ones may stand in
        its place; for any segment at a place, it is the segment.
    """

    component: Component
    pattern: str
    digest: int
    varying: str | None


def differing(one: ReducedUrl, other: ReducedUrl, patterns: PathPatterns) -> list[LeftOut]:
    """Return what two reduced URLs differ in; nothing where their paths have little in common."""
    found: list[LeftOut] = []
    shorter = one.segments
    if one.segments != other.segments:
        longer, shorter = sorted((one.segments, other.segments), key=len, reverse=True)
        for component, rest, text in path_components(longer):
            if rest == shorter:
                found.append((patterns.name(rest), component, text))
        if not found:
            return []
    pattern = patterns.name(shorter)
    for kind, pairs in (
        ("param", set(one.params) ^ set(other.params)),
        ("path_param", {param[1:] for param in set(one.path_params) ^ set(other.path_params)}),
    ):
        found += [(pattern, (kind, name), "") for name in sorted({name for name, _ in pairs})]
    if one.label != other.label:
        found += [(pattern, ("host", label), "") for label in (one.label, other.label) if label]
    if one.scheme != other.scheme:
        found.append((pattern, SCHEME, ""))
    return found


class UrlReducer:
    """Leaves components out of the URLs of a site.

    :param patterns: of the site.
    :param is_left_out: decides on a path pattern and a component.
    :param components: those that are left out anywhere; kept up to date by the caller.
    """

    def __init__(
        self,
        patterns: PathPatterns,
        is_left_out: Callable[[str, Component], bool],
        components: Collection[Component],
    ) -> None:
        self.patterns = patterns
        self._is_left_out = is_left_out
        self._components = components

    def reduce(self, parts: UrlParts, digest: int) -> ReducedUrl:
        """Return a URL without what is left out of it.

        :param digest: of the URL.
        """
        _, scheme, label, _, segments, path_params, params = parts
        left: list[LeftOut] = []
        if not self._components:
            pattern = self.patterns.name(segments)
            return ReducedUrl(digest, pattern, segments, path_params, params, label, scheme, ())
        segments = self._path(segments, left)
        pattern = self.patterns.name(segments)
        if left:
            digest += path_hash(segments) - path_hash(parts.segments)
        if params:
            params = tuple([p for p in params if not self._leaves_param(pattern, p, left)])
            for param in parts.params if len(params) < len(parts.params) else ():
                if param not in params:
                    digest -= param_hash(*param)
        for path_param in path_params:
            segment, name, value = path_param
            if self._leaves(pattern, ("path_param", name), value, left):
                digest -= path_param_hash(segment, name, value)
                path_params = tuple(other for other in path_params if other != path_param)
        if label and self._leaves(pattern, ("host", label), label, left):
            digest -= label_hash(label)
            label = ""
        if SCHEME in self._components and self._leaves(pattern, SCHEME, scheme, left):
            digest -= scheme_hash(scheme)
            scheme = ""
        return ReducedUrl(
            digest & _MASK, pattern, segments, path_params, params, label, scheme, tuple(left)
        )

    def skeletons(self, reduced: ReducedUrl) -> Iterator[Skeleton]:
        """Yield what is left when one more component is left out."""
        digest, pattern = reduced.digest, reduced.pattern
        hashes: dict[str, int] = {}
        for name, value in reduced.params:
            hashed = param_hash(name, value)
            hashes[name] = hashes.get(name, 0) + hashed
            yield Skeleton(("param", name, value), pattern, (digest - hashed) & _MASK, None)
        for name, hashed in hashes.items():
            yield Skeleton(("param", name), pattern, (digest - hashed) & _MASK, "")
        for segment, name, value in reduced.path_params:
            rest = (digest - path_param_hash(segment, name, value)) & _MASK
            yield Skeleton(("path_param", name), pattern, rest, "")
        if reduced.label:
            rest = (digest - label_hash(reduced.label)) & _MASK
            yield Skeleton(("host", reduced.label), pattern, rest, "")
        if reduced.scheme:
            yield Skeleton(SCHEME, pattern, (digest - scheme_hash(reduced.scheme)) & _MASK, "")
        whole = path_hash(reduced.segments)
        for component, segments, text in path_components(reduced.segments):
            rest = (digest - whole + path_hash(segments)) & _MASK
            varying = text if component[0] == "segment_at" else None
            yield Skeleton(component, self.patterns.name(segments), rest, varying)

    def _path(self, segments: tuple[str, ...], left: list[LeftOut]) -> tuple[str, ...]:
        """Return the segments of a path that are left."""
        done = set[Component]()
        components = self._components
        again = True
        while again:
            again = False
            for component, rest, text in path_components(segments):
                if component in components and component not in done:
                    pattern = self.patterns.name(rest)
                    if self._is_left_out(pattern, component):
                        left.append((pattern, component, text))
                        # Once each: a rule does not apply to what takes the place.
                        done.add(component)
                        segments, again = rest, True
                        break
        return segments

    def _leaves_param(self, pattern: str, param: tuple[str, str], left: list[LeftOut]) -> bool:
        name, value = param
        for component in (("param", name), ("param", name, value)):
            if component in self._components and self._is_left_out(pattern, component):
                left.append((pattern, component, value))
                return True
        return False

    def _leaves(self, pattern: str, component: Component, value: str, left: list[LeftOut]) -> bool:
        if component in self._components and self._is_left_out(pattern, component):
            left.append((pattern, component, value))
            return True
        return False


class RuleMatcher:
    """Finds the URLs that a change of rules concerns.

    :param keys: of the rules.
    """

    def __init__(self, keys: Collection[tuple[str, Component]]) -> None:
        self._params: dict[str, set[str]] = {}
        self._path_params: set[str] = set()
        self._texts: set[str] = set()
        self._longer_than = _MAX_LENGTH
        self._all: set[str] = set()
        for pattern, component in keys:
            kind, *more = component
            if kind == "param":
                self._params.setdefault(str(more[0]), set()).add(pattern)
            elif kind == "path_param":
                self._path_params.add(str(more[0]))
            elif kind == "segment":
                self._texts.add(str(more[0]))
            elif kind == "segment_at":
                self._longer_than = min(self._longer_than, max(0, int(more[0])))
            else:
                self._all.add(pattern)

    def matches(self, parts: UrlParts, pattern: str) -> bool:
        """Decide whether a change may concern a URL.

        :param pattern: of the path that is left of it.
        """
        if len(parts.segments) > self._longer_than:
            return True
        if self._texts and not self._texts.isdisjoint(parts.segments):
            return True
        if self._all and (pattern in self._all or "" in self._all):
            return True
        if self._params:
            for name, _ in parts.params:
                patterns = self._params.get(name)
                if patterns and (pattern in patterns or "" in patterns):
                    return True
        return any(name in self._path_params for _, name, _ in parts.path_params)
