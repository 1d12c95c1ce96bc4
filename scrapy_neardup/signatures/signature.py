"""The signature of a page: all that a store keeps of it, by which it is compared with others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from .._util.urls import is_list, page_key, site_of
from ..hashing import power_sums
from ..hashing.minhash import Sketch
from ..hashing.simhash import to_hex
from ..text.titles import Title
from ..text.values import CODE
from ..text.word_sums import NO_WORDS

#: Parts of ``shown_digest``: whole page, visible text, other content, list flag, sums over the
#: lines of the other content, where its relative addresses lead, and the entries of a list.
WHOLE, SHOWN, HELD, LIST_FLAG = slice(6), slice(6, 11), slice(11, 16), slice(16, 17)
SUMS = slice(17, 17 + power_sums.SIZE)
LED_TO_SIZE = 4
LED_TO = slice(SUMS.stop, SUMS.stop + LED_TO_SIZE)
ENTRIES_SIZE = 5
ENTRIES = slice(LED_TO.stop, LED_TO.stop + ENTRIES_SIZE)
#: In the place of the digest of entries: the page was not read as a list.
NO_ENTRIES = bytes(ENTRIES_SIZE)
#: In the place of the whole page's digest: there is no page, but a fragment that is all content.
NO_WHOLE = bytes(WHOLE.stop)
#: Length of ``shown_digest``, unless it is empty.
SHOWN_SIZE = ENTRIES.stop
LIST, NO_LIST = b"\1", b"\0"
#: In the place of facts: they have yet to be read, or can no longer be. No fact has these codes.
FACTS_UNREAD, FACTS_GONE = b"\xff\xff\xff\xff", b"\xfb\xff\xff\xff"
#: Length of ``body_digest``, unless it is empty.
BODY_DIGEST_SIZE = 16

#: The part of a lazy signer that makes passages, see ``Signer.parts``.
PASSAGES_PART = "extraction"
#: The part that names the method that judges in place of the rule.
METHOD_PART = "method"
#: ``"lazy"`` reads a page in full only if it may have the content of another one.
Extraction = Literal["full", "lazy"]
EXTRACTIONS: tuple[Extraction, ...] = ("full", "lazy")


@dataclass(frozen=True, slots=True)
class PageSignature:
    """Everything that a store keeps of a page.

    :ivar url: its URL.
    :ivar key: its identity; a page with the same key is the same page at another time.
    :ivar site: its registrable domain.
    :ivar title: the parts of its title, each as a tuple of words.
    :ivar n_features: number of distinct tokens of its main text.
    :ivar fingerprint: 64-bit simhash of the main text.
    :ivar sketch: MinHash sketch of its shingles, one byte a bin.
    :ivar values: its first 248 numbers, names and less common words in reading order, four
        bytes each, see ``text/values.py``.
    :ivar text_digest: 16 bytes, keyed; equal for equal texts, punctuation included.
    :ivar n_text: characters of the main text without white space.
    :ivar n_shown: characters of all visible text without white space.
    :ivar shown_digest: 34 bytes: keyed digests of the whole page (6; zeros for a field of an item),
        of its visible text (5) and of its other content (5), a flag that says whether its URL is
        that of a list (1), sums over the lines of the other content (8), see
        ``hashing/power_sums.py``, where its relative addresses lead (4), and the entries of a list
        (5; zeros if it was not read as one); empty if only the text is known.
    :ivar recipe: digest of everything that the other fields depend on.
    :ivar n_heading: number of leading values that belong to a heading that repeats part of the
        title.
    :ivar facts: at most 16 facts that it states, 32 fields and 32 lines, four bytes each, see
        ``signatures/facts.py``; or ``FACTS_UNREAD``, or ``FACTS_GONE``.
    :ivar passages: sample of its passages, see ``signatures/passages.py``; empty if it was not read
        quickly.
    :ivar quick_sketch: sketch of the text that was read quickly, see
        ``signatures/quick_sketch.py``; empty if there is little text, or none was read quickly.
    :ivar is_read: whether the page was read in full. If not, only its address, title, passages and
        that sketch are known, and all that its main text decides is empty or 0.
    :ivar word_sums: 16 bytes, by which words in place of other words are found, see
        ``text/word_sums.py``; zeros if the page was not read in full.
    :ivar body_digest: 16 bytes, keyed; equal for equal bodies with equal declared encodings; empty
        if the body is not known.
    :ivar value: of the method that judges in place of the rule, see ``methods/base.py``; empty
        without one, and where there is too little to compare.
    """

    url: str
    key: str
    site: str
    title: Title
    n_features: int
    fingerprint: int
    sketch: bytes
    values: bytes
    text_digest: bytes
    n_text: int
    n_shown: int
    shown_digest: bytes
    recipe: str
    n_heading: int = 0
    passages: bytes = b""
    is_read: bool = True
    value: bytes = b""
    facts: bytes = b""
    word_sums: bytes = NO_WORDS
    quick_sketch: bytes = b""
    body_digest: bytes = b""

    @classmethod
    def unread(
        cls,
        *,
        url: str,
        key: str,
        site: str,
        title: Title,
        recipe: str,
        passages: bytes,
        quick_sketch: bytes = b"",
        body_digest: bytes = b"",
    ) -> PageSignature:
        """Return the signature of a page that was read quickly only."""
        return cls(
            url=url,
            key=key,
            site=site,
            title=title,
            n_features=0,
            fingerprint=0,
            sketch=b"",
            values=b"",
            text_digest=b"",
            n_text=0,
            n_shown=0,
            shown_digest=b"",
            recipe=recipe,
            passages=passages,
            is_read=False,
            quick_sketch=quick_sketch,
            body_digest=body_digest,
        )

    def with_quick_parts_of(self, other: PageSignature) -> PageSignature:
        """Return the signature with what was read quickly, of the same page."""
        return replace(
            self,
            passages=other.passages,
            quick_sketch=other.quick_sketch,
            body_digest=self.body_digest or other.body_digest,
        )

    def given_up(self) -> PageSignature:
        """Return the signature of a page that was not wholly read and can no longer be."""
        if self.is_read:
            return replace(self, facts=FACTS_GONE)
        return replace(self, passages=b"")

    @property
    def sketch_values(self) -> Sketch:
        """The sketch as an array for :func:`~scrapy_neardup.hashing.minhash.resemblance`."""
        return np.frombuffer(self.sketch, np.uint8)

    @property
    def value_codes(self) -> list[int]:
        """The values as numbers."""
        codes: list[int] = np.frombuffer(self.values, CODE).tolist()
        return codes

    @property
    def n_values(self) -> int:
        """Number of values."""
        return len(self.values) // CODE.itemsize

    def equals(self, other: PageSignature) -> bool:
        """Return whether the pages are equal except for comments; false if only a text is known.

        Fragments are never equal: items with one short text may differ in their other fields.
        """
        return self.shown_digest == other.shown_digest != b"" and not self.is_fragment

    @property
    def is_fragment(self) -> bool:
        """Whether it was made from a field of an item, plain text or HTML, and not from a page."""
        return self.shown_digest[WHOLE] == NO_WHOLE

    @property
    def is_comparable(self) -> bool:
        """Whether other pages are compared with it: it was read in full, or still can be."""
        return self.is_read or bool(self.passages)

    @property
    def can_still_be_read(self) -> bool:
        """Whether the page was read quickly only and can still be read in full."""
        return not self.is_read and bool(self.passages)

    @property
    def is_partly_read(self) -> bool:
        """Whether it was read quickly only, or without its facts."""
        return not self.is_read or self.awaits_facts

    @property
    def awaits_facts(self) -> bool:
        """Whether the page was read without its facts, which can still be read."""
        return self.facts == FACTS_UNREAD

    @property
    def lacks_facts(self) -> bool:
        """Whether its facts are not known. Then it is not compared with pages of its site."""
        return self.facts in (FACTS_UNREAD, FACTS_GONE)

    def has_body_of(self, other: PageSignature) -> bool:
        """Return whether the pages were made from equal bodies; false if one is not known."""
        return self.body_digest == other.body_digest != b""

    def shows_and_holds(self, other: PageSignature) -> bool:
        """Return whether visible text and other content agree; false if only a text is known."""
        parts = slice(SHOWN.start, HELD.stop)
        return self.shown_digest[parts] == other.shown_digest[parts] != b""

    def lists_same(self, other: PageSignature) -> bool:
        """Return whether two lists have the same entries, text and other content.

        Their names and their links to their other pages may differ, see ``html/list_entries.py``.
        """
        if self.shown_digest[ENTRIES] in (b"", NO_ENTRIES):
            return False
        return all(self.shown_digest[p] == other.shown_digest[p] for p in (HELD, LED_TO, ENTRIES))

    def holds_other(self, other: PageSignature) -> bool:
        """Return whether the visible text agrees but the other content differs.

        On one site that includes where relative addresses lead; copies on another site may lie in
        other folders, with their files.
        """
        if not (self.shown_digest and other.shown_digest):
            return False
        same_text = self.shown_digest[SHOWN] == other.shown_digest[SHOWN]
        return same_text and self._has_other_parts(other)

    def is_other_kind(self, other: PageSignature) -> bool:
        """Return whether one is a whole page and the other a field of an item.

        They say different things of one page: the item may have other fields by now, and the page
        other items. What is only a text may be either.
        """
        is_known = bool(self.shown_digest and other.shown_digest)
        return is_known and self.is_fragment != other.is_fragment

    def is_other_fragment(self, other: PageSignature) -> bool:
        """Return whether both are fragments whose other content differs, whatever their texts are.

        Pages of one text may differ in what surrounds it, but all of a fragment is content.
        """
        return self.is_fragment and other.is_fragment and self._has_other_parts(other)

    def _has_other_parts(self, other: PageSignature) -> bool:
        parts = (HELD, LED_TO) if self.site == other.site else (HELD,)
        return any(self.shown_digest[p] != other.shown_digest[p] for p in parts)

    def lacks_one_of(self, other: PageSignature) -> bool:
        """Return whether the other page has all other content of this one, and one element more."""
        if not (self.shown_digest and other.shown_digest):
            return False
        return power_sums.has_one_more(other.shown_digest[SUMS], self.shown_digest[SUMS])

    @property
    def is_list(self) -> bool:
        """Return whether the URL is that of a list of pages; false if only the text is known."""
        return self.shown_digest[LIST_FLAG] == LIST

    def found_at(self, url: str) -> PageSignature:
        """Return the signature of a page with the same bytes at another URL.

        Its folder must be the same if the page has files beside it.
        """
        if url == self.url:
            return self
        flag = LIST if is_list(url) else NO_LIST
        shown = self.shown_digest
        if shown:
            # Its entries lead elsewhere.
            rest = shown[LIST_FLAG.stop : ENTRIES.start]
            shown = b"".join((shown[: LIST_FLAG.start], flag, rest, NO_ENTRIES))
        return replace(self, url=url, key=page_key(url), site=site_of(url), shown_digest=shown)

    def __str__(self) -> str:
        return f"{self.url} ({to_hex(self.fingerprint)}, {self.n_features} features)"
