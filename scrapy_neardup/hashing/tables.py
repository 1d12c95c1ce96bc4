"""Table designs for Hamming search: which bits of a fingerprint are looked up together.

In every design two fingerprints within the distance agree in all bits of one table at least, so
whoever compares all entries of a table that agree in these bits finds every one (Manku, Jain, Das
Sarma, "Detecting near-duplicates for web crawling", WWW 2007, section 3). More tables have more
bits each: fewer entries agree by chance, and the tables take more memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

#: Width and distance of the designs.
TABLE_BITS = 64
TABLE_DISTANCE = 3

#: Bits of a table's number in its keys, above those of the fingerprint.
_NUMBER_SHIFT = 128


def blocks(bits: int, number: int) -> list[tuple[int, int]]:
    """Return shift and width of equal blocks from the lowest bit on; the last takes the rest."""
    width = bits // number
    widths = [width] * (number - 1) + [bits - width * (number - 1)]
    return [(place * width, size) for place, size in enumerate(widths)]


@cache
def block_masks(bits: int, number: int) -> tuple[int, ...]:
    """Return the masks of one table for each block.

    With a block more than bits may differ, one block agrees.
    """
    return tuple(((1 << width) - 1) << shift for shift, width in blocks(bits, number))


@cache
def table_masks(design: int) -> tuple[int, ...]:
    """Return the masks of a design's tables, see :data:`DESIGNS`."""
    return DESIGNS[design]()


def _four() -> tuple[int, ...]:
    return block_masks(TABLE_BITS, 4)


def _sixteen() -> tuple[int, ...]:
    """One block of four, and one of four blocks of what is left: 28 bits each."""
    found = []
    for first in _four():
        rest = [bit for bit in range(TABLE_BITS) if not first >> bit & 1]
        for shift, width in blocks(len(rest), 4):
            found.append(first | sum(1 << bit for bit in rest[shift : shift + width]))
    return tuple(found)


def _twenty() -> tuple[int, ...]:
    """Three of six blocks: 31 to 33 bits each."""
    widths = (11, 11, 11, 11, 10, 10)
    shifts = [sum(widths[:place]) for place in range(6)]
    six = [((1 << width) - 1) << shift for shift, width in zip(shifts, widths, strict=True)]
    return tuple(sum(chosen) for chosen in combinations(six, 3))


#: Designs by their number of tables, for 64 bits and distance 3.
DESIGNS = {4: _four, 16: _sixteen, 20: _twenty}


def table_keys(fingerprint: int, design: int) -> Iterator[int]:
    """Return the key of a fingerprint in each table of a design."""
    return _keys(fingerprint, table_masks(design))


def block_keys(fingerprint: int, bits: int, number: int) -> Iterator[int]:
    """Return the key of a fingerprint in each table of one block."""
    return _keys(fingerprint, block_masks(bits, number))


def _keys(fingerprint: int, masks: tuple[int, ...]) -> Iterator[int]:
    for number, mask in enumerate(masks):
        yield number << _NUMBER_SHIFT | fingerprint & mask
