"""Knows the labels of what copies of a page differ in: bylines, dates, and counters.

A value behind another label, such as "Size: 42", says what the page is about.
"""

from __future__ import annotations

import re

from ...text.counters import names_a_counter

_BYLINE = re.compile(
    r"(?:last |written )?"
    r"(?:by|author|autor|auteur|автор|date|datum|published|posted|updated|source|quelle)|"
    r".*(?:作者|著者|记者|記者|编辑|編集|来源|來源|时间|時間|日期|公開日|更新日)",
    re.IGNORECASE,
)
#: Beginnings of labels of dates on which something takes place; others may be those of a visit.
_EVENT = re.compile(
    r"(?:when|start|begin|event|end(?:s|ing)?\b|doors|departure|arrival|check.?in|check.?out|due|"
    r"deadline|closing date|opening|appointment|expir|born|died|birth|"
    r"wann|beginn|termin|anfang|ende\b|einlass|abfahrt|ankunft|anreise|abreise|frist|geboren|"
    r"quand|début|fin\b|départ|arrivée|cuándo|inicio|comienz|salida|llegada|quando|inizio|fine\b|"
    r"partenza|arrivo|início|partida|chegada|wanneer|aanvang|kiedy|początek|odjazd|"
    r"когда|начало|конец|отправление|прибытие|开始|開始|结束|結束|开幕|举办|日時|開催|出発|到着|截止)",
    re.IGNORECASE,
)
#: A date or a time, or a year alone.
_DATE = re.compile(
    r"(?<![\d.])(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)?\d\d)(?![\d.]*\d)|"
    r"\d:\d\d|(?<![\w/-])(?:19|20)\d\d(?![\w/-])|\d ?[年月日时時分년월일시분]"
)

#: Columns of the longest value, and the first character of two columns.
_MAX_WIDTH, _FIRST_WIDE = 24, "\u2e80"
_SENTENCE_ENDS = ("!", "?", "。", "！", "？")


def is_byline(label: str) -> bool:
    """Is it a label of who wrote a page, and when?"""
    return _BYLINE.fullmatch(label) is not None


def has_date(text: str) -> bool:
    """Has a text a date, a time or a year in it?"""
    return _DATE.search(text) is not None


def tells_pages_apart(label: str, value: str) -> bool:
    """Is a value behind a label what a page is about, and no counter, date of a visit, or sentence?

    Empty ones tell nothing.
    """
    width = len(value) + sum(character >= _FIRST_WIDE for character in value)
    if not 0 < width <= _MAX_WIDTH or value.endswith(_SENTENCE_ENDS):
        return False
    if not any(map(str.isalpha, label)) or is_byline(label) or names_a_counter(label):
        return False
    return not has_date(value) or _EVENT.match(label) is not None
