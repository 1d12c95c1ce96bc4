"""What the pages of one site share, learned page by page in bounded memory.

Side lists, tag clouds, notices and the site's name stand on many of its pages. They make
different pages alike, so they are taken out before two pages of the site are compared:

* a **title**'s boilerplate is the parts that stood beside several different rests;
* a **text**'s boilerplate is the bins of its sketch that hold the same value on many pages;
* a **notice** is a text that stood under several different titles.

Copies of a page bear its title and teach nothing new, so each title counts once.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock, RLock

import numpy as np
import numpy.typing as npt
import xxhash

from ..hashing.minhash import SKETCH_BINS, Sketch
from ..text.titles import Segment, Title, title_words

#: What at least this part of a site's pages bear, and at least this many, is the site's.
SHARE = 0.3
LEAST = 3
#: A text under this many titles of its site is a notice.
NOTICE_TITLES = 2

#: Bounds: entries of each table of a site, values of each bin of its text boilerplate, and sites.
#: A site with full tables takes a quarter of a megabyte, one of thirty pages a tenth of that.
MAX_ENTRIES = 256
_SLOTS = 3
_MOST_COUNTED = np.iinfo(np.uint16).max
MAX_SITES = 4096
#: So many pages of a site wait at most until their title and text are learned, in a row: that takes
#: a part of the time, and for a site that nobody asks about none at all.
_WAITING = 16


class TitleBoilerplate:
    """Parts and words that a site's titles share.

    :ivar met: how many titles were counted; one that comes back later than
        :data:`MAX_ENTRIES` others counts again.
    """

    def __init__(self) -> None:
        self._titles: deque[int] = deque(maxlen=MAX_ENTRIES)
        self.met = 0
        self._words: dict[str, int] = {}
        # By digests: the words of all parts would take three times the room of all the rest.
        self._rests: dict[int, tuple[int, ...]] = {}

    def learn(self, title: Title) -> bool:
        """Count a title, unless it is among the last that were counted. Was it counted?"""
        key = _key(title)
        if not title or key in self._titles:
            return False
        self._titles.append(key)
        self.met += 1
        for word in title_words(title):
            self._words[word] = self._words.get(word, 0) + 1
        for segment in set(title):
            rest = _key(tuple(other for other in title if other != segment))
            part = _key((segment,))
            seen = self._rests.get(part, ())
            if len(seen) < LEAST and rest not in seen:
                self._rests[part] = (*seen, rest)
        self._forget()
        return True

    def own_parts(self, title: Title) -> Title:
        """The parts that are the page's own."""
        return tuple(part for part in title if not self._is_shared(part))

    def core(self, title: Title) -> frozenset[str]:
        """Words of the parts that are the page's own."""
        return title_words(self.own_parts(title))

    def own_words(self, title: Title) -> frozenset[str]:
        """Words that few of the site's titles bear, wherever they stand."""
        return frozenset(word for word in title_words(title) if not self._is_common(word))

    def _is_shared(self, segment: Segment) -> bool:
        """Did it stand beside several rests, and does it bear a word that many titles bear?

        The second question keeps a catalogue's "navy" or "part 2", however often they come back.
        """
        if len(self._rests.get(_key((segment,)), ())) < LEAST:
            return False
        return any(map(self._is_common, segment))

    def _is_common(self, word: str) -> bool:
        return self._words.get(word, 0) >= max(LEAST, SHARE * self.met)

    def _forget(self) -> None:
        """Keep what came back most, and of the rest the newest."""
        if len(self._words) > MAX_ENTRIES:
            by_count = sorted(self._words.items(), key=lambda entry: entry[1])
            self._words = dict(by_count[-MAX_ENTRIES // 2 :])
        if len(self._rests) > MAX_ENTRIES:
            by_rests = sorted(self._rests.items(), key=lambda entry: len(entry[1]))
            self._rests = dict(by_rests[-MAX_ENTRIES // 2 :])


class TextBoilerplate:
    """Values that recur in the bins of a site's sketches.

    Each bin counts a few values; a new one takes the place of the rarest and starts from one. A
    shingle of most pages is the least of its bin on many of them, and stays.
    """

    def __init__(self) -> None:
        self._n_pages = 0
        self._values = np.zeros((_SLOTS, SKETCH_BINS), np.uint8)
        self._counts = np.zeros((_SLOTS, SKETCH_BINS), np.uint16)

    def learn(self, sketch: Sketch) -> None:
        """Count the filled bins of a page."""
        if self._n_pages == _MOST_COUNTED:
            self._n_pages //= 2
            self._counts //= 2
        self._n_pages += 1
        is_filled = sketch != 0
        known = (self._values == sketch) & is_filled
        self._counts += known
        new = np.flatnonzero(is_filled & ~np.logical_or.reduce(known))
        rarest = self._counts[:, new].argmin(axis=0)
        self._values[rarest, new] = sketch[new]
        self._counts[rarest, new] = 1

    def own(self, sketch: Sketch) -> npt.NDArray[np.bool_]:
        """Which bins hold something that is the page's own; shape ``(SKETCH_BINS,)``."""
        many = max(LEAST, SHARE * self._n_pages)
        shared: npt.NDArray[np.bool_] = (self._values == sketch) & (self._counts >= many)
        own: npt.NDArray[np.bool_] = (sketch != 0) & ~shared.any(axis=0)
        return own


class SiteBoilerplate:
    """All that was learned of one site."""

    def __init__(self) -> None:
        self._titles = TitleBoilerplate()
        self._texts = TextBoilerplate()
        self._thin_texts: OrderedDict[bytes, tuple[int, ...]] = OrderedDict()
        self._waiting: list[tuple[Title, Sketch]] = []
        # Several threads may ask, and what waits is learned by the first of them.
        self._lock = Lock()

    def learn(self, title: Title, sketch: Sketch) -> None:
        """Learn from a page: at the latest when somebody asks."""
        with self._lock:
            self._waiting.append((title, sketch))
            if len(self._waiting) == _WAITING:
                self._catch_up()

    @property
    def titles(self) -> TitleBoilerplate:
        """What its titles share."""
        with self._lock:
            self._catch_up()
        return self._titles

    @property
    def texts(self) -> TextBoilerplate:
        """What its texts share."""
        with self._lock:
            self._catch_up()
        return self._texts

    def _catch_up(self) -> None:
        waiting, self._waiting = self._waiting, []
        for title, sketch in waiting:
            if self._titles.learn(title):
                self._texts.learn(sketch)

    def learn_thin(self, title: Title, text_digest: bytes) -> None:
        """Note under which titles a text stands that is little of what its page shows."""
        titles, key = self._thin_texts.get(text_digest, ()), _key(title)
        if len(titles) < NOTICE_TITLES and key not in titles:
            self._thin_texts[text_digest] = (*titles, key)
        if len(self._thin_texts) > MAX_ENTRIES:
            self._thin_texts.popitem(last=False)

    def is_notice(self, text_digest: bytes) -> bool:
        """Did this text stand under several titles: a notice, not a page's own?"""
        return len(self._thin_texts.get(text_digest, ())) >= NOTICE_TITLES


class Boilerplates:
    """The boilerplates of the sites met last, at most :data:`MAX_SITES` of them.

    :param teach: given a site and its new, empty boilerplate, teaches it what is known of the site
        from an earlier crawl, or from before its boilerplate was forgotten.
    """

    def __init__(self, teach: Callable[[str, SiteBoilerplate], None] = lambda *_: None) -> None:
        self._sites: OrderedDict[str, SiteBoilerplate] = OrderedDict()
        self._teach = teach
        # Pages may be compared in one thread and claimed in another.
        self._lock = RLock()

    def of(self, site: str) -> SiteBoilerplate:
        """The boilerplate of a site; that of the site not met for longest may be forgotten."""
        with self._lock:
            if (boilerplate := self._sites.get(site)) is None:
                boilerplate = SiteBoilerplate()
                self._teach(site, boilerplate)
                # Only now: teaching may fail, and is then tried again.
                self._sites[site] = boilerplate
            self._sites.move_to_end(site)
            if len(self._sites) > MAX_SITES:
                self._sites.popitem(last=False)
            return boilerplate


def _key(words: tuple[Segment, ...]) -> int:
    joined = "\n".join(" ".join(segment) for segment in words)
    return xxhash.xxh3_64_intdigest(joined.encode("utf-8", "surrogatepass"))
