"""URLs that led to a duplicate in this crawl."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from ...stores.hints import MAX_KNOWN
from .stored_duplicate_urls import MANY, Shown, Standing


@dataclass(slots=True, eq=False)
class _Original:
    """An original of copies.

    :ivar copies: number of URLs that are known to lead to it.
    :ivar met: the last event at which its own URL showed its content; 0 for never.
    :ivar confirmed: the last event at which a known copy led to it again; 0 for never.
    :ivar is_doubted: did one of its URLs show what could not be judged?
    """

    digest: int
    content: int
    copies: int = 0
    met: int = 0
    confirmed: int = 0
    is_doubted: bool = False
    is_ended: bool = False


#: Of URLs that are fetched again whatever they led to.
_NO_ORIGINAL = _Original(0, 0, is_ended=True)


class _Copy(NamedTuple):
    """A URL that led to a duplicate.

    :ivar led_at: seconds since 1970.
    :ivar event: number of the event.
    """

    led_at: float
    event: int
    original: _Original

    @property
    def is_believed(self) -> bool:
        """Was the content seen again since, where it must be?"""
        original = self.original
        is_confirmed = original.copies < MANY or original.confirmed > self.event
        return is_confirmed and original.met > self.event and not original.is_doubted


class NewDuplicateUrls:
    """Digests of URLs with what they led to; events of the crawl are numbered.

    It has a method for each thing that a page may show of a URL or of its original.

    :ivar originals: by their digests.
    """

    def __init__(self) -> None:
        self._copies: OrderedDict[int, _Copy] = OrderedDict()
        self.originals: dict[int, _Original] = {}
        self._events = 0

    def __len__(self) -> int:
        return len(self._copies)

    def standing(self, digest: int, since: int) -> Standing | None:
        """Return what is known of a URL; ``None`` if it did not lead to a duplicate.

        :param since: in seconds since 1970: what was seen before is unknown.
        """
        if (copy := self._copies.get(digest)) is None:
            return None
        if copy.led_at < since or copy.original.is_ended:
            return "unknown"
        return "superfluous" if copy.is_believed else "copy"

    def shown(self, digest: int) -> Shown | None:
        """Return what a URL led to, unless that has ended."""
        copy = self._copies.get(digest)
        if copy is None or copy.original.is_ended:
            return None
        return Shown(copy.original.digest, copy.original.content)

    def __contains__(self, digest: int) -> bool:
        return digest in self._copies

    def originals_with(self, content: int) -> list[int]:
        return [one.digest for one in self.originals.values() if one.content == content]

    def add(self, digest: int, shown: Shown, led_at: float) -> int:
        """Add a URL, and return the number of the event."""
        original = self.originals.get(shown.original)
        if original is None:
            original = self.originals[shown.original] = _Original(*shown)
        original.copies += 1
        event = self._next_event()
        self._copies[digest] = _Copy(led_at, event, original)
        if len(self._copies) > MAX_KNOWN:
            self.forget(next(iter(self._copies)))
        return event

    def keep_fetching(self, digest: int) -> int | None:
        """Let a URL be fetched whatever it led to, and return the event of what it led to.

        ``None`` where there is none.
        """
        copy = self._copies.get(digest)
        if copy is None or copy.original is _NO_ORIGINAL:
            return None
        self.forget(digest)
        self._copies[digest] = copy._replace(original=_NO_ORIGINAL)
        return copy.event

    def is_kept_fetching(self, digest: int) -> bool:
        copy = self._copies.get(digest)
        return copy is not None and copy.original is _NO_ORIGINAL

    def row(self, digest: int, event: int) -> tuple[int, int, int] | None:
        """Return digest, original and content of what a URL led to at an event, if still known."""
        copy = self._copies.get(digest)
        if copy is None or copy.event != event or copy.original.is_ended:
            return None
        return digest, copy.original.digest, copy.original.content

    def forget(self, digest: int) -> None:
        if (copy := self._copies.pop(digest, None)) is None:
            return
        original = copy.original
        original.copies -= 1
        if not original.copies and self.originals.get(original.digest) is original:
            del self.originals[original.digest]

    # --- what originals show ----------------------------------------------------------------

    def meet(self, shown: Shown) -> None:
        """Note that an original's URL showed its content."""
        original = self.originals.get(shown.original)
        if original is not None and original.content == shown.content:
            original.met = self._next_event()

    def confirm(self, digest: int) -> None:
        """Note that a URL led again to what it is known to lead to."""
        self._copies[digest].original.confirmed = self._next_event()

    def doubt(self, original: int) -> None:
        """Believe nothing that leads to an original any more."""
        if (known := self.originals.get(original)) is not None:
            known.is_doubted = True

    def end(self, original: int) -> bool:
        """Forget all that leads to an original, and return whether there was anything."""
        if (known := self.originals.pop(original, None)) is None:
            return False
        known.is_ended = True
        return True

    def _next_event(self) -> int:
        self._events += 1
        return self._events
