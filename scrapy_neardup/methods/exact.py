"""Equal texts, and texts whose longest sentences are equal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import xxhash

from .._util.encoding import utf8
from ..text.normalization import normalize
from .base import Method
from .words import as_text, least_common

_SENTENCE_ENDS = re.compile(r"[.!?;。！？；\n]+")
_DIGEST_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class Exact(Method):
    """Equal contents, byte by byte.

    Good for: mirrors and files fetched twice. Bad for: anything with a date or a counter in it.
    """

    name: ClassVar[str] = "exact"
    short_texts: ClassVar[bool] = True
    min_similarity: float = 1.0

    def value(self, content: str | bytes) -> bytes:
        return xxhash.xxh3_64_digest(utf8(content)) if content.strip() else b""

    def similarity(self, new: bytes, known: bytes) -> float:
        return float(new == known)

    def keys(self, value: bytes) -> Iterable[int]:
        return [int.from_bytes(value, "big")]

    def explain(self, new: bytes, known: bytes) -> str:
        return "equal" if new == known else "not equal"

    @property
    def requirement(self) -> str:
        return "equal"


@dataclass(frozen=True, kw_only=True)
class Sentences(Method):
    """Equal longest sentences, as Chinese descriptions of search engines report of Baidu.

    Sentences end at punctuation and at line breaks; of equally long ones the first counts. They
    are compared normalised, without white space.

    Good for: reprints under another heading, with other text around. Bad for: lists, and pages
    whose longest sentences are a notice of their site.

    :ivar number: how many sentences are kept.
    """

    name: ClassVar[str] = "sentences"
    counts: ClassVar[tuple[str, ...]] = ("number",)
    number: int = 3
    min_similarity: float = 1.0

    def value(self, content: str | bytes) -> bytes:
        # Cut first: normalisation would take line breaks for blanks.
        sentences = map(_squeezed, _SENTENCE_ENDS.split(as_text(content)))
        distinct = dict.fromkeys(filter(None, sentences))
        longest = sorted(distinct, key=len, reverse=True)[: self.number]
        return b"".join(sorted(map(_digest, longest)))

    def similarity(self, new: bytes, known: bytes) -> float:
        ours, theirs = _digests(new), _digests(known)
        return len(ours & theirs) / max(len(ours), len(theirs))

    def keys(self, value: bytes) -> Iterable[int]:
        return [int.from_bytes(digest, "big") for digest in _digests(value)]

    def keys_in_common(self, value: bytes) -> int:
        return least_common(len(_digests(value)), self.min_similarity)

    def explain(self, new: bytes, known: bytes) -> str:
        ours, theirs = _digests(new), _digests(known)
        return f"{len(ours & theirs)} of the {max(len(ours), len(theirs))} longest sentences equal"


def _squeezed(sentence: str) -> str:
    return "".join(normalize(sentence).split())


def _digest(sentence: str) -> bytes:
    return xxhash.xxh3_64_digest(utf8(sentence))[:_DIGEST_BYTES]


def _digests(value: bytes) -> set[bytes]:
    return {value[i : i + _DIGEST_BYTES] for i in range(0, len(value), _DIGEST_BYTES)}
