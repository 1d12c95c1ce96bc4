"""Reference implementations, in plain Python, of the package's numpy code.

Slow and obvious on purpose; nothing here is imported from the package.
"""

from __future__ import annotations

import gzip
import math
from collections import Counter
from functools import cache
from pathlib import Path

import xxhash

TABLE = Path(__file__).parents[2] / "scrapy_neardup" / "text" / "data" / "idf-multilingual.txt.gz"


@cache
def idf_weights() -> tuple[dict[str, int], int]:
    """Token to weight, and the weight of all other tokens, read straight from the file."""
    header, *lines = gzip.decompress(TABLE.read_bytes()).decode().split("\n")
    weights = {
        token: int(weight)
        for weight, tokens in (line.split("\t") for line in lines if line)
        for token in tokens.split(" ")
    }
    return weights, int(header.split('"default": ')[1].rstrip("}"))


def charikar(features: dict[int, int]) -> int:
    """Simhash by the letter: 64 sums over hash to weight, one for each bit."""
    sums = [0] * 64
    for hashed, weight in features.items():
        for bit in range(64):
            sums[bit] += weight if hashed >> bit & 1 else -weight
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


def fingerprint(tokens: list[str]) -> int:
    """The fingerprint of a text that was cut into these tokens."""
    weights, default = idf_weights()
    return charikar(
        {
            xxhash.xxh3_64_intdigest(token.encode()): round(16 * (1 + math.log(count)))
            * (1 if any(map(str.isdecimal, token)) else weights.get(token, default))
            for token, count in Counter(tokens).items()
        }
    )


def jaccard(a: list[str], b: list[str], width: int = 3) -> float:
    """Exact resemblance of two texts over their shingles."""
    first, second = (
        {tuple(tokens[i : i + width]) for i in range(len(tokens) - width + 1)} for tokens in (a, b)
    )
    return len(first & second) / len(first | second)
