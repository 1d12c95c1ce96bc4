"""The settings of a crawl: read and checked once, then immutable."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object

from .._util.validation import (
    SWITCH,
    parse_number,
    parse_switch,
    require_choice,
    require_field,
    require_names,
    require_number,
    require_placeholders,
)
from ..detector import MAX_WAIT
from ..exceptions import InvalidOption
from ..html.limits import PageLimits
from ..matching.rule import Rule
from ..methods.containment import MIN_SHARE
from ..stores import MemoryStore, require_address
from ..workers import Limits, usable_cores
from .file_settings import FileSettings

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PREFIX = "NEARDUP_"

#: Key of ``request.meta`` for the options of a single request.
META_KEY = "neardup"

#: File of the store in the job directory, when no other store is set.
STORE_IN_JOB = "neardup.sqlite"

#: Levels as of :mod:`logging`.
_LOG_LEVELS = {"DEBUG": 10, "INFO": 20, "WARNING": 30, "OFF": None, "NONE": None}
_RULE_OPTIONS = tuple(item.name for item in fields(Rule))
#: Options of a policy, as in ``request.meta["neardup"]``; settings have them in upper case.
POLICY_OPTIONS = (*_RULE_OPTIONS, "action", "links", "revisit", "soft_404")
#: Values that fields of items may be set to.
_ITEM_VALUES = ("cluster", "original", "canonical", "copies")
#: Seconds from which on a time counts as infinite: 1970, before which nothing was stored, is less
#: than that ago.
_FOR_EVER = 2.0**32
#: Options whose values are never converted to numbers.
_TEXTS = ("store", "namespace", "index")


@dataclass(frozen=True)
class Policy:
    """The options that a single request may override.

    :ivar rule: thresholds.
    :ivar action: what happens to the items of a duplicate: ``"drop"``, ``"tag"`` or ``"report"``.
    :ivar links: what happens to its links: ``"follow"`` or ``"skip"``.
    :ivar revisit: what happens to the items of a page whose address and text are known:
        ``"store"``, or ``"drop"`` to treat them as those of a duplicate.
    :ivar soft_404: what happens to the items of a soft 404: ``"off"`` looks for none.
    :raises InvalidOption: when a value is invalid.
    """

    rule: Rule = field(default_factory=Rule)
    action: Literal["drop", "tag", "report"] = "drop"
    links: Literal["follow", "skip"] = "follow"
    revisit: Literal["store", "drop"] = "store"
    soft_404: Literal["off", "report", "drop"] = "off"

    def __post_init__(self) -> None:
        require_choice("action", self.action, ("drop", "tag", "report"))
        require_choice("links", self.links, ("follow", "skip"))
        require_choice("revisit", self.revisit, ("store", "drop"))
        require_choice("soft_404", self.soft_404, ("off", "report", "drop"))

    @property
    def drops_soft_404s(self) -> bool:
        """Whether the items of soft 404s are dropped."""
        return self.soft_404 == "drop" and self.action != "report"

    def changed(self, options: Mapping[str, Any]) -> Policy:
        """Return a copy with some options replaced; numbers may be given as strings.

        :raises InvalidOption: when an option is unknown or its value is invalid.
        """
        for name, value in options.items():
            require_choice("option", name, POLICY_OPTIONS, shown=f"{name} = {value!r}")
        values = {name: parse_number(value) for name, value in options.items()}
        rule = {name: values.pop(name) for name in _RULE_OPTIONS if name in values}
        return replace(self, rule=replace(self.rule, **rule), **values)


@dataclass(frozen=True)
class StoreSettings:
    """The settings of the store.

    :ivar store: an address, see :func:`~scrapy_neardup.stores.open_store`, or a store.
    :ivar namespace: only pages of one namespace are compared; ``None`` for the spider's name.
    :ivar ttl: seconds, above 0, after which a page is forgotten; ``None`` for never, which is also
        what becomes of infinity.
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
        _require_store(self.store)
        _name("namespace", self.namespace)
        if self.ttl is not None:
            require_number("ttl", self.ttl, float, 0, above=True, unit="seconds")
            if self.ttl >= _FOR_EVER:
                # Stores subtract it from the time, in whole seconds.
                object.__setattr__(self, "ttl", None)
        require_number("max_wait", self.max_wait, float, 0, above=True, unit="seconds")
        require_choice("on_store_error", self.on_store_error, ("keep", "stop"))

    @property
    def outlives_crawl(self) -> bool:
        """Whether another crawl can find the pages of this one."""
        return self.store != "memory" and not isinstance(self.store, MemoryStore)


