"""Compares URLs that differ in what a rule leaves out, by the contents that they led to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from .evidence import MAX_COUNTED, Key
from .path_patterns import PathPatterns
from .rule_set import MAX_RULES, RuleSet
from .skeletons import Form, LeftOut, Skeleton, SkeletonBuilder, differing
from .url_parts import Component, UrlParts, is_of_path
from .visited_urls import VisitedUrl, VisitedUrls

#: Skeletons of addresses that wait for another one.
MAX_SKELETONS = 80_000
#: Components that may wait at one skeleton.
_MAX_WAITING = 16
#: Texts and values that are remembered in order to see whether they come again.
_MAX_TEXTS = 4096
#: With so many addresses of one form another one is compared.
_MAX_COMPARED = 64
#: Addresses that differ in more components give no hint of what means nothing.
_MAX_DIFFERENCE = 5
#: A canonical address that pages of so many contents name says nothing.
_MAX_NAMERS = 3
_MAX_TARGETS = 4096
#: Hosts and schemes of canonical addresses that are remembered.
_MAX_ORIGINS = 64


#: First label of a host, and scheme.
Origin = tuple[str, str]


class _Seen(NamedTuple):
    """What an address led to.

    :ivar number: which observation it was.
    :ivar address: its digest.
    :ivar form: digest of what was left of it then.
    :ivar is_certain: was nothing left out but what rules in force leave out?
    :ivar left_out: all that was.
    """

    content: int
    number: int
    address: int
    form: int
    is_certain: bool
    left_out: tuple[LeftOut, ...]

    def is_other(self, other: _Seen) -> bool:
        """Is it another address, and not only by what is left out anyway?"""
        return self.address != other.address and self.form != other.form


class Comparisons:
    """Compares the addresses of a site, and tells its rules what that shows.

    :param tried: what is left out while rules are tried.
    """

    def __init__(
        self, book: RuleSet, known: VisitedUrls, patterns: PathPatterns, tried: SkeletonBuilder
    ) -> None:
        self._book = book
        self._known = known
        self._patterns = patterns
        self._tried = tried
        #: By skeleton and by what it lacks: one address that has it. (A plain dict takes the longer
        #: to find its first entry the more were taken away before that.)
        self._waiting: OrderedDict[int, dict[Component, _Seen]] = OrderedDict()
        self._met: OrderedDict[Component, None] = OrderedDict()
        #: Of rules on a segment that may be any: those it was.
        self._texts: OrderedDict[Key, set[str]] = OrderedDict()
        self._named_by: OrderedDict[int, set[int]] = OrderedDict()
        self._origins: set[Origin] = set()

    def compare(self, known: VisitedUrl, *, brings_new: bool = False) -> None:
        """Compare an address with all that differ from it in one component."""
        assert known.content is not None
        form = known.tried
        self._compare_with_nearest(known, brings_new=brings_new)
        own = _seen(known, form.digest)
        for component, waiting in self._waiting.get(form.digest, {}).items():
            if own.is_other(waiting):
                self._count((form.family, component), own, waiting)
        for skeleton in self._tried.skeletons(form):
            component = skeleton.component
            if skeleton.varying is None and self._is_first(component):
                continue
            other = self._partner(skeleton)
            if other is not None and own.is_other(other):
                key = skeleton.family, component
                if not (skeleton.varying and other.content == own.content) or self._is_other_text(
                    key, skeleton.varying
                ):
                    self._count(key, own, other)
            self._wait(skeleton.digest, component, own)

    def _is_other_text(self, key: Key, text: str) -> bool:
        """Is it the first time that it was just this segment? What is always the same one (print)
        does not show that it may be any.
        """
        texts = self._texts.setdefault(key, set())
        if len(self._texts) > MAX_RULES:
            self._texts.popitem(last=False)
        is_other = text not in texts and len(texts) < MAX_COUNTED
        texts.add(text) if is_other else None
        return is_other

    def _is_first(self, component: Component) -> bool:
        """Was this text, or this value, never met before?"""
        if component in self._met:
            return False
        self._met[component] = None
        if len(self._met) > _MAX_TEXTS:
            self._met.popitem(last=False)
        return True

    def _partner(self, skeleton: Skeleton) -> _Seen | None:
        """What an address shows that is this one without, or with another, component."""
        for known in self._known.judged(skeleton.digest):
            return _seen(known, skeleton.digest)
        if skeleton.varying is None:
            return None
        component, waiting = skeleton.component, self._waiting.get(skeleton.digest, {})
        if component[0] != "host":
            return waiting.get(component)
        return next((seen for other, seen in waiting.items() if other[0] == "host"), None)

    def _wait(self, digest: int, component: Component, seen: _Seen) -> None:
        group = self._waiting.setdefault(digest, {})
        if len(group) < _MAX_WAITING:
            group.setdefault(component, seen)
        if len(self._waiting) > MAX_SKELETONS:
            self._waiting.popitem(last=False)

    def _count(self, key: Key, one: _Seen, other: _Seen) -> None:
        suspects = self._suspects(key, one, other)
        if key in suspects:
            # What was left out of one of them already may stand in both, and be the same.
            return
        seen = max(one.number, other.number)
        if one.content == other.content:
            self._book.agree(key, one.content, seen, suspects=suspects)
            return
        contents = one.content, other.content
        if suspects:
            self._book.doubt(key, contents, seen, suspects)
        else:
            self._book.contradict(key, contents, seen, brings_new=False)

    def _suspects(self, key: Key, one: _Seen, other: _Seen) -> list[Key]:
        """What two addresses differ in besides, and what no rule in force leaves out."""
        if one.is_certain and other.is_certain:
            return []
        between = _left_out_between(one.left_out, other.left_out)
        components = dict.fromkeys(component for _, component, _ in between)
        return [(key[0], c) for c in components if not self._book.applies(key[0], c)]

    def _compare_with_nearest(self, known: VisitedUrl, *, brings_new: bool) -> None:
        """Try what is taken for granted: addresses of one form should be of one content."""
        nearest, between = None, list[LeftOut]()
        for other in islice(self._known.judged(known.tried.digest), _MAX_COMPARED):
            if other is not known:
                difference = _left_out_between(known.tried.left_out, other.tried.left_out)
                if difference and (nearest is None or len(difference) < len(between)):
                    nearest, between = other, difference
        if nearest is None or nearest.content is None or known.content is None:
            return
        keys = list(dict.fromkeys(left_out[:2] for left_out in between))
        if nearest.content != known.content:
            contents = known.content, nearest.content
            self._book.dispute(keys, contents, known.seen, brings_new=brings_new)
            return
        unproven = [key for key in keys if not self._book.applies(*key)]
        if len(unproven) > 1 and _shortened(known, nearest) > 1:
            # Of a path that several rules shorten, nobody knows which of them do.
            return
        for family, component, text in between:
            key = family, component
            if component[0] != "segment_at" or self._is_other_text(key, text):
                suspects = [other for other in unproven if other != key]
                self._book.agree(key, known.content, known.seen, suspects=suspects)

    def look_for_hints(self, known: VisitedUrl, same: list[VisitedUrl]) -> None:
        """Two addresses of one content that differ in a few components may differ in nothing that
        matters.
        """
        assert known.content is not None
        for other in same:
            if other.tried.digest == known.tried.digest:
                continue
            between = differing(known.tried, other.tried, self._patterns)
            for family, component, text in between if len(between) <= _MAX_DIFFERENCE else ():
                hint = family, (*component, "hint")
                if component[0] != "segment_at" or self._is_other_text(hint, text):
                    self._book.hint((family, component), known.content)

    # --- what pages say of themselves -------------------------------------------------------

    def learn_name(self, known: VisitedUrl, canonical: UrlParts) -> None:
        """A page names its canonical address, which may be its own."""
        assert known.content is not None
        if not self._book.believes_names:
            return
        if len(self._origins) < _MAX_ORIGINS:
            self._origins.add((canonical.label, canonical.scheme))
        if canonical == known.address:
            return
        namers = self._named_by.setdefault(canonical.digest, set())
        namers.add(known.content)
        if len(self._named_by) > _MAX_TARGETS:
            self._named_by.popitem(last=False)
        if len(namers) >= _MAX_NAMERS:
            self._named_by.clear()
            self._origins.clear()
            self._book.disbelieve_names()
            return
        for key in self._between(known.tried, canonical):
            self._book.agree(key, known.content, known.seen, by_name=True)

    def is_canonical(self, digest: int) -> bool:
        """Does a page, on another address, name the address of this digest as its own?"""
        return digest in self._named_by

    def is_alias(self, label: str, scheme: str) -> bool:
        """Do pages name other hosts or another scheme in their canonical addresses, never these?"""
        return bool(self._origins) and (label, scheme) not in self._origins

    def tell_apart(self, alternates: list[UrlParts]) -> None:
        """These are no duplicates of one another, whatever they look like.

        Which of them the page is, in another spelling, it does not say.
        """
        for one, other in pairwise(alternates):
            if one != other:
                contents, seen = (one.digest, other.digest), self._book.observations
                for key in self._between(self._tried.form(one, one.digest), other):
                    self._book.contradict(key, contents, seen, brings_new=True)

    def _between(self, form: Form, address: UrlParts) -> Iterator[Key]:
        """The rules that each alone make one address of two."""
        other = self._tried.form(address, address.digest)
        if other.digest == form.digest:
            between = _left_out_between(form.left_out, other.left_out)
            yield from dict.fromkeys(left_out[:2] for left_out in between)
            return
        theirs = {skeleton.component: skeleton for skeleton in self._tried.skeletons(other)}
        for own in self._tried.skeletons(form):
            their = theirs.get(own.component)
            varies = own.varying is not None and their and their.digest == own.digest
            if varies or own.digest == other.digest:
                yield own.family, own.component
        for their in theirs.values():
            if their.digest == form.digest:
                yield their.family, their.component


def _shortened(one: VisitedUrl, other: VisitedUrl) -> int:
    """How many segments were left out of one of them, at most."""
    return max(
        sum(is_of_path(component) for _, component, _ in known.tried.left_out)
        for known in (one, other)
    )


def _left_out_between(one: tuple[LeftOut, ...], other: tuple[LeftOut, ...]) -> list[LeftOut]:
    """What was left out of one of two addresses, or was something else in the other one.

    Of which family it was left out, that depends on what else was.
    """
    differ = {left_out[1:] for left_out in one} ^ {left_out[1:] for left_out in other}
    return [left_out for left_out in (*one, *other) if left_out[1:] in differ]


def _seen(known: VisitedUrl, form: int) -> _Seen:
    assert known.content is not None
    is_certain = known.tried.digest == known.normal.digest
    return _Seen(known.content, known.seen, known.digest, form, is_certain, known.tried.left_out)
