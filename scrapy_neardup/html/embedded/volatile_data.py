"""Leaves out of data for scripts what differs from one copy of a page to the next."""

from __future__ import annotations

import re

from ..links.addresses import (
    IDENTIFIER,
    TOKEN_NAMES,
    VOLATILE_VALUE,
    is_volatile,
    path_of,
    stable_address,
)
from ..links.file_suffixes import is_file

#: Names of how long something took when a page was made.
_TIME_NAMES = (
    r"(?:server|render(?:ing)?|load|queue|request|response|generation|application|execution|"
    r"processing|elapsed)[_-]?(?:time|ms)"
)
#: Names of the moment at which a server made a page or its data, and such moments. A moment has a
#: year and a time; a day alone may be that of the content, as may a time.
_MOMENT_NAMES = (
    r"(?:now|time_?stamp|(?:server|current|build|request|response)[_-]?(?:date[_-]?time|date|time)|"
    r"(?:generated|rendered|fetched|cached|served|built|deployed)(?:[_-]?(?:at|on|time|date))?)"
)
_YEAR = r"(?<!\d)(?:(?:19|20)\d\d|\d\d?[./-]\d\d?[./-]\d\d)(?!\d)"
_MOMENT = (
    rf"(?=[^\"']{{0,60}}{_YEAR})[\w,./+ -]{{0,30}}\d\d?:\d\d"
    r"(?::\d\d(?:[.,]\d{1,9})?)? ?(?:Z|UTC|GMT|[AP]M|[+-]\d\d:?\d\d)?"
    r"(?: (?:19|20)\d\d)?(?: \([\w ]{1,40}\))?"
)
#: In script data, absolute URLs are volatile as well, but not those of media, and not the values of
#: schema.org ("OutOfStock"). Neither are the numbers that a product has everywhere.
_VOLATILE_DATA = re.compile(
    rf"(?P<named>(?i:\b{IDENTIFIER})[\"']?\s*[:=]\s*[\"']?[^\s\"',}}]+)|"
    # A short token, and how long something took, are told by their names.
    rf"(?i:[\"'][\w-]{{0,40}}(?:{TOKEN_NAMES})[\w-]{{0,40}})[\"']\s*:\s*[\"'][^\"'\s]*[\"']|"
    rf"(?i:[\"'](?:{_MOMENT_NAMES}|{_TIME_NAMES}))[\"']\s*:\s*[\"']{_MOMENT}(?=[\"'])|"
    # Of a moment in another notation the year is no number of its own.
    rf"(?i:[\"']{_TIME_NAMES})[\"']\s*:\s*[\"']?\d[\d.]*(?![\d.:-])|"
    rf"(?P<url>(?:\\{{0,3}}/){{2}}[^\s\"'<>]*)|{VOLATILE_VALUE.pattern}",
    re.A,
)
#: Names in a program's objects of what is another at each visit: times, and who visits. A constant
#: of this name is the version of a manual or of a theme, and says nothing of the page.
_PASSING_NAME = re.compile(
    r"(?-i:^[A-Z_]*VERSION$)|^now$|elapsed|"
    rf"(?:{_TIME_NAMES}|(?:current|app|page|build|cache)[_-]?time)$|"
    r"(?:visit(?:or)?|client|request|trace|correlation|page[_-]?view|ray|guest|anonymous)[_-]?id$",
    re.I,
)
#: Names of counters, and their values.
_COUNTED = "(?:view|hit|visit(?:or)?|like|share|comment|download|play|reader|follower|vote|click)s?"
_COUNTER_NAME = re.compile(
    rf"^{_COUNTED}$|{_COUNTED}[_-]?(?:count(?:er)?|number|num|total)$|"
    rf"^(?:count|num|number|total)[_-]?(?:of[_-]?)?{_COUNTED}$|^online$",
    re.I,
)
_IS_MOMENT_NAME = re.compile(_MOMENT_NAMES, re.I).fullmatch
_IS_MOMENT = re.compile(_MOMENT, re.A).fullmatch
_COUNT = re.compile(r"\d[\d.,]*[km]?", re.I)
_SCHEMA_ORG = re.compile(r"//(?:www\.)?schema\.org/\w+$", re.I)


def without_volatile(data: str) -> str:
    """Remove from script data what differs from one copy of a page to the next."""
    return _VOLATILE_DATA.sub(_lasting, data)


def _lasting(found: re.Match[str]) -> str:
    """Return what every copy of a page has of a part of its data that may be volatile."""
    url = (found["url"] or "").replace("\\", "")
    if is_file(path_of(url)):
        return stable_address(url)
    return url if _SCHEMA_ORG.match(url) else found["named"] or ""


def lasting_pair(pair: tuple[str, str]) -> tuple[str, str]:
    """Return a name and its value; without the value if it differs from copy to copy."""
    name, value = pair[0], " ".join(pair[1].split())
    if _PASSING_NAME.search(name) or is_volatile(name, "") or _is_moment(name, value):
        return name, ""
    if _COUNTER_NAME.search(name) and _COUNT.fullmatch(value):
        return name, ""
    address = value.replace("\\/", "/")
    if address.startswith(("/", "./", "../")) or "://" in address[:9]:
        # Addresses of pages differ, as in data.
        return name, stable_address(address) if is_file(path_of(address)) else ""
    return name, value


def _is_moment(name: str, value: str) -> bool:
    """Return whether a value says when a server made a page or its data."""
    return _IS_MOMENT_NAME(name) is not None and _IS_MOMENT(value) is not None
