"""What is known of a rule: how many trials bore it out, and how sure that makes it."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from math import exp, lgamma, log, log1p

from .url_parts import Component

#: A rule as it is counted: of which family (``""`` for everywhere), and what it leaves out.
Key = tuple[str, Component]

#: What is counted of one rule at most: more makes nothing surer.
MAX_COUNTED = 300
#: What earlier crawls, together, count for at most: more are taken in proportion.
MAX_BEFORE = 10 * MAX_COUNTED
MAX_HINTS = 30
#: How sure a bound is.
CONFIDENCE = 0.95
_ROUNDING = 1e-9


@lru_cache(maxsize=4096)
def is_rarer(share: float, contradictions: int, trials: int) -> bool:
    """Is the upper confidence bound on the share of contradictions at most this?

    The bound is Clopper and Pearson's, one-sided ("The use of confidence or fiducial limits
    illustrated in the case of the binomial", Biometrika 26, 1934): it is at most *share* when so
    few contradictions would be seen with a probability of at most 5 % were that the true share.

    :param share: above 0, below 1.
    :param contradictions: from 0 to *trials*.
    """
    # In logarithms: of some thousand trials, the number of ways is more than a float can hold.
    seen, unseen = log(share), log1p(-share)
    likely = sum(
        exp(_log_of_ways(trials, k) + k * seen + (trials - k) * unseen)
        for k in range(contradictions + 1)
    )
    return likely <= (1 - CONFIDENCE) * (1 + _ROUNDING)


def _log_of_ways(trials: int, chosen: int) -> float:
    """Logarithm of the binomial coefficient."""
    return lgamma(trials + 1) - lgamma(chosen + 1) - lgamma(trials - chosen + 1)


@lru_cache(maxsize=4096)
def upper_bound(contradictions: int, trials: int) -> float:
    """That bound itself, to three digits; 1.0 without trials.

    >>> upper_bound(0, 29)
    0.098
    """
    low, high = 0, 1000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if is_rarer(middle / 1000, contradictions, trials) else (middle, high)
        )
    return high / 1000


class Evidence:
    """Agreements and contradictions, counted over different contents.

    What answers all addresses with one content (a wall that asks for a login) counts once.

    :param agreements: those counted in earlier crawls, see :attr:`agreements`.
    :param named: likewise, see :attr:`named`.
    """

    __slots__ = ("_agreed", "_before", "_contradicted", "_hinted", "_named")

    def __init__(self, agreements: int = 0, contradictions: int = 0, named: int = 0) -> None:
        #: Of earlier crawls: fetched (all but the named ones that counted), contradicted, and only
        #: named.
        self._before = _bounded(agreements - min(named, agreements // 2), contradictions, named)
        self._agreed = _Counted()
        self._contradicted = _Counted()
        #: Contents of which a canonical address said so, and nothing that was fetched.
        self._named: set[int] = set()
        #: Contents of which two addresses differ in this and in more.
        self._hinted: set[int] = set()

    @property
    def hints(self) -> int:
        """Contents that let one think that there may be agreements."""
        return len(self._hinted | self._agreed.keys())

    @property
    def agreements(self) -> int:
        """Contents of which two addresses were fetched, or one that names the other.

        What only canonical addresses say is not more than half of it.
        """
        return self._fetched + self.agreements_by_name

    @property
    def agreements_by_name(self) -> int:
        """Those among them that only canonical addresses speak for."""
        return min(self.named, self._fetched)

    @property
    def named(self) -> int:
        """Contents that only canonical addresses speak for, whether they count or are too many."""
        # To take the one from the other would walk through all that agreed, which may be hundreds.
        return self._before[2] + len(self._named) - len(self._named & self._agreed.keys())

    @property
    def _fetched(self) -> int:
        return self._before[0] + len(self._agreed)

    @property
    def contradictions(self) -> int:
        return self._before[1] + len(self._contradicted)

    @property
    def is_contradicted(self) -> bool:
        """Is there a contradiction that nothing else may explain?"""
        return bool(self._before[1]) or not all(self._contradicted.values())

    @property
    def is_one_sided(self) -> bool:
        """Are there agreements and no contradictions?"""
        return bool(self.agreements) and not self.contradictions

    def agree(self, content: int, confounders: Collection[Key] = ()) -> None:
        """Two addresses of this content differ only in what the rule leaves out.

        :param suspects: what else they differ in, of which it is not known whether it matters.
        """
        self._agreed.count(content, confounders)

    def hint(self, content: int) -> None:
        """Two addresses of this content differ in what the rule leaves out, among other things."""
        if len(self._hinted) < MAX_HINTS:
            self._hinted.add(content)

    def agree_by_canonical_url(self, content: int) -> None:
        """A page of this content names such an address as its canonical one."""
        if len(self._named) < MAX_COUNTED:
            self._named.add(content)

    def ignore_canonical_urls(self) -> None:
        """What canonical addresses say on this site is not to be relied on."""
        self._before = (*self._before[:2], 0)
        self._named.clear()

    def contradict(self, content: int, other: int, confounders: Collection[Key] = ()) -> None:
        """Two addresses that differ only in what the rule leaves out have different contents.

        :param suspects: see :meth:`agree`.
        """
        self._contradicted.count(content ^ other, confounders)

    def discard_explained_by(self, confounder: Key) -> bool:
        """This matters: trials in which it was left out as well prove nothing, either way.

        :returns: were there any?
        """
        return any(
            [
                self._agreed.discard_explained_by(confounder),
                self._contradicted.discard_explained_by(confounder),
            ]
        )

    def add(self, other: Evidence) -> None:
        """Take over what was counted elsewhere."""
        own, more = self._before, other._before
        self._before = _bounded(own[0] + more[0], own[1] + more[1], own[2] + more[2])
        self._agreed.add(other._agreed)
        self._contradicted.add(other._contradicted)
        self._named |= other._named
        self._hinted |= other._hinted

    def reconcile(self, told: Evidence) -> None:
        """Take over what a store tells of the same rule, of which a part is known here already.

        Both may go back to one crawl before, or what is told to this very evidence, and nobody
        can tell how much. So what speaks for the rule counts as often as the one or the other
        has it; of what speaks against it, nothing that was seen here is taken for told.
        """
        fetched, contradictions, named = told._before
        self._before = _bounded(
            max(fetched, self._fetched) - len(self._agreed),
            max(contradictions, self._before[1]),
            max(named, self.named) - len(self._named - self._agreed.keys()),
        )

    def is_strong(self, share: float) -> bool:
        """Is the share of contradictions at most this, with :data:`CONFIDENCE`?"""
        contradictions = self.contradictions
        return is_rarer(share, contradictions, self.agreements + contradictions)


class _Counted(dict[int, tuple[Key, ...]]):
    """What was counted, with all that may explain it: it was left out in each of its trials."""

    def count(self, what: int, confounders: Collection[Key]) -> None:
        """Count it, once however often it is seen."""
        if what in self:
            self._keep_confounders(what, confounders)
        elif len(self) < MAX_COUNTED:
            self[what] = tuple(confounders)

    def add(self, other: _Counted) -> None:
        """Take over what was counted elsewhere."""
        for what, confounders in other.items():
            if what in self:
                self._keep_confounders(what, confounders)
            else:
                self[what] = confounders

    def _keep_confounders(self, what: int, confounders: Collection[Key]) -> None:
        self[what] = tuple(key for key in self[what] if key in confounders)

    def discard_explained_by(self, confounder: Key) -> bool:
        """Forget what this explains; was there any?"""
        explained = [what for what, confounders in self.items() if confounder in confounders]
        for what in explained:
            del self[what]
        return bool(explained)


def _bounded(fetched: int, contradictions: int, named: int) -> tuple[int, int, int]:
    """What was counted, in proportion where it is too much; rounded against the rule."""
    trials = fetched + contradictions
    if trials > MAX_BEFORE:
        fetched = fetched * MAX_BEFORE // trials
        contradictions = -(-contradictions * MAX_BEFORE // trials)
    return fetched, contradictions, min(named, MAX_BEFORE)
