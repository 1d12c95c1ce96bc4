"""Finds all near-duplicates among stored pages of any number, stage by stage."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import Any

from xxhash import xxh3_64_hexdigest

from .._util.encoding import utf8
from .._util.validation import require_number
from ..exceptions import InputError, InvalidOption, WorkFolderTaken
from ..hashing.minhash import SKETCH_BINS
from ..sources.columns import Columns
from ..sources.record import BadRecords
from .engines import Engine, Task
from .folder import Report, WorkFolder
from .inputs import SPLIT_BYTES, Split, find_input
from .plan import CROWDED, Plan
from .stages import components, confirming, judging, proposing, signing, site_pages, stars
from .stages.keys import EXACT_DISTANCE, band_width, has_keys

#: Version of what the stages write; a folder of another one is refused.
_FORMAT = 1
_RUN = "run.json"
#: Rows of keys in a partition, about: 24 bytes each, and several times as much while they are
#: sorted.
_ROWS_OF_PARTITION = 1 << 22
#: Keys of a page, by a method, about.
_KEYS_OF_METHOD = 128
#: Of a small run of several splits.
_LEAST_PARTITIONS = 16

#: Called with a stage, the number of its tasks that are done, and of all.
Progress = Callable[[str, int, int], None]


@dataclass
class StageFigures:
    """Time and space that a stage has taken.

    :ivar core_seconds: processor time of all its tasks.
    :ivar rows: which it wrote for the next one.
    :ivar bytes: of these, compressed.
    """

    tasks: int = 0
    core_seconds: float = 0.0
    rows: int = 0
    bytes: int = 0


@dataclass
class Found:
    """The result of :func:`~scrapy_neardup.cluster.pairs`.

    :ivar pages: number of pages that were compared.
    :ivar replaced: number of pages of which a later one has the address.
    :ivar candidates: number of pairs that share a key and have near fingerprints.
    :ivar pairs: number of pairs that the rule accepts.
    :ivar clusters: number of clusters that these form, of ``members`` pages; the largest has
        ``largest``.
    :ivar kept: number of pages that stay: all but those of which a page that stays is a
        near-duplicate.
    :ivar undecided: number of pages that could not be compared, by reason.
    :ivar first_undecided: of each reason why one could not be read, URL and detail of the first.
    :ivar bad: number of unusable records, by reason, and where the first one is.
    :ivar passed_over: number of records that are no pages, by reason.
    :ivar crowded_keys: number of keys that so many pages have that not all pairs were compared.
    :ivar crowded_rows: number of pages of these keys, each counted for each key.
    :ivar stages: by name.
    """

    plan: Plan = field(repr=False)
    pages: int = 0
    replaced: int = 0
    candidates: int = 0
    pairs: int = 0
    clusters: int = 0
    members: int = 0
    largest: int = 0
    kept: int = 0
    undecided: Counter[str] = field(default_factory=Counter)
    first_undecided: dict[str, tuple[str, str]] = field(default_factory=dict)
    bad: BadRecords = field(default_factory=BadRecords)
    passed_over: Counter[str] = field(default_factory=Counter)
    crowded_keys: int = 0
    crowded_rows: int = 0
    stages: dict[str, StageFigures] = field(default_factory=dict)

    def pair_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the pairs, ordered by their pages, as ``scrapy neardup pairs`` writes them."""
        return components.pair_lines(self.plan)

    def cluster_lines(self) -> Iterator[dict[str, Any]]:
        """Yield the clusters, ordered by their first page."""
        return components.cluster_lines(self.plan)

    def kept_lines(self) -> Iterator[dict[str, Any]]:
        """Yield id and URL of each page that stays, in the order of the input."""
        return components.kept_lines(self.plan)


@dataclass(frozen=True)
class Options:
    """Options that say into which tasks a run is cut.

    :ivar partitions: parts that rows are sorted into; by the number of pages unless given.
    :ivar passes: times that keys are made and compared, a part of them each time: more take less
        space in the work folder.
    :ivar crowded: a key of more pages pairs each page with the 32 before it only, 32 or more.
    :ivar split_bytes: of the input that a task reads, about.
    :raises InvalidOption: when one is out of range.
    """

    partitions: int | None = None
    passes: int = 1
    crowded: int = CROWDED
    split_bytes: int = SPLIT_BYTES

    def __post_init__(self) -> None:
        if self.partitions is not None:
            require_number("partitions", self.partitions, int, 1)
        require_number("passes", self.passes, int, 1)
        require_number("crowded", self.crowded, int, proposing.WINDOW)
        require_number("split_bytes", self.split_bytes, int, 1)


