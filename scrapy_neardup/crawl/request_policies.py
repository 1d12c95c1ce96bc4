"""Reads the options of single requests, in ``request.meta["neardup"]``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrapy.http import Request

from ..exceptions import InvalidOption
from ..reasons import Reason
from .items.item_origins import ItemOrigin, has_origins
from .monitoring.crawl_stats import CrawlStats
from .settings import META_KEY, Config, Policy, parse_switch, require_choice

#: The option that is not part of the policy, and its values.
_ITEM_ORIGIN, _ITEM_ORIGINS = "item_origin", ("auto", "parent", "own")


class RequestPolicies:
    """Looks up the policy that applies to a request."""

    def __init__(self, config: Config, stats: CrawlStats) -> None:
        self._config = config
        self._stats = stats

    def policy_of(self, request: Request | None) -> Policy | str:
        """Return the policy for a request, or the reason why it is not judged."""
        options = _options_of(request)
        if options is None:
            return self._config.policy
        try:
            return self._policy_with(options)
        except InvalidOption as error:
            # An exception would lose the page.
            self._stats.warn_once(
                Reason.BAD_META, "Cannot judge %s, keeping its items: %s", request, error
            )
            return Reason.BAD_META

    def item_origin(self, request: Request | None) -> ItemOrigin:
        """Return the ``item_origin`` option of a request; ``"auto"`` when it is invalid."""
        options = _options_of(request)
        origin = options.get(_ITEM_ORIGIN) if isinstance(options, Mapping) else None
        return origin if origin in _ITEM_ORIGINS else "auto"

    def filter_policy(self, request: Request | None) -> Policy | None:
        """Return the policy by which a request may be refused; ``None`` where it may not."""
        policy = self.policy_of(request)
        return None if isinstance(policy, str) or self.carries_item(request) else policy

    def carries_item(self, request: Request | None) -> bool:
        """Return whether it carries an item that began on another page."""
        if request is None or self._config.item_field is not None:
            return False
        return self.item_origin(request) != "own" and has_origins(request)

    def _policy_with(self, options: Any) -> Policy | str:
        """Return the policy for a request with these options.

        :param options: a mapping, or a switch.
        :raises InvalidOption: when they are neither, or one of them is invalid.
        """
        name = f"request.meta[{META_KEY!r}]"
        if not isinstance(options, Mapping):
            return self._config.policy if parse_switch(name, options) else Reason.DISABLED
        policy_options = dict(options)
        try:
            require_choice(_ITEM_ORIGIN, policy_options.pop(_ITEM_ORIGIN, "auto"), _ITEM_ORIGINS)
            return self._config.policy.changed(policy_options)
        except InvalidOption as error:
            raise error.renamed(f"{name}[{error.option!r}]") from None


def _options_of(request: Request | None) -> Any:
    return None if request is None else request.meta.get(META_KEY)
