"""Finds, for each page of a crawl, the stored page that holds most of it, or that it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..methods.containment import Containment, ContainmentIndex
from ..signatures.signature import PageSignature


@dataclass(frozen=True, slots=True)
class _Holder:
    """A stored page, which its key identifies."""

    key: str
    url: str = field(compare=False)

    @classmethod
    def of(cls, signature: PageSignature) -> _Holder:
        return cls(signature.key, signature.url)


@dataclass(frozen=True, slots=True)
class PageContainment:
    """Fingerprints of a page, and what was found by them when it was judged.

    :ivar fingerprints: value of Manber's method.
    """

    fingerprints: bytes
    found: Containment | None = None

    @property
    def tag(self) -> dict[str, Any] | None:
        """The value of the field of its items; ``None`` where nothing was found."""
        if self.found is None:
            return None
        return {self.found.direction: self.found.key.url, "share": round(self.found.share, 2)}


class CrawlContainment:
    """The fingerprints of the pages that a crawl has stored, the oldest of which are dropped.

    They are in memory, whatever the store is, so that pages of earlier crawls are not found.

    :param min_share: least share that counts.
    """

    def __init__(self, min_share: float) -> None:
        self._index = ContainmentIndex[_Holder](min_share)

    @property
    def n_dropped(self) -> int:
        """Number of pages that are no longer found, because there were too many."""
        return self._index.n_dropped

    def look_up(self, signature: PageSignature, fingerprints: bytes) -> PageContainment:
        """Return the largest share that a page and another stored one have in common."""
        found = self._index.largest(fingerprints, but=_Holder.of(signature))
        return PageContainment(fingerprints, found)

    def stored(self, signature: PageSignature, page: PageContainment) -> None:
        """Note that items of a page were stored."""
        self._index.add(_Holder.of(signature), page.fingerprints)
