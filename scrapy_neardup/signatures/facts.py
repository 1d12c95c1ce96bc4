"""Packs the facts that a page states, and compares those of two pages; see ``html/facts``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from ..html.facts.content import CODE_BLOCK, HEADING, HEADING_IN_TITLE, Fact
from ..html.facts.properties import TITLE_PROPERTY
from ..text.characters import with_plain_quotes
from ..text.idf import token_hashes
from ..text.marks import marked_and_folded_line
from ..text.normalization import normalize
from ..text.titles import MAX_PARTS, Segment, Title
from ..text.values import CODE
from .signature import PageSignature

#: Version of the facts, for the recipe.
VERSION = "facts-22"
#: Number of facts that are kept of a page, of fields beside them, and of lines under the names of
#: their elements.
MAX_FACTS, MAX_FIELDS, MAX_LINES = 16, 32, 32
#: Number of codes of a page, with those for a heading in its title and for the title's parts.
MAX_CODES = MAX_FACTS + MAX_FIELDS + MAX_LINES + 2
#: The two lowest bits of a code say what it stands for; then the first bits of a hash come, of a
#: heading behind a bit that says whether it stands in the title, of a field those of its label and
#: of its value, and between them whether it is a line; or a bit for each part of the title that the
#: heading repeats.
_OTHER, _HEADING, _FIELD, _PARTS = range(4)
_KIND_BITS, _VALUE_BITS, _LABEL_BITS = 2, 14, 15
_KINDS, _VALUES = np.uint64(2**_KIND_BITS), np.uint64(2**_VALUE_BITS)
_LINE = _KINDS * _VALUES
_IN_TITLE = _KINDS
#: Digits and normalised letters of scripts that have blanks between words.
_LETTER = re.compile("[0-9a-zà-ʯͰ-ԯ]")


def packed_facts(facts: Sequence[Fact], in_heading: int = 0) -> bytes:
    """Return the codes of facts, four bytes each: of headings, of others, and of fields, ascending.

    :param in_heading: a bit for each part of the title that the heading repeats, the lowest for the
        first one; at most :data:`~scrapy_neardup.text.titles.MAX_PARTS` bits.

    Of more than :data:`MAX_FACTS`, the last code stands for all that are not kept. Of more fields
    than :data:`MAX_FIELDS` those are kept whose labels have the least hashes, in any page; those
    around the content only if the others leave room.
    """
    facts = [*map(_plainly_quoted, facts)]
    headings = _hashes_of(fact for fact in facts if fact.label == HEADING)
    in_title = [fact._replace(label=HEADING) for fact in facts if fact.label == HEADING_IN_TITLE]
    named = (HEADING, HEADING_IN_TITLE)
    hashes = _hashes_of(fact for fact in facts if not (fact.label in named or fact.is_field))
    n_kept = MAX_FACTS - headings.size
    if hashes.size > n_kept:
        # A sum does not depend on the order of the facts on the page.
        others = hashes[n_kept - 1 :].sum(keepdims=True)
        hashes = np.concatenate([hashes[: n_kept - 1], others])
    own = _codes_of_fields(fact for fact in facts if fact.is_field and not fact.is_around)
    around = _codes_of_fields(fact for fact in facts if fact.is_around and not fact.is_line)
    lines = _codes_of_fields(fact for fact in facts if fact.is_line and not fact.is_minor) + _LINE
    minor = _codes_of_fields(fact for fact in facts if fact.is_minor) + _LINE
    codes = [
        # A label of the page may have the same name.
        _codes_of_headings(_hashes_of(in_title[:1])) + _IN_TITLE,
        _codes_of_headings(headings),
        _first_bits(hashes, 32 - _KIND_BITS) * _KINDS + np.uint64(_OTHER),
        _with_others(own, around, MAX_FIELDS),
        _with_others(lines, minor, MAX_LINES),
        np.array([in_heading] if in_heading else [], np.uint64) * _KINDS + np.uint64(_PARTS),
    ]
    return np.concatenate(codes).astype(CODE).tobytes()


def _plainly_quoted(fact: Fact) -> Fact:
    """Return a fact with straight quotation marks, but code as it is."""
    if fact.label == CODE_BLOCK:
        return fact
    label, stated = map(with_plain_quotes, (fact.label, fact.stated))
    return fact._replace(label=label, stated=stated)


def _with_others(
    codes: npt.NDArray[np.uint64], others: npt.NDArray[np.uint64], limit: int
) -> npt.NDArray[np.uint64]:
    """Return codes, and the others if these leave room, in ascending order."""
    return np.sort(np.concatenate([codes, np.setdiff1d(others, codes)])[:limit])


def _hashes_of(facts: Iterable[Fact]) -> npt.NDArray[np.uint64]:
    """Return the distinct hashes of some facts, in ascending order."""
    return np.unique(_text_hashes(["\t".join((fact.label, fact.stated)) for fact in facts]))


def _codes_of_headings(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return _first_bits(hashes, 31 - _KIND_BITS) * np.uint64(2) * _KINDS + np.uint64(_HEADING)


def _codes_of_fields(fields: Iterable[Fact]) -> npt.NDArray[np.uint64]:
    """Return the distinct codes of fields, in ascending order."""
    facts = list(fields)
    labels = _text_hashes([fact.label for fact in facts])
    values = _text_hashes([fact.stated for fact in facts])
    return np.unique(
        _first_bits(labels, _LABEL_BITS) * np.uint64(2) * _LINE
        + _first_bits(values, _VALUE_BITS) * _KINDS
        + np.uint64(_FIELD)
    )


def _text_hashes(texts: Sequence[str]) -> npt.NDArray[np.uint64]:
    return token_hashes([*map(marked_and_folded_line, texts)])


def _first_bits(hashes: npt.NDArray[np.uint64], count: int) -> npt.NDArray[np.uint64]:
    first: npt.NDArray[np.uint64] = hashes >> np.uint64(64 - count)
    return first


def _codes(page: PageSignature, *kinds: int) -> set[int]:
    """Return the codes of a page's facts of these kinds."""
    return {
        code for code in np.frombuffer(page.facts, CODE).tolist() if code % int(_KINDS) in kinds
    }


