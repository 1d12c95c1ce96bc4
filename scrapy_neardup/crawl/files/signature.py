"""Digests of a file, and the fingerprints by which nearly equal files are found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...methods.manber import Manber
from ...methods.words import members

#: Of so many windows of bytes one is kept, at least and at most. In between, the number grows with
#: the file, so that some thousand windows are kept.
_ONE_IN, _MAX_ONE_IN = 64, 1024
_FINGERPRINTS = 1024
#: Two files are compared if each has so many fingerprints, some 500 bytes.
MIN_FINGERPRINTS = 8
#: So many fingerprints of a file are looked up. Of two files with a similarity of 0.5 each of them
#: is in both with a probability of 1/3.
_KEYS = 64
_BITS = 30


@dataclass(frozen=True, slots=True)
class FileSignature:
    """The signature of a file's content.

    :ivar digest: BLAKE2b, 32 bytes.
    :ivar md5: hexadecimal, as the stores of Scrapy tell it.
    :ivar size: bytes.
    :ivar one_in: of so many windows one has a fingerprint.
    :ivar fingerprints: of a :class:`~scrapy_neardup.methods.manber.Manber` with that number;
        empty for a file that is compared for equality only.
    """

    digest: bytes
    md5: str
    size: int
    one_in: int
    fingerprints: bytes


def sign_file(body: bytes, max_bytes: int) -> FileSignature:
    """Return the signature of a file.

    :param max_bytes: a larger file has no fingerprints.
    """
    one_in = _ONE_IN
    while one_in < _MAX_ONE_IN and len(body) > one_in * _FINGERPRINTS:
        one_in *= 2
    return FileSignature(
        digest=hashlib.blake2b(body, digest_size=32).digest(),
        md5=hashlib.md5(body, usedforsecurity=False).hexdigest(),
        size=len(body),
        one_in=one_in,
        fingerprints=b"" if len(body) > max_bytes else _fingerprints(body, one_in),
    )


def _fingerprints(body: bytes, one_in: int) -> bytes:
    try:
        return Manber(one_in=one_in).value(body)
    except MemoryError:
        # Equal files are still found.
        return b""


def similarity(a: FileSignature, b: FileSignature) -> float:
    """Return the share of fingerprints that two files have in common, 0 to 1.

    It is the share of the file with more of them, so that a small file within a large one is not
    nearly equal to it. Files with few fingerprints are compared for equality only, and have 0.
    """
    one_in = max(a.one_in, b.one_in)
    ours, theirs = _sampled(a, one_in), _sampled(b, one_in)
    if min(ours.size, theirs.size) < MIN_FINGERPRINTS:
        return 0.0
    both = np.intersect1d(ours, theirs, assume_unique=True).size
    return float(both / max(ours.size, theirs.size))


def keys_of(signature: FileSignature) -> Iterable[int]:
    """Return the fingerprints by which a file is looked up.

    They are the first in the order of their reversed bits. Fingerprints that are kept at a higher
    ``one_in`` end with more zeros, so they come first, and files of different sizes share keys.
    """
    kept = members(signature.fingerprints)
    first: list[int] = kept[np.argsort(_reversed(kept))[:_KEYS]].tolist()
    return first


def _sampled(signature: FileSignature, one_in: int) -> npt.NDArray[np.uint32]:
    kept = members(signature.fingerprints)
    return kept if one_in == signature.one_in else kept[kept & np.uint32(one_in - 1) == 0]


def _reversed(values: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    rest, found = values.copy(), np.zeros_like(values)
    for _ in range(_BITS):
        found = found << np.uint32(1) | rest & np.uint32(1)
        rest >>= np.uint32(1)
    return found
