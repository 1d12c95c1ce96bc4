"""A page's title as its parts: ``Kettle X200 | Shop`` is two, and the second is the site's."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

import regex

from .normalization import normalize

#: One part of a title, as its words.
Segment = tuple[str, ...]
#: The parts of a title in order; a part without a word is left out.
Title = tuple[Segment, ...]

#: Names of kinds of lists, normalised: ``Category: Boats`` and ``Tag: Boats`` list one subject.
LIST_KINDS = frozenset(
    "archive archives category categories section subject tag tagged tags topic topics "
    "分类 目录 标签 归档 存档 专题 话题 "
    "kategorie kategorien schlagwort schlagwörter thema catégorie catégories étiquette étiquettes "
    "rubrique mot-clé categoría categorías etiqueta etiquetas categoria categorie etichetta tema "
    "рубрика категория метка тег カテゴリー カテゴリ タグ 카테고리 태그".split()
)

#: Titles of more parts than this are only compared as a whole.
MAX_PARTS = 16

#: Between parts stand bars, dots, brackets, a long dash, or a dash or slash between blanks.
_SEPARATOR = regex.compile(r"\s[-–−~/\\]+\s|[|•·»«›‹_()\[\]【】—―]+")

#: At a letter or digit: symbols but for those of trade marks, and signs of ASCII that are none to
#: Unicode; a plus or minus only behind it, where no word follows.
_MARK = r"[\p{S}#%*@--[+\-−®©™℠`^~<>|=]]"
_SIGNS = regex.compile(
    rf"[\p{{L}}\p{{N}}](?:{_MARK}|[+\-−](?![\p{{L}}\p{{N}}]))+|{_MARK}[\p{{L}}\p{{N}}]",
    regex.VERSION1,
)


def title_parts(title: str) -> list[str]:
    """Cut a title at its separators; the parts are normalised."""
    return _SEPARATOR.split(normalize(title))


def title_of(parts: Iterable[Iterable[str]]) -> Title:
    """The title whose parts have these words."""
    return tuple(filter(None, map(tuple, parts)))


def title_words(title: Title) -> frozenset[str]:
    """All words of a title."""
    return frozenset(word for segment in title for word in segment)


def signs(part: str) -> list[str]:
    """Signs that a part of a title writes next to a word: they tell ``C#`` from ``C++``.

    :param part: normalised.
    :returns: each with the letter or digit that it stands at. Trade marks are left out.
    """
    return _SIGNS.findall(part)


def without_list_kind(title: Title) -> Title:
    """The title of a list without the name of its kind; unchanged where there is nothing else."""
    parts = [[word for word in part if word not in LIST_KINDS] for part in title]
    return title_of(parts) or title


def may_be_one(title: Title, other: Title) -> bool:
    """May these be titles of two copies, whose own parts they are?

    One :func:`is_within` the other. Or both begin with the same part, and one has all words of the
    other: then words were added to the name of the manual, not to that of the page.
    """
    if is_within(title, other) or is_within(other, title):
        return True
    words, others = title_words(title), title_words(other)
    return title[0] == other[0] and (words < others or others < words)


def is_within(title: Title, other: Title) -> bool:
    """Does the other title have each part of this one, as a part, as several, or at a part's end?

    ``Kettle X`` is in ``Shop | Kettle X``, ``Kettle | X`` and ``Print: Kettle X``, but neither in
    ``X Kettle`` nor in ``Kettle X Pro``: a copy's title has more parts or a label in front,
    another ware's name more words behind. Titles of more than :data:`MAX_PARTS` parts must be
    equal.
    """
    if max(len(title), len(other)) > MAX_PARTS:
        return title == other
    words = tuple(word for part in other for word in part)
    borders = list(accumulate(map(len, other), initial=0))
    return all(
        any(words[max(0, end - len(part)) : end] == part for end in borders) for part in title
    )
