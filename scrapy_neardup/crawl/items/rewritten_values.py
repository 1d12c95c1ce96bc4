"""Finds the values of an item that a callback has written from short or numeric carried values.

``{"size": f"Size: {size}"}`` holds a size such as ``M``, ``{"size": label.split()[-1]}`` that of
"Size M", and ``{"price": f"{price:.2f}"}`` a price such as 29.5. Such values are common in any
text. So a value that the page of the response shows itself counts as taken from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from .carried_values import MIN_CONTAINED, is_within

#: Carried values, and values of an item, that are compared at most.
_MAX_CARRIED, _MAX_VALUES = 500, 500
#: Characters of the values in which a short one is looked for; longer ones are no labels.
_MAX_LABELLED = 100
#: What stands between the words of a label and a value, as in "sku-3", and punctuation around them.
_BETWEEN_WORDS = re.compile(r"[\s_-]+")
_PUNCTUATION = ".,:;!?()[]{}<>\"'#=|–—-"
#: A number with a currency or a unit.
_NUMBER = re.compile(r"\D{0,5}?(\d[\d., '\u2019]{0,17}\d|\d)\D{0,5}")
_FRACTION = re.compile(r"(.*?)(?:[.,](\d\d?))?")
_NO_DIGIT = re.compile(r"\D")
#: Shorter whole numbers are too common, such as the number of a page.
_MIN_DIGITS = 3


def rewritten_values(
    item_values: Iterable[str], carried: Iterable[str], shown: Callable[[], str]
) -> dict[str, str]:
    """Return the values of an item that were written from a carried one, each with that one.

    :param shown: returns what the page shows, see
        :func:`~scrapy_neardup.crawl.items.carried_values.shown_by`; called only if it matters.
    """
    given = list(islice(carried, _MAX_CARRIED))
    if not given:
        return {}
    known = frozenset(given)
    left = [value for value in islice(item_values, _MAX_VALUES) if value not in known]
    found = {
        **dict(_with_short_words(left, given)),
        **dict(_short_words_of(left, given)),
        **dict(_with_numbers(left, given)),
    }
    if not found:
        return found
    page = shown()
    return {value: of for value, of in found.items() if not is_within(value, page, shortest=1)}


def _with_short_words(values: Iterable[str], carried: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the labelled values that have a short carried value as a word of its own."""
    short = {value for value in carried if len(value) < MIN_CONTAINED}
    for value in values if short else ():
        word = next((word for word in _labelled_words(value) if word in short), None)
        if word is not None:
            yield value, word


def _short_words_of(values: Iterable[str], carried: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the short values that are a word of a labelled carried value."""
    short = {value for value in values if len(value) < MIN_CONTAINED}
    for text in carried if short else ():
        for word in _labelled_words(text):
            if word in short:
                yield word, text


def _labelled_words(value: str) -> list[str]:
    """Return the words of a value that may have a label; none of a single word, or of numbers."""
    words = _BETWEEN_WORDS.split(value) if len(value) <= _MAX_LABELLED else []
    is_labelled = len(words) > 1 and any(map(str.isalpha, value))
    return [word.strip(_PUNCTUATION) for word in words] if is_labelled else []


def _with_numbers(values: Iterable[str], carried: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the values that are a carried number in another form."""
    numbers = {value: number for value in values if (number := _number_in(value))}
    if not numbers:
        return
    of = {number: value for value in carried if (number := _number_in(value))}
    for value, number in numbers.items():
        if number in of:
            yield value, of[number]


def _number_in(value: str) -> str:
    """Return the number that a value consists of, in one form; empty if it is none or too common.

    The last point or comma in front of one or two digits is that of a fraction.
    """
    match = _NUMBER.fullmatch(value)
    if match is None:
        return ""
    parts = _FRACTION.fullmatch(match[1])
    assert parts is not None
    whole, fraction = _NO_DIGIT.sub("", parts[1]), (parts[2] or "").rstrip("0")
    return f"{whole}.{fraction}" if fraction or len(whole) >= _MIN_DIGITS else ""
