"""The rule that decides whether two pages have the same content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from .._util.urls import is_dated_list
from .._util.validation import require_number
from ..exceptions import InvalidOption, SignatureMismatch
from ..hashing.minhash import resemblance
from ..hashing.simhash import hamming_distance
from ..hashing.simhash_index import MAX_DISTANCE
from ..reasons import Reason
from ..signatures.facts import fields_differ, states_more
from ..signatures.quick_sketch import bins_of
from ..signatures.signature import PageSignature
from ..text.titles import Title, name_other_versions, title_words
from .own_texts import is_all_boilerplate, only_boilerplate_alike
from .site_boilerplate import Boilerplates, SiteBoilerplate
from .title_rules import headings_name_others, own_titles, titles_differ
from .value_rules import SAME_VALUES_LENIENCY, values_agree, values_differ
from .verdict import Match, Mismatch
from .version_rules import are_renamed_versions, versions_differ

Scope = Literal["all", "site"]

SCOPES = ("all", "site")

#: A text is thin when it is less than this part of what the page shows and has fewer distinct
#: tokens than this: a notice may have been extracted instead of the content.
THIN_COVERAGE = 0.7
THIN_FEATURES = 200
#: Words that the titles of pages of two sites must share, as a part of the shorter title, so that
#: a thin text is compared. If the texts are nearly equal it is enough that the titles begin with
#: the same part of so many words: the rest may be the names of the sites.
MIN_TITLE_OVERLAP = 0.6
MIN_SHARED_WORDS = 2
#: On one site, when the titles differ: how much the smaller page must show, as a part of what the
#: larger one shows.
MIN_SIZE_RATIO = 1 / 3
#: On one site, texts with fewer distinct tokens than this must resemble by more if their titles are
#: equal: pages of a reference may have one title and differ in a line.
SMALL_FEATURES = 200
MIN_SMALL_SIMILARITY = 0.92
#: If they are not, texts with fewer tokens than this must be equal on a site of which fewer titles
#: were seen: most of them may be the site's boilerplate, which is not known yet.
EARLY_FEATURES = 100
EARLY_TITLES = 10
#: The text of a list page is a single entry when it is less than this part of what the page shows.
MAX_ENTRY = 0.5
#: On one site, when the texts resemble by less than this: how large the smaller page must be, as a
#: part of the larger one, by all that is shown and by the text.
MAX_SIMILARITY_BY_SIZE = 0.84
MIN_SHOWN_RATIO, MIN_TEXT_RATIO = 0.7, 0.85
#: The same on two sites, whose templates add less than so many characters to a text.
MAX_SIMILARITY_BY_TEXT = 0.8
MIN_TEXT_RATIO_ACROSS_SITES, MIN_MORE_TEXT = 0.81, 100
#: Least resemblance of two texts beside which all facts are compared.
MIN_SAME_TEXT = 0.9
#: Least resemblance of a look-alike that a verdict names.
MIN_LOOK_ALIKE = 0.4


@dataclass(frozen=True)
class Rule:
    """Thresholds of the comparison.

    :ivar max_distance: Hamming distance, 0 to 11, up to which a stored page is a candidate.
    :ivar min_similarity: estimated resemblance, 0.0 to 1.0, that confirms a candidate; 0 confirms
        every candidate (as Manku, Jain, Das Sarma, WWW 2007, with distance 3).
    :ivar min_features: a page whose text has fewer distinct tokens is a duplicate only when the
        whole page is equal.
    :ivar scope: ``"site"`` compares only pages of one registrable domain, ``"all"`` all pages.
    :raises InvalidOption: when a threshold is out of range.
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
        """Decide whether a page has the same content as a stored one and may be dropped.

        The order matters only if the stored page states more facts, or if the pages show the same
        and the stored one has one element more, see :meth:`compare_either_way`. Two pages of a site
        do not match as long as the facts of one of them are not known.

        :param other: the stored page.
        :param boilerplates: the boilerplate learned of the sites so far.
        :raises SignatureMismatch: when the signatures were made by different recipes.
        """
        if page.recipe != other.recipe:
            raise SignatureMismatch(page.recipe, other.recipe)
        if page.site == other.site:
            if reason := self._reason_of_equality(page, other):
                return Match(hamming_distance(page.fingerprint, other.fingerprint), 1.0, reason)
            objection = _objection_on_one_site(page, other, boilerplates.of(page.site))
        else:
            objection = self._objection_across_sites(page, other, boilerplates)
        if objection or (page.holds_other(other) and not page.lacks_one_of(other)):
            return Mismatch(objection or Reason.PARTS_DIFFER)
        outcome = self._compare_texts(page, other, boilerplates)
        if not isinstance(outcome, Match):
            return outcome
        if page.site == other.site and (page.lacks_facts or other.lacks_facts):
            return Mismatch(Reason.FACTS_UNKNOWN)
        is_other = page.is_other_kind(other) or page.is_other_fragment(other)
        if is_other or _states_more(page, other, outcome):
            return Mismatch(Reason.PARTS_DIFFER)
        return outcome

    def compare_either_way(
        self, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
    ) -> Match | Mismatch:
        """Decide whether two pages have the same content, so that one of them may be dropped.

        Their facts must be equal: of two pages that state other facts, each may resemble a third
        one that states none.

        :raises SignatureMismatch: when the signatures were made by different recipes.
        """
        outcome, pages = self.compare(page, other, boilerplates), (other, page)
        if outcome.reason == Reason.PARTS_DIFFER:
            outcome, pages = self.compare(other, page, boilerplates), (page, other)
        if isinstance(outcome, Match) and _states_more(*pages, outcome):
            return Mismatch(Reason.PARTS_DIFFER)
        return outcome

    def _reason_of_equality(self, page: PageSignature, other: PageSignature) -> Reason | None:
        """Return the reason why two pages of a site are equal, before titles and texts count."""
        if page.equals(other):
            return Reason.SAME_PAGE
        enough = min(page.n_features, other.n_features) >= self.min_features
        return Reason.SAME_LIST if enough and _are_same_list(page, other) else None

    def similarity_floor(self, *, same_title: bool) -> float:
        """Return the estimated resemblance, up to 1.0, below which :meth:`compare` never matches.

        Pages with equal texts, or equal pages of one site, are exempt.
        """
        if not (same_title and self.min_similarity):
            return self.min_similarity
        return 1 - (1 - self.min_similarity) * SAME_VALUES_LENIENCY

    def least_similarity(
        self, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
    ) -> float:
        """Return the estimated resemblance, 0.0 to 1.0, that confirms these two pages.

        It is ``min_similarity``, but more for small texts of one site.
        """
        if page.site != other.site or not self.min_similarity:
            return self.min_similarity
        n_features = min(page.n_features, other.n_features)
        if page.title == other.title:
            is_small = n_features < SMALL_FEATURES
            return (
                max(self.min_similarity, MIN_SMALL_SIMILARITY) if is_small else self.min_similarity
            )
        is_known = boilerplates.of(page.site).titles.count >= EARLY_TITLES
        return self.min_similarity if is_known or n_features >= EARLY_FEATURES else 1.0

    def equal_texts_suffice(self, page: PageSignature, other: PageSignature) -> bool:
        """Decide whether the texts are equal, and either long enough or all of the pages equal."""
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
        if notice or not _share_title(page, other):
            return Reason.THIN_TEXT
        return None

    def _compare_texts(
        self, page: PageSignature, other: PageSignature, boilerplates: Boilerplates
    ) -> Match | Mismatch:
        if self.equal_texts_suffice(page, other):
            return Match(0, 1.0, Reason.SAME_TEXT)
        if min(page.n_features, other.n_features) < self.min_features:
            return Mismatch(Reason.FEW_FEATURES)
        distance = hamming_distance(page.fingerprint, other.fingerprint)
        if distance > self.max_distance:
            return Mismatch(Reason.FAR)
        similarity = resemblance(page.sketch_values, other.sketch_values)
        if similarity < self.min_similarity and not (
            similarity >= self.similarity_floor(same_title=True) and values_agree(page, other)
        ):
            return Mismatch(Reason.TEXT_DIFFERS)
        if self.min_similarity <= similarity < self.least_similarity(page, other, boilerplates):
            same_title = page.title == other.title
            return Mismatch(Reason.TEXT_DIFFERS if same_title else Reason.SITE_UNKNOWN)
        if page.site == other.site and _has_much_more(page, other, similarity):
            return Mismatch(Reason.SIZE_DIFFERS)
        objection = self.min_similarity and _objection_in_detail(
            page, other, similarity, boilerplates
        )
        return (
            Mismatch(objection) if objection else Match(distance, similarity, Reason.SIMILAR_TEXT)
        )


