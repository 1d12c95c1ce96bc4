"""Tells from 16 bytes of each of two texts whether one has words in place of the other's.

Values (``values.py``) are numbers, names and rare words; their alignment does not show what stands
where only one text has a value: nothing, or a common word. Of "Mr Smith" and "Mr Young" only the
first is a value, "three rooms" and "four rooms" have none. So the words of a text are counted, and
their hashes are added up. Texts with equally many words but another sum have words in place of
others; so has a text with more names but fewer other words.

The order of words does not matter. Numbers do not count, nor do words of dates and times: "3 hours
ago" is "2 days ago" later.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .idf import token_hashes
from .titles import LIST_KINDS, NEGATIONS
from .values import FIRST_NUMBER, MONTHS, Codes

#: Version of the sums, for the recipe.
VERSION = "words-1"

_SUMS = struct.Struct("<IIII")
SIZE = _SUMS.size
#: Sums of an empty text.
NO_WORDS = bytes(SIZE)
_LOW_BITS = 0xFFFF_FFFF

#: Words of dates and times, which change with every fetch.
_TIME_WORDS = frozenset(
    "am pm ago now today yesterday tomorrow sec secs second seconds min mins minute minutes hr hrs "
    "hour hours day days week weeks month months year years "
    "jetzt heute gestern sekunde sekunden minuten stunde stunden tag tage tagen woche wochen monat "
    "monate monaten jahr jahre jahren "
    "hier seconde secondes heure heures jour jours semaine semaines mois "
    "hoy ayer segundo segundos minuto minutos hora horas día días semana semanas mes meses año "
    "años oggi ieri secondi minuti ora ore giorno giorni settimana settimane mese mesi anno anni "
    "hoje ontem dia dias mês anos vandaag gisteren uur dag dagen weken maand maanden jaar "
    "dziś wczoraj minut minuty godzin godziny godzinę dni tygodni tydzień miesięcy miesiąc lat rok "
    "сегодня вчера секунд секунды минут минуты минуту час часа часов день дня дней неделю недели "
    "недель месяц месяца месяцев год года лет "
    "bugün dün saniye dakika saat gün hafta yıl "
    "اليوم أمس دقيقة دقائق ساعة ساعات يوم أيام أسبوع أسابيع شهر أشهر سنة سنوات "
    "秒 秒钟 秒前 分 分钟 分钟前 分前 小时 小时前 時間 時間前 天 天前 日 日前 周 週間 个月 月 "
    "年 前 今天 昨天 前天 刚刚 "
    "초 분 시간 일 주 개월 년 전 오늘 어제".split()
)
_NOT_COUNTED = LIST_KINDS | _TIME_WORDS | frozenset(MONTHS.split())
#: Of a word, what is left without its ending: "comment" and "comments" are one after a counter.
_STEM = 4
#: Longest name in whose place there are other words; more is a line that only one page has.
_MAX_NAME = 4


class WordHashes(NamedTuple):
    """What each token of a vocabulary adds to the sums; 0 if it does not count.

    :ivar whole: shape ``(n,)``, hashes of the words.
    :ivar stems: shape ``(n,)``, hashes of the words without their endings.
    """

    whole: npt.NDArray[np.uint32]
    stems: npt.NDArray[np.uint32]


def word_hashes(tokens: Sequence[str], hashes: npt.NDArray[np.uint64]) -> WordHashes:
    """Return the hashes of those tokens that count: all but numbers and words of times.

    A code that begins with a letter, such as CO2, is a word.

    :param hashes: of the tokens, see :func:`~scrapy_neardup.text.idf.token_hashes`.
    """
    counts = [not (t[:1].isdigit() or t in _NOT_COUNTED) for t in tokens]
    stems = token_hashes([token.removesuffix("s")[:_STEM] for token in tokens])
    return WordHashes(*(np.where(counts, _short(each), 0) for each in (hashes, stems)))


def _short(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """Return 32 bits of each hash, not 0."""
    short: npt.NDArray[np.uint32] = np.maximum(hashes & np.uint64(_LOW_BITS), 1).astype(np.uint32)
    return short


_NEGATION_HASHES = frozenset(_short(token_hashes(sorted(NEGATIONS))).tolist())


class WordSums(NamedTuple):
    """The words of a text, counted and added up.

    :ivar names: how many are values: names and rare words.
    :ivar others: how many are not.
    :ivar whole: sum of their hashes, 32 bits.
    :ivar stems: sum of the hashes of their stems, 32 bits.
    """

    names: int
    others: int
    whole: int
    stems: int

    @classmethod
    def from_bytes(cls, data: bytes) -> WordSums:
        """Return the sums that were packed."""
        return cls(*_SUMS.unpack(data))


def sums_of(
    hashes: WordHashes, codes: Codes, counts: npt.NDArray[np.intp], ends: Sequence[int]
) -> list[bytes]:
    """Return the packed sums of several texts.

    :param hashes: of the distinct tokens of all texts.
    :param codes: their value codes, see :func:`~scrapy_neardup.text.values.value_codes`.
    :param counts: how often each is in its text.
    :param ends: index at which the tokens of each text end.
    """
    is_word = hashes.whole != 0
    is_name = is_word & (codes != 0) & (codes < FIRST_NUMBER)
    added = (is_name, is_word & ~is_name, hashes.whole, hashes.stems)
    at = [0, *ends]
    columns = []
    for each in added:
        # Sums may exceed 64 bits; the lower 32 are right all the same.
        totals = np.zeros(codes.size + 1, np.uint64)
        np.cumsum(each.astype(np.uint64) * counts.astype(np.uint64), out=totals[1:])
        columns.append((np.diff(totals[at]) & np.uint64(_LOW_BITS)).tolist())
    return [_SUMS.pack(*row) for row in zip(*columns, strict=True)]


def words_were_replaced(
    sums: WordSums, others: WordSums, *, beside_numbers: bool, longest_added: int
) -> bool:
    """Has one of two similar texts words in place of words of the other one?

    :param beside_numbers: whether numbers differ as well. Words that differ only in their endings
        may then belong to a counter.
    :param longest_added: see :class:`~scrapy_neardup.text.value_differences.Difference`. With more
        values than a name has it is a sentence.
    """
    if beside_numbers and sums.stems == others.stems:
        return False
    names, common = sums.names - others.names, sums.others - others.others
    if names == common == 0:
        return sums.whole != others.whole
    if names * common < 0:
        return max(abs(names), abs(common), longest_added) <= _MAX_NAME
    return abs(names + common) == 1 and _adds_negation(sums, others)


def _adds_negation(sums: WordSums, others: WordSums) -> bool:
    """Has one text all words of the other one, and one more, which is a negation?"""
    shorter, longer = sorted((sums, others), key=lambda each: each.names + each.others)
    return (longer.whole - shorter.whole) & _LOW_BITS in _NEGATION_HASHES
