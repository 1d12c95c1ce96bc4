"""Near-duplicate detection without Scrapy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from os import PathLike
from threading import Lock
from time import monotonic, sleep
from typing import TYPE_CHECKING, overload
from weakref import WeakValueDictionary

from .exceptions import (
    InvalidOption,
    InvalidPage,
    MethodFailed,
    SignatureMismatch,
    StoreError,
    UnreadablePage,
)
from .html.extraction import Extractor
from .html.limits import PageLimits
from .matching.method_matching import compare_by
from .matching.rule import Rule, Scope
from .matching.verdict import Match, Verdict, waited
from .methods import Method
from .reasons import Reason
from .signatures.page_fields import PageFields, fields_of, kind_of, page_among, page_of
from .signatures.signature import Extraction, PageSignature
from .signatures.signer import Signer
from .stores import Claim, Store, open_store
from .stores.base import Entry
from .stores.in_process import InProcessStore
from .text.idf import IdfTable
from .text.tokenization import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Self

#: Seconds that a page waits until a claim on its content is committed or released.
MAX_WAIT = 60.0
#: Seconds between two lookups of a waiting page.
_RETRY_SECONDS = 0.1


class NearDupDetector:
    """Detects pages whose main text was seen before.

    As a context manager, with ``with`` or ``async with``, it closes the store at the end if it was
    given as an address. Half of its many methods are overloads, so that a wrong call is found by
    type checkers.

    >>> detector = NearDupDetector()
    >>> text = "The ferry to Holm island leaves twice a day from the old pier, at eight in the "
    >>> text += "morning and at five in the afternoon, except on Sundays, when the crew has a rest."
    >>> detector.check(url="https://a.example/ferry", text=text).kind
    'new'
    >>> verdict = detector.check(url="https://b.example/reprint", text=text)
    >>> verdict.kind, verdict.duplicate_of
    ('duplicate', 'https://a.example/ferry')

    :param max_distance: see :class:`~scrapy_neardup.matching.rule.Rule`, like the next three.
    :param tokenizer: see :class:`~scrapy_neardup.signatures.signer.Signer`, like ``idf``,
        ``extractor``, ``limits`` and ``extraction``.
    :param method: ``"NAME[:PARAMETERS]"`` of the method, or the method, that judges in place of the
        rule, of which ``min_features`` and ``scope`` still count; see
        :func:`~scrapy_neardup.methods.open_method`. The store must be in memory.
    :param store: a :class:`~scrapy_neardup.stores.Store`, or the address of one, see
        :func:`~scrapy_neardup.stores.open_store`.
    :raises InvalidOption: when an argument has an invalid value.
    """

    def __init__(
        self,
        *,
        max_distance: int = Rule.max_distance,
        min_similarity: float = Rule.min_similarity,
        min_features: int = Rule.min_features,
        scope: Scope = Rule.scope,
        tokenizer: str | Tokenizer = "auto",
        idf: str | PathLike[str] | IdfTable = "multilingual",
        extractor: str | Extractor = "trafilatura",
        limits: PageLimits | None = None,
        extraction: Extraction = "full",
        method: str | Method | None = None,
        store: str | Store = "memory",
    ) -> None:
        self.rule = Rule(max_distance, min_similarity, min_features, scope)
        if method is not None:
            _require_values(method, store)
        self._owns_store = isinstance(store, str)
        self._is_closed = False
        #: A signer's tables are made for one thread.
        self._signing = Lock()
        self._thread: ThreadPoolExecutor | None = None
        #: By the key of the page, the last call that stored it, as long as it may be cancelled.
        self._last_calls: WeakValueDictionary[str, _Call] = WeakValueDictionary()
        self.store = open_store(store) if isinstance(store, str) else store
        try:
            self.signer = Signer(
                secret=self.store.secret,
                tokenizer=tokenizer,
                idf=idf,
                extractor=extractor,
                limits=limits,
                extraction=extraction,
                method=method,
            )
            self._join_store()
        except BaseException:
            self.close()
            raise

    def _join_store(self) -> None:
        """Check that the store can hold the signer's signatures, and adopt their recipe."""
        signer, store = self.signer, self.store
        if signer.is_lazy and not getattr(store, "holds_unread", False):
            wanted = f"'full' with {store.name}, which cannot hold pages that were not read"
            raise InvalidOption("extraction", "lazy", wanted)
        store.adopt(signer.recipe, signer.parts)
        if isinstance(store, InProcessStore) and signer.method is not None:
            store.use_method(signer.method)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Wait for calls of :meth:`acheck`, and close the store if it was given as an address.

        A store that was given as an object stays open. Pages cannot be checked any more.
        """
        if not self._is_closed:
            self._is_closed = True
            if self._thread is not None:
                self._thread.shutdown()
            if self._owns_store:
                self.store.close()

    def signature(
        self,
        *,
        url: str,
        html: str | bytes | None = None,
        text: str | None = None,
        title: str = "",
    ) -> PageSignature:
        """Return the signature of a page.

        :param html: the whole page or a fragment, decoded or as bytes; the main text is extracted
            from it.
        :param text: the main text, instead of ``html``.
        :param title: the title that belongs to ``text``.
        :raises LimitExceeded: when the page exceeds a limit.
        :raises ExtractionError: when the extractor fails.
        :raises NeedsScripts: when scripts have yet to fill in its content.
        :raises InvalidPage: when not exactly one of ``html`` and ``text`` is given, or an argument
            has another type.
        """
        fields = fields_of(url, html, text, title)
        return self._signature_of(fields)

    def _signature_of(self, page: PageFields) -> PageSignature:
        with self._signing:
            if (html := page.get("html")) is not None:
                return self.signer.sign_html(page["url"], html)
            return self.signer.sign_text(page["url"], page["text"], page["title"])

    @overload
    def check(self, signature: PageSignature, *, rule: Rule | None = None) -> Verdict: ...
    @overload
    def check(self, *, url: str, html: str | bytes, rule: Rule | None = None) -> Verdict: ...
    @overload
    def check(
        self, *, url: str, text: str, title: str = "", rule: Rule | None = None
    ) -> Verdict: ...
    def check(
        self,
        signature: PageSignature | None = None,
        *,
        url: str | None = None,
        html: str | bytes | None = None,
        text: str | None = None,
        title: str = "",
        rule: Rule | None = None,
    ) -> Verdict:
        """Look a page up and, unless it is a duplicate, store its signature.

        While another page claims the same content, the call waits, 60 seconds at most.

        :param signature: the result of :meth:`signature`. The arguments of that method can be
            given instead; a page that cannot be read is then ``"undecided"``.
        :param rule: other thresholds for this page.
        :raises InvalidPage: when an argument is missing, is one too many, or has another type.
        :raises SignatureMismatch: when the signature was made by another recipe.
        """
        return self._checked(page_of(signature, url, html, text, title), rule, _Call())

    def check_many(
        self, pages: Iterable[PageFields | PageSignature], *, rule: Rule | None = None
    ) -> Iterator[Verdict]:
        """Yield the verdict on each page, in their order, as :meth:`check` returns it.

        Each page is taken when its verdict is asked for, so neither pages nor verdicts are
        collected.

        :param pages: signatures, or mappings with the arguments of :meth:`signature`.
        :raises InvalidPage: when ``pages`` or one of them is something else; the pages before it
            have been judged.
        """
        if isinstance(pages, (str, bytes, Mapping)) or not isinstance(pages, Iterable):
            raise InvalidPage(
                f"check_many() takes an iterable of pages, not {kind_of(pages)}; give a page as "
                '{"url": …, "html": …} or {"url": …, "text": …}'
            )
        return (
            self._checked(page_among(page, number), rule, _Call())
            for number, page in enumerate(pages, start=1)
        )

    @overload
    async def acheck(self, signature: PageSignature, *, rule: Rule | None = None) -> Verdict: ...
    @overload
    async def acheck(self, *, url: str, html: str | bytes, rule: Rule | None = None) -> Verdict: ...
    @overload
    async def acheck(
        self, *, url: str, text: str, title: str = "", rule: Rule | None = None
    ) -> Verdict: ...
    async def acheck(
        self,
        signature: PageSignature | None = None,
        *,
        url: str | None = None,
        html: str | bytes | None = None,
        text: str | None = None,
        title: str = "",
        rule: Rule | None = None,
    ) -> Verdict:
        """Do the same as :meth:`check` in a thread, while the event loop of asyncio goes on.

        The thread judges one page after another, in the order of the calls, so concurrent calls
        have the same verdicts as consecutive ones. A call that is cancelled leaves the store as it
        was: a page that was new is new again, and one that was known is known as before.

        The parameters and the errors are those of :meth:`check`.
        """
        page, call = page_of(signature, url, html, text, title), _Call()
        self._require_open()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "neardup-detector")
        future = self._thread.submit(self._checked, page, rule, call)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            call.is_cancelled = True
            # After the call, which may have stored the page by now; not after close().
            with suppress(RuntimeError):
                self._thread.submit(self._undo, call)
            raise

    def _checked(self, page: PageFields | PageSignature, rule: Rule | None, call: _Call) -> Verdict:
        self._require_open()
        if isinstance(page, PageSignature):
            signature = page
        else:
            try:
                signature = self._signature_of(page)
            except UnreadablePage as error:
                return Verdict("undecided", page["url"], error.reason)
        try:
            claim = self._claim_after_waiting(signature, rule, call)
        except MethodFailed as error:
            return Verdict("undecided", signature.url, error.reason)
        if claim.ticket is not None:
            if call.is_cancelled:
                self.store.release(claim.ticket)
            else:
                if claim.verdict.kind == "revisit":
                    call.replaced = self.store.find(signature.key)
                self.store.commit(claim.ticket)
                call.stored = signature.key
                self._last_calls[signature.key] = call
        return claim.verdict

    def _undo(self, call: _Call) -> None:
        """Put the store back as it was before a call, unless a later call stored the page."""
        if call.stored is None or self._last_calls.get(call.stored) is not call:
            return
        if (before := call.replaced) is not None:
            self.store.add(before.signature, before.stored_at, items=before.items)
        else:
            self.store.forget(call.stored)

    def _claim_after_waiting(
        self, signature: PageSignature, rule: Rule | None, call: _Call
    ) -> Claim:
        claim = self.claim(signature, rule=rule)
        deadline = monotonic() + MAX_WAIT
        while claim.is_blocked:
            if call.is_cancelled or monotonic() > deadline:
                return Claim(waited(signature))
            if claim.outcome:
                wait([claim.outcome], _RETRY_SECONDS)
            else:
                sleep(_RETRY_SECONDS)
            claim = self.claim(signature, rule=rule)
        return claim

    def claim(self, signature: PageSignature, *, rule: Rule | None = None) -> Claim:
        """Look a page up and, unless it is a duplicate, claim its content.

        Once the page itself is stored, call ``store.commit(claim.ticket)``; if storing it failed,
        call ``store.release(claim.ticket)``.

        :param rule: other thresholds for this page.
        :raises SignatureMismatch: when the signature was made by another recipe.
        :raises MethodFailed: when the method fails.
        """
        self._require_own(signature)
        if signature.is_read and not signature.n_features:
            return Claim(Verdict("undecided", signature.url, Reason.NO_TEXT))
        return self.store.claim(signature, rule or self.rule)

    def compare(self, a: PageSignature, b: PageSignature) -> Match | None:
        """Return distance and similarity of two near-duplicates, ``None`` for other pages.

        :raises SignatureMismatch: when one of them was made by another recipe.
        """
        self._require_own(a)
        if self.signer.method is not None:
            self._require_own(b)
            return compare_by(self.signer.method, a, b, self.rule)
        outcome = self.rule.compare_either_way(a, b, self.store.boilerplates)
        return outcome if isinstance(outcome, Match) and a.n_features else None

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreError(self.store.name, "the detector is closed; make another one")

    def _require_own(self, signature: PageSignature) -> None:
        if signature.recipe != self.signer.recipe:
            raise SignatureMismatch(self.signer.recipe, signature.recipe)


class _Call:
    """The state of a call: the thread that judges and the one that waits both write to it.

    :ivar is_cancelled: whether nobody waits for the verdict any more.
    :ivar stored: key of the page if the call stored it.
    :ivar replaced: what the store had of that page before.
    """

    __slots__ = ("__weakref__", "is_cancelled", "replaced", "stored")

    def __init__(self) -> None:
        self.is_cancelled = False
        self.stored: str | None = None
        self.replaced: Entry | None = None


def _require_values(method: str | Method, store: str | Store) -> None:
    """Check that a store can hold the values of a method."""
    if isinstance(store, str):
        name, holds_values = store.partition(":")[0], store == "memory"
    else:
        name, holds_values = store.name, getattr(store, "holds_values", False)
    if not holds_values:
        wanted = f"left out with the store {name}: only one in memory can hold values of methods"
        raise InvalidOption("method", method, wanted)
