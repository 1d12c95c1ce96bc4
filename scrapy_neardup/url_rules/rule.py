"""A rule: which component may be left out of which URLs, and the evidence for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from .evidence import Evidence, upper_bound
from .url_parts import Component

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