def _objection_in_detail(
    page: PageSignature, other: PageSignature, similarity: float, boilerplates: Boilerplates
) -> Reason | None:
    """Return an objection to two similar texts: to their lengths, versions, or values."""
    if page.site != other.site and _is_much_longer(page, other, similarity):
        return Reason.SIZE_DIFFERS
    if versions_differ(page, other, similarity):
        return Reason.TEXT_DIFFERS
    if not values_differ(page, other):
        return None
    are_renamed = are_renamed_versions(page, other, similarity, boilerplates)
    return None if are_renamed else Reason.VALUES_DIFFER


def is_thin(page: PageSignature) -> bool:
    """Return whether the main text is short, and a small part of what the page shows.

    Such a text may be that of a notice, a side list or a footer.
    """
    return page.n_text < THIN_COVERAGE * page.n_shown and page.n_features < THIN_FEATURES


def learn(boilerplate: SiteBoilerplate, page: PageSignature) -> None:
    """Learn the site's boilerplate from one of its pages, as far as it was read."""
    _learn(boilerplate, page, page.title)


def learn_text(boilerplate: SiteBoilerplate, page: PageSignature) -> None:
    """Learn from the text of a page that was learned before it was read in full."""
    _learn(boilerplate, replace(page, quick_sketch=b""), None)


