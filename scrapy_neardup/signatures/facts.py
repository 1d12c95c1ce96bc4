"""Packs the facts that a page states outside its main text, see ``html/facts``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..html.facts.content import HEADING, Fact
from ..text.idf import token_hashes
from ..text.marks import marked_and_folded
from ..text.values import CODE
from .signature import PageSignature

#: Of a hash of 64 bits, a code has the first 31, and a bit that tells headings from other facts.
_UNUSED_BITS = np.uint64(33)
#: Version of the facts, for the recipe.
VERSION = "facts-7"
#: Number of facts that are kept of a page.
MAX_FACTS = 16


def packed_facts(facts: Sequence[Fact]) -> bytes:
    """Return the codes of facts, four bytes each: of headings, then of others in ascending order.

    Of more than :data:`MAX_FACTS`, the last code stands for all that are not kept.
    """
    headings = _hashes_of(fact for fact in facts if fact.label == HEADING)
    hashes = _hashes_of(fact for fact in facts if fact.label != HEADING)
    n_kept = MAX_FACTS - headings.size
    if hashes.size > n_kept:
        # A sum does not depend on the order of the facts on the page.
        others = hashes[n_kept - 1 :].sum(keepdims=True)
        hashes = np.concatenate([hashes[: n_kept - 1], others])
    codes = [
        headings >> _UNUSED_BITS << np.uint64(1) | np.uint64(1),
        hashes >> _UNUSED_BITS << np.uint64(1),
    ]
    return np.concatenate(codes).astype(CODE).tobytes()


def _hashes_of(facts: Iterable[Fact]) -> npt.NDArray[np.uint64]:
    """Return the distinct hashes of some facts, in ascending order."""
    return np.unique(token_hashes([marked_and_folded("\t".join(fact)).text for fact in facts]))


def headings_differ(page: PageSignature, other: PageSignature) -> bool:
    """Have two pages headings that their titles do not repeat, and different ones?"""
    headings, others = (
        {code for code in np.frombuffer(each.facts, CODE).tolist() if code % 2}
        for each in (page, other)
    )
    return bool(headings and others) and headings != others


def states_more(page: PageSignature, other: PageSignature) -> bool:
    """Does a page state facts that another one lacks?"""
    if not page.facts or page.facts == other.facts:
        return False
    facts, others = (set(np.frombuffer(each.facts, CODE).tolist()) for each in (page, other))
    return not facts <= others
