"""Splits normalised text into tokens: words of any script, with jieba for Han characters.

The language need not be known. A text is cut into runs by script:

* Han characters: words by jieba's dictionary and HMM (or ``rjieba``, the same algorithm in Rust,
  if it is installed);
* scripts without spaces for which there is no dictionary (kana, Thai, Lao, Khmer, Myanmar):
  overlapping pairs of characters;
* everything else: maximal runs of letters, marks and digits. Tokens are never truncated, so
  different ones stay different; the limit on a page's text bounds them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import regex
import xxhash

from .._util.arrays import run_boundaries
from ..exceptions import InvalidOption, MissingPackage
from .characters import BLANK, HAN, SPACED, UNSPACED, CodePoints, as_text, code_points, scripts_of

#: Longest run for jieba, whose time grows faster than the run's length.
_LONGEST_RUN = 500

#: Paths in jieba's package of the tables that determine its words.
_JIEBA_TABLES = ("dict.txt", *(f"finalseg/prob_{name}.py" for name in ("emit", "start", "trans")))

_HAN_WORD = regex.compile(r"\p{Han}{2,}")
#: All Han characters are at or above it; a cheap test that rules out most tokens.
_FIRST_HAN = "\u2e80"

_ALL = slice(None)
Places = npt.NDArray[np.intp]


class Tokenizer(Protocol):
    """Splits normalised text into tokens; a plain function with this signature is one too."""

    def __call__(self, text: str, /) -> Iterable[str]: ...


@dataclass(frozen=True, slots=True)
class Spans:
    """Tokens of a text as spans, in reading order.

    :ivar codes: the text, see :func:`~scrapy_neardup.text.characters.code_points`.
    :ivar starts: shape ``(n,)``, index in the text at which each token begins.
    :ivar lengths: shape ``(n,)``, number of characters of each token.
    """

    text: str
    codes: CodePoints
    starts: Places
    lengths: Places

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Spans:
        """Return the spans of tokens in their concatenation."""
        text, lengths = "".join(tokens), _lengths(tokens)
        return cls(text, code_points(text), np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def joined(cls, parts: Sequence[Spans]) -> Spans:
        """Return the tokens of several texts, one text after another, as one object."""
        first, *others = parts
        if not others:
            return first
        if any(part.text is not first.text for part in others):
            return cls.of([token for part in parts for token in part])
        starts = np.concatenate([part.starts for part in parts])
        lengths = np.concatenate([part.lengths for part in parts])
        return cls(first.text, first.codes, starts, lengths)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens())

    def tokens(self, chosen: Places | slice = _ALL) -> list[str]:
        """Return all tokens, or the chosen ones, as strings."""
        starts = self.starts[chosen]
        places = map(slice, starts.tolist(), (starts + self.lengths[chosen]).tolist())
        return list(map(self.text.__getitem__, places))


class ScriptTokenizer:
    """The shipped tokenizer.

    :param cut_han: splits runs of Han characters, joined by spaces, into words, and returns the
        words and these spaces. ``None`` for overlapping pairs of characters.
    :ivar name: its name among the shipped ones, for messages.
    """

    def __init__(self, cut_han: Callable[[str], Sequence[str]] | None, name: str = "pairs") -> None:
        self.name = name
        self._cut_han = cut_han

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of normalised text, in reading order."""
        return self.spans([text])[0].tokens()

    def spans(self, texts: Sequence[str]) -> list[Spans]:
        """Return the tokens of several texts as spans."""
        # A line feed ends every run.
        text = "\n".join(texts)
        codes = code_points(text)
        starts, lengths = self._token_places(text, codes)
        ends = np.cumsum([len(each) + 1 for each in texts])
        parts = [slice(*borders) for borders in pairwise([0, *starts.searchsorted(ends).tolist()])]
        return [Spans(text, codes, starts[part], lengths[part]) for part in parts]

    def _token_places(self, text: str, codes: CodePoints) -> tuple[Places, Places]:
        """Return where tokens begin, and their lengths; pairs overlap."""
        runs = _runs(text, codes)
        spaced = runs.of(runs.scripts == SPACED)
        if not (runs.scripts > SPACED).any():
            return spaced
        is_han, is_paired = runs.scripts == HAN, runs.scripts == UNSPACED
        parts = [spaced]
        if self._cut_han is None:
            is_paired |= is_han
        elif is_han.any():
            parts.append(_cut(codes, *runs.of(is_han), self._cut_han))
        if is_paired.any():
            parts.append(_paired(*runs.of(is_paired)))
        # Lengths are written where tokens begin, which puts the tokens in reading order.
        is_start, length_at = np.zeros(codes.size, bool), np.empty(codes.size, np.intp)
        for starts, lengths in parts:
            is_start[starts] = True
            length_at[starts] = lengths
        starts = np.flatnonzero(is_start)
        return starts, length_at.take(starts)


class _Runs(NamedTuple):
    """The runs of a text, stretches of one script each; columns of shape ``(n,)``."""

    starts: Places
    lengths: Places
    scripts: npt.NDArray[np.uint8]

    def of(self, chosen: npt.NDArray[np.bool_]) -> tuple[Places, Places]:
        """Return where the chosen runs begin, and their lengths."""
        places = np.flatnonzero(chosen)
        return self.starts.take(places), self.lengths.take(places)


