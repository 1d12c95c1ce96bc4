"""Judges items that are built over several pages.

An item may begin on a product page and be yielded from the page of the product's reviews, which
looks like that of every other product without reviews. An item is dropped only when nothing that it
holds is lost: if the page that it is yielded from is a copy, its carried values must be stored as
well, or each page that gave them must be a copy too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from scrapy.http import Request, Response
from scrapy.utils.datatypes import LocalCache

from ...matching.item_texts import ItemTexts
from ...matching.stored_items import (
    NO_ITEMS,
    StoredItems,
    added_to,
    carries,
    covers,
    has_carried_values,
    is_list,
    item_bits,
    texts_differ,
)
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ..monitoring.crawl_log import CrawlStats
from ..settings import Policy
from .callback_names import callback_name
from .equal_items import EqualItems
from .item_digests import (
    BuiltItem,
    ItemPosition,
    adds_values,
    digest_of,
    fields_of_callback,
    judged_by_page,
    parts_of,
)
from .item_tracker import ItemJudgement, Judgement, PendingClaim
from .origins import (
    CarriedValues,
    ItemParts,
    Origin,
    carried_values_of,
    item_origin_of,
    note_origins,
)

#: Visits of pages whose judgements are kept for the items that began there.
_MAX_VISITS = 4096
_ADVICE = (
    'To judge such items by their own page alone, set meta={"neardup": {"item_origin": "own"}} on '
    "the request (logged once, counted in neardup/built_items/"
)
_UNTIED = (
    "Kept an item of %s although its page is a near-duplicate: the item holds values that its "
    "request carried from an unknown page. " + _ADVICE + "untied)"
)
_DIFFERS = (
    "Kept an item of %s although its page is a near-duplicate of %s: the item holds values of %s "
    "that no item of the original holds. " + _ADVICE + "differs)"
)
_DERIVED = (
    "Kept an item of %s although its page is a near-duplicate of %s: it has other short values or "
    "truth values, which may be derived from what its request carried. " + _ADVICE + "derived)"
)
_TOO_LARGE = (
    "What the request of %s carries in its arguments, its meta or its callback (%s) is too large "
    "to be looked through, so its items are dropped only if those of the original have the same "
    "values. " + _ADVICE + "too_large)"
)


class BuiltItems:
    """Judges the items of one crawl that hold values of earlier pages.

    :param judge_origin: judges the page where an item began.
    :param max_wait: seconds that an item waits at most for the outcome of an equal one.
    """

    def __init__(
        self,
        judge_origin: Callable[[PageSignature, Policy], Awaitable[Judgement]],
        stats: CrawlStats,
        max_wait: float,
    ) -> None:
        self._judge_origin = judge_origin
        self._stats = stats
        self._carried: WeakKeyDictionary[Response, CarriedValues] = WeakKeyDictionary()
        self._here: WeakKeyDictionary[Response, Origin] = WeakKeyDictionary()
        self._visits = LocalCache[str, Judgement](_MAX_VISITS)
        self._stored = StoredItems()
        self._equal = EqualItems(max_wait)
        #: Items that were kept although their page is a duplicate, by its original.
        self._kept = StoredItems()

    def record_carried_values(self, response: Response) -> None:
        """Record the values that a request carries, before the callback can change them."""
        judged_by = item_origin_of(response.request)
        carried = carried_values_of(response.request, judged_by)
        if carried != CarriedValues():
            self._carried[response] = carried
        if carried.is_cut:
            self._stats.count("built_items/too_large")
            self._stats.warn_once("too large", _TOO_LARGE, response, callback_name(response))

    def note_origins(
        self, request: Request, response: Response, judgement: Judgement | None
    ) -> bool:
        """Note on a request which pages its values are from; return whether it carries any."""
        carried = self._carried.get(response, CarriedValues())
        here = self._visit_of(response, judgement)
        return note_origins(request, here, carried, item_origin_of(request))

    async def judge(
        self,
        item: Any,
        response: Response,
        page: Judgement | None,
        policy: Policy,
        place: ItemPosition,
    ) -> ItemJudgement:
        """Return the judgement that applies to an item, given that on its own page."""
        carried = self._carried.get(response, CarriedValues())
        fields = fields_of_callback(item, callback_name(response))
        original = None if page is None else page.verdict.duplicate_of
        digest = digest_of(item, response, carried, original)
        parts = parts_of(item, response, carried, [f"{digest:x}"] if place.may_hold_more else [])
        is_explicit = carried.judged_by == "parent"
        page = page and page.for_item(is_carried=bool(parts.held or is_explicit))
        by_page = judged_by_page(page, response, fields, parts, place=place, digest=digest)
        if page is not None and page.is_soft_404:
            return by_page
        bits = item_bits(place.number, fields)
        is_stored = self._is_stored(page, digest, bits, by_page.texts)
        if page is not None and page.is_superfluous and not is_explicit:
            has_equal = self._has(_original_of(page), digest)
            is_same = _holds_the_same(page, by_page.items, parts, carried)
            if (has_equal and not parts.held) or (is_stored and is_same):
                return replace(by_page, is_open=is_list(page.items) and not has_equal)
            if not parts.held:
                if is_stored and parts.flags and not place.may_hold_more:
                    self._warn_of_derived(page, response)
                return self.kept(by_page)
        if not (parts.held or is_explicit):
            return by_page
        sent = self._equal.describe(item, page, carried, fields)
        stored = await self._equal.stored_instead(page, sent)
        began = stored or await self._judge_where_it_began(carried, parts, page, policy)
        # Another one may have been sent in the meantime.
        if stored := stored or await self._equal.stored_instead(page, sent):
            return replace(by_page, judgement=stored)
        built = BuiltItem.of(fields, digest, parts)
        if began is not None and began.is_superfluous:
            adds = partial(adds_values, item, parts, response)
            if is_explicit or self._is_lossless(built, page if is_stored else None, began, adds):
                return replace(by_page, judgement=began)
        return self._equal.noted(self._kept_built(built, by_page, began, response), sent)

    def _kept_built(
        self, built: BuiltItem, by_page: ItemJudgement, began: Judgement | None, response: Response
    ) -> ItemJudgement:
        """Return the judgement to keep an item that is built over several pages."""
        page = by_page.judgement
        if began is None:
            return replace(by_page, judgement=self._keep_untied(page, response))
        is_explicit = item_origin_of(response.request) == "parent"
        if page is not None and page.is_superfluous and not is_explicit:
            self._warn_of_values(page, response, began)
        kept = page and replace(page, is_kept=True)
        return replace(by_page, judgement=kept, share=self._share(built, began))

    def kept(self, decided: ItemJudgement) -> ItemJudgement:
        """Return the judgement to keep an item of a page that is a copy."""
        self._stats.count("kept_items")
        assert decided.judgement is not None
        kept = replace(decided.judgement, is_kept=True)
        return replace(decided, judgement=kept, is_open=False)

    def _warn_of_derived(self, page: Judgement, response: Response) -> None:
        self._stats.count("built_items/derived")
        self._stats.warn_once("derived", _DERIVED, response, _original_of(page))

    def _warn_of_values(self, page: Judgement, response: Response, began: Judgement) -> None:
        self._stats.count("built_items/differs")
        original = _original_of(page)
        self._stats.warn_once("differs", _DIFFERS, response, original, began.verdict.url)

    def _share(self, built: BuiltItem, began: Judgement) -> PendingClaim | None:
        """Return a claim for an item's part in that of the page where it began, if it has one.

        An item that is kept although that page is a copy is noted, so that copies of it are found.
        """
        pending = began.pending
        if pending is None:
            note = partial(self._note_kept, built, began)
            return PendingClaim.of_item(note) if began.is_superfluous else None

        def settle(items: int | None) -> None:
            if items is None:
                pending.item_lost()
            else:
                # The claim for this item replaces the page's record, so what that has is kept.
                is_unchanged = began.verdict.reason == Reason.UNCHANGED
                known = began.items if is_unchanged else NO_ITEMS
                pending.item_stored(added_to(known, built.bits))
                self._note(self._stored, began.verdict.url, built)

        pending.item_sent()
        pending.ended(failed=False)
        return PendingClaim.of_item(settle)

    def _note_kept(self, built: BuiltItem, began: Judgement, items: int | None) -> None:
        if items is not None:
            original = _original_of(began)
            self._note(self._kept, original, built)

    @staticmethod
    def _note(items: StoredItems, original: str, built: BuiltItem) -> None:
        items.note(original, built.digest)
        items.note(built.kind_at(original), built.digest, texts=built.texts)

    def _is_lossless(
        self,
        built: BuiltItem,
        page: Judgement | None,
        began: Judgement,
        adds: Callable[[], bool],
    ) -> bool:
        """Return whether an item with a superfluous origin is stored, but for what is equal anyway.

        Either an equal item was stored, or the crawl has stored one of the same kind that began on
        that origin, and its own page is a copy or gave no values.

        :param page: its own page, if what that gave is stored.
        :param adds: returns whether its own page gave some of them; called only if it matters.
        """
        original = _original_of(began)
        if self._has(original, built.digest) or carries(began.items, [f"{built.digest:x}"]):
            return True
        known = chain.from_iterable(
            items.texts_of(built.kind_at(original)) for items in (self._stored, self._kept)
        )
        if all(map(built.texts.differ_from, known)):
            return False
        is_other = page is not None and page.verdict.is_duplicate and not began.verdict.is_duplicate
        if page is not None and not is_other and page.is_whole_copy:
            return True
        # Its own page is new or unknown, or is now like that of another item.
        return not adds()

    def _has(self, original: str, digest: int) -> bool:
        """Return whether an item of a page or of its copies was stored that has this digest."""
        return self._stored.has(original, digest) or self._kept.has(original, digest)

    def stored(self, sent: ItemJudgement) -> None:
        """Record an item that was stored, because copies of its page may yield the same one."""
        if sent.judgement is None:
            return
        verdict = sent.judgement.verdict
        self._stored.note(verdict.url, sent.digest, texts=sent.texts)
        if verdict.duplicate_of is not None:
            self._kept.note(verdict.duplicate_of, sent.digest, texts=sent.texts)

    def forget_stored(self) -> None:
        """Forget all items that were stored, and which pages are copies: they may be lost."""
        self._stored.lose()
        self._kept.lose()
        self._equal.forget_sent()
        for visit, judgement in list(self._visits.items()):
            is_open = judgement.pending is not None and not judgement.pending.is_settled
            if judgement.is_superfluous and not is_open:
                del self._visits[visit]

    def _is_stored(
        self, page: Judgement | None, digest: int, bits: int, texts: ItemTexts | None
    ) -> bool:
        """Return whether the page is a copy, and an equivalent item of its original was stored.

        :param texts: ``None`` for an item of a list.
        """
        if page is None or not page.is_copy:
            return False
        original = _original_of(page)
        if self._has(original, digest):
            return True
        if not covers(page.items, bits):
            return False
        if texts is None or is_list(page.items):
            # The text of a list says little about a single entry, so the whole page must be equal;
            # URLs are not shown.
            return page.verdict.same_shown and not self._stored.knows(original)
        return not self._has_other_texts(original, texts, page.items)

    def _has_other_texts(self, original: str, texts: ItemTexts, stored: int) -> bool:
        """Return whether each known item of a page and its copies lacks texts of this item.

        :param stored: the record of the page's items, for one that an earlier run has stored.
        """
        known = [*self._stored.texts_of(original), *self._kept.texts_of(original)]
        return all(map(texts.differ_from, known)) if known else texts_differ(stored, texts)

    def _keep_untied(self, page: Judgement | None, response: Response) -> Judgement | None:
        """Return the judgement on an item whose origin is unknown: it is kept."""
        if page is None or not page.is_superfluous:
            return page
        self._stats.count("built_items/untied")
        self._stats.warn_once("untied", _UNTIED, response)
        return replace(page, is_kept=True)

    async def _judge_where_it_began(
        self, carried: CarriedValues, parts: ItemParts, page: Judgement | None, policy: Policy
    ) -> Judgement | None:
        """Return the judgement on the first page that gave values of an item and is no copy.

        If all of them are copies, the first one's; ``None`` if one of them is not known, or if the
        item's own page is none and gave most of the item.
        """
        self._stats.count("built_items")
        is_explicit = carried.judged_by == "parent"
        if not (is_explicit or (page and page.is_superfluous) or parts.carried >= parts.own):
            return None
        judged = []
        for origin in carried.origins_of(parts):
            judgement = await self._judge_visit(origin, policy)
            if judgement is not None and not judgement.is_superfluous:
                return judgement
            judged.append(judgement)
        return judged[0] if judged and None not in judged else None

    async def _judge_visit(self, origin: Origin, policy: Policy) -> Judgement | None:
        """Return the judgement on an origin, shared by all items of one visit, if there is one."""
        known = self._visits.get(origin.visit)
        if known is not None and not (known.pending and known.pending.is_lost):
            return known
        try:
            signature = origin.signature
        except (ValueError, IndexError):  # the noted data is damaged
            signature = None
        if signature is None:
            return None
        if not origin.is_known:
            # The items of this visit are all stored, although the first makes it a revisit.
            policy = replace(policy, revisit="store")
        judgement = await self._judge_origin(signature, policy)
        if judgement.verdict.kind == "revisit" and not origin.is_known:
            # Another item of the same visit has stored it.
            judgement = replace(judgement, is_kept=True)
        self._visits[origin.visit] = judgement
        return judgement

    def _visit_of(self, response: Response, judgement: Judgement | None) -> Origin:
        """Return the origin for the items that begin on this page."""
        if response not in self._here:
            signature = None if judgement is None else judgement.signature
            is_known = judgement is not None and judgement.is_superfluous
            self._here[response] = Origin.of(response.url, signature, is_known=is_known)
            if judgement is not None:
                self._equal.visited(self._here[response].visit, judgement.verdict)
        return self._here[response]


def _original_of(page: Judgement) -> str:
    """Return the URL of the page that one is a copy of, or its own."""
    return page.verdict.duplicate_of or page.verdict.url


def _holds_the_same(page: Judgement, items: int, parts: ItemParts, carried: CarriedValues) -> bool:
    """Return whether an item and the stored one of its page hold the same from their requests.

    :param items: its bits.
    """
    if parts.told_apart_by:
        return covers(page.items, items)
    # An item may lack a field for what is false, empty, or no longer there.
    may_lack_one = carried.flags or carried.is_cut or page.verdict.kind == "revisit"
    return not (may_lack_one and has_carried_values(page.items))
