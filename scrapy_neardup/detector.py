"""Near-duplicate detection without Scrapy."""

from __future__ import annotations

from concurrent.futures import wait
from time import monotonic, sleep
from typing import Any

from .exceptions import InvalidOption, MethodFailed, SignatureMismatch, UnreadablePage
from .html.extraction import Extractor
from .html.limits import PageLimits
from .matching.method_matching import compare_by
from .matching.rule import Rule, Scope
from .matching.verdict import Match, Verdict
from .methods import Method
from .reasons import Reason
from .signatures.signature import Extraction, PageSignature
from .signatures.signer import Signer
from .stores import Claim, Store, open_store
from .stores.in_process import InProcessStore
from .text.idf import IdfTable
from .text.tokenization import Tokenizer

#: Seconds that a page waits until a claim on its content is committed or released.
MAX_WAIT = 60.0
#: Seconds between two lookups of a waiting page.
_RETRY_SECONDS = 0.1


class NearDupDetector:
    """Detects pages whose main text was seen before.

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
        idf: str | IdfTable = "multilingual",
        extractor: str | Extractor = "trafilatura",
        limits: PageLimits | None = None,
        extraction: Extraction = "full",
        method: str | Method | None = None,
        store: str | Store = "memory",
    ) -> None:
        self.rule = Rule(max_distance, min_similarity, min_features, scope)
        if method is not None:
            _require_values(method, store)
        self.store = open_store(store) if isinstance(store, str) else store
        self.signer = Signer(
            secret=self.store.secret,
            tokenizer=tokenizer,
            idf=idf,
            extractor=extractor,
            limits=limits,
            extraction=extraction,
            method=method,
        )
        if self.signer.is_lazy and not getattr(self.store, "holds_unread", False):
            wanted = f"'full' with {self.store.name}, which cannot hold pages that were not read"
            raise InvalidOption("extraction", extraction, wanted)
        self.store.adopt(self.signer.recipe, self.signer.parts)
        if isinstance(self.store, InProcessStore) and self.signer.method is not None:
            self.store.use_method(self.signer.method)

    def signature(
        self,
        *,
        url: str,
        html: str | bytes | None = None,
        text: str | None = None,
        title: str = "",
    ) -> PageSignature:
        """Return the signature of a page.

        :param html: the whole page, decoded or as bytes; the main text is extracted from it.
        :param text: the main text, instead of ``html``.
        :param title: the title that belongs to ``text``.
        :raises LimitExceeded: when the page exceeds a limit.
        :raises ExtractionError: when the extractor fails.
        :raises NeedsScripts: when scripts have yet to fill in its content.
        :raises TypeError: when not exactly one of ``html`` and ``text`` is given.
        """
        if html is not None and text is None:
            return self.signer.sign_html(url, html)
        if text is not None and html is None:
            return self.signer.sign_text(url, text, title)
        raise TypeError("signature() requires either html or text")

    def check(
        self, signature: PageSignature | None = None, *, rule: Rule | None = None, **page: Any
    ) -> Verdict:
        """Look a page up and, unless it is a duplicate, store its signature.

        While another page claims the same content, the call waits, 60 seconds at most.

        :param signature: the result of :meth:`signature`. The arguments of that method can be
            given instead; a page that cannot be read is then ``"undecided"``.
        :param rule: other thresholds for this page.
        :raises SignatureMismatch: when the signature was made by another recipe.
        """
        if signature is None:
            try:
                signature = self.signature(**page)
            except UnreadablePage as error:
                return Verdict("undecided", page["url"], error.reason)
        elif page:
            raise TypeError("check() requires either a signature or the arguments of signature()")
        try:
            claim = self._claim_after_waiting(signature, rule)
        except MethodFailed as error:
            return Verdict("undecided", signature.url, error.reason)
        if claim.ticket is not None:
            self.store.commit(claim.ticket)
        return claim.verdict

    def _claim_after_waiting(self, signature: PageSignature, rule: Rule | None) -> Claim:
        claim = self.claim(signature, rule=rule)
        deadline = monotonic() + MAX_WAIT
        while claim.is_blocked:
            if monotonic() > deadline:
                return Claim(Verdict("undecided", signature.url, Reason.WAITED))
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

    def _require_own(self, signature: PageSignature) -> None:
        if signature.recipe != self.signer.recipe:
            raise SignatureMismatch(self.signer.recipe, signature.recipe)


def _require_values(method: str | Method, store: str | Store) -> None:
    """Check that a store can hold the values of a method."""
    if isinstance(store, str):
        name, holds_values = store.partition(":")[0], store == "memory"
    else:
        name, holds_values = store.name, getattr(store, "holds_values", False)
    if not holds_values:
        wanted = f"left out with the store {name}: only one in memory can hold values of methods"
        raise InvalidOption("method", method, wanted)
