"""Computes 64-bit simhash fingerprints (Charikar, STOC 2002, section 3).

Each feature is a 64-bit hash with a weight. Bit *i* of the fingerprint says on
which side of a random hyperplane the document lies: the weights of the features
whose hash has bit *i* set are added, the others subtracted::

    bit 63 (most significant)                                      bit 0
    |  block 0 (16 bits)  |  block 1  |  block 2  |  block 3 (bits 15..0)  |

**Ties.** A bit is set when its sum is greater than zero; a sum of exactly zero
leaves the bit clear. Weights are integers, so a sum does not depend on the order
of its terms, and ties are broken the same way on every machine.
"""

from __future__ import annotations

from string import hexdigits

import numpy as np
import numpy.typing as npt

#: Length of a fingerprint in bits.
BITS = 64

_MAX = (1 << BITS) - 1
#: Below this total, 32-bit sums suffice, which take half the time.
_NARROW = 1 << 31


def simhash(hashes: npt.NDArray[np.uint64], weights: npt.NDArray[np.float64]) -> int:
    """Return the fingerprint of weighted features.

    :param hashes: shape ``(n,)``, one well-mixed 64-bit hash a feature.
    :param weights: shape ``(n,)``, whole numbers >= 0; their total must stay below 2**53, so that
        sums of whole floats are exact in any order.
    :returns: an integer in ``[0, 2**64)``; 0 when there are no features.

    The sum for a bit is ``2 * (weight with the bit set) - total``.
    """
    total = weights.sum()
    width = np.int32 if total < _NARROW else np.int64
    # Bytes and, within each, bits from the most significant on.
    is_set = np.unpackbits(hashes.astype(">u8").view(np.uint8)).reshape(-1, BITS)
    weight_set = np.einsum("i,ij->j", weights.astype(width), is_set)
    bits = weight_set > total - weight_set
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def hamming_distance(a: int, b: int) -> int:
    """Return the number of bits, 0 to 64, in which two fingerprints differ."""
    return (a ^ b).bit_count()


def distance_of_bytes(a: bytes, b: bytes) -> int:
    """Return the number of bits in which two fingerprints of equal length differ."""
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).bit_count()


def to_hex(fingerprint: int) -> str:
    """Return a fingerprint as sixteen lower-case hexadecimal digits, most significant first.

    :raises ValueError: if the number is not in ``[0, 2**64)``.
    """
    if not 0 <= fingerprint <= _MAX:
        raise ValueError(f"fingerprint must lie between 0 and 2**64 - 1, got {fingerprint}")
    return f"{fingerprint:016x}"


def from_hex(digits: str) -> int:
    """Parse a fingerprint that :func:`to_hex` wrote.

    :raises ValueError: if the text is not exactly sixteen hexadecimal digits.
    """
    if len(digits) != BITS // 4 or not set(hexdigits).issuperset(digits):
        raise ValueError(f"fingerprint must have sixteen hexadecimal digits, got {digits!r}")
    return int(digits, 16)
