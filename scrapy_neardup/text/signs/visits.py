"""Tells which numbers and dates of a text another visit may show otherwise.

The words near them say so: those of counters, and those before the date on which a page was
changed, fetched or printed. A word such as "visit" or "current" alone says nothing, for "the Queen
will visit the town on 3 May".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..characters import CodePoints, are_in
from ..counters import FIRST_WIDE, NEAR_NUMBERS, OF_COUNTERS, OF_TIMES, ORDINARY, WORD, Words
from ..dates import are_near
from ..known_words import MONTHS, WEEKDAYS
from ..normalization import normalize, normalized_words

#: Words right before the date on which a page was changed, fetched or printed, or of today.
_RIGHT_BEFORE_DATES = (
    "updat* modif* edited changed revised reviewed verified checked generated printed printout "
    "accessed retrieved fetched crawled downloaded archived indexed compiled built rendered viewed "
    "refreshed scanned snapshot synced today currently delivery ships shipping "
    "bearbeit* anmeldung änderung geändert gedruckt abgerufen abruf* ausdruck heute aktuali* "
    "erstellt stand lieferung zuletzt "
    "jour imprimé consulté* aujourd livraison edición sesión acceso impreso consultado hoy entrega "
    "aggiorna* stampato oggi consegna alteração atualiza* acesso hoje "
    "wijzig* bijgewerkt gesprint afgedrukt vandaag zaktualiz* dziś dzisiaj wydruk* dostępu "
    "обновл* изменен* изменён* обращения сегодня распечатан* доставка "
    "güncelle* bugün تحديث اليوم"
).split()
#: The same with other words between, and those of scripts without spaces.
_SOME_WAY_BEFORE_DATES = (
    "copyright 更新 编辑 編輯 打印 列印 访问 當前 当前 现在 現在 今天 今日 配送 发货 "
    "閲覧 本日 編集 印刷 업데이트 수정 편집 현재 오늘 배송"
).split()
#: Words that say so in a label, but within a text of its subject as often: "he joined on".
_OF_EVENTS = (
    "created posted publish* submitted added listed uploaded registered joined seen logged written "
    "deliver* dispatch* veröffentlicht gepostet geschrieben registriert publié* publicado* "
    "pubblicat* opublikowan* опубликован* добавлен* "
    "发布 發布 发表 發表 发帖 注册 公開 投稿 등록 작성 게시"
).split()
_OF_DATES = Words(*_RIGHT_BEFORE_DATES, *_SOME_WAY_BEFORE_DATES, *_OF_EVENTS)
_NEXT_TO_DATES, _BEFORE_DATES = Words(*_RIGHT_BEFORE_DATES), Words(*_SOME_WAY_BEFORE_DATES)
#: Words of which one of the first and one of the second kind in a row say so, as in "as of", "last
#: online" and "local time".
_IN_A_ROW = (
    (
        Words(*"last latest printed retrieved downloaded".split()),
        Words(
            *"active online backup login visit visited view check change edit review sync from "
            "updat* modif* edited changed revised reviewed verified checked accessed viewed "
            "refresh* generated built synced crawled".split()
        ),
    ),
    (
        Words(*"as current local server delivered dispatched aktuell aktuelle текущ*".split()),
        Words(*"of time date clock by zeit uhrzeit время дата".split()),
    ),
)
#: Words before the date up to which something lasts, or is due.
_UNTIL = frozenset("until till til bis jusqu hasta fino até tot до do".split())
#: A label of something that is due.
_DUE = re.compile(r"\b(?:to be|must be) .*|.*\b(?:by|until|till|bis)\W*", re.IGNORECASE)
#: Years in which no page was fetched.
_BEFORE_WEB = re.compile(r"(?<!\d)1(?:[0-8]\d\d|9[0-8]\d)(?!\d)")
_DAYS = normalized_words(WEEKDAYS)
#: Units of amounts that no server counts, behind a number or at its end.
_UNITS = (
    "ml cl dl mg mcg µg g kg oz lb lbs mmol mm cm мл мг г кг мм см مل مجم كجم "
    "毫升 毫克 千克 公斤 毫米 厘米"
).split()
_MEASURES = re.compile(rf"\d*(?:{'|'.join(map(normalize, _UNITS))})")
#: What ends a sentence; the shortest word before a full stop that is no abbreviation.
_DOT, _BLANK = ord("."), ord(" ")
_ENDS, _MIN_WORD = np.array(list(map(ord, ".!?。！？")), np.uint32), 3
#: Largest distance in tokens of a number from a word that says that it is a counter's; of a date
#: from one before it, and from one right before it; and of a year from the rest of a date.
_MAX_GAP, _MAX_DATE_GAP, _MAX_SHORT_GAP, _MAX_YEAR_GAP = 3, 6, 2, 3
#: Largest number of words and numbers in the rest of a date.
_MAX_REST = 6
#: Bits of what a token says of a number near it, of a date some way or right behind it, and of a
#: number before it; whether it is a piece of a word that says the first or the second, a part of a
#: date, an early year, or a word behind which none of these reach; the kinds of words in a row;
#: and whether it is a unit of an amount.
_NEAR, _BEFORE_DATE, _NEXT_TO_DATE, _AFTER_NUMBER, _PIECE, _PIECE_OF_DATE, _PART, _EARLY, _STOP = (
    1 << bit for bit in range(9)
)
_FIRSTS, _SECONDS, _UNIT = (1 << 9, 1 << 10), (1 << 11, 1 << 12), 1 << 13
#: What a token says of those around it, see :func:`neighbours_of`.
Neighbours = npt.NDArray[np.uint16]


def neighbours_of(tokens: Sequence[str]) -> Neighbours:
    """Return what each token of a normalised text says of numbers near it.

    For :func:`are_of_visits`.
    """
    found = np.zeros(len(tokens), np.uint16)
    for place, token in enumerate(tokens):
        is_near = token in NEAR_NUMBERS or (token in OF_COUNTERS and token not in ORDINARY)
        found[place] = (
            is_near * _NEAR
            + (token in OF_TIMES) * _AFTER_NUMBER
            + (token in OF_COUNTERS.pieces or token in NEAR_NUMBERS.pieces) * _PIECE
            + (_MEASURES.fullmatch(token) is not None) * _UNIT
            + _says_of_dates(token)
        )
    return found


def _says_of_dates(token: str) -> int:
    """Return the bits of what a token says of a date."""
    is_number = token[:1].isdigit()
    found = (
        (token in _BEFORE_DATES) * _BEFORE_DATE
        + (token in _NEXT_TO_DATES) * _NEXT_TO_DATE
        + (token in _BEFORE_DATES.pieces) * _PIECE_OF_DATE
        + (is_number or token in MONTHS or token in _DAYS) * _PART
        + (is_number and _BEFORE_WEB.fullmatch(token) is not None) * _EARLY
        + (token in _UNTIL) * _STOP
    )
    for (firsts, seconds), first, second in zip(_IN_A_ROW, _FIRSTS, _SECONDS, strict=True):
        found += (token in firsts) * first + (token in seconds) * second
    return found


def are_of_visits(
    neighbours: Neighbours, starts: npt.NDArray[np.bool_] | None = None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which tokens another visit may show otherwise: if they are numbers, and if of dates.

    :param neighbours: of the tokens in reading order, see :func:`neighbours_of`.
    :param starts: whether each token begins a sentence, if known.
    """
    if starts is None:
        starts = np.zeros(neighbours.size, bool)
    of_numbers = _around(_have(neighbours, _NEAR, _PIECE), starts, _MAX_GAP)
    is_time = neighbours & _AFTER_NUMBER > 0
    # Of 0.3 seconds, both parts of the number.
    for gap in (1, 2):
        of_numbers[:-gap] |= is_time[gap:]
    # "10 ml three times daily" counts nothing, nor does "0.5 mg".
    is_unit = neighbours & _UNIT > 0
    of_numbers &= ~is_unit
    for gap in (1, 2):
        of_numbers[:-gap] &= ~is_unit[gap:]
    is_before = _have(neighbours, _BEFORE_DATE, _PIECE_OF_DATE)
    for first, second in zip(_FIRSTS, _SECONDS, strict=True):
        are_seconds = (neighbours & second > 0) & ~starts
        is_before[1:] |= are_seconds[1:] & (neighbours[:-1] & first > 0)
    is_stop = starts | (neighbours & _STOP > 0)
    of_dates = _reached(is_before, is_stop, _MAX_DATE_GAP)
    of_dates |= _reached(neighbours & _NEXT_TO_DATE > 0, is_stop, _MAX_SHORT_GAP)
    of_dates = _with_rest(of_dates, neighbours & _PART > 0)
    return of_numbers, of_dates & ~are_near(neighbours & _EARLY > 0, _MAX_YEAR_GAP)


