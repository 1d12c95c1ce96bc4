"""Characters as numbers, and of which script each is.

Whatever is asked of each character of a page is asked of all at once, by a table of the Basic
Multilingual Plane, in which nearly all pages are written.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
import regex

#: The plane's last character.
LAST_OF_BMP = 0xFFFF
BLANK = ord(" ")

#: Scripts, as far as words are cut in different ways.
NO_WORD, SPACED, HAN, UNSPACED = range(4)
_HAN = r"\p{Han}"
_UNSPACED = r"[\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
_CLASSES = {SPACED: rf"[\w--[_{_HAN}{_UNSPACED}]]", HAN: _HAN, UNSPACED: _UNSPACED}

#: What stands without blanks in Chinese and Japanese.
UNSPACED_CLASS = r"[\p{Han}\p{Hiragana}\p{Katakana}ー]"

#: Unicode's code points, shape ``(n,)``: of half the width where the text is in the basic plane.
CodePoints = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def code_points(text: str) -> CodePoints:
    """Code point of each character; a lone surrogate has its own."""
    data = text.encode("utf-16-le", "surrogatepass")
    if len(data) == 2 * len(text):
        return np.frombuffer(data, "<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def as_text(codes: CodePoints) -> str:
    """The characters of these code points."""
    if codes.itemsize == 2:
        text = codes.tobytes().decode("utf-16-le", "surrogatepass")
        if len(text) == codes.size:
            return text
        # Two lone surrogates were taken for one character.
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def scripts_of(codes: CodePoints) -> npt.NDArray[np.uint8]:
    """For each character :data:`NO_WORD`, :data:`SPACED`, :data:`HAN` or :data:`UNSPACED`."""
    scripts = _script_table().take(codes, mode="clip")
    if codes.itemsize > 2:
        beyond = np.flatnonzero(codes > LAST_OF_BMP)
        distinct, which = np.unique(codes[beyond], return_inverse=True)
        found = [_script_of(chr(code)) for code in distinct.tolist()]
        scripts[beyond] = np.array(found, np.uint8)[which]
    return scripts


def without_blanks(codes: CodePoints) -> npt.NDArray[np.bool_]:
    """Which characters are of a script that writes no blanks: Han, Hiragana or Katakana?"""
    return _unspaced_table().take(codes, mode="clip")


@cache
def _unspaced_table() -> npt.NDArray[np.bool_]:
    plane = "".join(map(chr, range(LAST_OF_BMP + 1)))
    table = np.zeros(len(plane), bool)
    for run in regex.finditer(f"{UNSPACED_CLASS}+", plane, flags=regex.V1):
        table[run.start() : run.end()] = True
    return table


@cache
def _script_table() -> npt.NDArray[np.uint8]:
    plane = "".join(map(chr, range(LAST_OF_BMP + 1)))
    table = np.full(len(plane), NO_WORD, np.uint8)
    for script, of_class in _CLASSES.items():
        for run in regex.finditer(f"{of_class}+", plane, flags=regex.V1):
            table[run.start() : run.end()] = script
    return table


@lru_cache(maxsize=1 << 12)
def _script_of(character: str) -> int:
    for script, of_class in _CLASSES.items():
        if regex.fullmatch(of_class, character, flags=regex.V1):
            return script
    return NO_WORD
