"""From a page to its signature: the one way a page goes before it is judged.

Pure functions of the page, of what the signer was made with and of nothing else, so that
they can run in any process and give the same signature everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._util.urls import is_list, page_key, site_of
from ..exceptions import InvalidOption
from ..hashing import minhash as sketch
from ..hashing.minhash import ShingleKey, Sketch, shingle_hashes_of_each, sketches_of
from ..hashing.simhash import simhash, to_hex
from ..html.encoding_detection import decode
from ..html.extraction import Extractor, MainText, read_fragment, read_page, shipped_extractor
from ..html.limits import PageLimits
from ..text import weighting
from ..text.idf import IdfTable, read_table, shipped_table
from ..text.normalization import Folded, folded, normalize, single_spaced
from ..text.titles import Title, signs, title_of, title_parts
from ..text.tokenization import ScriptTokenizer, Spans, Tokenizer, shipped_tokenizer
from ..text.values import VERSION as VALUES_VERSION
from ..text.values import Codes, value_sequence
from ..text.vocabulary import SpanVocabulary, Vocabulary
from ..text.weighting import Features

#: What the recipe says of the digest of what a page shows and holds, so that it can change.
_SHOWN_VERSION = "shown-3"
_OF_WHOLE, _OF_SHOWN, _OF_HELD, _OF_LIST = slice(6), slice(6, 11), slice(11, 16), slice(16, 17)
#: In the last place, of a list and of other pages.
_LIST, _NO_LIST = b"\1", b"\0"

_Part = TypeVar("_Part")


class ReadPage(NamedTuple):
    """A page that was read and is to be signed.

    :ivar key: its identity, see :class:`PageSignature`; ``None`` where that is its address's.
    """

    url: str
    main: MainText
    key: str | None = None


@dataclass(frozen=True, slots=True)
class PageSignature:
    """All that is remembered of a page.

    :ivar url: where it was found.
    :ivar key: its identity; a page with the same key is the same page at another time.
    :ivar site: its registrable domain.
    :ivar title: the parts of its title, each as its words.
    :ivar n_features: number of distinct tokens of its main text.
    :ivar fingerprint: 64-bit simhash of the main text.
    :ivar sketch: sample of its shingles, a byte for each bin.
    :ivar values: its numbers, names and less common words in reading order, a byte for each of the
        first 248, see ``text/values.py``.
    :ivar text_digest: 16 bytes, keyed; equal for equal texts, punctuation included.
    :ivar n_text: characters of the main text, white space left out.
    :ivar n_shown: characters of all that the page shows, likewise.
    :ivar shown_digest: 17 bytes, keyed: 6 of all that the page is made of, 5 of the text that it
        shows, 5 of what else may be another content, and 1 that says whether its address is that of
        a list; empty where only the text is known.
    :ivar recipe: digest of everything that the other parts depend on.
    :ivar n_heading: how many of the values are those of a heading that is a part of the title.
    """

    url: str
    key: str
    site: str
    title: Title
    n_features: int
    fingerprint: int
    sketch: bytes
    values: bytes
    text_digest: bytes
    n_text: int
    n_shown: int
    shown_digest: bytes
    recipe: str
    n_heading: int = 0

    @property
    def sketch_values(self) -> Sketch:
        """The sketch as an array for :func:`~scrapy_neardup.hashing.minhash.resemblance`."""
        return np.frombuffer(self.sketch, np.uint8)

    def equals(self, other: PageSignature) -> bool:
        """Are the two pages equal in all but their comments? Not where only a text is known."""
        return self.shown_digest == other.shown_digest != b""

    def shows_and_holds(self, other: PageSignature) -> bool:
        """Do the two show the same, and hold the same besides? Not where only a text is known."""
        parts = [
            digest[_OF_SHOWN] + digest[_OF_HELD]
            for digest in (self.shown_digest, other.shown_digest)
        ]
        return parts[0] == parts[1] != b""

    def holds_other(self, other: PageSignature) -> bool:
        """Do the two show the same text, and hold something else besides that may be content?"""
        if not (self.shown_digest and other.shown_digest):
            return False
        is_shown = self.shown_digest[_OF_SHOWN] == other.shown_digest[_OF_SHOWN]
        return is_shown and self.shown_digest[_OF_HELD] != other.shown_digest[_OF_HELD]

    @property
    def is_list(self) -> bool:
        """Does its address say that it lists other pages? Not known where only the text is."""
        return self.shown_digest[_OF_LIST] == _LIST

    def found_at(self, url: str) -> PageSignature:
        """The signature of the same page at another address."""
        return replace(self, url=url, key=page_key(url), site=site_of(url))

    def __str__(self) -> str:
        return f"{self.url} ({to_hex(self.fingerprint)}, {self.n_features} features)"


class _Sample(NamedTuple):
    """What is kept of a text's tokens."""

    features: Features
    sketch: Sketch
    values: bytes
    n_heading: int


