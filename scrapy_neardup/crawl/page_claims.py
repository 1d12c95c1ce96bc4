"""Claims the pages of a crawl, and reads in full those that their passages cannot judge.

A page that was read quickly is claimed by its title and passages. Where the store knows pages that
may have its content, the page and they are read in full, and it is claimed again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TypeVar

from scrapy.utils.datatypes import LocalCache

from .._util.urls import page_key
from ..matching.rule import Rule
from ..matching.verdict import Verdict
from ..reasons import Reason
from ..signatures.passages import passages_in
from ..signatures.signature import PageSignature
from ..sources.compression import packed_body
from ..sources.record import Record
from ..stores import Claim, Store
from ..stores.body_cache import BodyCache
from ..stores.in_process import InProcessStore
from ..workers import Failure, Reading
from .async_bridge import result_of
from .page_signing import PageSigning, Signed
from .settings import Config
from .store_client import StoreClient

T = TypeVar("T")

#: Unchanged pages between the downloader and their callbacks whose signatures are held; others are
#: looked up again.
_AHEAD = 512
#: Rounds, at most, in which a page is claimed again because more possible originals were found.
_MAX_ROUNDS = 20


class PageClaims:
    """Signs and claims pages for one crawl.

    :ivar bodies: the bodies of pages that were read quickly only.
    :ivar n_read: number of HTML pages that were read in full.
    :ivar n_unchanged: number of pages that were not read in full because their bodies are as they
        were when they were stored, or dropped.
    """

    def __init__(self, config: Config, signing: PageSigning, client: StoreClient) -> None:
        self.n_read = self.n_unchanged = 0
        self.bodies = BodyCache(0, lambda key: None)
        if config.is_lazy:
            self.bodies = client.store.body_cache(config.body_cache * 2**20)
        self._n_evicted_before = self.bodies.n_evicted
        self._signing = signing
        self._client = client
        #: Signatures of unchanged pages that were met before their callbacks ran, by URL and body.
        self._ahead = LocalCache[tuple[str, bytes], Signed](_AHEAD)

    @property
    def n_evicted(self) -> int:
        """Number of bodies that were evicted during the crawl."""
        return self.bodies.n_evicted - self._n_evicted_before

    async def read_ahead(self, record: Record) -> None:
        """Sign a page before its callback runs, see :meth:`PageSigning.read_ahead`."""
        unchanged = await self._unchanged(record)
        if unchanged is None:
            await self._signing.read_ahead(record)
        else:
            self._ahead[record.url, unchanged.signature.body_digest] = unchanged
            self._signing.pass_unread()

    def forget(self, record: Record) -> None:
        """Note that a page is not judged, which may have been read ahead."""
        self._signing.forget(record)

    async def sign_and_claim(
        self, record: Record, rule: Rule
    ) -> tuple[PageSignature, Claim, Reading] | Failure:
        """Return signature, claim and reading of a page, or the failure to read it.

        :raises WorkersFailed: when no worker can be started.
        """
        signed = await self._signed(record)
        if isinstance(signed, Failure):
            return signed
        claimed = await self._claim(signed.signature, rule, record)
        if isinstance(claimed, Failure):
            return claimed
        signature, claim = claimed
        was_read = signed.signature.is_read and not signed.is_known
        self.n_unchanged += (signed.is_known or claim.unchanged is not None) and not was_read
        if claim.ticket is not None and signature.is_partly_read:
            await self._keep_body(signature, claim, record, signed.body)
        if claim.verdict.is_duplicate:
            await self._note_unstored(signature)
        return signature, claim, signed.reading

    def not_stored(self, signature: PageSignature, verdict: Verdict) -> None:
        """Remove the body of a page that was not stored."""
        # That of a page that was stored before belongs to its stored version, which stays.
        if verdict.kind != "revisit":
            self.bodies.discard(signature.key)

    async def _signed(self, record: Record) -> Signed | Failure:
        """Return the signature of a page, which is not read if its body is unchanged."""
        unchanged = await self._unchanged(record)
        if unchanged is not None:
            self._signing.pass_unread()
            return unchanged
        signed = await self._signing.sign(record)
        if not isinstance(signed, Failure):
            self.n_read += signed.signature.is_read and record.quick
        return signed

    async def _note_unstored(self, signature: PageSignature) -> None:
        """Keep the signature of a duplicate, which is not read again while its body is the same."""
        store = self._client.store
        if isinstance(store, InProcessStore) and signature.is_read and signature.body_digest:
            await self._client.note(partial(store.note_unstored, signature))

    async def _keep_body(
        self, signature: PageSignature, claim: Claim, record: Record, packed: bytes
    ) -> None:
        """Keep the body of a page that was not wholly read, if the rest may have to be."""
        key = signature.key
        if claim.unchanged is not None and self.bodies.keeps(key):
            return
        is_claimed = claim.verdict.kind == "new" or signature.awaits_facts
        if claim.unchanged is not None or is_claimed:
            body = packed or packed_body(record.content)
            await self._call_bodies(partial(self.bodies.put, key, record, body))
        else:
            # The store fails, and may hold an earlier version of the page.
            self.bodies.discard(key)

    async def _unchanged(self, record: Record) -> Signed | None:
        """Return the signature of a page from that of an earlier version, if the bodies are equal.

        That is the stored version, or one that was a duplicate. A remote store would have to be
        asked for each page, so that compares the bodies when the page is claimed.
        """
        store = self._client.store
        if store.is_remote or record.kind == "fragment" or self._signing.needs_more:
            return None
        if self._signing.refusal(record) is not None:
            # The limits were higher then.
            return None
        digest = self._signing.body_digest(record)
        if (ahead := self._ahead.pop((record.url, digest), None)) is not None:
            return ahead
        try:
            earlier = await self._client.advise(partial(_earlier, store, page_key(record.url)))
        except Exception:
            # An error of a custom store is reported when the page is claimed.
            return None
        if earlier is None or not earlier.is_comparable or earlier.body_digest != digest:
            return None
        title = " ".join(chain.from_iterable(earlier.title))
        return Signed(earlier.found_at(record.url), Reading(title), is_known=True)

    async def claim_again(self, signature: PageSignature, rule: Rule) -> Claim:
        """Return the claim of a page that was signed earlier.

        :raises WorkersFailed: when no worker can be started.
        """
        result = await self._claim(signature, rule, None)
        if isinstance(result, Failure):
            return Claim(Verdict("undecided", signature.url, result.reason))
        return result[1]

    async def _claim(
        self, signature: PageSignature, rule: Rule, record: Record | None
    ) -> tuple[PageSignature, Claim] | Failure:
        claim = await self._client.claim(signature, rule)
        for _ in range(_MAX_ROUNDS):
            if not (claim.must_read or claim.unread):
                return claim.unchanged or signature, claim
            if record is not None and claim.must_read:
                self._signing.begin(_whole(record, claim))
            for key in claim.unread:
                await self._complete(key, claim)
            if claim.must_read:
                result = await self._in_full(signature, record, claim)
                if isinstance(result, Failure):
                    return result
                signature = result.with_quick_parts_of(signature)
            claim = await self._client.claim(signature, rule)
        return Failure(Reason.WAITED, "pages that it may be a copy of cannot be read in full")

    async def _in_full(
        self, signature: PageSignature, record: Record | None, claim: Claim
    ) -> PageSignature | Failure:
        """Return the signature of a page that was not wholly read, after reading it in full.

        :param claim: that asks for this.
        """
        if record is None:
            entry = await self._client.advise(lambda: self._client.store.find(signature.key))
            if entry is not None and _has_readings(entry.signature, signature, claim):
                return entry.signature
            if entry is not None and not _may_be_one_version(entry.signature, signature):
                return Failure(Reason.BODY_GONE, "another version of it has been stored since")
            record = await self._body(signature.key, claim)
        if record is None:
            return Failure(Reason.BODY_GONE, "its body is no longer kept")
        return await self._read(_whole(record, claim), is_judged=True)

    async def _body(self, key: str, claim: Claim) -> Record | None:
        """Return the record of a page; its body stays if its facts have yet to be read."""
        get = self.bodies.take if claim.needs_facts else self.bodies.peek
        return await self._call_bodies(partial(get, key))

    async def _complete(self, key: str, claim: Claim) -> None:
        """Read a stored or reserved page in full, if its body is still kept."""
        reading = self.bodies.reading
        if key in reading:
            await result_of(reading[key])
            return
        done = reading[key] = Future[None]()
        try:
            record = await self._body(key, claim)
            result = None
            if record is not None:
                result = await self._read(_whole(record, claim), is_judged=False)
            signature = result if isinstance(result, PageSignature) else None
            await self._client.complete(key, signature)
        finally:
            del reading[key]
            done.set_result(None)

    async def _call_bodies(self, call: Callable[[], T]) -> T | None:
        """Call the cache of bodies; ``None`` where it is out of reach."""
        if self._client.store.is_remote:
            return await self._client.advise(call)
        return call()

    async def _read(self, record: Record, *, is_judged: bool) -> PageSignature | Failure:
        self.n_read += 1
        result = await self._signing.sign(record, is_judged=is_judged)
        return result if isinstance(result, Failure) else result.signature


def _whole(record: Record, claim: Claim) -> Record:
    """Return the record of a page that is to be read in full, as far as a claim asks for it."""
    return replace(record, quick=False, needs_facts=claim.needs_facts)


def _earlier(store: Store, key: str) -> PageSignature | None:
    """Return the signature of the stored version of a page, or of one that was a duplicate."""
    if (entry := store.find(key)) is not None:
        return entry.signature
    return store.find_unstored(key) if isinstance(store, InProcessStore) else None


def _has_readings(stored: PageSignature, quick: PageSignature, claim: Claim) -> bool:
    """Return whether a stored page is the version that was read quickly, and all was read of it.

    :param claim: that says what has to be read.
    """
    is_enough = stored.is_read and not (claim.needs_facts and stored.awaits_facts)
    return is_enough and _may_be_one_version(stored, quick)


def _may_be_one_version(stored: PageSignature, quick: PageSignature) -> bool:
    recorded, sampled = (set(passages_in(p.passages).tolist()) for p in (stored, quick))
    return recorded <= sampled
