"""Worker processes: one function from page to signature, where it can do no harm.

A page of the web can take minutes, gigabytes, or end the process that reads it. So each worker
has a pipe of its own and a thread that waits for its answer: a worker that dies or takes too
long costs the page that it was reading and nothing else. (A pool whose workers share a queue
shares a lock as well, and a worker that dies at the wrong moment takes it to its grave.)

Pages that wait are given to a worker several at a time, because what follows on reading them takes
less time for pages in a row. When it dies over them, each goes to another one by itself.

Workers start by forkserver where there is one, else by spawn; the main module is not run again
in them. They ignore Ctrl-C, which is for their parent, and end when it does, however it ends.
"""

from __future__ import annotations

import atexit
import mmap
import multiprocessing
import os
import signal
import sys
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf
from multiprocessing import spawn
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .checks import require_number
from .encodings import decode
from .exceptions import ExtractionError, NearDupError, UnreadablePage
from .extract import MainText
from .page import PageSignature, ReadPage, Signer
from .records import Record

if TYPE_CHECKING:
    from typing_extensions import Self

P = TypeVar("P")
T = TypeVar("T")

#: Pages that wait or are under way, for each worker, and their bytes for all of them: enough that
#: nobody waits for the reader, few enough that memory stays flat.
_PAGES_PER_WORKER = 16
_BYTES_UNDER_WAY = 64 * 2**20

#: So many pages, of so many bytes, are given to a worker at once where they wait. It has some
#: seconds for all of them, and they are given to it only where it would take a part of that by what
#: it took before.
_AT_ONCE = 8
_BYTES_AT_ONCE = 2 * 2**20
_SECONDS_AT_ONCE = 3.0
_PART_EXPECTED = 0.25
#: By this factor what a page took counts less, each time that pages take less.
_FADING = 0.75

#: How long a worker may take to import and to load its tables.
_START_SECONDS = 120
#: How long the end of this process waits for one that is just being started.
_EXIT_SECONDS = 5

#: How often a page is tried whose worker died: the page may not have been to blame. And how often
#: a worker is started that dies before it is ready.
_TRIES = 3
_STARTS = 3

#: Near the bound of memory, from this part of it on, nothing that was read is believed.
_TRUSTED_SHARE = 0.85
_STATM, _STATUS = Path("/proc/self/statm"), Path("/proc/self/status")

#: More than any page needs, and no more than the system's timers can be set to.
_MOST_SECONDS = 1_000_000

#: What people are to see of a title at most.
_TITLE_CHARS = 300

#: However long the first try took, a page's next one has this many seconds.
_LEAST_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no result for a page.

    :ivar reason: ``"extraction_failed"``, ``"failed"``, ``"timeout"``, ``"out_of_memory"``,
        ``"worker_died"``, or that of a :exc:`~scrapy_neardup.exceptions.LimitExceeded`.
    :ivar detail: what happened, in words for a log.
    """

    reason: str
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


def usable_cores() -> int:
    """Cores that this process may use, where the system says so."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class WorkersFailedError(NearDupError):
    """No worker can be started."""


#: What workers do with a page: a function of a module, so that it can be found again in another
#: process; or a :class:`TwoSteps`.
Job = Callable[[Signer, Record], T]


@dataclass(frozen=True)
class TwoSteps(Generic[P, T]):
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
sign_record = TwoSteps(_page_of, _signatures)


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


def sign_and_read(*, keep_text: bool) -> TwoSteps[ReadPage, tuple[PageSignature, Reading]]:
    """Signature of a page, and what people are to see of it, from reading it once."""
    return TwoSteps(_page_of, partial(_signatures_and_readings, keep_text=keep_text))


def main_tokens(signer: Signer, record: Record) -> list[str]:
    """Tokens of a stored page's main text, in reading order."""
    return signer.tokens(main_text(signer, record).text)


def attempt(job: Job[T], signer: Signer, record: Record) -> T | Failure:
    """Do the job, whatever the page does to it."""
    try:
        return job(signer, record)
    except UnreadablePage as error:
        no_memory = isinstance(error, ExtractionError) and isinstance(error.cause, MemoryError)
        return Failure("out_of_memory" if no_memory else error.reason, str(error))
    except MemoryError as error:
        return Failure("out_of_memory", repr(error))
    except Exception as error:
        # A tokenizer or an extractor of the user's own may raise anything.
        return Failure("failed", repr(error))


