"""Reads pages in worker processes, within limits of time and memory.

A web page can take minutes or gigabytes, or crash the process that reads it. So each worker process
has its own channel and its own supervisor, a thread that waits for its results. A worker that dies
or takes too long costs only the page that it was reading. (Workers that share a queue also share a
lock, which a worker that dies at the wrong moment leaves locked.)

Waiting pages are sent to a worker in batches, because the step after reading is faster for several
pages at once. If the worker dies over a batch, each of its pages is retried alone. Every submitted
page gets a result: from a worker, as a failure of its own, or because no worker can be started.

Workers are forked from a process that has loaded what they share (``forkserver.py``); on systems
without fork each is a new interpreter (``spawning.py``). They do not run the main module again,
ignore Ctrl-C, which is meant for their parent, and end when the parent ends.
"""

from __future__ import annotations

from .pool import PagePool, WorkerPool, call_here, usable_cores
from .supervisor import prepare_workers
from .tasks import (
    Failure,
    Job,
    Limits,
    Reading,
    SignedPage,
    main_text,
    read_page,
    sign_and_read,
    sign_for_crawl,
    sign_record,
)

__all__ = [
    "Failure",
    "Job",
    "Limits",
    "PagePool",
    "Reading",
    "SignedPage",
    "WorkerPool",
    "call_here",
    "main_text",
    "prepare_workers",
    "read_page",
    "sign_and_read",
    "sign_for_crawl",
    "sign_record",
    "usable_cores",
]
