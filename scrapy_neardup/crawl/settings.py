"""The settings of a crawl: read and checked once, then immutable."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .._util.validation import require_number
from ..detector import MAX_WAIT
from ..exceptions import InvalidOption
from ..html.limits import PageLimits
from ..matching.rule import Rule
from ..stores import require_address
from ..workers import Limits, usable_cores
from .setting_names import likely_settings

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

T = TypeVar("T")

PREFIX = "NEARDUP_"

#: Key of ``request.meta`` for the options of a single request.
META_KEY = "neardup"

_ACTIONS = ("drop", "tag", "report")
_LINKS = ("follow", "skip")
_REVISITS = ("store", "drop")
_ON_STORE_ERROR = ("keep", "stop")
_URL_RULES = ("off", "report", "on")
#: Key of ``request.meta["neardup"]`` that is not part of the policy, and its values.
_ITEM_ORIGIN = "item_origin"
_ITEM_ORIGINS = ("auto", "parent", "own")
_ITEM_LOG_LEVEL = f"{PREFIX}ITEM_LOG_LEVEL"
_LOG_LEVELS = {
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARNING": logging.WARNING,
    "OFF": None,
    "NONE": None,
}
_DUPEFILTER = "scrapy.dupefilters.RFPDupeFilter"
_RULE_OPTIONS = tuple(item.name for item in fields(Rule))
_SWITCH = {"off": False, "on": True, "false": False, "true": True, "0": False, "1": True}


@dataclass(frozen=True)
class Policy:
    """The options that a single request may override.

    :ivar rule: thresholds.
    :ivar action: what happens to the items of a duplicate: ``"drop"``, ``"tag"`` or ``"report"``.
    :ivar links: what happens to its links: ``"follow"`` or ``"skip"``.
    :ivar revisit: what happens to the items of a page whose address and text are known:
        ``"store"``, or ``"drop"`` to treat them as those of a duplicate.
    :raises InvalidOption: when a value is invalid.
    """

    rule: Rule = field(default_factory=Rule)
    action: Literal["drop", "tag", "report"] = "drop"
    links: Literal["follow", "skip"] = "follow"
    revisit: Literal["store", "drop"] = "store"

    def __post_init__(self) -> None:
        _require_choice("action", self.action, _ACTIONS)
        _require_choice("links", self.links, _LINKS)
        _require_choice("revisit", self.revisit, _REVISITS)

    def changed(self, options: Mapping[str, Any]) -> Policy:
        """Return a copy with some options replaced; numbers may be given as strings.

        :raises InvalidOption: when an option is unknown or its value is invalid.
        """
        for name, value in options.items():
            _require_choice("option", name, POLICY_OPTIONS, shown=f"{name} = {value!r}")
        values = {name: _number(value) for name, value in options.items()}
        rule = {name: values.pop(name) for name in _RULE_OPTIONS if name in values}
        return replace(self, rule=replace(self.rule, **rule), **values)


#: Options of a policy, as in ``request.meta["neardup"]``; settings have them in upper case.
POLICY_OPTIONS = (*_RULE_OPTIONS, "action", "links", "revisit")


@dataclass(frozen=True)
class StoreSettings:
    """The settings of the store.

    :ivar store: an address, see :func:`~scrapy_neardup.stores.open_store`, or a store.
    :ivar namespace: only pages of one namespace are compared; ``None`` for the spider's name.
    :ivar ttl: seconds, above 0, after which a page is forgotten; ``None`` for never.
    :ivar max_wait: seconds, above 0, that a page waits at most for the outcome of another one.
    :ivar on_store_error: ``"keep"`` pages, or ``"stop"`` the crawl.
    :raises InvalidOption: when a value is invalid.
    """

    store: Any = "memory"
    namespace: str | None = None
    ttl: float | None = None
    max_wait: float = MAX_WAIT
    on_store_error: Literal["keep", "stop"] = "keep"

    def __post_init__(self) -> None:
        if isinstance(self.store, str):
            require_address(self.store)
        _require_name("namespace", self.namespace)
        if self.ttl is not None:
            require_number("ttl", self.ttl, float, 0, above=True, unit="seconds")
        require_number("max_wait", self.max_wait, float, 0, above=True, unit="seconds")
        _require_choice("on_store_error", self.on_store_error, _ON_STORE_ERROR)


@dataclass(frozen=True)
class UrlRuleSettings:
    """The settings of learned URL rules, and of URLs that lead to duplicates.

    :ivar url_rules: ``"off"``, ``"report"`` what would be skipped, or ``"on"``.
    :ivar url_rules_sample_rate: share of the requests to skip that is fetched nevertheless, 0.0
        to 1.0.
    :ivar cluster_budget: fetches, 1 or more, that a site may spend on near-duplicates of one
        original before similar URLs are slowed down; ``None`` for no bound.
    :ivar duplicate_url_ttl: seconds, 0 or more, for which a URL that led to a duplicate is not
        fetched again.
    :ivar links_min_depth: depth, 0 or more, from which links of duplicates may be skipped; links
        of duplicates at a lower depth are always followed.
    :raises InvalidOption: when a value is invalid.
    """

    url_rules: Literal["off", "report", "on"] = "report"
    url_rules_sample_rate: float = 0.05
    cluster_budget: int | None = None
    duplicate_url_ttl: float = 604800.0
    links_min_depth: int = 0

    def __post_init__(self) -> None:
        _require_choice("url_rules", self.url_rules, _URL_RULES)
        require_number("url_rules_sample_rate", self.url_rules_sample_rate, float, 0, 1)
        if self.cluster_budget is not None:
            require_number("cluster_budget", self.cluster_budget, int, 1)
        require_number("duplicate_url_ttl", self.duplicate_url_ttl, float, 0, unit="seconds")
        require_number("links_min_depth", self.links_min_depth, int, 0)


#: File of the store in the job directory, when no other store is set.
STORE_IN_JOB = "neardup.sqlite"


@dataclass(frozen=True)
class Config:
    """All settings of a crawl.

    :ivar policy: applies to every request without options of its own.
    :ivar item_field: field of items that is judged instead of the page, if any.
    :ivar parts: arguments of :class:`~scrapy_neardup.NearDupDetector`: those of ``tokenizer``,
        ``idf`` and ``extractor`` that are set.
    :ivar store_settings: where pages are recorded.
    :ivar url_rule_settings: what is learned about URLs.
    :ivar job: the job directory, if any.
    :ivar recover: whether to repeat the requests that an unclean stop of the job has lost.
    :ivar workers: number of processes that read pages; 0 for none.
    :ivar limits: time and memory that a worker may spend on one page.
    :ivar page_limits: limits on the contents of one page.
    :ivar report: file of the HTML report, if any.
    :ivar keep_text: whether the report shows the texts of pages.
    :ivar item_log_level: level, as of :mod:`logging`, of the messages about single items; ``None``
        for no such messages.
    :ivar dupefilter: class or import path of the wrapped dupefilter.
    """

    enabled: bool
    policy: Policy
    item_field: str | None
    parts: Mapping[str, Any]
    store_settings: StoreSettings
    url_rule_settings: UrlRuleSettings
    job: Path | None
    recover: bool
    workers: int
    limits: Limits
    page_limits: PageLimits
    report: str | None
    keep_text: bool
    item_log_level: int | None
    dupefilter: Any

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Config:
        """Read and check the settings.

        :raises InvalidOption: when one has an invalid value.
        """
        given = {
            name.removeprefix(PREFIX).lower(): settings[name]
            for name in _neardup_names(settings)
            if settings[name] is not None
        }
        job = _job_folder(settings)
        if job is not None:
            given.setdefault("store", f"sqlite:///{(job / STORE_IN_JOB).absolute()}")
        try:
            return cls(
                enabled=parse_switch("enabled", given.get("enabled", True)),
                policy=Policy().changed({k: v for k, v in given.items() if k in POLICY_OPTIONS}),
                item_field=_require_name("item_field", given.get("item_field")),
                parts={k: v for k, v in given.items() if k in _PARTS},
                store_settings=_build(StoreSettings, _STORE_OPTIONS, given),
                url_rule_settings=_build(UrlRuleSettings, _URL_RULE_OPTIONS, given),
                job=job,
                recover=parse_switch("recover", given.get("recover", False)),
                # Leave one core to the crawl itself.
                workers=require_number(
                    "workers", _number(given.get("workers", max(1, usable_cores() - 1))), int, 0
                ),
                limits=_build(Limits, _WORKER_LIMITS, given),
                page_limits=_build(PageLimits, _PAGE_LIMITS, given),
                report=_require_name("report", given.get("report")),
                keep_text=parse_switch("keep_text", given.get("keep_text", False)),
                item_log_level=_log_level(settings),
                dupefilter=_require_class("dupefilter", given.get("dupefilter", _DUPEFILTER)),
            )
        except InvalidOption as error:
            raise as_setting(error) from None


_PARTS = ("tokenizer", "idf", "extractor")
#: Options whose values are never converted to numbers.
_TEXTS = ("store", "namespace")
#: Option to field, for each class of settings.
_STORE_OPTIONS = {option.name: option.name for option in fields(StoreSettings)}
_URL_RULE_OPTIONS = {option.name: option.name for option in fields(UrlRuleSettings)}
_WORKER_LIMITS = {"page_timeout": "seconds", "worker_memory": "memory_mb"}
_PAGE_LIMITS = {f"max_{limit.name}": limit.name for limit in fields(PageLimits)}
_OPTIONS = (
    "enabled",
    *POLICY_OPTIONS,
    "item_field",
    *_PARTS,
    *_STORE_OPTIONS,
    *_URL_RULE_OPTIONS,
    "recover",
    "workers",
    *_WORKER_LIMITS,
    *_PAGE_LIMITS,
    "report",
    "keep_text",
    "item_log_level",
    "dupefilter",
)

#: Every setting that is read.
SETTINGS = tuple(PREFIX + name.upper() for name in _OPTIONS)


def as_setting(error: InvalidOption) -> InvalidOption:
    """Return the error with the name of the setting instead of the option."""
    return error.renamed(PREFIX + error.option.upper())


def unknown_settings(settings: BaseSettings) -> Iterator[str]:
    """Yield a warning for each unknown setting with our prefix."""
    known = [name.removeprefix(PREFIX) for name in SETTINGS]
    for name in _neardup_names(settings):
        if name not in SETTINGS:
            likely = likely_settings(name.removeprefix(PREFIX), known)
            meant = " or ".join(PREFIX + option for option in likely)
            hint = f"; did you mean {meant}?" if meant else ""
            yield f"{name} is not a known setting, so it is ignored{hint}"


def parse_switch(option: str, value: Any) -> bool:
    """Return the truth value of a setting, a spider argument or a meta key.

    :raises InvalidOption: when it is neither on nor off.
    """
    switch = _SWITCH.get(str(value).strip().lower())
    if switch is None:
        raise InvalidOption(option, value, "'on' or 'off' (or True, False, 1, 0)")
    return switch


def request_policy(policy: Policy, wish: Any) -> Policy | None:
    """Return the policy for a request; ``None`` when judging is switched off for it.

    :param wish: value of ``request.meta["neardup"]``, ``None`` where there is none.
    :raises InvalidOption: when it is neither a switch nor a mapping of options.
    """
    if wish is None:
        return policy
    name = f"request.meta[{META_KEY!r}]"
    if not isinstance(wish, Mapping):
        return policy if parse_switch(name, wish) else None
    try:
        item_origin(wish)
        return policy.changed({key: wish[key] for key in wish if key != _ITEM_ORIGIN})
    except InvalidOption as error:
        raise error.renamed(f"{name}[{error.option!r}]") from None


def item_origin(wish: Any) -> Literal["auto", "parent", "own"]:
    """Return the option ``item_origin`` of a request, ``"auto"`` by default.

    :param wish: value of ``request.meta["neardup"]``.
    :raises InvalidOption: when it is none of the choices.
    """
    value: Any = wish.get(_ITEM_ORIGIN, "auto") if isinstance(wish, Mapping) else "auto"
    _require_choice(_ITEM_ORIGIN, value, _ITEM_ORIGINS)
    origin: Literal["auto", "parent", "own"] = value
    return origin


def _neardup_names(settings: BaseSettings) -> Iterator[str]:
    return (name for name in settings if isinstance(name, str) and name.startswith(PREFIX))


def _number(value: Any) -> Any:
    """Convert a number that is given as a string, as on the command line; return others as is."""
    if isinstance(value, str):
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                continue
    return value


def _build(kind: type[T], names: Mapping[str, str], given: Mapping[str, Any]) -> T:
    """Build an object of a class of settings.

    :param names: options, and the fields that they set.
    :param given: values of options.
    """
    values = {field: given[name] for name, field in names.items() if name in given}
    values = {field: v if field in _TEXTS else _number(v) for field, v in values.items()}
    try:
        return kind(**values)
    except InvalidOption as error:
        option = next(name for name, field in names.items() if field == error.option)
        raise error.renamed(option) from None


def _require_name(option: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidOption(option, value, "a name")
    return value or None


def _require_class(option: str, value: Any) -> Any:
    from scrapy.utils.misc import load_object

    try:
        load_object(value)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise InvalidOption(option, value, f"a class or its import path ({error})") from None
    return value


def _log_level(settings: BaseSettings) -> int | None:
    # Other settings take None for "not set"; this one for "off".
    wish = settings[_ITEM_LOG_LEVEL]
    value = wish if wish is not None or _ITEM_LOG_LEVEL in settings else "DEBUG"
    name = str(value).strip().upper()
    if name not in _LOG_LEVELS:
        raise InvalidOption("item_log_level", value, "one of 'DEBUG', 'INFO', 'WARNING', 'OFF'")
    return _LOG_LEVELS[name]


def _job_folder(settings: BaseSettings) -> Path | None:
    from scrapy.utils.job import job_dir

    folder = job_dir(settings)
    return None if folder is None else Path(folder)


def _require_choice(
    option: str, value: Any, choices: tuple[str, ...], shown: str | None = None
) -> None:
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise InvalidOption(option, shown or value, f"one of {known}")
