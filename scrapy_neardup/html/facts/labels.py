"""Knows the labels of what copies of a page differ in: bylines, dates, and counters.

A value behind another label, such as "Size: 42", says what the page is about.
"""

from __future__ import annotations

import re

from ...text.counters import is_label_of_counter, names_a_counter
from ...text.known_words import MONTHS, WEEKDAYS
from ...text.signs.times_from_now import is_from_now
from ...text.signs.visits import is_before_web, is_date_of_visit

_BYLINE = re.compile(
    r"(?:last |written )?"
    r"(?:by|author|autor|auteur|автор|date|datum|published|posted|updated|source|quelle)|"
    r".*(?:作者|著者|记者|記者|编辑|編集|来源|來源|时间|時間|日期|公開日|更新日)",
    re.IGNORECASE,
)
#: Beginnings of labels of dates on which something takes place; others may be those of a visit.
_EVENT = re.compile(
    r"(?:when|start|begin|event|end(?:s|ing)?\b|doors|depart|arriv|leaves|kick.?off|check.?in|"
    r"check.?out|due|deadline|closing date|opening|appointment|hearing|meeting|exam|game|decision|"
    r"judgment|filing|issued|expir|born|died|birth|year|model year|vintage|built|founded|season|"
    r"wann|beginn|termin|anfang|ende\b|einlass|abfahrt|ankunft|anreise|abreise|frist|geboren|"
    r"baujahr|jahrgang|erstzulassung|"
    r"quand|début|fin\b|départ|arrivée|cuándo|inicio|comienz|salida|llegada|quando|inizio|fine\b|"
    r"partenza|arrivo|início|partida|chegada|wanneer|aanvang|kiedy|początek|odjazd|"
    r"когда|начало|конец|отправление|прибытие|开始|開始|结束|結束|开幕|举办|营业|上课|开庭|考试|"
    r"开放|集合|活动|演出|比赛|会议|面试|报名|入场|日時|開催|出発|到着|截止|調理|所要)",
    re.IGNORECASE,
)
_MONTH = rf"(?<!\w)(?:{'|'.join(MONTHS)})(?!\w)"
_WEEKDAY = rf"(?<!\w)(?:{'|'.join(WEEKDAYS.split())})(?!\w)"
_OF_WEEK = re.compile(
    rf"{_WEEKDAY}|(?<!\w)(?:sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim)\b[.,]? ?\d",
    re.IGNORECASE,
)
#: A year alone says what the page is about.
_NUMBERS_OF_DATE = (
    r"(?<![\d.])\d{4}(?:[-/]\d{1,2}[-/]|\. ?\d{1,2}\. ?)\d{1,2}(?![\d.]*\d)|"
    r"(?<![\d.])\d{1,2}(?:[-/]\d{1,2}[-/]|\. ?\d{1,2}\. ?)(?:19|20)?\d\d(?![\d.]*\d)|"
    r"\d ?[年月日년월일]"
)
_DATE_ALONE = re.compile(
    rf"{_NUMBERS_OF_DATE}|{_MONTH}[\s.,]{{,3}}\d|\d\w{{,2}}[\s.,]{{,3}}(?:de |of |di )?{_MONTH}",
    re.IGNORECASE,
)
#: Dates, and times of a clock.
_DATE = re.compile(
    rf"{_NUMBERS_OF_DATE}|{_MONTH}.*\d|\d.*{_MONTH}|"
    rf"(?<!\d)\d{{1,2}}:\d\d(?!\d)|\d ?[時时點点시] ?\d",
    re.IGNORECASE,
)
#: A time of day, a number, or the name of a month.
_PART_OF_DATE = re.compile(rf"(\d{{1,2}}:\d\d)(:\d\d)?|\d+|{_MONTH}", re.IGNORECASE)
#: Labels that stand for the date of a page as well as for that of an event.
_ANY_DATE = re.compile(r"date|datum|日期|时间|時間", re.IGNORECASE)

