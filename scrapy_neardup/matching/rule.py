"""The rule by which two pages are one content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._util.validation import require_number
from ..exceptions import InvalidOption, SignatureMismatch
from ..hashing.minhash import resemblance
from ..hashing.simhash import hamming_distance
from ..hashing.simhash_index import MAX_DISTANCE
from ..reasons import Reason
from ..signatures.signature import PageSignature
from ..text.titles import may_be_one, title_words, without_list_kind
from .site_boilerplate import Boilerplates, SiteBoilerplate
from .value_rules import SAME_VALUES_LENIENCY, values_agree, values_differ
from .verdict import Match, Mismatch

Scope = Literal["all", "site"]

SCOPES = ("all", "site")

#: A text is thin when it is less than this part of what the page shows and has fewer distinct
#: tokens than this: extraction may have taken a notice instead of the content.
THIN_COVERAGE = 0.7
THIN_FEATURES = 200
#: Words that two sites' titles must share, as a part of the shorter one, for a thin text to count.
MIN_TITLE_OVERLAP = 0.6
#: On one site, where the titles are not the same: how little the smaller page may show.
MIN_SIZE_RATIO = 1 / 3
#: On one site: resemblance of two texts without what the site's pages share.
MIN_OWN_SIMILARITY = 0.5
#: A thin text is the site's when less than this part of it is the page's own.
MIN_OWN_SHARE = 0.1
#: On a site of which fewer titles were met, what its pages share is not known yet, and may be most
#: of a text with fewer distinct tokens than this: such texts must resemble by more, and be the same
#: word for word where their titles are not.
EARLY_TITLES = 10
EARLY_FEATURES = 100
MIN_EARLY_SIMILARITY = 0.92
#: The text of a list is one of its entries when it is less than this part of what the list shows.
MAX_ENTRY = 0.5
#: On one site, where texts resemble by less than this: how much smaller one page may be, by all
#: that is shown and by the text.
MAX_SIMILARITY_BY_SIZE = 0.84
MIN_SHOWN_RATIO, MIN_TEXT_RATIO = 0.7, 0.85
#: From this resemblance on, a page that was not taken for the original is worth naming.
MIN_LOOK_ALIKE = 0.4


@dataclass(frozen=True)
class Rule:
    """Thresholds, few and named.

    :ivar max_distance: Hamming distance, 0 to 11, up to which a stored page is a candidate.
    :ivar min_similarity: estimated resemblance, 0.0 to 1.0, that confirms a candidate; 0 confirms
        every candidate without looking (Manku, Jain, Das Sarma, WWW 2007, with distance 3).
    :ivar min_features: a text with fewer distinct tokens than this is a duplicate only when the
        whole page is equal, not its text alone.
    :ivar scope: ``"site"`` compares only pages of one registrable domain, ``"all"`` all pages.
    :raises InvalidOption: when a threshold is out of its bounds.
    """

    max_distance: int = 11
    min_similarity: float = 0.73
    min_features: int = 20
    scope: Scope = "all"

    def __post_init__(self) -> None:
        require_number("max_distance", self.max_distance, int, 0, MAX_DISTANCE)
        require_number("min_similarity", self.min_similarity, float, 0, 1)
        require_number("min_features", self.min_features, int, 0)
        if self.scope not in SCOPES:
            raise InvalidOption("scope", self.scope, "'all' or 'site'")

    def compare(
        self, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
    ) -> Match | Mismatch:
        """Are these one content? Gives the same answer in either order.

        :param boilerplates: what was learned of the sites so far.
        :raises SignatureMismatch: when the signatures were made in different ways.
        """
        if page.recipe != other.recipe:
            raise SignatureMismatch(page.recipe, other.recipe)
        if page.site == other.site:
            if reason := self._equal_as(page, other):
                return Match(hamming_distance(page.fingerprint, other.fingerprint), 1.0, reason)
            objection = _objection_on_one_site(page, other, boilerplates.of(page.site))
        else:
            objection = self._objection_across_sites(page, other, boilerplates)
        if objection or page.holds_other(other):
            return Mismatch(objection or Reason.PARTS_DIFFER)
        return self._compare_texts(page, other, self.least_similarity(page, other, boilerplates))

    def _equal_as(self, page: PageSignature, other: PageSignature) -> Reason | None:
        """Why two pages of a site are one, if that needs no comparison of what they share."""
        if page.equals(other):
            return Reason.SAME_PAGE
        enough = min(page.n_features, other.n_features) >= self.min_features
        return Reason.SAME_LIST if enough and _list_the_same(page, other) else None

    def least_to_ask(self, *, same_title: bool) -> float:
        """Estimated resemblance, up to 1.0, below which two pages are not one, whatever else."""
        if not (same_title and self.min_similarity):
            return self.min_similarity
        return 1 - (1 - self.min_similarity) * SAME_VALUES_LENIENCY

    def least_similarity(
        self, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
    ) -> float:
        """Estimated resemblance, 0.0 to 1.0, that confirms these two.

        It is ``min_similarity``, but more for small texts of a site that is hardly known.
        """
        small = min(page.n_features, other.n_features) < EARLY_FEATURES
        if not (small and page.site == other.site and self.min_similarity):
            return self.min_similarity
        if boilerplates.of(page.site).titles.met >= EARLY_TITLES:
            return self.min_similarity
        same_title = page.title == other.title
        return max(self.min_similarity, MIN_EARLY_SIMILARITY) if same_title else 1.0

    def takes_as_equal(self, page: PageSignature, other: PageSignature) -> bool:
        """Are the texts equal, and is that enough? Many contents share a short text."""
        if page.text_digest != other.text_digest:
            return False
        enough = min(page.n_features, other.n_features) >= self.min_features
        return enough or page.equals(other)

    def _objection_across_sites(
        self, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
    ) -> Reason | None:
        if self.scope == "site":
            return Reason.OTHER_SITE
        if _is_post_in_list(page, other) or _is_post_in_list(other, page):
            return Reason.SIZE_DIFFERS
        if not (is_thin(page) or is_thin(other)):
            return None
        notice = any(boilerplates.of(p.site).is_notice(p.text_digest) for p in (page, other))
        return (
            Reason.THIN_TEXT if notice or _title_overlap(page, other) < MIN_TITLE_OVERLAP else None
        )

    def _compare_texts(
        self, page: PageSignature, other: PageSignature, least_similarity: float
    ) -> Match | Mismatch:
        if self.takes_as_equal(page, other):
            return Match(0, 1.0, Reason.SAME_TEXT)
        if min(page.n_features, other.n_features) < self.min_features:
            return Mismatch(Reason.FEW_FEATURES)
        distance = hamming_distance(page.fingerprint, other.fingerprint)
        if distance > self.max_distance:
            return Mismatch(Reason.FAR)
        similarity = resemblance(page.sketch_values, other.sketch_values)
        if similarity < self.min_similarity and not (
            similarity >= self.least_to_ask(same_title=True) and values_agree(page, other)
        ):
            return Mismatch(Reason.TEXT_DIFFERS)
        if self.min_similarity <= similarity < least_similarity:
            return Mismatch(Reason.SITE_UNKNOWN)
        if similarity < MAX_SIMILARITY_BY_SIZE and _has_much_more(page, other):
            return Mismatch(Reason.SIZE_DIFFERS)
        if self.min_similarity and values_differ(page, other):
            return Mismatch(Reason.VALUES_DIFFER)
        return Match(distance, similarity, Reason.SIMILAR_TEXT)


def is_thin(page: PageSignature) -> bool:
    """Extraction took little, and little of what the page shows: a notice, a side list, a foot."""
    return page.n_text < THIN_COVERAGE * page.n_shown and page.n_features < THIN_FEATURES


def learn(boilerplate: SiteBoilerplate, page: PageSignature) -> None:
    """Learn from a page what its site's pages share."""
    boilerplate.learn(page.title, page.sketch_values)
    if is_thin(page):
        boilerplate.learn_thin(page.title, page.text_digest)


