"""Tells from 16 bytes of each of two texts whether one has words in place of the other's.

Values (``values.py``) are numbers, names and rare words; their alignment does not show what stands
where only one text has a value: nothing, or a common word. Of "Mr Smith" and "Mr Young" only the
first is a value, "three rooms" and "four rooms" have none. So the words of a text are counted:
names, choices and plain words. Choices are common words that forms are filled in with, such as
number words, months, days of the week, letters, codes, sizes, "yes" and "no"; their hashes are
added up, and so are those of each with the choice before it: "three bedrooms and two bathrooms" is
not the other way round. Plain words may be edited without a difference.

Where other words stand does not matter, but a number before a word of a counter belongs to it, as
in "two comments", and a choice before a time that is over or left, as in "three hours ago" and
"vor drei Tagen". Two years of prison, and a house for four guests, have choices. Words of counters
and times do not count, nor do the names of kinds of lists. Numbers are counted for themselves:
"room 12" may be "room Young" elsewhere. Mr Day is neither a time nor a counter.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .counters import is_of_counter, is_only_of_counter
from .dates import MAX_DATE_GAP, are_near
from .idf import token_hashes
from .known_words import MONTHS, MORE_NUMBERS, WEEKDAYS
from .normalization import normalized_words
from .titles import LIST_KINDS, NEGATIONS
from .value_differences import Difference
from .values import FIRST_NUMBER, Codes

#: Version of the sums, for the recipe.
VERSION = "words-9"

_SUMS = struct.Struct("<HIIIH")
SIZE = _SUMS.size
#: Sums of an empty text.
NO_WORDS = bytes(SIZE)
_LOW_BITS = 0xFFFF_FFFF
_SUM_BITS, _MAX_SUM = 16, 0xFFFF
#: How many of the sums count words.
_N_KINDS = 3
#: A text with more names or numbers than this counts as one with as many.
_MAX_COUNT = 0xFFFF
#: Longest name in whose place there are other words; a longer stretch is a sentence.
_MAX_NAME = 4

_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty hundred thousand "
    "first second third fourth fifth sixth seventh eighth ninth tenth single double triple "
    "eins ein eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig "
    "dreissig hundert erste ersten zweite zweiten dritte dritten vierte vierten fünfte fünften "
    "un une deux trois quatre cinq sept huit neuf dix onze douze vingt trente cent premier "
    "première deuxième troisième quatrième cinquième "
    "uno una dos tres cuatro cinco seis siete ocho nueve diez once doce veinte primero primera "
    "segundo segunda tercero tercera cuarto cuarta quinto quinta due tre quattro cinque sei sette "
    "otto nove dieci primo prima secondo seconda terzo terza um uma dois duas três quatro sete "
    "oito dez een twee drie vier vijf zes zeven acht negen tien eerste tweede derde vierde "
    "jeden dwa dwie dwoje trzy cztery pięć sześć siedem osiem dziewięć dziesięć "
    "один одна два две три четыре пять шесть семь восемь девять десять первый первая втором "
    "второй вторая третий третья третьем четвёртый четвертый пятый "
    "bir iki üç dört beş altı yedi sekiz dokuz on واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية "
    "تسعة عشرة الأول الثاني الثالث الرابع الخامس"
)
#: Words that multiply or halve what stands behind them, as a dose.
_MULTIPLES = (
    "half twice thrice halb halbe halben einmal zweimal dreimal viermal fünfmal demi demie "
    "medio media mezzo mezza halve pół дважды трижды половина половину 半"
)
_OTHER_CHOICES = (
    "yes no none xs xl xxl xxxl small medium large left right front rear upper lower top bottom "
    "male female men women boys girls man woman boy girl allowed permitted forbidden prohibited "
    "welcome tolerated available unavailable required optional included excluded new used won "
    "lost married unmarried least most minimum maximum over under before after must should "
    "mindestens höchstens müssen sollen dürfen "
    "ja nein links rechts vorn vorne hinten oben unten klein mittel groß männlich weiblich herren "
    "damen erlaubt verboten gestattet möglich neu gebraucht inklusive exklusive gross "
    "oui non gauche droite petit moyen grand homme femme autorisé interdit neuf occasion "
    "sí izquierda derecha pequeño mediano grande hombre mujer permitido prohibido nuevo usado "
    "sinistra destra piccolo medio uomo donna vietato nuovo usato sim não esquerda direita homem "
    "mulher novo nee rechts tak nie да нет левый правый мужской женский разрешено запрещено новый "
    "نعم لا 是 否 有 无 無 男 女 左 右 前 后 後 上 下 大 中 小 可以 不可以 允许 禁止 能 不能 "
    "可 不可 新 旧 はい いいえ 예 아니오"
)
_CHOICES = NEGATIONS | normalized_words(
    f"{_NUMBER_WORDS} {MORE_NUMBERS} {_MULTIPLES} {_OTHER_CHOICES} {WEEKDAYS}"
)
#: Choices that are no numbers of what a counter counts: "the second visit", "not shared".
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth single double triple "
    "erste ersten zweite zweiten dritte dritten vierte vierten fünfte fünften premier première "
    "deuxième troisième quatrième cinquième primero primera segundo segunda tercero tercera "
    "cuarto cuarta quinto quinta primo prima secondo seconda terzo terza eerste tweede derde "
    "vierde первый первая втором второй вторая третий третья третьем четвёртый четвертый пятый "
    "الأول الثاني الثالث الرابع الخامس första andra fire første anden andet ensimmäinen toinen "
    "primeiro primeira deu segon segona primer první druhá druhý třetí πρώτο πρώτη birinci ikinci "
    "друга други първи перший pirmais pirmā otrā pertama kedua ketiga اول دوم سوم"
)
#: Negations that stand in place of a number: "no comments".
_NOTHING = (
    "no none kein keine keinen aucun aucune ningún ninguno ninguna nessun nessuno nessuna nenhum "
    "nenhuma geen нет ingen inga inget žádný žádné žádná brak 无 無 没有 なし 없음"
)
#: Choices that may be the number of a counter.
_COUNTS = normalized_words(
    f"{_NUMBER_WORDS} {MORE_NUMBERS} {_MULTIPLES} {_NOTHING}"
) - normalized_words(_ORDINALS)
_TIMES = frozenset(
    "am pm sec secs seconds min mins minute minutes hr hrs hour hours day days week weeks "
    "month months year years sekunden minuten stunde stunden tag tage tagen woche wochen monat "
    "monate monaten jahr jahre jahren seconde secondes heure heures jour jours semaine semaines "
    "mois ans segundos minuto minutos hora horas día días semana semanas mes meses año años "
    "secondi minuti ora ore giorno giorni settimana settimane mese mesi anni dia dias mês anos "
    "uur dag dagen weken maand maanden jaar minut minuty godzin godziny dni tygodni miesięcy lat "
    "секунд минут минуты часа часов дня дней недели недель месяца месяцев года лет "
    "dakika saat gün hafta yıl دقيقة دقائق ساعة ساعات يوم أيام أسبوع أسابيع شهر أشهر سنة سنوات "
    "秒 秒前 分钟 分钟前 分 分前 小时 小时前 時間 時間前 天 天前 日 日前 周前 个月 个月前 年前 "
    "초 분 시간 일 주 개월 년 "
    "dagar timmar minuter veckor månader år dage dager timer uger uker måneder minutter päivää "
    "tuntia minuuttia viikkoa kuukautta vuotta dny hodin hodinami týdny zile ani ngày giờ phút "
    "tuần tháng днів дні години годин хвилин тижні роки ημέρες μέρες ώρες ימים שעות דקות روز "
    "ساعت دقیقه दिन घंटे मिनट".split()
)
#: Of a time of day.
_CLOCK = frozenset(("am", "pm"))
#: A letter, a code that begins with letters and has digits, a Roman number, and a Chinese one.
_CODE = re.compile(
    r"[^\W\d_\u2e80-\U0003ffff]|[^\W\d_]+\d\w*|x{0,3}(?:ix|iv|v?i{1,3}|v)|x{1,3}|"
    r"第?[〇零一二两兩三四五六七八九十百千万萬]+"
)
#: Words before the name of a person.
_ADDRESSES = frozenset(
    "mr mrs ms miss mister dr prof herr herrn frau fräulein monsieur madame mme mlle señor señora "
    "signor signora senhor senhora mevrouw meneer".split()
)
#: Words behind a time that was, or is left, and before one; the latter count as plain words.
_AGO = frozenset(
    "ago remaining назад тому geleden temu fa atrás önce 전 sedan siden sitten trước पहले "
    "پیش".split()
)
_BEFORE = frozenset("vor hace há faz منذ قبل před acum преди πριν לפני".split())
_UNCOUNTED, _OF_COUNTER, _OF_TIME, _OF_PAST = range(4)
_PLAIN, _PLAIN_BEFORE_TIME, _BEFORE_NAME = range(4, 7)
_NAME, _NUMBER, _FIRST_CHOICE = 7, 8, 12
#: The last bits of the mark of a choice: whether it is a month or a day of the week, and a month.
_OF_CALENDAR, _OF_MONTH = 1, 2
_WEEKDAYS = normalized_words(WEEKDAYS)


def word_marks(
    tokens: Sequence[str], hashes: npt.NDArray[np.uint64], codes: Codes
) -> npt.NDArray[np.uint32]:
    """Return what each token is: none that counts, of a counter, plain, a name, number or choice.

    The mark of a choice is its hash.

    :param hashes: of the tokens, see :func:`~scrapy_neardup.text.idf.token_hashes`.
    :param codes: their value codes, see :func:`~scrapy_neardup.text.values.value_codes`.
    """
    kinds = np.where((codes != 0) & (codes < FIRST_NUMBER), _NAME, _PLAIN).astype(np.uint32)
    choices = _short(hashes)
    months = _short(token_hashes([str(MONTHS.get(token, 0)) for token in tokens]))
    for place, token in enumerate(tokens):
        if token[:1].isdigit():
            kinds[place] = _NUMBER
        elif token in LIST_KINDS:
            kinds[place] = _UNCOUNTED
        elif token in MONTHS:
            kinds[place] = months[place] | _OF_CALENDAR | _OF_MONTH
        elif (neighbour := _kind_of_neighbour(token)) is not None:
            kinds[place] = neighbour
        elif token in _CHOICES or _CODE.fullmatch(token):
            kinds[place] = choices[place] | (_OF_CALENDAR if token in _WEEKDAYS else 0)
        elif is_of_counter(token):
            kinds[place] = _OF_COUNTER if is_only_of_counter(token) else _UNCOUNTED
    return kinds


def _kind_of_neighbour(token: str) -> int | None:
    """Return what a token that stands beside times or names is, if it is one."""
    if token in _TIMES:
        # A time and 前 may be one token.
        return _OF_COUNTER if token in _CLOCK or token[-1] in "前" else _OF_TIME
    if token in _ADDRESSES:
        return _BEFORE_NAME
    if token in _BEFORE:
        return _PLAIN_BEFORE_TIME
    return _OF_PAST if token in _AGO else None


def _short(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    """Return 32 bits of each hash, the last two not set, at least the first mark of a choice."""
    low = hashes & np.uint64(_LOW_BITS - _OF_CALENDAR - _OF_MONTH)
    short: npt.NDArray[np.uint32] = np.maximum(low, _FIRST_CHOICE).astype(np.uint32)
    return short


#: The marks of choices that may be the number of a counter, ascending; shape ``(n,)``.
_MARKS_OF_COUNTS = np.unique(_short(token_hashes(sorted(_COUNTS))))
#: Marks of the letters of "a.m." and "p.m." ("M" is a size as well), and of those of "il y a".
_A, _P, _M, _Y, _LEFT, _FRONT = _short(token_hashes(["a", "p", "m", "y", "left", "前"]))


class WordSums(NamedTuple):
    """The words of a text, counted and added up.

    :ivar names: how many are values and no choices: names and rare words.
    :ivar choices: how many are choices.
    :ivar plain: how many are neither.
    :ivar chosen: sum of the choices' hashes, 16 bits, and before it that of their pairs, 16 bits.
    :ivar numbers: how many numbers and months of dates there are that each visit shows alike.
    """

    names: int
    choices: int
    plain: int
    chosen: int
    numbers: int = 0

    @classmethod
    def from_bytes(cls, data: bytes) -> WordSums:
        """Return the sums that were packed."""
        return cls(*_SUMS.unpack(data))


def sums_of(
    marks: npt.NDArray[np.uint32],
    numbers_of_visits: npt.NDArray[np.bool_],
    dates_of_visits: npt.NDArray[np.bool_],
) -> bytes:
    """Return the packed sums of a text.

    :param marks: of its tokens in reading order, see :func:`word_marks`.
    :param numbers_of_visits: whether each token, if it is a number, is one of a visit.
    :param dates_of_visits: whether each would be one of a date of a visit, see
        ``signs/visits.py``.
    """
    is_of_time = (marks[1:] == _M) & ((marks[:-1] == _A) | (marks[:-1] == _P))
    marks = marks.copy()
    marks[:-1][is_of_time] = marks[1:][is_of_time] = _OF_COUNTER
    is_uncounted = (marks[1:] < _PLAIN) & (marks[:-1] == _BEFORE_NAME)
    marks[1:][is_uncounted] = _PLAIN
    is_choice = (marks >= _FIRST_CHOICE) & ~_are_of_counters(marks)
    is_choice &= ~(dates_of_visits & (marks & _OF_CALENDAR > 0))
    is_plain = (marks >= _PLAIN) & (marks < _NAME)
    # The month of a date may be written as a number elsewhere; "sept" is also French for seven.
    is_month = (marks >= _FIRST_CHOICE) & (marks & _OF_MONTH > 0)
    is_month &= are_near(marks == _NUMBER, MAX_DATE_GAP)
    is_number = ((marks == _NUMBER) | is_month) & ~(numbers_of_visits | dates_of_visits)
    names, plain, numbers = map(int, map(np.count_nonzero, (marks == _NAME, is_plain, is_number)))
    chosen = marks[is_choice].astype(np.uint64)
    sums = _sum_of_pairs(chosen) << _SUM_BITS | _sum(chosen)
    names, numbers = min(names, _MAX_COUNT), min(numbers, _MAX_COUNT)
    return _SUMS.pack(names, chosen.size, plain, sums, numbers)


def _sum(hashes: npt.NDArray[np.uint64]) -> int:
    """Return the sum of the first bits of hashes of 32 bits, whose last ones say something."""
    return int((hashes >> np.uint64(32 - _SUM_BITS)).sum()) & _MAX_SUM


def _sum_of_pairs(hashes: npt.NDArray[np.uint64]) -> int:
    """Return the sum of the hashes of each two in a row, which their order changes."""
    pairs = hashes[:-1] << np.uint64(32) | hashes[1:]
    pairs = (pairs ^ pairs >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    return int((pairs >> np.uint64(64 - _SUM_BITS)).sum()) & _MAX_SUM


def _denials() -> dict[int, frozenset[int]]:
    """Return the sums of choices that deny or halve a text, by how many these are."""
    # "isn't" is the tokens "isn" and "t", "n'est" is "n" and "est".
    single = _short(token_hashes([*sorted(NEGATIONS), "t"])).astype(np.uint64)
    first = _short(token_hashes(["n", "ne"])).astype(np.uint64)
    doubled = (np.array([one, other]) for one in first for other in single)
    # "Half a" may stand in the place of one word.
    half, replaced = (
        _short(token_hashes(each)).astype(np.uint64) for each in (["half", "a"], ["one", "two"])
    )
    halved = {(_sum(half) - _sum(each)) & _MAX_SUM for each in replaced[:, None]}
    return {1: frozenset(map(_sum, single[:, None])) | halved, 2: frozenset(map(_sum, doubled))}


_DENIALS = _denials()
#: How many plain words may come with a negation.
_MAX_BESIDE_NEGATION = 2


def _are_of_counters(marks: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return which tokens, if they are choices, are the numbers of counters or of past times."""
    around = np.concatenate([[_UNCOUNTED] * 2, marks, [_UNCOUNTED] * 2])
    second_before, before, behind, second_behind = (
        around[:-4],
        around[1:-3],
        around[3:-1],
        around[4:],
    )
    is_past = (second_behind == _OF_PAST) | (second_behind == _LEFT) | (second_behind == _FRONT)
    is_past |= (before == _PLAIN_BEFORE_TIME) | ((before == _A) & (second_before == _Y))
    of_counters: npt.NDArray[np.bool_] = (behind == _OF_TIME) & is_past
    of_counters |= (behind == _OF_COUNTER) & _are_counts(marks)
    return of_counters