class Signer:
    """Makes signatures that can be compared with each other.

    :param tokenizer: ``"auto"``, ``"jieba"``, ``"rjieba"``, ``"pairs"``, an import path or a
        function from normalised text to tokens.
    :param idf: ``"multilingual"``, ``"none"``, a path or import path, or an
        :class:`~scrapy_neardup.IdfTable`.
    :param extractor: ``"trafilatura"``, ``"resiliparse"``, ``"visible"``, an import path or a
        function; see :class:`~scrapy_neardup.html.extraction.Extractor`.
    :param secret: 16 to 64 bytes, under which sketches are made. It must be the same for all
        signatures of one store, and nobody who writes pages may know it.
    :param limits: what is read of one page at most; a signature does not depend on them.
    :raises InvalidOption: when a name is unknown or what it names cannot be used.
    """

    def __init__(
        self,
        *,
        secret: bytes,
        tokenizer: str | Tokenizer = "auto",
        idf: str | IdfTable = "multilingual",
        extractor: str | Extractor = "trafilatura",
        limits: PageLimits | None = None,
    ) -> None:
        if not 16 <= len(secret) <= 64:
            raise InvalidOption("secret", f"{len(secret)} bytes long", "16 to 64 bytes long")
        self._tokenize, tokenizer_id = _part("tokenizer", tokenizer, shipped_tokenizer)
        self._extract, extractor_id = _part("extractor", extractor, shipped_extractor)
        self.idf = _idf_table(idf)
        self.limits = limits or PageLimits()
        self._digest_key = blake2b(key=secret, person=b"neardup-text").digest()
        self._shingle_key = ShingleKey.from_secret(secret)
        self._cut, self._vocabulary = _reader(self._tokenize, self.idf, self._shingle_key.seed)
        #: The parts by name, as the log shows them.
        self.parts = {"tokenizer": tokenizer_id, "extractor": extractor_id, "idf": self.idf.name}
        #: Digest of everything that a signature depends on, the secret included.
        self.recipe = _digest_of(
            tokenizer_id,
            extractor_id,
            self.idf.digest,
            weighting.VERSION,
            VALUES_VERSION,
            _SHOWN_VERSION,
            f"{sketch.SHINGLE_UNITS}-shingles, {sketch.SKETCH_BINS} bins",
            key=self._digest_key,
        )

    def sign_html(
        self,
        url: str,
        html: str | bytes,
        content_type: str | None = None,
        encoding: str | None = None,
    ) -> PageSignature:
        """Signature of a page's main text and title; the parameters are those of :meth:`read`.

        :raises LimitExceeded: when the page is beyond a limit.
        :raises ExtractionError: when the page cannot be read.
        """
        return self._signed(self.html_page(url, html, content_type, encoding))

    def sign_text(self, url: str, text: str, title: str = "") -> PageSignature:
        """Signature of a text that is the main text already.

        :raises LimitExceeded: when the text is too long.
        """
        return self._signed(self.text_page(url, text, title))

    def sign_fragment(self, url: str, markup: str) -> PageSignature:
        """Signature of a field that holds plain text or a piece of HTML, taken whole.

        :param url: of the item, a fragment included if one tells it from others of its page.
        :raises LimitExceeded: when the markup is beyond a limit.
        :raises ExtractionError: when the markup cannot be read.
        """
        return self._signed(self.fragment_page(url, markup))

    def html_page(
        self,
        url: str,
        html: str | bytes,
        content_type: str | None = None,
        encoding: str | None = None,
    ) -> ReadPage:
        """What :meth:`sign_html` signs."""
        return ReadPage(url, self.read(html, content_type, encoding))

    def text_page(
        self, url: str, text: str, title: str = "", *, is_whole: bool = False
    ) -> ReadPage:
        """What :meth:`sign_text` signs.

        :param is_whole: is the text the whole page, as a plain text file is, and not what somebody
            took out of one?
        """
        self.limits.check_text(text, title)
        if is_whole:
            return ReadPage(url, MainText(title, text, text, "", _utf8(text)))
        return ReadPage(url, MainText(title, text, text))

    def fragment_page(self, url: str, markup: str) -> ReadPage:
        """What :meth:`sign_fragment` signs."""
        text = read_fragment(markup, self.limits)
        return ReadPage(url, MainText("", text, text), key=url)

    def read(
        self, html: str | bytes, content_type: str | None = None, encoding: str | None = None
    ) -> MainText:
        """What signatures of a page are made of: its title, main text and all that it shows.

        :param html: decoded text, or the body's bytes.
        :param content_type: the header of that name; names the encoding of bytes.
        :param encoding: of the bytes, where somebody said so; goes before header and page, but
            not before a byte order mark.
        :raises LimitExceeded: when the page is beyond a limit.
        :raises ExtractionError: when the page cannot be read.
        """
        self.limits.check_body(html)
        if isinstance(html, bytes):
            html = decode(html, content_type, encoding)
        return read_page(html, self._extract, self.limits)

    def tokens(self, text: str) -> list[str]:
        """Tokens of a text, normalised and in reading order."""
        return list(self._tokenize(normalize(text)))

    def sign(self, *pages: ReadPage) -> list[PageSignature]:
        """Signatures of pages that were read: of several at once in less time than one by one."""
        texts = [folded(page.main.text) for page in pages]
        parts = [title_parts(page.main.title) for page in pages]
        cut = iter(self._cut([*(text for text, _ in texts), *chain.from_iterable(parts)]))
        tokens = list(islice(cut, len(pages)))
        titles = [title_of(_with_signs(each, cut)) for each in parts]
        readings = self._vocabulary.read(*tokens)
        sketches = sketches_of(shingle_hashes_of_each(readings.units(), self._shingle_key))
        values = map(_values, readings.values, tokens, titles)
        samples = [
            _Sample(features, sketch, *each)
            for features, sketch, each in zip(readings.features, sketches, values, strict=True)
        ]
        columns = zip(pages, texts, titles, samples, strict=True)
        return [self._signature(page, text, title, sample) for page, text, title, sample in columns]

    def _signed(self, page: ReadPage) -> PageSignature:
        [signature] = self.sign(page)
        return signature

    def _signature(
        self, page: ReadPage, text: Folded, title: Title, sample: _Sample
    ) -> PageSignature:
        shown = single_spaced(page.main.shown)
        return PageSignature(
            url=page.url,
            key=page_key(page.url) if page.key is None else page.key,
            site=site_of(page.url),
            title=title,
            n_features=sample.features.hashes.size,
            fingerprint=simhash(*sample.features),
            sketch=sample.sketch.tobytes(),
            values=sample.values,
            text_digest=self._digest(_utf8(text.text)),
            n_text=text.length,
            n_shown=shown.length,
            shown_digest=self._digest_of_shown(page, shown.data),
            recipe=self.recipe,
            n_heading=sample.n_heading,
        )

    def _digest_of_shown(self, page: ReadPage, shown: bytes) -> bytes:
        main = page.main
        if main.held is None:
            return b""
        parts = ((main.whole, _OF_WHOLE), (shown, _OF_SHOWN), (_utf8(main.held), _OF_HELD))
        digests = [self._digest(data)[part] for data, part in parts]
        return b"".join((*digests, _LIST if is_list(page.url) else _NO_LIST))

    def _digest(self, data: bytes) -> bytes:
        return blake2b(data, key=self._digest_key, digest_size=16).digest()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _values(codes: Codes, tokens: Spans | Sequence[str], title: Title) -> tuple[bytes, int]:
    """The values of a text, and how many of them are its heading's."""
    values = value_sequence(codes, tokens if isinstance(tokens, Spans) else None)
    of_heading = value_sequence(codes[: _heading(tokens, title)])
    return values, len(of_heading)


