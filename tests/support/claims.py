"""Claims and commits a page in a store, as a crawl does when storing succeeds at once."""

from __future__ import annotations

from scrapy_neardup import Rule, Verdict
from scrapy_neardup.signatures.signature import PageSignature
from scrapy_neardup.stores import Store


def met(store: Store, page: PageSignature, rule: Rule) -> Verdict:
    """The verdict on a page, which is remembered unless it is a duplicate."""
    claim = store.claim(page, rule)
    assert not claim.is_blocked
    if claim.ticket is not None:
        store.commit(claim.ticket)
    return claim.verdict
