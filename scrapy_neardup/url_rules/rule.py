"""A rule: which component may be left out of which URLs, and the evidence for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from .evidence import Evidence, upper_bound
from .url_parts import Component

State = Literal["watched", "in_force", "withdrawn", "off"]

#: Shares of contradictions that a rule may have, in one path pattern and everywhere.
MAX_SHARE, MAX_SHARE_EVERYWHERE = 0.1, 0.05
#: Says that all URLs of a shape are skipped: they yield nothing new.
NOTHING_NEW: Component = ("nothing_new",)

_PLACES = {"first": "first ", "inner": "", "last": "last ", "file": "file "}


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
        if self.state == "off":
            return False
        if self.demand == 1:
            return self.evidence.is_strong(self.max_share)
        # Twice the evidence shows half the share.
        return self.evidence.is_strong(self.max_share / self.demand)

    @property
    def text(self) -> str:
        """The rule in words."""
        where = f"under {self.pattern}" if self.pattern else "everywhere"
        return f"{_TEXTS[self.component[0]](self.component)} {where} on {self.site}"

    @property
    def evidence_text(self) -> str:
        """The evidence, in words."""
        agreements, contradictions = self.evidence.agreements, self.evidence.contradictions
        bound = upper_bound(contradictions, agreements + contradictions)
        named = self.evidence.agreements_by_name
        by_name = f" ({named} by their canonical URLs alone)" if named else ""
        return (
            f"{agreements} contents agree{by_name}, {contradictions} contradictions, so wrong "
            f"for at most {bound:.1%} with 95 % confidence"
        )

    def to_bytes(self) -> bytes:
        """Return the rule as JSON, as stores keep it."""
        kind, *more = self.component
        name, value, place = (str(more[0]) if more else ""), None, None
        if kind == "param" and len(more) == 2:
            value = more[1]
        elif kind == "segment":
            place = more[1]
        fields = {
            "site": self.site,
            "family": self.pattern,
            "kind": kind,
            "name": name,
            "value": value,
            "place": place,
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
                state=_state(fields["state"]),
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


_TEXTS: dict[Any, Any] = {
    "param": lambda c: (
        f"the parameter {c[1]} means nothing" if len(c) == 2 else f"{c[1]}={c[2]} means nothing"
    ),
    "segment": lambda c: (
        f"the {_PLACES[str(c[2])]}segment /{c[1]}/ means nothing"
        if c[1]
        else "a trailing slash means nothing"
    ),
    "segment_at": lambda c: (
        "the last segment means nothing"
        if c[1] == -1
        else f"segment {int(c[1]) + 1} of the path means nothing"
    ),
    "path_param": lambda c: f"the path parameter {c[1]} means nothing",
    "host": lambda c: f"the host {c[1]}. shows the same",
    "scheme": lambda c: "http and https show the same",
    "nothing_new": lambda c: "nothing new",
}


def _component(fields: dict[str, Any]) -> Component:
    kind, name = _text(fields["kind"]), _text(fields["name"])
    if kind not in _TEXTS:
        raise ValueError(f"no kind of rule: {kind!r}")
    if kind == "param":
        return (kind, name) if fields["value"] is None else (kind, name, _text(fields["value"]))
    if kind == "segment":
        return (kind, name, _text(fields["place"]))
    if kind == "segment_at":
        return (kind, int(name))
    return (kind, name) if kind in ("path_param", "host") else (kind,)


def _state(value: Any) -> State:
    if value not in ("watched", "in_force", "withdrawn", "off"):
        raise ValueError(f"no state of a rule: {value!r}")
    state: State = value
    return state


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _word(part: str | int) -> str:
    """Return one word, another one for each text."""
    text = str(part).replace("%", "%25").replace(" ", "%20").replace("/", "%2F")
    return text or "/"