def _heading(tokens: Spans | Sequence[str], title: Title) -> int:
    """How many tokens at the beginning of a text are a part of its title."""
    longest = max(map(len, title), default=0)
    first = slice(0, longest)
    words = tuple(tokens.tokens(first) if isinstance(tokens, Spans) else tokens[first])
    return max((len(part) for part in title if words[: len(part)] == part), default=0)


def _reader(
    tokenize: Tokenizer, idf: IdfTable, seed: int
) -> tuple[Callable[[Sequence[str]], Sequence[Any]], SpanVocabulary | Vocabulary]:
    """What cuts several normalised texts into tokens, and what reads those of each."""
    if isinstance(tokenize, ScriptTokenizer):
        return tokenize.spans, SpanVocabulary(idf, seed)
    return lambda texts: [list(tokenize(text)) for text in texts], Vocabulary(idf, seed)


def _part(
    option: str, given: str | _Part, shipped: Callable[[str], tuple[_Part, str]]
) -> tuple[_Part, str]:
    """A shipped part by its name, or the user's own by its import path or as it is."""
    if isinstance(given, str) and "." not in given:
        return shipped(given)
    part: Any = _imported(option, given) if isinstance(given, str) else given
    if not callable(part):
        raise InvalidOption(option, given, "a shipped name, or something that can be called")
    identity = (
        given if isinstance(given, str) else getattr(part, "__qualname__", type(part).__name__)
    )
    return part, f"{identity}-{getattr(part, 'version', 1)}"


def _idf_table(given: str | IdfTable) -> IdfTable:
    if isinstance(given, str):
        if Path(given).is_file() or given.endswith(".gz"):
            return read_table(given)
        if "." not in given:
            return shipped_table(given)
        given = _imported("idf", given)
    if not isinstance(given, IdfTable):
        raise InvalidOption("idf", given, "a shipped name, a table's path, or an IdfTable")
    return given


def _imported(option: str, path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidOption(option, path, f"a name that can be imported ({error})") from error


def _with_signs(parts: Sequence[str], tokens: Iterator[Iterable[str]]) -> Iterator[list[str]]:
    """The words of each part of a title, of which tokens are the next, and its signs."""
    return ([*words, *signs(part)] for part, words in zip(parts, tokens, strict=False))


def _digest_of(*parts: str, key: bytes) -> str:
    return blake2b("\n".join(parts).encode(), key=key, digest_size=8).hexdigest()
