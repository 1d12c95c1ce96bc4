"""The rule by which two pages are one content, and the verdict on a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .exceptions import InvalidOption, SignatureMismatch
from .index import MAX_DISTANCE
from .page import PageSignature
from .simhash import hamming_distance
from .sketch import resemblance

Scope = Literal["all", "site"]
Kind = Literal["new", "duplicate", "revisit", "undecided"]

SCOPES = ("all", "site")


@dataclass(frozen=True, slots=True)
class Match:
    """How near two pages of one content are.

    :ivar distance: Hamming distance of their fingerprints, 0 to 11.
    :ivar similarity: estimated resemblance of their texts, 0.0 to 1.0; 1.0 for equal texts.
    :ivar reason: ``"same_text"`` or ``"similar_text"``.
    """

    distance: int
    similarity: float
    reason: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why two pages are not one content.

    :ivar reason: ``"other_site"``, ``"far"``, ``"title_differs"``, ``"few_features"`` or
        ``"text_differs"``.
    """

    reason: str


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
    """

    kind: Kind
    url: str
    reason: str
    duplicate_of: str | None = None
    distance: int | None = None
    similarity: float | None = None

    @property
    def is_duplicate(self) -> bool:
        return self.kind == "duplicate"


@dataclass(frozen=True)
class Rule:
    """Thresholds, few and named.

    :ivar max_distance: Hamming distance, 0 to 11, up to which a stored page is a candidate.
    :ivar min_similarity: estimated resemblance, 0.0 to 1.0, that confirms a candidate; 0 confirms
        every candidate without looking (Manku, Jain, Das Sarma, WWW 2007, with distance 3).
    :ivar min_features: a text with fewer distinct tokens than this is a duplicate only of an
        equal text.
    :ivar scope: ``"site"`` compares only pages of one registrable domain, ``"all"`` all pages.
    :raises InvalidOption: when a threshold is out of its bounds.
    """

    max_distance: int = 11
    min_similarity: float = 0.75
    min_features: int = 20
    scope: Scope = "all"

    def __post_init__(self) -> None:
        _require_number("max_distance", self.max_distance, int, 0, MAX_DISTANCE)
        _require_number("min_similarity", self.min_similarity, (int, float), 0, 1)
        _require_number("min_features", self.min_features, int, 0, None)
        if self.scope not in SCOPES:
            raise InvalidOption("scope", self.scope, "'all' or 'site'")

    def compare(self, page: PageSignature, other: PageSignature) -> Match | Mismatch:
        """Are these one content? Gives the same answer in either order.

        :raises SignatureMismatch: when the signatures were made in different ways.
        """
        if page.recipe != other.recipe:
            raise SignatureMismatch(page.recipe, other.recipe)
        same_site = page.site == other.site
        if self.scope == "site" and not same_site:
            return Mismatch("other_site")
        if same_site and not titles_agree(page, other):
            return Mismatch("title_differs")
        if page.text_digest == other.text_digest:
            return Match(0, 1.0, "same_text")
        if min(page.n_features, other.n_features) < self.min_features:
            return Mismatch("few_features")
        distance = hamming_distance(page.fingerprint, other.fingerprint)
        if distance > self.max_distance:
            return Mismatch("far")
        similarity = resemblance(page.sketch_values, other.sketch_values)
        if similarity < self.min_similarity:
            return Mismatch("text_differs")
        return Match(distance, similarity, "similar_text")


def titles_agree(page: PageSignature, other: PageSignature) -> bool:
    """On one site, copies of a page bear its title, or the title with more around it.

    Tag pages, archives, chapters and variants of a product may share nearly all of their text;
    what tells them apart, a name or a number, then stands in the title.
    """
    return page.title <= other.title or other.title <= page.title


def _require_number(
    option: str,
    value: object,
    kind: type | tuple[type, ...],
    least: float,
    most: float | None,
) -> None:
    bounds = f"from {least} to {most}" if most is not None else f"of {least} or more"
    noun = "a whole number" if kind is int else "a number"
    fits = isinstance(value, kind) and not isinstance(value, bool)
    if not fits or not least <= value or (most is not None and not value <= most):  # type: ignore[operator]
        raise InvalidOption(option, value, f"{noun} {bounds}")
