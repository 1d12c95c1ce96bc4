"""The boilerplate of sites, learned page by page in bounded memory.

Side lists, tag clouds, notices and the site's name recur on many pages of a site. They make
different pages similar, so they are removed before two pages of the site are compared:

* in **titles**, boilerplate is the parts that recurred beside several different parts;
* in **texts**, boilerplate is the values of sketch bins that recurred on many pages;
* a **notice** is a text that recurred under several different titles.

Copies of a page have its title and teach nothing new, so each title counts once.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from itertools import dropwhile
from threading import Lock, RLock

import numpy as np
import numpy.typing as npt
import xxhash

from .._util.encoding import utf8
from ..hashing.minhash import SKETCH_BINS, Sketch
from ..signatures.quick_sketch import BINS as QUICK_BINS
from ..text.titles import Segment, Title, title_words

#: What at least this part of a site's pages have, and at least this many pages, is boilerplate.
SHARE = 0.3
LEAST = 3
#: A text that occurs under this many titles of its site is a notice.
NOTICE_TITLES = 2

#: Bounds: entries of each table of a site, values of each bin of its text boilerplate, and sites.
#: A site with full tables takes a quarter of a megabyte, one of thirty pages a tenth of that.
MAX_ENTRIES = 256
_SLOTS = 3
_MAX_COUNT = np.iinfo(np.uint16).max
MAX_SITES = 4096
#: Pages of a site are learned in batches of this size at most. A batch takes less time than its
#: pages one by one, and is not learned at all if nobody asks about the site.
_BATCH = 16


class TitleBoilerplate:
    """Parts and words that a site's titles share.

    :ivar count: how many titles were counted; one that recurs after :data:`MAX_ENTRIES` others
        counts again.
    """

    def __init__(self) -> None:
        self._titles: deque[int] = deque(maxlen=MAX_ENTRIES)
        self.count = 0
        self._words: dict[str, int] = {}
        # The digest of a part, to those of what stood beside it: the words themselves would take
        # three times the memory of all other tables.
        self._contexts: dict[int, tuple[int, ...]] = {}

    def learn(self, title: Title) -> bool:
        """Count a title; return ``False`` if it is among the last that were counted."""
        digest = _digest(title)
        if not title or digest in self._titles:
            return False
        self._titles.append(digest)
        self.count += 1
        for word in title_words(title):
            self._words[word] = self._words.get(word, 0) + 1
        for part in set(title):
            context = _digest(tuple(other for other in title if other != part))
            key = _digest((part,))
            seen = self._contexts.get(key, ())
            if len(seen) < LEAST and context not in seen:
                self._contexts[key] = (*seen, context)
        self._forget()
        return True

    def own_parts(self, title: Title) -> Title:
        """Return the parts of a title that are not boilerplate."""
        return tuple(part for part in title if not self._is_boilerplate(part))

    def own_words(self, title: Title) -> frozenset[str]:
        """Return the words of a title that few of the site's titles have."""
        return frozenset(word for word in title_words(title) if not self._is_common(word))

    def with_unlabelled(self, title: Title) -> frozenset[Segment]:
        """Return the parts of a title, as they are and without words of many titles in front.

        "Module: core.magics" in the manual of one version is "core.magics" in that of another.
        """
        unlabelled = (tuple(dropwhile(self._is_common, part)) for part in title)
        return frozenset((*title, *filter(None, unlabelled)))

    def _is_boilerplate(self, part: Segment) -> bool:
        """Return whether a part recurs in several contexts, and has a word of many titles.

        By the second condition, "navy" or "part 2" in a catalogue is no boilerplate, however often
        it recurs.
        """
        if len(self._contexts.get(_digest((part,)), ())) < LEAST:
            return False
        return any(map(self._is_common, part))

    def _is_common(self, word: str) -> bool:
        return self._words.get(word, 0) >= max(LEAST, SHARE * self.count)

    def _forget(self) -> None:
        """Keep the most frequent entries of full tables, of equally frequent ones the newest."""
        if len(self._words) > MAX_ENTRIES:
            by_count = sorted(self._words.items(), key=lambda entry: entry[1])
            self._words = dict(by_count[-MAX_ENTRIES // 2 :])
        if len(self._contexts) > MAX_ENTRIES:
            by_contexts = sorted(self._contexts.items(), key=lambda entry: len(entry[1]))
            self._contexts = dict(by_contexts[-MAX_ENTRIES // 2 :])


class TextBoilerplate:
    """Values that recur in the bins of a site's sketches.

    Each bin counts a few values; a new value replaces the rarest and starts at one. A shingle that
    most pages have is the minimum of its bin on many of them, so its value stays.

    :param n_bins: bins of a sketch.
    :ivar count: how many texts were counted, roughly.
    """

    def __init__(self, n_bins: int = SKETCH_BINS) -> None:
        self.count = 0
        self._values = np.zeros((_SLOTS, n_bins), np.uint8)
        self._counts = np.zeros((_SLOTS, n_bins), np.uint16)

    def learn(self, sketch: Sketch) -> None:
        """Count the values of a page's filled bins."""
        if self.count == _MAX_COUNT:
            self.count //= 2
            self._counts //= 2
        self.count += 1
        is_filled = sketch != 0
        known = (self._values == sketch) & is_filled
        self._counts += known
        new = np.flatnonzero(is_filled & ~np.logical_or.reduce(known))
        rarest = self._counts[:, new].argmin(axis=0)
        self._values[rarest, new] = sketch[new]
        self._counts[rarest, new] = 1

    def own(self, sketch: Sketch) -> npt.NDArray[np.bool_]:
        """Return which bins are filled and not boilerplate; shape ``(n_bins,)``."""
        many = max(LEAST, SHARE * self.count)
        boilerplate: npt.NDArray[np.bool_] = (self._values == sketch) & (self._counts >= many)
        own: npt.NDArray[np.bool_] = (sketch != 0) & ~boilerplate.any(axis=0)
        return own


class SiteBoilerplate:
    """The boilerplate of one site's titles and texts, and its notices."""

    def __init__(self) -> None:
        self._titles = TitleBoilerplate()
        self._texts = TextBoilerplate()
        self._quick_texts = TextBoilerplate(QUICK_BINS)
        self._thin_texts: OrderedDict[bytes, tuple[int, ...]] = OrderedDict()
        self._waiting: list[tuple[Title | None, Sketch | None, Sketch | None]] = []
        # Several threads may read at once; the first of them learns the waiting pages.
        self._lock = Lock()

    def learn(
        self, title: Title | None, sketch: Sketch | None, quick_sketch: Sketch | None = None
    ) -> None:
        """Learn from a page, at the latest when what it teaches is next read.

        :param title: ``None`` if it was learned before the text was known.
        :param sketch: ``None`` if the text is not known.
        :param quick_sketch: sketch of the text that was read quickly, shape ``(BINS,)`` of
            ``signatures/quick_sketch.py``; ``None`` if there is none, or it was learned before.
        """
        with self._lock:
            self._waiting.append((title, sketch, quick_sketch))
            if len(self._waiting) == _BATCH:
                self._learn_waiting()

    @property
    def titles(self) -> TitleBoilerplate:
        """The boilerplate of the site's titles."""
        with self._lock:
            self._learn_waiting()
        return self._titles

    @property
    def texts(self) -> TextBoilerplate:
        """The boilerplate of the site's texts that were read in full."""
        with self._lock:
            self._learn_waiting()
        return self._texts

    @property
    def quick_texts(self) -> TextBoilerplate:
        """The boilerplate of the site's texts as they were read quickly."""
        with self._lock:
            self._learn_waiting()
        return self._quick_texts

    def _learn_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for title, sketch, quick_sketch in waiting:
            if title is not None and not self._titles.learn(title):
                continue
            if sketch is not None:
                self._texts.learn(sketch)
            if quick_sketch is not None:
                self._quick_texts.learn(quick_sketch)

    def learn_thin(self, title: Title, text_digest: bytes) -> None:
        """Count a title under which a thin text occurs."""
        titles, digest = self._thin_texts.get(text_digest, ()), _digest(title)
        if len(titles) < NOTICE_TITLES and digest not in titles:
            self._thin_texts[text_digest] = (*titles, digest)
        if len(self._thin_texts) > MAX_ENTRIES:
            self._thin_texts.popitem(last=False)

    def is_notice(self, text_digest: bytes) -> bool:
        """Return whether the thin text with this digest occurred under several titles."""
        return len(self._thin_texts.get(text_digest, ())) >= NOTICE_TITLES


class Boilerplates:
    """The boilerplate of each site; the least recently used of :data:`MAX_SITES` is dropped first.

    :param teach: called with a site and its new, empty boilerplate, to learn what is known of the
        site from an earlier crawl, or from before its boilerplate was dropped.
    """

    def __init__(self, teach: Callable[[str, SiteBoilerplate], None] = lambda *_: None) -> None:
        self._sites: OrderedDict[str, SiteBoilerplate] = OrderedDict()
        self._teach = teach
        # Pages may be compared in one thread and claimed in another.
        self._lock = RLock()

    def of(self, site: str) -> SiteBoilerplate:
        """Return the boilerplate of a site."""
        with self._lock:
            if (boilerplate := self._sites.get(site)) is None:
                boilerplate = SiteBoilerplate()
                self._teach(site, boilerplate)
                # Only after teaching, which may fail and is then tried again.
                self._sites[site] = boilerplate
            self._sites.move_to_end(site)
            if len(self._sites) > MAX_SITES:
                self._sites.popitem(last=False)
            return boilerplate


def _digest(parts: tuple[Segment, ...]) -> int:
    joined = "\n".join(" ".join(part) for part in parts)
    return xxhash.xxh3_64_intdigest(utf8(joined))
