"""The summary table: a dozen figures of the detector."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from scrapy_neardup.matching.verdict import Match

from ..common.tables import Table
from .figures import Share, Yardstick, share, wilson
from .floors import Figure
from .forms import SITUATIONS
from .known_pairs import Label, Pair
from .written_corpora import CorporaResult

#: Rows of the table of close readings; 0 is the rule as it is.
_LEAST_SIMILARITIES = 0.0, 0.8, 0.85, 0.9, 0.95
_INTERVAL_NOTE = (
    "The intervals (Wilson) take pairs as independent. The random sample is of what an earlier "
    "version of the rule dropped; what has been hit only since then was not read."
)


def summary_table(yardstick: Yardstick, hits: Collection[Pair], corpora: CorporaResult) -> Table:
    """Return the table."""
    table = Table("in short", ("figure", "measured", "95 % interval"))
    if yardstick.corpus.labels2:
        _add_precision(table, yardstick, hits)
        table.notes.append(_INTERVAL_NOTE)
        distinct = labelled_distinct(yardstick, hits)
        table.add("pairs that readers called distinct: hit", distinct, "")
    first = yardstick.of_labels(hits).duplicates
    table.add("labels: duplicates with J>=0.6 found", first, "")
    if yardstick.corpus.labels2:
        table.add("labels2: all duplicates found", yardstick.of_labels2(hits).duplicates, "")
    articles = yardstick.of_pairs(hits, yardstick.is_article_pair)
    table.add("no lists, no theme notice: J>=0.9 found", articles.found_90, "")
    table.add("no lists, no theme notice: J>=0.8 found", articles.found_80, "")
    for least in (0.9, 0.8):
        right = yardstick.decided_rightly(hits, least, yardstick.is_article_pair)
        table.add(f"no lists, no theme notice: J>={least} decided rightly", right, "")
    table.notes.append("Decided rightly: found, or kept where readers saw distinct pages.")
    table.add("hits with J<0.5", yardstick.of_pairs(hits).below_50, "")
    for situation in SITUATIONS:
        dropped = corpora.forms.dropped(situation)
        table.add(f"different pages of a form dropped, {situation}", dropped, "")
    pairs = f"{corpora.copies.found():.3f} ({len(corpora.copies.outcomes):,} pairs)"
    table.add("disguised copies found, mean over disguises", pairs, "")
    return table


def close_table(yardstick: Yardstick, hits: Mapping[Pair, Match]) -> Table:
    """Return how many pairs that two readers compared line by line are hit, by similarity."""
    table = Table(
        "pairs that two readers compared line by line",
        (
            "similarity from",
            "both called them duplicates: hit",
            "both called them distinct: hit",
            "no lists, no theme notice: J>=0.8 found",
        ),
    )
    readings = yardstick.corpus.close_readings
    for least in _LEAST_SIMILARITIES:
        found = {pair for pair, match in hits.items() if match.similarity >= least}
        duplicate, distinct = (
            share((pair for pair, verdict in readings.items() if verdict == wanted), found)
            for wanted in ("duplicate", "distinct")
        )
        articles = yardstick.of_pairs(found, yardstick.is_article_pair)
        table.add(f"{least:.2f}" if least else "the rule", duplicate, distinct, articles.found_80)
    table.notes.append(
        "Distinct: one page states something that the other does not. The pairs are hits of an "
        "earlier version of the rule, most of those with a similarity below 0.8 and a random "
        "sample of the others, and missed pairs; none of them is labelled distinct."
    )
    return table


def _add_precision(table: Table, yardstick: Yardstick, hits: Collection[Pair]) -> None:
    samples: dict[str, Callable[[Label], bool]] = {
        "hits that readers saw: called duplicate": lambda _: True,
        "the same without those called unclear": _is_clear,
        "random sample of drops, still hit: called duplicate": _is_sample,
        "the same without those called unclear ": lambda x: _is_sample(x) and _is_clear(x),
    }
    for name, keep in samples.items():
        precision = yardstick.called_duplicate(hits, keep)
        low, high = wilson(*precision)
        table.add(name.rstrip(), precision, f"{low:.3f} to {high:.3f}")


def _is_clear(label: Label) -> bool:
    return label.label != "unclear"


def _is_sample(label: Label) -> bool:
    return label.drawn_from == "hit"


def labelled_distinct(yardstick: Yardstick, hits: Collection[Pair]) -> Share:
    """Return how many pairs that either file of labels calls distinct are hit."""
    parts = yardstick.of_labels(hits).distinct, yardstick.of_labels2(hits).distinct
    return Share(sum(part.part for part in parts), sum(part.whole for part in parts))


def labels2_figures(yardstick: Yardstick, hits: Collection[Pair]) -> dict[str, Figure]:
    """Return the figures that need labels2.csv; none where there is no such file."""
    if not yardstick.corpus.labels2:
        return {}
    found = yardstick.of_labels2(hits).duplicates.value
    precision = yardstick.called_duplicate(hits).value
    return {
        "labels2 duplicates found": Figure(found, "at least"),
        "labels and labels2 distinct hit": Figure(
            labelled_distinct(yardstick, hits).part, "at most"
        ),
        "labels and labels2 hits called duplicate": Figure(precision, "at least"),
    }
