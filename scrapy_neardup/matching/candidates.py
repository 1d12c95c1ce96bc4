"""Which of the pages with a near fingerprint is a page's original?

All stores ask here. What can be asked of many pages at once is asked of all of them: are the
texts equal, are there enough tokens, do the sketches resemble? The whole rule is then put to
those that are left, from the most similar on, until it accepts one.

A flood must not halt a crawl: twenty thousand pages that somebody made alike, or a shop's that
differ in their titles alone. So what is done page by page is done for a bounded number of them,
those first that promise most. When that was not enough, the verdict says so
(``"crowded"``), and the page is kept.
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

from ..hashing.minhash import agreements, resemblance, resemblances
from ..hashing.simhash import hamming_distance
from ..hashing.simhash_index import Candidates
from ..reasons import Reason
from ..signatures.signature import PageSignature
from ..text.titles import Title
from .rule import MIN_LOOK_ALIKE, Rule
from .site_boilerplate import Boilerplates
from .stored_items import NO_ITEMS, OWN_ITEMS
from .verdict import Kind, LookAlike, Match, Mismatch, Verdict

#: Bounds, each for the work of about a millisecond: sketches that are compared whole, and
#: pages to which the whole rule is put.
MAX_SKETCHES = 1024
MAX_RULED = 64

#: When there are more, the first bins of all of them say which to leave out: those whose
#: estimate stays so many standard errors below what is asked for.
FIRST_BINS = 48
_ERRORS = 4
#: So many pages at a time, because the system takes large arrays back and clears them again.
_PIECE = 1024

#: What a store keeps of each page to be asked of many pages at once: digests of its site, title,
#: text and the whole page (0 where that is not known), and its number of distinct tokens.
#: Equal values have equal digests; what differs may have the same, so the rule is asked as well.
#: The key's digest and the time are the store's own business; for ``items`` see
#: :mod:`~scrapy_neardup.matching.stored_items`.
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
Traits = npt.NDArray[np.void]
#: The same as a structure: a row is packed in a part of the time that an array takes.
_TRAITS = Struct("<QIIIIIIQ")
Similarities = npt.NDArray[np.float64]


class SignatureSource(Protocol):
    """Where a store keeps its pages, by the numbers under which the index has them."""

    def summaries(self, numbers: npt.NDArray[np.intp]) -> Traits:
        """What :func:`packed_summary` said of these pages."""

    def first_bins(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        """The first :data:`FIRST_BINS` bins of the sketches of these pages, a row each."""

    def sketches(self, numbers: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
        """The sketches of these pages, a row each."""

    def page(self, number: int) -> PageSignature:
        """The whole signature."""


def packed_summary(
    page: PageSignature, key: int = 0, stored_at: int = 0, items: int = OWN_ITEMS
) -> bytes:
    """A page's row of :data:`SUMMARY_DTYPE`, as bytes."""
    return _TRAITS.pack(
        key,
        site_digest(page.site),
        title_digest(page.title),
        _first_bytes(page.text_digest),
        _first_bytes(page.shown_digest),
        page.n_features,
        stored_at,
        items,
    )


def site_digest(site: str) -> int:
    """32 bits by which pages of one site are found."""
    return _digest(site)


def title_digest(title: Title) -> int:
    """32 bits that equal titles have in common."""
    return _digest("\n".join(" ".join(part) for part in title))


class Likeness(NamedTuple):
    """What the summaries of two pages say; all of the same shape.

    :ivar possible: could the rule accept the two, whatever their sketches say?
    :ivar equal: is their text equal, or on one site the whole page, and that is enough?
    :ivar same_page: is it the latter?
    """

    possible: npt.NDArray[np.bool_]
    equal: npt.NDArray[np.bool_]
    same_page: npt.NDArray[np.bool_]


def likeness_of(one: Traits, other: Traits, rule: Rule) -> Likeness:
    """Compare pages by their summaries: of one shape, or one page's with those of many."""
    same_site = one["site"] == other["site"]
    enough = np.minimum(one["n_features"], other["n_features"]) >= rule.min_features
    whole_equal = (one["shown"] == other["shown"]) & (one["shown"] != 0)
    same_page = same_site & whole_equal
    equal = same_page | ((one["text"] == other["text"]) & (enough | whole_equal))
    possible = equal | enough
    if rule.scope == "site":
        possible &= same_site
    return Likeness(possible, equal, same_page)


