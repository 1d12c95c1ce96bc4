"""What a detector asks of its memory."""

from __future__ import annotations

from typing import Protocol

from ..frame import Frames
from ..judgement import Rule, Verdict
from ..page import PageSignature


class Store(Protocol):
    """Remembers signatures and judges a page against them."""

    @property
    def secret(self) -> bytes:
        """Key of all sketches in this store; never to be published."""

    @property
    def frames(self) -> Frames:
        """What was learned of each site."""

    def __len__(self) -> int:
        """Number of pages remembered."""

    def claim(self, signature: PageSignature, rule: Rule) -> Verdict:
        """Look the page up and, unless it is a duplicate, remember it: one atomic step.

        Of any number of near-duplicates that arrive together, exactly one is ``"new"``. What it
        finds near is judged by :func:`scrapy_neardup.search.judge`.

        :raises SignatureMismatch: when the signature was made in another way than the first one.
        """
