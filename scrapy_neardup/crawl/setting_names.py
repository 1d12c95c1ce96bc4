"""Warns of settings that are unknown, that have no effect, or that end a crawl early."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..matching.passage_candidates import MIN_SIMILARITY
from .settings import PREFIX, SETTINGS, Config, own_settings

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: Settings without their prefix, and the words that users may expect in their names.
SYNONYMS = {
    "MIN_SIMILARITY": "THRESHOLD JACCARD RESEMBLANCE",
    "MAX_DISTANCE": "THRESHOLD HAMMING BITS",
    "MIN_FEATURES": "LENGTH TOKENS WORDS",
    "STORE": "BACKEND DATABASE DB FILE PATH REDIS SQLITE URI",
    "PAGE_TIMEOUT": "TIMEOUT",
    "MAX_WAIT": "WAIT",
    "ENABLED": "DISABLED",
    "ACTION": "DRYRUN MODE",
    "SCOPE": "DOMAIN",
    "TOKENIZER": "LANGUAGE",
    "TTL": "EXPIRY EXPIRE",
    "WORKERS": "CONCURRENCY PROCESSES THREADS",
    "RECOVER": "RESUME",
    "LINKS": "FOLLOW",
    "METHOD": "ALGORITHM",
    "METRICS": "PROMETHEUS",
}

#: Settings without their prefix that have no effect without another one, whether that is missing,
#: and what to say.
_DEPENDENT: tuple[tuple[str, Callable[[Config], bool], str], ...] = (
    (
        "RECOVER",
        lambda config: config.job is None,
        "JOBDIR: only a job knows which requests an unclean stop has lost",
    ),
    (
        "KEEP_TEXT",
        lambda config: config.report is None,
        "NEARDUP_REPORT: set it to the path of a report to keep texts for",
    ),
    (
        "CLUSTER_BUDGET",
        lambda config: config.url_rule_settings.url_rules != "on",
        "NEARDUP_URL_RULES = 'on': no request is slowed down or skipped",
    ),
    (
        "LINKS_MIN_DEPTH",
        lambda config: config.policy.links != "skip",
        "NEARDUP_LINKS = 'skip': links are followed at every depth, but those of requests with "
        "{'links': 'skip'} in request.meta['neardup']",
    ),
    (
        "BODY_CACHE",
        lambda config: not config.is_lazy,
        "NEARDUP_EXTRACTION = 'lazy': all pages are read in full, so no bodies are kept",
    ),
    (
        "METRICS_INTERVAL",
        lambda config: config.metrics is None,
        "NEARDUP_METRICS: set it to the path of the file that is to be written",
    ),
)

#: Least similarity, see difflib, of a whole name or of a single word to the one that is meant.
_NAME_CUTOFF, _WORD_CUTOFF = 0.8, 0.75
#: A word scores 1 divided by the number of settings that have it; common words, such as MAX, are
#: not enough for a suggestion.
_MIN_SCORE = 0.5


def warnings_of(settings: BaseSettings, config: Config) -> Iterator[str]:
    """Yield a warning for each setting whose effect users may not expect.

    :param config: what is read of the settings.
    """
    yield from unknown_settings(settings)
    yield from ineffective_settings(settings, config)
    yield from closing_settings(settings, config.policy.action)


def unknown_settings(settings: BaseSettings) -> Iterator[str]:
    """Yield a warning for each unknown setting with our prefix."""
    known = [name.removeprefix(PREFIX) for name in SETTINGS]
    for name in own_settings(settings):
        if name not in SETTINGS:
            likely = likely_settings(name.removeprefix(PREFIX), known)
            meant = " or ".join(PREFIX + option for option in likely)
            hint = f"; did you mean {meant}?" if meant else ""
            yield f"{name} is not a known setting, so it is ignored{hint}"


def likely_settings(name: str, known: Sequence[str]) -> list[str]:
    """Return the settings that an unknown name is likely to stand for, at most two; often none.

    A whole name is compared letter by letter, and then word by word, by what the words mean.

    :param name: upper case, without the prefix.
    :param known: names of settings, without the prefix.
    """
    if near := get_close_matches(name, known, n=1, cutoff=_NAME_CUTOFF):
        return near
    meanings: defaultdict[str, set[str]] = defaultdict(set)
    for setting in known:
        for word in [*setting.split("_"), *SYNONYMS.get(setting, "").split()]:
            meanings[word].add(setting)
    scores: defaultdict[str, float] = defaultdict(float)
    for word in name.split("_"):
        for meant in get_close_matches(word, meanings, n=1, cutoff=_WORD_CUTOFF):
            for setting in meanings[meant]:
                scores[setting] += 1 / len(meanings[meant])
    best = max(scores.values(), default=0.0)
    if best < _MIN_SCORE:
        return []
    found = [setting for setting in known if scores[setting] == best]
    return found if len(found) <= 2 else []


def ineffective_settings(settings: BaseSettings, config: Config) -> Iterator[str]:
    """Yield a warning for each setting that has no effect because of another one.

    :param config: what is read of the settings.
    """
    if "method" in config.parts:
        for name in ("MAX_DISTANCE", "MIN_SIMILARITY"):
            if settings.get(PREFIX + name) is not None:
                yield (
                    f"{PREFIX}{name} has no effect with {PREFIX}METHOD: write the method's own "
                    "parameters behind its name"
                )
    for name, is_missing, why in _DEPENDENT:
        # A value that stands for "off" is what would happen anyway.
        is_given = (settings.getpriority(PREFIX + name) or 0) > 0 and _is_on(name, config)
        if is_given and is_missing(config):
            yield f"{PREFIX}{name} has no effect without {why}"
    if config.is_lazy and not config.body_cache and _compares_bodies(config):
        yield (
            f"{PREFIX}BODY_CACHE is 0, so {PREFIX}EXTRACTION = 'lazy' finds next to no copies: "
            "pages that were read quickly have no bodies to compare. Set it to some MiB, such as "
            f"256, or {PREFIX}EXTRACTION to 'full'"
        )


def _is_on(name: str, config: Config) -> bool:
    """Return whether a setting that depends on another one asks for anything."""
    rules = config.url_rule_settings
    return {
        "RECOVER": config.recover,
        "KEEP_TEXT": config.keep_text,
        "CLUSTER_BUDGET": rules.cluster_budget is not None,
        "LINKS_MIN_DEPTH": rules.links_min_depth > 0,
    }.get(name, True)


def _compares_bodies(config: Config) -> bool:
    """Return whether pages are read quickly first; with less similarity all are read in full."""
    return config.item_field is None and config.policy.rule.min_similarity >= MIN_SIMILARITY


def closing_settings(settings: BaseSettings, action: str) -> Iterator[str]:
    """Yield a warning for each setting that closes a crawl in which no item is stored for a time.

    :param action: what is done with duplicates; Scrapy does not count items that are dropped.
    """
    if action != "drop":
        return
    for name, unit in (
        ("CLOSESPIDER_TIMEOUT_NO_ITEM", "seconds"),
        ("CLOSESPIDER_PAGECOUNT_NO_ITEM", "pages"),
    ):
        if limit := settings.getint(name):
            yield (
                f"{name} does not count the items of duplicates, which are dropped: the spider is "
                f"closed after {limit} {unit} of duplicates, although other pages may follow. Set "
                "it to more than the longest series of duplicates, or to 0"
            )
