"""Suggests settings for a misspelt name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from difflib import get_close_matches

#: Words that users may expect in the name of a setting, and the setting's name without prefix.
SYNONYMS = {
    "THRESHOLD": ("MIN_SIMILARITY", "MAX_DISTANCE"),
    "JACCARD": ("MIN_SIMILARITY",),
    "RESEMBLANCE": ("MIN_SIMILARITY",),
    "HAMMING": ("MAX_DISTANCE",),
    "BITS": ("MAX_DISTANCE",),
    "BACKEND": ("STORE",),
    "DATABASE": ("STORE",),
    "DB": ("STORE",),
    "FILE": ("STORE",),
    "PATH": ("STORE",),
    "REDIS": ("STORE",),
    "SQLITE": ("STORE",),
    "URI": ("STORE",),
    "TIMEOUT": ("PAGE_TIMEOUT",),
    "WAIT": ("MAX_WAIT",),
    "DISABLED": ("ENABLED",),
    "DRYRUN": ("ACTION",),
    "MODE": ("ACTION",),
    "DOMAIN": ("SCOPE",),
    "LENGTH": ("MIN_FEATURES",),
    "TOKENS": ("MIN_FEATURES",),
    "WORDS": ("MIN_FEATURES",),
    "LANGUAGE": ("TOKENIZER",),
    "EXPIRY": ("TTL",),
    "EXPIRE": ("TTL",),
    "CONCURRENCY": ("WORKERS",),
    "PROCESSES": ("WORKERS",),
    "THREADS": ("WORKERS",),
    "RESUME": ("RECOVER",),
    "FOLLOW": ("LINKS",),
}

#: Least similarity, see difflib, of a whole name or of a single word to the one that is meant.
_NAME_CUTOFF, _WORD_CUTOFF = 0.8, 0.75
#: A word scores 1 divided by the number of settings that have it; common words, such as MAX, are
#: not enough for a suggestion.
_MIN_SCORE = 0.5


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
        for word in setting.split("_"):
            meanings[word].add(setting)
    for word, settings in SYNONYMS.items():
        meanings[word].update(setting for setting in settings if setting in known)
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
