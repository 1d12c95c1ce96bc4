"""What the log says of a crawl at its beginning and at its end."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from .config import Config
from .detector import NearDupDetector
from .exceptions import StoreError
from .stores import Store

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger("scrapy_neardup")

_DOING = {"drop": "Dropping", "tag": "Tagging", "report": "Reporting"}


def say_begin(config: Config, detector: NearDupDetector) -> None:
    """What will be done, by which rule, and what is known already."""
    policy, rule, store = config.policy, config.policy.rule, detector.store
    if store.forgotten:
        logger.warning(
            "The last run did not end cleanly: %d pages are forgotten of which nobody knows "
            "whether they reached the disk; they are stored again when they are met",
            store.forgotten,
        )
    logger.info(
        "%s near-duplicate %s: max_distance %d, min_similarity %s, min_features %d, scope %s, "
        "links %s, revisit %s; %s; store %s, %d pages known",
        _DOING[policy.action],
        f"items by field {config.item_field}" if config.item_field else "pages",
        rule.max_distance,
        rule.min_similarity,
        rule.min_features,
        rule.scope,
        policy.links,
        policy.revisit,
        ", ".join(f"{part} {name}" for part, name in detector.signer.parts.items()),
        store.name,
        len(store),
    )


def say_end(config: Config, stats: StatsCollector, store: Store) -> None:
    """What was done, as the stats have it."""
    judged = "judged_items" if config.item_field else "pages"
    logger.info(
        "Judged %s: %s; undecided for: %s; passed over: %s; items: %s; %s remembered",
        judged.replace("judged_", ""),
        *(_summary(stats, group) for group in (judged, "undecided", "skipped", "items")),
        _size_of(store),
    )


def _summary(stats: StatsCollector, group: str) -> str:
    prefix = f"neardup/{group}/"
    counts = {
        name.removeprefix(prefix): value
        for name, value in stats.get_stats().items()
        if name.startswith(prefix)
    }
    return ", ".join(f"{name} {counts[name]}" for name in sorted(counts)) or "none"


def _size_of(store: Store) -> str:
    """How many pages it holds, when it can be asked."""
    try:
        return str(len(store))
    except StoreError:
        return "an unknown number"
