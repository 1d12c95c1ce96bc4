"""Finds stored pages that may have the content of a page, by their passages alone.

Only a page with such candidates, and the candidates, have to be read in full. Passages that
several stored pages have are a site's boilerplate, so only rare ones count. On 3,476 real pages the
candidates include 99 of 100 originals that the rule finds; see docs/quality.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ..hashing.postings import Sharers
from ..signatures.passages import Passages, passages_in
from ..signatures.quick_sketch import Overlap, overlap, ratio_of_sizes
from ..signatures.signature import PageSignature
from .rule import Rule
from .site_boilerplate import Boilerplates
from .title_rules import titles_differ

#: A passage that so many pages have is boilerplate or a common phrase: it is not recorded of any
#: more pages. So the lists of pages stay short whatever is stored.
MAX_PAGES = 6
#: Number of rare passages that are recorded of a page.
MAX_RECORDED = 32
#: Share of their rare passages that two pages must have in common, on two sites and on one: what
#: surrounds the text of a copy is the same on one site.
MIN_SHARED = 7 / 32
MIN_SHARED_ON_ONE_SITE = 10 / 32
#: Pages of one site whose titles differ are duplicates only if they show the same all over, but for
#: what is hidden. So the one must have this part of all passages that were recorded of the other.
MIN_CONTAINED_UNDER_OTHER_TITLES = 30 / 32
#: Least share of the shorter of two texts that were read quickly which is in the other one,
#: estimated: of pages of which less is alike, the main texts do not resemble by what the rule asks
#: for. The least resemblance under other titles of a site.
MIN_OVERLAP, MIN_OVERLAP_UNDER_OTHER_TITLES = 0.5, 0.9
#: If the longer text has much else, its sample has few of the passages that both have. So fewer
#: suffice, in proportion to the lengths of the texts down to this ratio, if so much of the shorter
#: one is in the longer one.
MIN_RATIO, MIN_OVERLAP_OF_UNEQUAL = 1 / 8, 0.7
_WHOLE = Overlap(1.0, 1.0)
#: A page with fewer rare passages may be made of boilerplate alone.
MIN_RARE = 4
#: The rule asks for this resemblance at least, else pages with a single common passage are
#: candidates, and below the second one passages do not suffice.
_USUAL_SIMILARITY = 0.7
MIN_SIMILARITY = 0.5
#: Number of candidates, at most, those that share most first; and if it has few rare passages.
_MAX_CANDIDATES = 16
_MAX_CANDIDATES_OF_FEW = 8


class StoredPages(Protocol):
    """The stored pages by their numbers; those that were not read have signatures as well."""

    def pages(self, numbers: Sequence[int]) -> Sequence[PageSignature | None]:
        """Return signatures of pages; ``None`` for one that another process has removed."""


class PassageIndex(Protocol):
    """Finds pages by their passages, see :class:`~scrapy_neardup.hashing.postings.Postings`."""

    def sharers(self, hashes: Passages) -> Sharers:
        """Return the pages that have these passages; shape of ``hashes``: ``(n,)``."""


class PassageCandidates(NamedTuple):
    """The stored pages that may have a page's content.

    :ivar numbers: numbers of the pages, those that share most first; shape ``(n,)``.
    :ivar recorded: the page's own passages that are to be recorded when it is stored.
    :ivar suffice: whether a page without candidates can be judged by its passages alone.
    """

    numbers: list[int]
    recorded: Passages
    suffice: bool


def passage_candidates(
    page: PageSignature,
    index: PassageIndex,
    stored: StoredPages,
    boilerplates: Boilerplates,
    rule: Rule,
) -> PassageCandidates:
    """Return the stored pages that may have the content of a page."""
    passages = passages_in(page.passages)
    sharers = index.sharers(passages)
    is_rare = np.bincount(sharers.places, minlength=passages.size) < MAX_PAGES
    rare = np.flatnonzero(is_rare)[:MAX_RECORDED]
    recorded = passages[rare]
    if rare.size < MIN_RARE:
        numbers = ranked(sharers.numbers)[0][:_MAX_CANDIDATES_OF_FEW].tolist()
        return PassageCandidates(numbers, recorded, suffice=False)
    is_recorded = np.zeros(passages.size, bool)
    is_recorded[rare] = True
    of_recorded = sharers.numbers[is_recorded[sharers.places]]
    if not of_recorded.size:
        return PassageCandidates([], recorded, rule.min_similarity >= MIN_SIMILARITY)
    most, counts = (part[:_MAX_CANDIDATES].tolist() for part in ranked(of_recorded))
    numbers = []
    for number, shared, other in zip(most, counts, stored.pages(most), strict=True):
        if other is None or (rule.scope == "site" and page.site != other.site):
            continue
        is_strict = rule.min_similarity >= _USUAL_SIMILARITY
        if not is_strict or _may_be_copy(page, other, shared, rare.size, boilerplates):
            numbers.append(number)
    return PassageCandidates(numbers, recorded, rule.min_similarity >= MIN_SIMILARITY)


def ranked(
    numbers: npt.NDArray[np.intp],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the pages and how often each occurs: the most frequent first, then the oldest."""
    pages, counts = np.unique(numbers, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return pages[order], counts[order]


def _may_be_copy(
    page: PageSignature,
    other: PageSignature,
    shared: int,
    n_rare: int,
    boilerplates: Boilerplates,
) -> bool:
    """Return whether a stored page may have the content of a page.

    :param shared: number of their common rare passages, at least 1.
    :param n_rare: number of rare passages of the page.
    """
    recorded = passages_in(other.passages)
    is_one_site = page.site == other.site
    if is_one_site and titles_differ(page, other, boilerplates.of(page.site)):
        # Looked at first, because it takes a fraction of the time and most pairs fail it.
        if _overlap(page, other).resemblance < MIN_OVERLAP_UNDER_OTHER_TITLES:
            return False
        # Passages that are no longer rare count as well, because equal pages have all of them.
        contained = np.count_nonzero(np.isin(recorded, passages_in(page.passages)))
        return bool(contained >= MIN_CONTAINED_UNDER_OTHER_TITLES * recorded.size)
    least = MIN_SHARED_ON_ONE_SITE if is_one_site else MIN_SHARED
    if shared >= least * min(n_rare, recorded.size):
        # Sites, and views of one page, surround a text by more or less else.
        return _overlap(page, other).containment >= MIN_OVERLAP
    # Comments may fill most of the longer page's sample.
    ratio = max(MIN_RATIO, ratio_of_sizes(page.quick_sketch, other.quick_sketch))
    if shared < least * ratio * max(n_rare, recorded.size):
        return False
    return _overlap(page, other).containment >= MIN_OVERLAP_OF_UNEQUAL


def _overlap(page: PageSignature, other: PageSignature) -> Overlap:
    """Return what two texts have in common, estimated; all of them if one has no sketch."""
    return overlap(page.quick_sketch, other.quick_sketch) or _WHOLE
