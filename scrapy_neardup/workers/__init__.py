"""Reads pages in worker processes, within limits of time and memory.

A page of the web can take minutes, gigabytes, or end the process that reads it. So each worker
process has a channel of its own (``channel.py``) and a supervisor, a thread that waits for its
answers: a worker that dies or takes too long costs the page that it was reading and nothing else.
(A pool whose workers share a queue shares a lock as well, and a worker that dies at the wrong
moment leaves it locked.)

Pages that wait are given to a worker several at a time, because what follows on reading them takes
less time for pages in a row. When it dies over them, each goes to another one by itself.

No wait is without limit, and whatever fails, every page that was handed over is answered: by a
worker, by a failure of its own, or because no worker can be started.

Workers are forked from one process that has loaded what they share (``forkserver.py``); where no
process can be forked, each is a new interpreter (``spawning.py``). The main module is not run again
in them. They ignore Ctrl-C, which is for their parent, and end when it does, however it ends.
"""

from __future__ import annotations

from .pool import WorkerPool, call_here, usable_cores
from .tasks import (
    BatchTask,
    Failure,
    Job,
    Limits,
    Reading,
    attempt_all,
    main_text,
    main_tokens,
    read_page,
    sign_and_read,
    sign_record,
)

__all__ = [
    "BatchTask",
    "Failure",
    "Job",
    "Limits",
    "Reading",
    "WorkerPool",
    "attempt_all",
    "call_here",
    "main_text",
    "main_tokens",
    "read_page",
    "sign_and_read",
    "sign_record",
    "usable_cores",
]
