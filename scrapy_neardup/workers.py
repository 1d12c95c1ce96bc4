"""Worker processes: one function from page to signature, where it can do no harm.

A page of the web can take minutes, gigabytes, or end the process that reads it. So each worker
has a pipe of its own and a thread that waits for its answer: a worker that dies or takes too
long costs the page that it was reading and nothing else. (A pool whose workers share a queue
shares a lock as well, and a worker that dies at the wrong moment takes it to its grave.)

Workers start by forkserver where there is one, else by spawn; the main module is not run again
in them. They ignore Ctrl-C, which is for their parent, and end when it does, however it ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .exceptions import ExtractionError, NearDupError
from .extract import MainText, decode, read_page
from .page import PageSignature, Signer
from .records import Record
from .tokens import normalize

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")

#: Pages that wait or are under way, for each worker, and their bytes for all of them: enough that
#: nobody waits for the reader, few enough that memory stays flat.
_PAGES_PER_WORKER = 16
_BYTES_UNDER_WAY = 64 * 2**20

#: How long a worker may take to import and to load its tables.
_START_SECONDS = 120

#: How often a page is tried whose worker died: the page may not have been to blame. And how often
#: a worker is started that dies before it is ready.
_TRIES = 2
_STARTS = 3


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no result for a page.

    :ivar reason: ``"extraction_failed"``, ``"failed"``, ``"timeout"`` or ``"worker_died"``.
    :ivar detail: what happened, in words for a log.
    """

    reason: str
    detail: str


@dataclass(frozen=True)
class Limits:
    """What one page may take.

    :ivar seconds: time.
    :ivar memory_mb: memory of the whole worker, in MiB; 0 for as much as there is. Has no effect
        where the system knows no such limit.
    """

    seconds: float = 30.0
    memory_mb: int = 2048


class WorkersFailedError(NearDupError):
    """No worker can be started."""


#: What workers do: a function of a module, so that it can be found again in another process.
Job = Callable[[Signer, Record], T]


def sign_record(signer: Signer, record: Record) -> PageSignature:
    """Signature of a stored page."""
    if record.kind == "html":
        return signer.sign_html(record.url, record.content, record.content_type)
    assert isinstance(record.content, str)
    return signer.sign_text(record.url, record.content, record.title)


def main_text(signer: Signer, record: Record) -> MainText:
    """Title and main text of a stored page, as its signature is made of them."""
    if record.kind == "text":
        text = str(record.content)
        return MainText(record.title, text, text)
    html = record.content
    if isinstance(html, bytes):
        html = decode(html, record.content_type)
    return read_page(html, signer._extract)


def main_tokens(signer: Signer, record: Record) -> list[str]:
    """Tokens of a stored page's main text, in reading order."""
    return list(signer._tokenize(normalize(main_text(signer, record).text)))


def attempt(job: Job[T], signer: Signer, record: Record) -> T | Failure:
    """Do the job, whatever the page does to it."""
    try:
        return job(signer, record)
    except ExtractionError as error:
        return Failure("extraction_failed", str(error))
    except Exception as error:
        # A tokenizer or an extractor of the user's own may raise anything.
        return Failure("failed", repr(error))


def quieten_jieba() -> None:
    """Where Python keeps no compiled files, it finds fault with jieba's source at every start."""
    warnings.filterwarnings("ignore", ".*invalid escape sequence", SyntaxWarning)


