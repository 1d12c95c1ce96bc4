"""Formats the results of the quality benchmark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..common.options import say
from ..common.stored_pages import InputError
from ..common.tables import Table
from . import peers
from .detection import Hits, signing_detector
from .figures import (
    CrawlFigures,
    PairFigures,
    Share,
    Yardstick,
    is_wanted,
    other_names,
    other_posts,
    spread,
)
from .floors import Figure
from .known_pairs import Corpus, Label, Pair
from .summary import close_table, labels2_figures, summary_table
from .written_corpora import CorporaResult

_NOISE = 0.02


@dataclass(frozen=True)
class Result:
    """The results of the benchmark.

    :ivar by_extractor: what is hit by the texts of other extractors.
    """

    yardstick: Yardstick
    hits: Hits
    crawls: dict[str, CrawlFigures]
    by_extractor: dict[str, Hits]
    peers: dict[str, PairFigures]
    early: tuple[Corpus, Hits] | None
    corpora: CorporaResult


def tables(result: Result) -> list[Table]:
    return [
        summary_table(result.yardstick, result.hits, result.corpora),
        *([close_table(result.yardstick, result.hits)] if _is_closely_read(result) else []),
        *result.corpora.tables(),
        _pair_table(result),
        *([_extractor_table(result)] if result.by_extractor else []),
        _goal_table(result),
        _crawl_table(result),
    ]


def _is_closely_read(result: Result) -> bool:
    return bool(result.yardstick.corpus.close_readings)


def _pair_table(result: Result) -> Table:
    rule = signing_detector().rule
    table = Table(
        f"all pairs with at least 50 tokens on both sides ({len(result.yardstick.sites):,} pages)",
        ("detector", "finds J>=0.8", "finds J>=0.9", "hits J<0.5", "hits J<0.7", "hits"),
    )
    ours = f"scrapy-neardup, k = {rule.max_distance}, similarity from {rule.min_similarity}"
    rows = {ours: result.yardstick.of_pairs(result.hits)}
    for extractor, hits in result.by_extractor.items():
        rows[f"the same with extractor {extractor}"] = result.yardstick.of_pairs(hits)
    rows |= result.peers
    for name, f in rows.items():
        table.add(name, f.found_80, f.found_90, f.below_50, f.below_70, f.hits)
    deviations = result.yardstick.truth.deviations()
    if deviations.size:
        table.notes.append(
            f"J computed anew for {deviations.size:,} recorded pairs: off by "
            f"{deviations.mean():.4f} on average, {deviations.max():.4f} at most"
        )
    if result.peers:
        table.notes += (
            f"left out, because it cannot be imported: {peer.name} ({peer.trouble})"
            for peer in peers.PEERS
            if peer.trouble
        )
    return table


def _extractor_table(result: Result) -> Table:
    table = Table(
        "by extractor: pairs without lists and notices, and labels",
        (
            "extractor",
            "finds J>=0.8",
            "finds J>=0.9",
            "duplicates found",
            "distinct hit",
            "notices",
        ),
    )
    yardstick = result.yardstick
    for name, hits in {"trafilatura": result.hits, **result.by_extractor}.items():
        pairs = yardstick.of_pairs(hits, yardstick.is_article_pair)
        labels, notices = yardstick.of_labels(hits), len(yardstick.notices_merged(hits))
        table.add(name, pairs.found_80, pairs.found_90, labels.duplicates, labels.distinct, notices)
    return table


def _goal_table(result: Result) -> Table:
    table = Table("goals", ("figure", "measured", "goal"))
    yardstick = result.yardstick
    articles = yardstick.of_pairs(result.hits, yardstick.is_article_pair)
    table.add("no lists, no theme notice: J>=0.9 found", articles.found_90, ">= 0.99")
    table.add("no lists, no theme notice: J>=0.8 found", articles.found_80, ">= 0.97")
    everything = yardstick.of_pairs(result.hits)
    table.add("hits with J<0.5", everything.below_50, "read each")
    table.add("hits with J<0.7", Share(everything.below_70, everything.hits), "<= 0.01")
    for name, half, least, most in (
        ("all labels", None, 0.92, 0.04),
        ("labels, first half of the sites", 0, 0.85, 0.06),
        ("labels, second half of the sites", 1, 0.85, 0.06),
    ):
        labels = yardstick.of_labels(result.hits, half)
        table.add(f"{name}: duplicates with J>=0.6 found", labels.duplicates, f">= {least}")
        table.add(f"{name}: distinct hit", labels.distinct, f"<= {most}")
    table.add("blogs merged by the theme notice", len(yardstick.notices_merged(result.hits)), "0")
    if result.early:
        table.add("early-close: different posts merged", len(other_posts(*result.early)), "0")
        table.add("and lists of different names", _early_lists(result), "read each")
    table.add("pages dropped in random orders: spread", _spread(result), f"<= {_NOISE}")
    return table


def _early_lists(result: Result) -> int:
    assert result.early is not None
    return len(other_names(*result.early)) - len(other_posts(*result.early))


def _spread(result: Result) -> float:
    return spread(f.dropped for name, f in result.crawls.items() if name.startswith("random"))


def _crawl_table(result: Result) -> Table:
    table = Table(
        "checked one after the other",
        ("order", "dropped", "J<0.5", "J<0.7", "duplicates merged", "distinct merged", "notices"),
    )
    for name, f in result.crawls.items():
        table.add(name, f.dropped, f.below_50, f.below_70, f.duplicates, f.distinct, f.notices)
    return table


def listing(result: Result) -> list[str]:
    """Return the errors: hits of little resemblance, and hits that contradict labels."""
    yardstick, hits = result.yardstick, result.hits
    lines = ["", "hits with J<0.7"]
    lines += _described(result, [pair for _, pair in yardstick.unlike(hits)])
    for title, wrong in _wrong_labels(yardstick.corpus, hits).items():
        lines += ["", title]
        lines += _described(result, [x.pair for x in wrong], [x.reason for x in wrong])
    lines += ["", "no lists, no theme notice, J>=0.8, missed"]
    missed = [pair for pair in yardstick.truth.pairs(0.8) if pair not in hits]
    lines += _described(result, filter(yardstick.is_article_pair, missed))
    if result.early:
        early, early_hits = result.early
        lines += ["", "early-close pages of different names, merged"]
        merged = other_names(early, early_hits)
        lines += (f"  {early.urls[a]}\n    {early.urls[b]}" for a, b in merged)
    return lines + result.corpora.listing()


def _wrong_labels(corpus: Corpus, hits: Hits) -> dict[str, list[Label]]:
    """Labels that the hits contradict, by title."""
    labels, labels2 = corpus.labels, corpus.labels2
    return {
        "labelled distinct, hit": [x for x in labels if x.label == "distinct" and x.pair in hits],
        "labelled duplicate with J>=0.6, missed": [
            x for x in labels if is_wanted(x) and x.pair not in hits
        ],
        "labels2: distinct, hit": [x for x in labels2 if x.label == "distinct" and x.pair in hits],
        "labels2: duplicate, missed": [
            x for x in labels2 if x.label == "duplicate" and x.pair not in hits
        ],
    }


def _described(
    result: Result, pairs: Iterable[Pair], reasons: Sequence[str] | None = None
) -> list[str]:
    """Two or three lines a pair: ids, figures and, where there is one, the reader's reason."""
    corpus, lines = result.yardstick.corpus, []
    for place, (a, b) in enumerate(pairs):
        match = result.hits.get((a, b))
        judged = f"distance {match.distance}, similarity {match.similarity:.2f}" if match else "-"
        j = result.yardstick.truth.resemblance((a, b))
        reason = f"; {reasons[place]}" if reasons else ""
        lines.append(f"  {corpus.ids[a]} {corpus.ids[b]}  J {j:.2f}, {judged}{reason}")
        lines += (f"    {corpus.urls[page]}" for page in (a, b))
    return lines


