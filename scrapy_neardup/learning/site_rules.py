"""One site: learns from each page that was judged, and says which addresses bring nothing new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from xxhash import xxh3_64_intdigest

from .addresses import SCHEME, Address, Component, is_of_path, path_components
from .endless import Budget, Runs
from .evidence import MAX_COUNTED
from .families import Families
from .forms import Form, Leaving, LeftOut, Skeleton, differing
from .known import Known, KnownAddresses
from .rulebook import EVERYWHERE, MAX_RULES, Key, RuleBook, RuleChange
from .rules import UrlRule
from .skipped import Probes, Skipped, SkippedAddresses, probe_keys

#: Addresses of a site that are known at most.
MAX_ADDRESSES = 10_000
#: Skeletons of addresses that wait for another one, for each address that may be known.
_SKELETONS_EACH = 8
#: Components that may wait at one skeleton.
_MAX_WAITING = 16
#: Texts and values that are remembered in order to see whether they come again.
_MAX_TEXTS = 4096
#: A canonical address that pages of so many contents name says nothing.
_MAX_NAMERS = 3
_MAX_TARGETS = 4096
#: Of each rule so many skipped addresses are fetched before a crawl ends.
LAST_PROBES = 3

_DIGESTS = 2**64
#: What a budget that is spent takes from a request's priority.
_SLOWER = 10
#: How often rules that change one another are settled at once; the rest follows later.
_ROUNDS = 10
_MAX_LENGTH = 10**6
#: A parameter of which so many values were fetched may have any.
_FEW_VALUES = 10
#: Addresses that differ in more components give no hint of what means nothing.
_MAX_DIFFERENCE = 5


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to become of a request.

    :ivar action: ``"fetch"``, ``"skip"``, or ``"explore"``: it would be skipped, and is fetched to
        see whether that is still right.
    :ivar rules: those by which it is superfluous; the first one stands for all.
    :ivar delay: how much lower its priority had better be: what has fewer parts of which nobody
        knows whether they select a page comes first, so that fewer fetches teach more.
    """

    action: Literal["fetch", "skip", "explore"]
    rules: tuple[UrlRule, ...] = ()
    delay: int = 0


class _Seen(NamedTuple):
    """What an address led to.

    :ivar number: which observation it was.
    :ivar address: its digest.
    :ivar form: digest of what was left of it then.
    :ivar is_certain: was nothing left out but what rules in force leave out?
    """

    content: int
    number: int
    address: int
    form: int
    is_certain: bool

    def is_other(self, other: _Seen) -> bool:
        """Is it another address, and not only by what is left out anyway?"""
        return self.address != other.address and self.form != other.form