def attempt_all(job: Job[T], signer: Signer, records: Sequence[Record]) -> list[T | Failure]:
    """Do the job with each of these pages, as far as it can be with all of them at once."""
    if not isinstance(job, TwoSteps) or len(records) == 1:
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


def _lacks_memory(answer: Any) -> bool:
    return isinstance(answer, Failure) and answer.reason == "out_of_memory"


Deliver = Callable[[Callable[[], None]], None]


def call_here(call: Callable[[], None]) -> None:
    """Make a call in the thread that it comes from."""
    call()


class WorkerPool(Generic[T]):
    """Does one job on many pages.

    :param job: what to do with each page.
    :param signer: arguments of the :class:`~scrapy_neardup.page.Signer` that each worker makes
        for itself; they must survive pickling.
    :param workers: number of processes; with 0 the work is done in this one, without limits.
    :param limits: what one page may take.
    :param deliver: makes a call that sets the answers of one or several pages, from a thread of the
        pool's; for who waits in a thread of his own, and has those of several at once.
    """

    def __init__(
        self,
        job: Job[T],
        signer: Mapping[str, Any],
        workers: int,
        limits: Limits | None = None,
        *,
        deliver: Deliver = call_here,
    ) -> None:
        self._job = job
        self._inline = None if workers else Signer(**signer)
        self._jobs = _Jobs[T]()
        self._numbers = count()
        make = _WorkerRecipe(job, dict(signer), limits or Limits())
        self._keepers = [_Keeper(make, self._jobs, workers, deliver) for _ in range(workers)]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        for keeper in self._keepers:
            keeper.join()

    @property
    def lost(self) -> int:
        """How many workers died or were ended over a page, and were replaced."""
        return sum(keeper.lost for keeper in self._keepers)

    def start(self) -> None:
        """Start the workers, without waiting until they are ready."""
        if self._keepers:
            _start_forkserver()
        for keeper in self._keepers:
            keeper.start()

    def stop(self) -> None:
        """End all workers, whatever they are doing, and cancel what still waits.

        Does not wait for the end; at the latest they end with this process.
        """
        for keeper in self._keepers:
            keeper.stop()
        for _ in self._keepers:
            self._jobs.end()

    def submit(self, record: Record) -> Future[T | Failure]:
        """Hand a page over. The future is given an exception only when no worker can start."""
        task: _Task[T] = _Task(next(self._numbers), record, Future())
        if self._inline is None:
            self._jobs.put(task)
        else:
            task.future.set_result(attempt(self._job, self._inline, record))
        return task.future

    def map(self, records: Iterable[Record]) -> Iterator[tuple[Record, T | Failure]]:
        """Results in the order of the pages, however many work on them.

        Reads ahead only so far that the pages under way stay within bounds.

        :raises WorkersFailedError: when no worker can be started.
        """
        ahead = max(1, _PAGES_PER_WORKER * len(self._keepers))
        waiting: deque[tuple[Record, Future[T | Failure]]] = deque()
        under_way = 0
        for record in records:
            waiting.append((record, self.submit(record)))
            under_way += len(record.content)
            while waiting and (
                len(waiting) >= ahead or under_way > _BYTES_UNDER_WAY or waiting[0][1].done()
            ):
                done, future = waiting.popleft()
                under_way -= len(done.content)
                yield done, future.result()
        for done, future in waiting:
            yield done, future.result()


@dataclass(frozen=True)
class _Task(Generic[T]):
    """
    :ivar number: the turn of this page among all that were handed over.
    :ivar is_alone: is it under way, and to be given to a worker by itself?
    """

    number: int
    record: Record
    future: Future[T | Failure]
    is_alone: bool = False