def _learn(boilerplate: SiteBoilerplate, page: PageSignature, title: Title | None) -> None:
    """Learn from a page, and from its title unless that was learned before."""
    boilerplate.learn(
        title,
        page.sketch_values if page.is_read else None,
        bins_of(page.quick_sketch) if page.quick_sketch else None,
    )
    if page.is_read and is_thin(page):
        boilerplate.learn_thin(page.title, page.text_digest)


def _objection_on_one_site(
    page: PageSignature, other: PageSignature, boilerplate: SiteBoilerplate
) -> Reason | None:
    """Return an objection to two pages of a site that holds however similar their texts are.

    Tag pages, archives, chapters and variants of a product may share nearly all of their text and
    differ in a name or a number in the title. Copies of a page have its title, or a title that
    contains it.
    """
    if titles_differ(page, other, boilerplate):
        return Reason.TITLE_DIFFERS
    if headings_name_others(page, other):
        return Reason.TITLE_DIFFERS
    core, other_core = map(title_words, own_titles(page, other, boilerplate))
    same_title = core == other_core
    if not (same_title and core) and _size_ratio(page, other) < MIN_SIZE_RATIO:
        return Reason.SIZE_DIFFERS
    if is_thin(page) or is_thin(other):
        untitled = not same_title and not (core and other_core)
        if untitled or any(is_all_boilerplate(p, boilerplate) for p in (page, other)):
            return Reason.THIN_TEXT
    if only_boilerplate_alike(page, other, boilerplate):
        return Reason.ONLY_BOILERPLATE_ALIKE
    return None


def _states_more(page: PageSignature, other: PageSignature, match: Match) -> bool:
    """Return whether facts tell a page from another one with a similar text.

    Only pages of one site are compared. Under one title, values count that stand in place of each
    other; facts that only this page states count if the texts are nearly equal, or they might be
    part of the other text. Under different titles, only facts that each page has in place of the
    other's count, if the texts are nearly equal and the titles do not name versions of a manual.
    """
    if page.site != other.site:
        return False
    is_same_text = match.similarity >= MIN_SAME_TEXT
    if page.title == other.title:
        return (is_same_text and states_more(page, other)) or fields_differ(page, other)
    if not is_same_text or name_other_versions(page.title, other.title):
        return False
    each_states_more = states_more(page, other) and states_more(other, page)
    return each_states_more or fields_differ(page, other, same_title=False)


def _size_ratio(page: PageSignature, other: PageSignature) -> float:
    """Return the characters that the smaller page shows, as a part of those of the larger one."""
    return min(page.n_shown, other.n_shown) / max(page.n_shown, other.n_shown, 1)


def _are_same_list(page: PageSignature, other: PageSignature) -> bool:
    """Return whether the pages are two lists of the same entries, whatever their names.

    Unless they show and contain the same, one must be the archive of a year, a month or a day,
    which lists again what others list. Other lists of equal entries may differ: a shop may have its
    products below ``/category/``, or show those of each category by scripts.
    """
    if not (page.is_list and other.is_list):
        return False
    if page.shows_and_holds(other):
        return True
    return page.lists_same(other) and is_dated_list(page.url) != is_dated_list(other.url)


def _is_post_in_list(page: PageSignature, other: PageSignature) -> bool:
    """Return whether ``other`` is a list of which one entry was extracted, and ``page`` is none."""
    return not page.is_list and other.is_list and other.n_text < MAX_ENTRY * other.n_shown


def _has_much_more(page: PageSignature, other: PageSignature, similarity: float) -> bool:
    """Return whether one of two pages of a site shows much more, or has much more text.

    Only pages that resemble little are compared. A manual's version may have one more note on each
    page, such as that there is a newer one.
    """
    if similarity >= MAX_SIMILARITY_BY_SIZE:
        return False
    if _size_ratio(page, other) < MIN_SHOWN_RATIO:
        return True
    least, most = sorted((page.n_text, other.n_text))
    has_note = most - least <= MIN_MORE_TEXT and name_other_versions(page.title, other.title)
    return least < MIN_TEXT_RATIO * most and not has_note


def _is_much_longer(page: PageSignature, other: PageSignature, similarity: float) -> bool:
    """Return whether one of two pages of two sites has much more text.

    Only pages that resemble little are compared. How much they show does not count: two sites
    surround a text by different things.
    """
    least, most = sorted((page.n_text, other.n_text))
    is_small = least < MIN_TEXT_RATIO_ACROSS_SITES * most and most - least > MIN_MORE_TEXT
    return similarity < MAX_SIMILARITY_BY_TEXT and is_small


def _share_title(page: PageSignature, other: PageSignature) -> bool:
    """Return whether the titles of two pages have the same words, but for the sites' names.

    If the texts are nearly equal, the same first part of several words is enough.
    """
    words, other_words = title_words(page.title), title_words(other.title)
    n_words = min(len(words), len(other_words))
    if len(words & other_words) >= MIN_TITLE_OVERLAP * max(1, n_words):
        return True
    begin_alike = n_words and page.title[0] == other.title[0]
    if not begin_alike or len(page.title[0]) < MIN_SHARED_WORDS:
        return False
    return resemblance(page.sketch_values, other.sketch_values) >= MIN_SAME_TEXT
