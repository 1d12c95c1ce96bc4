"""Compares the texts of two items, which pages with the same main text have yielded.

The main text of a page says little about an item that does not hold it, such as one of a comment
below the article. So the texts of an item are compared with those of the original's items: equal
texts by a checksum, long ones by a sample of their pairs of words (bottom-k sketch; Broder,
SEQUENCES 1997), because the views of a page add words to its text.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain, pairwise, repeat
from zlib import crc32

#: Texts of an item that are compared: the longest; and of those, how many are sampled.
_MAX_TEXTS, _MAX_SAMPLES = 48, 2
#: Texts with fewer words are compared as a whole.
_MIN_SAMPLED_WORDS = 20
#: Characters that are sampled, and pairs of words in a sample.
_SAMPLED, _SAMPLE = 800, 16
#: Least share of a sample that two views of one text have in common.
_MIN_RESEMBLANCE = 0.3
#: An item differs from another that lacks at least this share of its texts, in characters.
_MIN_OTHER = 0.25
#: Characters that tell whether a value is a text.
_LOOKED_AT = 60
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """The texts of an item, in few bytes: numbers of four bytes each.

    :ivar sums: a checksum of each, the longest first.
    :ivar lengths: how many characters each has; 0 for a part of the page's title.
    :ivar samples: of the longest texts, each empty for a short one.
    """

    sums: bytes
    lengths: bytes
    samples: tuple[bytes, ...]

    @classmethod
    def of(cls, values: Iterable[str], title: Iterable[Iterable[str]] = ()) -> ItemTexts:
        """Return the texts among the values of an item.

        :param values: folded. URLs, numbers, dates and identifiers are no texts.
        :param title: the parts of the page's title, which is judged with the page.
        """
        texts = nlargest(_MAX_TEXTS, dict.fromkeys(filter(is_text, values)), key=len)
        title_words = f" {' '.join(word for part in title for word in part)} "
        return cls(
            _packed(map(_sum_of, texts)),
            _packed(len(text) * (not _is_within(text, title_words)) for text in texts),
            tuple(map(_sample_of, texts[:_MAX_SAMPLES])),
        )

    def differ_from(self, other: ItemTexts) -> bool:
        """Return whether another item lacks a fair share of these texts; false without any."""
        known = frozenset(_numbers(other.sums))
        lacking = sum(
            length
            for number, length, sample in self._each()
            if number not in known and not _resembles_any(sample, other.samples)
        )
        return lacking > 0 and lacking >= _MIN_OTHER * sum(_numbers(self.lengths))

    def _each(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the checksum, the length and the sample of each text."""
        samples = chain(self.samples, repeat(b""))
        yield from zip(_numbers(self.sums), _numbers(self.lengths), samples, strict=False)


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


def _sample_of(text: str) -> bytes:
    """Return the least checksums of the pairs of words in the first part of a text."""
    words = _WORD.findall(text[:_SAMPLED])
    if len(words) < _MIN_SAMPLED_WORDS:
        return b""
    coded = (word.encode("utf-8", "surrogatepass") for word in words)
    sums = {crc32(second, crc32(first)) for first, second in pairwise(coded)}
    return _packed(sorted(sums)[:_SAMPLE])


def _resembles_any(sample: bytes, others: Iterable[bytes]) -> bool:
    """Return whether a sample is of nearly the same text as one of the others."""
    pairs = set(_numbers(sample))
    if not pairs:
        return False
    for other in map(set, map(_numbers, filter(None, others))):
        union = sorted(pairs | other)[:_SAMPLE]
        if len(pairs & other & set(union)) >= _MIN_RESEMBLANCE * len(union):
            return True
    return False


def _packed(numbers: Iterable[int]) -> bytes:
    return array("I", numbers).tobytes()


def _numbers(data: bytes) -> memoryview[int]:
    return memoryview(data).cast("I")