def _objection_on_one_site(
    page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate
) -> Reason | None:
    """What speaks against two pages of a site, however alike their texts are.

    Tag pages, archives, chapters and variants of a product may share nearly all of their text;
    what tells them apart, a name or a number, then stands in the title. Copies of a page bear
    its title, or the title with more around it.
    """
    own, other_own = (boilerplate.titles.own_parts(p.title) for p in (page, other))
    if page.is_list and other.is_list:
        own, other_own = without_list_kind(own), without_list_kind(other_own)
    if not may_be_one(own, other_own):
        return Reason.TITLE_DIFFERS
    core, other_core = title_words(own), title_words(other_own)
    if not (core or other_core) and _only_the_sites_name_is_common(page, other, boilerplate):
        return Reason.TITLE_DIFFERS
    same_title = core == other_core
    if not (same_title and core) and _size_ratio(page, other) < MIN_SIZE_RATIO:
        return Reason.SIZE_DIFFERS
    if is_thin(page) or is_thin(other):
        untitled = not same_title and not (core and other_core)
        if untitled or any(_is_all_boilerplate(p, boilerplate) for p in (page, other)):
            return Reason.THIN_TEXT
    if _own_resemblance(page, other, boilerplate) < MIN_OWN_SIMILARITY:
        return Reason.ONLY_BOILERPLATE_ALIKE
    return None


