"""The outcome of comparing two pages, and the verdict on a page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ..hashing.minhash import resemblance
from ..reasons import Reason
from ..signatures.signature import FACTS_GONE, PageSignature
from .needed_readings import needed_facts

#: A page of which more than this share is other is no edited version of what it was.
_MAX_EDIT = 0.5

Kind = Literal["new", "duplicate", "revisit", "undecided"]


@dataclass(frozen=True, slots=True)
class Match:
    """Distance and similarity of two pages with the same content.

    :ivar distance: Hamming distance of their fingerprints, 0 to 64; above 11 only when the pages
        are equal. ``None`` when a method compared them.
    :ivar similarity: estimated resemblance of their texts, 0.0 to 1.0; 1.0 for equal texts. With a
        method, its similarity.
    :ivar reason: ``"same_page"``, ``"same_list"``, ``"same_text"``, ``"similar_text"`` or
        ``"method"``.
    """

    distance: int | None
    similarity: float
    reason: Reason


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The objection to taking two pages for the same content.

    :ivar reason: one of the third and fourth groups of :class:`~scrapy_neardup.reasons.Reason`.
    """

    reason: Reason


class FactsNeeded(Exception):
    """Raised when a page and a stored one of its site agree, but the facts of one were not read.

    :ivar readings: what has to be read.
    """

    def __init__(self, page: PageSignature, stored: PageSignature) -> None:
        super().__init__(page.url, stored.url)
        self.readings = needed_facts(page, stored)


def require_facts(mismatch: Mismatch, page: PageSignature, stored: PageSignature) -> None:
    """Raise ``FactsNeeded`` if two pages lack facts that can still be read."""
    if mismatch.reason == Reason.FACTS_UNKNOWN and FACTS_GONE not in (page.facts, stored.facts):
        raise FactsNeeded(page, stored)


@dataclass(frozen=True, slots=True)
class LookAlike:
    """The page most similar to one that is kept.

    :ivar url: its URL.
    :ivar distance: Hamming distance of the two fingerprints, 0 to 11.
    :ivar similarity: estimated resemblance of the two texts, 0.4 to 1.0.
    :ivar objection: why the two do not have the same content; the documentation lists all reasons.
    """

    url: str
    distance: int
    similarity: float
    objection: Reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on a page.

    :ivar kind: ``"new"`` (no similar page is stored), ``"duplicate"``, ``"revisit"`` (a page with
        this URL is stored) or ``"undecided"`` (the page cannot be judged and is kept).
    :ivar url: URL of the page.
    :ivar reason: why; the documentation lists all reasons.
    :ivar duplicate_of: URL of a duplicate's original.
    :ivar distance: Hamming distance to the original, 0 to 11; ``None`` when a method compared them.
    :ivar similarity: estimated resemblance with the original, 0.0 to 1.0, or the method's
        similarity.
    :ivar look_alike: of a new or undecided page, the most similar of the pages that it was
        compared with; ``None`` when none is similar.
    :ivar links_seen_at: URL of an earlier page with this content that yielded links, but no item
        that was stored. It is not an original: the items of this page are kept, its links are
        known.
    :ivar original_text: of a duplicate, the ``text_digest`` of the original's stored
        :class:`~scrapy_neardup.signatures.signature.PageSignature`; of an unchanged page that was
        read in full, its own; of others ``None``.
    :ivar change: of a page that has changed since it was stored, the estimated share of its text
        that is other, 0.0 to 1.0; 0.0 if only its title, links, images or data are; ``None`` if
        one of the two was not read in full.
    :ivar same_shown: is all that the page shows and holds, menus and data included, equal to that
        of the original, or of its own stored version? If only texts are known, they are all.
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
    change: float | None = field(default=None, repr=False, compare=False)

    @property
    def is_duplicate(self) -> bool:
        return self.kind == "duplicate"


def waited(page: PageSignature) -> Verdict:
    """Return the verdict on a page that has waited in vain, or must wait."""
    return Verdict("undecided", page.url, Reason.WAITED)


def revisit_of_links(verdict: Verdict, page: PageSignature, before: PageSignature) -> Verdict:
    """Return the verdict on a page whose URL is known, but of which no item was stored.

    :param verdict: the verdict on the page by all other pages.
    """
    again = revisit(page, before)
    links_seen_at = before.url if again.reason == Reason.UNCHANGED else verdict.links_seen_at
    return replace(again, links_seen_at=links_seen_at)


def revisit_of_copy(
    page: PageSignature, before: PageSignature, original: PageSignature
) -> Verdict | None:
    """Return the verdict on a page that was a copy, if it is an edited version of itself now."""
    again = revisit(page, before)
    is_edited = again.change is not None and again.change <= _MAX_EDIT
    if not is_edited or revisit(page, original).reason == Reason.UNCHANGED:
        return None
    return again


def _change(page: PageSignature, before: PageSignature) -> float | None:
    """Return the share of a page's text that is other; ``None`` if one was not read in full."""
    if not (page.is_read and before.is_read):
        return None
    return 1 - resemblance(page.sketch_values, before.sketch_values)


def _facts_may_differ(page: PageSignature, before: PageSignature) -> bool:
    if page.lacks_facts or before.lacks_facts:
        return not page.has_body_of(before)
    return page.facts != before.facts


def revisit(page: PageSignature, before: PageSignature) -> Verdict:
    """Return the verdict on a page whose URL is known."""
    is_same_text = before.text_digest == page.text_digest
    holds_other = before.holds_other(page) or before.is_other_fragment(page)
    states_other = before.title != page.title or _facts_may_differ(page, before)
    if not is_same_text or holds_other or states_other:
        change = 0.0 if is_same_text else _change(page, before)
        return Verdict("revisit", page.url, Reason.CHANGED, change=change)
    return Verdict(
        "revisit",
        page.url,
        Reason.UNCHANGED,
        original_text=page.text_digest if page.is_read else None,
        same_shown=page.shows_and_holds(before) or not (page.shown_digest and before.shown_digest),
    )
