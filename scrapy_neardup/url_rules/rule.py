"""A rule: which component may be left out of which URLs, and the evidence for it."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from math import exp, lgamma, log, log1p
from typing import Any, Literal, get_args

from .url_parts import Component

#: Identifies a rule of a site: its path pattern (``""`` for all paths), and what it leaves out.
Key = tuple[str, Component]

#: Contents that are counted for one rule at most, and against it.
MAX_COUNTED = 300
#: Trials of earlier crawls that count at most; of more, the share is kept.
MAX_BEFORE = 10 * MAX_COUNTED
MAX_HINTS = 30
#: Confidence level of the bounds on shares.
CONFIDENCE = 0.95
_ROUNDING = 1e-9

State = Literal["watched", "in_force", "withdrawn", "off"]

#: Shares of contradictions that a rule may have, in one path pattern and everywhere.
MAX_SHARE, MAX_SHARE_EVERYWHERE = 0.1, 0.05
#: Says that all URLs of a shape are skipped: they yield nothing new.
NOTHING_NEW: Component = ("nothing_new",)

#: What a component consists of besides its kind, as it is stored.
_FIELDS: dict[str, tuple[str, ...]] = {
    "param": ("name", "value"),
    "segment": ("name", "place"),
    "segment_at": ("name",),
    "path_param": ("name",),
    "host": ("name",),
    "scheme": (),
    "nothing_new": (),
}
_STATES: dict[str, State] = {name: name for name in get_args(State)}


@lru_cache(maxsize=4096)
def is_rarer(share: float, contradictions: int, trials: int) -> bool:
    """Decide whether the upper confidence bound on the share of contradictions is at most this.

    The bound is Clopper and Pearson's, one-sided ("The use of confidence or fiducial limits
    illustrated in the case of the binomial", Biometrika 26, 1934): it is at most *share* when so
    few contradictions would be seen with a probability of at most 5 % were that the true share.

    :param share: above 0, below 1.
    :param contradictions: from 0 to *trials*.
    """
    # In logarithms: for thousands of trials, the coefficients exceed the range of a float.
    seen, unseen = log(share), log1p(-share)
    likely = sum(
        exp(_log_binomial(trials, k) + k * seen + (trials - k) * unseen)
        for k in range(contradictions + 1)
    )
    return likely <= (1 - CONFIDENCE) * (1 + _ROUNDING)


def _log_binomial(trials: int, chosen: int) -> float:
    """Return the logarithm of a binomial coefficient."""
    return lgamma(trials + 1) - lgamma(chosen + 1) - lgamma(trials - chosen + 1)


@lru_cache(maxsize=4096)
def upper_bound(contradictions: int, trials: int) -> float:
    """Return that bound, to three digits; 1.0 without trials.

    >>> upper_bound(0, 29)
    0.098
    """
    thousandths = range(1, 1000)
    above = bisect_left(
        thousandths, True, key=lambda share: is_rarer(share / 1000, contradictions, trials)
    )
    return (1 + above) / 1000


class Evidence:
    """Agreements and contradictions, counted over different contents.

    One content counts once: a login page may answer all URLs of a site. *Confounders* are what
    else two URLs differ in, of which it is not known whether it selects a page. Most methods only
    count one kind of trial or return a number.

    :param agreements: those counted in earlier crawls, see :attr:`agreements`.
    :param named: likewise, see :attr:`named`.
    """

    __slots__ = ("_agreed", "_before", "_contradicted", "_hinted", "_named")

    def __init__(self, agreements: int = 0, contradictions: int = 0, named: int = 0) -> None:
        #: Of earlier crawls: agreements by fetches, contradictions, and agreements that only
        #: canonical URLs show.
        self._before = _bounded(agreements - min(named, agreements // 2), contradictions, named)
        self._agreed = _Counted()
        self._contradicted = _Counted()
        #: Contents of which a canonical URL said so.
        self._named: set[int] = set()
        #: Contents of which two URLs differ in this and in more.
        self._hinted: set[int] = set()

    @property
    def hints(self) -> int:
        """Contents that agree, or may agree."""
        return len(self._hinted | self._agreed.keys())

    @property
    def agreements(self) -> int:
        """Contents of which two URLs were fetched, or one that names the other as canonical.

        At most half of them are those that only canonical URLs show.
        """
        return self._fetched + self.agreements_by_name

    @property
    def agreements_by_name(self) -> int:
        """Those among them that only canonical URLs show."""
        return min(self.named, self._fetched)

    @property
    def named(self) -> int:
        """Contents that only canonical URLs show, whether they count or are too many."""
        # The difference of the sets would walk through all that agreed, which may be hundreds.
        return self._before[2] + len(self._named) - len(self._named & self._agreed.keys())

    @property
    def _fetched(self) -> int:
        return self._before[0] + len(self._agreed)

    @property
    def contradictions(self) -> int:
        return self._before[1] + len(self._contradicted)

    @property
    def is_contradicted(self) -> bool:
        """Whether there is a contradiction without confounders."""
        return bool(self._before[1]) or not all(self._contradicted.values())

    @property
    def is_one_sided(self) -> bool:
        """Whether there are agreements and no contradictions."""
        return bool(self.agreements) and not self.contradictions

    def agree(self, content: int, confounders: Collection[Key] = ()) -> None:
        """Count a content of which two URLs differ only in what the rule leaves out."""
        self._agreed.count(content, confounders)

    def hint(self, content: int) -> None:
        """Count a content of which two URLs differ in what the rule leaves out and in more."""
        if len(self._hinted) < MAX_HINTS:
            self._hinted.add(content)

    def agree_by_canonical_url(self, content: int) -> None:
        """Count a content of which a page names such a URL as canonical."""
        if len(self._named) < MAX_COUNTED:
            self._named.add(content)

    def ignore_canonical_urls(self) -> None:
        """Remove what only canonical URLs show."""
        self._before = (*self._before[:2], 0)
        self._named.clear()

    def contradict(self, content: int, other: int, confounders: Collection[Key] = ()) -> None:
        """Count two contents of URLs that differ only in what the rule leaves out."""
        self._contradicted.count(content ^ other, confounders)

    def discard_explained_by(self, confounder: Key) -> bool:
        """Discard trials with this confounder, and return whether there were any."""
        were_agreements = self._agreed.discard_explained_by(confounder)
        return self._contradicted.discard_explained_by(confounder) or were_agreements

    def add(self, other: Evidence) -> None:
        """Add what was counted elsewhere."""
        own, more = self._before, other._before
        self._before = _bounded(own[0] + more[0], own[1] + more[1], own[2] + more[2])
        self._agreed.add(other._agreed)
        self._contradicted.add(other._contradicted)
        self._named |= other._named
        self._hinted |= other._hinted

    def reconcile(self, stored: Evidence) -> None:
        """Merge the evidence of a store for the same rule, a part of which may be known here.

        Both may include an earlier crawl, or the stored one what was counted here, and nobody
        knows how much. So of agreements the larger number counts. Contradictions that were
        counted here are not taken to be included.
        """
        fetched, contradictions, named = stored._before
        self._before = _bounded(
            max(fetched, self._fetched) - len(self._agreed),
            max(contradictions, self._before[1]),
            max(named, self.named) - len(self._named - self._agreed.keys()),
        )

    def is_strong(self, share: float) -> bool:
        """Decide whether the share of contradictions is at most this, with :data:`CONFIDENCE`."""
        contradictions = self.contradictions
        return is_rarer(share, contradictions, self.agreements + contradictions)


class _Counted(dict[int, tuple[Key, ...]]):
    """Contents with the confounders that all of their trials have in common."""

    def count(self, content: int, confounders: Collection[Key], most: int = MAX_COUNTED) -> None:
        """Count a content once."""
        if content in self:
            self[content] = tuple(key for key in self[content] if key in confounders)
        elif len(self) < most:
            self[content] = tuple(confounders)

    def add(self, other: _Counted) -> None:
        """Add what was counted elsewhere."""
        for content, confounders in other.items():
            self.count(content, confounders, most=len(self) + 1)

    def discard_explained_by(self, confounder: Key) -> bool:
        """Discard what has this confounder, and return whether there was any."""
        explained = [content for content, others in self.items() if confounder in others]
        for content in explained:
            del self[content]
        return bool(explained)


def _bounded(fetched: int, contradictions: int, named: int) -> tuple[int, int, int]:
    """Return the counts, scaled down where they are too large; rounded against the rule."""
    trials = fetched + contradictions
    if trials > MAX_BEFORE:
        fetched = fetched * MAX_BEFORE // trials
        contradictions = -(-contradictions * MAX_BEFORE // trials)
    return fetched, contradictions, min(named, MAX_BEFORE)


@dataclass(slots=True, eq=False)
class UrlRule:
    """Says of a site that URLs which differ only in this component are of one content.

    :ivar pattern: path of the URLs, ``*`` for each segment that varies, or ``""`` for all.
    :ivar component: see :data:`~scrapy_neardup.url_rules.url_parts.Component`; or
        :data:`NOTHING_NEW`, of all URLs of a shape.
    :ivar state: ``"watched"``, ``"in_force"``, ``"withdrawn"``, or ``"off"``: by the operator.
    :ivar changed_at: when it came to this state, in seconds since 1970.
    :ivar demand: how many times the usual evidence it needs; doubled when it is withdrawn.
    """

    site: str
    pattern: str
    component: Component
    state: State = "watched"
    changed_at: int = 0
    demand: int = 1
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def name(self) -> str:
        """A name that is unique among all rules, and begins with the site."""
        words = [self.site, *map(_word, self.component)]
        return " ".join([*words, self.pattern] if self.pattern else words)

    @property
    def max_share(self) -> float:
        return MAX_SHARE if self.pattern else MAX_SHARE_EVERYWHERE

    @property
    def is_proven(self) -> bool:
        """Whether the evidence is strong enough for the rule to come in force."""
        # Twice the evidence shows half the share.
        return self.state != "off" and self.evidence.is_strong(self.max_share / self.demand)

    @property
    def text(self) -> str:
        """The rule in words."""
        where = f"under {self.pattern}" if self.pattern else "under any path"
        return f"{_meaning(self.component)} {where} on {self.site}"

    @property
    def wrong_at_most(self) -> float:
        """The upper bound of the share of contradictions, with 95 % confidence."""
        contradictions = self.evidence.contradictions
        return upper_bound(contradictions, self.evidence.agreements + contradictions)

    @property
    def evidence_text(self) -> str:
        """The evidence, in words."""
        named = self.evidence.agreements_by_name
        by_name = f" ({named} by their canonical URLs alone)" if named else ""
        return (
            f"{self.evidence.agreements} contents agree{by_name}, {self.evidence.contradictions} "
            f"contradictions, so wrong for at most {self.wrong_at_most:.1%} with 95 % confidence"
        )

    def to_bytes(self) -> bytes:
        """Return the rule as JSON, as stores keep it."""
        kind, *more = self.component
        part = dict(zip(_FIELDS[str(kind)], more, strict=False))
        fields = {
            "site": self.site,
            "family": self.pattern,
            "kind": kind,
            "name": str(part.get("name", "")),
            "value": part.get("value"),
            "place": part.get("place"),
            "state": self.state,
            "agreements": self.evidence.agreements,
            "named": self.evidence.named,
            "contradictions": self.evidence.contradictions,
            "changed_at": self.changed_at,
            "demand": self.demand,
        }
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, packed: bytes) -> UrlRule:
        """Return the rule that was packed.

        :raises ValueError: when these are not a rule's bytes.
        """
        fields = json.loads(packed)
        try:
            return cls(
                site=_text(fields["site"]),
                pattern=_text(fields["family"]),
                component=_component(fields),
                state=_STATES[fields["state"]],
                changed_at=int(fields["changed_at"]),
                demand=max(1, int(fields.get("demand", 1))),
                evidence=Evidence(
                    int(fields["agreements"]),
                    int(fields["contradictions"]),
                    max(0, int(fields.get("named", 0))),
                ),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"no rule: {packed[:200]!r}") from error


def _component(fields: dict[str, Any]) -> Component:
    """Return the component of a rule's fields; a parameter may have no value."""
    kind = _text(fields["kind"])
    names = [name for name in _FIELDS[kind] if name != "value" or fields[name] is not None]
    texts = [_text(fields[name]) for name in names]
    return (kind, int(texts[0])) if kind == "segment_at" else (kind, *texts)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _word(part: str | int) -> str:
    """Return one word, another one for each text."""
    text = str(part).replace("%", "%25").replace(" ", "%20").replace("/", "%2F")
    return text or "/"


def _meaning(component: Component) -> str:
    """Return the statement of a rule about a component."""
    match component:
        case ("param", name):
            return f"the parameter {name} has no effect"
        case ("param", name, value):
            return f"{name}={value} has no effect"
        case ("segment", "", _):
            return "a trailing slash has no effect"
        case ("segment", text, place):
            return f"the {'' if place == 'inner' else f'{place} '}segment /{text}/ has no effect"
        case ("segment_at", -1):
            return "the last segment has no effect"
        case ("segment_at", int(index)):
            return f"segment {index + 1} of the path has no effect"
        case ("path_param", name):
            return f"the path parameter {name} has no effect"
        case ("host", label):
            return f"the host {label}. shows the same"
        case ("scheme",):
            return "http and https show the same"
    return "nothing new"
