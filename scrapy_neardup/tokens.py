"""Text to tokens: normalisation, words of every script, jieba for runs of Han characters.

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
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import regex
import xxhash

from .exceptions import InvalidOption
from .repair import bounded_marks

#: Soft hyphen, zero-width and direction marks: they are not seen, so they do not count.
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}--\u3164]+", regex.V1)

#: What nearly every Chinese text has and NFKC would take the long way for, each with its form.
_COMPATIBLE = [
    (character, unicodedata.normalize("NFKD", character)) for character in "，：；！？（）　…"
]

_HAN = r"\p{Han}"
_UNSPACED = r"[\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
_SPACED = rf"[\w--[_{_HAN}{_UNSPACED}]]"
#: Words as they stand; runs of Han characters, and of other scripts without spaces, still whole.
_RUNS = regex.compile(f"{_SPACED}+|{_HAN}+|{_UNSPACED}+", regex.V1)
_IS_HAN = regex.compile(_HAN)
_IS_UNSPACED = regex.compile(_UNSPACED)
#: No character of theirs comes before it; it spares most words the question.
_FIRST_UNSPACED = "\u0e00"
_LAST_OF_BMP = 0xFFFF

#: jieba's time for a run grows faster than the run, and from some hundred characters on it shows.
_LONGEST_RUN = 500

#: What jieba's words depend on, by their places in its package.
_JIEBA_TABLES = ("dict.txt", *(f"finalseg/prob_{name}.py" for name in ("emit", "start", "trans")))

_HAN_WORD = regex.compile(r"\p{Han}{2,}")
#: No Han character comes before it; it spares most tokens the question.
_FIRST_HAN = "\u2e80"


class Tokenizer(Protocol):
    """Cuts normalised text into tokens. A plain function of this shape does as well."""

    def __call__(self, text: str, /) -> Iterable[str]: ...


def normalize(text: str) -> str:
    """Fold what looks or reads the same: NFKC, case, invisible characters, white space.

    Runs of combining marks are bounded first, which keeps the time in proportion to the text.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    for character, form in _COMPATIBLE:
        text = text.replace(character, form)
    folded = unicodedata.normalize("NFKC", bounded_marks(text)).casefold()
    # Case folding can undo the composition (Unicode 3.13, D145), so it is done again; and a mark
    # may have become two.
    folded = unicodedata.normalize("NFKC", bounded_marks(_INVISIBLE.sub("", folded)))
    return " ".join(folded.split())


class ScriptTokenizer:
    """The shipped tokenizer.

    :param cut_han: cuts runs of Han characters; a run never reaches over another script.
    """

    def __init__(self, cut_han: Callable[[list[str]], Iterator[list[str]]]) -> None:
        self._cut_han = cut_han

    def __call__(self, text: str) -> list[str]:
        """Tokens of normalised text, in reading order."""
        runs = _runs_of(text)
        scripts = [_script_of(run[0]) if run >= _FIRST_UNSPACED else "" for run in runs]
        if not any(scripts):
            return runs
        tokens: list[str] = []
        by_script = list(zip(runs, scripts, strict=True))
        pieces = [piece for run, script in by_script if script == _HAN for piece in han_pieces(run)]
        han_words = self._cut_han(pieces)
        for run, script in by_script:
            if not script:
                tokens.append(run)
            elif script == _UNSPACED:
                tokens += character_pairs(run)
            else:
                for _ in han_pieces(run):
                    tokens += next(han_words)
        return tokens


def _runs_of(text: str) -> list[str]:
    if _is_in_bmp(text) or not _RUNS.search("".join(filter(_is_astral, text))):
        # What else there is ends runs, as it would in the other pattern.
        return _bmp_runs().findall(text)
    return _RUNS.findall(text)


@cache
def _bmp_runs() -> re.Pattern[str]:
    """The runs in text of the Basic Multilingual Plane, in a quarter of the time.

    ``re`` is the faster one where no class reaches beyond the plane, but knows no scripts.
    """
    plane = "".join(map(chr, range(_LAST_OF_BMP + 1)))

    def ranges(class_: str) -> str:
        runs = regex.findall(f"{class_}+", plane, flags=regex.V1)
        return "".join(f"\\u{ord(run[0]):04x}-\\u{ord(run[-1]):04x}" for run in runs)

    return re.compile("|".join(f"[{ranges(of)}]+" for of in (_SPACED, _HAN, _UNSPACED)))


def _is_in_bmp(text: str) -> bool:
    # Others take two units of UTF-16. Counting those is faster than to look at each character.
    return text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text)


def _is_astral(character: str) -> bool:
    return ord(character) > _LAST_OF_BMP


@lru_cache(maxsize=1 << 16)
def _script_of(character: str) -> str:
    """Which class of those without spaces a word's character belongs to, if any."""
    if _IS_HAN.fullmatch(character):
        return _HAN
    return _UNSPACED if _IS_UNSPACED.fullmatch(character) else ""


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


def units_of(token: str) -> Sequence[str]:
    """A token, or the characters of a word of Han characters.

    One different character can move the borders of a dictionary's words all around it; a
    resemblance of word runs would make much of that.
    """
    return token if token >= _FIRST_HAN and _HAN_WORD.match(token) else (token,)


def character_pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; a single character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def jieba_words(runs: list[str]) -> Iterator[list[str]]:
    """Words of each run by jieba, its dictionary and HMM."""
    if not runs:
        return
    cut = jieba_cut()
    for run in runs:
        yield list(cut(run))


def rjieba_words(runs: list[str]) -> Iterator[list[str]]:
    """Words of each run by jieba-rs, in one call: runs joined by a space, which it keeps."""
    if not runs:
        return
    import rjieba

    words, start = [*rjieba.cut(" ".join(runs)), " "], 0
    for _ in runs:
        end = words.index(" ", start)
        yield words[start:end]
        start = end + 1


def characters(runs: list[str]) -> Iterator[list[str]]:
    """Each run as overlapping pairs of characters: no dictionary at all."""
    return map(character_pairs, runs)


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
        return ScriptTokenizer(characters), "pairs-2"
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