class _Jobs(Generic[T]):
    """Tasks that wait, in the order in which they were handed over.

    Those that are put back keep their turn. After all of them comes the end, once for each call of
    :meth:`end`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, _Task[T] | None]] = []
        # One for each that waits. An interrupt amid ``queue.PriorityQueue.put`` may leave its lock
        # taken, and whoever ends the work then would wait for ever.
        self._ready = SimpleQueue[None]()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, task: _Task[T]) -> None:
        self._put(task.number, task)

    def end(self) -> None:
        self._put(inf, None)

    def get(self, *, wait: bool = True) -> _Task[T] | None:
        """The next task, or ``None`` for the end.

        :raises queue.Empty: when there is neither, and it is not to be waited for.
        """
        self._ready.get(wait)
        with self._lock:
            return heappop(self._waiting)[1]

    def _put(self, number: float, task: _Task[T] | None) -> None:
        with self._lock:
            heappush(self._waiting, (number, task))
        self._ready.put(None)


def _set_results(tasks: Iterable[_Task[T]], answers: Iterable[T | Failure]) -> None:
    for task, answer in zip(tasks, answers, strict=True):
        task.future.set_result(answer)


@dataclass(frozen=True, slots=True)
class _WorkerRecipe:
    """All that a worker is made of."""

    job: Job[Any]
    signer: Mapping[str, Any]
    limits: Limits


class _Keeper(threading.Thread, Generic[T]):
    """Keeps one worker: brings it pages, waits for its answers, replaces it when it is lost."""

    def __init__(
        self,
        recipe: _WorkerRecipe,
        jobs: _Jobs[T],
        keepers: int,
        deliver: Deliver,
    ) -> None:
        super().__init__(name="neardup-keeper", daemon=True)
        #: Workers that died or were ended over a page.
        self.lost = 0
        self._recipe = recipe
        self._jobs = jobs
        self._keepers = keepers
        self._deliver = deliver
        self._seconds_at_once = min(_SECONDS_AT_ONCE, recipe.limits.seconds)
        #: Seconds that a page takes, by the slowest of late.
        self._pace = _SECONDS_AT_ONCE
        self._worker: _Worker | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()

    def run(self) -> None:
        try:
            # Before the first page, so that it need not wait; who asks is told why there is none.
            with suppress(WorkersFailedError):
                self._ready_worker()
            while (task := self._jobs.get()) is not None:
                self._do([task, *self._more(task)])
        finally:
            self._discard()

    def stop(self) -> None:
        """End the worker now; :meth:`run` then ends by itself."""
        with self._lock:
            self._stopping.set()
            if self._worker is not None:
                self._worker.kill()

    def _more(self, task: _Task[T]) -> Iterator[_Task[T]]:
        """Tasks that wait and can be done with this one; other keepers are left their share."""
        expected = _PART_EXPECTED * self._seconds_at_once
        most = _AT_ONCE if _AT_ONCE * self._pace <= expected else int(expected / self._pace)
        room = _BYTES_AT_ONCE - len(task.record.content)
        for _ in range(min(most - 1, len(self._jobs) // self._keepers)):
            if room < 0 or task.is_alone:
                return
            try:
                another = self._jobs.get(wait=False)
            except Empty:
                return
            if another is None:
                self._jobs.end()  # it is that of another keeper as well
                return
            if another.is_alone:
                self._jobs.put(another)
                return
            room -= len(another.record.content)
            yield another

    def _do(self, tasks: Sequence[_Task[T]]) -> None:
        if self._stopping.is_set():
            for task in tasks:
                task.future.cancel()
        # From here on nobody else can set or cancel it.
        tasks = [
            task for task in tasks if task.is_alone or task.future.set_running_or_notify_cancel()
        ]
        if len(tasks) > 1:
            answers = self._all_at_once([task.record for task in tasks])
            if answers is not None:
                self._deliver(partial(_set_results, tasks, answers))
                return
            if self._put_back(tasks):
                return
        for task in tasks:
            try:
                self._deliver(partial(task.future.set_result, self._result(task.record)))
            except Exception as error:
                self._deliver(partial(task.future.set_exception, error))

    def _put_back(self, tasks: Iterable[_Task[T]]) -> bool:
        """Leave each by itself to whichever worker is free, unless the work is being stopped.

        They go before those that came later: of a page and its copy, the first is the original.
        """
        with self._lock:
            if self._stopping.is_set():
                return False
            for task in tasks:
                self._jobs.put(replace(task, is_alone=True))
            return True

    def _all_at_once(self, records: Sequence[Record]) -> list[T | Failure] | None:
        """Ask a worker about several pages; ``None`` when each has to be asked about by itself.

        A worker that does not answer, or lacks memory, is not yet counted as lost: which page is to
        blame is found out then.
        """
        with suppress(WorkersFailedError):
            if (worker := self._ready_worker()) is None:
                return None
            try:
                answers: list[T | Failure] = self._ask(worker, records, self._seconds_at_once)
            except (EOFError, OSError):
                self._discard()
                return None
            if not any(map(_lacks_memory, answers)):
                return answers
            self._discard()
        return None

    def _ask(self, worker: _Worker, records: Sequence[Record], seconds: float) -> Any:
        """The worker's answers, see :meth:`_Worker.ask`; how long they take sets the pace."""
        started = monotonic()
        try:
            return worker.ask(records, seconds)
        finally:
            took = (monotonic() - started) / len(records)
            self._pace = max(took, _FADING * self._pace)

    def _result(self, record: Record) -> T | Failure:
        """Ask a worker, and when it dies another one, within one limit of time for all of them."""
        failure = Failure("worker_died", "the work was stopped")
        seconds_left = self._recipe.limits.seconds
        for _ in range(_TRIES):
            worker = self._ready_worker()
            if worker is None:
                break
            started = monotonic()
            try:
                [answer] = self._ask(worker, [record], seconds_left)
            except TimeoutError:
                self._lose()
                return Failure("timeout", f"it took more than {self._recipe.limits.seconds:g} s")
            except (EOFError, OSError):
                failure = Failure("worker_died", f"its process ended with {self._lose()}")
                seconds_left = max(_LEAST_SECONDS, seconds_left - (monotonic() - started))
            else:
                if _lacks_memory(answer):
                    self._lose()
                outcome: T | Failure = answer
                return outcome
        return failure

    def _lose(self) -> int | None:
        """End a worker over a page; its exit code. :meth:`_ready_worker` starts another one."""
        self.lost += not self._stopping.is_set()
        return self._discard()

    def _ready_worker(self) -> _Worker | None:
        """The worker, started if need be; ``None`` when the work is being stopped.

        :raises WorkersFailedError: when none can be started.
        """
        code = None
        for _ in range(_STARTS):
            if self._stopping.is_set():
                return None
            if self._worker is not None:
                return self._worker
            try:
                worker = _Worker(self._recipe)
            except OSError as error:
                raise WorkersFailedError(f"a worker cannot be started: {error}") from error
            with self._lock:
                self._worker = worker
                if self._stopping.is_set():
                    worker.kill()
            try:
                worker.wait_until_ready()
            except (EOFError, OSError):
                code = self._discard()
            except WorkersFailedError:
                self._discard()
                raise
            else:
                return worker
        raise WorkersFailedError(f"workers do not start, they end with {code}")

    def _discard(self) -> int | None:
        """End and forget the worker; its exit code."""
        with self._lock:
            worker, self._worker = self._worker, None
        return worker.close() if worker else None


