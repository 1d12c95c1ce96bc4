"""Strategies for fingerprints, and for the distances between them."""

from __future__ import annotations

from hypothesis import strategies as st

from scrapy_neardup.hashing.simhash_index import MAX_DISTANCE

UINT64 = st.integers(0, 2**64 - 1)
#: Fingerprints that lie near each other: a few centres with up to 12 bits flipped.
NEAR = st.builds(
    lambda centre, flips: centre ^ sum(1 << bit for bit in flips),
    st.sampled_from([0, 2**64 - 1, 0x0123456789ABCDEF, 0x8000800080008000]),
    st.sets(st.integers(0, 63), max_size=12),
)
DISTANCES = st.integers(0, MAX_DISTANCE)
