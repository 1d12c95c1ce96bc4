"""Digests of a whole page, by which equal pages are found, and pages that hold other files."""

from __future__ import annotations

from collections.abc import Callable

from .._util.encoding import utf8
from .._util.urls import is_list
from ..hashing import power_sums
from ..html.extraction import MainText
from ..html.links.addresses import places
from ..html.list_entries import ListedEntries
from ..text.idf import token_hashes
from .signature import (
    ENTRIES_SIZE,
    HELD,
    LED_TO_SIZE,
    LIST,
    NO_ENTRIES,
    NO_LIST,
    NO_WHOLE,
    SHOWN,
    WHOLE,
)

#: Version of the digests, for the recipe of signatures.
VERSION = "shown-15"


def shown_digest(
    url: str, page: MainText, shown: bytes, digest: Callable[[bytes], bytes], seed: int
) -> bytes:
    """Return the ``shown_digest`` of a signature; empty if only the text of a page is known.

    :param url: of the page.
    :param shown: its visible text, with single blanks.
    :param digest: returns 16 bytes.
    :param seed: key of the hashes of its other content, 64 bits.
    """
    if page.held is None:
        return b""
    whole = digest(page.whole)[WHOLE] if page.whole else NO_WHOLE
    digests = [whole, digest(shown)[SHOWN], digest(utf8(page.held))[HELD]]
    lines = page.held.split("\n") if page.held else []
    held = power_sums.power_sums(token_hashes(lines, seed))
    # Zeros if there are no files beside the page.
    led_to = places(page.relative, url, page.base)
    of_places = digest(utf8("\n".join(led_to))) if led_to else bytes(LED_TO_SIZE)
    flag = LIST if page.whole and is_list(url) else NO_LIST
    entries = NO_ENTRIES
    if page.listed is not None:
        entries = digest(utf8(_listed(page.listed)))[:ENTRIES_SIZE]
    return b"".join((*digests, flag, held, of_places[:LED_TO_SIZE], entries))


def _listed(listed: ListedEntries) -> str:
    """Return a list as one text, which does not depend on the order of its entries."""
    entries = {"\n".join((address, text, *lines)) for address, text, lines in listed.entries}
    return "\n\n".join((listed.text, *sorted(entries)))
