"""The jobs that workers do on pages, the failures that can result, and the queue of the pages."""

from __future__ import annotations

import pickle
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar

from .._util.validation import require_number
from ..exceptions import ExtractionError, UnreadablePage, WorkersFailed
from ..html.encoding_detection import decode
from ..html.extraction import MainText
from ..methods.manber import Manber
from ..reasons import Reason
from ..signatures.read_page import ReadPage
from ..signatures.signature import PageSignature
from ..signatures.signer import Signer
from ..sources.compression import packed_body
from ..sources.record import Record

P = TypeVar("P")
T = TypeVar("T")

#: The highest time limit, which the system's timers still support.
_MAX_SECONDS = 1_000_000

#: Characters of a title that reports show.
_TITLE_CHARS = 300

#: How often a page is tried whose worker died, which need not be the page's fault.
_TRIES = 3


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
        given = (record.url, record.content, record.content_type, record.encoding)
        if record.quick:
            page = signer.quick_page(*given)
        else:
            page = signer.html_page(*given, needs_facts=record.needs_facts)
        # Compressed here, where it does not hold up the crawl.
        return page if page.is_read else page._replace(body=packed_body(record.content))
    content = _decoded(signer, record)
    if record.kind == "fragment":
        return signer.fragment_page(record.url, content)
    if isinstance(record.content, bytes):
        body = record.content
        return signer.text_page(record.url, content, record.title, is_whole=True, body=body)
    return signer.text_page(record.url, content, record.title)


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
    :ivar fingerprints: of Manber's method, if they were asked for.
    """

    title: str = ""
    text: bytes = b""
    fingerprints: bytes = b""

    @classmethod
    def of(cls, page: ReadPage, *, keep_text: bool, fingerprint: bool = False) -> Reading:
        """Return title and text of a page that was read."""
        # Fingerprints are those of the text that is kept, even if it has lone surrogates.
        content = page.main.text.encode("utf-8", "replace")
        text = zlib.compress(content) if keep_text else b""
        fingerprints = Manber().value(content) if fingerprint else b""
        return cls(page.main.title[:_TITLE_CHARS], text, fingerprints)

    def with_fingerprints(self) -> Reading:
        """Return the same with fingerprints, which are taken from the text."""
        return self._replace(fingerprints=Manber().value(zlib.decompress(self.text)))


def read_page(signer: Signer, record: Record) -> Reading:
    """Return title and main text of a stored page for reports."""
    return Reading.of(ReadPage(record.url, main_text(signer, record)), keep_text=True)


def _signatures_and_readings(
    signer: Signer, pages: Sequence[ReadPage], *, keep_text: bool, fingerprint: bool
) -> list[tuple[PageSignature, Reading]]:
    readings = [Reading.of(page, keep_text=keep_text, fingerprint=fingerprint) for page in pages]
    return list(zip(signer.sign(*pages), readings, strict=True))


def sign_and_read(
    *, keep_text: bool, fingerprint: bool = False
) -> BatchTask[ReadPage, tuple[PageSignature, Reading]]:
    """Return a job for the signature of a page and its :class:`Reading`, which reads it once."""
    finish = partial(_signatures_and_readings, keep_text=keep_text, fingerprint=fingerprint)
    return BatchTask(_page_of, finish)


class SignedPage(NamedTuple):
    """The result for a page of a crawl, which keeps many of them.

    :ivar packed: its signature, its :class:`Reading`, and whether it has files beside it, pickled:
        the garbage collector, which stops the event loop, skips bytes.
    :ivar body: the page's body, see :func:`~scrapy_neardup.sources.compression.packed_body`, if it
        was read quickly only and may have to be read in full later.
    """

    packed: bytes
    body: bytes = b""

    def unpacked(self) -> tuple[PageSignature, Reading, bool]:
        """Return the signature, the reading, and whether they depend on the page's folder."""
        signed: tuple[PageSignature, Reading, bool] = pickle.loads(self.packed)
        return signed


def _signed_pages(
    signer: Signer, pages: Sequence[ReadPage], *, keep_text: bool, fingerprint: bool
) -> list[SignedPage]:
    results = _signatures_and_readings(signer, pages, keep_text=keep_text, fingerprint=fingerprint)
    return [
        SignedPage(
            pickle.dumps((*result, bool(page.main.relative)), pickle.HIGHEST_PROTOCOL), page.body
        )
        for page, result in zip(pages, results, strict=True)
    ]


def sign_for_crawl(*, keep_text: bool, fingerprint: bool) -> BatchTask[ReadPage, SignedPage]:
    """Return a job for the signature, the :class:`Reading` and the body of a page."""
    return BatchTask(_page_of, partial(_signed_pages, keep_text=keep_text, fingerprint=fingerprint))


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


