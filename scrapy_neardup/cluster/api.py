"""The function that users call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..exceptions import InvalidOption
from ..matching.rule import Rule
from ..methods import Method
from ..signatures.signer import OFFLINE_KEY, Signer
from ..sources.columns import Columns, check_columns
from ..workers import Limits
from .engines import DaskEngine, Engine
from .folder import WorkFolder, as_local_path
from .plan import Plan
from .run import Found, Options, Progress, find_pairs


def pairs(
    pages: Sequence[str],
    work: str,
    *,
    client: Any = None,
    engine: Engine | None = None,
    rule: Rule | None = None,
    signer: Mapping[str, Any] | None = None,
    method: str | Method | None = None,
    limits: Limits | None = None,
    columns: Columns | None = None,
    options: Options | None = None,
    progress: Progress = lambda *_: None,
) -> Found:
    """Find all pairs of near-duplicates among stored pages, and the clusters that they form.

    They are those of ``scrapy neardup pairs``, but for keys of more pages than ``options.crowded``
    and for fewer than one of a thousand pairs, at the rule's least similarity, without a common
    band of the sketch.

    :param pages: files and folders, local or by URL, which all workers can read.
    :param work: folder, local or by URL, which all workers can write; a run that was ended goes on
        from what is in it. It is not removed.
    :param client: a ``distributed.Client``; its workers need this package.
    :param engine: runs the tasks instead of a client.
    :param rule: decides which pages are copies; the default rule unless given.
    :param signer: picklable arguments of a :class:`~scrapy_neardup.signatures.signer.Signer`.
    :param method: ``"NAME[:PARAMETERS]"`` of a method with keys, or the method, that judges in
        place of the rule; of the rule, ``scope`` and ``min_features`` count then.
    :param limits: of time and memory for the reading of one page.
    :param columns: fields in the order of the columns of CSV and TSV files without a header; or the
        names of columns of Parquet files and in headers, by field: ``{"url": "link"}``.
    :param progress: called with a stage, the number of its tasks that are done, and of all.
    :raises InputError: if the pages cannot be read.
    :raises InvalidOption: for ``pages``, ``columns``, or a rule whose pairs need not share a key.
    :raises TypeError: unless exactly one of ``client`` and ``engine`` is given.
    :raises WorkFolderTaken: if the folder belongs to another run.
    :raises WorkFolderDamaged: if a file in it is missing or damaged.
    :raises EngineFailed: if the engine fails; the same call goes on from there.
    """
    if (client is None) == (engine is None):
        raise TypeError("pairs() needs either a client or an engine")
    plan = _plan(work, rule or Rule(), _arguments(signer or {}, method), limits or Limits())
    pages, columns, runs = _listed(pages), _checked(columns), engine or DaskEngine(client)
    return find_pairs(pages, columns, plan, runs, options=options or Options(), progress=progress)


def _listed(pages: Sequence[str]) -> Sequence[str]:
    if isinstance(pages, str):
        raise InvalidOption("pages", pages, f"a list of files and folders, such as [{pages!r}]")
    return pages


def _checked(columns: Columns | None) -> Columns | None:
    """Return the columns, as JSON and pickle have them."""
    if columns is None:
        return None
    try:
        check_columns(columns)
    except ValueError as error:
        raise InvalidOption("columns", columns, f"names of fields: {error}") from None
    return dict(columns) if isinstance(columns, Mapping) else list(columns)


def _arguments(signer: Mapping[str, Any], method: str | Method | None) -> dict[str, Any]:
    """Return the arguments of the signer."""
    arguments = {"secret": OFFLINE_KEY, **signer}
    if method is not None:
        arguments["method"] = method
    return arguments


def _plan(work: str, rule: Rule, arguments: Mapping[str, Any], limits: Limits) -> Plan:
    """Return what is known of a run before its input is."""
    signer = Signer(**arguments)
    # Workers may run in another folder.
    folder = WorkFolder(as_local_path(work) or work)
    return Plan(folder, rule, arguments, signer.recipe, signer.method, limits, n_splits=0)