#: Words that the label of a date has, and the name of somebody has not.
_OF_DATE = re.compile(
    r"\b(?:from|by|until|till?|to|at|on|of|for|date|day|time|due|valid|close[sd]?|open\w*|start\w*|"
    r"end\w*|since|between|before|after|next|first|last|ab|bis|vo[mn]|am|zum|tag|datum|frist|limite|fecha|"
    r"data)\b|(?:schluss|termin|datum|frist|tag)$",
    re.IGNORECASE,
)
#: Begins a byline, before a name with a capital letter.
_BY_SOMEBODY = re.compile(r"(?i:by|von|par|por|di|door|av|от) [^\W\d_a-z]|文[・/／]")
#: The same at the beginning of a line, or behind the date: "5 March 2026 by Anna Holt". In "Talk by
#: Anna Holt, 5 March 2026" it says what takes place, and in "Von Montag" when.
_WRITTEN = re.compile(
    rf"(?:\W*|.*\d\W{{1,4}})(?i:by|von|par|por|di|door|av|от) "
    rf"(?!(?i:{_MONTH}|{_WEEKDAY}))[^\W\d_a-z]|.*(?:作者|记者|記者|文[・/／])"
)
#: A time of full five minutes, as that of an event.
_FULL_TIME = re.compile(r"(?<![\d:])\d{1,2}[:.h]\d[05](?![\d:.])")
#: What stands in the place of a writer's name, and how many words a name has.
_WRITERS = frozenset(
    ("admin", "administrator", "editor", "staff", "redaktion", "guest", "webmaster")
)
_MAX_NAME_WORDS = 4
#: From when on something can be had: now, or on a date.
_AVAILABLE = re.compile(
    r".*\bavailable(?: from| date)?|move.?in.*|frei ab|verfügbar ab|bezug.*|disponible.*|可?入住.*",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"now|immediately|right away|(?:ab )?sofort|immédiatement|de suite|inmediata\w*|subito|"
    r"随时|即日",
    re.IGNORECASE,
)

#: A time alone: that of an event, or a score, a scale, a length.
_CLOCK_ALONE = re.compile(r"\d{1,3}:\d\d(?::\d\d)?")
#: Labels of clocks and timers, and of what is not theirs although it has a word of them.
_OF_CLOCK = re.compile(
    r"time|clock|uhr|zeit|heure|\bhoras?\b|\bor[ae]\b|orario|czas|godz|tijd|\btid\b|saat|время|"
    r"\bnow\b|\bit is\b|\b(?:utc|gmt|cet)\b|elapsed|countdown|sunrise|sunset|"
    r"时间|時間|时刻|시간|시각",
    re.IGNORECASE,
)
_OF_LENGTH = re.compile(
    r"limit|lap|play|spiel|run|cook|prep|travel|flight|best|total|fahr|lauf|dauer", re.I
)
#: Number and unit of what a page is about as often as of a counter, and labels behind which it is
#: that of a counter.
_MEASURE = re.compile(
    r"\d[\d.,]* ?(?:guests?|days?|pages?|words?|stars?|levels?|gäste|tage|seiten|invités|jours|"
    r"huéspedes|días|ospiti|giorni)",
    re.IGNORECASE,
)
_OF_COUNT = re.compile(
    r"\b(?:in|left|ends?|ending|remain\w*|closes?|since|ago|online|until|to go|expires?|still|open|"
    r"brows\w*|here|active|view\w*|noch|endet|rest\w*|quedan)\b",
    re.IGNORECASE,
)
#: Whether somebody is there.
_PRESENCE = re.compile(r"online|offline|away|idle", re.IGNORECASE)

#: Columns of the longest value, of the longest date, and the first character of two columns.
_MAX_WIDTH, _MAX_DATE, _FIRST_WIDE = 24, 48, "\u2e80"
#: Digits of a year.
_OF_YEAR = 4
_SENTENCE_ENDS = ("!", "?", "。", "！", "？")


def is_byline(label: str) -> bool:
    """Return whether a label is that of a page's author, date or source."""
    return _BYLINE.fullmatch(label) is not None


