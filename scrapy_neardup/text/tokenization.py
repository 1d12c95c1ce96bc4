"""Normalised text to tokens: words of every script, jieba for runs of Han characters.

No language has to be named. A text is cut into runs by script:

* Han characters: words by jieba's dictionary and HMM (``rjieba``, the same algorithm in Rust,
  is taken when it is installed);
* scripts written without spaces for which no dictionary is at hand (kana, Thai, Lao, Khmer,
  Myanmar): overlapping pairs of characters;
* everything else: maximal runs of letters, marks and digits, however long: a token is hashed and
  never cut, so that two that differ stay two, and the limit of a page's text bounds them all.
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
from ..exceptions import InvalidOption
from .characters import BLANK, HAN, SPACED, UNSPACED, CodePoints, as_text, code_points, scripts_of

#: jieba's time for a run grows faster than the run, and from some hundred characters on it shows.
_LONGEST_RUN = 500

#: What jieba's words depend on, by their places in its package.
_JIEBA_TABLES = ("dict.txt", *(f"finalseg/prob_{name}.py" for name in ("emit", "start", "trans")))

_HAN_WORD = regex.compile(r"\p{Han}{2,}")
#: No Han character comes before it; it spares most tokens the question.
_FIRST_HAN = "\u2e80"
_MAYBE_HAN = re.compile(f"[{_FIRST_HAN}-\U0010ffff]")

_ALL = slice(None)
Places = npt.NDArray[np.intp]


class Tokenizer(Protocol):
    """Cuts normalised text into tokens. A plain function of this shape does as well."""

    def __call__(self, text: str, /) -> Iterable[str]: ...


@dataclass(frozen=True, slots=True)
class Spans:
    """Tokens of a text by the places where they stand in it, in reading order and apart.

    :ivar codes: the text, see :func:`~scrapy_neardup.text.characters.code_points`.
    :ivar starts: shape ``(n,)``, where each token begins.
    :ivar lengths: shape ``(n,)``, characters of each.
    """

    text: str
    codes: CodePoints
    starts: Places
    lengths: Places

    @classmethod
    def of(cls, tokens: Sequence[str]) -> Spans:
        """Tokens that stand in no text, one behind the other."""
        text, lengths = "".join(tokens), _lengths(tokens)
        return cls(text, code_points(text), np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def joined(cls, parts: Sequence[Spans]) -> Spans:
        """Tokens of several texts, one text behind the other."""
        first, *others = parts
        if not others:
            return first
        if any(part.text is not first.text for part in others):
            return cls.of([token for part in parts for token in part])
        starts, lengths = (
            np.concatenate(columns)
            for columns in zip(*((part.starts, part.lengths) for part in parts), strict=True)
        )
        return cls(first.text, first.codes, starts, lengths)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens())

    def tokens(self, chosen: Places | slice = _ALL) -> list[str]:
        """The tokens themselves, or some of them."""
        return _slices(self.text, self.starts[chosen], self.lengths[chosen])


class ScriptTokenizer:
    """The shipped tokenizer.

    :param cut_han: cuts runs of Han characters, which never reach over another script: of such
        runs, joined by spaces, it returns the words and these spaces. ``None`` for overlapping
        pairs of characters.
    """

    def __init__(self, cut_han: Callable[[str], Sequence[str]] | None) -> None:
        self._cut_han = cut_han

    def __call__(self, text: str) -> list[str]:
        """Tokens of normalised text, in reading order."""
        return self.spans([text])[0].tokens()

    def spans(self, texts: Sequence[str]) -> list[Spans]:
        """The same of several texts at once, by their places."""
        # A line's end ends a run as well.
        text = "\n".join(texts)
        codes = code_points(text)
        starts, lengths, stand_apart = self._places(text, codes)
        ends = np.cumsum([len(each) + 1 for each in texts])
        parts = [slice(*borders) for borders in pairwise([0, *starts.searchsorted(ends).tolist()])]
        spans = [Spans(text, codes, starts[part], lengths[part]) for part in parts]
        return spans if stand_apart else [Spans.of(each.tokens()) for each in spans]

    def _places(self, text: str, codes: CodePoints) -> tuple[Places, Places, bool]:
        """Where tokens begin, their lengths, and whether they stand apart: pairs do not."""
        runs = _runs(text, codes)
        spaced = runs.of(runs.scripts == SPACED)
        if not (runs.scripts > SPACED).any():
            return *spaced, True
        is_han, is_paired = runs.scripts == HAN, runs.scripts == UNSPACED
        parts = [spaced]
        if self._cut_han is None:
            is_paired |= is_han
        elif is_han.any():
            parts.append(_cut(codes, *runs.of(is_han), self._cut_han))
        if has_pairs := bool(is_paired.any()):
            parts.append(_paired(*runs.of(is_paired)))
        # Each token's length where it begins: so they come in reading order.
        is_start, length_at = np.zeros(codes.size, bool), np.empty(codes.size, np.intp)
        for starts, lengths in parts:
            is_start[starts] = True
            length_at[starts] = lengths
        starts = np.flatnonzero(is_start)
        return starts, length_at.take(starts), not has_pairs


class _Runs(NamedTuple):
    """What a text is made of, stretches of one script each; columns of shape ``(n,)``."""

    starts: Places
    lengths: Places
    scripts: npt.NDArray[np.uint8]

    def of(self, chosen: npt.NDArray[np.bool_]) -> tuple[Places, Places]:
        """Where the chosen ones begin, and their lengths."""
        places = np.flatnonzero(chosen)
        return self.starts.take(places), self.lengths.take(places)


def _runs(text: str, codes: CodePoints) -> _Runs:
    """The runs of a text, what is no word included; those of Han characters in pieces."""
    scripts = scripts_of(codes)
    runs = _between(borders := run_boundaries(scripts), scripts)
    is_long = (runs.scripts == HAN) & (runs.lengths > _LONGEST_RUN)
    if not is_long.any():
        return runs
    long = runs.of(is_long)
    cuts = [
        start + cut
        for start, run in zip(long[0].tolist(), _slices(text, *long), strict=True)
        for cut in accumulate(map(len, han_pieces(run)[:-1]))
    ]
    return _between(np.sort(np.concatenate([borders, cuts])), scripts)


def _between(borders: Places, scripts: npt.NDArray[np.uint8]) -> _Runs:
    """The runs from border to border.

    :param scripts: of each character, see :func:`~scrapy_neardup.text.characters.scripts_of`.
    """
    starts = borders[:-1]
    return _Runs(starts, borders[1:] - starts, scripts.take(starts))


def _cut(
    codes: CodePoints, starts: Places, lengths: Places, cut: Callable[[str], Sequence[str]]
) -> tuple[Places, Places]:
    """Where the words of runs begin, and their lengths."""
    room = lengths + 1
    ends = np.cumsum(room)
    # Of each character of the joined runs its place in the text; of a space that behind its run.
    places = np.arange(ends[-1])
    places += (starts - ends + room).repeat(room)
    joined = codes.take(places, mode="clip")
    joined[ends - 1] = BLANK
    of_words = _lengths(cut(as_text(joined[:-1])))
    firsts = np.cumsum(of_words) - of_words
    is_word = joined.take(firsts) != BLANK
    return places.take(firsts)[is_word], of_words[is_word]


def _paired(starts: Places, lengths: Places) -> tuple[Places, Places]:
    """Likewise of overlapping pairs of characters; a single one stands for itself."""
    counts = np.maximum(lengths - 1, 1)
    firsts = np.cumsum(counts) - counts
    places = np.repeat(starts - firsts, counts) + np.arange(counts.sum())
    return places, np.repeat(np.minimum(lengths, 2), counts)


def _lengths(tokens: Sequence[str]) -> Places:
    return np.fromiter(map(len, tokens), np.intp, len(tokens))


def _slices(text: str, starts: Places, lengths: Places) -> list[str]:
    places = map(slice, starts.tolist(), (starts + lengths).tolist())
    return list(map(text.__getitem__, places))


def han_pieces(run: str) -> Sequence[str]:
    """A run in pieces of at most 500 characters; no punctuated text has longer runs.

    A cut is made where the text itself says, before the highest character of the second half, so
    that behind an inserted character the cuts soon fall into the same places again.
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
    """The units of tokens one after the other, see :func:`units_of`."""
    return [unit for token in tokens for unit in units_of(token)]


