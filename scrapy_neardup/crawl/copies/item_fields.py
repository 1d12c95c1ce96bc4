"""Sets fields of items to what is known of their contents; see ``NEARDUP_ITEM_FIELDS``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from itemadapter.adapter import ItemAdapter

from ..monitoring.crawl_log import CrawlStats


def set_fields(item: Any, values: Mapping[str, Any], stats: CrawlStats) -> None:
    """Set fields of an item; one that its class does not have is counted, and warned of once."""
    adapter, refused = ItemAdapter(item), []
    for name, value in values.items():
        try:
            adapter[name] = value
        except Exception:
            # Item classes raise different errors; the item passes as it is.
            refused.append(name)
    if not refused:
        stats.count("item_fields/set")
        return
    stats.count("item_fields/unset")
    kind = type(item).__qualname__
    stats.warn_once(
        f"item fields of {kind}",
        "Cannot set %s (NEARDUP_ITEM_FIELDS) of items of class %s, which are kept without: declare "
        "these fields in the class (logged once for each class, counted in "
        "neardup/item_fields/unset)",
        ", ".join(refused),
        kind,
    )
