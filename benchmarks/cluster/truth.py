"""Compares what a run has found with what its pages were made as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from scrapy_neardup import Rule
from scrapy_neardup.cluster import Found
from scrapy_neardup.hashing.minhash import resemblances

from .layout import Indexes, Layout
from .made_up_texts import Texts

_AT_ONCE = 1 << 12
_Pairs = npt.NDArray[np.int64]


@dataclass
class Checked:
    """Counts of planted pairs and clusters, and of those that were found.

    :ivar planted: pairs of one cluster that the rule accepts by distance and similarity.
    :ivar found: of these.
    :ivar below: further pairs of one cluster that were found.
    :ivar strange: pairs that were found of texts that have nothing in common.
    :ivar walls: pairs of the wall that were found.
    :ivar clusters: that were planted.
    :ivar exact: clusters that were found as they were planted.
    :ivar wall_parts: clusters in which the wall was found: 1 if none of its pages was missed.
    :ivar wall_missed: pages of the wall that are in none of them.
    :ivar replaced_missed: pages that a later one of the same address replaces, but did not.
    """

    planted: int
    found: int
    below: int
    strange: int
    walls: int
    clusters: int
    exact: int
    wall_parts: int
    wall_missed: int
    replaced_missed: int

    @property
    def recall(self) -> float:
        return self.found / max(self.planted, 1)

    @property
    def is_right(self) -> bool:
        return (
            self.recall >= 0.999
            and self.exact >= 0.999 * self.clusters
            and (self.wall_parts, self.wall_missed) == (1, 0)
            and not (self.strange or self.replaced_missed)
        )


def check(found: Found, layout: Layout, rule: Rule) -> Checked:
    """Compare the pairs and the clusters of a run with those that were planted."""
    pairs = _found_pairs(found)
    is_of_wall = pairs[:, 1] < layout.wall
    first, second = (layout.texts(column) for column in pairs.T)
    is_planted = ~is_of_wall & (first == second)
    codes = np.sort(_codes(pairs[is_planted]))
    planted = _codes(np.concatenate(list(_planted_pairs(layout, rule))))
    places = np.minimum(np.searchsorted(codes, planted), max(codes.size - 1, 0))
    recalled = int((codes[places] == planted).sum()) if codes.size else 0
    exact, wall_parts, wall_found = _clusters(found, layout)
    return Checked(
        planted=planted.size,
        found=recalled,
        below=codes.size - recalled,
        strange=int((first != second).sum()),
        walls=int((is_of_wall & (first == second)).sum()),
        clusters=layout.clusters,
        exact=exact,
        wall_parts=wall_parts,
        wall_missed=layout.wall - wall_found,
        replaced_missed=layout.revisits - found.replaced,
    )


def _found_pairs(found: Found) -> _Pairs:
    """Return the indexes of the found pairs, the lesser first; shape ``(n, 2)``."""
    ids = chain.from_iterable((line["id_a"], line["id_b"]) for line in found.pair_lines())
    return np.sort(np.fromiter(ids, np.int64).reshape(-1, 2), axis=1)


def _planted_pairs(layout: Layout, rule: Rule) -> Iterator[_Pairs]:
    """Yield the pairs of each cluster that the rule accepts by distance and similarity."""
    starts = layout.cluster_starts()
    yield np.empty((0, 2), np.int64)
    for place in range(0, starts.size - 1, _AT_ONCE):
        some = starts[place : place + _AT_ONCE + 1]
        texts = Texts(layout, np.arange(some[0], some[-1]))
        pairs = _within(some)
        one, other = pairs.T - some[0]
        distances = np.bitwise_count(texts.fingerprints[one] ^ texts.fingerprints[other])
        similarities = resemblances(texts.sketches[one], texts.sketches[other])
        yield pairs[(distances <= rule.max_distance) & (similarities >= rule.min_similarity)]


def _within(starts: Indexes) -> _Pairs:
    """Return all pairs of pages of one cluster, given where each cluster starts."""
    sizes = np.diff(starts)
    parts = [np.empty((0, 2), np.int64)]
    for size in np.unique(sizes).tolist():
        one, other = np.triu_indices(size, 1)
        firsts = starts[:-1][sizes == size, None]
        parts.append(np.stack((firsts + one, firsts + other), axis=2).reshape(-1, 2))
    return np.concatenate(parts)


def _codes(pairs: _Pairs) -> Indexes:
    codes: Indexes = (pairs[:, 0] << 32) | pairs[:, 1]
    return codes


def _clusters(found: Found, layout: Layout) -> tuple[int, int, int]:
    """Return how many clusters are as planted, and how many have how many pages of the wall."""
    starts = layout.cluster_starts()
    sizes = dict(zip(starts[:-1].tolist(), np.diff(starts).tolist(), strict=True))
    exact, parts, of_wall = 0, 0, 0
    for line in found.cluster_lines():
        ids = np.array(line["ids"], np.int64)
        texts = layout.texts(ids)
        if (texts != texts[0]).any():
            continue
        if texts[0] < layout.wall:
            parts, of_wall = parts + 1, of_wall + ids.size
        else:
            exact += sizes.get(int(texts[0])) == ids.size
    return exact, parts, of_wall
