"""Packs the facts that a page states outside its main text.

A fact becomes a code like those of values (``text/values.py``): one of a number is told from one of
words. Pages of one title state other facts if each has some that the other lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..html.page_facts import Fact
from ..text.idf import token_hashes
from ..text.normalization import normalize
from ..text.values import CODE, codes_of_numbers, codes_of_words, has_word
from .signature import PageSignature

#: Version of the facts, for the recipe.
VERSION = "facts-1"
#: Number of facts that are kept of a page; the last one stands for all others.
MAX_FACTS = 16
#: A number alone may be a counter.
_MAX_COUNTERS = 1


def packed_facts(facts: Sequence[Fact]) -> bytes:
    """Return the codes of facts, four bytes each."""
    if len(facts) > MAX_FACTS:
        others = "\n".join(map("\t".join, facts[MAX_FACTS - 1 :]))
        facts = [*facts[: MAX_FACTS - 1], Fact("", others)]
    hashes = token_hashes([normalize("\t".join(fact)) for fact in facts])
    are_numbers = np.array([fact.is_number for fact in facts], bool)
    codes = np.where(are_numbers, codes_of_numbers(hashes), codes_of_words(hashes))
    return codes.astype(CODE).tobytes()


def facts_differ(page: PageSignature, other: PageSignature) -> bool:
    """Do two pages state other facts, in words and prices or in more than one number?"""
    if page.facts == other.facts or not (page.facts and other.facts):
        return False
    codes, others = (set(np.frombuffer(each.facts, CODE).tolist()) for each in (page, other))
    own, other_own = list(codes - others), list(others - codes)
    if has_word(own) and has_word(other_own):
        return True
    return min(len(own), len(other_own)) > _MAX_COUNTERS
