"""Splits URLs into components, hashes them, and computes what is left without some of them.

The digest of a URL is the sum, modulo 2**64, of the hashes of its parts. So the digest without a
part takes one subtraction, and the order of parameters does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Set
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from xxhash import xxh3_64_intdigest

from .._util.encoding import utf8
from .._util.urls import site_of_host
from .path_patterns import PathPatterns

#: What is left out by a rule: ``("param", name)``, ``("param", name, value)``,
#: ``("segment", text, place)``, ``("segment_at", index)``, ``("path_param", name)``,
#: ``("host", label)`` or ``("scheme",)``.
Component = tuple[str | int, ...]
#: What was left out: the path pattern, the component, and its text.
LeftOut = tuple[str, Component, str]

SCHEME: Component = ("scheme",)

#: Longer URLs, and those of more parts, are never learned from.
MAX_URL_CHARS = 2048
MAX_PARTS = 40
#: Any segment may be left out at so many places, counted from the first, and at the last.
_PLACES = 5

#: Digests are computed modulo 2**64.
MASK = 2**64 - 1
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class UrlParts(NamedTuple):
    """The parts of a URL.

    :ivar site: registrable domain, see :func:`~scrapy_neardup._util.urls.site_of`.
    :ivar scheme: ``"http"`` or ``"https"``; ``""`` where a rule leaves it out.
    :ivar label: first label of the host before the registrable domain; ``""`` where there is none.
    :ivar base: the other labels and the port, which no rule leaves out.
    :ivar segments: of the path; a trailing slash is an empty last one, the path ``/`` has none.
    :ivar path_params: ``(segment, name, value)`` of each ``;name=value`` behind a segment.
    :ivar params: ``(name, value)`` of each parameter of the query, percent-encoded as they are.
    """

    site: str
    scheme: str
    label: str
    base: str
    segments: tuple[str, ...]
    path_params: tuple[tuple[str, str, str], ...]
    params: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> int:
        """64 bits that are the same in every process."""
        return _digest_of(self)

    def pieces(self) -> Iterator[tuple[Component, tuple[str, ...]]]:
        """Yield what a rule may leave out besides segments: components, and the whole pieces."""
        for name, value in self.params:
            yield ("param", name), ("param", name, value)
        for segment, name, value in self.path_params:
            yield ("path_param", name), ("path_param", segment, name, value)
        if self.label:
            yield ("host", self.label), ("host", self.label)
        if self.scheme:
            yield SCHEME, ("scheme", self.scheme)

    def has_any(self, components: Set[Component]) -> bool:
        """Decide whether the URL has one of these components, or may have it.

        :param components: without values and places, that is, their first two items.
        """
        own = [component for component, _ in self.pieces()]
        own += [("segment", text) for text in self.segments]
        own += [("segment_at", index) for index in range(-1, len(self.segments))]
        return not components.isdisjoint(own)


@lru_cache(maxsize=1024)
def _digest_of(parts: UrlParts) -> int:
    # A page's URL is looked up when it is requested, fetched and judged.
    total = part_hash("origin", parts.site, parts.base) + path_hash(parts.segments)
    return (total + sum(part_hash(*piece) for _, piece in parts.pieces())) & MASK


@lru_cache(maxsize=1024)
def parse_url(url: str) -> UrlParts | None:
    """Return the parts of a URL; ``None`` when it cannot be learned from.

    Others are absolute ``http`` and ``https`` URLs of at most :data:`MAX_URL_CHARS` characters and
    :data:`MAX_PARTS` segments and parameters, without broken escapes and without a user's name.
    """
    if len(url) > MAX_URL_CHARS or ("%" in url and _BAD_ESCAPE.search(url)):
        return None
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _DEFAULT_PORTS:
        return None
    before, _, query = rest.partition("#")[0].partition("?")
    authority, _, path = before.partition("/")
    origin = _origin(scheme, authority)
    if origin is None or path.count("/") + path.count(";") + query.count("&") > MAX_PARTS:
        return None
    segments = tuple(path.split("/")) if path else ()
    path_params: tuple[tuple[str, str, str], ...] = ()
    if ";" in path:
        segments, path_params = _without_params(segments)
    params = tuple(_name_and_value(piece) for piece in query.split("&") if piece)
    site, label, base = origin
    return UrlParts(site, scheme, label, base, segments, path_params, params)


@lru_cache(maxsize=4096)
def part_hash(kind: str, *texts: str) -> int:
    """Return the hash of a part of a URL."""
    return text_hash("\n".join((kind, *texts)))


def path_hash(segments: tuple[str, ...]) -> int:
    """Return the hash of all segments together."""
    return part_hash("path", "/".join(segments)) if segments else 0


@lru_cache(maxsize=256)
def path_components(
    segments: tuple[str, ...],
) -> list[tuple[Component, tuple[str, ...], str]]:
    """Return what a rule may leave out of a path: component, path without it, and segment.

    The last segment is left out with the slash before it (``/a/print`` to ``/a``) or, as place
    ``"file"``, without (``/a/index.html`` to ``/a/``).
    """
    found: list[tuple[Component, tuple[str, ...], str]] = []
    last = len(segments) - 1
    for index, text in enumerate(segments):
        rest = segments[:index] + segments[index + 1 :]
        if index == last:
            found.append((("segment", text, "last"), rest, text))
            if text and index:
                found.append((("segment", text, "file"), (*rest, ""), text))
        else:
            found.append((("segment", text, "inner" if index else "first"), rest, text))
        if text and index == last:
            found.append((("segment_at", -1), rest, text))
        elif text and index < _PLACES:
            found.append((("segment_at", index), rest, text))
    return found


def is_path_component(component: Component) -> bool:
    """Decide whether it is a segment."""
    return component[0] in ("segment", "segment_at")


@lru_cache(maxsize=4096)
def _origin(scheme: str, authority: str) -> tuple[str, str, str] | None:
    """Return site, first label, and the rest of an authority."""
    try:
        split = urlsplit(f"//{authority}")
        host, port = (split.hostname or "").rstrip("."), split.port
    except ValueError:
        return None
    if not host or "@" in authority:
        return None
    site = site_of_host(host)
    label, _, further = host[: -len(site)].rstrip(".").partition(".")
    return site, label, f"{further}:{'' if port in (None, _DEFAULT_PORTS[scheme]) else port}"


def _without_params(
    segments: tuple[str, ...],
) -> tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]:
    plain, params = [], []
    for segment in segments:
        text, *pieces = segment.split(";")
        plain.append(text)
        params += [(text, *_name_and_value(piece)) for piece in pieces if piece]
    return tuple(plain), tuple(params)


def _name_and_value(piece: str) -> tuple[str, str]:
    name, _, value = piece.partition("=")
    return name, value


def text_hash(text: str) -> int:
    """Return 64 bits of any text that are the same in every process."""
    return int(xxh3_64_intdigest(utf8(text)))


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

    :ivar segments: of the path that is left.
    :ivar digest: of what is left.
    :ivar varying: ``None`` for a component that a URL has or has not. Else other ones may stand in
        its place; for any segment at a place, it is the segment.
    """

    component: Component
    segments: tuple[str, ...]
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
    differ = set(one.pieces()) ^ set(other.pieces())
    ordered = filter(differ.__contains__, [*one.pieces(), *other.pieces()])
    components = dict.fromkeys(component for component, _ in ordered)
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
        digest, _, parts, _ = reduced
        hashes: dict[Component, int] = {}
        for component, piece in parts.pieces():
            hashed = part_hash(*piece)
            hashes[component] = hashes.get(component, 0) + hashed
            if component[0] == "param":
                yield Skeleton(piece, parts.segments, (digest - hashed) & MASK, None)
        # All values of a parameter are left out together.
        for component, hashed in hashes.items():
            yield Skeleton(component, parts.segments, (digest - hashed) & MASK, "")
        whole = path_hash(parts.segments)
        for component, segments, text in path_components(parts.segments):
            rest = (digest - whole + path_hash(segments)) & MASK
            varying = text if component[0] == "segment_at" else None
            yield Skeleton(component, segments, rest, varying)

    def key_of(self, skeleton: Skeleton) -> tuple[str, Component]:
        """Return path pattern and component of a rule that leaves out what a skeleton lacks."""
        return self.patterns.name(skeleton.segments), skeleton.component

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
