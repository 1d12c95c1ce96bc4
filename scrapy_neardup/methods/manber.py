"""Manber's fingerprints (USENIX Winter 1994): how much of one file is in another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .._util.encoding import utf8
from ..exceptions import InvalidOption
from .base import Method
from .words import PIECE, PackedSetKeys, members, packed_set, share_of_larger, shared

#: Five modulo eight, so that its powers modulo ``2**30`` are as many as can be, and so are those in
#: the lowest bits: these bits depend on the order of the bytes.
_BASE = 0x2C9277B5
_MODULUS_BITS = 30
_MASK = np.uint64((1 << _MODULUS_BITS) - 1)


@dataclass(frozen=True, kw_only=True)
class Manber(PackedSetKeys, Method):
    """Fingerprints of windows of bytes, kept where their lowest bits are zero.

    The windows overlap and are chosen by their content, so an insertion changes only the
    fingerprints around it. The similarity is containment: the share of the new content's
    fingerprints that the known one has. A quote in a long page has a high one, and the long page
    beside the quote a low one. Near-duplicates contain each other: what holds more is no duplicate.

    Good for: quotes, reprints with other text around, and files of any kind. Bad for: short texts,
    of which hardly a window is kept; pages that quote each other and say something else.

    :ivar window: bytes in a window.
    :ivar one_in: of so many windows one is kept on average, a power of 2.
    """

    name: ClassVar[str] = "manber"
    counts: ClassVar[tuple[str, ...]] = ("window",)
    window: int = 50
    one_in: int = 64
    min_similarity: float = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.one_in < 1 or self.one_in.bit_count() != 1 or self.one_in > 1 << 20:
            raise InvalidOption("one_in", self.one_in, "a power of 2, at most 1048576")

    def value(self, content: str | bytes) -> bytes:
        data, kept = utf8(content), [np.empty(0, np.uint64)]
        for start in range(0, len(data), PIECE):
            found = window_values(data[start : start + PIECE + self.window - 1], self.window)
            kept.append(found[found & np.uint64(self.one_in - 1) == 0])
        return packed_set(np.concatenate(kept))

    def similarity(self, new: bytes, known: bytes) -> float:
        return shared(new, known) / members(new).size

    def is_near(self, new: bytes, known: bytes) -> bool:
        return share_of_larger(new, known) >= self.min_similarity

    def explain(self, new: bytes, known: bytes) -> str:
        of_new, of_known = self.similarity(new, known), self.similarity(known, new)
        return f"{of_new:.0%} in the other, and {of_known:.0%} of that one"

    @property
    def requirement(self) -> str:
        return f"at least {self.min_similarity:g} of both"

    def describe(self, value: bytes) -> str:
        number = members(value).size
        return f"{number:,} fingerprint{'' if number == 1 else 's'}"


def window_values(data: bytes, window: int) -> npt.NDArray[np.uint64]:
    """Return the value of each window: its bytes as digits of a number, modulo ``2**30``.

    :returns: shape ``(len(data) - window + 1,)``, in reading order; empty for shorter data.

    Windows of twice a length are made of two windows of that length, which takes a number of steps
    that grows with the logarithm of the window.
    """
    count = len(data) - window + 1
    if count < 1:
        return np.empty(0, np.uint64)
    part = np.frombuffer(data, np.uint8).astype(np.uint64) + np.uint64(1)
    length, made, done = 1, np.zeros(len(data) + 1, np.uint64), 0
    # The window's length as a sum of powers of 2; ``made`` has the windows of those added so far.
    while True:
        if window & length:
            size = len(data) - (done + length) + 1
            made = made[:size] * _power(length) + part[done : done + size]
            done += length
        if done == window:
            return made[:count] & _MASK
        part = part[: part.size - length] * _power(length) + part[length:]
        length *= 2


def _power(exponent: int) -> np.uint64:
    # Modulo 2**64, of which 2**30 is a divisor.
    return np.uint64(pow(_BASE, exponent, 1 << 64))