def _are_counts(choices: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return which choices may be the number of a counter, by their marks."""
    places = np.searchsorted(_MARKS_OF_COUNTS, choices)
    are_counts: npt.NDArray[np.bool_] = _MARKS_OF_COUNTS.take(places, mode="clip") == choices
    return are_counts


def choices_differ(sums: WordSums, others: WordSums) -> bool:
    """Return whether two similar texts have different choices, or one of them a negation more.

    A negation may take the place of a plain word, as in "with" and "without", or come with one or
    two, as in "ne … pas". Of "n't" and "n' … pas" a letter is left, which is a choice as well.
    "Half a" may take the place of a number. A single "twice" more may be that of "Read twice".
    """
    if sums[:3] == others[:3]:
        return sums.chosen != others.chosen
    fewer, more = sorted((sums, others), key=lambda each: each.choices)
    if more.names != fewer.names or not -1 <= more.plain - fewer.plain <= _MAX_BESIDE_NEGATION:
        return False
    denials = _DENIALS.get(more.choices - fewer.choices, frozenset())
    return (more.chosen - fewer.chosen) & _MAX_SUM in denials


def name_was_replaced(sums: WordSums, others: WordSums, found: Difference) -> bool:
    """Return whether one of two similar texts has names or numbers in place of as many words.

    It has more names and fewer other words, or more numbers and fewer names and words. If values
    were added in several places, or many in one, both texts were edited.

    :param found: how their values differ.
    """
    names = sums.names - others.names
    rest = sums.choices + sums.plain - others.choices - others.plain
    is_short = max(abs(names), found.longest_added) <= _MAX_NAME and found.added <= 1
    is_named = names != 0 and names == -rest
    return is_short and (is_named or _number_was_replaced(sums, others, found))


def _number_was_replaced(sums: WordSums, others: WordSums, found: Difference) -> bool:
    """Return whether one of two similar texts has numbers in place of as many words."""
    fewer, more = sorted((sums, others), key=lambda each: each.numbers)
    numbers = more.numbers - fewer.numbers
    words = sum(fewer[:_N_KINDS]) - sum(more[:_N_KINDS])
    # A number such as 1.5 has two parts.
    is_one = words == 1 and numbers == found.longest_added
    return 0 < numbers <= _MAX_NAME and (words == numbers or is_one)
