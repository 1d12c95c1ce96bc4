"""Converts texts to arrays of code points, and classifies these by script.

All characters of a page are classified at once, by a table.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import numpy.typing as npt
import regex

BLANK = ord(" ")

#: Classes of scripts by how their texts are cut into words.
NO_WORD, SPACED, HAN, UNSPACED = range(4)
_HAN = r"\p{Han}"
_UNSPACED = r"[\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
_CLASSES = {SPACED: rf"[\w--[_{_HAN}{_UNSPACED}]]", HAN: _HAN, UNSPACED: _UNSPACED}

#: Unicode code points, shape ``(n,)``; 16 bits wide if the text is within the BMP.
CodePoints = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def code_points(text: str) -> CodePoints:
    """Return the code point of each character, lone surrogates included."""
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * len(text):
        return np.frombuffer(data, "<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def as_text(codes: CodePoints) -> str:
    """Return the text of some code points."""
    if codes.itemsize == 2:
        text = codes.tobytes().decode("utf-16-le", "surrogatepass")
        if len(text) == codes.size:
            return text
        # Two lone surrogates were decoded as one character.
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def scripts_of(codes: CodePoints) -> npt.NDArray[np.uint8]:
    """Return the class of each character: :data:`NO_WORD`, :data:`SPACED` and so on."""
    return _script_table().take(codes)


@cache
def _script_table() -> npt.NDArray[np.uint8]:
    table = np.zeros(sys.maxunicode + 1, np.uint8)
    characters = as_text(np.arange(sys.maxunicode + 1, dtype=np.uint32))
    for number, of_class in _CLASSES.items():
        for run in regex.finditer(f"{of_class}+", characters, flags=regex.V1):
            table[run.start() : run.end()] = number
    return table