class WorkerPool(Generic[T]):
    """Does one job on many pages.

    :param job: what to do with each page.
    :param signer: arguments of the :class:`~scrapy_neardup.page.Signer` that each worker makes
        for itself; they must survive pickling.
    :param workers: number of processes; with 0 the work is done in this one, without limits.
    :param limits: what one page may take.
    """

    def __init__(
        self,
        job: Job[T],
        signer: Mapping[str, Any],
        workers: int,
        limits: Limits | None = None,
    ) -> None:
        self._job = job
        self._inline = None if workers else Signer(**signer)
        self._jobs: SimpleQueue[_Task[T] | None] = SimpleQueue()
        make = _WorkerRecipe(job, dict(signer), limits or Limits())
        self._keepers = [_Keeper(make, self._jobs) for _ in range(workers)]

    def __enter__(self) -> Self:
        if self._keepers:
            _start_forkserver()
        for keeper in self._keepers:
            keeper.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End all workers, whatever they are doing; what still waits is cancelled."""
        for keeper in self._keepers:
            keeper.stop()
        for _ in self._keepers:
            self._jobs.put(None)
        for keeper in self._keepers:
            keeper.join()
        while not self._jobs.empty():
            if (task := self._jobs.get()) is not None:
                task.future.cancel()

    def submit(self, record: Record) -> Future[T | Failure]:
        """Hand a page over. The future is given an exception only when no worker can start."""
        task: _Task[T] = _Task(record, Future())
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
        waiting: deque[_Task[T]] = deque()
        under_way = 0
        for record in records:
            waiting.append(_Task(record, self.submit(record)))
            under_way += len(record.content)
            while waiting and (
                len(waiting) >= ahead or under_way > _BYTES_UNDER_WAY or waiting[0].future.done()
            ):
                task = waiting.popleft()
                under_way -= len(task.record.content)
                yield task.record, task.future.result()
        for task in waiting:
            yield task.record, task.future.result()


@dataclass(frozen=True)
class _Task(Generic[T]):
    record: Record
    future: Future[T | Failure]


@dataclass(frozen=True, slots=True)
class _WorkerRecipe:
    """All that a worker is made of."""

    job: Job[Any]
    signer: Mapping[str, Any]
    limits: Limits


class _Keeper(threading.Thread, Generic[T]):
    """Keeps one worker: brings it pages, waits for its answers, replaces it when it is lost."""

    def __init__(self, recipe: _WorkerRecipe, jobs: SimpleQueue[_Task[T] | None]) -> None:
        super().__init__(name="neardup-keeper", daemon=True)
        self._recipe = recipe
        self._jobs = jobs
        self._worker: _Worker | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()

    def run(self) -> None:
        try:
            while (task := self._jobs.get()) is not None:
                if self._stopping.is_set():
                    task.future.cancel()
                    continue
                try:
                    task.future.set_result(self._result(task.record))
                except Exception as error:
                    task.future.set_exception(error)
        finally:
            self._discard()

    def stop(self) -> None:
        """End the worker now; :meth:`run` then ends by itself."""
        self._stopping.set()
        with self._lock:
            if self._worker is not None:
                self._worker.kill()

    def _result(self, record: Record) -> T | Failure:
        failure = Failure("worker_died", "the work was stopped")
        for _ in range(_TRIES):
            worker = self._ready_worker()
            if worker is None:
                break
            try:
                answer: T | Failure = worker.ask(record)
            except TimeoutError:
                self._discard()
                return Failure("timeout", f"it took more than {self._recipe.limits.seconds:g} s")
            except (EOFError, OSError):
                failure = Failure("worker_died", f"its process ended with {self._discard()}")
            else:
                return answer
        return failure

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
            try:
                worker.wait_until_ready()
            except (EOFError, OSError):
                code = self._discard()
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
        self._seconds = recipe.limits.seconds
        self._pipe, far_end = context.Pipe()
        self._process = context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(far_end, recipe), name="neardup-worker", daemon=True
        )
        with _main_module_hidden():
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

    def ask(self, record: Record) -> Any:
        """Its answer; :exc:`EOFError` or :exc:`OSError` when it dies over the question."""
        self._pipe.send(record)
        if not self._pipe.poll(self._seconds):
            raise TimeoutError
        return self._pipe.recv()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> int | None:
        with _starting_or_ending:
            self.kill()
            self._process.join()
            code: int | None = self._process.exitcode
            self._process.close()
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

    forkserver.set_forkserver_preload([__name__])
    with _main_module_hidden(), _interrupts_ignored():
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


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    """A new process runs its parent's main module again; ours need nothing of it."""
    with _starting_or_ending:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def _serve(pipe: Connection[Any, Any], recipe: _WorkerRecipe) -> None:
    """What a worker does all its life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.dup2(2, 1)  # what a library prints must not get into the results
    _limit_memory(recipe.limits.memory_mb)
    quieten_jieba()
    try:
        signer = Signer(**recipe.signer)
    except Exception as error:
        pipe.send(repr(error))
        return
    with suppress(EOFError, OSError):  # the parent has gone
        pipe.send(True)
        while True:
            record = pipe.recv()
            with _alarm(recipe.limits.seconds):
                answer = attempt(recipe.job, signer, record)
            pipe.send(answer)


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


def _limit_memory(mebibytes: int) -> None:
    try:
        import resource
    except ImportError:
        return
    if mebibytes:
        with suppress(OSError, ValueError):
            hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
            resource.setrlimit(resource.RLIMIT_DATA, (mebibytes * 2**20, hard))
