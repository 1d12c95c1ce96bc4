"""Finds a page's original among the candidates, the stored pages with a near fingerprint.

All stores use this module. Candidates are first compared all at once: by digests of their texts, by
their numbers of tokens and by their sketches. The full rule then compares those that are left, from
the most similar on, until it accepts one.

Twenty thousand candidates must not halt a crawl, be they an attack or the products of a shop that
differ in their titles alone. So the costlier comparisons are made for a bounded number of
candidates, the most promising first. If more candidates are left, the page is kept, and the reason
of its verdict is ``"crowded"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import sqrt
from struct import Struct
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import xxhash

from .._util.encoding import utf8
from ..hashing.minhash import agreements, resemblance, resemblances
from ..hashing.simhash import hamming_distance
from ..hashing.simhash_index import Candidates
from ..reasons import Reason
from ..signatures.signature import HELD, PageSignature
from ..text.titles import Title
from .rule import MIN_LOOK_ALIKE, Rule
from .site_boilerplate import Boilerplates
from .stored_items import NO_ITEMS, OWN_ITEMS
from .verdict import Kind, LookAlike, Match, Mismatch, Verdict, require_facts

#: Bounds, each worth about a millisecond of work: full sketches that are compared, and pages that
#: the full rule compares.
MAX_SKETCHES, MAX_RULED = 1024, 64

#: When there are more candidates, the first bins of their sketches rule out those whose estimated
#: resemblance is so many standard errors below the least that is needed.
FIRST_BINS, _ERRORS = 48, 4
#: Rows compared at once. The system takes larger arrays back, and clears them again each time.
_BATCH = 1024

#: A store's summary of a page, to compare many pages at once: digests of its site, title, text and
#: of the whole page (0 if unknown), and its number of distinct tokens. Fragments have no title, so
#: that of what they hold is in its place. Equal values have equal digests, but different values
#: may have equal digests too, so the rule has the last word. The key's digest and the time are for
#: the store's own use; for ``items`` see :mod:`~scrapy_neardup.matching.stored_items`.
SUMMARY_DTYPE = np.dtype(
    [
        ("key", "<u8"),
        ("site", "<u4"),
        ("title", "<u4"),
        ("text", "<u4"),
        ("shown", "<u4"),
        ("n_features", "<u4"),
        ("stored_at", "<u4"),
        ("items", "<u8"),
    ]
)
Summaries = npt.NDArray[np.void]
#: The same layout for :mod:`struct`, which packs a single row much faster than numpy.
_SUMMARY = Struct("<QIIIIIIQ")
Similarities = npt.NDArray[np.float64]


class SignatureSource(Protocol):
    """A store's signatures, by their numbers in its index."""

    def summaries(self, numbers: npt.NDArray[np.intp]) -> Summaries:
        """Return the rows that :func:`packed_summary` made of these pages."""

    def first_bins(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        """Return the first :data:`FIRST_BINS` bins of the sketches of these pages, a row each."""

    def sketches(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        """Return the sketches of these pages, a row each."""

    def page(self, number: int) -> PageSignature:
        """Return the signature of a page."""


def packed_summary(
    page: PageSignature, key: int = 0, stored_at: int = 0, items: int = OWN_ITEMS
) -> bytes:
    """Return a page's row of :data:`SUMMARY_DTYPE`, as bytes."""
    return _SUMMARY.pack(
        key,
        site_digest(page.site),
        _first_bytes(page.shown_digest[HELD]) if page.is_fragment else title_digest(page.title),
        _first_bytes(page.text_digest),
        _first_bytes(page.shown_digest),
        page.n_features,
        stored_at,
        items,
    )


def site_digest(site: str) -> int:
    """Return a digest of a site, 32 bits."""
    return _digest(site)


def title_digest(title: Title) -> int:
    """Return a digest of a title, 32 bits."""
    return _digest("\n".join(" ".join(part) for part in title))


class Likeness(NamedTuple):
    """The result of comparing pairs of pages by their summaries; all arrays have one shape.

    :ivar possible: whether the rule could accept the pair.
    :ivar equal: whether the texts are equal and long enough, or the whole pages are equal.
    :ivar same_page: whether the whole pages are equal, and of one site.
    """

    possible: npt.NDArray[np.bool_]
    equal: npt.NDArray[np.bool_]
    same_page: npt.NDArray[np.bool_]


def likeness_of(one: Summaries, other: Summaries, rule: Rule) -> Likeness:
    """Compare pages by their summaries, element by element; the arrays are broadcast."""
    same_site = one["site"] == other["site"]
    enough = np.minimum(one["n_features"], other["n_features"]) >= rule.min_features
    whole_equal = (one["shown"] == other["shown"]) & (one["shown"] != 0)
    same_page = same_site & whole_equal
    equal = same_page | ((one["text"] == other["text"]) & (enough | whole_equal))
    possible = equal | enough
    if rule.scope == "site":
        possible &= same_site
    return Likeness(possible, equal, same_page)


def similarity_floors(same_title: npt.NDArray[np.bool_], rule: Rule) -> Similarities:
    """Return the :meth:`~scrapy_neardup.matching.rule.Rule.similarity_floor` of each pair."""
    other, same = (rule.similarity_floor(same_title=is_same) for is_same in (False, True))
    return np.where(same_title, same, other)


class Found(NamedTuple):
    """The result of looking for a page's original.

    :ivar verdict: on the page; of a page that must wait, the verdict if the blocker is stored.
    :ivar items: the stored items of the original, see
        :mod:`~scrapy_neardup.matching.stored_items`.
    :ivar blocker: number of the page whose claim must be resolved first, if there is one.
    """

    verdict: Verdict
    items: int = OWN_ITEMS
    blocker: int | None = None


def find_original(
    page: PageSignature,
    near: Candidates,
    source: SignatureSource,
    rule: Rule,
    boilerplates: Boilerplates,
    *,
    is_reserved: npt.NDArray[np.bool_],
) -> Found:
    """Find the page's original among stored pages, then claimed ones, then pages of links only.

    A page of which no item was stored is never an original, because its copies may yield the item.
    The verdict only names it (``Verdict.links_seen_at``).

    :param near: all pages that the index has near the page's fingerprint.
    :param is_reserved: which of them are reserved and not yet committed; shape ``(n,)``.
    :raises SignatureMismatch: when one of them was made by another recipe.
    :raises FactsNeeded: when facts have to be read first.
    """

    def judge_by(places: npt.NDArray[np.bool_]) -> tuple[Verdict, int | None]:
        chosen = near if places.all() else Candidates(near.keys[places], near.distances[places])
        return judge(page, chosen, source, rule, boilerplates)

    if not near.keys.size:
        kind, reason = _why_kept(page, rule, (), is_cut=False)
        return Found(Verdict(kind, page.url, reason))
    items = source.summaries(near.keys)["items"]
    has_items = items != NO_ITEMS
    verdict, number = judge_by(has_items & ~is_reserved)
    if number is not None:
        return Found(verdict, int(items[near.keys == number][0]))
    if is_reserved.any():
        provisional, number = judge_by(is_reserved)
        if number is not None:
            return Found(provisional, blocker=number)
    if (links_only := ~has_items & ~is_reserved).any():
        seen, number = judge_by(links_only)
        if number is not None:
            verdict = replace(verdict, links_seen_at=seen.duplicate_of)
    return Found(verdict)


def judge(
    page: PageSignature,
    candidates: Candidates,
    source: SignatureSource,
    rule: Rule,
    boilerplates: Boilerplates,
) -> tuple[Verdict, int | None]:
    """Return the verdict on a page whose URL is not stored, and the number of its original.

    Of several originals it is the most similar, of equally similar ones the nearest, then the
    oldest.

    :param candidates: pages that the index has near the page's fingerprint.
    :raises SignatureMismatch: when one of them was made by another recipe.
    """
    promising = _promising(page, candidates, source, rule)
    refused: list[LookAlike] = []
    for number, original, similarity in promising.pages:
        outcome = rule.compare(page, original, boilerplates)
        if isinstance(outcome, Match):
            verdict = Verdict(
                "duplicate",
                page.url,
                outcome.reason,
                original.url,
                outcome.distance,
                outcome.similarity,
                original_text=original.text_digest,
                same_shown=page.shows_and_holds(original),
            )
            return verdict, number
        require_facts(outcome, page, original)
        refused.append(_look_alike(page, original, similarity, outcome))
    kind, reason = _why_kept(page, rule, refused, is_cut=promising.is_cut)
    for _, original, similarity in promising.runner_up:
        outcome = rule.compare(page, original, boilerplates)
        if isinstance(outcome, Mismatch):
            refused.append(_look_alike(page, original, similarity, outcome))
    refused.sort(key=lambda other: (-other.similarity, other.distance))
    named = [other for other in refused[:1] if other.similarity >= MIN_LOOK_ALIKE]
    return Verdict(kind, page.url, reason, look_alike=named[0] if named else None), None


def _why_kept(
    page: PageSignature, rule: Rule, refused: Sequence[LookAlike], *, is_cut: bool
) -> tuple[Kind, Reason]:
    """Return kind and reason of the verdict on a page without an original."""
    if is_cut:
        return "undecided", Reason.CROWDED
    if page.n_features < rule.min_features:
        return "undecided", Reason.FEW_FEATURES
    similar = (other for other in refused if other.similarity >= rule.min_similarity)
    if any(look_alike.objection == Reason.THIN_TEXT for look_alike in similar):
        return "undecided", Reason.THIN_TEXT
    return "new", Reason.NO_MATCH


def _look_alike(
    page: PageSignature, other: PageSignature, similarity: float, mismatch: Mismatch
) -> LookAlike:
    distance = hamming_distance(page.fingerprint, other.fingerprint)
    return LookAlike(other.url, distance, similarity, mismatch.reason)


#: A page's number, its signature, and its similarity to the page that is judged.
_Candidate = tuple[int, PageSignature, float]


class _Promising(NamedTuple):
    """Candidates that the full rule compares; their signatures are read while iterating.

    :ivar pages: those that may be the original, most similar first.
    :ivar is_cut: whether there were too many of them.
    :ivar runner_up: the most similar page of those that are not similar enough, if there is one.
    """

    pages: Iterable[_Candidate] = ()
    is_cut: bool = False
    runner_up: Iterable[_Candidate] = ()


class _Pool(NamedTuple):
    """Pages that the rule could accept, nearest and oldest first.

    :ivar equal: see :class:`Likeness`.
    :ivar priority: 1 for an equal title, plus 2 for an equal page of the same site: among pages of
        one similarity, those that the rule accepts most likely come first.
    """

    numbers: npt.NDArray[np.intp]
    equal: npt.NDArray[np.bool_]
    priority: npt.NDArray[np.intp]

    def at(self, places: npt.NDArray[Any]) -> _Pool:
        return _Pool(*(column[places] for column in self))

    def floors(self, rule: Rule) -> Similarities:
        return similarity_floors(self.priority % 2 == 1, rule)


def _promising(
    page: PageSignature, candidates: Candidates, source: SignatureSource, rule: Rule
) -> _Promising:
    if not candidates.keys.size:
        return _Promising()
    if candidates.keys.size == 1:
        # Most pages have one candidate at most, for which arrays would take several times as long.
        return _promising_one(page, int(candidates.keys[0]), source, rule)
    pool, is_cut = _possible(page, candidates, source, rule), False
    if pool.numbers.size > MAX_SKETCHES:
        estimate, error = _estimate(page, pool, source)
        floors = pool.floors(rule) - _ERRORS * error
        pool, _, is_cut = _most_similar(pool, estimate, floors, MAX_SKETCHES)
    similarity = resemblances(page.sketch_values, source.sketches(pool.numbers))
    similarity[pool.equal] = 1.0
    floors = pool.floors(rule)
    runner_up = _runner_up(pool, similarity, floors)
    pool, similarity, more = _most_similar(pool, similarity, floors, MAX_RULED)
    order = np.argsort(-similarity, kind="stable")
    pages = zip(pool.numbers[order].tolist(), similarity[order].tolist(), strict=True)
    return _Promising(_read(source, pages), is_cut or more, _read(source, runner_up))


def _read(source: SignatureSource, pages: Iterable[tuple[int, float]]) -> Iterator[_Candidate]:
    return ((number, source.page(number), similarity) for number, similarity in pages)


def _promising_one(
    page: PageSignature, number: int, source: SignatureSource, rule: Rule
) -> _Promising:
    """Return what :func:`_promising` returns, for a single candidate; see :func:`likeness_of`."""
    other = source.page(number)
    same_site = page.site == other.site
    is_equal = (same_site and page.equals(other)) or rule.equal_texts_suffice(page, other)
    has_enough = min(page.n_features, other.n_features) >= rule.min_features
    if not (is_equal or has_enough) or (rule.scope == "site" and not same_site):
        return _Promising()
    similarity = 1.0 if is_equal else resemblance(page.sketch_values, other.sketch_values)
    if similarity >= rule.similarity_floor(same_title=page.title == other.title):
        return _Promising([(number, other, similarity)])
    is_similar = similarity >= MIN_LOOK_ALIKE
    return _Promising(runner_up=[(number, other, similarity)] if is_similar else [])


def _runner_up(
    pool: _Pool, similarity: Similarities, floors: Similarities
) -> list[tuple[int, float]]:
    below = np.where(similarity < floors, similarity, 0.0)
    if not below.size or (highest := float(below.max())) < MIN_LOOK_ALIKE:
        return []
    return [(int(pool.numbers[below.argmax()]), highest)]


def _possible(
    page: PageSignature, candidates: Candidates, source: SignatureSource, rule: Rule
) -> _Pool:
    """Return the candidates that the rule could accept by their summaries."""
    [own] = np.frombuffer(packed_summary(page), SUMMARY_DTYPE)
    theirs = source.summaries(candidates.keys)
    likeness = likeness_of(own, theirs, rule)
    same_title = theirs["title"] == own["title"]
    pool = _Pool(candidates.keys, likeness.equal, same_title + 2 * likeness.same_page)
    return pool.at(likeness.possible)


def _estimate(
    page: PageSignature, pool: _Pool, source: SignatureSource
) -> tuple[Similarities, float]:
    """Return upper bounds of the similarities, by the first bins, and their standard error.

    The standard error of a share of ``n`` bins is at most ``1 / (2 * sqrt(n))``.
    """
    sketch = page.sketch_values[:FIRST_BINS]
    filled = max(1, int(np.count_nonzero(sketch)))
    batches = np.split(pool.numbers, range(_BATCH, pool.numbers.size, _BATCH))
    agreeing = [agreements(sketch, source.first_bins(batch)) for batch in batches]
    share = np.concatenate(agreeing) / filled
    share[pool.equal] = 1.0
    return share, 1 / 2 / sqrt(filled)


def _most_similar(
    pool: _Pool, similarity: Similarities, floors: Similarities, most: int
) -> tuple[_Pool, Similarities, bool]:
    """Return the pages from their floor on, at most ``most``, and whether there were more."""
    kept = np.flatnonzero(similarity >= floors)
    is_cut = kept.size > most
    if is_cut:
        # In thousandths, because numpy sorts 16-bit integers by radix sort, in linear time.
        rank = (1000 * (similarity + pool.priority))[kept].astype(np.int16)
        kept = np.sort(kept[np.argsort(-rank, kind="stable")[:most]])
    return pool.at(kept), similarity[kept], is_cut


def _first_bytes(digest: bytes) -> int:
    return int.from_bytes(digest[:4], "little")


def _digest(text: str) -> int:
    return xxhash.xxh3_64_intdigest(utf8(text)) & 0xFFFFFFFF