class _Worker:
    """One process and this side of its pipe."""

    def __init__(self, recipe: _WorkerRecipe) -> None:
        context = multiprocessing.get_context(_start_method())
        self._pipe, far_end = context.Pipe()
        self._process = context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(far_end, recipe), name="neardup-worker", daemon=True
        )
        with _starting_or_ending, _main_module_left_out():
            self._process.start()
        far_end.close()

    def wait_until_ready(self) -> None:
        """Wait until it has loaded all it needs; :exc:`EOFError` or :exc:`OSError` when it dies.

        :raises WorkersFailedError: when it says why it cannot.
        """
        if not self._pipe.poll(_START_SECONDS):
            raise TimeoutError
        if (answer := self._pipe.recv()) is not True:
            raise WorkersFailedError(f"a worker cannot start: {answer}")

    def ask(self, records: Sequence[Record], seconds: float) -> Any:
        """Its answers, one for each page.

        :raises EOFError, OSError: when it dies over the question.
        :raises TimeoutError: when it has not answered in time.
        """
        self._pipe.send(records)
        if not self._pipe.poll(seconds):
            raise TimeoutError
        return self._pipe.recv()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> int | None:
        with _starting_or_ending:
            self.kill()
            self._process.join()
            # Not closed: at exit multiprocessing may be asking it at this very moment.
            code: int | None = self._process.exitcode
        self._pipe.close()
        return code


def _start_method() -> str:
    known = multiprocessing.get_all_start_methods()
    return "forkserver" if "forkserver" in known else "spawn"


