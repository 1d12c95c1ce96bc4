"""Looks up the policy that applies to a request."""

from __future__ import annotations

from scrapy.http import Request

from ..exceptions import InvalidOption
from ..reasons import Reason
from .items.item_origins import ItemOrigin, has_origins
from .monitoring.crawl_stats import CrawlStats
from .settings import META_KEY, Config, Policy, item_origin, request_policy


class RequestPolicies:
    """Reads the ``neardup`` key of requests' ``meta``."""

    def __init__(self, config: Config, stats: CrawlStats) -> None:
        self._config = config
        self._stats = stats

    def policy_of(self, request: Request | None) -> Policy | str:
        """Return the policy for a request, or the reason why it is not judged."""
        wish = None if request is None else request.meta.get(META_KEY)
        if wish is None:
            return self._config.policy
        try:
            return request_policy(self._config.policy, wish) or Reason.DISABLED
        except InvalidOption as error:
            # An exception would lose the page.
            self._stats.warn_once(
                Reason.BAD_META, "Cannot judge %s, keeping its items: %s", request, error
            )
            return Reason.BAD_META

    def item_origin(self, request: Request | None) -> ItemOrigin:
        """Return the ``item_origin`` option of a request; ``"auto"`` when it is invalid."""
        wish = None if request is None else request.meta.get(META_KEY)
        try:
            return item_origin(wish)
        except InvalidOption:
            return "auto"  # policy_of() warns of it

    def carries_item(self, request: Request | None) -> bool:
        """Return whether it carries an item that began on another page."""
        if request is None or self._config.item_field is not None:
            return False
        return self.item_origin(request) != "own" and has_origins(request)
