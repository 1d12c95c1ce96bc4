"""Connects to a Dask cluster, or starts one on this machine."""

from __future__ import annotations

import json
import logging
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from ..._util.wording import quantity
from ...exceptions import EngineFailed, InvalidOption
from ...workers import Limits
from ..support.output import print_message

#: What Dask's schedulers are reached by.
_ADDRESS = re.compile(r"(?:tcp|tls|ws|wss|ucx)://[^/\s]+:\d+")
#: Seconds to wait for a scheduler.
_PATIENCE = 15
#: What Dask says on standard error besides; errors are said in one line.
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")


def require_dask() -> None:
    """Check that the packages of ``--engine dask`` are there.

    :raises EngineFailed: if they are not.
    """
    missing = [name for name in ("distributed", "fsspec", "pyarrow") if find_spec(name) is None]
    if missing:
        wanted = 'pip install "scrapy-neardup[dask]"'
        raise EngineFailed(f"--engine dask needs {', '.join(missing)}: {wanted}")


@contextmanager
def open_client(scheduler: str | None, workers: int, limits: Limits) -> Iterator[Any]:
    """Yield a client of a scheduler, or of a cluster on this machine, which ends with the block.

    :param scheduler: address or file of a scheduler; ``None`` starts a cluster.
    :param workers: number of processes of a cluster on this machine.
    :param limits: of the process with which each of them reads pages.
    :raises EngineFailed: if the scheduler cannot be reached.
    """
    with (
        _quiet(),
        _started(workers, limits) if scheduler is None else _reached(scheduler) as client,
    ):
        workers = len(client.nthreads())
        at = quantity(workers, "worker") if workers else "no worker yet, waiting for one"
        # There is always an address, but without bokeh nothing is to be seen there.
        has_board = scheduler is not None or find_spec("bokeh") is not None
        print_message(f"dask: {at}{f'; dashboard {client.dashboard_link}' if has_board else ''}")
        yield client


@contextmanager
def _reached(scheduler: str) -> Iterator[Any]:
    import distributed

    client_of: Any = distributed.Client
    place = _place(scheduler)
    try:
        client = client_of(**place, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:
        raise EngineFailed(f"no scheduler at {scheduler}: {error}") from error
    with client:
        yield client


def _place(scheduler: str) -> dict[str, str]:
    if _ADDRESS.fullmatch(scheduler):
        return {"address": scheduler}
    if "://" not in scheduler and Path(scheduler).is_file():
        with suppress(ValueError, KeyError, TypeError):
            address = json.loads(Path(scheduler).read_bytes())["address"]
            if _ADDRESS.fullmatch(address):
                return {"scheduler_file": scheduler}
    raise InvalidOption(
        "--scheduler",
        scheduler,
        "an address such as tcp://host:8786, or the file that `dask scheduler --scheduler-file` "
        "has written",
    )


@contextmanager
def _started(workers: int, limits: Limits) -> Iterator[Any]:
    import distributed
    from distributed.system import MEMORY_LIMIT

    client_of: Any = distributed.Client
    cluster_of: Any = distributed.LocalCluster

    # A share of the memory for each worker, in which the process that reads pages has its own.
    share = MEMORY_LIMIT // workers
    with ExitStack() as stack:
        with _interrupts_blocked():
            local = _cluster(
                cluster_of,
                n_workers=workers,
                threads_per_worker=1,
                memory_limit=max(share - (limits.memory_mb << 20), share // 2),
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
            stack.enter_context(local)
        yield stack.enter_context(client_of(local, set_as_default=False))


def _cluster(cluster_of: Any, **arguments: Any) -> Any:
    try:
        return cluster_of(**arguments)
    except Exception as error:
        raise EngineFailed(f"the workers have not started: {error}") from error


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in the processes that are started here; this process ends the cluster.

    Workers would each report that they were interrupted.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # It would take the mask away when it is started.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet() -> Iterator[None]:
    import distributed  # noqa: F401 (it sets the levels when it is imported)

    loggers = list(map(logging.getLogger, _LOGGERS))
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
