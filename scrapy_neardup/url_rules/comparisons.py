"""Compares URLs that differ in what a rule leaves out, by the contents that they led to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from .evidence_collector import EvidenceCollector
from .known_urls import KnownUrls, VisitedUrl
from .rule import MAX_COUNTED, Key
from .rule_set import MAX_RULES
from .url_parts import (
    Component,
    LeftOut,
    ReducedUrl,
    Skeleton,
    UrlParts,
    differing,
    is_path_component,
)

#: Skeletons that are remembered.
MAX_SKELETONS = 80_000
#: Observations that are remembered of one skeleton.
_MAX_OBSERVATIONS = 16
#: Path segments and values that are remembered in order to see whether they come again.
_MAX_TEXTS = 4096
#: URLs of one reduced URL among which the nearest is looked for.
_MAX_COMPARED = 64
#: URLs that differ in more components give no hint.
_MAX_DIFFERENCE = 5
#: A canonical URL that pages of so many contents name is wrong.
_MAX_CONTENTS_OF_CANONICAL = 3
_MAX_CANONICAL = 4096
#: Hosts and schemes of canonical URLs that are remembered.
_MAX_ORIGINS = 64


class _Observation(NamedTuple):
    """The content that a URL led to.

    :ivar reduced: digest of what was left of the URL then.
    :ivar is_certain: whether only rules in force left something out.
    """

    content: int
    number: int
    url: int
    reduced: int
    is_certain: bool
    left_out: tuple[LeftOut, ...]

    def differs(self, other: _Observation) -> bool:
        """Decide whether the URL is another one, and not only by what is left out."""
        return self.url != other.url and self.reduced != other.reduced


class Comparisons:
    """Compares the visited URLs of a site, and counts the results."""

    def __init__(self, collector: EvidenceCollector, urls: KnownUrls) -> None:
        self._rules = urls.rules
        self._collector = collector
        self._visited = urls.visited
        self._reducer = urls.trial_reducer
        #: By skeleton, and by the component it lacks: an observation. (A plain dict takes long to
        #: find its first entry when many before it were deleted.)
        self._by_skeleton: OrderedDict[int, dict[Component, _Observation]] = OrderedDict()
        self._met: OrderedDict[Component, None] = OrderedDict()
        #: Of rules on any segment: those that were left out.
        self._segments: OrderedDict[Key, set[str]] = OrderedDict()

    def compare(self, visited: VisitedUrl, *, brings_new: bool = False) -> None:
        """Compare a URL with all that differ from it in one component."""
        reduced = visited.trial
        self._compare_with_nearest(visited, brings_new=brings_new)
        own = _observation(visited, reduced.digest)
        for component, other in self._by_skeleton.get(reduced.digest, {}).items():
            if own.differs(other):
                self._count((reduced.pattern, component), own, other)
        for skeleton in self._reducer.skeletons(reduced):
            component = skeleton.component
            if skeleton.varying is None and self._is_first(component):
                continue
            partner = self._partner(skeleton)
            if partner is not None and own.differs(partner):
                key = self._reducer.key_of(skeleton)
                differs = partner.content != own.content
                if differs or self._is_new_segment(key, skeleton.varying or ""):
                    self._count(key, own, partner)
            seen = self._by_skeleton.setdefault(skeleton.digest, {})
            if len(seen) < _MAX_OBSERVATIONS:
                seen.setdefault(component, own)
        while len(self._by_skeleton) > MAX_SKELETONS:
            self._by_skeleton.popitem(last=False)

    def look_for_hints(self, visited: VisitedUrl, same: list[VisitedUrl]) -> None:
        """Count hints: URLs of one content that differ in a few components."""
        assert visited.content is not None
        for other in same:
            if other.trial.digest == visited.trial.digest:
                continue
            between = differing(visited.trial.parts, other.trial.parts, self._reducer.patterns)
            for pattern, component, text in between if len(between) <= _MAX_DIFFERENCE else ():
                hint = pattern, (*component, "hint")
                if self._is_new_segment(hint, text):
                    self._collector.hint((pattern, component), visited.content)

    def _is_new_segment(self, key: Key, text: str) -> bool:
        """Decide whether this segment is left out for the first time; true of other components.

        A segment that is always the same, such as "print", does not show that any may stand there.
        """
        if key[1][0] != "segment_at":
            return True
        segments = self._segments.setdefault(key, set())
        if len(self._segments) > MAX_RULES:
            self._segments.popitem(last=False)
        if text in segments or len(segments) >= MAX_COUNTED:
            return False
        segments.add(text)
        return True

    def _is_first(self, component: Component) -> bool:
        """Return whether this segment, or this value, is seen for the first time."""
        if component in self._met:
            return False
        self._met[component] = None
        if len(self._met) > _MAX_TEXTS:
            self._met.popitem(last=False)
        return True

    def _partner(self, skeleton: Skeleton) -> _Observation | None:
        """Return an observation of a URL without, or with another, component."""
        for visited in self._visited.judged_with_trial(skeleton.digest):
            return _observation(visited, skeleton.digest)
        if skeleton.varying is None:
            return None
        component, others = skeleton.component, self._by_skeleton.get(skeleton.digest, {})
        if component[0] != "host":
            return others.get(component)
        return next((seen for other, seen in others.items() if other[0] == "host"), None)

    def _count(self, key: Key, one: _Observation, other: _Observation) -> None:
        """Count a trial of a rule; what else was left out of one of the URLs may explain it."""
        confounders: list[Key] = []
        if not (one.is_certain and other.is_certain):
            between = _left_out_between(one.left_out, other.left_out)
            keys = dict.fromkeys((key[0], component) for _, component, _ in between)
            confounders = [other for other in keys if not self._rules.is_applied(*other)]
        if key in confounders:
            # It was left out of one of them only, and may be the same in both.
            return
        number = max(one.number, other.number)
        contents = one.content, other.content
        if one.content == other.content:
            self._collector.agree(key, one.content, number, confounders=confounders)
        elif confounders:
            self._collector.contradict_with_confounders(key, contents, number, confounders)
        else:
            self._collector.contradict(key, contents, number, brings_new=False)

    def _compare_with_nearest(self, visited: VisitedUrl, *, brings_new: bool) -> None:
        """Test the rules that are on trial: equal reduced URLs should be of one content."""
        nearest, between = None, list[LeftOut]()
        for other in islice(self._visited.judged_with_trial(visited.trial.digest), _MAX_COMPARED):
            if other is not visited:
                difference = _left_out_between(visited.trial.left_out, other.trial.left_out)
                if difference and (nearest is None or len(difference) < len(between)):
                    nearest, between = other, difference
        if nearest is None or nearest.content is None or visited.content is None:
            return
        keys = list(dict.fromkeys(left_out[:2] for left_out in between))
        number = visited.observation
        if nearest.content != visited.content:
            contents = visited.content, nearest.content
            self._collector.contradict_one_of(keys, contents, number, brings_new=brings_new)
            return
        unproven = [key for key in keys if not self._rules.is_applied(*key)]
        if len(unproven) > 1 and max(map(_left_out_segments, (visited, nearest))) > 1:
            # Of several rules that shorten a path, nobody knows which do so rightly.
            return
        for pattern, component, text in between:
            key = pattern, component
            if self._is_new_segment(key, text):
                confounders = [other for other in unproven if other != key]
                self._collector.agree(key, visited.content, number, confounders=confounders)


class CanonicalUrls:
    """Counts what the pages of a site say of their own URLs."""

    def __init__(self, collector: EvidenceCollector, urls: KnownUrls) -> None:
        self._rules = urls.rules
        self._collector = collector
        self._reducer = urls.trial_reducer
        #: Contents of the pages that name a canonical URL.
        self._contents: OrderedDict[int, set[int]] = OrderedDict()
        #: First labels of their hosts, and schemes.
        self._origins: set[tuple[str, str]] = set()

    def learn(self, visited: VisitedUrl, canonical: UrlParts) -> None:
        """Count the canonical URL of a page, which may be its own."""
        assert visited.content is not None
        if not self._rules.uses_canonical_urls:
            return
        if len(self._origins) < _MAX_ORIGINS:
            self._origins.add((canonical.label, canonical.scheme))
        if canonical == visited.parts:
            return
        contents = self._contents.setdefault(canonical.digest, set())
        contents.add(visited.content)
        if len(self._contents) > _MAX_CANONICAL:
            self._contents.popitem(last=False)
        if len(contents) >= _MAX_CONTENTS_OF_CANONICAL:
            self._contents.clear()
            self._origins.clear()
            self._rules.ignore_canonical_urls()
            return
        for key in self._between(visited.trial, canonical):
            self._collector.agree(key, visited.content, visited.observation, by_canonical_url=True)

    def learn_alternates(self, alternates: list[UrlParts]) -> None:
        """Count the versions of a page in other languages, which are no duplicates."""
        for one, other in pairwise(alternates):
            if one != other:
                contents, number = (one.digest, other.digest), self._rules.observations
                for key in self._between(self._reducer.reduce(one, one.digest), other):
                    self._collector.contradict(key, contents, number, brings_new=True)

    def is_canonical(self, digest: int) -> bool:
        """Decide whether a page at another URL names the URL of this digest as canonical."""
        return digest in self._contents

    def is_alias(self, label: str, scheme: str) -> bool:
        """Decide whether canonical URLs have other hosts or schemes only."""
        return bool(self._origins) and (label, scheme) not in self._origins

    def _between(self, reduced: ReducedUrl, parts: UrlParts) -> Iterator[Key]:
        """Yield the keys of the rules that each alone make one URL of two."""
        other = self._reducer.reduce(parts, parts.digest)
        if other.digest == reduced.digest:
            between = _left_out_between(reduced.left_out, other.left_out)
            yield from dict.fromkeys(left_out[:2] for left_out in between)
            return
        theirs = {skeleton.component: skeleton for skeleton in self._reducer.skeletons(other)}
        for own in self._reducer.skeletons(reduced):
            their = theirs.get(own.component)
            varies = own.varying is not None and their and their.digest == own.digest
            if varies or own.digest == other.digest:
                yield self._reducer.key_of(own)
        for their in theirs.values():
            if their.digest == reduced.digest:
                yield self._reducer.key_of(their)


def _left_out_segments(visited: VisitedUrl) -> int:
    return sum(is_path_component(component) for _, component, _ in visited.trial.left_out)


def _left_out_between(one: tuple[LeftOut, ...], other: tuple[LeftOut, ...]) -> list[LeftOut]:
    """Return what was left out of one of two URLs, or was something else in the other one.

    The pattern of what was left out depends on what else was, and is not compared.
    """
    differ = {left_out[1:] for left_out in one} ^ {left_out[1:] for left_out in other}
    return [left_out for left_out in (*one, *other) if left_out[1:] in differ]


def _observation(visited: VisitedUrl, reduced: int) -> _Observation:
    assert visited.content is not None
    is_certain = visited.trial.digest == visited.normalized.digest
    return _Observation(
        visited.content,
        visited.observation,
        visited.digest,
        reduced,
        is_certain,
        visited.trial.left_out,
    )