def are_units(tokens: Iterable[str]) -> bool:
    """Is each of these surely its own unit, see :func:`units_of`?"""
    return _MAYBE_HAN.search(" ".join(tokens)) is None


def units_of(token: str) -> Sequence[str]:
    """A token, or the characters of a word of Han characters.

    One different character can move the borders of a dictionary's words all around it; a
    resemblance of word runs would make much of that.
    """
    return token if token >= _FIRST_HAN and _HAN_WORD.match(token) else (token,)


def jieba_words(text: str) -> list[str]:
    """Words of runs of Han characters by jieba, its dictionary and HMM; and the spaces between."""
    cut = jieba_cut()
    return [word for run in re.split("( )", text) for word in ([" "] if run == " " else cut(run))]


def rjieba_words(text: str) -> list[str]:
    """The same by jieba-rs, which keeps spaces by itself."""
    import rjieba

    words: list[str] = rjieba.cut(text)
    return words


@cache
def jieba_cut() -> Callable[[str], Iterable[str]]:
    """jieba's own cut over its bundled dictionary, built in this process, once.

    jieba would load a cache file of a known name from the shared temporary folder without looking
    whose it is; a planted one changes every fingerprint. A private cache would save most of the
    time that reading the dictionary takes, less than a second, and would have to be guarded.
    Instead, call this in the process that workers are forked from: they have it for nothing.
    """
    tokenizer = _jieba().Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    cut: Callable[[str], Iterable[str]] = tokenizer.cut
    return cut


