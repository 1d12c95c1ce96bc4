"""Bounds the length of runs of combining marks."""

from __future__ import annotations

import regex

#: Characters with a combining class other than 0, or that decompose (NFKD) into such ones.
_MARKS = r"[\P{Canonical_Combining_Class=0}\u0f73\u0f75\u0f81\uff9e\uff9f]"

#: Largest run of Unicode's stream-safe text format (UAX #15, section 13).
_MARKS_IN_A_RUN = 30
#: Invisible characters do not end a run, because they may be removed later.
_LONG_RUN = regex.compile(
    rf"(?>(?:{_MARKS}\p{{Default_Ignorable_Code_Point}}*+){{{_MARKS_IN_A_RUN}}})(?={_MARKS})"
)
COMBINING_MARKS = regex.compile(rf"{_MARKS}+")
_IN_LONG_RUN = regex.compile(rf"{_MARKS}|\p{{Default_Ignorable_Code_Point}}")

#: The conventional base of a mark without a base character.
_DOTTED_CIRCLE = "\u25cc"


def bounded_marks(text: str) -> str:
    """Break runs of more than 30 combining marks by inserting dotted circles.

    Normalisation sorts each run, which takes quadratic time. No language has such runs. The circle
    is visible, so texts that differ in their marks still differ.
    """
    # Every run that is too long covers at least one of the sampled positions.
    if text.isascii() or not _IN_LONG_RUN.search(text[:: _MARKS_IN_A_RUN + 1]):
        return text
    return _LONG_RUN.sub(rf"\g<0>{_DOTTED_CIRCLE}", text)