class Found(NamedTuple):
    """What a lookup found.

    :ivar verdict: on the page; of a page that must wait, the verdict if the other is stored.
    :ivar items: what was stored of the original, see :mod:`~scrapy_neardup.matching.stored_items`.
    :ivar blocker: number of the page whose outcome must be known first; ``None`` where there is
        none.
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
    is_open: npt.NDArray[np.bool_],
) -> Found:
    """Look for the page's original: among stored pages, then open ones, then pages of links.

    A page of which no item was stored is never an original: its copies may yield the item. It is
    only named in the verdict (:attr:`~scrapy_neardup.matching.rule.Verdict.links_seen_at`).

    :param near: all pages that the index has near the page's fingerprint.
    :param is_open: which of them are not known yet to be stored; shape ``(n,)``.
    :raises SignatureMismatch: when one of them was made in another way.
    """

    def by(places: npt.NDArray[np.bool_]) -> tuple[Verdict, int | None]:
        some = Candidates(near.keys[places], near.distances[places])
        return judge(page, some, source, rule, boilerplates)

    if not near.keys.size:
        return Found(judge(page, near, source, rule, boilerplates)[0])
    items = source.summaries(near.keys)["items"]
    has_items = items != NO_ITEMS
    verdict, number = by(has_items & ~is_open)
    if number is not None:
        return Found(verdict, int(items[near.keys == number][0]))
    if is_open.any():
        perhaps, number = by(is_open)
        if number is not None:
            return Found(perhaps, blocker=number)
    if (of_links := ~has_items & ~is_open).any():
        seen, number = by(of_links)
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
    """The verdict on a page that is not remembered under its address, and its original's number.

    :param candidates: pages that the index has near the page's fingerprint.
    :raises SignatureMismatch: when one of them was made in another way.

    Of several originals it names the most similar, of equals the nearest, then the oldest.
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
    """Kind and reason of the verdict on a page without an original."""
    if is_cut:
        return "undecided", Reason.CROWDED
    if page.n_features < rule.min_features:
        return "undecided", Reason.FEW_FEATURES
    alike = (other for other in refused if other.similarity >= rule.min_similarity)
    if any(look_alike.objection == Reason.THIN_TEXT for look_alike in alike):
        return "undecided", Reason.THIN_TEXT
    return "new", Reason.NO_MATCH


def _look_alike(
    page: PageSignature, other: PageSignature, similarity: float, mismatch: Mismatch
) -> LookAlike:
    distance = hamming_distance(page.fingerprint, other.fingerprint)
    return LookAlike(other.url, distance, similarity, mismatch.reason)


#: A page's number, its signature, and its similarity with the page that is judged.
_Candidate = tuple[int, PageSignature, float]


class _Promising(NamedTuple):
    """Pages to put the whole rule to, with their similarities; read when they are asked for.

    :ivar pages: those that may be the original, most similar first.
    :ivar is_cut: were there more of them?
    :ivar runner_up: the most similar page of those that are not similar enough, if there is one.
    """

    pages: Iterable[_Candidate] = ()
    is_cut: bool = False
    runner_up: Iterable[_Candidate] = ()


class _Pool(NamedTuple):
    """Pages that the rule could accept, nearest and oldest first.

    :ivar equal: is it known that the text, or on one site the whole page, is equal?
    :ivar favour: how likely it is, other things being equal, that the rule accepts a page.
    """

    numbers: npt.NDArray[np.intp]
    equal: npt.NDArray[np.bool_]
    favour: npt.NDArray[np.intp]

    def at(self, places: npt.NDArray[Any]) -> _Pool:
        return _Pool(*(column[places] for column in self))


def _promising(
    page: PageSignature, candidates: Candidates, source: SignatureSource, rule: Rule
) -> _Promising:
    if not candidates.keys.size:
        return _Promising()
    if candidates.keys.size == 1:
        # Most have one at most; for that one alone, arrays would take several times as long.
        return _promising_one(page, int(candidates.keys[0]), source, rule)
    pool, is_cut = _possible(page, candidates, source, rule), False
    if pool.numbers.size > MAX_SKETCHES:
        sample, error = _estimate(page, pool, source)
        least = _least(pool, rule) - _ERRORS * error
        pool, _, is_cut = _most_alike(pool, sample, least, MAX_SKETCHES)
    similarity = resemblances(page.sketch_values, source.sketches(pool.numbers))
    similarity[pool.equal] = 1.0
    least = _least(pool, rule)
    runner_up = _runner_up(pool, similarity, least)
    pool, similarity, more = _most_alike(pool, similarity, least, MAX_RULED)
    order = np.argsort(-similarity, kind="stable")
    pages = zip(pool.numbers[order].tolist(), similarity[order].tolist(), strict=True)
    return _Promising(_read(source, pages), is_cut or more, _read(source, runner_up))


