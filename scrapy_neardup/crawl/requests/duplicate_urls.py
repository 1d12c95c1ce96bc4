"""URLs that led to a duplicate, in this crawl and in earlier ones, by their digests.

What a URL led to holds for a content, not for an address. So each URL is bound to its original and
to the text that was stored for the original then. It is believed only after this crawl has seen the
original's own address show that same text, and for as long as nothing speaks against it:

- a page fetched from the original's address shows something else, or
- a page fetched from any address known to lead to a duplicate of it shows something else, or
- that text stands in the place of many pages.

Each of these ends all that is known of the original, for later crawls as well.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from xxhash import xxh3_64_intdigest

from ..._util.urls import page_key
from ...matching.verdict import Verdict
from ...stores.hints import COPY, MAX_KNOWN, ending_of, ending_of_copy, without_ended
from .stored_duplicate_urls import CONFIRMED, DOUBTED, ENDED, MANY, MET, Shown, StoredDuplicateUrls

Standing = Literal["unknown", "copy", "superfluous"]

#: Texts that stood in the place of many pages; of more, the oldest are let go.
_MAX_FLOODS = 10_000
#: Clocks of crawls that share a store may differ by so many seconds.
_MAX_SKEW = 3600


class Unsaved(NamedTuple):
    """What a store is to be told, see :meth:`~scrapy_neardup.stores.base.Store.note_duplicates`.

    :ivar rows: of type :data:`~scrapy_neardup.stores.hints.COPY`, shape ``(n,)``.
    :ivar seen_at: seconds since 1970.
    """

    rows: npt.NDArray[np.void]
    seen_at: int
    endings: list[tuple[int, int, int]]
    copies: list[tuple[int, int, int]]


class DuplicateUrls:
    """Digests of canonical URLs, with the time when each led to a duplicate last.

    :param ttl: seconds for which that is believed; with 0 nothing is.
    :param now: the time in seconds since 1970.
    :param explore: share of the URLs that are believed, 0.0 to 1.0, for which :meth:`explores` is
        true; other ones in each crawl.
    """

    def __init__(self, ttl: float, now: Callable[[], float], explore: float = 0.0) -> None:
        self._ttl = ttl
        self._now = now
        self._explored_below = round(explore * 2**64)
        self._seed = 0
        self._hasher = _hasher(b"")
        self._loaded = StoredDuplicateUrls(np.empty(0, COPY), np.empty(0, np.uint32))
        self._own: OrderedDict[int, _Copy] = OrderedDict()
        self._originals: dict[int, _Original] = {}
        #: Counts what happens in this crawl.
        self._events = 0
        self._floods: OrderedDict[int, None] = OrderedDict()
        #: Marks of the store, digests and events of copies.
        self._unsaved: deque[tuple[int, int, int]] = deque(maxlen=MAX_KNOWN)
        self._endings: dict[tuple[int, int, int], None] = {}
        #: Event of the last copy that was taken to be saved.
        self._taken = 0
        self._last_noted = 0

    def open(self, secret: bytes, known: npt.NDArray[np.void]) -> None:
        """Begin with what earlier crawls knew.

        :param secret: of the store.
        :param known: see :meth:`~scrapy_neardup.stores.base.Store.known_duplicates`.
        """
        self._hasher = _hasher(blake2b(key=secret, person=b"neardup-known").digest())
        now = self._now()
        self._seed = (int.from_bytes(secret[-8:], "little") + int(1000 * now)) % 2**64
        times = known["seen_at"]
        self._last_noted = int(times[times <= now + _MAX_SKEW].max(initial=0))
        copies = without_ended(known)
        self._loaded = StoredDuplicateUrls(copies, copies["seen_at"])

    @property
    def since(self) -> int:
        """What was seen before, in seconds since 1970, is believed no more."""
        return max(0, int(self._now() - self._ttl))

    # --- asking -----------------------------------------------------------------------------

    def __contains__(self, url: str) -> bool:
        """Does it lead to a duplicate, as far as this crawl can know?"""
        return self.standing(url) == "superfluous"

    def standing(self, url: str) -> Standing:
        """``"superfluous"`` if it is contained, and ``"copy"`` if it only may be before long."""
        if not (self._ttl and (self._own or self._loaded)):
            return "unknown"
        digest = self._digest(url)
        if (copy := self._own.get(digest)) is not None:
            if copy.led_at < self.since or copy.original.is_ended:
                return "unknown"
            return "superfluous" if copy.is_believed else "copy"
        at = self._loaded.find(digest)
        if at is None or self._loaded.seen_at[at] < self.since or self._loaded.is_ended(at):
            return "unknown"
        return "superfluous" if self._loaded.is_believed(at) else "copy"

    def explores(self, url: str) -> bool:
        """Is it one of those that are fetched all the same? The answer is one in a whole crawl."""
        digest = self._digest(url).to_bytes(8, "little")
        return xxh3_64_intdigest(digest, self._seed) < self._explored_below

    # --- what pages show --------------------------------------------------------------------

    def judged(self, verdict: Verdict, urls: Iterable[str] = ()) -> None:
        """A page was fetched: confirm or end what is known of the addresses that led to it.

        A page that could not be judged ends it for this crawl only.

        :param urls: of its request, and of those that were redirected to it.
        """
        if not (self._originals or self._loaded):
            return
        page = self._digest(verdict.url)
        shown = self._shown(verdict)
        end = self._doubt if verdict.kind == "undecided" else self._end
        for digest in dict.fromkeys((page, *map(self._digest, urls))):
            if shown is None or shown.original != digest:
                end(digest)
            elif digest == page:
                self._meet(shown)
            # Else it redirects to a copy of what it showed itself, which says nothing new.
            if (known := self._known_of(digest)) is None:
                continue
            if known == shown:
                self._confirm(digest, shown)
            else:
                end(known.original)

    def passed(self, urls: Iterable[str]) -> None:
        """A document was fetched from these addresses that is not judged, such as a PDF."""
        for digest in map(self._digest, urls):
            self._end(digest)
            if (known := self._known_of(digest)) is not None:
                self._end(known.original)

    def flood(self, text: bytes) -> None:
        """A text stands in the place of many pages: what leads to it is neither kept nor learned.

        :param text: its digest, see :attr:`~scrapy_neardup.matching.rule.Verdict.original_text`.
        """
        content = _content(text)
        if content in self._floods:
            return
        self._floods[content] = None
        if len(self._floods) > _MAX_FLOODS:
            self._floods.popitem(last=False)
        of_own = [one.digest for one in self._originals.values() if one.content == content]
        for original in (*of_own, *self._loaded.originals_with(content)):
            self._end(original)

    def add(self, url: str, verdict: Verdict, mark: int = 0) -> None:
        """It led to a duplicate just now.

        :param mark: of the store, behind the original: see :meth:`take_unsaved`.
        """
        shown = self._shown(verdict)
        digest = self._digest(url)
        if not self._ttl or shown is None or shown.original == digest:
            return
        if shown.content in self._floods or self._is_way(digest):
            return
        self._forget(digest)
        original = self._originals.get(shown.original)
        if original is not None and original.content != shown.content:
            # Another crawl stored it anew.
            self._end(shown.original)
            original = None
        if original is None:
            original = self._originals[shown.original] = _Original(*shown)
        original.copies += 1
        self._own[digest] = _Copy(self._now(), self._next_event(), original)
        self._unsaved.append((mark, digest, self._events))
        if len(self._own) > MAX_KNOWN:
            self._forget(next(iter(self._own)))

    def leads_on(self, urls: Iterable[str]) -> None:
        """A page from there was a duplicate, and the first in this crawl to name some address.

        They are fetched again in later crawls: to refuse them would cost what stands behind it.
        """
        for digest in map(self._digest, urls):
            copy = self._own.get(digest)
            if copy is None or self._is_way(digest):
                continue
            if copy.event <= self._taken or self._loaded.find(digest) is not None:
                self._endings[ending_of_copy(digest)] = None
            self._forget(digest)
            self._own[digest] = copy._replace(original=_NONE)

    def _is_way(self, digest: int) -> bool:
        copy = self._own.get(digest)
        return copy is not None and copy.original is _NONE

    def _shown(self, verdict: Verdict) -> Shown | None:
        """The stored content that a page shows; ``None`` for one of its own."""
        if verdict.original_text is None:
            return None
        original = self._digest(verdict.duplicate_of or verdict.url)
        return Shown(original, _content(verdict.original_text))

    def _meet(self, shown: Shown) -> None:
        """An original's address shows what is stored for it."""
        own = self._originals.get(shown.original)
        if own is not None and own.content == shown.content:
            own.met = self._next_event()
        self._loaded.set(MET, *shown)

    def _known_of(self, digest: int) -> Shown | None:
        """What an address is known to lead to, unless that has ended."""
        if (copy := self._own.get(digest)) is not None:
            original = copy.original
            return None if original.is_ended else Shown(original.digest, original.content)
        at = self._loaded.find(digest)
        return None if at is None or self._loaded.is_ended(at) else self._loaded.shown(at)

    def _confirm(self, digest: int, shown: Shown) -> None:
        """An address led again to what it is known to lead to."""
        if (copy := self._own.get(digest)) is not None:
            copy.original.confirmed = self._next_event()
        else:
            self._loaded.set(CONFIRMED, *shown)

    def _end(self, original: int) -> None:
        """All that is known of an original ends, for later crawls as well."""
        was_known = self._loaded.set(ENDED, original)
        if (own := self._originals.pop(original, None)) is not None:
            own.is_ended = was_known = True
        if was_known:
            self._endings[ending_of(original)] = None

    def _doubt(self, original: int) -> None:
        """Nothing that is known of an original is believed any more in this crawl."""
        self._loaded.set(DOUBTED, original)
        if (own := self._originals.get(original)) is not None:
            own.is_doubted = True

    def _forget(self, digest: int) -> None:
        """Forget what an address led to in this crawl."""
        if (copy := self._own.pop(digest, None)) is None:
            return
        original = copy.original
        original.copies -= 1
        if not original.copies and self._originals.get(original.digest) is original:
            del self._originals[original.digest]

    # --- saving -----------------------------------------------------------------------------

    def take_unsaved(self, confirmed: int) -> Unsaved | None:
        """What the store does not know yet, and may know; ``None`` if that is nothing.

        A copy must not be passed over for the sake of an original that a kill can still lose.

        :param confirmed: the mark up to which what was stored is known to be on disk.
        """
        endings, self._endings = list(self._endings), {}
        copies = []
        while self._unsaved and self._unsaved[0][0] <= confirmed:
            copies.append(self._unsaved.popleft())
            self._taken = copies[-1][2]
        rows = [*endings]
        for _, digest, event in copies:
            copy = self._own.get(digest)
            if copy is not None and copy.event == event and not copy.original.is_ended:
                rows.append((digest, copy.original.digest, copy.original.content))
        if not rows:
            return None
        # An ending is later than all that it ends.
        seen_at = max(int(self._now()), self._last_noted + bool(endings))
        self._last_noted = seen_at
        return Unsaved(np.array(rows, COPY), seen_at, endings, copies)

    def put_back(self, unsaved: Unsaved) -> None:
        """It could not be saved."""
        self._endings = {**dict.fromkeys(unsaved.endings), **self._endings}
        room = MAX_KNOWN - len(self._unsaved)
        self._unsaved.extendleft(unsaved.copies[::-1][:room])

    def _next_event(self) -> int:
        self._events += 1
        return self._events

    def _digest(self, url: str) -> int:
        hasher = self._hasher.copy()
        hasher.update(page_key(url).encode("utf-8", "surrogatepass"))
        return int.from_bytes(hasher.digest(), "little")


@dataclass(slots=True, eq=False)
class _Original:
    """An original of this crawl's copies.

    :ivar copies: how many of them are known.
    :ivar met: the event when its own address showed its content last; 0 for never.
    :ivar confirmed: the event when a known copy led to it again last; 0 for never.
    :ivar is_doubted: did an address of theirs show what could not be judged?
    """

    digest: int
    content: int
    copies: int = 0
    met: int = 0
    confirmed: int = 0
    is_doubted: bool = False
    is_ended: bool = False


#: Of an address that is fetched again whatever it led to.
_NONE = _Original(0, 0, is_ended=True)


class _Copy(NamedTuple):
    """An address that led to a duplicate in this crawl.

    :ivar led_at: seconds since 1970.
    :ivar event: which event of the crawl that was.
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


def _content(text: bytes) -> int:
    """Of the digest of a text 64 bits, of which some are set."""
    return int.from_bytes(text[:8], "little") or 1


def _hasher(key: bytes) -> blake2b:
    return blake2b(digest_size=8, key=key)
