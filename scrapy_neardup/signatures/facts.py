"""Packs the facts that a page states outside its main text, see ``html/page_facts.py``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..html.page_facts import Fact
from ..text.idf import token_hashes
from ..text.marks import marked_and_folded
from ..text.values import CODE
from .signature import PageSignature

#: Of a hash of 64 bits, a code has the first 32.
_UNUSED_BITS = np.uint64(32)
#: Version of the facts, for the recipe.
VERSION = "facts-3"
#: Number of facts that are kept of a page.
MAX_FACTS = 16


def packed_facts(facts: Sequence[Fact]) -> bytes:
    """Return the codes of facts, four bytes each, in ascending order.

    Of more than :data:`MAX_FACTS`, the last code stands for all that are not kept.
    """
    hashes = np.unique(token_hashes([marked_and_folded("\t".join(fact)).text for fact in facts]))
    if hashes.size > MAX_FACTS:
        # A sum does not depend on the order of the facts on the page.
        others = hashes[MAX_FACTS - 1 :].sum(keepdims=True)
        hashes = np.concatenate([hashes[: MAX_FACTS - 1], others])
    return (hashes >> _UNUSED_BITS).astype(CODE).tobytes()


def states_more(page: PageSignature, other: PageSignature) -> bool:
    """Does a page state facts that another one lacks?"""
    if not page.facts or page.facts == other.facts:
        return False
    facts, others = (set(np.frombuffer(each.facts, CODE).tolist()) for each in (page, other))
    return not facts <= others