@dataclass(frozen=True)
class UrlRuleSettings:
    """The settings of learned URL rules, and of URLs that lead to duplicates.

    :ivar url_rules: ``"off"``, ``"report"`` what would be skipped, or ``"on"``.
    :ivar url_rules_sample_rate: share of the requests to skip that is fetched nevertheless, 0.0
        to 1.0.
    :ivar cluster_budget: fetches, 1 or more, that a site may spend on near-duplicates of one
        original before similar URLs are slowed down; ``None`` for no bound.
    :ivar duplicate_url_ttl: seconds, 0 or more, for which a URL that led to a duplicate is not
        fetched again; new content at such a URL is missed while the original is unchanged.
    :ivar links_min_depth: depth, 0 or more, from which links of duplicates may be skipped; links
        of duplicates at a lower depth are always followed.
    :raises InvalidOption: when a value is invalid.
    """

    url_rules: Literal["off", "report", "on"] = "report"
    url_rules_sample_rate: float = 0.05
    cluster_budget: int | None = None
    duplicate_url_ttl: float = 0.0
    links_min_depth: int = 0

    def __post_init__(self) -> None:
        require_choice("url_rules", self.url_rules, ("off", "report", "on"))
        require_number("url_rules_sample_rate", self.url_rules_sample_rate, float, 0, 1)
        if self.cluster_budget is not None:
            require_number("cluster_budget", self.cluster_budget, int, 1)
        require_number("duplicate_url_ttl", self.duplicate_url_ttl, float, 0, unit="seconds")
        require_number("links_min_depth", self.links_min_depth, int, 0)


# --- values -----------------------------------------------------------------------------


def as_setting(error: InvalidOption) -> InvalidOption:
    """Return the error with the name of the setting instead of the option."""
    # What follows the name says which parameter of a method it is.
    option, *parameter = error.option.partition(" ")
    return error.renamed(PREFIX + option.upper() + "".join(parameter))


def _name(option: str, value: Any, kind: str = "a name") -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidOption(option, value, kind)
    return value or None


def _require_store(store: Any) -> None:
    """Check that this is a store, or the address of one."""
    if isinstance(store, str):
        require_address(store)
    elif isinstance(store, os.PathLike):
        raise InvalidOption("store", store, f"an address: 'sqlite:///{os.fspath(store)}'")
    elif isinstance(store, type) or not callable(getattr(store, "claim", None)):
        known = "an address, such as 'memory', 'sqlite:///path' or 'redis://host:port/db'"
        raise InvalidOption("store", store, f"{known}, or a scrapy_neardup.stores.Store object")


def _path(*placeholders: str) -> Callable[[str, Any], str | None]:
    """Return how the path of a file is read, in which these placeholders are allowed."""

    def read(option: str, value: Any) -> str | None:
        given = os.fspath(value) if isinstance(value, os.PathLike) else value
        path = _name(option, given, "a path")
        if path is not None:
            require_placeholders(option, path, placeholders)
        return path

    return read


def _workers(option: str, value: Any) -> int:
    # Leave one core to the crawl itself.
    number = max(1, usable_cores() - 1) if value is None else parse_number(value)
    return require_number(option, number, int, 0)


def _share(option: str, value: Any) -> float | None:
    """Return a share; ``None`` for off, and the default one for on."""
    if value is None or str(value).strip().lower() in SWITCH:
        return MIN_SHARE if value is not None and parse_switch(option, value) else None
    try:
        return float(require_number(option, parse_number(value), float, 0, 1, above=True))
    except InvalidOption as error:
        raise InvalidOption(option, value, f"'on', 'off' or {error.expected}") from None


def _item_fields(option: str, value: Any) -> Mapping[str, str]:
    return require_names(option, value, _ITEM_VALUES)


def _preferred(option: str, value: Any) -> str:
    require_choice(option, value, ("first", "canonical"))
    return str(value)


def _mebibytes(option: str, value: Any) -> int:
    number: int = require_number(option, parse_number(value), int, 0, unit="MiB")
    return number


def _class(option: str, value: Any) -> Any:
    try:
        load_object(value)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise InvalidOption(option, value, f"a class or its import path ({error})") from None
    return value


def _seconds(option: str, value: Any) -> float:
    return float(require_number(option, parse_number(value), float, 0, above=True, unit="seconds"))


def _log_level(option: str, value: Any) -> int | None:
    name = str(value).strip().upper()
    if name not in _LOG_LEVELS:
        raise InvalidOption(option, value, "one of 'DEBUG', 'INFO', 'WARNING', 'OFF'")
    return _LOG_LEVELS[name]


# --- all settings -----------------------------------------------------------------------


def _option(parse: Callable[[str, Any], Any], default: Any = None) -> dict[str, Any]:
    """Return the metadata of a :class:`Config` field that the option of its name sets."""
    return {"read": lambda name, given: parse(name, given.get(name, default))}


def _options(names: Collection[str], build: Callable[[Mapping[str, Any]], Any]) -> dict[str, Any]:
    """Return the metadata of a field that is built from those of these options that are given."""

    def read(_: str, given: Mapping[str, Any]) -> Any:
        return build({name: given[name] for name in names if name in given})

    return {"options": names, "read": read}


def _group(kind: type, prefix: str = "", **names: str) -> dict[str, Any]:
    """Return the metadata of a field that is an object; each option sets one of its fields.

    :param prefix: of options that are named after the fields.
    :param names: options with other names, and their fields.
    """
    names = names or {prefix + item.name: item.name for item in fields(kind)}

    def build(given: Mapping[str, Any]) -> Any:
        values = {names[option]: value for option, value in given.items()}
        try:
            return kind(
                **{name: v if name in _TEXTS else parse_number(v) for name, v in values.items()}
            )
        except InvalidOption as error:
            option = next(option for option, name in names.items() if name == error.option)
            raise error.renamed(option) from None

    return _options(names, build)