def find_pairs(
    sources: Sequence[str],
    columns: Columns | None,
    plan: Plan,
    engine: Engine,
    *,
    options: Options,
    progress: Progress,
) -> Found:
    """Run all stages; those that the work folder has are not run again.

    :param plan: folder, rule and signer; the rest is filled in.
    :raises InputError: if the input cannot be read.
    :raises InvalidOption: if pages that the rule accepts need not share a key.
    :raises WorkFolderTaken: if the folder belongs to another run.
    :raises WorkFolderDamaged: if a file in it is missing or damaged.
    :raises EngineFailed: when the engine fails.
    """
    _require_keys(plan)
    plan, splits = enter(sources, columns, plan, options)
    run = _Run(plan.folder, engine, progress)
    # Only from here on it is known how many pages there are.
    signed = run.stage(
        signing.SIGNED,
        signing.sign,
        [(plan, number, split, columns) for number, split in enumerate(splits)],
    )
    if not any(report["pages"] or report["undecided"] for report in signed):
        raise InputError(", ".join(sources), "no page in it")
    plan = replace(plan, partitions=options.partitions or _partitions(plan, signed))
    found = Found(plan)
    _count_signed(found, signed)
    _find_accepted(run, plan, found)
    _find_clusters(run, plan, found)
    found.stages = run.figures
    return found


def _require_keys(plan: Plan) -> None:
    """Check that pages near enough for the rule, or the method, share keys.

    :raises InvalidOption: if they need not.
    """
    rule, method = plan.rule, plan.method
    if method is not None:
        if not has_keys(method):
            wanted = "one with keys: without them each page has to be compared with all others"
            raise InvalidOption("method", method.name, wanted)
    elif rule.max_distance > EXACT_DISTANCE and rule.min_similarity <= 0:
        raise InvalidOption(
            "min_similarity",
            rule.min_similarity,
            f"above 0 with a distance of {rule.max_distance}: pages are then found by what their "
            f"texts have in common. At a distance of {EXACT_DISTANCE} or less it can be 0",
        )


def _find_accepted(run: _Run, plan: Plan, found: Found) -> None:
    """Run the stages that follow the signing, and note what they find."""
    partitions, ranges = _each(plan, plan.partitions), _each(plan, plan.n_ranges)
    run.stage(signing.KEYS, signing.write_keys, ranges)
    replaced = run.stage(signing.REPLACED, signing.find_replaced, partitions, signing.KEYS)
    found.replaced = _sum(replaced, "replaced")
    found.pages -= found.replaced
    of_range = signing.REPLACED_OF_RANGE
    run.stage(of_range, signing.gather_replaced, ranges, signing.REPLACED)
    proposed = [_propose(run, plan, found, pass_) for pass_ in range(plan.passes)]
    joined = run.stage(confirming.JOINED, confirming.join_first, ranges, *proposed)
    found.candidates = _sum(joined, "candidates")
    run.stage(confirming.HOPEFUL, confirming.join_second, ranges, confirming.JOINED)
    run.stage(site_pages.SITES, site_pages.write_sites, ranges)
    spent = site_pages.SITES, confirming.SITES_NEEDED
    run.stage(site_pages.WANTED, site_pages.find_newest, partitions, *spent)
    run.stage(site_pages.SITE_PAGES, site_pages.fetch, ranges, site_pages.WANTED)
    spent = site_pages.SITE_PAGES, confirming.HOPEFUL
    run.stage(judging.ACCEPTED, judging.judge, partitions, *spent)
    spent = judging.ACCEPTED, confirming.ACCEPTED_AT_ONCE
    accepted = run.stage(judging.ACCEPTED_OF_RANGE, judging.sort_accepted, ranges, *spent)
    found.pairs = _sum(accepted, "pairs")


def _propose(run: _Run, plan: Plan, found: Found, pass_: int) -> str:
    """Run a pass over the keys, and return the stage that has its pairs."""
    rows = proposing.stage_of(proposing.ROWS, pass_)
    pairs = proposing.stage_of(proposing.PAIRS, pass_)
    run.stage(rows, proposing.write_rows, _each(plan, plan.n_ranges, pass_))
    tasks = _each(plan, plan.partitions, pass_)
    proposed = run.stage(pairs, proposing.propose, tasks, rows)
    found.crowded_keys += _sum(proposed, "crowded_keys")
    found.crowded_rows += _sum(proposed, "crowded_rows")
    return pairs


def _find_clusters(run: _Run, plan: Plan, found: Found) -> None:
    """Run the stages that follow the judging."""
    ranges = _each(plan, plan.n_ranges)
    last = stars.FORESTS
    run.stage(last, stars.grow_forests, ranges)
    known: tuple[int, int] | None = None
    for round_ in count():
        tasks = _each(plan, plan.partitions, round_)
        large = proposing.stage_of(stars.LARGE_STARS, round_)
        run.stage(large, stars.form_large_stars, tasks, last)
        last = proposing.stage_of(stars.SMALL_STARS, round_)
        formed = run.stage(last, stars.form_small_stars, tasks)
        before, known = known, (_sum(formed, "edges"), _sum(formed, "digest") % 2**64)
        if known == before:
            break
        run.remove(large)
    run.stage(stars.LABELS, stars.write_labels, tasks, large, last)
    run.stage(components.MEMBERS, components.name_members, ranges)
    spent = components.MEMBERS
    clusters = run.stage(components.CLUSTERS, components.sort_members, ranges, spent)
    found.clusters, found.members = _sum(clusters, "clusters"), _sum(clusters, "members")
    found.largest = max(report["largest"] for report in clusters)
    run.stage(components.LINKS, components.link_pairs, ranges, stars.LABELS)
    run.stage(components.REPRESENTED, components.find_represented, ranges, components.LINKS)
    kept = run.stage(components.KEPT, components.write_kept, ranges, components.REPRESENTED)
    found.kept = _sum(kept, "kept")


