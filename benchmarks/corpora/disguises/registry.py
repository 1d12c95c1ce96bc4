"""The table of all disguises, in which the modules of this folder register theirs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..articles import Article
from ..pages import MadePage, seeded

Make = Callable[[Article, random.Random], MadePage]


@dataclass(frozen=True, slots=True)
class Disguise:
    """A way to make a copy of an article that looks different.

    ``languages`` is None if the disguise suits all of them; ``blocks`` are kinds of block that an
    article must have for the disguise to change anything, ``pattern`` is a regular expression that
    its text must match.
    """

    name: str
    make: Make
    languages: frozenset[str] | None = None
    blocks: frozenset[str] = frozenset()
    pattern: str = ""
    same_site: bool = False

    def applies_to(self, article: Article) -> bool:
        """Return whether the disguise changes this article."""
        return (
            (self.languages is None or article.language in self.languages)
            and all(map(article.has, self.blocks))
            and re.search(self.pattern, article.text) is not None
        )

    def __call__(self, article: Article, rng: random.Random) -> MadePage:
        return self.make(article, rng)


DISGUISES: dict[str, Disguise] = {}


def disguise(
    name: str,
    *,
    languages: str | None = None,
    blocks: str = "",
    pattern: str = "",
    same_site: bool = False,
) -> Callable[[Make], Make]:
    """Return a decorator that registers a disguise; *languages* and *blocks* are parted by blanks.

    :raises ValueError: when a disguise of that name exists.
    """

    def register(make: Make) -> Make:
        if name in DISGUISES:
            raise ValueError(f"disguise {name!r} exists already")
        spoken = None if languages is None else frozenset(languages.split())
        kinds = frozenset(blocks.split())
        DISGUISES[name] = Disguise(name, make, spoken, kinds, pattern, same_site)
        return make

    return register


def disguised_page(name: str, article: Article) -> MadePage:
    """Return the copy of *article* that the disguise of this name makes."""
    return DISGUISES[name](article, seeded(name, article.name))
