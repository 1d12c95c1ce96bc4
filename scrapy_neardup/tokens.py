"""Text to tokens: normalisation, words of every script, jieba for runs of Han characters.

No language has to be named. A text is cut into runs by script:

* Han characters: words by jieba's dictionary and HMM (``rjieba``, the same algorithm in Rust,
  is taken when it is installed);
* scripts written without spaces for which no dictionary is at hand (kana, Thai, Lao, Khmer,
  Myanmar): overlapping pairs of characters;
* everything else: maximal runs of letters, marks and digits.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import resources
from importlib.util import find_spec
from typing import Protocol

import regex
import xxhash

from .exceptions import InvalidOption

#: Soft hyphen, zero-width and direction marks: they are not seen, so they do not count.
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}--\u3164]+", regex.V1)

_UNSPACED = r"\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_RUNS = regex.compile(
    rf"(?P<han>\p{{Han}}+)|(?P<unspaced>[{_UNSPACED}]+)|[\w--[_\p{{Han}}{_UNSPACED}]]+",
    regex.V1,
)

_HAN_WORD = regex.compile(r"\p{Han}{2,}")
#: No Han character comes before it; it spares most tokens the question.
_FIRST_HAN = "\u2e80"


class Tokenizer(Protocol):
    """Cuts normalised text into tokens. A plain function of this shape does as well."""

    def __call__(self, text: str, /) -> Iterable[str]: ...


def normalize(text: str) -> str:
    """Fold what looks or reads the same: NFKC, case, invisible characters, white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Case folding can undo the composition (Unicode 3.13, D145), so it is done again.
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", folded))
    return " ".join(folded.split())


class ScriptTokenizer:
    """The shipped tokenizer.

    :param cut_han: cuts runs of Han characters; a run never reaches over another script.
    """

    def __init__(self, cut_han: Callable[[list[str]], Iterator[list[str]]]) -> None:
        self._cut_han = cut_han

    def __call__(self, text: str) -> list[str]:
        """Tokens of normalised text, in reading order."""
        matches = list(_RUNS.finditer(text))
        han_words = self._cut_han([run for match in matches if (run := match["han"])])
        tokens: list[str] = []
        for match in matches:
            if match["han"]:
                tokens += next(han_words)
            elif match["unspaced"]:
                tokens += character_pairs(match["unspaced"])
            else:
                tokens.append(match[0])
        return tokens


def shingle_units(tokens: Iterable[str]) -> list[str]:
    """Tokens with words of Han characters cut into characters.

    One different character can move the borders of a dictionary's words all around it; a
    resemblance of word runs would make much of that.
    """
    return [
        unit
        for token in tokens
        for unit in (token if token >= _FIRST_HAN and _HAN_WORD.match(token) else (token,))
    ]


def character_pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; a single character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def jieba_words(runs: list[str]) -> Iterator[list[str]]:
    """Words of each run by jieba, its dictionary and HMM."""
    cut = _jieba_cut() if runs else None
    for run in runs:
        assert cut is not None
        yield list(cut(run))


def rjieba_words(runs: list[str]) -> Iterator[list[str]]:
    """Words of each run by jieba-rs, in one call: runs joined by a space, which it keeps."""
    if not runs:
        return
    import rjieba

    words: list[str] = []
    for word in rjieba.cut(" ".join(runs)):
        if word == " ":
            yield words
            words = []
        else:
            words.append(word)
    yield words


def characters(runs: list[str]) -> Iterator[list[str]]:
    """Each run as overlapping pairs of characters: no dictionary at all."""
    return map(character_pairs, runs)


@cache
def _jieba_cut() -> Callable[[str], Iterable[str]]:
    """jieba's own cut over its bundled dictionary, built in this process.

    jieba would load a cache file of a known name from the shared temporary folder without
    looking whose it is; a planted one changes every fingerprint. Reading the dictionary again
    takes a few tenths of a second, once.
    """
    import jieba

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    cut: Callable[[str], Iterable[str]] = tokenizer.cut
    return cut


@cache
def _jieba_dictionary_digest() -> str:
    """Hash of the dictionary that jieba and rjieba both carry."""
    return xxhash.xxh3_64_hexdigest((resources.files("jieba") / "dict.txt").read_bytes())


def shipped_tokenizer(name: str) -> tuple[Tokenizer, str]:
    """The tokenizer of that name, and an identity under which its tokens can be compared.

    ``"auto"`` is rjieba when it is installed and jieba otherwise; they give the same tokens and
    have the same identity. ``"pairs"`` uses pairs of characters for Han as well.

    :raises InvalidOption: when there is none of that name, or its package is not installed.
    """
    if name == "pairs":
        return ScriptTokenizer(characters), "pairs-1"
    if name == "auto":
        name = "rjieba" if find_spec("rjieba") else "jieba"
    if name == "rjieba" and not find_spec("rjieba"):
        raise InvalidOption("tokenizer", name, "installed (pip install rjieba), or 'jieba'")
    if name not in ("jieba", "rjieba"):
        raise InvalidOption(
            "tokenizer", name, "'auto', 'jieba', 'rjieba', 'pairs' or an import path"
        )
    words = rjieba_words if name == "rjieba" else jieba_words
    return ScriptTokenizer(words), f"jieba-1-{_jieba_dictionary_digest()}"
