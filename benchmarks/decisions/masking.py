"""Decisions on masking numbers and dates in a text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from scrapy_neardup.hashing.simhash import simhash
from scrapy_neardup.text.normalization import normalize
from scrapy_neardup.text.tokenization import shingle_units, shipped_tokenizer
from scrapy_neardup.text.vocabulary import weigh

from ..common.stored_pages import Page
from ..common.tables import Table
from ..quality.detection import SECRET, Hits, new_detector
from ..quality.figures import Yardstick
from ..quality.known_pairs import Corpus
from .rule import table_of
from .shared import (
    LABEL_HEAD,
    PAIR_HEAD,
    cells,
    hits_of,
    known,
    main_page,
    signed,
    sketch_by,
)

_NUMBER = re.compile(r"\d+")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"[0-3]?\d(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
#: Of normalised text. The longer forms come first.
_DATE = re.compile(
    rf"""(?<![a-z\d])(?:
    {_YEAR}\s*年(?:\s*[01]?\d\s*月(?:\s*[0-3]?\d\s*[日号])?)?
    | {_YEAR}([-/.])[01]?\d\1[0-3]?\d
    | [0-3]?\d([-/.])[0-3]?\d\2{_YEAR}
    | {_YEAR}[-/][01]?\d
    | [01]?\d\s*月\s*[0-3]?\d\s*[日号]
    | {_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?
    | {_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?
    | [0-2]?\d:[0-5]\d(?::[0-5]\d)?(?:\s*[ap]\.?m\b\.?)?
    | {_YEAR}
    )(?![a-z\d])""",
    re.VERBOSE,
)


def without_numbers(text: str) -> str:
    """Every run of digits is the same."""
    return _NUMBER.sub("0", text)


def without_dates(text: str) -> str:
    """Every date, month, time of day and year is the same; other numbers stay."""
    return _DATE.sub(" 0 ", text)


class Remade(NamedTuple):
    """The parts of a signature that follow from a changed text."""

    n_features: int
    fingerprint: int
    sketch: bytes


def remade(text: str) -> Remade:
    """Fingerprint and sketch of normalised text."""
    words = list(shipped_tokenizer("auto")[0](text))
    found = weigh(words, table_of("multilingual"))
    sketch = sketch_by(SECRET, shingle_units(words))
    return Remade(found.hashes.size, simhash(*found), sketch)


def masked(page: Page) -> list[Remade]:
    text = normalize(main_page(page).text)
    return [remade(mask(text)) for mask in _MASKS.values()]


_MASKS: dict[str, Callable[[str], str]] = {
    "digits are one": without_numbers,
    "dates, times and years are one": without_dates,
}


def masking(corpus: Corpus) -> list[Table]:
    yardstick = known(corpus)
    signatures = signed(corpus)
    shipped = hits_of(new_detector(), signatures)
    table = Table(
        "masked in the fingerprint and in the sketch, not in the title",
        ("", *PAIR_HEAD, *LABEL_HEAD, "gained", "lost"),
    )
    add = partial(_add_row, table, yardstick, shipped)
    add("as shipped", shipped)
    for name, column in zip(_MASKS, zip(*corpus.map(masked), strict=True), strict=True):
        changed = [s and replace(s, **x._asdict()) for s, x in zip(signatures, column, strict=True)]
        add(name, hits_of(new_detector(), changed))
    return [table]


def _add_row(table: Table, yardstick: Yardstick, shipped: Hits, name: str, hits: Hits) -> None:
    gained, lost = hits.keys() - shipped.keys(), shipped.keys() - hits.keys()
    table.add(name, *cells(yardstick, hits), len(gained), len(lost))