@dataclass(eq=False)
class Task(Generic[T]):
    """A submitted page.

    :ivar number: its position among all submitted pages.
    :ivar seconds_left: the time limit for its next try.
    :ivar tries_left: how many more workers may die over it.
    :ivar is_alone: whether it must be sent to a worker alone, not in a batch.
    """

    number: int
    record: Record
    seconds_left: float
    tries_left: int = _TRIES
    is_alone: bool = False
    future: Future[T | Failure] = field(default_factory=Future)

    def __lt__(self, other: Task[T]) -> bool:
        return self.number < other.number

    def begin(self) -> bool:
        """Start the task, so that it can no longer be cancelled; ``False`` if it is complete."""
        if self.future.running():
            return True  # it is retried
        return not self.future.done() and self.future.set_running_or_notify_cancel()

    def answer(self, outcome: T | Failure | Exception) -> None:
        """Set the result of the future, unless it is set."""
        if self.future.done():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)

    def cancel(self) -> None:
        """Cancel the future; if the task has started, its result is a failure."""
        if not self.future.cancel():
            self.answer(Failure(Reason.WORKER_DIED, "the work was stopped"))


class TaskQueue(Generic[T]):
    """Tasks in the order of their submission; retried tasks keep their queue position.

    The queue only accepts tasks while a supervisor serves it, that is, has a worker or has not yet
    failed to start one. Other tasks are completed at once, and so are waiting tasks when the last
    supervisor leaves, so that none can wait for ever.

    :param supervisors: number of supervisors that serve the queue at first.
    """

    def __init__(self, supervisors: int) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Task[T]] = []
        # Wakes a waiting supervisor for each task, and all at the end. A ``queue.PriorityQueue``
        # may keep its lock for good when ``put`` is interrupted.
        self._wakings = SimpleQueue[None]()
        self._supervisors = supervisors
        #: Supervisors that have no worker.
        self._absent: set[object] = set()
        self._failure = "no worker is running"
        self._has_ended = False

    def put(self, task: Task[T]) -> None:
        """Add a task."""
        with self._lock:
            is_served = len(self._absent) < self._supervisors
            if is_accepted := is_served and not self._has_ended:
                heappush(self._waiting, task)
        if is_accepted:
            self._wakings.put(None)
        else:
            self._refuse([task])

    def get(self, most: int, max_bytes: int, *, waits: bool = True) -> list[Task[T]]:
        """Wait for the next task; return it and those that fit in a batch, or none at the end.

        Tasks that would be another supervisor's share are left to it.

        :param waits: if not, return none at once where no task is waiting.
        """
        while True:
            try:
                self._wakings.get(block=waits)
            except Empty:
                return []
            with self._lock:
                if self._waiting:
                    return self._next(most, max_bytes)
                if self._has_ended:
                    self._wakings.put(None)  # for the next supervisor
                    return []

    def leave(self, supervisor: object, failure: str) -> None:
        """Count out a supervisor that has no worker, and say why."""
        with self._lock:
            self._absent.add(supervisor)
            self._failure = failure
            refused = self._take_all() if len(self._absent) == self._supervisors else []
        self._refuse(refused)

    def join(self, supervisor: object) -> None:
        """Count in a supervisor that has a worker."""
        with self._lock:
            self._absent.discard(supervisor)

    def end(self) -> None:
        """End the queue for good, and cancel the waiting tasks."""
        with self._lock:
            self._has_ended = True
            refused = self._take_all()
        self._wakings.put(None)
        self._refuse(refused)

    def _next(self, most: int, max_bytes: int) -> list[Task[T]]:
        others = (len(self._waiting) - 1) // self._supervisors
        tasks = [heappop(self._waiting)]
        room = max_bytes - len(tasks[0].record.content)
        for _ in range(min(most - 1, others)):
            if room < 0 or tasks[0].is_alone or self._waiting[0].is_alone:
                break
            # The supervisor that is woken for it may find no task, and waits on.
            tasks.append(heappop(self._waiting))
            room -= len(tasks[-1].record.content)
        return tasks

    def _take_all(self) -> list[Task[T]]:
        tasks, self._waiting = sorted(self._waiting), []
        return tasks

    def _refuse(self, tasks: Iterable[Task[T]]) -> None:
        for task in tasks:
            if self._has_ended:
                task.cancel()
            else:
                # A new error for each: the traceback of an error grows each time it is raised.
                task.answer(WorkersFailed(self._failure))
