"""Keeps what commands read of pages, so that they read no page twice (``--cache``).

Entries are found by a digest of the page's record, content included, and of everything else that
decides the result. File, offset and time of change, which are quicker to compare, are not asked
for: files are edited, rewritten and renamed, but a digest cannot be stale. It takes about a
hundredth of the time of reading a page.

Nothing is removed from a cache, whatever its size; whoever wants the space removes the folder.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

from scrapy.utils.misc import load_object

from ..._util.encoding import utf8
from ..._util.wording import quantity
from ...reasons import Reason
from ...signatures.signature import PageSignature
from ...signatures.signer import Signer
from ...sources.record import Record
from ...stores import codec
from ...workers import (
    Failure,
    Job,
    PagePool,
    Reading,
    WorkerPool,
    read_page,
    sign_and_read,
    sign_record,
)
from .cache_file import CacheFile, Entry
from .output import print_message
from .quotes import Quotes

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: Pages that are written at once, and the seconds after which fewer are.
_BATCH_PAGES, _BATCH_SECONDS = 256, 5.0

#: Failures that a page has each time it is read; others may be of the machine or of the moment.
_LASTING = frozenset(
    (
        Reason.NEEDS_SCRIPTS,
        Reason.TOO_LARGE,
        Reason.TOO_MANY_TAGS,
        Reason.TOO_MANY_ATTRIBUTES,
        Reason.TOO_NESTED,
        Reason.TEXT_TOO_LONG,
    )
)
_SIGNATURE, _FAILURE = b"S", b"F"

#: What reads pages: packages whose versions may read a page differently, and the folders of this
#: one in which any change of the code may matter.
_PACKAGES = (
    "charset-normalizer courlan htmldate jieba justext lxml lxml_html_clean regex resiliparse "
    "rjieba scrapy-neardup selectolax tldextract trafilatura w3lib"
).split()
_FOLDERS = "_util hashing html methods signatures stores text workers".split()


class _Key(NamedTuple):
    signature: bytes
    text: bytes


class Keys:
    """Makes the keys of pages.

    Secret, tokenizer and IDF table are in the signer's recipe; a text depends on none of them.

    :param given: arguments of the signer. The files of tokenizer, extractor and method count as
        well if these are not shipped, because who edits one may forget to change its ``version``.
        Of the IDF table, whose digest is in the recipe, no file matters.
    """

    def __init__(self, signer: Signer, given: Mapping[str, Any]) -> None:
        shared = f"{signer.limits!r}\n{signer.parts['extractor']}\n{_environment()}".encode()
        shared += _source_of(given.get("extractor"))
        self._signature = b"signature\n%b\n" % signer.recipe.encode() + shared
        self._signature += _source_of(given.get("tokenizer")) + _source_of(given.get("method"))
        self._text = b"text\n" + shared

    def of(self, record: Record) -> _Key:
        """Return the keys of a page; its id, which no result depends on, does not count."""
        content, is_text = record.content, isinstance(record.content, str)
        named = (record.url, record.kind, record.title, record.content_type, record.encoding)
        digest = blake2b(json.dumps((*named, is_text)).encode() + b"\n", digest_size=32)
        digest.update(utf8(content))
        text = digest.copy()
        full = b"\nfull\n" if record.needs_facts else b"\nfull, without facts\n"
        digest.update(b"\nquick\n" if record.quick else full)
        digest.update(blake2b(self._signature).digest())
        text.update(blake2b(self._text).digest())
        return _Key(digest.digest(), text.digest())


class _Kept(Protocol[T_co]):
    """Keeps the results of a job in a cache, and finds them there.

    :ivar job: what workers do instead of the job, to know all that is kept.
    """

    job: Job[Any]

    def found(self, cache: CacheFile, key: _Key) -> T_co | Failure | None:
        """Return what is kept of a page."""

    def result(self, answer: Any) -> T_co:
        """Return the result of the job, from the answer of a worker."""

    def entries(self, key: _Key, answer: Any) -> Iterator[Entry]:
        """Yield what to keep of a page, from the answer of a worker."""


class _Signatures:
    """Keeps signatures, and beside them the texts that a report may ask for."""

    job = sign_and_read(keep_text=True)

    def __init__(self, recipe: str) -> None:
        self._recipe = recipe

    def found(self, cache: CacheFile, key: _Key) -> PageSignature | Failure | None:
        value = cache.get("signatures", key.signature)
        if value is None:
            return None
        if value.startswith(_SIGNATURE):
            return codec.unpacked(value[1:], self._recipe)
        reason, detail = json.loads(value[1:])
        return Failure(Reason(reason), detail)

    def result(self, answer: tuple[PageSignature, Reading]) -> PageSignature:
        return answer[0]

    def entries(
        self, key: _Key, answer: tuple[PageSignature, Reading] | Failure
    ) -> Iterator[Entry]:
        if isinstance(answer, Failure):
            if answer.reason in _LASTING:
                value = _FAILURE + json.dumps((answer.reason, answer.detail)).encode()
                yield Entry("signatures", key.signature, value)
            return
        signature, reading = answer
        yield Entry("signatures", key.signature, _SIGNATURE + codec.packed(signature))
        if signature.is_read:
            yield _text_entry(key, reading)


class _Quotes:
    """Keeps signatures and texts, and takes the fingerprints of ``--containment`` from the texts.

    That takes some 0.1 ms a page, and texts that other jobs kept serve as well.
    """

    job = sign_and_read(keep_text=True, fingerprint=True)

    def __init__(self, recipe: str) -> None:
        self._signatures, self._texts = _Signatures(recipe), _Texts()

    def found(self, cache: CacheFile, key: _Key) -> tuple[PageSignature, Reading] | Failure | None:
        signature = self._signatures.found(cache, key)
        if not isinstance(signature, PageSignature):
            return signature
        reading = self._texts.found(cache, key)
        return None if reading is None else (signature, reading.with_fingerprints())

    def result(self, answer: tuple[PageSignature, Reading]) -> tuple[PageSignature, Reading]:
        return answer

    def entries(
        self, key: _Key, answer: tuple[PageSignature, Reading] | Failure
    ) -> Iterator[Entry]:
        return self._signatures.entries(key, answer)


class _Texts:
    """Keeps titles and texts."""

    job = staticmethod(read_page)

    def found(self, cache: CacheFile, key: _Key) -> Reading | None:
        value = cache.get("texts", key.text)
        if value is None:
            return None
        title, _, text = value.partition(b"\n")
        return Reading(json.loads(title), text)

    def result(self, answer: Reading) -> Reading:
        return answer

    def entries(self, key: _Key, answer: Reading | Failure) -> Iterator[Entry]:
        if not isinstance(answer, Failure):
            yield _text_entry(key, answer)


def _text_entry(key: _Key, reading: Reading) -> Entry:
    # JSON has no line break, and escapes lone surrogates.
    return Entry("texts", key.text, json.dumps(reading.title).encode() + b"\n" + reading.text)


class CachedPool(PagePool[T]):
    """Answers pages from a cache, and starts workers only when it lacks one.

    :param kept: how the results are kept.
    :param start: makes the pool that reads the pages.
    :param workers: number of that pool's processes.
    """

    def __init__(
        self,
        folder: str,
        keys: Keys,
        kept: _Kept[T],
        start: Callable[[Job[Any]], WorkerPool[Any]],
        workers: int,
    ) -> None:
        super().__init__(workers)
        self._cache = CacheFile(folder)
        self._keys = keys
        self._kept = kept
        self._start = start
        self._workers: WorkerPool[Any] | None = None
        self._found = self._missing = 0
        #: Answers that wait to be written. Threads of the pool append to it.
        self._waiting: deque[tuple[_Key, Any]] = deque()
        self._written_at = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._workers is not None:
            self._workers.__exit__(*error)
        self._write()
        self._cache.close()
        if not any(error):
            found, missing = quantity(self._found, "page"), quantity(self._missing, "page")
            print_message(f"{self._cache.path}: {found} in the cache, {missing} read")

    def submit(self, record: Record) -> Future[T | Failure]:
        """Submit a page; see :meth:`WorkerPool.submit`. Only one thread may do so."""
        key = self._keys.of(record)
        future: Future[T | Failure] = Future()
        if (found := self._kept.found(self._cache, key)) is not None:
            self._found += 1
            future.set_result(found)
            return future
        self._missing += 1
        if self._workers is None:
            self._workers = self._start(self._kept.job)
            self._workers.__enter__()
        late = monotonic() - self._written_at > _BATCH_SECONDS
        if late or len(self._waiting) >= _BATCH_PAGES:
            self._write()
        reading = self._workers.submit(record)
        reading.add_done_callback(partial(self._pass_on, key, future))
        return future

    def _pass_on(self, key: _Key, future: Future[T | Failure], reading: Future[Any]) -> None:
        """Complete the future of a page that was read."""
        if reading.cancelled():
            future.cancel()
        elif error := reading.exception():
            future.set_exception(error)
        else:
            answer = reading.result()
            self._waiting.append((key, answer))
            is_failure = isinstance(answer, Failure)
            future.set_result(answer if is_failure else self._kept.result(answer))

    def _write(self) -> None:
        answers = [self._waiting.popleft() for _ in range(len(self._waiting))]
        entries = [entry for key, answer in answers for entry in self._kept.entries(key, answer)]
        if entries:
            self._cache.put(entries)
        self._written_at = monotonic()


def kept_results(job: Job[T], recipe: str) -> _Kept[T] | None:
    """Return how the results of a job are kept; ``None`` for one whose results are not."""
    if job is sign_record:
        return cast("_Kept[T]", _Signatures(recipe))
    if job is Quotes.job:
        return cast("_Kept[T]", _Quotes(recipe))
    if job is read_page:
        return cast("_Kept[T]", _Texts())
    return None


def _environment() -> str:
    """Return a description of the code that reads pages."""
    package = Path(__file__).parents[2]
    code = blake2b(digest_size=16)
    for folder in _FOLDERS:
        for path in sorted(package.joinpath(folder).glob("*.py")):
            code.update(blake2b(path.read_bytes()).digest())
    versions = [f"{name} {_version(name)}" for name in _PACKAGES]
    return "\n".join((sys.version, *versions, code.hexdigest()))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _source_of(part: object) -> bytes:
    """Return a digest of the modules of a part; empty for a shipped one, given by name.

    :param part: as the signer was given it: an import path, after which the parameters of a method
        may follow, or an object.
    """
    modules: list[str | None] = []
    if isinstance(part, str):
        path = part.strip().partition(":")[0]
        if "." not in path:
            return b""
        # What the path names may belong to another module, such as a bound method of a pattern.
        modules.append(path.rpartition(".")[0])
        part = load_object(path)
    modules.append(getattr(part, "__module__", None))
    files = (getattr(sys.modules.get(name or ""), "__file__", None) for name in modules)
    return b"".join(
        blake2b(Path(file).read_bytes()).digest() for file in files if file and Path(file).is_file()
    )