def _start_forkserver() -> None:
    """Start the process that workers are forked from, deaf to Ctrl-C from its first breath."""
    if _start_method() != "forkserver":
        return
    from multiprocessing import forkserver, resource_tracker

    forkserver.set_forkserver_preload([f"{__package__}.preload"])
    with _interrupts_ignored():
        resource_tracker.ensure_running()
        forkserver.ensure_running()


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """For children to inherit; only the main thread can change it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


#: multiprocessing keeps its children in one set, which is not made for several threads.
_starting_or_ending = threading.Lock()


@atexit.register
def _start_no_more() -> None:
    """A worker whose parent ends while it is being started would complain of it on the terminal."""
    # For good: whoever still wants to start one ends with this process.
    _starting_or_ending.acquire(timeout=_EXIT_SECONDS)


@contextmanager
def _main_module_left_out() -> Iterator[None]:
    """A new process runs its parent's main module again; those that this thread starts do not.

    The module itself stays in its place: another thread may be pickling something of it.
    """
    prepare, thread = spawn.get_preparation_data, threading.get_ident()

    def prepared(name: str) -> dict[str, Any]:
        data = prepare(name)
        if threading.get_ident() == thread:
            data.pop("init_main_from_name", None)
            data.pop("init_main_from_path", None)
        return data

    spawn.get_preparation_data = prepared
    try:
        yield
    finally:
        spawn.get_preparation_data = prepare


def _serve(pipe: Connection[Any, Any], recipe: _WorkerRecipe) -> None:
    """What a worker does all its life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.dup2(2, 1)  # what a library prints must not get into the results
    memory = _Memory(recipe.limits.memory_mb)
    try:
        signer = Signer(**recipe.signer)
    except Exception as error:
        pipe.send(repr(error))
        return
    with suppress(EOFError, OSError):  # the parent has gone
        pipe.send(True)
        while True:
            records = pipe.recv()
            with _alarm(recipe.limits.seconds):
                answers = attempt_all(recipe.job, signer, records)
            if memory.is_exhausted():
                answers = [_MEMORY_EXHAUSTED] * len(records)
            pipe.send(answers)


_MEMORY_EXHAUSTED = Failure(
    "out_of_memory", f"it took more than {_TRUSTED_SHARE:.0%} of what a worker may"
)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Death by the system's hand, for a worker that hangs in foreign code, its parent gone."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 1)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


class _Memory:
    """Bounds what this process may hold, and tells when a page came near the bound.

    C libraries do not always say that they were refused memory: libxml2 may hand over the part of
    a tree that it got done, and lxml only mutters where it cannot raise. What was read of a page
    that came near the bound is not believed.
    """

    def __init__(self, mebibytes: int) -> None:
        #: Has an allocation been refused?
        self.refused = False
        self._bound = mebibytes * 2**20
        if mebibytes and _set_data_limit(self._bound):
            virtual, data = _virtual_and_data_bytes()
            # Of the virtual size the system keeps the peak; of the data it does not.
            self._other = virtual - data
            # Cython prints such an error before it hands it on, which calls the other hook.
            sys.excepthook, sys.unraisablehook = self._on_error, self._on_unraisable
        else:
            self._bound = 0

    def is_exhausted(self) -> bool:
        """Did this process come near the bound, or beyond it, since it was started?"""
        if not self._bound:
            return False
        return self.refused or _peak_virtual_bytes() - self._other > _TRUSTED_SHARE * self._bound

    def _on_error(self, kind: type[BaseException], error: BaseException, trace: Any, /) -> None:
        if isinstance(error, MemoryError):
            self.refused = True
        else:
            sys.__excepthook__(kind, error, trace)

    def _on_unraisable(self, unraisable: Any, /) -> None:
        if isinstance(unraisable.exc_value, MemoryError):
            self.refused = True
        else:
            sys.__unraisablehook__(unraisable)


def _set_data_limit(size: int) -> bool:
    """Bound this process's data; ``False`` where the system knows no such bound, or it is wide."""
    try:
        import resource
    except ImportError:
        return False
    try:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))
    except (OSError, ValueError):
        return False
    return _STATM.exists()


def _virtual_and_data_bytes() -> tuple[int, int]:
    fields = _STATM.read_text().split()
    return int(fields[0]) * mmap.PAGESIZE, int(fields[5]) * mmap.PAGESIZE


def _peak_virtual_bytes() -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmPeak:"):
            return int(line.split()[1]) * 1024
    return 0
