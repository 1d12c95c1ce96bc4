"""The jobs that workers do on pages, and the failures that can result."""

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

#: The highest time limit, which the system's timers still support.
_MAX_SECONDS = 1_000_000

#: Characters of a title that reports show.
_TITLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why there is no result for a page.

    :ivar reason: ``"failed"``, ``"timeout"``, ``"out_of_memory"``, ``"worker_died"``, or that of an
        :exc:`~scrapy_neardup.exceptions.UnreadablePage`.
    :ivar detail: a description for logs.
    """

    reason: Reason
    detail: str


@dataclass(frozen=True)
class Limits:
    """Limits for one page.

    :ivar seconds: time limit, above 0 and at most 1,000,000.
    :ivar memory_mb: memory limit of the whole worker, in MiB; 0 for none. Has no effect on systems
        without such a limit.
    :raises InvalidOption: when a limit is out of range.
    """

    seconds: float = 30.0
    memory_mb: int = 1024

    def __post_init__(self) -> None:
        require_number("seconds", self.seconds, float, 0, _MAX_SECONDS, above=True, unit="seconds")
        require_number("memory_mb", self.memory_mb, int, 0)


#: A job of workers: a module-level function, which can be pickled, or a :class:`BatchTask`.
Job = Callable[[Signer, Record], T]


@dataclass(frozen=True)
class BatchTask(Generic[P, T]):
    """A job whose second step is faster for several pages at once.

    :ivar read: the first step, called with each page.
    :ivar finish: the second step, called with the results of the first; returns the results of the
        job in the same order.
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


def _decoded(signer: Signer, record: Record) -> str:
    content = record.content
    if isinstance(content, bytes):
        signer.limits.check_body(content)
        content = decode(content, record.content_type, record.encoding)
    return content


def _signatures(signer: Signer, pages: Sequence[ReadPage]) -> list[PageSignature]:
    return signer.sign(*pages)


#: The job that returns the signature of a page.
sign_record = BatchTask(_page_of, _signatures)


def main_text(signer: Signer, record: Record) -> MainText:
    """Return title and main text of a stored page, as its signature uses them."""
    if record.kind == "text":
        text = str(record.content)
        return MainText(record.title, text, text)
    return signer.read(record.content, record.content_type, record.encoding)


class Reading(NamedTuple):
    """Title and text of a page for reports.

    :ivar title: the first 300 characters of the title.
    :ivar text: the main text in UTF-8, compressed by zlib; empty if it was not asked for.
    """

    title: str = ""
    text: bytes = b""

    @classmethod
    def of(cls, page: MainText, *, keep_text: bool) -> Reading:
        """Return title and text of a page that was read."""
        text = zlib.compress(page.text.encode("utf-8", "replace")) if keep_text else b""
        return cls(page.title[:_TITLE_CHARS], text)


def read_page(signer: Signer, record: Record) -> Reading:
    """Return title and main text of a stored page for reports."""
    return Reading.of(main_text(signer, record), keep_text=True)


def _signatures_and_readings(
    signer: Signer, pages: Sequence[ReadPage], *, keep_text: bool
) -> list[tuple[PageSignature, Reading]]:
    readings = [Reading.of(page.main, keep_text=keep_text) for page in pages]
    return list(zip(signer.sign(*pages), readings, strict=True))


def sign_and_read(*, keep_text: bool) -> BatchTask[ReadPage, tuple[PageSignature, Reading]]:
    """Return a job for the signature of a page and its :class:`Reading`, which reads it once."""
    return BatchTask(_page_of, partial(_signatures_and_readings, keep_text=keep_text))


def attempt(job: Job[T], signer: Signer, record: Record) -> T | Failure:
    """Do a job on one page; errors become failures."""
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
    """Do a job on several pages, if possible at once; errors become failures of single pages."""
    if not isinstance(job, BatchTask) or len(records) == 1:
        return [attempt(job, signer, record) for record in records]
    read = [attempt(job.read, signer, record) for record in records]
    try:
        pages = [page for page in read if not isinstance(page, Failure)]
        answers = iter(job.finish(signer, pages) if pages else ())
    except Exception:
        # One by one, only the page that caused the error fails.
        return [attempt(job, signer, record) for record in records]
    return [page if isinstance(page, Failure) else next(answers) for page in read]


def lacks_memory(answer: Any) -> bool:
    """Return whether the page exceeded the worker's memory limit."""
    return isinstance(answer, Failure) and answer.reason == Reason.OUT_OF_MEMORY


@dataclass(frozen=True, slots=True)
class WorkerRecipe:
    """The configuration of a worker; see :class:`~scrapy_neardup.workers.pool.WorkerPool`."""

    job: Job[Any]
    signer: Mapping[str, Any]
    limits: Limits