def heading_bits(heading: str, parts: Sequence[str], title: Sequence[Segment]) -> int:
    """Return a bit for each part of a title that a page's heading repeats, the first one lowest.

    :param parts: the title's parts as they are.
    :param title: the words of each; parts without words have no bit.
    """
    if not heading or len(parts) > MAX_PARTS:
        return 0
    text = with_plain_quotes(normalize(heading))
    worded = (part for part, words in zip(parts, title, strict=True) if words)
    return sum(
        1 << i for i, part in enumerate(worded) if _has_words(text, with_plain_quotes(part.strip()))
    )


def _has_words(text: str, words: str) -> bool:
    """Return whether a text has these words, and not as a part of longer ones."""
    # To compile a regular expression for each title would take longer.
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if not _LETTER.search(text[max(0, start - 1) : start] + text[end : end + 1]):
            return True
        start = text.find(words, start + 1)
    return False


def parts_in_heading(page: PageSignature) -> Title:
    """Return the parts of a page's title that its heading repeats."""
    if page.lacks_facts:
        return ()
    bits = sum(code // int(_KINDS) for code in _codes(page, _PARTS))
    return tuple(part for i, part in enumerate(page.title) if bits >> i & 1)


def headings_differ(page: PageSignature, other: PageSignature, *, same_title: bool = True) -> bool:
    """Return whether two pages have different headings.

    :param same_title: whether their titles are equal. Else headings in the titles do not count.
    """
    headings, others = (_codes(each, _HEADING) for each in (page, other))
    own, others_own = map(_not_in_title, (headings, others))
    if own and others_own and own != others_own:
        return True
    if not (same_title and headings and others):
        return False
    # What a heading declares is a heading, too, which a view may lack. Titles that are equal may be
    # written in two ways, so that one of them alone has the heading in it.
    known, others_known = ({code | int(_IN_TITLE) for code in each} for each in (headings, others))
    return not (headings - own <= others_known and others - others_own <= known)


def states_more(page: PageSignature, other: PageSignature) -> bool:
    """Return whether a page states facts, other than fields, that another one lacks."""
    if not page.facts or page.facts == other.facts:
        return False
    facts, others = (_not_in_title(_codes(each, _HEADING, _OTHER)) for each in (page, other))
    return not facts <= others


def _not_in_title(codes: set[int]) -> set[int]:
    """Return the codes of facts but for that of a heading in the title, which views may lack."""
    return {code for code in codes if not _is_in_title(code)}


def _is_in_title(code: int) -> bool:
    return code % int(_KINDS) == _HEADING and code & int(_IN_TITLE) != 0


def fields_differ(page: PageSignature, other: PageSignature, *, same_title: bool = True) -> bool:
    """Return whether each of two pages has a value of its own behind a label that both have.

    :param same_title: whether their titles are equal. Else lines do not count, nor the title that
        the pages state for machines (``og:title``).
    """
    if page.facts == other.facts:
        return False
    fields, others = (_codes(each, _FIELD) for each in (page, other))
    own, others_own = (_labels(each) for each in (fields - others, others - fields))
    if same_title:
        # A value that is too long for a field is a line.
        return not {label // 2 for label in own}.isdisjoint(label // 2 for label in others_own)
    return bool({label for label in own & others_own if not label % 2} - {_title_label()})


def without_lines(facts: bytes) -> bytes:
    """Return the packed facts of a page but for what may name the requested page.

    That are its lines, and a heading in its title.
    """
    codes = np.frombuffer(facts, CODE)
    is_line = (codes % _KINDS == _FIELD) & (codes // _LINE % np.uint64(2) == 1)
    is_in_title = (codes % _KINDS == _HEADING) & (codes // _IN_TITLE % np.uint64(2) == 1)
    kept: bytes = codes[~(is_line | is_in_title)].tobytes()
    return kept


def _labels(codes: Iterable[int]) -> set[int]:
    """Return the labels of fields, even numbers, and of lines."""
    return {code // int(_LINE) for code in codes}


@cache
def _title_label() -> int:
    """Return the number that stands for the label ``og:title`` in a code."""
    [label] = _first_bits(_text_hashes([TITLE_PROPERTY]), _LABEL_BITS).tolist()
    return int(label) * 2
