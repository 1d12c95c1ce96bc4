"""Questions about what could be evened out in a text: numbers, dates, traditional characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from choices_rule import table_of
from choices_shared import (
    LABEL_HEAD,
    PAIR_HEAD,
    cells,
    hits_of,
    known,
    main_page,
    signed,
    sketch_by,
)
from corpus import Corpus, Pair
from figures import Yardstick
from judged import SECRET, Hits, Signatures, new_detector
from pages import Page
from tables import Table
from truth import Shingles, jaccard, shingles, tokens

from scrapy_neardup.extract import MainText
from scrapy_neardup.normalization import normalize
from scrapy_neardup.page import PageSignature
from scrapy_neardup.simhash import simhash
from scrapy_neardup.titles import Title, title_of, title_parts
from scrapy_neardup.tokens import shingle_units, shipped_tokenizer
from scrapy_neardup.vocabulary import weigh

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
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3041-\u30ff]")
#: A text of fewer Han characters than this is not asked in which it is written.
_LEAST_HAN = 20
#: A page with so much of its Han characters traditional may be another one when simplified.
_SOME, _MUCH = 0.05, 0.25


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


class Simplified(NamedTuple):
    """A page as if it were written in simplified characters.

    :ivar traditional: how much of it was not.
    :ivar shingles: of the extracted text, as :mod:`truth` makes them.
    """

    remade: Remade
    title: Title
    text_digest: bytes
    traditional: float
    shingles: Shingles


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
    if not find_spec("opencc"):
        table.notes.append("traditional characters are left out: opencc cannot be imported")
        return [table]
    pages = corpus.map(simplified)
    hits = hits_of(new_detector(), _in_simplified(signatures, pages))
    add("simplified characters, title as well", hits)
    return [table, _script_table(yardstick, shipped, hits, pages)]


def _add_row(table: Table, yardstick: Yardstick, shipped: Hits, name: str, hits: Hits) -> None:
    gained, lost = hits.keys() - shipped.keys(), shipped.keys() - hits.keys()
    table.add(name, *cells(yardstick, hits), len(gained), len(lost))


@cache
def _simplifier() -> Callable[[str], str]:
    convert: Callable[[str], str] = import_module("opencc").OpenCC("t2s").convert
    return convert


def simplified(page: Page) -> Simplified:
    convert = _simplifier()
    read = main_page(page)
    main = MainText(convert(read.title), convert(read.text), "")
    text = normalize(main.text)
    return Simplified(
        remade(text),
        title_of(map(shipped_tokenizer("auto")[0], title_parts(main.title))),
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(),
        traditional_part(read.text, main.text),
        shingles(tokens(main.text)),
    )


def traditional_part(text: str, simplified: str) -> float:
    """How much of the Han characters of a Chinese text changes when it is simplified, 0.0 to 1.0.

    About a third of a text that is all traditional does. 0.0 for a text of few Han characters,
    and for one with kana in it: Japanese characters partly look traditional.
    """
    n_han = len(_HAN.findall(text))
    if n_han < _LEAST_HAN or len(_KANA.findall(text)) > n_han / 50:
        return 0.0
    return sum(a != b for a, b in zip(text, simplified, strict=False)) / n_han


def _in_simplified(signatures: Signatures, pages: Sequence[Simplified]) -> Signatures:
    def changed(signature: PageSignature, page: Simplified) -> PageSignature:
        parts = page.remade._asdict()
        return replace(signature, title=page.title, text_digest=page.text_digest, **parts)

    return [s and changed(s, page) for s, page in zip(signatures, pages, strict=True)]


def _script_table(
    yardstick: Yardstick, shipped: Hits, hits: Hits, pages: Sequence[Simplified]
) -> Table:
    traditional = {place for place, page in enumerate(pages) if page.traditional >= _SOME}
    before, after = yardstick.truth.resemblance, partial(_resemblance, pages)
    pairs = {_ordered(a, b) for a in traditional for b in range(len(pages)) if a != b}
    alike = [p for p in pairs if after(p) >= 0.3]
    changed = shipped.keys() ^ hits.keys()
    table = Table("traditional characters", ("", "number"))
    table.add(f"pages with {_SOME:.0%} of their Han characters and more", len(traditional))
    table.add(f"pages with {_MUCH:.0%} and more", sum(p.traditional >= _MUCH for p in pages))
    table.add("pairs with such a page, J>=0.3 as written", sum(before(p) >= 0.3 for p in pairs))
    table.add("pairs with such a page, J>=0.3 in simplified characters", len(alike))
    table.add("pairs hit in one way only", len(changed))
    table.add("of these, with such a page", sum(not traditional.isdisjoint(p) for p in changed))
    return table


def _resemblance(pages: Sequence[Simplified], pair: Pair) -> float:
    return jaccard(*(pages[place].shingles for place in pair))


def _ordered(a: int, b: int) -> Pair:
    return min(a, b), max(a, b)