def _contained(words: frozenset[str], other_words: frozenset[str]) -> bool:
    """Does one title hold all words of the other?"""
    return words <= other_words or other_words <= words


def _only_the_sites_name_is_common(
    page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate
) -> bool:
    """Of two titles of which every part stood beside others: is one part of both its page's name?

    "Kettle X200" with its manual, its parts and its reviews is not the site's, and neither is a
    chapter that stands in many versions of a manual.
    """
    if _contained(*(title_words(p.title) for p in (page, other))):
        return False
    both = tuple(part for part in page.title if part in other.title)
    return not boilerplate.titles.own_words(both)


def _is_all_boilerplate(page: PageSignature, boilerplate: SiteBoilerplate) -> bool:
    """Is nearly everything in this page's text its site's?"""
    own = boilerplate.texts.own(page.sketch_values)
    return bool(np.count_nonzero(own) < MIN_OWN_SHARE * np.count_nonzero(page.sketch_values))


def _own_resemblance(
    page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate
) -> float:
    """Resemblance of the texts without what both have of the site's; 1.0 where there is no more.

    What differs counts even where each page has something of the site's: whoever teaches a site's
    boilerplate can take away what makes two pages alike, but never what tells them apart.
    """
    if page.text_digest == other.text_digest:
        return 1.0
    texts = [p.sketch_values for p in (page, other)]
    own = [boilerplate.texts.own(text) for text in texts]
    counts = own[0] | own[1] | (texts[0] != texts[1])
    if not counts.any():
        return 1.0
    # A bin that is empty on both sides does not count.
    return resemblance(*(text * counts for text in texts))


def _size_ratio(page: PageSignature, other: PageSignature) -> float:
    """What the smaller page shows, in characters, as a part of what the larger shows."""
    return min(page.n_shown, other.n_shown) / max(page.n_shown, other.n_shown, 1)


def _list_the_same(page: PageSignature, other: PageSignature) -> bool:
    """Are these two lists that show the same entries, which may stand under two names?"""
    return page.is_list and other.is_list and page.shows_and_holds(other)


def _is_post_in_list(page: PageSignature, other: PageSignature) -> bool:
    """Is one a list, of which only one entry was taken for the text, and the other none?"""
    return not page.is_list and other.is_list and other.n_text < MAX_ENTRY * other.n_shown


def _has_much_more(page: PageSignature, other: PageSignature) -> bool:
    """Does one of two pages of a site show much more than the other, or has it much more text?"""
    if page.site != other.site:
        return False
    of_text = min(page.n_text, other.n_text) / max(page.n_text, other.n_text, 1)
    return _size_ratio(page, other) < MIN_SHOWN_RATIO or of_text < MIN_TEXT_RATIO


def _title_overlap(page: PageSignature, other: PageSignature) -> float:
    """Words of both titles as a part of the shorter title; 0.0 where one has no title."""
    words, other_words = title_words(page.title), title_words(other.title)
    return len(words & other_words) / max(1, min(len(words), len(other_words)))