@cache
def _jieba_digest() -> str:
    """Hash of the tables that jieba and rjieba both carry."""
    # Found without importing it, which takes long and is left to whoever cuts text.
    spec = find_spec("jieba")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    [package] = map(Path, spec.submodule_search_locations)
    digest = xxhash.xxh3_64()
    for table in _JIEBA_TABLES:
        digest.update((package / table).read_bytes())
    return str(digest.hexdigest())


def _jieba() -> Any:
    """The package, without what Python says of its source: jieba 0.42.1 is of 2020."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    return jieba


def shipped_tokenizer(name: str) -> tuple[Tokenizer, str]:
    """The tokenizer of that name, and an identity under which its tokens can be compared.

    ``"auto"`` is rjieba when it is installed and jieba otherwise. They have one identity and give
    the same tokens, except in made-up words that repeat a character: two cuts can be as likely
    there, and rounding decides. ``"pairs"`` uses pairs of characters for Han as well.

    :raises InvalidOption: when there is none of that name, or its package is not installed.
    """
    if name == "pairs":
        return ScriptTokenizer(None), "pairs-2"
    if name == "auto":
        name = "rjieba" if find_spec("rjieba") else "jieba"
    if name == "rjieba" and not find_spec("rjieba"):
        raise InvalidOption("tokenizer", name, "installed (pip install rjieba), or 'jieba'")
    if name not in ("jieba", "rjieba"):
        raise InvalidOption(
            "tokenizer", name, "'auto', 'jieba', 'rjieba', 'pairs' or an import path"
        )
    words = rjieba_words if name == "rjieba" else jieba_words
    return ScriptTokenizer(words), f"jieba-2-{_jieba_digest()}"
