"""The layout of a packed signature up to its values, so that many can be made at once."""

from __future__ import annotations

import numpy as np

from scrapy_neardup.hashing.minhash import SKETCH_BINS
from scrapy_neardup.signatures.signature import SHOWN_SIZE
from scrapy_neardup.text.word_sums import SIZE as WORD_SUMS_SIZE

#: A packed page up to its values.
HEAD = np.dtype(
    [
        ("fingerprint", "<u8"),
        ("n_features", "<u4"),
        ("n_text", "<u4"),
        ("n_shown", "<u4"),
        ("word_sums", "u1", WORD_SUMS_SIZE),
        ("text", "u1", 16),
        ("shown", "u1", SHOWN_SIZE),
        ("n_values", "u1"),
        ("n_heading", "u1"),
        ("n_facts", "u1"),
        ("n_passages", "u1"),
        ("is_read", "u1"),
        ("sketch", "u1", SKETCH_BINS),
    ]
)
