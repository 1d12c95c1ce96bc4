"""Knows values that say when an item was made, which differ between the items of two copies."""

from __future__ import annotations

import re
import time
from datetime import date, datetime, timezone

#: Seconds that a page waits between its callback and that of the last page of an item, at most.
_MAX_AGE = 3600
#: Seconds by which the clock of another machine may be ahead.
_MAX_AHEAD = 60
#: Characters of the longest time.
_MAX_LENGTH = 40
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)? ?(z|utc|[+-]\d\d:?\d\d)?"
)
_EPOCH = re.compile(r"(\d{10})(?:\d{3}|\.\d+)?")


def is_of_fetch(value: str) -> bool:
    """Return whether a value is the date of today, or a time within the last hour.

    Times are in ISO 8601, or in seconds or milliseconds since 1970.

    :param value: folded.
    """
    # Most values are none, and begin otherwise.
    if not value[:4].isdecimal() or len(value) > _MAX_LENGTH:
        return False
    if _DATE.fullmatch(value):
        return value in (date.today().isoformat(), datetime.now(timezone.utc).date().isoformat())
    if found := _EPOCH.fullmatch(value):
        return _is_recent(int(found[1]))
    found = _TIME.fullmatch(value)
    return found is not None and any(map(_is_recent, _seconds_of(*found.groups(""))))


def _seconds_of(day: str, clock: str, zone: str) -> list[float]:
    """Return the seconds since 1970 of a time; of one without zone, as local time and as UTC."""
    offset = "+00:00" if zone in ("z", "utc") else zone
    if offset and ":" not in offset:
        offset = f"{offset[:3]}:{offset[3:]}"
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
        if offset:
            return [moment.timestamp()]
        return [moment.timestamp(), moment.replace(tzinfo=timezone.utc).timestamp()]
    except (ValueError, OverflowError, OSError):
        return []


def _is_recent(seconds: float) -> bool:
    return -_MAX_AHEAD <= time.time() - seconds <= _MAX_AGE