def figures_of(result: Result) -> dict[str, Figure]:
    """The figures for which floors are kept."""
    yardstick, hits = result.yardstick, result.hits
    figures: dict[str, Figure] = {}

    def least(name: str, value: float) -> None:
        figures[name] = Figure(value, "at least")

    def most(name: str, value: float) -> None:
        figures[name] = Figure(value, "at most")

    for name, keep in (("all pairs", lambda _: True), ("articles", yardstick.is_article_pair)):
        for bar in (0.8, 0.9):
            right = yardstick.decided_rightly(hits, bar, keep)
            least(f"{name}: J>={bar} decided rightly", right.value)
    everything = yardstick.of_pairs(hits)
    most("hits with J<0.5", everything.below_50)
    most("hits with J<0.7", everything.below_70)
    for half, name in ((None, "labels"), (0, "labels, first half"), (1, "labels, second half")):
        labels = yardstick.of_labels(hits, half)
        least(f"{name}: duplicates found", labels.duplicates.value)
        most(f"{name}: distinct hit", labels.distinct.value)
    most("theme notice: pairs merged", len(yardstick.notices_merged(hits)))
    # Less than what counts as noise is no better than that.
    most("random orders: spread", max(_spread(result), _NOISE))
    crawls = result.crawls.values()
    least("worst order: duplicates merged", min(f.duplicates.value for f in crawls))
    most("worst order: distinct merged", max(f.distinct.value for f in crawls))
    most("worst order: dropped with J<0.5", max(f.below_50 for f in crawls))
    most("worst order: theme notices merged", max(f.notices for f in crawls))
    if result.early:
        most("early close: posts merged", len(other_posts(*result.early)))
    return figures | labels2_figures(yardstick, hits)


def content_of(result: Result, digest: str) -> dict[str, object]:
    """Return all figures and the hits of little resemblance as JSON data."""
    yardstick = result.yardstick
    ids = yardstick.corpus.ids
    return {
        "data": digest,
        "pairs": {"scrapy-neardup": asdict(yardstick.of_pairs(result.hits))}
        | {name: asdict(figures) for name, figures in result.peers.items()},
        "crawls": {name: asdict(figures) for name, figures in result.crawls.items()},
        "figures": {name: figure.value for name, figure in figures_of(result).items()},
        "hits with J<0.7": [
            {"id_a": ids[a], "id_b": ids[b], "jaccard": j, **asdict(result.hits[a, b])}
            for j, (a, b) in yardstick.unlike(result.hits)
        ],
    }


def write_json(content: Mapping[str, object], path: Path) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def show(measure: Callable[[], Table], markdown: Path | None) -> int:
    """Print a table, write it as Markdown if asked to, and return the command's exit status."""
    try:
        table = measure()
    except InputError as error:
        say(str(error))
        return 2
    print(table.as_text())
    if markdown:
        write_markdown([table], markdown)
    return 0


def write_markdown(written: Iterable[Table], path: Path) -> None:
    text = "\n\n".join(table.as_markdown() for table in written)
    path.write_text(text + "\n", encoding="utf-8")