def has_date(text: str) -> bool:
    """Return whether a text has a date or a time in it."""
    return _DATE.search(text) is not None or is_from_now(text)


def date_of_event(text: str) -> str | None:
    """Return the numbers of a date that may be that of an event, the day before the month if known.

    ``None`` if a text has no date, or one from now on. Times count if they have full five minutes:
    others may be those of a visit.
    """
    if not _DATE_ALONE.search(text) or is_from_now(text):
        return None
    numbers: list[str] = []
    months: list[str] = []
    times: list[str] = []
    for part in _PART_OF_DATE.finditer(text):
        if part[1] is not None:
            times += [part[1]] if part[1][-1] in "05" and not part[2] else []
        elif (month := MONTHS.get(part[0].casefold())) is not None:
            months.append(str(month))
        else:
            numbers.append(part[0].lstrip("0"))
    if numbers and len(numbers[0]) == _OF_YEAR:
        # 2024-05-03: only the first number says that the day comes last.
        numbers.reverse()
    days = [each for each in numbers if len(each) < _OF_YEAR]
    years = [each for each in numbers if len(each) >= _OF_YEAR]
    return " ".join([*days, *months, *years, *sorted(times)])


def is_dated_byline(label: str, value: str) -> bool:
    """Return whether a value is a date, and its label the name of the page's author."""
    if date_of_event(value) is None or _EVENT.match(label):
        return False
    if _BY_SOMEBODY.match(label):
        return True
    if _OF_DATE.search(label):
        return False
    words = label.split()
    if len(words) == 1:
        return label.casefold() in _WRITERS
    return len(words) <= _MAX_NAME_WORDS and all(word[0].isupper() for word in words)


def has_byline(line: str) -> bool:
    """Return whether a line with a date names the page's author, and not an event on that date."""
    if _WRITTEN.match(line):
        return True
    name, parted, date = line.replace("|", "·").partition("·")
    # The date of an event has its day of the week, or a time.
    is_of_event = _OF_WEEK.search(date) or _FULL_TIME.search(date)
    return bool(parted) and not is_of_event and is_dated_byline(name.strip(), date.strip())


def n_columns(text: str) -> int:
    """Return how many columns a text takes up."""
    return len(text) + sum(character >= _FIRST_WIDE for character in text)


def telling_value(label: str, value: str) -> str | None:
    """Return a value behind a label if it is what a page is about; dates in one format.

    ``None`` for counters, dates of visits, sentences, and empty values.
    """
    width = n_columns(value)
    if not 0 < width <= _MAX_DATE or value.endswith(_SENTENCE_ENDS):
        return None
    if _NOW.fullmatch(value) and _AVAILABLE.fullmatch(label):
        return value
    if not any(map(str.isalpha, label)) or _is_counted(label, value):
        return None
    date = date_of_event(value)
    if date is not None:
        return date if is_before_web(value) or _is_label_of_event(label) else None
    is_told = width <= _MAX_WIDTH and (
        _EVENT.match(label)
        or not (is_byline(label) or is_label_of_counter(label, value) or _has_date(label, value))
    )
    return value if is_told else None


def _is_counted(label: str, value: str) -> bool:
    """Return whether a value is that of a counter: "51 views", or "3 days" behind "Ends in"."""
    if not names_a_counter(value):
        return False
    if not any(map(str.isdigit, value)):
        return _PRESENCE.fullmatch(value) is not None and label.casefold() == "status"
    return _OF_COUNT.search(label) is not None or not _MEASURE.fullmatch(value)


def _has_date(label: str, value: str) -> bool:
    """Return whether a value has a date in it, or a time that may be that of a visit."""
    if not _CLOCK_ALONE.fullmatch(value):
        return has_date(value)
    if _OF_CLOCK.search(label) and not _OF_LENGTH.search(label):
        return True
    return is_date_of_visit(label)


def _is_label_of_event(label: str) -> bool:
    """Return whether a date behind a label may be that of an event, not of the page or a visit."""
    if _EVENT.match(label) or _ANY_DATE.fullmatch(label):
        return True
    return not (is_date_of_visit(label) or is_byline(label))
