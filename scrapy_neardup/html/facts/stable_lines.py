"""Reduces a short line to what is the same in each copy of a page.

Copies differ in counters, in the dates and times of a visit, and in what greets visitors.
"""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from ...text.counters import (
    is_label_of_counter,
    names_only_a_counter,
    without_counts,
)
from ...text.known_words import MONTHS
from ...text.normalization import normalize
from ...text.signs.times_from_now import is_from_now
from ...text.signs.visits import are_of_visits, is_before_web, is_date_of_visit, neighbours_of
from ...text.titles import LIST_KINDS, MODIFIERS
from .content import MAX_LINE
from .labels import date_of_event, has_byline, has_date, is_byline, n_columns

#: Words of a line of the main text that says something by itself, such as "Full time".
_MAX_FEW = 3
#: More columns that end with a full stop are a sentence.
_MAX_SENTENCE = 30
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "…")
#: A short word with a full stop that is none of a sentence: "Inc.", "S.A.".
_ABBREVIATION = re.compile(r"(?:^|\W)(?:\w\.)*[^\W\d_a-z]\w{0,3}\.$")
#: A time of day, and its minutes and seconds.
_TIME = re.compile(r"(?<![\d:.])(?:[01]?\d|2[0-3]):([0-5]\d)(:[0-5]\d)?(?![\d:])")
#: Who owns a page.
_COPYRIGHT = re.compile(
    r"©|\(c\) ?\d|copyright|rights reserved|rechte vorbehalten|droits réservés|"
    r"derechos reservados|版权所有|版權所有|無断転載|転載",
    re.IGNORECASE,
)
#: A number, or a word with its marks: many vowels of Hindi and Thai are marks.
_TOKEN = regex.compile(r"\p{Nd}+|[\p{L}\p{M}]+")
#: What readers think of a page, and how much of a product is left.
_OF_READERS = re.compile(
    r"\d[\d.,]* ?(?:out of (?:5|10)|/ ?(?:5|10)(?!\d)|"
    r"(?:von|sur|de|di|из) (?:5|10) (?:stern|étoile|estrella|stell|зв)\w*)|"
    r"\d+ ?(?:left|in stock|remaining|verfügbar|übrig|auf lager|en stock|restant\w*|disponibles?|"
    r"disponibili|шт\b)|"
    # visitors who look at the page, and buyers: "12 people are viewing this", "in 12 carts"
    r"\d[\d.,]*\+? (?:(?:other|more|people|persons?|users?|visitors?|customers?|shoppers?|others|"
    r"are|is|have|has|currently|now) ){,4}(?:viewing|watching|looking at|browsing|bought)\b|"
    r"\bin \d[\d.,]*\+? (?:other )?(?:carts|baskets)\b|"
    r"\d[\d.,]* (?:personen|kunden|leute|andere) (?:sehen|schauen|kauften|haben)\b|"
    r"\d[\d.,]* (?:personnes|clients) (?:regardent|consultent|ont)\b|"
    r"\d[\d.,]* personas (?:están )?viendo\b|\d[\d.,]* человека? (?:смотрят|купили)\b",
    re.IGNORECASE,
)
#: A number to call: with a plus or a nought before it, or with dashes in it.
_PHONE = re.compile(
    r"(?:☎|\(|\+|tel|phone|fax|0)[.: ]*(?:[\d()/.-] ?){7,}|\d{3}[-. ](?:\d{3}[-. ])?\d{4}",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^:：]{1,40}[:：]")
#: Symbols that say something alone: stars, ticks, signs of currencies, emoji, halves. Not arrows,
#: triangles that open a menu, lines, and what else separates; bullets only if there are several.
_SYMBOL = (
    rf"[\p{{So}}\p{{Sm}}\p{{Sc}}{MODIFIERS}¼-¾⅐-⅞\u200d--[\x00-\x23\x25-\x7f¦¬©®°℠™⁄∙⋅∣−"
    r"←-⇿⟰-⟿⤀-⥿⬀-⬑⮀-⯿☰\u2500-\u257f▲-◅➔-➾❖✦]]"
)
_SYMBOLS = regex.compile(rf"(?![■▪▫●◆◾◽]$){_SYMBOL}{{1,12}}", regex.VERSION1)
_LEVEL, _MAX_LEVEL = regex.compile(r"[\p{Sc}\s]+"), 12
#: A number that is no count: "12 %", "45°", "#4711".
_SHARE = re.compile(r"[<>~≈±+−-]? ?\d[\d.,]* ?[%‰°′″]|# ?\d+")
#: Says whether a sign is shown in colours.
_PRESENTATION = re.compile("[\ufe0e\ufe0f]")
_GREETING = re.compile(
    r"(?:hello|hi|hey|dear|welcome|log(?:ged)? ?(?:in|out)|sign(?:ed)? ?(?:in|out|up)|register|"
    r"my account|hallo|willkommen|angemeldet|bonjour|hola|"
    r"bienvenid\w*|ciao|привет|здравствуйте|欢迎|您好|你好|ようこそ|こんにちは)(?!\w)",
    re.IGNORECASE,
)


