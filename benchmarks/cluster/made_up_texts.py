"""Makes sketches and fingerprints up as those of real texts are, many at a time.

All that is random of a text or a site is a hash of its number: any task can make the same.

A sketch has in each bin the least hash of the text's shingles and of the boilerplate that its site
has in every text. So short texts have empty bins, and pages of a site agree in some bins, the more
often the less the boilerplate's hash is. A copy has other values in up to a sixth of the bins, and
up to four other bits in its fingerprint: a text's copies are at a distance of 8 at most.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from scrapy_neardup.hashing.minhash import SKETCH_BINS
from scrapy_neardup.matching.rule import SMALL_FEATURES

from .layout import Indexes, Layout

Bits = npt.NDArray[np.uint64]
_Floats = npt.NDArray[np.float32]

#: A tenth of the pages is of the first site; of the others, site ``n`` has the ``n``-th part of the
#: pages of site 1 (Zipf's law).
_LARGEST, PAGES_OF_SITE = 0.1, 20
#: Part of a site's texts that is boilerplate, on average, and of the largest one's.
_BOILERPLATE, _BOILERPLATE_OF_LARGEST = 0.08, 0.15
#: Shingles of the median text, their spread (of the logarithm), and bounds.
_SHINGLES, _SPREAD, _BOUNDS = 400.0, 0.8, (30, 8000)
#: Of copies: 200 distinct tokens at least, of two shingles each. Of small texts the rule asks more.
_LEAST_OF_COPIES = 2 * SMALL_FEATURES
_MOST_CHANGED, _MOST_FLIPPED = 0.16, 4
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
#: What is hashed of a number, so that nothing depends on anything else.
OF_SITE, OF_TEXT, OF_BINS, OF_FINGERPRINT, OF_CHANGE, OF_PAGE, OF_SIZE = range(1, 8)


def bits(numbers: npt.NDArray[Any], purpose: int, lanes: int) -> Bits:
    """Return random bits for each number; shape ``(n, lanes)`` (SplitMix64)."""
    values = _mixed(numbers.astype(np.uint64) * np.uint64(8) + np.uint64(purpose))
    return _mixed(values[:, None] + np.arange(1, lanes + 1, dtype=np.uint64) * _GOLDEN)


def _mixed(values: Bits) -> Bits:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


def shares(random: Bits) -> npt.NDArray[np.float64]:
    """Return numbers between 0 and 1, neither included."""
    return ((random >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52


def sites_of(layout: Layout, indexes: Indexes) -> Indexes:
    """Return the number of each page's site."""
    of_largest, place = shares(bits(indexes, OF_SITE, 2)).T
    others = (max(layout.pages // PAGES_OF_SITE, 2.0) ** place).astype(np.int64)
    return np.where(of_largest < _LARGEST, 0, others)


class Texts:
    """The texts of some pages.

    :param indexes: of the pages; what is returned is in their order.
    """

    def __init__(self, layout: Layout, indexes: Indexes) -> None:
        self._indexes = indexes
        self.numbers = layout.texts(indexes)
        # The boilerplate is that of the first page, wherever the copies are.
        self._sites, self._places = np.unique(sites_of(layout, self.numbers), return_inverse=True)
        #: Pages whose text is another's, but for some changes.
        self._copies = np.flatnonzero((self.numbers != indexes) & (indexes >= layout.wall))
        is_alone = indexes >= layout.wall + layout.clustered
        self._least = np.where(is_alone, _BOUNDS[0], _LEAST_OF_COPIES)

    @cached_property
    def shingles(self) -> npt.NDArray[np.int64]:
        """Number of shingles of each text."""
        one, other = shares(bits(self.numbers, OF_TEXT, 2)).T
        # A normal deviate (Box, Muller, 1958).
        deviates = np.sqrt(-2 * np.log(one)) * np.cos(2 * np.pi * other)
        counts = (_SHINGLES * np.exp(_SPREAD * deviates)).astype(np.int64)
        clipped: npt.NDArray[np.int64] = np.clip(counts, self._least, _BOUNDS[1])
        return clipped

    @cached_property
    def fingerprints(self) -> Bits:
        """The fingerprint of each page, shape ``(n,)``."""
        random = bits(self.numbers, OF_FINGERPRINT, 9)
        # A bit is the site's as often as a shingle is.
        bounds = (256 * _boilerplates(self._sites)).astype(np.uint8)[self._places, None]
        flags = np.ascontiguousarray(random[:, 1:]).view(np.uint8) < bounds
        is_sites = np.packbits(flags, axis=1).view(np.uint64)[:, 0]
        of_sites = bits(self._sites, OF_FINGERPRINT, 1)[self._places, 0]
        found: Bits = (random[:, 0] & ~is_sites) | (of_sites & is_sites)
        change = bits(self._indexes[self._copies], OF_FINGERPRINT, 1)[:, 0]
        for number in range(_MOST_FLIPPED):
            place = change >> np.uint64(6 * number) & np.uint64(63)
            is_flipped = change % np.uint64(_MOST_FLIPPED + 1) > np.uint64(number)
            found[self._copies] ^= is_flipped.astype(np.uint64) << place
        return found

    @cached_property
    def sketches(self) -> npt.NDArray[np.uint8]:
        """The sketch of each page, shape ``(n, SKETCH_BINS)``."""
        values, hashes = _bins(self.numbers, self.shingles)
        share = _boilerplates(self._sites)
        site_values, site_hashes = _bins(self._sites + (1 << 48), _SHINGLES * share / (1 - share))
        theirs = site_hashes[self._places]
        sketches = np.where(theirs < hashes, site_values[self._places], values)
        sketches[np.minimum(theirs, hashes) > 1] = 0
        sketches[self._copies] = self._changed(sketches[self._copies])
        return sketches

    def _changed(self, sketches: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        random = bits(self._indexes[self._copies], OF_CHANGE, 1 + SKETCH_BINS // 4)
        bounds = _MOST_CHANGED * shares(random[:, :1]) * (1 << 8)
        lanes = np.ascontiguousarray(random[:, 1:]).view(np.uint16)
        is_changed = ((lanes >> 8) < bounds) & (sketches != 0)
        return np.where(is_changed, (lanes & 0xFF) * 255 // 256 + 1, sketches).astype(np.uint8)


def _boilerplates(sites: Indexes) -> npt.NDArray[np.float64]:
    """Return which part of the texts of each site is boilerplate."""
    # Exponential, and bounded.
    found = -_BOILERPLATE * np.log(shares(bits(sites, OF_SITE, 1)[:, 0]))
    return np.where(sites == 0, _BOILERPLATE_OF_LARGEST, np.clip(found, 0.005, 0.5))


def _bins(numbers: Indexes, shingles: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], _Floats]:
    """Return the value of each bin and its least hash, as a part of the largest one.

    Above 1 there is none: the bin is empty.
    """
    random = bits(numbers, OF_BINS, SKETCH_BINS // 2).view(np.uint32)
    values = (((random & 0xFF) * np.uint32(255)) >> 8).astype(np.uint8) + np.uint8(1)
    uniform = ((random >> 8).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-24)
    # The least of k random numbers, k being a Poisson variable of this mean.
    hashes = -np.log(uniform) * (SKETCH_BINS / shingles).astype(np.float32)[:, None]
    return values, hashes
