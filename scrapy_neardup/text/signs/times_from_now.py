"""Knows times from now on, or back: "3 days ago", "heute, 14:30", "5分前".

Copies of a page differ in them. The words of such times are also others: "hier" is German for
"here", 前 is a part of names of places, and a mill may be "now a school". So a number needs a unit
of time, and a word must stand alone, or with a time, a date, or the word of one.
"""

from __future__ import annotations

import re

from .visits import is_date_of_visit

#: A number before them has up to three digits, and no month: 2026年前 and 3月20日前 are deadlines.
_WIDE_NUMBER = r"(?:(?<![\d月./-])\d{1,3}|[一二两兩三四五六七八九十几幾数數半])"
_WIDE_UNITS = (
    r"(?:秒[钟鐘]?|分[钟鐘]?|小[时時]|[时時][间間]|天|日|周|週[间間]?|星期|[个個ヶケか]月|年)"
)
_ENGLISH = (
    r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|nights?|w|wks?|weeks?|mos?|months?|"
    r"y|yrs?|years?|decades?|while|moments?|long)"
)
_GERMAN = r"(?:sek\w*|min\w*|std|stunden?|tag\w*|woche\w*|monat\w*|jahr\w*)"
_FRENCH = r"(?:s|sec\w*|min\w*|h|heures?|jours?|semaines?|mois|ans?|années?|instants?)"
_SPANISH = r"(?:seg\w*|min\w*|h|horas?|d[ií]as?|semanas?|mes(?:es)?|años?|rato|instantes?)"
_RUSSIAN = r"(?:сек\w*|мин\w*|час\w*|дн\w*|день|недел\w*|месяц\w*|мес|год\w*|лет)\.?"
_ARABIC = (
    r"(?:ثانية|ثوان|ثواني|دقيقة|دقيقتين|دقائق|ساعة|ساعتين|ساعات|يوم|يوما|يومين|أيام|أسبوع|أسبوعين|"
    r"أسابيع|شهر|شهرا|شهرين|أشهر|شهور|سنة|سنتين|سنوات|عام|لحظات)"
)
_GERMAN_NUMBER = (
    r"(?:\d[\d.,]*|eine[mnrs]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|wenigen|einigen|"
    r"mehreren|ein paar)"
)
#: How long ago something was.
_AGO = re.compile(
    rf"{_WIDE_NUMBER} ?{_WIDE_UNITS}[之以]?前|"
    rf"(?<![^\W\d_]){_ENGLISH} ago\b|\bvor (?:[\w.]+ )?{_GERMAN_NUMBER} {_GERMAN}\b|"
    rf"\bvor kurzem\b|\bil y a (?:\w+ ){{1,3}}?{_FRENCH}\b|"
    rf"\bhace (?:\w+ ){{1,3}}?{_SPANISH}\b|\bhace poco\b|"
    rf"\b{_RUSSIAN} назад\b|\bтолько что\b|منذ (?:\S+ )?{_ARABIC}(?!\w)|刚刚|剛剛|たった今",
    re.IGNORECASE,
)
#: Days and times of a visit.
_TODAY = re.compile(
    r"\b(?:yesterday|today|gestern|heute|вчера|сегодня)\b(?!['’])|昨[天日]|今[天日]", re.IGNORECASE
)
#: The same of words that say something else as often, alone or beside a time.
_CLOCK = r"\d{1,2}(?:[:.]\d\d| ?[hH]\b| ?[ap]\.?m)"
_AT = r"[ ,]{0,2}(?:à |at |@ )?"
_NOW = re.compile(
    rf"\W*(?:(?:just|right|only) )?(?:now|hier)\W*|.*\b(?:now|hier){_AT}{_CLOCK}.*|"
    rf".*{_CLOCK},? (?:now|hier)\b.*",
    re.IGNORECASE | re.DOTALL,
)


def is_from_now(text: str) -> bool:
    """Return whether a text has a time relative to now, such as "today" or "3 days ago"."""
    if _AGO.search(text) or _NOW.fullmatch(text):
        return True
    found = _TODAY.search(text)
    if found is None:
        return False
    rest = text[: found.start()] + text[found.end() :]
    has_number = any(map(str.isdigit, rest))
    return has_number or not any(map(str.isalpha, rest)) or is_date_of_visit(rest)
