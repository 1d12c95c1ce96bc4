"""The options of a search on a cluster, and which ones go together."""

from __future__ import annotations

import argparse

from ...exceptions import InvalidOption, UnfitOption

#: Options that mean nothing without ``--engine``.
_ONLY_WITH_ENGINE = ("work", "scheduler", "partitions", "passes", "crowded")
#: Options of what only one process has.
_ONLY_WITHOUT = ("store", "namespace", "cache")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--engine",
        choices=("dask",),
        help="keep all on disk instead of in memory, on this machine or on a cluster; PAGES and "
        "output files may be URLs such as s3://bucket/pages.jsonl.gz",
    )
    parser.add_argument(
        "--work",
        metavar="URL",
        help="folder for what the run keeps, local or by URL, which all workers can write; the "
        "same command goes on from there",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS|FILE",
        help="address of a Dask scheduler (tcp://…), or its --scheduler-file (default: start "
        "--workers on this machine, and end them)",
    )
    for name, what in (
        ("partitions", "parts that rows are sorted into (default: by the number of pages)"),
        ("passes", "times that keys are compared, a part of them each time: more take less disk"),
        ("crowded", "a key of more pages pairs each page with the 32 before it only"),
    ):
        parser.add_argument(f"--{name}", type=int, metavar="N", help=what)


def check_engine(options: argparse.Namespace) -> None:
    """Refuse options that do not go together.

    :raises InvalidOption: if they do not.
    """
    if options.engine is None:
        _refuse(options, _ONLY_WITH_ENGINE, "given with --engine")
        return
    _refuse(options, _ONLY_WITHOUT, "left out with --engine")
    if not options.work:
        raise UnfitOption("--work", "missing", "a folder that all workers can write")
    if not options.pages:
        raise UnfitOption("PAGES", "missing", "files or folders that all workers can read")
    if "-" in options.pages:
        raise InvalidOption("PAGES", "-", "files or folders with --engine, which workers can read")
    if options.scheduler is not None:
        _refuse(options, ("workers",), "left out with --scheduler, which has workers of its own")
    if options.workers == 0:
        raise InvalidOption("--workers", 0, "1 or more with --engine")


def _refuse(options: argparse.Namespace, names: tuple[str, ...], expected: str) -> None:
    for name in names:
        value = getattr(options, name)
        if value is not None:
            raise InvalidOption(f"--{name}", value, expected)
