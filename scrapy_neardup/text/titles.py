"""Splits titles into parts: ``Kettle X200 | Shop`` has two, of which the second is the site's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate

import regex

from .._util.encoding import utf8
from .normalization import normalize

#: The words of one part of a title.
Segment = tuple[str, ...]
#: The parts of a title in order, without empty ones.
Title = tuple[Segment, ...]

#: Names of kinds of lists, normalised: ``Category: Boats`` and ``Tag: Boats`` list one subject.
LIST_KINDS = frozenset(
    "archive archives category categories section subject tag tagged tags topic topics "
    "分类 目录 标签 归档 存档 专题 话题 "
    "kategorie kategorien schlagwort schlagwörter thema catégorie catégories étiquette étiquettes "
    "rubrique mot-clé categoría categorías etiqueta etiquetas categoria categorie etichetta tema "
    "рубрика категория метка тег カテゴリー カテゴリ タグ 카테고리 태그".split()
)

#: Words of notes on an edited text, normalised: "Night bus returns (updated)".
NOTE_WORDS = frozenset(
    "updated update corrected correction revised edited aktualisiert korrigiert überarbeitet "
    "actualizado actualizada corregido actualisé mis à jour mise corrigé aggiornato corretto "
    "atualizado corrigido bijgewerkt gecorrigeerd zaktualizowano обновлено обновление исправлено "
    "更新 已更新 更新版 修订 修訂 更正 訂正 修正 업데이트 수정 정정".split()
)

#: Words that deny what follows or stands before, normalised, as tokens: a denied verb of Japanese
#: ends with ない or ません, whose last characters are a token of kana, as are two of Thai ไม่.
NEGATIONS = frozenset(
    map(
        normalize,
        "no non not never without cannot neither nor anti kein keine keinen keiner keinem "
        "keines nicht ohne nie niemals ni pas sans jamais aucun aucune sin nunca jamás "
        "ningún ninguna não sem nenhum nenhuma senza mai nessun nessuna niet geen zonder "
        "nooit ikke ikkje icke inte ej utan uden uten ingen inget inga aldrig aldri ei "
        "eivät älä ilman ettei nem nincs nincsenek nélkül ne soha tilos bez "
        "nie brak nigdy není nejsou nikdy nije nema nisu nikad nu fără niciodată не без "
        "нет ни нельзя никогда немає жодного ні ніколи няма није нема δεν όχι χωρίς μη "
        "μην ποτέ değil yok olmayan hayır asla tidak bukan tanpa belum jangan dilarang "
        "không chưa chẳng đừng cấm لا ليس ليست لم لن غير بدون دون بلا عدم غیر نه بدون "
        "نیست هیچ نہیں بغیر לא אין ללא בלי אינו אינה אינם नहीं न मत बिना गैर না নেই নয় "
        "இல்லை არ არა ոչ 안 못 비 아닌 아님 않는 않은 않습니다 않는다 않다 없는 없음 없이 "
        "없습니다 없다 불가 금지 せん ない なし なく ไม 不 非 无 未 没 勿 别 没有 不是 "
        "不可 不能 不会 不得 不准 不许 不要 不再 并不 并非 并未 尚未 从未 从不 无法 未经 "
        "未能 禁止".split(),
    )
)

#: Titles of more parts than this are only compared for equality.
MAX_PARTS = 16
#: Characters and parts of a title that are kept; one part stands for all that is cut off. A title
#: is held in memory of each stored page, and compared with those of many others.
MAX_KEPT_CHARS, MAX_KEPT_PARTS = 1000, 32

#: The version of how titles are cut and which signs they have, for the recipe.
VERSION = "titles-6"

#: Brackets within those of parameters, nested up to three deep.
_INNER = r"\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)"
#: Brackets around parameters, as in "Move(int)": behind an ASCII word, or with a comma in them.
_PARAMETERS = (
    r"(?:(?<=[a-z0-9])\([\x20-\x27*-\x7e]*+\)|"
    rf"\((?:[^(),]++|{_INNER})*+,(?:[^()]++|{_INNER})*+\))"
)
#: Bars, dots, brackets, a long dash, or a dash or slash between blanks; an underscore, but not in
#: an ASCII name such as "load_page". None that another one follows, as in "Operator / - Manual", or
#: that stands at the end behind another one, as in "Index - |".
_SEPARATOR = regex.compile(
    rf"(?:\s[-−/\\]|(?<=\s)\|\|)(?=\s[-–−|»·•]\s|$|\))(*SKIP)(*FAIL)|"
    rf"(?<=\s[-–−]\s)\|+(?=\s*$|\))(*SKIP)(*FAIL)|{_PARAMETERS}(*SKIP)(*FAIL)|"
    rf"(?<=[a-z0-9])_+(?=[a-z0-9])(*SKIP)(*FAIL)|"
    rf"\s[-–−~/\\]+\s|[|•·»«›‹_()\[\]【】—―]+",
    regex.VERSION1,
)
#: A name of several words, as in code: its words are also those of shorter names.
_NAME = regex.compile(r"(?<![\w.:])[a-z_]\w+(?:(?:\.|::|->)[a-z_]\w+)+(?![\w:])")
_WITHIN_NAME = regex.compile(r"\.|::|->")
#: Dashes, bullets and stars around words, or in place of them.
_DECORATION = " \t-–−—―·•…«»‹›★☆"
#: Left where the site's name is missing.
_OPEN_END = regex.compile(r"\s[-–−]+$")

#: Units of measure: "2.5 mg" is no version.
_UNIT = (
    r"(?:[mkµ]?g|mcg|[mcd]?l|[mck]?m|km/h|mph|in|inch|ft|oz|lbs?|[km]?w|k?wh|ps|hp|v|[mgt]b|"
    r"[mg]?hz)"
)
#: A number of two or more short parts, such as 3.11, v2.4.2 or 3.15.0a1, in the words of a part of
#: a title; not in a date with a year. One of two parts needs a word in front: "1.6 TDI" is no
#: version.
_VERSION = regex.compile(
    r"(?<!\S)(?<!\d )(?:(?<=\w )|(?=v|(?:\d{1,3} ){2}\d))"
    rf"v?\d{{1,3}}(?: \d{{1,3}}(?:(?:a|alpha|b|beta|c|rc|dev)\d{{0,3}})?)+(?!\S| \d| {_UNIT}\b)"
)

#: Signs next to a letter or digit: Unicode symbols except trade marks, and some ASCII punctuation.
#: Plus and minus count only after it, if no word follows.
_MARK = r"[\p{S}#%*@--[+\-−®©™℠`^~<>|=]]"
_NEXT_TO_WORD = rf"[\p{{L}}\p{{N}}](?:{_MARK}|[+\-−](?![\p{{L}}\p{{N}}]))+|{_MARK}[\p{{L}}\p{{N}}]"
#: The sign of a number. A dash behind a letter or number joins two words or stands in a range.
_OF_NUMBER = r"(?<![\p{L}\p{N}])(?<!\p{N} )[-−–](?=\p{N})|(?<!\p{N} ?)\+ ?(?=\p{N})"
#: An operator: two signs or more, or one at the end of a part; that of a type, as in "<T &>".
_OPERATOR = (
    r"(?:[=!<>&|^~+*%]|-(?=>)|(?<=<)-){2,}+|(?<=\s)[<>+*/%=^&~\\-]$|(?<=\w\s)[*&](?=\s?[>,])"
)
#: Tones of skin and of speech, and letters in flags of parts of countries.
MODIFIERS = "\U0001f3fb-\U0001f3ff\u02e5-\u02e9\U000e0020-\U000e007f"
#: A symbol that stands alone; not arrows, bullets, lines and what else separates or decorates.
_SYMBOL = (
    rf"[\p{{So}}\p{{Sm}}\p{{Sc}}{MODIFIERS}--[\x00-\x23\x25-\x7f¦¬©®°℠™⁄∙⋅∣−←-⇿⟰-⟿⤀-⥿⬀-⯿☰★☆"
    r"\u2500-\u257f■▪▫▶►◀◄●◆◾◽➔-➾❖✦]]+|[★☆]{2,}"
)
_SIGNS = regex.compile(
    rf"(?P<next>{_NEXT_TO_WORD})|(?P<number>{_OF_NUMBER})|{_OPERATOR}|{_SYMBOL}", regex.VERSION1
)
#: A sign as it stands behind the words of a part.
_SIGN = regex.compile(r"(?=.*[^\p{L}\p{N}\p{M}'’.-]|[-+]\p{N}$).+", regex.VERSION1)
_AS_LETTERS = str.maketrans("0123456789", "ghijklmnop")
#: Dashes that copies use as a minus.
_MINUS = str.maketrans("−–", "--", " ")


def title_parts(title: str) -> list[str]:
    """Split a title at its separators, and return the parts normalised.

    The last part of a title that is too long is a digest of all that was cut off, so two long
    titles differ if they differ only there.
    """
    title = _OPEN_END.sub("", normalize(title))
    kept, cut = title[:MAX_KEPT_CHARS], title[MAX_KEPT_CHARS:]
    parts: list[str] = _SEPARATOR.split(kept)
    if not cut and len(parts) <= MAX_KEPT_PARTS:
        return parts
    cut = "\n".join([*parts[MAX_KEPT_PARTS:], cut])
    return [*parts[:MAX_KEPT_PARTS], _digest_word(cut)]


def _digest_word(text: str) -> str:
    """Return a digest that is one word for each tokenizer, without digits: these are numbers."""
    digest = blake2b(utf8(text), digest_size=16).hexdigest()
    return digest.translate(_AS_LETTERS)


def title_of(parts: Iterable[Iterable[str]]) -> Title:
    """Return the title whose parts have these words."""
    return tuple(filter(None, map(tuple, parts)))


def title_words(title: Title) -> frozenset[str]:
    """Return all words of a title."""
    return frozenset(word for segment in title for word in segment)


def signs(part: str) -> list[str]:
    """Return the signs of a part: ``C#`` is not ``C++``, ``-2`` not ``+2``, ``==`` not ``!=``.

    :param part: part of a title, normalised.
    :returns: each sign, with the letter or digit next to it, and each name such as ``os.path``; no
        trade marks, no bullets.
    """
    part = part.strip()
    if not any(map(str.isalnum, part)):
        # An entry of an index of operators: "Index - +" is not "Index - *".
        return [part] if part == "-" or part.strip(_DECORATION) else []
    found = [_WITHIN_NAME.sub("::", name) for name in _NAME.findall(part)]
    for match in _SIGNS.finditer(part):
        sign = match[0]
        if match["number"]:
            sign = f"{sign.translate(_MINUS)}{part[match.end()]}"
        if sign.strip("!"):
            found.append(sign)
    return found


def without_signs(segment: Segment) -> Segment:
    """Return the words of a part of a title, without the signs behind them."""
    words = segment
    while words and _SIGN.fullmatch(words[-1]):
        words = words[:-1]
    return words


def without_notes(title: Title) -> Title:
    """Remove the parts of a title that are notes on an edited text."""
    return tuple(part for part in title if not NOTE_WORDS.issuperset(part))


def without_list_kind(title: Title) -> Title:
    """Remove the names of kinds of lists from a title, unless nothing else would be left."""
    parts = [[word for word in part if word not in LIST_KINDS] for part in title]
    return title_of(parts) or title


def is_other_version(part: Segment, other: Segment) -> bool:
    """Return whether two parts name two versions of one thing: "Handbook 1.2", "Handbook 2.0.1".

    They share a word besides.
    """
    (versions, words), (other_versions, others) = _versions_in(part), _versions_in(other)
    if not (versions and other_versions) or versions == other_versions:
        return False
    return not words.isdisjoint(others)


@lru_cache(maxsize=1024)
def _versions_in(part: Segment) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the versions that a part of a title names, and its other words."""
    text = " ".join(part)
    return tuple(_VERSION.findall(text)), frozenset(_VERSION.sub("", text).split())