class SiteRules:
    """What is known of one site, and its rules.

    :param explore: share of what would be skipped that is fetched, 0.0 to 1.0.
    :param seed: other ones are fetched with another seed.
    :param budget: see :class:`~scrapy_neardup.learning.endless.Budget`.
    :param now: the time in seconds since 1970.
    :param wanted: takes requests that were skipped and must be made after all.
    """

    def __init__(
        self,
        site: str,
        *,
        explore: float,
        seed: int,
        budget: int | None,
        now: Callable[[], int],
        wanted: list[Any],
    ) -> None:
        self.book = RuleBook(site, now)
        self.skipped = SkippedAddresses()
        self.known = KnownAddresses(MAX_ADDRESSES)
        self._families = Families()
        self._normal = Leaving(self._families, self.book.applies, self.book.applied_components)
        self._tried = Leaving(self._families, self.book.is_tried, self.book.tried_components)
        #: By skeleton and by what it lacks: one address that has it.
        self._waiting: dict[int, dict[Component, _Seen]] = {}
        self._met: dict[Component, None] = {}
        #: Values of parameters that were fetched, a few of each.
        self._values: dict[Component, set[str]] = {}
        self._runs, self._budget = Runs(), Budget(budget)
        self._named_by: dict[int, set[int]] = {}
        self._believes_names = True
        self._explored_below = int(explore * _DIGESTS)
        self._seed = seed
        self._wanted = wanted
        self._probes: dict[int, None] = {}
        #: Of rules on a segment that may be any: those it was.
        self._texts: dict[Key, set[str]] = {}
        self._probes_made = Probes()

    # --- deciding ---------------------------------------------------------------------------

    def decide(self, address: Address) -> Decision:
        """Would a fetch of this address bring anything new?"""
        digest = address.digest
        form = self._normal.form(address)
        rules = self._objections(digest, form)
        if not rules:
            return Decision("fetch", delay=self._delay(form))
        return Decision("explore" if self._is_probe(digest, form, rules) else "skip", rules)

    def begin(self, address: Address) -> None:
        """It is being fetched."""
        digest = address.digest
        if self.known.get(digest) is None:
            self._add(address, digest)

    def keep(self, address: Address, rules: tuple[UrlRule, ...], request: Any) -> None:
        """It was skipped by these rules, and may be wanted later."""
        self.skipped.add(Skipped(address, self._normal.form(address), rules, request))

    def fail(self, address: Address) -> None:
        """Nothing came of fetching it: one that was skipped for its sake is wanted."""
        known = self.known.get(address.digest)
        if known is not None:
            self.known.remove(known)
            self._want_one_of(known.normal.digest)

    def content_of(self, address: Address) -> int | None:
        """What an address shows, or another one of its normal form."""
        known = self.known.get(address.digest)
        group = [known] if known else self.known.of_normal(self._normal.form(address).digest)
        return next((k.content for k in group if k.content is not None), None)

    def under_way(self) -> list[Address]:
        """Addresses that are being fetched, or of which nothing was heard."""
        return [known.address for known in self.known if known.content is None]

    def probe(self) -> None:
        """Want some of what was skipped, of each rule, before the crawl ends."""
        for skipped in self.skipped.spread(LAST_PROBES, self._probes_made):
            self._want(skipped)

    def _objections(self, digest: int, form: Form) -> tuple[UrlRule, ...]:
        """The rules by which an address is superfluous; none when it is to be fetched."""
        known = self.known.get(digest)
        if known is not None:
            return ()
        for other in self.known.of_normal(form.digest):
            between = set(form.left_out) ^ set(other.normal.left_out)
            if between:
                return tuple(dict.fromkeys(self.book.in_force(*key[:2]) for key in between))
        exhausted = self.book.exhausted(form.shape)
        return () if exhausted is None else (exhausted,)

    def _delay(self, form: Form) -> int:
        """How many parts may mean nothing; more for shapes that are to be slowed down."""
        book, family = self.book, form.family
        names = {("param", name) for name, _ in form.params}
        names |= {("path_param", name) for _, name, _ in form.path_params}
        if form.label:
            names.add(("host", form.label))
        delay = sum(not book.may_matter((family, component)) for component in names)
        for component, rest, _ in path_components(form.segments):
            delay += book.seems_idle((self._families.name(rest), component))
        return delay + (_SLOWER if form.shape in self._budget.slow else 0)

    def _is_probe(self, digest: int, form: Form, rules: tuple[UrlRule, ...]) -> bool:
        if digest in self._probes:
            return True
        hashed = xxh3_64_intdigest(digest.to_bytes(8, "little"), seed=self._seed)
        is_probe = (
            hashed < self._explored_below
            or any(self._is_untried(left_out) for left_out in form.left_out)
            or self.book.takes_probe(left_out[:2] for left_out in form.left_out)
        )
        if not is_probe:
            return False
        _remember(self._probes, digest)
        self._probes_made.made.update(probe_keys(rules, form))
        return True

    def _is_untried(self, left_out: LeftOut) -> bool:
        """Is it a value that was never fetched, of a parameter that has only few of them?

        That ``start=0`` means nothing does not show that ``start=10`` does not.
        """
        _, component, value = left_out
        values = self._values.get(component) if len(component) == 2 else None
        return values is not None and len(values) < _FEW_VALUES and value not in values

    # --- learning ---------------------------------------------------------------------------

    def observe(
        self,
        address: Address,
        content: int,
        *,
        is_duplicate: bool,
        depth: int = 0,
        canonical: Address | None = None,
        alternates: Iterable[Address] = (),
    ) -> None:
        """A page was fetched and judged.

        :param content: what it shows: the same number for pages of one content.
        :param depth: links from the start to it.
        """
        self.book.observations += 1
        self._learn_families(address)
        self._learn_values(address)
        digest = address.digest
        known = self.known.get(digest) or self._add(address, digest)
        same = self.known.judge(known, content, self.book.observations)
        self._try(known, brings_new=not is_duplicate)
        self._look_for_hints(known, same)
        self._watch_for_the_end(known, is_duplicate, depth)
        if canonical is not None and canonical != address:
            self._learn_name(known, canonical)
        self._tell_apart(list(alternates))
        self.settle()

    def adopt(self, rules: Iterable[UrlRule]) -> None:
        """Take over rules of an earlier crawl or another worker."""
        for rule in rules:
            self.book.adopt(rule)
        self.settle()
        self._reconsider()

    def settle(self) -> None:
        """Decide anew on the rules, and bring all that is known into its new form."""
        for _ in range(_ROUNDS):
            applied, tried = self.book.settle()
            if not applied and not tried:
                break
            self._reform(applied, applied | tried)
        if any(not change.is_taken_up for change in self.book.changes):
            self._reconsider()

    def take_changes(self) -> list[RuleChange]:
        """What was taken up or withdrawn since the last time."""
        changes, self.book.changes = self.book.changes, []
        return changes

    def _learn_families(self, address: Address) -> None:
        if self._families.learn(address.segments):
            self.book.rename(self._families)
            self.book.settle()
            everything = {(EVERYWHERE, SCHEME)}
            self._reform(everything, everything)

    def _learn_values(self, address: Address) -> None:
        for name, value in address.params:
            values = self._values.setdefault(("param", name), set())
            if len(values) < _FEW_VALUES:
                values.add(value)
        while len(self._values) > _MAX_TEXTS:
            del self._values[next(iter(self._values))]

    def _try(self, known: Known, *, brings_new: bool = False) -> None:
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
            del self._texts[next(iter(self._texts))]
        is_other = text not in texts and len(texts) < MAX_COUNTED
        texts.add(text) if is_other else None
        return is_other

    def _is_first(self, component: Component) -> bool:
        """Was this text, or this value, never met before?"""
        if component in self._met:
            return False
        _remember(self._met, component)
        return True

    def _partner(self, skeleton: Skeleton) -> _Seen | None:
        """What an address shows that is this one without, or with another, component."""
        for known in self.known.judged(skeleton.digest):
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
        if len(self._waiting) > _SKELETONS_EACH * MAX_ADDRESSES:
            del self._waiting[next(iter(self._waiting))]

    def _count(self, key: Key, one: _Seen, other: _Seen) -> None:
        seen = max(one.number, other.number)
        if one.content == other.content:
            self.book.agree(key, one.content, seen)
            return
        contents = one.content, other.content
        if one.is_certain and other.is_certain:
            self.book.contradict(key, contents, seen, brings_new=False)
        else:
            self.book.doubt(key, contents, seen)

    def _compare_with_nearest(self, known: Known, *, brings_new: bool) -> None:
        """Try what is taken for granted: addresses of one form should be of one content."""
        left = set(known.tried.left_out)
        nearest, between = None, set[LeftOut]()
        for other in self.known.judged(known.tried.digest):
            if other is not known:
                difference = left ^ set(other.tried.left_out)
                if difference and (nearest is None or len(difference) < len(between)):
                    nearest, between = other, difference
        if nearest is None or nearest.content is None or known.content is None:
            return
        keys = list(dict.fromkeys(left_out[:2] for left_out in between))
        if nearest.content != known.content:
            contents = known.content, nearest.content
            self.book.dispute(keys, contents, known.seen, brings_new=brings_new)
        elif self._is_certain(known, nearest, keys):
            for family, component, text in between:
                key = family, component
                if component[0] != "segment_at" or self._is_other_text(key, text):
                    self.book.agree(key, known.content, known.seen)

    def _is_certain(self, known: Known, other: Known, keys: list[Key]) -> bool:
        """Do all of these mean nothing, when both addresses are of one content?

        Of a path that several rules shorten, nobody knows which of them do.
        """
        unproven = [key for key in keys if not self.book.applies(*key)]
        shortened = (
            sum(is_of_path(component) for _, component, _ in one.tried.left_out)
            for one in (known, other)
        )
        return len(unproven) <= 1 or max(shortened) <= 1

    def _look_for_hints(self, known: Known, same: list[Known]) -> None:
        """Two addresses of one content that differ in a few components may differ in nothing that
        matters.
        """
        assert known.content is not None
        for other in same:
            if other.tried.digest == known.tried.digest:
                continue
            between = differing(known.tried, other.tried, self._families)
            for family, component, text in between if len(between) <= _MAX_DIFFERENCE else ():
                hint = family, (*component, "hint")
                if component[0] != "segment_at" or self._is_other_text(hint, text):
                    self.book.hint((family, component), known.content)

    def _watch_for_the_end(self, known: Known, is_duplicate: bool, depth: int) -> None:
        """Does page after page of this shape bring nothing new?"""
        assert known.content is not None
        shape = known.normal.shape
        if not is_duplicate:
            self._runs.new(shape)
            self.book.replenish(shape)
            return
        form = known.normal.digest
        if pages := self._runs.duplicate(shape, form, known.content, depth):
            self.book.exhaust(shape, pages)
        for spent, number in self._budget.spend(known.content, shape).items():
            self.book.exhaust(spent, number, is_enough=True)

    # --- what pages say of themselves -------------------------------------------------------

    def _learn_name(self, known: Known, canonical: Address) -> None:
        """A page names its canonical address."""
        assert known.content is not None
        if not self._believes_names:
            return
        namers = self._named_by.setdefault(canonical.digest, set())
        namers.add(known.content)
        if len(self._named_by) > _MAX_TARGETS:
            del self._named_by[next(iter(self._named_by))]
        if len(namers) >= _MAX_NAMERS:
            self._believes_names = False
            self._named_by.clear()
            self.book.disbelieve_names()
            return
        for key in self._between(known.tried, canonical):
            self.book.agree(key, known.content, known.seen, by_name=True)

    def _tell_apart(self, alternates: list[Address]) -> None:
        """These are no duplicates of one another, whatever they look like.

        Which of them the page is, in another spelling, it does not say.
        """
        for one, other in pairwise(alternates):
            if one != other:
                contents, seen = (one.digest, other.digest), self.book.observations
                for key in self._between(self._tried.form(one), other):
                    self.book.contradict(key, contents, seen, brings_new=True)

    def _between(self, form: Form, address: Address) -> Iterator[Key]:
        """The rules that each alone make one address of two."""
        other = self._tried.form(address)
        if other.digest == form.digest:
            yield from {left[:2] for left in set(form.left_out) ^ set(other.left_out)}
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

    # --- keeping order ----------------------------------------------------------------------

    def _add(self, address: Address, digest: int) -> Known:
        known = Known(address, digest, self._normal.form(address), self._tried.form(address))
        self.known.add(known)
        return known

    def _reform(self, applied: set[Key], changed: set[Key]) -> None:
        """These are left out now, or no longer; what is only so while rules are tried as well."""
        of_known, of_skipped = _Touched(changed), _Touched(applied)
        again = []
        for known in list(self.known):
            if of_known.touches(known.address, known.tried.family):
                normal = self._normal.form(known.address)
                tried = self._tried.form(known.address)
                if tried.digest != known.tried.digest:
                    again.append(known)
                self.known.change(known, normal, tried)
        if applied:
            for skipped in list(self.skipped):
                if of_skipped.touches(skipped.address, skipped.normal.family):
                    self.skipped.change(skipped, self._normal.form(skipped.address))
        for known in again:
            if known.content is not None and self.known.get(known.digest) is known:
                self._try(known)

    def _reconsider(self) -> None:
        """Want what was skipped by rules that hold no longer."""
        for skipped in list(self.skipped):
            rules = self._objections(skipped.digest, skipped.normal)
            if rules:
                skipped.rules = rules
            else:
                self._want(skipped)

    def _want_one_of(self, normal: int) -> None:
        """Want one of those that were skipped for a form, unless another one stands for it."""
        if not self.known.of_normal(normal):
            for skipped in self.skipped.of_normal(normal)[:1]:
                self._want(skipped)

    def _want(self, skipped: Skipped) -> None:
        self.skipped.remove(skipped)
        self._wanted.append(skipped.request)
        self.begin(skipped.address)


class _Touched:
    """Which addresses have something of what changed."""

    def __init__(self, keys: set[Key]) -> None:
        self._params: dict[str, set[str]] = {}
        self._path_params: set[str] = set()
        self._texts: set[str] = set()
        self._longer_than = _MAX_LENGTH
        self._all: set[str] = set()
        for family, component in keys:
            kind, *more = component
            if kind == "param":
                self._params.setdefault(str(more[0]), set()).add(family)
            elif kind == "path_param":
                self._path_params.add(str(more[0]))
            elif kind == "segment":
                self._texts.add(str(more[0]))
            elif kind == "segment_at":
                self._longer_than = min(self._longer_than, max(0, int(more[0])))
            else:
                self._all.add(family)

    def touches(self, address: Address, family: str) -> bool:
        """Is it one of these?

        :param family: of the path that is left of it; one that changes is found by its segments.
        """
        if len(address.segments) > self._longer_than:
            return True
        if self._texts and not self._texts.isdisjoint(address.segments):
            return True
        if self._all and (family in self._all or EVERYWHERE in self._all):
            return True
        if self._params:
            for name, _ in address.params:
                families = self._params.get(name)
                if families and (family in families or EVERYWHERE in families):
                    return True
        return any(name in self._path_params for _, name, _ in address.path_params)


def _seen(known: Known, form: int) -> _Seen:
    assert known.content is not None
    is_certain = known.tried.digest == known.normal.digest
    return _Seen(known.content, known.seen, known.digest, form, is_certain)


def _remember(keys: dict[Any, None], key: Any) -> None:
    keys[key] = None
    if len(keys) > _MAX_TEXTS:
        del keys[next(iter(keys))]
