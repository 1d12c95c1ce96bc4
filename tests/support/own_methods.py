"""Methods of one's own, for crawls, whose processes import them by these paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scrapy_neardup.methods.exact import Exact
from scrapy_neardup.methods.manber import Manber


@dataclass(frozen=True, kw_only=True)
class Shouted(Exact):
    """Compares texts without regard to case."""

    name: ClassVar[str] = "shouted"

    def value(self, content: str | bytes) -> bytes:
        return super().value(content.upper())


class FailingValue(Shouted):
    """Cannot make the value of pages about museums."""

    def value(self, content: str | bytes) -> bytes:
        if "museum" in str(content):
            raise ZeroDivisionError("museum")
        return super().value(content)


class FailingSimilarity(Shouted):
    """Cannot compare anything."""

    def is_near(self, new: bytes, known: bytes) -> bool:
        raise ZeroDivisionError("similarity")


@dataclass(frozen=True, kw_only=True)
class Within(Manber):
    """Calls a page near another one that it is in, and not the other way round."""

    def is_near(self, new: bytes, known: bytes) -> bool:
        return self.similarity(new, known) >= self.min_similarity

    def keys_in_common(self, value: bytes) -> int:
        # A known page may have any number of fingerprints that the new one lacks.
        return 1