def without_names(title: Title) -> Title:
    """Remove names of several words, as in code, from a title; their words are left."""
    return title_of([word for word in part if "::" not in word] for part in title)


def name_other_versions(title: Title, other: Title) -> bool:
    """Return whether two titles have parts for which :func:`is_other_version` is true.

    To compare each part with each would take long for titles of many parts.
    """
    beside: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for versions, words in map(_versions_in, other):
        for word in words if versions else ():
            beside[word].add(versions)
    return bool(beside) and any(
        beside[word] - {versions}
        for versions, words in map(_versions_in, title)
        if versions
        for word in words & beside.keys()
    )


def may_be_one(title: Title, other: Title) -> bool:
    """Return whether these may be titles of two copies, without the site's parts.

    That is if one :func:`is_within` the other, or if both begin with the same part and one has all
    words of the other: then words were added to the manual's name, not to the page's. They may not
    if the parts have another order, or if what was added alters a number or denies the rest.
    """
    if max(len(title), len(other)) <= MAX_PARTS and _tell_apart(title, other):
        return False
    if is_within(title, other) or is_within(other, title):
        return True
    words, others = title_words(title), title_words(other)
    return title[0] == other[0] and (words < others or others < words)


def _tell_apart(title: Title, other: Title) -> bool:
    """Return whether parts of two titles have another order, or alter or deny one another."""
    if sorted(title) == sorted(other) and title != other:
        return True
    return any(_alters(part, each) or _alters(each, part) for part in title for each in other)


def _alters(part: Segment, other: Segment) -> bool:
    """Return whether a part ends with another one of which it alters a number, or denies it.

    "2.5 kg" is not "5 kg" with a label in front, nor is a "non-smoking room" a "smoking room".
    """
    n_more = len(part) - len(other)
    if n_more < 1 or part[n_more:] != other:
        return False
    is_in_number = part[n_more - 1][-1].isnumeric() and other[0][0].isnumeric()
    return is_in_number or not NEGATIONS.isdisjoint(part[:n_more])


def is_within(title: Title, other: Title) -> bool:
    """Return whether another title has each part of this one, as one or more parts or ending one.

    ``Kettle X`` is within ``Shop | Kettle X``, ``Kettle | X`` and ``Print: Kettle X``, but neither
    within ``X Kettle`` nor ``Kettle X Pro``: the title of a copy has more parts or a label in
    front, the name of another product more words at the end. Titles of more than
    :data:`MAX_PARTS` parts must be equal.
    """
    if max(len(title), len(other)) > MAX_PARTS:
        return title == other
    words = tuple(word for part in other for word in part)
    borders = list(accumulate(map(len, other), initial=0))
    return all(
        any(words[max(0, end - len(part)) : end] == part for end in borders) for part in title
    )
