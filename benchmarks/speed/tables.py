"""Measures lookups by method: in the tables of simhash, and by the words of texts.

The table designs of Manku, Jain and Das Sarma are compared with the index of the rule. The
fingerprints are random, except a thousand at a distance of two bits from another one; each is
looked up at a distance of three bits. Each measurement runs in a process of its own. Bytes are the
growth of the process at its peak, microseconds the processor time of a lookup.

The texts have 300 words with the frequencies of real ones (corpora/made_up_texts.py). Those with a
notice have two of five words in common, and one of their three longest sentences. Bytes are those
that Python and numpy ask for, without the values, which are in memory anyway.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from time import process_time
from typing import NamedTuple

import numpy as np

from scrapy_neardup.hashing.simhash_index import SimhashIndex
from scrapy_neardup.hashing.tables import DESIGNS, TABLE_DISTANCE, table_masks
from scrapy_neardup.methods import MethodIndex, open_method
from scrapy_neardup.methods.simhash import Simhash

from ..common.measuring import apart, processor_seconds, rounded
from ..common.memory import peak_bytes
from ..common.options import at_least, command_parser
from ..common.tables import Table
from ..corpora.made_up_texts import texts
from .near_pairs import fingerprints

_LOOKUPS = 2000
#: Those that count the keys in common.
METHODS = ("bottomk", "words", "keywords", "sentences", "manber")
_TEXT_LOOKUPS = 100
#: Words of a text's own sentences, and those of all its sentences: the others are the notice.
_OWN = 18
_SENTENCES = (24, _OWN, _OWN, *(12, 12, _OWN, _OWN) * 4)


class Figures(NamedTuple):
    bytes_each: int
    microseconds: str
    found: int


def by_tables(count: int, design: int) -> Figures:
    index = MethodIndex(Simhash(tables=design))

    def fill() -> None:
        for number, word in enumerate(fingerprints(count).tolist()):
            index.add(number, word.to_bytes(8, "big"))

    return _measured(count, fill, lambda word: len(index.near(word.to_bytes(8, "big"))))


def by_rule(count: int) -> Figures:
    index = SimhashIndex()

    def fill() -> None:
        index.extend(fingerprints(count), np.arange(count, dtype=np.uint32))

    return _measured(count, fill, lambda word: index.near(word, TABLE_DISTANCE).keys.size)


def _measured(count: int, fill: Callable[[], None], look_up: Callable[[int], int]) -> Figures:
    before = peak_bytes()
    fill()
    grown, words = peak_bytes() - before, fingerprints(count)[:_LOOKUPS].tolist()
    started = process_time()
    found = sum(map(look_up, words))
    seconds = process_time() - started
    return Figures(round(grown / count), f"{seconds / len(words) * 1e6:.1f}", found - len(words))


def candidates(count: int, design: int) -> float:
    """Return how many of random fingerprints agree by chance with one in a table."""
    return sum(count / 2.0 ** mask.bit_count() for mask in table_masks(design))


def by_method(name: str, count: int, has_notice: bool) -> tuple[str, ...]:
    """Return bytes a value, microseconds of adding one, and milliseconds of a lookup among all."""
    method = open_method(name)
    values = [method.value(text) for text in _written(count, has_notice)]

    def fill() -> MethodIndex:
        index = MethodIndex(method)
        for number, value in enumerate(values):
            index.add(number, value)
        return index

    tracemalloc.start()
    held = fill()
    size = tracemalloc.get_traced_memory()[0] // len(held)
    tracemalloc.stop()
    del held
    adding = processor_seconds(fill) / count
    index, asked = fill(), values[:: count // _TEXT_LOOKUPS]
    looking = processor_seconds(lambda: list(map(index.near, asked))) / len(asked)
    return f"{size:,}", rounded(adding * 1e6), rounded(looking * 1e3)


def _written(count: int, has_notice: bool) -> Iterator[str]:
    """Yield texts of sentences, which may all have the same notice in them."""
    notice, *own = texts(count + 1, sum(_SENTENCES))
    ends = list(accumulate(_SENTENCES))
    for words in own:
        yield ". ".join(
            " ".join((notice if has_notice and size != _OWN else words)[end - size : end])
            for size, end in zip(_SENTENCES, ends, strict=True)
        )


def tables_of_simhash(sizes: Sequence[int]) -> Table:
    head = ("fingerprints", "index", "candidates", "bytes each", "lookup µs", "found")
    table = Table("lookups at a distance of 3 bits", head)
    for count in sizes:
        table.add(f"{count:,}", "rule", f"{candidates(count, 4):.3f}", *apart(by_rule, count))
        for design in DESIGNS:
            expected = f"{candidates(count, design):.3f}"
            table.add(f"{count:,}", f"tables={design}", expected, *apart(by_tables, count, design))
    return table


def methods_of_texts(sizes: Sequence[int]) -> Table:
    head = ("method", "texts", "notice", "bytes each", "add µs", "lookup ms")
    table = Table("lookups by the words of texts", head)
    for name in METHODS:
        for count in sizes:
            for has_notice in (False, True):
                shown = "yes" if has_notice else "no"
                table.add(name, count, shown, *apart(by_method, name, count, has_notice))
    return table


def main() -> int:
    parser = command_parser("benchmarks.speed.tables", __doc__)
    for option, least, sizes in (
        ("--sizes", 2 * _LOOKUPS, [10**4, 10**5]),
        ("--texts", _TEXT_LOOKUPS, [2000, 5000, 20_000]),
    ):
        parser.add_argument(option, type=at_least(least), nargs="+", default=sizes, metavar="N")
    options = parser.parse_args()
    print(tables_of_simhash(options.sizes).as_text())
    print(methods_of_texts(options.texts).as_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
