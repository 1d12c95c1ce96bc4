"""Decides which made-up page is a copy of which, from its number alone.

Each page has an *index*. The first ones are the wall, one text stored many times; then come
clusters of copies, then pages that are like no other. A last part of these has the addresses of
other pages, of which it is the later version or the earlier one. A page's place in the input is
another one, so that copies are far from each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt

Indexes = npt.NDArray[np.int64]

#: Sizes of consecutive clusters, again and again.
_SIZES = (2, 2, 2, 2, 2, 3, 3, 4, 5, 7)
_PERIOD = sum(_SIZES)
_FIRSTS = np.repeat(np.cumsum((0, *_SIZES[:-1])), _SIZES)
_SHARE_OF_WALL, _SHARE_OF_COPIES, _SHARE_OF_REVISITS = 0.01, 0.1, 0.01
#: The step from one place's index to the next one's, as a part of all: no small multiple of it is
#: a whole number, so that the pages of a text are far from each other.
_GOLDEN = 0.6180339887


@dataclass(frozen=True)
class Layout:
    """So many pages.

    :ivar least_wall: of these are the wall at least.
    :ivar split_pages: of these are written by one task.
    """

    pages: int
    least_wall: int
    split_pages: int

    @property
    def n_splits(self) -> int:
        return -(-self.pages // self.split_pages)

    @property
    def wall(self) -> int:
        """Number of pages with one text."""
        return max(self.least_wall, int(self.pages * _SHARE_OF_WALL))

    @property
    def clustered(self) -> int:
        """Number of pages in clusters of copies."""
        return int(self.pages * _SHARE_OF_COPIES) // _PERIOD * _PERIOD

    @property
    def clusters(self) -> int:
        return self.clustered // _PERIOD * len(_SIZES)

    @property
    def revisits(self) -> int:
        """Number of pages that have the address of another one."""
        return int(self.pages * _SHARE_OF_REVISITS)

    def split(self, number: int) -> Indexes:
        """Return the indexes of a split's pages, in the order of the input."""
        start = number * self.split_pages
        places = np.arange(start, min(start + self.split_pages, self.pages), dtype=np.int64)
        step = int(self.pages * _GOLDEN) | 1
        while gcd(step, self.pages) != 1:
            step += 2
        return places * step % self.pages

    def texts(self, indexes: Indexes) -> Indexes:
        """Return the index of the first page with each page's text."""
        places = indexes - self.wall
        firsts = indexes - places % _PERIOD + _FIRSTS[places % _PERIOD]
        is_copy = (places >= 0) & (places < self.clustered)
        return np.where(places < 0, 0, np.where(is_copy, firsts, indexes))

    def addresses(self, indexes: Indexes) -> Indexes:
        """Return the index of the page whose address each page has, mostly its own."""
        is_revisit = indexes >= self.pages - self.revisits
        return np.where(is_revisit, indexes - self.revisits, indexes)

    def cluster_starts(self) -> Indexes:
        """Return the index of the first page of each cluster, and where the last one ends."""
        starts = np.unique(_FIRSTS)
        periods = np.arange(self.wall, self.wall + self.clustered, _PERIOD)
        return np.append((periods[:, None] + starts).ravel(), self.wall + self.clustered)
