"""Converts texts to arrays of code points, and classifies these by script.

All characters of a page are classified at once, by a table of the Basic Multilingual Plane (BMP),
in which nearly all pages are written.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

#: The last code point of the BMP.
LAST_OF_BMP = 0xFFFF
BLANK = ord(" ")

#: Classes of scripts by how their texts are cut into words.
NO_WORD, SPACED, HAN, UNSPACED = range(4)
_HAN = r"\p{Han}"
_UNSPACED = r"[\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
_CLASSES = {SPACED: rf"[\w--[_{_HAN}{_UNSPACED}]]", HAN: _HAN, UNSPACED: _UNSPACED}

#: The characters that Chinese and Japanese write without blanks.
UNSPACED_CLASS = r"[\p{Han}\p{Hiragana}\p{Katakana}ー]"

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
    scripts = _script_table().take(codes, mode="clip")
    if codes.itemsize > 2:
        beyond = np.flatnonzero(codes > LAST_OF_BMP)
        distinct, which = np.unique(codes[beyond], return_inverse=True)
        found = [_script_of(chr(code)) for code in distinct.tolist()]
        scripts[beyond] = np.array(found, np.uint8)[which]
    return scripts


def are_unspaced(codes: CodePoints) -> npt.NDArray[np.bool_]:
    """Return whether each character is of a script without blanks: Han, Hiragana or Katakana."""
    return _unspaced_table().take(codes, mode="clip")


@cache
def _unspaced_table() -> npt.NDArray[np.bool_]:
    table = np.zeros(LAST_OF_BMP + 1, bool)
    _mark(table, UNSPACED_CLASS, True)
    return table


@cache
def _script_table() -> npt.NDArray[np.uint8]:
    table = np.full(LAST_OF_BMP + 1, NO_WORD, np.uint8)
    for script, of_class in _CLASSES.items():
        _mark(table, of_class, script)
    return table


def _mark(table: npt.NDArray[Any], of_class: str, value: int) -> None:
    """Set a value for all characters of the BMP that belong to a class."""
    for run in regex.finditer(f"{of_class}+", _bmp(), flags=regex.V1):
        table[run.start() : run.end()] = value


def _bmp() -> str:
    return "".join(map(chr, range(LAST_OF_BMP + 1)))


@lru_cache(maxsize=1 << 12)
def _script_of(character: str) -> int:
    for script, of_class in _CLASSES.items():
        if regex.fullmatch(of_class, character, flags=regex.V1):
            return script
    return NO_WORD
