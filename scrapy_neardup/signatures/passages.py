"""Samples the passages of a page, so that pages with common passages have common samples.

Each passage gets a rank from its keyed hash, the lower the longer it is, and those of the lowest
ranks are taken: a sample by weight without replacement (Efraimidis, Spirakis, Information
Processing Letters 97, 2006), coordinated by the hashes (Cohen, Kaplan, PODC 2007). Two pages share
as many of their samples as their texts are alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import xxhash

#: Number of passages in a sample.
SAMPLE_SIZE = 64
#: Version of the samples, for the recipe.
VERSION = "passages-5"

Passages = npt.NDArray[np.uint64]


def sample(passages: Sequence[str], seed: int) -> bytes:
    """Return the sample of a page, 8 bytes for each passage, those of the lowest ranks first.

    :param passages: the passages; repeated ones count once.
    :param seed: key of the hashes, 64 bits.
    """
    weights = {
        xxhash.xxh3_64_intdigest(data, seed): len(data)
        for data in (passage.encode("utf-8", "surrogatepass") for passage in passages)
    }
    hashes = np.fromiter(weights, np.uint64, len(weights))
    uniform = (hashes.astype(np.float64) + 1) / 2.0**64
    ranks = -np.log(uniform) / np.fromiter(weights.values(), np.float64, len(weights))
    if hashes.size > SAMPLE_SIZE:
        lowest = np.argpartition(ranks, SAMPLE_SIZE)[:SAMPLE_SIZE]
        hashes, ranks = hashes[lowest], ranks[lowest]
    return hashes[np.argsort(ranks, kind="stable")].astype("<u8").tobytes()


def passages_in(data: bytes) -> Passages:
    """Return the hashes of a sample, shape ``(n,)``."""
    return np.frombuffer(data, "<u8")
