"""Compares the texts of two items, which pages with the same main text have yielded.

The main text of a page says little about an item that does not hold it, such as one of a comment
below the article. So the texts of an item are compared with those of the original's items: equal
texts by a checksum, long ones by samples of their pairs of words and of their long words (bottom-k
sketches; Broder, SEQUENCES 1997), because the views of a page add words to its text.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain, pairwise, repeat
from zlib import crc32

import numpy as np

#: Texts of an item that are compared: the longest; and of those, how many are sampled.
_MAX_TEXTS, _MAX_SAMPLES = 48, 2
#: Texts with fewer words are compared as a whole.
_MIN_SAMPLED_WORDS = 20
#: Characters whose pairs of words are sampled, and numbers in a sample.
_SAMPLED, _SAMPLE = 600, 16
#: Characters of texts whose long words are sampled: the whole text of a page may begin with a menu.
_MIN_LONG, _MAX_LONG = 600, 12_000
#: Letters of a long word; fewer such words than this say too little.
_LONG, _MIN_LONG_WORDS = 9, 5
#: Characters a blank, at most, in texts whose words are separated by blanks.
_MAX_UNSPACED = 20
#: Least share of a sample that two views of one text have in common.
_MIN_RESEMBLANCE = 0.3
#: An item differs from another that lacks at least this share of its texts, in characters.
_MIN_OTHER = 0.25
#: Factors of the hash functions of a sketch (multiply-shift; Dietzfelbinger et al., 1997), odd, and
#: how many bytes two sketches of one text have in common at least.
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93], np.uint64)
_MIN_EQUAL_BYTES, _SKETCH = 2, (1 << 23) - 1
#: Characters that tell whether a value is a text.
_LOOKED_AT = 60
_WORD = re.compile(r"\w+")
_TAG = re.compile(r"<[^>]*>")
#: Stands for a value that is a whole page in HTML, which has been judged as such.
_PAGE = "the page " * 200


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """The texts of an item, in few bytes: numbers of four bytes each.

    :ivar sums: a checksum of each, the longest first.
    :ivar lengths: how many characters each has; 0 for a part of the page's title.
    :ivar samples: of the longest texts, two each, empty for a short one.
    :ivar sketch: of all texts, 23 bits for a store, see :func:`sketches_differ`; 0 without texts.
    """

    sums: bytes
    lengths: bytes
    samples: tuple[tuple[bytes, bytes], ...]
    sketch: int

    @classmethod
    def of(cls, values: Iterable[str], title: Iterable[Iterable[str]] = ()) -> ItemTexts:
        """Return the texts among the values of an item.

        :param values: folded. URLs, numbers, dates and identifiers are no texts.
        :param title: the parts of the page's title, which is judged with the page.
        """
        found = filter(is_text, map(_without_tags, values))
        texts = nlargest(_MAX_TEXTS, dict.fromkeys(found), key=len)
        title_words = f" {' '.join(word for part in title for word in part)} "
        samples = tuple((_pairs_of(text), _long_words_of(text)) for text in texts[:_MAX_SAMPLES])
        return cls(
            _packed(map(_sum_of, texts)),
            _packed(len(text) * (not _is_within(text, title_words)) for text in texts),
            samples,
            _sketch_of(texts, samples, title_words),
        )

    def differ_from(self, other: ItemTexts) -> bool:
        """Return whether another item lacks a fair share of these texts; false without any."""
        known = frozenset(_numbers(other.sums))
        lacking = sum(
            length
            for number, length, samples in self._each()
            if number not in known and not _resemble_any(samples, other.samples)
        )
        return lacking > 0 and lacking >= _MIN_OTHER * sum(_numbers(self.lengths))

    def _each(self) -> Iterator[tuple[int, int, tuple[bytes, bytes]]]:
        """Yield the checksum, the length and the samples of each text."""
        samples = chain(self.samples, repeat((b"", b"")))
        yield from zip(_numbers(self.sums), _numbers(self.lengths), samples, strict=False)


def sketches_differ(sketch: int, other: int) -> bool:
    """Return whether two sketches are of other texts; false if one is 0.

    A sketch has the last byte of the least hash of each of three hash functions, seven bits of the
    first (b-bit minwise hashing; Li, König, WWW 2010). Two must be equal, which those of unrelated
    texts are once in 13,000 times, and of texts that resemble by 0.9 in 97 % of cases.
    """
    n_equal = sum(not (sketch ^ other) >> shift & 0xFF for shift in (0, 8, 16))
    return bool(sketch and other) and n_equal < _MIN_EQUAL_BYTES


def is_text(value: str) -> bool:
    """Return whether a value consists of words: letters, mostly, and no URL or identifier."""
    if value.startswith(("http://", "https://", "/")):
        return False
    beginning = value[:_LOOKED_AT]
    is_token = beginning.isascii() and " " not in beginning
    if is_token and not beginning.isalpha() and any(map(str.isdigit, beginning)):
        return False
    n_blanks = beginning.count(" ")
    return 2 * sum(map(str.isalpha, beginning)) > len(beginning) - n_blanks


def _without_tags(value: str) -> str:
    """Return the text of a value that is HTML, and other values as they are."""
    if not value.startswith("<"):
        return value
    if value.startswith(("<!doctype", "<html", "<?xml")):
        return _PAGE
    return " ".join(_TAG.sub(" ", value[:_MAX_LONG]).split())


def _is_within(text: str, title: str) -> bool:
    """Return whether a title has all words of a text, one behind the other."""
    if len(text) >= len(title) + _LOOKED_AT:
        return False
    words = _WORD.findall(text)
    if f" {' '.join(words)} " in title:
        return True
    # Titles without blanks are split into words.
    return not text.isascii() and "".join(words) in title.replace(" ", "")


def _sum_of(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"))


def _pairs_of(text: str) -> bytes:
    """Return the least checksums of the pairs of words in the first part of a text."""
    words = _WORD.findall(text[:_SAMPLED])
    if len(words) < _MIN_SAMPLED_WORDS:
        return b""
    coded = (word.encode("utf-8", "surrogatepass") for word in words)
    sums = {crc32(second, crc32(first)) for first, second in pairwise(coded)}
    return _packed(sorted(sums)[:_SAMPLE])


def _sketch_of(texts: Sequence[str], samples: Iterable[tuple[bytes, bytes]], title: str) -> int:
    """Return the sketch of the longest text, as a whole if it is short.

    :param texts: the longest first.
    :param samples: of the first ones, see :class:`ItemTexts`.
    :param title: words of the page's title, which do not count.
    """
    # A copy may lack the second text, such as a summary.
    data = next((long_words or pairs for pairs, long_words in samples), b"")
    if not data:
        own = next((text for text in texts if not _is_within(text, title)), None)
        data = b"" if own is None else _packed([_sum_of(own)])
    if not data:
        return 0
    numbers = np.frombuffer(data, np.uint32).astype(np.uint64)
    hashes = (numbers[:, None] * _FACTORS >> np.uint64(32)).min(axis=0)
    return int.from_bytes(hashes.astype(np.uint8).tobytes(), "big") & _SKETCH or 1


def _long_words_of(text: str) -> bytes:
    """Return the least checksums of the long words of a long text."""
    if len(text) < _MIN_LONG:
        return b""
    searched = text[:_MAX_LONG]
    is_spaced = searched.count(" ") * _MAX_UNSPACED > len(searched)
    # Splitting is several times as fast; without blanks, the parts between punctuation count.
    words = searched.split() if is_spaced else _WORD.findall(searched)
    sums = set(map(_sum_of, {word for word in words if len(word) >= _LONG}))
    return b"" if len(sums) < _MIN_LONG_WORDS else _packed(sorted(sums)[:_SAMPLE])


def _resemble_any(samples: tuple[bytes, bytes], others: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether samples are of nearly the same text as others."""
    pairs, long_words = samples
    return any(
        _resemble(long_words, other_words)
        if long_words and other_words
        else _resemble(pairs, other_pairs)
        for other_pairs, other_words in others
    )


def _resemble(sample: bytes, other: bytes) -> bool:
    """Return whether two samples are of nearly the same text; false if one is empty."""
    if not (sample and other):
        return False
    numbers, others = set(_numbers(sample)), set(_numbers(other))
    union = sorted(numbers | others)[:_SAMPLE]
    return len(numbers & others & set(union)) >= _MIN_RESEMBLANCE * len(union)


def _packed(numbers: Iterable[int]) -> bytes:
    return array("I", numbers).tobytes()


def _numbers(data: bytes) -> memoryview[int]:
    return memoryview(data).cast("I")
