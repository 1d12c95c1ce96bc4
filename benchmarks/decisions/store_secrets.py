"""Decision on the store's secret: how much results vary between random secrets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from scrapy_neardup.text.tokenization import shingle_units

from ..common.stored_pages import Page
from ..common.tables import Table
from ..quality.detection import Hits, Signatures, new_detector
from ..quality.figures import Yardstick
from ..quality.known_pairs import Corpus
from .shared import hits_of, known, signed, sketch_by, words_of

_SECRETS = tuple(f"the benchmarks' secret, number {n:2}".encode() for n in range(1, 11))
_HEAD = ("duplicates found", "distinct hit", "J>=0.9 found", "hits J<0.7", "hits J<0.5")
#: Of which figures the greatest is the best; of the others it is the worst.
_MORE_IS_BETTER = (True, False, True, False, False)


def sketches(page: Page) -> list[bytes]:
    """A page's sketch under each secret; nothing else that is compared depends on it."""
    units = shingle_units(words_of(page))
    return [sketch_by(secret, units) for secret in _SECRETS]


def secrets_drawn(corpus: Corpus) -> list[Table]:
    """Return the figures of the detector with each secret."""
    yardstick = known(corpus)
    signatures = signed(corpus)
    rows = [
        _figures(yardstick, hits_of(new_detector(), drawn))
        for drawn in _resigned(signatures, corpus.map(sketches))
    ]
    table = Table(f"what is found with {len(_SECRETS)} secrets", ("secret", *_HEAD))
    for number, row in enumerate(rows, 1):
        table.add(number, *row)
    for name, pick in (("worst", _worst), ("median", _median)):
        columns = zip(*rows, strict=True)
        table.add(
            name,
            *(pick(list(c), more) for c, more in zip(columns, _MORE_IS_BETTER, strict=True)),
        )
    return [table]


def _resigned(signatures: Signatures, drawn: list[list[bytes]]) -> Iterator[Signatures]:
    """The signatures with the sketches of each secret in turn."""
    for column in zip(*drawn, strict=True):
        yield [s and replace(s, sketch=x) for s, x in zip(signatures, column, strict=True)]


def _figures(yardstick: Yardstick, hits: Hits) -> tuple[float, ...]:
    f, labels = yardstick.of_pairs(hits), yardstick.of_labels(hits)
    return (
        *(labels.duplicates.value, labels.distinct.value),
        *(f.found_90.value, f.below_70, f.below_50),
    )


def _worst(values: list[float], more_is_better: bool) -> float:
    return min(values) if more_is_better else max(values)


def _median(values: list[float], _: bool) -> float:
    return float(median(values))
