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
from ..signatures.signature import PageSignature
from .rule import Rule, titles_differ
from .site_boilerplate import Boilerplates

#: A passage that so many pages have is boilerplate or a common phrase: it is not recorded of any
#: more pages. So the lists of pages stay short whatever is stored.
MAX_PAGES = 6
#: Number of rare passages that are recorded of a page.
MAX_RECORDED = 32
#: Share of their rare passages that two pages must have in common.
MIN_SHARED = 5 / 32
#: The same for pages of one site whose titles differ, which are duplicates only if they show the
#: same all over.
MIN_SHARED_UNDER_OTHER_TITLES = 20 / 32
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
        numbers = _ranked(sharers.numbers)[0][:_MAX_CANDIDATES_OF_FEW].tolist()
        return PassageCandidates(numbers, recorded, suffice=False)
    is_recorded = np.zeros(passages.size, bool)
    is_recorded[rare] = True
    of_recorded = sharers.numbers[is_recorded[sharers.places]]
    if not of_recorded.size:
        return PassageCandidates([], recorded, rule.min_similarity >= MIN_SIMILARITY)
    most, counts = (part[:_MAX_CANDIDATES].tolist() for part in _ranked(of_recorded))
    numbers = []
    for number, shared, other in zip(most, counts, stored.pages(most), strict=True):
        if other is None or (rule.scope == "site" and page.site != other.site):
            continue
        if shared >= _least_shared(page, other, rare.size, boilerplates, rule):
            numbers.append(number)
    return PassageCandidates(numbers, recorded, rule.min_similarity >= MIN_SIMILARITY)


def _ranked(
    numbers: npt.NDArray[np.intp],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the pages and how often each occurs: the most frequent first, then the oldest."""
    pages, counts = np.unique(numbers, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return pages[order], counts[order]


def _least_shared(
    page: PageSignature,
    other: PageSignature,
    n_rare: int,
    boilerplates: Boilerplates,
    rule: Rule,
) -> float:
    """Return the number of common passages that makes another page a candidate."""
    if rule.min_similarity < _USUAL_SIMILARITY:
        return 1
    most = min(n_rare, passages_in(other.passages).size)
    least = max(1.0, MIN_SHARED * most)
    if page.site != other.site or not titles_differ(page, other, boilerplates.of(page.site)):
        return least
    return max(least, MIN_SHARED_UNDER_OTHER_TITLES * most)
