"""Finds pages that quote others (``--containment``)."""

from __future__ import annotations

from ..._util.wording import quantity
from ...methods.containment import Containment, ContainmentIndex
from ...signatures.signature import PageSignature
from ...workers import Reading, sign_and_read
from .output import print_message


class Quotes:
    """Finds, for one page after the other, the page before it that it shares the most text with.

    :param min_share: of the shorter text, above 0 and at most 1.
    :ivar found: what was found for the last page.
    """

    job = sign_and_read(keep_text=False, fingerprint=True)

    def __init__(self, min_share: float) -> None:
        self._index = ContainmentIndex[str](min_share)
        self._last = ("", b"")
        self.found: Containment | None = None
        self._n_found = 0

    def look_up(self, page: tuple[PageSignature, Reading] | None) -> None:
        """Look a page up; ``None`` for one that cannot be read."""
        if page is None:
            self._last, self.found = ("", b""), None
            return
        signature, reading = page
        self._last = signature.url, reading.fingerprints
        self.found = self._index.largest(reading.fingerprints, but=signature.url)
        self._n_found += self.found is not None

    def store(self) -> None:
        """Let later pages be compared with the last one."""
        if self._last[1]:
            self._index.add(*self._last)

    def begin_counting(self) -> None:
        """Count from now on what is found."""
        self._n_found = 0

    def report(self) -> None:
        """Print what was found."""
        message = f"{quantity(self._n_found, 'page')} contained in another, or containing one"
        if self._index.n_dropped:
            message += f"; the oldest {quantity(self._index.n_dropped, 'page')} were not compared"
        print_message(message)
