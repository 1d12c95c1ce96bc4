"""Signals that the package sends.

``page_judged(verdict, response, spider)`` after each judgement of a page, before its first
item or link goes on; ``item_judged(verdict, item, response, spider)`` after each judgement
of an item, when ``NEARDUP_ITEM_FIELD`` is set. ``verdict`` is a
:class:`~scrapy_neardup.Verdict`.

``duplicate_flood_detected(cluster, spider)`` when one page stands in the place of many, once for
each such page. ``cluster`` is a
:class:`~scrapy_neardup.crawl.monitoring.duplicate_floods.DuplicateFlood`.
"""

page_judged = object()
item_judged = object()
duplicate_flood_detected = object()