class _Run:
    """Runs stages and counts what they take."""

    def __init__(self, folder: WorkFolder, engine: Engine, progress: Progress) -> None:
        self.figures: dict[str, StageFigures] = {}
        self._folder = folder
        self._engine = engine
        self._progress = progress

    def stage(
        self,
        name: str,
        function: Callable[..., Report],
        arguments: Iterable[tuple[Any, ...]],
        *spent: str,
    ) -> list[Report]:
        """Run the tasks of a stage that are not done, and return the reports of all, in order.

        :param spent: stages that no later one reads; their files are removed then.
        """
        reports = self._folder.reports(name)
        tasks = [
            Task(self._folder, name, number, function, each)
            for number, each in enumerate(arguments)
        ]
        total = len(tasks)
        self._progress(name, len(reports), total)
        for number, report in self._engine.run([t for t in tasks if t.number not in reports]):
            reports[number] = report
            self._progress(name, len(reports), total)
        figures = self.figures[name] = StageFigures(total)
        for report in reports.values():
            figures.core_seconds += report["core_seconds"]
            figures.rows += report.get("rows", 0)
            figures.bytes += report.get("bytes", 0)
        for stage in spent:
            self.remove(stage)
        return [reports[number] for number in range(total)]

    def remove(self, stage: str) -> None:
        """Remove the files of a stage that no later one reads, which takes up space no more."""
        self._folder.remove_files(stage)


def enter(
    sources: Sequence[str], columns: Columns | None, plan: Plan, options: Options
) -> tuple[Plan, Sequence[Split]]:
    """Cut the input, and take the work folder, which must be empty or of the same run.

    :raises InputError: if the input cannot be read.
    :raises WorkFolderTaken: if the folder belongs to another run.
    """
    found = find_input(sources, options.split_bytes, columns)
    wanted = {
        "format": _FORMAT,
        "input": [list(each) for each in found.identity],
        "columns": dict(columns) if isinstance(columns, Mapping) else list(columns or ()),
        "recipe": plan.recipe,
        **asdict(plan.rule),
        **asdict(options),
    }
    run = xxh3_64_hexdigest(utf8(json.dumps(wanted, sort_keys=True)))
    known = plan.folder.read_json(_RUN)
    if known is None:
        others = [name for name in plan.folder.names() if name not in (run, _RUN)]
        if any(not name.startswith(f"{_RUN}.") for name in others):
            owner = f"is not empty, and no run began there: it has {others[0]!r}"
            raise WorkFolderTaken(plan.folder.url, f"{owner}. Give an empty folder, or a new one")
        plan.folder.write_json(_RUN, wanted)
        # Of several runs that came at once the last one has it.
        known = plan.folder.read_json(_RUN) or wanted
    if differing := [name for name in wanted if wanted[name] != known.get(name)]:
        raise WorkFolderTaken(
            plan.folder.url,
            f"belongs to another run: {', '.join(_difference(n, known, wanted) for n in differing)}"
            ". Give the same to go on with it, or another folder",
        )
    plan = replace(
        plan,
        folder=replace(plan.folder, run=run),
        n_splits=len(found.splits),
        passes=options.passes,
        crowded=options.crowded,
    )
    return plan, found.splits


def _difference(name: str, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    if name in ("input", "recipe"):
        return f"the {name} is another one"
    return f"{name} is {wanted[name]!r}, but was {known.get(name)!r}"


def _partitions(plan: Plan, signed: list[Report]) -> int:
    """Return how many partitions hold so many pages; enough for some workers to share the work."""
    keys = _KEYS_OF_METHOD if plan.method else SKETCH_BINS // band_width(plan.rule) + 2
    rows = _sum(signed, "pages") * keys // plan.passes
    return max(1 + rows // _ROWS_OF_PARTITION, min(plan.n_splits, _LEAST_PARTITIONS))


def _count_signed(found: Found, signed: list[Report]) -> None:
    found.pages = _sum(signed, "pages")
    for report in signed:
        for name in ("undecided", "bad", "passed_over"):
            getattr(found, name).update(report[name])
        found.bad.first = report["first_bad"] | found.bad.first
        found.first_undecided = report["first_undecided"] | found.first_undecided


def _each(plan: Plan, tasks: int, *rest: int) -> list[tuple[Any, ...]]:
    """Return the arguments of each task of a stage."""
    return [(plan, number, *rest) for number in range(tasks)]


def _sum(reports: list[Report], name: str) -> int:
    return sum(report[name] for report in reports)
