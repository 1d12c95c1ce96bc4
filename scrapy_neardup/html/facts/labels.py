"""Knows the labels of what copies of a page differ in: bylines, dates, and counters.

A value behind another label, such as "Size: 42", says what the page is about.
"""

from __future__ import annotations

import re

from ...text.counters import is_label_of_counter, names_a_counter
from ...text.known_words import MONTHS

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
_MONTH = rf"(?<!\w)(?:{'|'.join(MONTHS.split())})(?!\w)"
#: Dates, and times of a clock or from now. A year alone says what the page is about.
_DATE = re.compile(
    r"(?<![\d.])\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?![\d.]*\d)|"
    r"(?<![\d.])\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d\d(?![\d.]*\d)|"
    rf"{_MONTH}.*\d|\d.*{_MONTH}|"
    r"(?<!\d)\d{1,2}:\d\d(?!\d)|\d ?[年月日년월일]|\d ?[时時点點시] ?\d|\d.*前|"
    r"\b(?:ago|vor \w+ \w+|il y a|hace|назад|now)\b|"
    r"\b(?:yesterday|today|gestern|heute|hier|вчера|сегодня)\b|منذ|昨[天日]|今[天日]|刚刚",
    re.IGNORECASE,
)

#: Columns of the longest value, and the first character of two columns.
_MAX_WIDTH, _FIRST_WIDE = 24, "\u2e80"
_SENTENCE_ENDS = ("!", "?", "。", "！", "？")


def is_byline(label: str) -> bool:
    """Is it a label of who wrote a page, and when?"""
    return _BYLINE.fullmatch(label) is not None


def has_date(text: str) -> bool:
    """Has a text a date in it, or a time?"""
    return _DATE.search(text) is not None


def tells_pages_apart(label: str, value: str) -> bool:
    """Is a value behind a label what a page is about, and no counter, date of a visit, or sentence?

    Empty ones tell nothing.
    """
    width = len(value) + sum(character >= _FIRST_WIDE for character in value)
    if not 0 < width <= _MAX_WIDTH or value.endswith(_SENTENCE_ENDS):
        return False
    # "Ends in: 3 days" is a countdown.
    if names_a_counter(value) or not any(map(str.isalpha, label)):
        return False
    if _EVENT.match(label):
        return True
    return not (is_byline(label) or is_label_of_counter(label, value) or has_date(value))