def _runs(text: str, codes: CodePoints) -> _Runs:
    """Return the runs of a text, those without words included; long ones of Han in pieces."""
    scripts = scripts_of(codes)
    borders = run_boundaries(scripts)
    cuts = [
        borders[run] + cut
        for run in np.flatnonzero(borders[1:] - borders[:-1] > _LONGEST_RUN).tolist()
        if scripts[borders[run]] == HAN
        for cut in accumulate(map(len, han_pieces(text[borders[run] : borders[run + 1]])[:-1]))
    ]
    if cuts:
        borders = np.sort(np.concatenate([borders, cuts]))
    starts = borders[:-1]
    return _Runs(starts, borders[1:] - starts, scripts.take(starts))


def _cut(
    codes: CodePoints, starts: Places, lengths: Places, cut: Callable[[str], Sequence[str]]
) -> tuple[Places, Places]:
    """Return where the words of runs begin, and their lengths."""
    spaced_lengths = lengths + 1
    ends = np.cumsum(spaced_lengths)
    # Index in the text of each character of the joined runs; of a space, the index after its run.
    places = np.arange(ends[-1])
    places += (starts - ends + spaced_lengths).repeat(spaced_lengths)
    joined = codes.take(places, mode="clip")
    joined[ends - 1] = BLANK
    of_words = _lengths(cut(as_text(joined[:-1])))
    firsts = np.cumsum(of_words) - of_words
    is_word = joined.take(firsts) != BLANK
    return places.take(firsts)[is_word], of_words[is_word]


def _paired(starts: Places, lengths: Places) -> tuple[Places, Places]:
    """Return the same for overlapping pairs of characters; a run of one is a token itself."""
    counts = np.maximum(lengths - 1, 1)
    firsts = np.cumsum(counts) - counts
    places = np.repeat(starts - firsts, counts) + np.arange(counts.sum())
    return places, np.repeat(np.minimum(lengths, 2), counts)


def _lengths(tokens: Sequence[str]) -> Places:
    return np.fromiter(map(len, tokens), np.intp, len(tokens))


def han_pieces(run: str) -> Sequence[str]:
    """Split a run into pieces of at most 500 characters; punctuated text has no longer runs.

    The content determines each cut: before the greatest character in the second half of a piece.
    So after an inserted character the cuts soon coincide again.
    """
    if len(run) <= _LONGEST_RUN:
        return (run,)
    pieces, start = list[str](), 0
    while len(run) - start > _LONGEST_RUN:
        half = run[start + _LONGEST_RUN // 2 : start + _LONGEST_RUN]
        end = start + _LONGEST_RUN // 2 + half.index(max(half))
        pieces.append(run[start:end])
        start = end
    pieces.append(run[start:])
    return pieces


def shingle_units(tokens: Iterable[str]) -> list[str]:
    """Return the shingle units of tokens in order, see :func:`units_of`."""
    return [unit for token in tokens for unit in units_of(token)]


def units_of(token: str) -> Sequence[str]:
    """Return the shingle units of a token: its characters if it is a Han word, else the token.

    One different character can move the borders of several words around it, which would change
    many shingles of words.
    """
    return token if token >= _FIRST_HAN and _HAN_WORD.match(token) else (token,)


def jieba_words(text: str) -> list[str]:
    """Return jieba's words of runs of Han characters, and the spaces between the runs."""
    cut = jieba_cut()
    return [word for run in re.split("( )", text) for word in ([" "] if run == " " else cut(run))]


def rjieba_words(text: str) -> list[str]:
    """Return jieba-rs's words, see :func:`jieba_words`; it keeps spaces by itself."""
    import rjieba

    words: list[str] = rjieba.cut(text)
    return words


@cache
def jieba_cut() -> Callable[[str], Iterable[str]]:
    """Return jieba's cut function with its bundled dictionary, built once in each process.

    By default jieba loads a cache file of a known name from the shared temporary folder without
    checking its owner; a planted one would change every fingerprint. A private cache would save
    less than a second and would have to be secured. Call this before forking workers, which then
    inherit the dictionary.
    """
    with warnings.catch_warnings():
        # The source of jieba 0.42.1, of 2020, causes some.
        warnings.simplefilter("ignore")
        import jieba
    tokenizer: Any = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    cut: Callable[[str], Iterable[str]] = tokenizer.cut
    return cut


@cache
def _jieba_digest() -> str:
    """Return the hash of the tables that jieba and rjieba share."""
    # Located without importing jieba, which takes long.
    spec = find_spec("jieba")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    [package] = map(Path, spec.submodule_search_locations)
    digest = xxhash.xxh3_64()
    for table in _JIEBA_TABLES:
        digest.update((package / table).read_bytes())
    return str(digest.hexdigest())


def shipped_tokenizer(name: str) -> tuple[Tokenizer, str]:
    """Return a shipped tokenizer by name, and its identity: equal ones give comparable tokens.

    ``"auto"`` is rjieba if it is installed, else jieba. Both have the same identity and give the
    same tokens, except in made-up words that repeat a character: two cuts can be equally likely
    there, and rounding decides. ``"pairs"`` uses pairs of characters for Han as well.

    :raises InvalidOption: if the name is unknown, or its package is not installed.
    """
    if name == "pairs":
        return ScriptTokenizer(None), "pairs-2"
    if name == "auto":
        name = "rjieba" if find_spec("rjieba") else "jieba"
    if name == "rjieba" and not find_spec("rjieba"):
        raise MissingPackage("tokenizer", name, "pip install rjieba, or choose 'jieba'")
    if name not in ("jieba", "rjieba"):
        raise InvalidOption(
            "tokenizer", name, "'auto', 'jieba', 'rjieba', 'pairs' or an import path"
        )
    words = rjieba_words if name == "rjieba" else jieba_words
    return ScriptTokenizer(words, name), f"jieba-2-{_jieba_digest()}"
