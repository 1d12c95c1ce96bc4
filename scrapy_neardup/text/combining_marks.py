"""Combining marks, and a bound on how many stand in a run."""

from __future__ import annotations

import regex

#: Marks that combine with the character before them: combining class other than 0, or such marks
#: when decomposed (NFKD).
_MARKS = r"[\P{Canonical_Combining_Class=0}\u0f73\u0f75\u0f81\uff9e\uff9f]"

#: Unicode's stream-safe text format (UAX #15, section 13) has at most 30 of them in a run.
_MARKS_IN_A_RUN = 30
#: What is not seen may be taken out later, so it does not end a run.
_LONG_RUN = regex.compile(
    rf"(?>(?:{_MARKS}\p{{Default_Ignorable_Code_Point}}*+){{{_MARKS_IN_A_RUN}}})(?={_MARKS})"
)
COMBINING_MARKS = regex.compile(rf"{_MARKS}+")
_IN_LONG_RUN = regex.compile(rf"{_MARKS}|\p{{Default_Ignorable_Code_Point}}")

#: The dotted circle, on which a mark stands that has no character of its own.
_BEARER = "\u25cc"


def bounded_marks(text: str) -> str:
    """No more than 30 combining marks in a run: the next one is given a dotted circle to stand on.

    Putting a run in order, as every normalisation does, takes quadratic time. No language has
    such runs. The circle is seen, so that two texts that differ in their marks still differ.
    """
    # A run that is too long has a character at one of these places at least.
    if text.isascii() or not _IN_LONG_RUN.search(text[:: _MARKS_IN_A_RUN + 1]):
        return text
    return _LONG_RUN.sub(rf"\g<0>{_BEARER}", text)