def _read(source: SignatureSource, pages: Iterable[tuple[int, float]]) -> Iterator[_Candidate]:
    return ((number, source.page(number), similarity) for number, similarity in pages)


def _promising_one(
    page: PageSignature, number: int, source: SignatureSource, rule: Rule
) -> _Promising:
    """The same of one page; see :func:`likeness_of`."""
    other = source.page(number)
    same_site = page.site == other.site
    is_equal = (same_site and page.equals(other)) or rule.takes_as_equal(page, other)
    has_enough = min(page.n_features, other.n_features) >= rule.min_features
    if not (is_equal or has_enough) or (rule.scope == "site" and not same_site):
        return _Promising()
    similarity = 1.0 if is_equal else resemblance(page.sketch_values, other.sketch_values)
    if similarity >= rule.least_to_ask(same_title=page.title == other.title):
        return _Promising([(number, other, similarity)])
    is_alike = similarity >= MIN_LOOK_ALIKE
    return _Promising(runner_up=[(number, other, similarity)] if is_alike else [])


def _runner_up(
    pool: _Pool, similarity: Similarities, too_similar: Similarities
) -> list[tuple[int, float]]:
    below = np.where(similarity < too_similar, similarity, 0.0)
    if not below.size or (most := float(below.max())) < MIN_LOOK_ALIKE:
        return []
    return [(int(pool.numbers[below.argmax()]), most)]


def _possible(
    page: PageSignature, candidates: Candidates, source: SignatureSource, rule: Rule
) -> _Pool:
    """Leave out what the rule refuses whatever the sketches say."""
    [own], theirs = (
        np.frombuffer(packed_summary(page), SUMMARY_DTYPE),
        source.summaries(candidates.keys),
    )
    likeness = likeness_of(own, theirs, rule)
    same_title = theirs["title"] == own["title"]
    pool = _Pool(candidates.keys, likeness.equal, same_title + 2 * likeness.same_page)
    return pool.at(likeness.possible)


def _least(pool: _Pool, rule: Rule) -> Similarities:
    """From which similarity on the rule is put to each page."""
    other, same = (rule.least_to_ask(same_title=is_same) for is_same in (False, True))
    return np.where(pool.favour & 1, same, other)


def _estimate(
    page: PageSignature, pool: _Pool, source: SignatureSource
) -> tuple[Similarities, float]:
    """Upper bound of the similarity with each page by the first bins, and its standard error.

    The error of a share of ``n`` bins is ``1 / 2 / sqrt(n)`` at most.
    """
    sketch = page.sketch_values[:FIRST_BINS]
    filled = max(1, int(np.count_nonzero(sketch)))
    pieces = np.split(pool.numbers, range(_PIECE, pool.numbers.size, _PIECE))
    agreeing = [agreements(sketch, source.first_bins(piece)) for piece in pieces]
    share = np.concatenate(agreeing) / filled
    share[pool.equal] = 1.0
    return share, 1 / 2 / sqrt(filled)


def _most_alike(
    pool: _Pool, similarity: Similarities, least: Similarities, most: int
) -> tuple[_Pool, Similarities, bool]:
    """Those of a similarity from ``least`` on, ``most`` of them at most; were there more?

    :param least: of each page.
    """
    kept = np.flatnonzero(similarity >= least)
    is_cut = kept.size > most
    if is_cut:
        # In thousandths: numpy sorts short integers in one pass over them.
        promise = (1000 * (similarity + pool.favour))[kept].astype(np.int16)
        kept = np.sort(kept[np.argsort(-promise, kind="stable")[:most]])
    return pool.at(kept), similarity[kept], is_cut


def _first_bytes(digest: bytes) -> int:
    return int.from_bytes(digest[:4], "little")


def _digest(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF
