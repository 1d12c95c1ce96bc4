"""One site: learns from each page that was judged, and says which addresses bring nothing new."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple

from xxhash import xxh3_64_intdigest

from .comparisons import Comparisons
from .crawl_traps import Budget, Runs
from .evidence import Key
from .path_patterns import PathPatterns
from .rule import UrlRule
from .rule_set import EVERYWHERE, RuleChange, RuleSet
from .skeletons import Form, LeftOut, RuleMatcher, SkeletonBuilder
from .skipped_urls import Probes, SkippedUrl, SkippedUrls, probe_keys
from .url_parts import SCHEME, Component, UrlParts, path_components
from .visited_urls import VisitedUrl, VisitedUrls

#: Addresses of a site that are known at most.
MAX_ADDRESSES = 10_000
#: Parameters and probes that are remembered.
_MAX_REMEMBERED = 4096
#: Of each rule so many skipped addresses are fetched before a crawl ends.
LAST_PROBES = 3

_DIGESTS = 2**64
#: What a budget that is spent takes from a request's priority.
_SLOWER = 10
#: Whatever changed, all addresses have something of it.
_EVERYTHING: Key = (EVERYWHERE, SCHEME)
#: VisitedUrl addresses that are compared anew with each that is observed.
_AGAIN = 30
#: A parameter of which so many values were fetched may have any.
_FEW_VALUES = 10


class Decision(NamedTuple):
    """What is to become of a request.

    :ivar action: ``"fetch"``, ``"skip"``, or ``"explore"``: it would be skipped, and is fetched to
        see whether that is still right.
    :ivar rules: those by which it is superfluous; the first one stands for all.
    :ivar delay: how much lower its priority had better be: what has fewer parts of which nobody
        knows whether they select a page comes first, so that fewer fetches teach more.
    :ivar skipped: what is to be kept of it when it is skipped.
    """

    action: Literal["fetch", "skip", "explore"]
    rules: tuple[UrlRule, ...] = ()
    delay: int = 0
    skipped: SkippedUrl | None = None


class SiteLearner:
    """What is known of one site, and its rules.

    :param explore: share of what would be skipped that is fetched, 0.0 to 1.0.
    :param seed: other ones are fetched with another seed.
    :param budget: see :class:`~scrapy_neardup.url_rules.crawl_traps.Budget`.
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
        self.name = site
        self.book = RuleSet(site, now)
        self.skipped = SkippedUrls()
        self.known = VisitedUrls(MAX_ADDRESSES)
        self._patterns = PathPatterns()
        self._normal = SkeletonBuilder(
            self._patterns, self.book.applies, self.book.applied_components
        )
        self._tried = SkeletonBuilder(
            self._patterns, self.book.is_tried, self.book.tried_components
        )
        self._trials = Comparisons(self.book, self.known, self._patterns, self._tried)
        #: Values of parameters that were fetched, a few of each.
        self._values: OrderedDict[Component, set[str]] = OrderedDict()
        self._runs, self._budget = Runs(), Budget(budget)
        self._explored_below = int(explore * _DIGESTS)
        self._seed = seed
        self._wanted = wanted
        self._probes: OrderedDict[int, None] = OrderedDict()
        #: What was fetched to try the rules.
        self.probes = Probes()
        #: VisitedUrl addresses whose form has changed, by digest, to be compared anew.
        self._again: OrderedDict[int, VisitedUrl] = OrderedDict()
        #: What is left out now and was not, or the other way round, and not everywhere yet.
        self._applied: set[Key] = set()
        self._changed: set[Key] = set()
        self._is_reforming = False
        #: May there be skipped addresses for which nothing stands any more?
        self._has_doubts = False
        self._work = self._tidying()

    # --- deciding ---------------------------------------------------------------------------

    def decide(self, address: UrlParts) -> Decision:
        """Would a fetch of this address bring anything new?"""
        digest = address.digest
        form = self._normal.form(address, digest)
        rules = self._objections(digest, form)
        if not rules:
            return Decision("fetch", delay=self._delay(address, digest, form))
        if self._is_probe(digest, form, rules):
            return Decision("explore", rules)
        return Decision("skip", rules, skipped=SkippedUrl(address, digest, form, rules))

    def begin(self, address: UrlParts) -> None:
        """It is being fetched."""
        digest = address.digest
        if self.known.get(digest) is None:
            self._add(address, digest)

    def fail(self, address: UrlParts) -> None:
        """Nothing came of fetching it: one that was skipped for its sake is wanted."""
        known = self.known.get(address.digest)
        if known is not None:
            self.known.remove(known)
            # One that was skipped for its sake may still have another form.
            self._has_doubts |= self.has_pending
            self._want_one_of(known.normal.digest)

    def content_of(self, address: UrlParts) -> int | None:
        """What an address shows, or another one of its normal form."""
        digest = address.digest
        known = self.known.get(digest)
        form = self._normal.form(address, digest)
        group = [known] if known else self.known.of_normal(form.digest)
        return next((k.content for k in group if k.content is not None), None)

    def under_way(self) -> list[UrlParts]:
        """Addresses that are being fetched, or of which nothing was heard."""
        return [known.address for known in self.known if known.content is None]

    def probe(self) -> None:
        """Want some of what was skipped, of each rule, before the crawl ends."""
        for skipped in self.skipped.spread(LAST_PROBES, self.probes):
            self._want(skipped)

    def _objections(self, digest: int, form: Form) -> tuple[UrlRule, ...]:
        """The rules by which an address is superfluous; none when it is to be fetched."""
        known = self.known.get(digest)
        if known is not None:
            return ()
        for other in self.known.of_normal(form.digest):
            if rules := self._rules_between(form.left_out, other.normal.left_out):
                return rules
        exhausted = self.book.exhausted(form.shape)
        return () if exhausted is None else (exhausted,)

    def _rules_between(
        self, left: tuple[LeftOut, ...], of_other: tuple[LeftOut, ...]
    ) -> tuple[UrlRule, ...]:
        """The rules by which two addresses of one form are one; none unless all are in force."""
        rules: list[UrlRule] = []
        for one, other in ((left, of_other), (of_other, left)):
            for left_out in one:
                if left_out in other:
                    continue
                rule = self.book.in_force(left_out[0], left_out[1])
                if rule is None:
                    # What is known may still have the form that a withdrawn rule gave it.
                    return ()
                if rule not in rules:
                    rules.append(rule)
        return tuple(rules)

    def _delay(self, address: UrlParts, digest: int, form: Form) -> int:
        """How many parts may mean nothing; more for shapes that are to be slowed down.

        None for what a page names as its canonical address: it is to stand for the others.
        """
        slow = self._budget.slow
        delay = _SLOWER if slow and form.shape in slow else 0
        if self._trials.is_canonical(digest):
            return delay
        book = self.book
        components: list[Component] = [("param", name) for name, _ in form.params]
        if form.path_params:
            components += [("path_param", name) for _, name, _ in form.path_params]
        if form.label:
            components.append(("host", form.label))
        if components:
            delay += book.idle_so_far(form.family, dict.fromkeys(components))
        delay += self._trials.is_alias(address.label, address.scheme)
        for component, rest, _ in path_components(form.segments):
            # The family of what is left of a path takes longest.
            if component in book.agreed:
                delay += book.seems_idle((self._patterns.name(rest), component))
        return delay

    def _is_probe(self, digest: int, form: Form, rules: tuple[UrlRule, ...]) -> bool:
        if digest in self._probes:
            return True
        hashed = xxh3_64_intdigest(digest.to_bytes(8, "little"), seed=self._seed)
        is_probe = (
            hashed < self._explored_below
            or self._has_untried(form.left_out)
            or self.book.takes_probe(form.left_out)
        )
        if not is_probe:
            return False
        _remember(self._probes, digest)
        self.probes.made.update(probe_keys(rules, form))
        return True

    def _has_untried(self, left_out: Iterable[LeftOut]) -> bool:
        """Is there a value that was never fetched, of a parameter that has only few of them?

        That ``start=0`` means nothing does not show that ``start=10`` does not.
        """
        for _, component, value in left_out:
            values = self._values.get(component) if len(component) == 2 else None
            if values is not None and len(values) < _FEW_VALUES and value not in values:
                return True
        return False

    # --- learning ---------------------------------------------------------------------------

    def observe(
        self,
        address: UrlParts,
        content: int,
        *,
        is_duplicate: bool,
        depth: int = 0,
        canonical: UrlParts | None = None,
        alternates: Iterable[UrlParts] = (),
    ) -> None:
        """A page was fetched and judged.

        :param content: what it shows: the same number for pages of one content.
        :param depth: links from the start to it.
        """
        self.book.observations += 1
        self._learn_patterns(address)
        self._learn_values(address)
        digest = address.digest
        known = self.known.get(digest) or self._add(address, digest)
        same = self.known.judge(known, content, self.book.observations)
        self._trials.compare(known, brings_new=not is_duplicate)
        self._trials.look_for_hints(known, same)
        self._watch_for_the_end(known, is_duplicate, depth)
        if canonical is not None:
            self._trials.learn_name(known, canonical)
        self._trials.tell_apart(list(alternates))
        self._compare_again()
        self.settle()

    def adopt(self, rules: Iterable[UrlRule]) -> None:
        """Take over rules of an earlier crawl or another worker."""
        for rule in rules:
            self.book.adopt(rule)
        self.settle()
        self._has_doubts = True

    def recall(
        self, known: Iterable[tuple[UrlParts, int | None]], kept: Iterable[tuple[UrlParts, Any]]
    ) -> None:
        """Take over what the last run of this crawl fetched, and what it skipped.

        :param known: addresses and the contents that they led to; ``None`` for those of which
            nothing was heard.
        :param kept: addresses and their requests, to be wanted where nothing stands for them.
        """
        known = list(known)
        # Forms hang on patterns.
        for address, content in known:
            if content is not None:
                self._learn_patterns(address)
                self._learn_values(address)
        self.settle()
        for address, content in known:
            one = self._add(address, address.digest)
            if content is not None:
                self.known.judge(one, content, self.book.observations)
        for address, request in kept:
            digest = address.digest
            form = self._normal.form(address, digest)
            self.skipped.add(SkippedUrl(address, digest, form, (), request))
        self._has_doubts = True

    def settle(self) -> None:
        """Decide anew on the rules; what is known comes into its new form by :meth:`tidy`."""
        applied, tried = self.book.settle()
        self._applied |= applied
        self._changed |= applied | tried
        self._has_doubts |= any(not change.is_taken_up for change in self.book.changes)
        self._has_doubts |= any(not self.book.applies(*key) for key in applied)

    @property
    def has_pending(self) -> bool:
        """Is there something for :meth:`tidy` to do?"""
        return bool(self._changed) or self._is_reforming or self._has_doubts

    def process_pending(self, most: int) -> bool:
        """Bring so many addresses, at most, into the form that the rules give them now.

        And want what was skipped by rules that hold no longer. Until all is done, what is not in
        its new form yet makes nothing superfluous.

        :returns: is there more to do?
        """
        return all(next(self._work, False) for _ in range(most))

    def take_changes(self) -> list[RuleChange]:
        """What was taken up or withdrawn since the last time."""
        changes, self.book.changes = self.book.changes, []
        return changes

    def _learn_patterns(self, address: UrlParts) -> None:
        if self._patterns.learn(address.segments):
            self.book.rename(self._patterns)
            self.book.settle()
            self._applied.add(_EVERYTHING)
            self._changed.add(_EVERYTHING)
            self._has_doubts = True

    def _learn_values(self, address: UrlParts) -> None:
        for name, value in address.params:
            values = self._values.setdefault(("param", name), set())
            if len(values) < _FEW_VALUES:
                values.add(value)
        while len(self._values) > _MAX_REMEMBERED:
            self._values.popitem(last=False)

    def _watch_for_the_end(self, known: VisitedUrl, is_duplicate: bool, depth: int) -> None:
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

    # --- keeping order ----------------------------------------------------------------------

    def _add(self, address: UrlParts, digest: int) -> VisitedUrl:
        normal, tried = (way.form(address, digest) for way in (self._normal, self._tried))
        known = VisitedUrl(address, digest, normal, tried)
        self.known.add(known)
        return known

    def _tidying(self) -> Iterator[bool]:
        """One step for each address that is looked at; ``False`` when there is nothing to do."""
        while True:
            if self._changed:
                self._is_reforming = True
                yield from self._reforming()
                self._is_reforming = False
            elif self._has_doubts:
                self._has_doubts = False
                yield from self._reconsidering()
            else:
                yield False

    def _reforming(self) -> Iterator[bool]:
        """Bring what has something of what changed into its new form."""
        of_normal, of_tried = RuleMatcher(self._applied), RuleMatcher(self._changed)
        is_applied = bool(self._applied)
        self._applied, self._changed = set(), set()
        for known in list(self.known):
            if self.known.get(known.digest) is known and of_tried.touches(
                known.address, known.tried.family
            ):
                is_touched = is_applied and of_normal.touches(known.address, known.normal.family)
                self._reform(known, with_normal=is_touched)
            yield True
        for skipped in list(self.skipped) if is_applied else ():
            if self.skipped.get(skipped.digest) is skipped and of_normal.touches(
                skipped.address, skipped.normal.family
            ):
                self.skipped.change(skipped, self._normal.form(skipped.address, skipped.digest))
            yield True

    def _reform(self, known: VisitedUrl, *, with_normal: bool) -> None:
        address, digest = known.address, known.digest
        normal = self._normal.form(address, digest) if with_normal else known.normal
        tried = self._tried.form(address, digest)
        if tried.digest != known.tried.digest:
            self._again[known.digest] = known
        self.known.change(known, normal, tried)

    def _reconsidering(self) -> Iterator[bool]:
        """Want what was skipped by rules that hold no longer."""
        for skipped in list(self.skipped):
            if self._changed:
                # They change again: what stands for it may be on the way to another form.
                self._has_doubts = True
                return
            if self.skipped.get(skipped.digest) is skipped:
                rules = self._objections(skipped.digest, skipped.normal)
                if rules:
                    skipped.rules = rules
                else:
                    self._want(skipped)
            yield True

    def _compare_again(self) -> None:
        """Compare some of those whose form has changed; all at once would hold up the crawl."""
        for digest in list(islice(self._again, _AGAIN)):
            known = self._again.pop(digest)
            if known.content is not None and self.known.get(digest) is known:
                self._trials.compare(known)

    def _want_one_of(self, normal: int) -> None:
        """Want one of those that were skipped for a form, unless another one stands for it.

        The canonical one, where a page names it.
        """
        if not self.known.of_normal(normal):
            group = self.skipped.of_normal(normal)
            named = (one for one in group if self._trials.is_canonical(one.digest))
            for skipped in [*named, *group][:1]:
                self._want(skipped)

    def _want(self, skipped: SkippedUrl) -> None:
        self.skipped.remove(skipped)
        self._wanted.append(skipped.request)
        self.begin(skipped.address)


def _remember(keys: OrderedDict[Any, None], key: Any) -> None:
    keys[key] = None
    if len(keys) > _MAX_REMEMBERED:
        keys.popitem(last=False)
