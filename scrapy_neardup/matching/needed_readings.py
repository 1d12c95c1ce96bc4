"""Tells what has to be read of a page and its possible originals before they are compared.

Of a page that may be a copy of pages of other sites only, the facts are not needed: only pages of
one site are compared by these, and to read them takes a large part of a full reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..signatures.signature import PageSignature


class NeededReadings(NamedTuple):
    """The pages to be read before a page is judged.

    :ivar must_read: whether the page itself is one of them.
    :ivar unread: keys of the stored pages among them.
    :ivar needs_facts: whether their facts have to be read as well.
    """

    must_read: bool
    unread: tuple[str, ...]
    needs_facts: bool

    @property
    def is_none(self) -> bool:
        """Whether nothing has to be read."""
        return not (self.must_read or self.unread)


def needed_readings(
    page: PageSignature,
    originals: Iterable[PageSignature],
    *,
    suffice: bool,
    reads_facts_late: bool,
) -> NeededReadings:
    """Return what has to be read of a page and of the stored pages that may have its content.

    :param suffice: whether a page without possible originals can be judged by its passages alone.
    :param reads_facts_late: whether facts may be left out at first.
    """
    others = list(originals)
    of_site = [other for other in others if other.site == page.site]
    unread = {other.key for other in others if other.can_still_be_read}
    unread |= {other.key for other in of_site if other.awaits_facts}
    lacks_text = not page.is_read and (bool(others) or not suffice)
    must_read = lacks_text or (page.awaits_facts and bool(of_site))
    return NeededReadings(must_read, tuple(unread), bool(of_site) or not reads_facts_late)


def needed_facts(page: PageSignature, stored: PageSignature) -> NeededReadings:
    """Return what has to be read of two pages that agree, of which one lacks its facts."""
    unread = (stored.key,) if stored.awaits_facts else ()
    return NeededReadings(page.awaits_facts, unread, needs_facts=True)
