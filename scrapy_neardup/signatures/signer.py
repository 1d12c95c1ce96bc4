"""Makes the signature of a page, by which it is compared with others.

A signature depends only on the page and on the signer's parameters, so it is the same in every
process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from os import PathLike
from typing import NamedTuple

from .._util.encoding import utf8
from .._util.urls import is_list, page_key, site_of
from ..exceptions import InvalidOption
from ..hashing import minhash as sketch
from ..hashing.minhash import ShingleKey, Sketch, shingle_hashes_of_each, sketches_of
from ..hashing.simhash import simhash
from ..html.encoding_detection import decode
from ..html.extraction import Extractor, MainText, read_fragment, read_page, shipped_extractor
from ..html.limits import PageLimits
from ..html.quick_text import QuickText, quick_text
from ..methods import Method, identity_of, open_method
from ..methods.base import guarded
from ..text import weighting
from ..text.idf import IdfTable
from ..text.marks import marked_and_folded, without_marks
from ..text.normalization import Folded, normalize, single_spaced
from ..text.titles import VERSION as TITLES_VERSION
from ..text.titles import Title, signs, title_of, title_parts, without_signs
from ..text.tokenization import ScriptTokenizer, Spans, Tokenizer, shipped_tokenizer
from ..text.values import VERSION as VALUES_VERSION
from ..text.values import Codes, value_sequence
from ..text.vocabulary import Vocabulary
from ..text.weighting import Features
from ..text.word_sums import VERSION as WORDS_VERSION
from . import facts, passages
from . import quick_sketch as sketching
from .plugins import component, idf_table, require_extraction
from .read_page import ReadPage
from .shown_digest import VERSION as SHOWN_VERSION
from .shown_digest import shown_digest
from .signature import FACTS_UNREAD, METHOD_PART, PASSAGES_PART, Extraction, PageSignature

#: Versions of what a signature has beside the weighted words, for the recipe.
_VERSIONS = (VALUES_VERSION, WORDS_VERSION, TITLES_VERSION, facts.VERSION, SHOWN_VERSION)
#: A page with fewer passages is read in full at once.
MIN_PASSAGES = 4


class _Sample(NamedTuple):
    """The tokens of a text, and what a signature takes from them."""

    tokens: Spans
    features: Features
    word_sums: bytes
    codes: Codes
    sketch: Sketch


#: Public key of sketches, so that two runs over the same pages print the same figures. A crawl
#: uses a random one.
OFFLINE_KEY = b"scrapy neardup, offline judgement"


class Signer:
    """Makes signatures; those of signers with equal recipes can be compared.

    It has many methods because each kind of page is read in its own way and all are signed alike.

    :param tokenizer: ``"auto"``, ``"jieba"``, ``"rjieba"``, ``"pairs"``, an import path or a
        function from normalised text to tokens.
    :param idf: ``"multilingual"``, ``"none"``, a path or import path, or an
        :class:`~scrapy_neardup.IdfTable`.
    :param extractor: ``"trafilatura"``, ``"resiliparse"``, ``"visible"``, an import path or a
        function; see :class:`~scrapy_neardup.html.extraction.Extractor`.
    :param secret: 16 to 64 bytes, the key of sketches and digests. It must be the same for all
        signatures of one store, and unknown to authors of pages.
    :param limits: the largest page that is read; signatures do not depend on it.
    :param extraction: ``"full"``, or ``"lazy"`` for signatures with samples of passages, which
        can be compared with those of pages that were read quickly only.
    :param method: ``"NAME[:PARAMETERS]"`` of the method, or the method, whose values signatures
        have as well, see :func:`~scrapy_neardup.methods.open_method`.
    :raises InvalidOption: if a name is unknown, or the object it names is unsuitable.
    """

    def __init__(
        self,
        *,
        secret: bytes,
        tokenizer: str | Tokenizer = "auto",
        idf: str | PathLike[str] | IdfTable = "multilingual",
        extractor: str | Extractor = "trafilatura",
        limits: PageLimits | None = None,
        extraction: Extraction = "full",
        method: str | Method | None = None,
    ) -> None:
        require_extraction(extraction, has_method=method is not None)
        if not 16 <= len(secret) <= 64:
            raise InvalidOption("secret", f"{len(secret)} bytes long", "16 to 64 bytes long")
        self._tokenize, tokenizer_id = component("tokenizer", tokenizer, shipped_tokenizer)
        self._extract, extractor_id = component("extractor", extractor, shipped_extractor)
        self.idf = idf_table(idf)
        self.limits = limits or PageLimits()
        self.is_lazy = extraction == "lazy"
        self.method = open_method(method, self._tokenize) if isinstance(method, str) else method
        if not isinstance(self.method, Method | None):
            raise InvalidOption("method", method, "a name, an import path, or a Method")
        self._digest_key = blake2b(key=secret, person=b"neardup-text").digest()
        self._shingle_key = ShingleKey.from_secret(secret)
        self._vocabulary = Vocabulary(self.idf, self._shingle_key.seed)
        #: Identities of the tokenizer, the extractor and the IDF table, for the log.
        self.parts = {"tokenizer": tokenizer_id, "extractor": extractor_id, "idf": self.idf.name}
        if self.is_lazy:
            self.parts[PASSAGES_PART] = f"lazy ({passages.VERSION}, {sketching.VERSION})"
        if self.method is not None:
            self.parts[METHOD_PART] = identity_of(self.method)
        #: Digest of everything that a signature depends on, the secret included.
        self.recipe = _digest_of(
            tokenizer_id,
            extractor_id,
            self.idf.digest,
            weighting.VERSION,
            *_VERSIONS,
            f"{sketch.SHINGLE_UNITS}-shingles, {sketch.SKETCH_BINS} bins",
            *([passages.VERSION, sketching.VERSION] if self.is_lazy else []),
            *([] if self.method is None else [self.parts[METHOD_PART]]),
            key=self._digest_key,
        )

    def sign_html(
        self,
        url: str,
        html: str | bytes,
        content_type: str | None = None,
        encoding: str | None = None,
    ) -> PageSignature:
        """Return the signature of an HTML page; the parameters are those of :meth:`read`.

        :raises LimitExceeded: if the page exceeds a limit.
        :raises NeedsScripts: if the page hardly shows any of its content without scripts.
        :raises ExtractionError: if the page cannot be read.
        """
        text = self._decoded(html, content_type, encoding)
        page = self._with_value(ReadPage(url, self.read(text, list_url=_list_url(url))), html)
        if self.is_lazy:
            page = self._with_quick_parts(page, quick_text(text, self.limits))
        return self.sign(page)[0]

    def sign_text(self, url: str, text: str, title: str = "") -> PageSignature:
        """Return the signature of a main text that was extracted already.

        :raises LimitExceeded: if the text is too long.
        """
        return self.sign(self.text_page(url, text, title))[0]

    def html_page(
        self,
        url: str,
        html: str | bytes,
        content_type: str | None = None,
        encoding: str | None = None,
        *,
        needs_facts: bool = True,
    ) -> ReadPage:
        """Read an HTML page, to be signed by :meth:`sign`; see :meth:`read`."""
        main = self.read(
            html, content_type, encoding, list_url=_list_url(url), needs_facts=needs_facts
        )
        return self._with_value(ReadPage(url, main), html)

    def _with_value(self, page: ReadPage, content: str | bytes) -> ReadPage:
        """Return a page with the method's value, if there is a method.

        :param content: of the whole page.
        :raises MethodFailed: if the method fails.
        """
        if self.method is None:
            return page
        with guarded(self.method):
            if self.method.reads == "text":
                content = page.main.text
            elif isinstance(content, str):
                content = utf8(content)
            value = self.method.value(content)
            if not isinstance(value, bytes):
                raise TypeError(f"a value is {type(value).__name__}, not bytes")
        return page._replace(value=value)

    def quick_page(
        self,
        url: str,
        html: str | bytes,
        content_type: str | None = None,
        encoding: str | None = None,
    ) -> ReadPage:
        """Read title and passages of an HTML page, and the rest only if these do not suffice.

        :raises UnreadablePage: see :meth:`read`, whose parameters it has.
        """
        html = self._decoded(html, content_type, encoding)
        quick = quick_text(html, self.limits)
        is_read = quick.needs_reading or len(quick.passages) < MIN_PASSAGES
        main = MainText(quick.title, "", "")
        if is_read:
            main = self.read(html, list_url=_list_url(url))
        return self._with_quick_parts(ReadPage(url, main, is_read=is_read), quick)

    def _with_quick_parts(self, page: ReadPage, quick: QuickText) -> ReadPage:
        return page._replace(
            passages=passages.sample(quick.passages, self._shingle_key.seed),
            quick_sketch=sketching.quick_sketch(quick.text, self._shingle_key),
        )

    def text_page(
        self, url: str, text: str, title: str = "", *, is_whole: bool = False, body: bytes = b""
    ) -> ReadPage:
        """Check a main text, to be signed by :meth:`sign`.

        :param is_whole: whether the text is the whole page, such as a plain text file, and not
            an extract of one.
        :param body: the whole page, if it was not decoded.
        :raises LimitExceeded: if the text is too long.
        """
        self.limits.check_text(text, title)
        main = MainText(title, text, text)
        if is_whole:
            main = main._replace(held="", whole=utf8(text))
        return self._with_value(ReadPage(url, main), body or text)

    def fragment_page(self, url: str, markup: str) -> ReadPage:
        """Read a field with plain text or an HTML fragment, all of it content; see :meth:`sign`.

        Its signature is that of no whole page: short fragments are never equal.

        :param url: URL of the item, with a fragment if its page has several items.
        :raises LimitExceeded: if the markup exceeds a limit.
        :raises ExtractionError: if the markup cannot be read.
        """
        page = ReadPage(url, read_fragment(markup, self.limits), key=url)
        return self._with_value(page, markup)

    def read(
        self,
        html: str | bytes,
        content_type: str | None = None,
        encoding: str | None = None,
        *,
        list_url: str = "",
        needs_facts: bool = True,
    ) -> MainText:
        """Return the parts of a page that its signature is made from.

        :param html: decoded text, or the body's bytes.
        :param content_type: the Content-Type header, which may declare the encoding of bytes.
        :param encoding: encoding of the bytes, if known; overrides header and page, but not a byte
            order mark.
        :param list_url: its URL, if it is that of a list, whose entries are wanted as well.
        :param needs_facts: whether its facts are wanted, by which pages of one site are compared.
        :raises LimitExceeded: if the page exceeds a limit.
        :raises NeedsScripts: if the page hardly shows any of its content without scripts.
        :raises ExtractionError: if the page cannot be read.
        """
        html = self._decoded(html, content_type, encoding)
        return read_page(
            html, self._extract, self.limits, list_url=list_url, needs_facts=needs_facts
        )

    def _decoded(self, html: str | bytes, content_type: str | None, encoding: str | None) -> str:
        self.limits.check_body(html)
        return decode(html, content_type, encoding) if isinstance(html, bytes) else html

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, which splits normalised text."""
        return self._tokenize

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text, normalised and in reading order."""
        return list(self._tokenize(normalize(text)))

    def sign(self, *pages: ReadPage) -> list[PageSignature]:
        """Return the signatures of pages; signing several at once is faster than one by one.

        A page that was read quickly only gets a signature without a main text.
        """
        read = iter(self._signatures([page for page in pages if page.is_read]))
        unread = iter(self._unread_signatures([page for page in pages if not page.is_read]))
        return [next(read if page.is_read else unread) for page in pages]

    def _unread_signatures(self, pages: Sequence[ReadPage]) -> Iterator[PageSignature]:
        parts = [title_parts(page.main.title) for page in pages]
        spans = iter(self._spans(list(chain.from_iterable(parts))))
        for page, of_page in zip(pages, parts, strict=True):
            yield PageSignature.unread(
                url=page.url,
                key=page_key(page.url) if page.key is None else page.key,
                site=site_of(page.url),
                title=title_of(_with_signs(of_page, spans)),
                recipe=self.recipe,
                passages=page.passages,
                quick_sketch=page.quick_sketch,
            )

    def _signatures(self, pages: Sequence[ReadPage]) -> list[PageSignature]:
        if not pages:
            return []
        texts = [marked_and_folded(page.main.text) for page in pages]
        parts = [title_parts(page.main.title) for page in pages]
        spans = self._spans([*(text for text, _ in texts), *chain.from_iterable(parts)])
        of_texts, of_parts = spans[: len(pages)], iter(spans[len(pages) :])
        titles = [list(map(tuple, _with_signs(each, of_parts))) for each in parts]
        in_heading = map(facts.heading_bits, (page.main.heading for page in pages), parts, titles)
        batch = self._vocabulary.read(*of_texts)
        sketches = sketches_of(shingle_hashes_of_each(batch.units(), self._shingle_key))
        samples = map(_Sample, of_texts, batch.features, batch.word_sums, batch.values, sketches)
        return list(map(self._signature, pages, texts, map(title_of, titles), in_heading, samples))

    def _spans(self, texts: Sequence[str]) -> list[Spans]:
        if isinstance(self._tokenize, ScriptTokenizer):
            return self._tokenize.spans(texts)
        return [Spans.of(list(self._tokenize(without_marks(text)))) for text in texts]

    def _signature(
        self, page: ReadPage, text: Folded, title: Title, in_heading: int, sample: _Sample
    ) -> PageSignature:
        shown = single_spaced(page.main.shown)
        # Where a custom tokenizer's tokens stand in the text is unknown.
        places = sample.tokens if isinstance(self._tokenize, ScriptTokenizer) else None
        heading = _heading_length(sample.tokens, title)
        values, n_heading = value_sequence(sample.codes, places, heading)
        return PageSignature(
            url=page.url,
            key=page_key(page.url) if page.key is None else page.key,
            site=site_of(page.url),
            title=title,
            n_features=sample.features.hashes.size,
            fingerprint=simhash(*sample.features),
            sketch=sample.sketch.tobytes(),
            values=values,
            text_digest=self._digest(utf8(text.text)),
            n_text=text.length,
            n_shown=shown.length,
            shown_digest=shown_digest(
                page.url, page.main, shown.data, self._digest, self._shingle_key.seed
            ),
            recipe=self.recipe,
            n_heading=n_heading,
            passages=page.passages,
            value=page.value,
            facts=(
                facts.packed_facts(page.main.facts, in_heading)
                if page.main.has_facts
                else FACTS_UNREAD
            ),
            word_sums=sample.word_sums,
            quick_sketch=page.quick_sketch,
        )

    def _digest(self, data: bytes) -> bytes:
        return blake2b(data, key=self._digest_key, digest_size=16).digest()


def _list_url(url: str) -> str:
    return url if is_list(url) else ""


def _heading_length(tokens: Spans, title: Title) -> int:
    """Return the number of tokens at the beginning of a text that equal a part of its title."""
    parts = [without_signs(part) for part in title]
    longest = max(map(len, parts), default=0)
    words = tuple(tokens.tokens(slice(longest)))
    return max((len(part) for part in parts if words[: len(part)] == part), default=0)


def _with_signs(parts: Sequence[str], tokens: Iterator[Iterable[str]]) -> Iterator[list[str]]:
    """Yield the words of each part of a title and its signs.

    :param tokens: iterator of the words of each part; only those of this title are consumed.
    """
    return ([*words, *signs(part)] for part, words in zip(parts, tokens, strict=False))


def _digest_of(*parts: str, key: bytes) -> str:
    return blake2b("\n".join(parts).encode(), key=key, digest_size=8).hexdigest()
