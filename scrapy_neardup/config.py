"""The settings, read in one place, checked once, and then frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .checks import require_number
from .exceptions import InvalidOption
from .judgement import Rule
from .limits import PageLimits
from .workers import Limits, usable_cores

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

T = TypeVar("T")

PREFIX = "NEARDUP_"

#: Under which key a request carries options of its own.
META_KEY = "neardup"

_ACTIONS = ("drop", "tag", "report")
_LINKS = ("follow", "skip")
_RULE_OPTIONS = tuple(item.name for item in fields(Rule))
_SWITCH = {"off": False, "on": True, "false": False, "true": True, "0": False, "1": True}


@dataclass(frozen=True)
class Policy:
    """What a single request may change.

    :ivar rule: thresholds.
    :ivar action: what happens to the items of a duplicate: ``"drop"``, ``"tag"`` or ``"report"``.
    :ivar links: what happens to its links: ``"follow"`` or ``"skip"``.
    :raises InvalidOption: when a value is none of these.
    """

    rule: Rule = field(default_factory=Rule)
    action: Literal["drop", "tag", "report"] = "drop"
    links: Literal["follow", "skip"] = "follow"

    def __post_init__(self) -> None:
        _require_choice("action", self.action, _ACTIONS)
        _require_choice("links", self.links, _LINKS)

    def changed(self, options: Mapping[str, Any]) -> Policy:
        """This policy with some options replaced; numbers may be given as strings.

        :raises InvalidOption: when an option is unknown or its value cannot be.
        """
        for name, value in options.items():
            _require_choice("option", name, POLICY_OPTIONS, shown=f"{name} = {value!r}")
        values = {name: _number(value) for name, value in options.items()}
        rule = {name: values.pop(name) for name in _RULE_OPTIONS if name in values}
        return replace(self, rule=replace(self.rule, **rule), **values)


#: Names that ``request.meta["neardup"]`` may hold; as settings they are upper case.
POLICY_OPTIONS = (*_RULE_OPTIONS, "action", "links")


@dataclass(frozen=True)
class Config:
    """All settings of a crawl.

    :ivar policy: what applies to every request that says nothing else.
    :ivar item_field: field of items that is judged instead of the page, if any.
    :ivar parts: arguments of :class:`~scrapy_neardup.NearDupDetector`: ``tokenizer``, ``idf``,
        ``extractor`` and ``store``, where they are set.
    :ivar workers: number of processes that read pages; 0 for none.
    :ivar limits: what one page may take of a worker.
    :ivar page_limits: what one page may be made of.
    :ivar dupefilter: class or import path of the dupefilter that is wrapped.
    """

    enabled: bool
    policy: Policy
    item_field: str | None
    parts: Mapping[str, Any]
    workers: int
    limits: Limits
    page_limits: PageLimits
    dupefilter: Any

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Config:
        """Read and check the settings.

        :raises InvalidOption: when one has a value that it cannot have.
        """
        given = {
            name.removeprefix(PREFIX).lower(): settings[name]
            for name in _neardup_names(settings)
            if settings[name] is not None
        }
        try:
            return cls(
                enabled=parse_switch("enabled", given.get("enabled", True)),
                policy=Policy().changed({k: v for k, v in given.items() if k in POLICY_OPTIONS}),
                item_field=_field_name(given.get("item_field")),
                parts={k: v for k, v in given.items() if k in _PARTS},
                # One core is left to the crawl itself.
                workers=require_number(
                    "workers", _number(given.get("workers", max(1, usable_cores() - 1))), int, 0
                ),
                limits=_limits(Limits, _WORKER_LIMITS, given),
                page_limits=_limits(PageLimits, _PAGE_LIMITS, given),
                dupefilter=given.get("dupefilter", "scrapy.dupefilters.RFPDupeFilter"),
            )
        except InvalidOption as error:
            raise as_setting(error) from None


_PARTS = ("tokenizer", "idf", "extractor", "store")
#: Options that set a field of these classes under another name.
_WORKER_LIMITS = {"page_timeout": "seconds", "worker_memory": "memory_mb"}
_PAGE_LIMITS = {f"max_{limit.name}": limit.name for limit in fields(PageLimits)}
_OPTIONS = (
    "enabled",
    *POLICY_OPTIONS,
    "item_field",
    *_PARTS,
    "workers",
    *_WORKER_LIMITS,
    *_PAGE_LIMITS,
    "dupefilter",
)

#: Every setting that is read.
SETTINGS = tuple(PREFIX + name.upper() for name in _OPTIONS)


def as_setting(error: InvalidOption) -> InvalidOption:
    """The same complaint under the name of the setting."""
    return error.renamed(PREFIX + error.option.upper())


def unknown_settings(settings: BaseSettings) -> Iterator[str]:
    """A sentence for each name that begins like a setting of ours but is none."""
    for name in _neardup_names(settings):
        if name not in SETTINGS:
            near = get_close_matches(name, SETTINGS, n=1, cutoff=0.0)[0]
            yield f"there is no setting {name}, it is ignored; the nearest name is {near}"


def parse_switch(option: str, value: Any) -> bool:
    """On or off, however a setting, a spider argument or a meta key says it.

    :raises InvalidOption: when it is neither.
    """
    switch = _SWITCH.get(str(value).strip().lower())
    if switch is None:
        raise InvalidOption(option, value, "'on' or 'off' (or True, False, 1, 0)")
    return switch


def request_policy(policy: Policy, wish: Any) -> Policy | None:
    """The policy for a request whose meta says ``wish``; ``None`` when it is switched off.

    :raises InvalidOption: when the wish is neither a switch nor a mapping of options.
    """
    if wish is None:
        return policy
    name = f"request.meta[{META_KEY!r}]"
    if not isinstance(wish, Mapping):
        return policy if parse_switch(name, wish) else None
    try:
        return policy.changed(wish)
    except InvalidOption as error:
        raise error.renamed(f"{name}[{error.option!r}]") from None


def _neardup_names(settings: BaseSettings) -> Iterator[str]:
    return (name for name in settings if isinstance(name, str) and name.startswith(PREFIX))


def _number(value: Any) -> Any:
    """A number written as a string, as the command line gives it; all else as it is."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value


def _limits(kind: type[T], names: Mapping[str, str], given: Mapping[str, Any]) -> T:
    """Limits of this kind, of options that set its fields under other names."""
    values = {field: _number(given[name]) for name, field in names.items() if name in given}
    try:
        return kind(**values)
    except InvalidOption as error:
        option = next(name for name, field in names.items() if field == error.option)
        raise error.renamed(option) from None


def _field_name(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidOption("item_field", value, "the name of a field")
    return value or None


def _require_choice(
    option: str, value: Any, choices: tuple[str, ...], shown: str | None = None
) -> None:
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise InvalidOption(option, shown or value, f"one of {known}")
