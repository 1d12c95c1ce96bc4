"""The outcome of comparing two pages, and the verdict on a page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ..reasons import Reason
from ..signatures.signature import PageSignature

Kind = Literal["new", "duplicate", "revisit", "undecided"]


@dataclass(frozen=True, slots=True)
class Match:
    """How near two pages of one content are.

    :ivar distance: Hamming distance of their fingerprints, 0 to 64; beyond 11 only when the pages
        are equal.
    :ivar similarity: estimated resemblance of their texts, 0.0 to 1.0; 1.0 for equal texts.
    :ivar reason: ``"same_page"``, ``"same_list"``, ``"same_text"`` or ``"similar_text"``.
    """

    distance: int
    similarity: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why two pages are not one content.

    :ivar reason: one of the third and fourth groups of :class:`~scrapy_neardup.reasons.Reason`.
    """

    reason: Reason


@dataclass(frozen=True, slots=True)
class LookAlike:
    """The page nearest to one that is kept all the same.

    :ivar url: its address.
    :ivar distance: Hamming distance of the two, 0 to 11.
    :ivar similarity: estimated resemblance of their texts, 0.4 to 1.0.
    :ivar objection: why they are not one content, in one word; the documentation lists them all.
    """

    url: str
    distance: int
    similarity: float
    objection: Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a page.

    :ivar kind: ``"new"`` (nothing like it is remembered), ``"duplicate"``, ``"revisit"`` (the
        same address again) or ``"undecided"`` (it cannot be judged and is kept).
    :ivar url: the page that was judged.
    :ivar duplicate_of: address of the original of a duplicate.
    :ivar distance: Hamming distance to the original, 0 to 11.
    :ivar similarity: estimated resemblance with the original, 0.0 to 1.0.
    :ivar reason: one word that says why; the documentation lists them all.
    :ivar look_alike: of a page that is new, or undecided, the one that is most similar to it among
        those that the rule was asked about; ``None`` when none comes near.
    :ivar links_seen_at: address of an earlier page of this content that yielded links and no item
        that was stored. It is no original: the items of this page are kept, its links are known.
    :ivar original_text: of a duplicate, the ``text_digest`` of the
        :class:`~scrapy_neardup.signatures.signature.PageSignature` that is stored for its original;
        of an unchanged page, that of its own; of others ``None``.
    :ivar same_shown: does the page show and hold, menus and data included, just what the original
        does, or what it did itself when it was stored?
    """

    kind: Kind
    url: str
    reason: Reason
    duplicate_of: str | None = None
    distance: int | None = None
    similarity: float | None = None
    look_alike: LookAlike | None = None
    links_seen_at: str | None = None
    original_text: bytes | None = field(default=None, repr=False, compare=False)
    same_shown: bool = field(default=False, repr=False, compare=False)

    @property
    def is_duplicate(self) -> bool:
        return self.kind == "duplicate"


def revisit_of_links(verdict: Verdict, page: PageSignature, before: PageSignature) -> Verdict:
    """The verdict on a page whose address is known, but of which no item was stored.

    :param verdict: on the page by all others.
    """
    again = revisit(page, before)
    links_seen_at = before.url if again.reason == Reason.UNCHANGED else verdict.links_seen_at
    return replace(again, links_seen_at=links_seen_at)


def revisit(page: PageSignature, before: PageSignature) -> Verdict:
    """The verdict on a page whose address is known."""
    if before.text_digest != page.text_digest or before.holds_other(page):
        return Verdict("revisit", page.url, Reason.CHANGED)
    return Verdict(
        "revisit",
        page.url,
        Reason.UNCHANGED,
        original_text=page.text_digest,
        same_shown=page.shows_and_holds(before),
    )
