"""Computes what is left of a URL when some of its components are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from .path_patterns import PathPatterns
from .url_parts import (
    MASK,
    SCHEME,
    Component,
    UrlParts,
    part_hash,
    path_components,
    path_hash,
)

#: What was left out: the path pattern, the component, and its text.
LeftOut = tuple[str, Component, str]


class ReducedUrl(NamedTuple):
    """A URL without the components that rules leave out.

    :ivar digest: of the URL that is left.
    :ivar pattern: of the path that is left.
    :ivar parts: those that are left.
    :ivar left_out: all that was left out.
    """

    digest: int
    pattern: str
    parts: UrlParts
    left_out: tuple[LeftOut, ...]

    @property
    def shape(self) -> str:
        """Path pattern and names of parameters."""
        names = sorted({name for name, _ in self.parts.params})
        return f"{self.pattern}?{'&'.join(names)}" if names else self.pattern


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


def differing(one: UrlParts, other: UrlParts, patterns: PathPatterns) -> list[LeftOut]:
    """Return what two URLs differ in; nothing where their paths have little in common."""
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
    pieces = [*one.pieces(), *other.pieces()]
    differ = set(one.pieces()) ^ set(other.pieces())
    components = dict.fromkeys(piece[0] for piece in pieces if piece in differ)
    return found + [(pattern, component, "") for component in components]


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
        if not self._components:
            return ReducedUrl(digest, self.patterns.name(parts.segments), parts, ())
        segments, left = self._path(parts.segments)
        pattern = self.patterns.name(segments)

        def stays(text: str, *components: Component) -> bool:
            for component in components:
                if component in self._components and self._is_left_out(pattern, component):
                    left.append((pattern, component, text))
                    return False
            return True

        rest = parts._replace(
            segments=segments,
            params=tuple([p for p in parts.params if stays(p[1], ("param", p[0]), ("param", *p))]),
            path_params=tuple([p for p in parts.path_params if stays(p[2], ("path_param", p[1]))]),
            label=parts.label if stays(parts.label, ("host", parts.label)) else "",
            scheme=parts.scheme if stays(parts.scheme, SCHEME) else "",
        )
        return ReducedUrl(rest.digest if left else digest, pattern, rest, tuple(left))

    def skeletons(self, reduced: ReducedUrl) -> Iterator[Skeleton]:
        """Yield what is left when one more component is left out."""
        digest, pattern, parts, _ = reduced
        for name, value in parts.params:
            rest = (digest - part_hash("param", name, value)) & MASK
            yield Skeleton(("param", name, value), pattern, rest, None)
        # All values of a parameter are left out together.
        hashes = Counter[Component]()
        for component, hashed in parts.pieces():
            hashes[component] += hashed
        for component, hashed in hashes.items():
            yield Skeleton(component, pattern, (digest - hashed) & MASK, "")
        whole = path_hash(parts.segments)
        for component, segments, text in path_components(parts.segments):
            rest = (digest - whole + path_hash(segments)) & MASK
            varying = text if component[0] == "segment_at" else None
            yield Skeleton(component, self.patterns.name(segments), rest, varying)

    def _path(self, segments: tuple[str, ...]) -> tuple[tuple[str, ...], list[LeftOut]]:
        """Return the segments of a path that are left, and what is left out."""
        left: list[LeftOut] = []
        # Once each: a rule does not apply to what takes the place.
        done = set[Component]()
        again = True
        while again:
            again = False
            for component, rest, text in path_components(segments):
                if component in self._components and component not in done:
                    pattern = self.patterns.name(rest)
                    if self._is_left_out(pattern, component):
                        left.append((pattern, component, text))
                        done.add(component)
                        segments, again = rest, True
                        break
        return segments, left
