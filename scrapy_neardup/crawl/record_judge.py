"""Judges records: signs a page or an item, claims it in the store, and settles the claim."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ReferenceType, ref

from scrapy.http import Response

from .. import signals
from ..exceptions import WorkersFailed
from ..matching.stored_items import NO_ITEMS, PageItems
from ..matching.verdict import Verdict
from ..reasons import Reason
from ..signatures.signature import PageSignature
from ..sources.record import Record
from ..stores import Claim, Ticket
from ..workers import Failure
from .containment import PageContainment
from .items.item_tracker import Judgement, PendingClaim
from .session import CrawlSession
from .settings import Policy

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class RecordJudge:
    """Judges pages and items; those that cannot be judged are kept and counted, never lost.

    :param crawler: sends the signals.
    """

    def __init__(self, crawler: Crawler, session: CrawlSession) -> None:
        self._crawler = crawler
        self._session = session

    async def judge(
        self,
        record: Record,
        policy: Policy,
        response: Response,
        *,
        learns: bool = False,
        why_not: Reason | None = None,
    ) -> Judgement:
        """Return the judgement on a page or an item; ``undecided`` where anything fails.

        :param response: the page, or that of the item.
        :param learns: whether URL rules learn from the page once its outcome is known.
        :param why_not: the reason why it cannot be compared, if that is known.
        """
        page = ref(response) if learns else None
        signature, claim, containment = await self._claim_unless_soft_404(
            record, policy, response, why_not
        )
        verdict = claim.verdict
        if verdict.kind == "undecided":
            self._session.stats.count(f"undecided/{verdict.reason}")
        elif verdict.kind == "revisit":
            self._session.stats.count(f"revisits/{verdict.reason}")
        self._detect_flood(claim, signature, record if learns else None)
        return self._judgement(claim, policy, signature, page, containment)

    async def judge_origin(self, signature: PageSignature, policy: Policy) -> Judgement:
        """Return the judgement on a page for an item that began on it; counts nothing."""
        claim = Claim(Verdict("undecided", signature.url, Reason.FAILED))
        try:
            assert self._session.claims is not None
            claim = await self._session.claims.claim_again(signature, policy.rule)
        except Exception as error:
            # An earlier run signed the page in another way, or the store fails.
            self._session.stats.warn_once(
                "origin", "Cannot judge <%s>, where an item began: %r", signature.url, error
            )
        return self._judgement(claim, policy, signature)

    def send(self, signal: object, **kwargs: Any) -> None:
        """Send a signal of this package."""
        self._crawler.signals.send_catch_log(signal, spider=self._crawler.spider, **kwargs)

    async def _claim_unless_soft_404(
        self, record: Record, policy: Policy, response: Response, why_not: Reason | None
    ) -> tuple[PageSignature | None, Claim, PageContainment | None]:
        if not await self._is_soft_404(response, policy, is_read=False):
            signature, claim, containment = await self._claim(record, policy, why_not)
            if not await self._is_soft_404(response, policy, is_read=True):
                return signature, claim, containment
            self._release(claim, signature)
        return None, Claim(Verdict("undecided", record.url, Reason.SOFT_404)), None

    async def _is_soft_404(self, response: Response, policy: Policy, *, is_read: bool) -> bool:
        """Return whether a page is a soft 404, if that is asked for.

        :param is_read: whether it was read since this was asked first.
        """
        soft_404 = self._session.soft_404
        if soft_404 is None or policy.soft_404 == "off":
            return False
        try:
            if is_read:
                # What is not dropped does not have to wait.
                return await soft_404.turned_out(response, waits=policy.drops_soft_404s)
            return await soft_404.is_soft_404(response)
        except Exception:
            self._session.stats.warn_once(
                Reason.SOFT_404, "Cannot compare <%s> with soft 404s", response.url, exc_info=True
            )
            return False

    def _release(self, claim: Claim, signature: PageSignature | None) -> None:
        """Release the claim of a page that is not stored."""
        if claim.ticket is None:
            return
        client, claims = self._session.store_client, self._session.claims
        assert client is not None
        assert claims is not None
        client.settle(claim.ticket, None)
        if signature is not None:
            claims.not_stored(signature, claim.verdict)

    async def _claim(
        self, record: Record, policy: Policy, why_not: Reason | None
    ) -> tuple[PageSignature | None, Claim, PageContainment | None]:
        """Sign and claim a page or an item; without a signature where anything fails."""
        if why_not is not None:
            return None, Claim(Verdict("undecided", record.url, why_not)), None
        containment = None
        try:
            if self._session.claims is None:
                problem = "the store was not opened"
                return None, self._undecided(record, Reason.STORE_UNREACHABLE, problem), None
            result = await self._session.claims.sign_and_claim(record, policy.rule)
            if isinstance(result, Failure):
                return None, self._undecided(record, result.reason, result.detail), None
            signature, claim, reading = result
            if self._session.soft_404 is not None:
                claim = await self._without_soft_404(signature, claim, policy)
                await self._session.soft_404.judged(
                    claim.verdict, reading.title, signature, waits=policy.drops_soft_404s
                )
            containment = self._containment(signature, reading.fingerprints)
        except WorkersFailed as error:
            return None, self._undecided(record, Reason.NO_WORKER, str(error)), None
        except Exception as error:
            # A custom store may raise anything.
            return None, self._undecided(record, Reason.FAILED, repr(error), exc_info=True), None
        if claim.verdict.reason == Reason.WAITED:
            problem = "a near-duplicate of it takes too long to be stored"
            return signature, self._undecided(record, Reason.WAITED, problem), containment
        return signature, claim, containment

    async def _without_soft_404(
        self, signature: PageSignature, claim: Claim, policy: Policy
    ) -> Claim:
        """Return the claim of a page, made again if it is a duplicate of a soft 404."""
        soft_404, original = self._session.soft_404, claim.verdict.duplicate_of
        if soft_404 is None or original is None:
            return claim
        if not await soft_404.is_false_original(signature.url, original):
            return claim
        assert self._session.claims is not None
        return await self._session.claims.claim_again(signature, policy.rule)

    def _containment(self, signature: PageSignature, fingerprints: bytes) -> PageContainment | None:
        """Return what is stored of a page elsewhere, or of another page in it, if asked for."""
        if self._session.containment is None:
            return None
        page = self._session.containment.look_up(signature, fingerprints)
        if page.found is not None:
            self._session.stats.count(f"containment/{page.found.direction}")
        return page

    def _undecided(
        self, record: Record, reason: Reason, detail: str, *, exc_info: bool = False
    ) -> Claim:
        self._session.stats.warn_once(
            reason,
            "Cannot judge <%s>, keeping it: %s, %s (logged once, counted in neardup/undecided/%s)",
            record.url,
            reason,
            detail,
            reason,
            exc_info=exc_info,
        )
        return Claim(Verdict("undecided", record.url, reason))

    def _detect_flood(
        self, claim: Claim, signature: PageSignature | None, record: Record | None
    ) -> None:
        """Detect that one content replaces many pages; URL rules then do not learn from it.

        :param record: the page; ``None`` for an item.
        """
        is_known = signature is not None and signature.is_read and claim.ticket is not None
        text = signature.text_digest if signature is not None and is_known else None
        self._session.scripted_sites.judged(claim.verdict)
        flood = self._session.log.judged(claim.verdict, text, signature, record)
        if flood is not None:
            self.send(signals.duplicate_flood_detected, cluster=flood)
        shown = claim.verdict.original_text or text
        if shown is not None and self._session.log.floods.is_flood(claim.verdict, text):
            self._session.request_filter.duplicate_urls.flood(shown)

    def _judgement(
        self,
        claim: Claim,
        policy: Policy,
        signature: PageSignature | None,
        page: ReferenceType[Response] | None = None,
        containment: PageContainment | None = None,
    ) -> Judgement:
        """Return the judgement on a claim; release the claim if the page will not be stored."""
        journal = self._session.journal
        is_revisit = claim.ticket is not None and claim.verdict.kind == "revisit"
        if is_revisit and journal and signature and journal.repeats(signature.key):
            policy = replace(policy, revisit="drop")
        judgement = Judgement(
            claim.verdict,
            policy,
            signature=signature,
            items=claim.items,
            containment=containment,
        )
        if claim.ticket is None:
            return judgement
        assert self._session.store_client is not None
        if judgement.is_superfluous and page is None:
            self._session.store_client.settle(claim.ticket, None)
            return judgement
        if judgement.is_superfluous:
            # Items that the earlier visit did not store are kept, and added to its record.
            add = partial(self._commit, claim.ticket)
            return replace(judgement, pending=PendingClaim(add, PageItems(claim.items)))
        settle = partial(self._settle, claim.ticket, judgement, page)
        return replace(judgement, pending=PendingClaim(settle))

    def _settle(
        self,
        ticket: Ticket,
        judgement: Judgement,
        page: ReferenceType[Response] | None,
        items: int | None,
    ) -> None:
        """Commit or release a claim whose outcome is known."""
        claims = self._session.claims
        assert claims is not None
        soft_404 = self._session.soft_404
        if soft_404 is not None and soft_404.was_late(judgement.verdict.url):
            items = None
        if items is None:
            self._session.request_filter.rules.fail([judgement.verdict.url])
            if judgement.signature is not None:
                claims.not_stored(judgement.signature, judgement.verdict)
        elif items != NO_ITEMS and judgement.signature is not None:
            self._note_stored(judgement.signature, judgement.containment)
        if judgement.knows_links:
            self._learn_from_links(judgement.verdict, page, items)
            # A page with the same links is already recorded.
            items = items or None
        self._commit(ticket, items)

    def _commit(self, ticket: Ticket, items: int | None) -> None:
        """Commit a claim, or release it if no item was stored."""
        client = self._session.store_client
        assert client is not None
        at_once = self._session.confirms_at_once
        client.settle(ticket, items, confirmed=at_once)
        if at_once and not client.store.is_remote:
            client.confirm(client.store.mark())

    def _note_stored(self, signature: PageSignature, page: PageContainment | None) -> None:
        if self._session.containment is not None and page is not None:
            self._session.containment.stored(signature, page)

    def _learn_from_links(
        self, verdict: Verdict, page: ReferenceType[Response] | None, items: int | None
    ) -> None:
        """Learn from a page with known links: it is a duplicate only if it yielded no item."""
        response = None if page is None else page()
        if response is None:
            return
        if items == NO_ITEMS:
            verdict = replace(verdict, kind="duplicate", duplicate_of=verdict.links_seen_at)
        self._session.request_filter.judged(response, verdict)
