"""Signals that the package sends.

``page_judged(verdict, response, spider)`` is sent after a page was judged, before its first item or
request is passed on. ``item_judged(verdict, item, response, spider)`` is sent after an item was
judged, when ``NEARDUP_ITEM_FIELD`` is set. ``verdict`` is a :class:`~scrapy_neardup.Verdict`.

``duplicate_flood_detected(cluster, spider)`` is sent when many pages are duplicates of one page,
once for each such page. ``cluster`` is a
:class:`~scrapy_neardup.crawl.monitoring.duplicate_floods.DuplicateFlood`.

``soft_404_found_late(verdict, spider)`` is sent for each page that turned out to be a soft 404
after it was judged, when ``NEARDUP_SOFT_404`` is set.
"""

page_judged = object()
item_judged = object()
duplicate_flood_detected = object()
soft_404_found_late = object()