def _around(
    are_words: npt.NDArray[np.bool_], starts: npt.NDArray[np.bool_], gap: int
) -> npt.NDArray[np.bool_]:
    """Return which tokens are within so many places of a word, in the same sentence.

    :param are_words: whether each token is such a word; it counts itself.
    :param starts: whether each token begins a sentence.
    """
    if not are_words.any():
        return are_words
    ends = np.append(starts[1:], False)
    behind = _reached(are_words, starts, gap)
    before = _reached(are_words[::-1], ends[::-1], gap)[::-1]
    return are_words | behind | before


def _reached(
    are_words: npt.NDArray[np.bool_], are_stops: npt.NDArray[np.bool_], gap: int
) -> npt.NDArray[np.bool_]:
    """Return which tokens are behind a word by up to so many places, without a stop between."""
    places = np.arange(are_words.size)
    words = np.maximum.accumulate(np.where(are_words, places, -gap - 1))
    stops = np.maximum.accumulate(np.where(are_stops, places, -gap - 1))
    found: npt.NDArray[np.bool_] = (places - words <= gap) & (places > words) & (stops <= words)
    return found


def _with_rest(
    of_dates: npt.NDArray[np.bool_], are_parts: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return the parts of dates whose first ones are reached, with a word between two at most."""
    found = of_dates & are_parts
    if found.any():
        for _ in range(_MAX_REST):
            behind = found.copy()
            behind[1:] |= found[:-1]
            behind[2:] |= found[:-2]
            found = behind & are_parts
    return found


def sentence_starts(
    codes: CodePoints, starts: npt.NDArray[np.intp], ends: npt.NDArray[np.intp], says: Neighbours
) -> npt.NDArray[np.bool_]:
    """Return which tokens of a text begin a sentence.

    :param codes: the text.
    :param starts: where each token begins in it, and ``ends``: where each ends.
    :param says: their :func:`neighbours_of`: "3. Mai" and "Thu. 3 May" are one sentence.
    """
    found = np.zeros(starts.size, bool)
    if not codes.size:
        return found
    behind, second = (codes.take(ends[:-1] + step, mode="clip") for step in (0, 1))
    is_full = are_in(behind, _ENDS) & ((second == _BLANK) | (behind >= ord(FIRST_WIDE)))
    is_short = ends[:-1] - starts[:-1] < _MIN_WORD
    found[1:] = is_full & ~((behind == _DOT) & (is_short | (says[:-1] & _PART > 0)))
    return found


def _have(neighbours: Neighbours, word: int, piece: int) -> npt.NDArray[np.bool_]:
    """Return where a word says something, or the second of two pieces in a row does."""
    found: npt.NDArray[np.bool_] = neighbours & word > 0
    pieces = neighbours & piece > 0
    found[1:] |= pieces[1:] & pieces[:-1]
    return found


def is_date_of_visit(text: str) -> bool:
    """Return whether a short text, with or without its date, says that it is that of a visit."""
    if _BEFORE_WEB.search(text) or _DUE.fullmatch(text):
        return False
    words = WORD.findall(normalize(text))
    is_told = any(word in _OF_DATES for word in words)
    return is_told or any(
        first in firsts and second in seconds
        for firsts, seconds in _IN_A_ROW
        for first, second in pairwise(words)
    )


def is_before_web(date: str) -> bool:
    """Return whether a date is of a year in which no page was fetched."""
    return _BEFORE_WEB.search(date) is not None