@dataclass(frozen=True)
class Config:
    """All settings of a crawl.

    :ivar policy: applies to every request without options of its own.
    :ivar item_field: field of items that is judged instead of the page, if any.
    :ivar parts: arguments of :class:`~scrapy_neardup.NearDupDetector`: those of ``tokenizer``,
        ``idf``, ``extractor``, ``extraction`` and ``method`` that are set.
    :ivar containment: least share of a page in another that its items are tagged with, if any.
    :ivar containment_field: field of items that is set then.
    :ivar item_fields: fields of items by what they are set to.
    :ivar prefer: which page becomes the original: the ``"first"``, or the ``"canonical"`` one if it
        is being fetched.
    :ivar copies: file of what is dropped, if any.
    :ivar body_cache: MiB of memory, 0 or more, for the bodies of pages that were read quickly.
    :ivar store_settings: where pages are recorded.
    :ivar url_rule_settings: what is learned about URLs.
    :ivar recover: whether to repeat the requests that an unclean stop of the job has lost.
    :ivar workers: number of processes that read pages; 0 for none.
    :ivar limits: time and memory that a worker may spend on one page.
    :ivar page_limits: limits on the contents of one page.
    :ivar report: file of the HTML report, if any.
    :ivar keep_text: whether the report shows the texts of pages.
    :ivar metrics: file of the Prometheus metrics, if any.
    :ivar metrics_interval: seconds, above 0, after which it is written again.
    :ivar item_log_level: level, as of :mod:`logging`, of the messages about single items; ``None``
        for no such messages.
    :ivar file_settings: how the files pipeline compares files.
    :ivar dupefilter: class or import path of the wrapped dupefilter.
    :ivar job: the job directory, if any.
    """

    enabled: bool = field(metadata=_option(parse_switch, True))
    policy: Policy = field(metadata=_options(POLICY_OPTIONS, Policy().changed))
    item_field: str | None = field(metadata=_option(_name))
    parts: Mapping[str, Any] = field(
        metadata=_options(("tokenizer", "idf", "extractor", "extraction", "method"), dict)
    )
    containment: float | None = field(metadata=_option(_share))
    containment_field: str = field(metadata=_option(require_field, "neardup_containment"))
    item_fields: Mapping[str, str] = field(metadata=_option(_item_fields, {}))
    prefer: str = field(metadata=_option(_preferred, "first"))
    copies: str | None = field(metadata=_option(_path("name", "time")))
    body_cache: int = field(metadata=_option(_mebibytes, 256))
    store_settings: StoreSettings = field(metadata=_group(StoreSettings))
    url_rule_settings: UrlRuleSettings = field(metadata=_group(UrlRuleSettings))
    recover: bool = field(metadata=_option(parse_switch, False))
    workers: int = field(metadata=_option(_workers))
    limits: Limits = field(
        metadata=_group(Limits, page_timeout="seconds", worker_memory="memory_mb")
    )
    page_limits: PageLimits = field(metadata=_group(PageLimits, "max_"))
    report: str | None = field(metadata=_option(_path("name", "time")))
    keep_text: bool = field(metadata=_option(parse_switch, False))
    metrics: str | None = field(metadata=_option(_path("name", "job")))
    metrics_interval: float = field(metadata=_option(_seconds, 15.0))
    item_log_level: int | None = field(metadata=_option(_log_level, "DEBUG"))
    file_settings: FileSettings = field(metadata=_group(FileSettings, "files_"))
    dupefilter: Any = field(metadata=_option(_class, "scrapy.dupefilters.RFPDupeFilter"))
    job: Path | None = None

    @property
    def is_lazy(self) -> bool:
        """Whether pages are read in full only if they may be copies."""
        return self.parts.get("extraction") == "lazy"

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Config:
        """Read and check the settings.

        :raises InvalidOption: when one has an invalid value.
        """
        given = {
            name.removeprefix(PREFIX).lower(): settings[name] for name in own_settings(settings)
        }
        # As a log level None means "off", elsewhere "not set".
        given = {k: v for k, v in given.items() if v is not None or k == "item_log_level"}
        job = None if (folder := job_dir(settings)) is None else Path(folder)
        if job is not None:
            given.setdefault("store", f"sqlite:///{(job / STORE_IN_JOB).absolute()}")
        try:
            values = {item.name: item.metadata["read"](item.name, given) for item in _declared()}
        except InvalidOption as error:
            raise as_setting(error) from None
        return cls(**values, job=job)


def own_settings(settings: BaseSettings) -> Iterator[str]:
    """Yield the names of all settings with our prefix that are set, unknown ones too."""
    return (name for name in settings if isinstance(name, str) and name.startswith(PREFIX))


def _declared() -> list[Field[Any]]:
    return [item for item in fields(Config) if item.metadata]


#: Every setting that is read.
SETTINGS = tuple(
    PREFIX + option.upper()
    for item in _declared()
    for option in item.metadata.get("options", [item.name])
)