# Lines of menus and side bars recur on the pages of a site.
@lru_cache(maxsize=4096)
def stable_text(line: str) -> str | None:
    """Return the part of a line that is the same in each copy of a page, if there is one."""
    if _PHONE.fullmatch(line):
        return line
    if is_passage(line) or is_from_now(line) or _GREETING.match(line):
        return None
    if _COPYRIGHT.search(line) or normalize(line) in LIST_KINDS:
        return None
    is_of_page = is_date_of_visit(line) or has_byline(line)
    if is_of_page and date_of_event(line) is not None:
        return None
    label = _LABEL.match(line)
    if label and _counts(label[0], line[label.end() :].strip()):
        return None
    words = _OF_READERS.sub("", _TIME.sub(_fixed, line))
    # A counter's word may be part of a name, but its number is that of the visit.
    if names_only_a_counter(words):
        words = without_counts(words)
    is_told = any(map(str.isalpha, words)) or _TIME.search(words) or date_of_event(words)
    return words if is_told else symbols(line)


def symbols(line: str) -> str | None:
    """Return a line that is only symbols, as ``★★★`` or ``€€``, or a number such as ``12 %``."""
    if _SHARE.fullmatch(line):
        return line
    if line.isascii() and "$" not in line:
        return None
    signs = _PRESENTATION.sub("", "".join(line.split()))
    return signs if _SYMBOLS.fullmatch(signs) else None


def is_level(line: str) -> bool:
    """Return whether a line is only signs of a currency, as a level of prices is: ``€€``.

    Unlike other symbols, they are no values of a main text.
    """
    return len(line) <= _MAX_LEVEL and _LEVEL.fullmatch(line) is not None


def is_few_words(line: str) -> bool:
    """Return whether a line is a few words, and no sentence; numbers are values of the text."""
    has_few = len(line.split()) <= _MAX_FEW and not line.endswith(_SENTENCE_ENDS)
    return has_few and any(map(str.isalpha, line)) and not any(map(str.isdigit, line))


def is_passage(line: str) -> bool:
    """Return whether a line is a sentence, or longer than lines that state something of a page."""
    is_sentence = line.endswith(_SENTENCE_ENDS) and not _ABBREVIATION.search(line)
    return len(line) > MAX_LINE or (is_sentence and n_columns(line) > _MAX_SENTENCE)


def stable_text_within(passage: str) -> str | None:
    """Return the words of a passage, within the content, that are the same in each copy."""
    if _GREETING.match(passage) or _COPYRIGHT.search(passage):
        return None
    words = _TOKEN.findall(normalize(_TIME.sub(_fixed, passage)))
    of_numbers, of_dates = are_of_visits(neighbours_of(words))
    kept = [
        word
        for word, of_number, of_date in zip(words, of_numbers, of_dates, strict=True)
        if not (((of_number or of_date) and word.isdecimal()) or (of_date and word in MONTHS))
    ]
    return " ".join(kept) or None


def stable_text_behind(label: str, value: str) -> str | None:
    """Return the part of a value behind a label that is the same in each copy of a page."""
    if not any(map(str.isalpha, label)) or _counts(label, value):
        return None
    if is_byline(label) and date_of_event(value) is not None:
        return None
    if is_date_of_visit(label) and has_date(value) and not is_before_web(value):
        return None
    if any(map(str.isdigit, value)) and not any(map(str.isalpha, value)) and not has_date(value):
        return value
    return stable_text(value)


def _counts(label: str, value: str) -> bool:
    """Return whether a value is that of a counter, by its label; one without numbers seldom is."""
    if not names_only_a_counter(label):
        return False
    return any(map(str.isdigit, value)) or is_label_of_counter(label.rstrip(" :："), value)


def _fixed(time: re.Match[str]) -> str:
    """Return a time that may be fixed, one of full five minutes: others may be those of a visit."""
    return "" if time[2] or time[1][-1] not in "05" else time[0]
