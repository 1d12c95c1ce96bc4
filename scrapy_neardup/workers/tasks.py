"""Tasks that workers do: one function from page to signature, and why a page has none."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from .._util.validation import require_number
from ..exceptions import ExtractionError, UnreadablePage
from ..html.encoding_detection import decode
from ..html.extraction import MainText
from ..reasons import Reason
from ..signatures.signature import PageSignature, ReadPage, Signer
from ..sources.record import Record

P = TypeVar("P")
T = TypeVar("T")

#: More than any page needs, and no more than the system's timers can be set to.
_MOST_SECONDS = 1_000_000

#: What people are to see of a title at most.
_TITLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no result for a page.

    :ivar reason: ``"extraction_failed"``, ``"failed"``, ``"timeout"``, ``"out_of_memory"``,
        ``"worker_died"``, or that of a :exc:`~scrapy_neardup.exceptions.LimitExceeded`.
    :ivar detail: what happened, in words for a log.
    """

    reason: Reason
    detail: str


@dataclass(frozen=True)
class Limits:
    """What one page may take.

    :ivar seconds: time, above 0 and at most 1,000,000.
    :ivar memory_mb: memory of the whole worker, in MiB; 0 for as much as there is. Has no effect
        where the system knows no such limit.
    :raises InvalidOption: when one is out of its bounds.
    """

    seconds: float = 30.0
    memory_mb: int = 1024

    def __post_init__(self) -> None:
        require_number("seconds", self.seconds, float, 0, _MOST_SECONDS, above=True, unit="seconds")
        require_number("memory_mb", self.memory_mb, int, 0)


#: What workers do with a page: a function of a module, so that it can be found again in another
#: process; or a :class:`BatchTask`.
Job = Callable[[Signer, Record], T]


@dataclass(frozen=True)
class BatchTask(Generic[P, T]):
    """A job of which the second step is done for several pages at once, in less time.

    :ivar read: what is done with each page by itself.
    :ivar finish: makes the answers of those that were read, in their order.
    """

    read: Callable[[Signer, Record], P]
    finish: Callable[[Signer, Sequence[P]], list[T]]

    def __call__(self, signer: Signer, record: Record) -> T:
        [answer] = self.finish(signer, [self.read(signer, record)])
        return answer


def _page_of(signer: Signer, record: Record) -> ReadPage:
    if record.kind == "html":
        return signer.html_page(record.url, record.content, record.content_type, record.encoding)
    content = _decoded(signer, record)
    if record.kind == "fragment":
        return signer.fragment_page(record.url, content)
    is_whole = isinstance(record.content, bytes)
    return signer.text_page(record.url, content, record.title, is_whole=is_whole)


def _signatures(signer: Signer, pages: Sequence[ReadPage]) -> list[PageSignature]:
    return signer.sign(*pages)


#: Signature of a page.
sign_record = BatchTask(_page_of, _signatures)


def _decoded(signer: Signer, record: Record) -> str:
    content = record.content
    if isinstance(content, bytes):
        signer.limits.check_body(content)
        content = decode(content, record.content_type, record.encoding)
    return content


def main_text(signer: Signer, record: Record) -> MainText:
    """Title and main text of a stored page, as its signature is made of them."""
    if record.kind == "text":
        text = str(record.content)
        return MainText(record.title, text, text)
    return signer.read(record.content, record.content_type, record.encoding)


class Reading(NamedTuple):
    """What people are to see of a page.

    :ivar title: its first 300 characters.
    :ivar text: the main text, in UTF-8, packed by zlib; empty where it was not asked for.
    """

    title: str = ""
    text: bytes = b""

    @classmethod
    def of(cls, page: MainText, *, keep_text: bool) -> Reading:
        """Of a page that was read."""
        text = zlib.compress(page.text.encode("utf-8", "replace")) if keep_text else b""
        return cls(page.title[:_TITLE_CHARS], text)


def read_page(signer: Signer, record: Record) -> Reading:
    """Title and main text of a stored page, for people."""
    return Reading.of(main_text(signer, record), keep_text=True)


def _signatures_and_readings(
    signer: Signer, pages: Sequence[ReadPage], *, keep_text: bool
) -> list[tuple[PageSignature, Reading]]:
    readings = [Reading.of(page.main, keep_text=keep_text) for page in pages]
    return list(zip(signer.sign(*pages), readings, strict=True))


def sign_and_read(*, keep_text: bool) -> BatchTask[ReadPage, tuple[PageSignature, Reading]]:
    """Signature of a page, and what people are to see of it, from reading it once."""
    return BatchTask(_page_of, partial(_signatures_and_readings, keep_text=keep_text))


def main_tokens(signer: Signer, record: Record) -> list[str]:
    """Tokens of a stored page's main text, in reading order."""
    return signer.tokens(main_text(signer, record).text)


def attempt(job: Job[T], signer: Signer, record: Record) -> T | Failure:
    """Do the job, whatever the page does to it."""
    try:
        return job(signer, record)
    except UnreadablePage as error:
        no_memory = isinstance(error, ExtractionError) and isinstance(error.cause, MemoryError)
        return Failure(Reason.OUT_OF_MEMORY if no_memory else error.reason, str(error))
    except MemoryError as error:
        return Failure(Reason.OUT_OF_MEMORY, repr(error))
    except Exception as error:
        # A tokenizer or an extractor of the user's own may raise anything.
        return Failure(Reason.FAILED, repr(error))


def attempt_all(job: Job[T], signer: Signer, records: Sequence[Record]) -> list[T | Failure]:
    """Do the job with each of these pages, as far as it can be with all of them at once."""
    if not isinstance(job, BatchTask) or len(records) == 1:
        return [attempt(job, signer, record) for record in records]
    read = [attempt(job.read, signer, record) for record in records]
    try:
        pages = [page for page in read if not _has_failed(page)]
        answers = iter(job.finish(signer, pages) if pages else ())
    except Exception:
        # One by one they tell which of them it was.
        return [attempt(job, signer, record) for record in records]
    return [page if _has_failed(page) else next(answers) for page in read]


def _has_failed(answer: Any) -> bool:
    return isinstance(answer, Failure)


def lacks_memory(answer: Any) -> bool:
    """Did this page take more memory than its worker may?"""
    return isinstance(answer, Failure) and answer.reason == Reason.OUT_OF_MEMORY


@dataclass(frozen=True, slots=True)
class WorkerRecipe:
    """All that a worker is made of.

    :ivar job: what it does with each page.
    :ivar signer: arguments of its :class:`~scrapy_neardup.signatures.signature.Signer`.
    :ivar limits: what one page may take.
    """

    job: Job[Any]
    signer: Mapping[str, Any]
    limits: Limits
