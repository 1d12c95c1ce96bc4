"""A page's signature as bytes, as stores keep it: some 600, its values, address and title.

A page that was read quickly has no sketch: it takes some 320 bytes, its address and title.

A row beside it has what is asked of many pages at once.
"""

from __future__ import annotations

import json
import struct

import numpy as np
import numpy.typing as npt
import xxhash

from .._util.encoding import utf8
from ..hashing.minhash import SKETCH_BINS
from ..matching.candidates import FIRST_BINS, SUMMARY_DTYPE, Summaries, packed_summary
from ..matching.stored_items import NO_ITEMS
from ..signatures import quick_sketch
from ..signatures.signature import BODY_DIGEST_SIZE, SHOWN_SIZE, PageSignature
from ..text.values import CODE
from ..text.word_sums import SIZE as WORD_SUMS_SIZE

#: Fingerprint, number of features, lengths of text and of all that is shown, sums of words, two
#: digests, how many values stand behind the sketch, of all and of the heading, how many facts, how
#: many passages, and flags: the page was read in full, and thus has a sketch; behind the passages
#: stand a quick sketch, the body's digest and a method's value.
_HEAD = struct.Struct(f"<QIII{WORD_SUMS_SIZE}s16s{SHOWN_SIZE}sBBBBB")
_IS_READ, _HAS_VALUE, _HAS_QUICK_SKETCH, _HAS_BODY_DIGEST = 1, 2, 4, 8
_PASSAGE_BYTES = 8
#: Length of a method's value, in front of it.
_LENGTH = struct.Struct("<I")
_NO_DIGEST = bytes(SHOWN_SIZE)
_as_json = json.JSONEncoder(separators=(",", ":")).encode
#: Of a string; to guess the encoding of bytes takes as long as to decode them.
_from_json = json.JSONDecoder().decode
_SKETCH_END = _HEAD.size + SKETCH_BINS

#: What is kept of each page to build the index from, and to choose among many pages: 96 bytes.
ROW = np.dtype(
    [("fingerprint", "<u8"), ("summary", SUMMARY_DTYPE), ("first_bins", "u1", (FIRST_BINS,))]
)
#: The same for :mod:`struct`, which packs a single row faster than numpy.
_ROW = struct.Struct(f"<Q{SUMMARY_DTYPE.itemsize}s{FIRST_BINS}s")


def packed(page: PageSignature) -> bytes:
    """Return the signature as bytes, without its recipe, which is the store's."""
    head = _HEAD.pack(
        page.fingerprint,
        page.n_features,
        page.n_text,
        page.n_shown,
        page.word_sums,
        page.text_digest,
        page.shown_digest or _NO_DIGEST,
        page.n_values,
        page.n_heading,
        len(page.facts) // CODE.itemsize,
        len(page.passages) // _PASSAGE_BYTES,
        page.is_read * _IS_READ
        | bool(page.value) * _HAS_VALUE
        | bool(page.quick_sketch) * _HAS_QUICK_SKETCH
        | bool(page.body_digest) * _HAS_BODY_DIGEST,
    )
    value = _LENGTH.pack(len(page.value)) + page.value if page.value else b""
    words = [page.url, page.site, page.title]
    if page.key != page.url:
        words.append(page.key)
    # Escapes keep a lone surrogate, which UTF-8 has no bytes for.
    behind = page.sketch + page.values + page.facts + page.passages + page.quick_sketch
    return head + behind + page.body_digest + value + _as_json(words).encode()


def unpacked(data: bytes, recipe: str) -> PageSignature:
    """Return the signature that was packed."""
    head = _HEAD.unpack_from(data)
    fingerprint, n_features, n_text, n_shown, word_sums, text_digest, shown_digest, *counts = head
    n_values, n_heading, n_facts, n_passages, flags = counts
    is_read = flags & _IS_READ
    sketch_end = _SKETCH_END if is_read else _HEAD.size
    values_end = sketch_end + n_values * CODE.itemsize
    facts_end = values_end + n_facts * CODE.itemsize
    passages_end = facts_end + n_passages * _PASSAGE_BYTES
    quick_end = passages_end + bool(flags & _HAS_QUICK_SKETCH) * quick_sketch.SIZE
    digest_end = quick_end + bool(flags & _HAS_BODY_DIGEST) * BODY_DIGEST_SIZE
    value, value_end = b"", digest_end
    if flags & _HAS_VALUE:
        start = digest_end + _LENGTH.size
        value_end = start + _LENGTH.unpack_from(data, digest_end)[0]
        value = data[start:value_end]
    url, site, title, *key = _from_json(data[value_end:].decode("ascii"))
    return PageSignature(
        url=url,
        key=key[0] if key else url,
        site=site,
        title=tuple(map(tuple, title)),
        n_features=n_features,
        fingerprint=fingerprint,
        sketch=data[_HEAD.size : sketch_end],
        values=data[sketch_end:values_end],
        text_digest=text_digest if is_read else b"",
        n_text=n_text,
        n_shown=n_shown,
        shown_digest=b"" if shown_digest == _NO_DIGEST else shown_digest,
        recipe=recipe,
        n_heading=n_heading,
        facts=data[values_end:facts_end],
        word_sums=word_sums,
        passages=data[facts_end:passages_end],
        is_read=bool(is_read),
        value=value,
        quick_sketch=data[passages_end:quick_end],
        body_digest=data[quick_end:digest_end],
    )


def passages_of(data: bytes) -> bytes:
    """Return the passages of a packed signature."""
    *_, n_values, _, n_facts, n_passages, flags = _HEAD.unpack_from(data)
    start = _SKETCH_END if flags & _IS_READ else _HEAD.size
    start += (n_values + n_facts) * CODE.itemsize
    return data[start : start + n_passages * _PASSAGE_BYTES]


def was_read(summaries: Summaries) -> npt.NDArray[np.bool_]:
    """Return which pages were read in full; the others have neither words nor a text's digest."""
    return np.asarray((summaries["n_features"] != 0) | (summaries["text"] != 0))


def sketch_in(data: bytes) -> bytes:
    """Return the sketch of a packed signature of a page that was read in full."""
    return data[_HEAD.size : _SKETCH_END]


def digests_in(data: bytes) -> tuple[bytes, bytes]:
    """Return ``text_digest`` and ``shown_digest`` of a packed signature, the latter as is."""
    _, _, _, _, _, text, shown, *_ = _HEAD.unpack_from(data)
    return text, b"" if shown == _NO_DIGEST else shown


def row_of(page: PageSignature, key: int, stored_at: int, items: int = NO_ITEMS) -> bytes:
    """Return a page's row of :data:`ROW`, as bytes.

    :param key: digest of its key, 64 bits.
    :param stored_at: seconds since 1970, 32 bits.
    """
    summaries = packed_summary(page, key, stored_at, items)
    # A page that was not read in full has no sketch; its bins stay empty.
    return _ROW.pack(page.fingerprint, summaries, page.sketch[:FIRST_BINS])


def with_items(row: bytes, items: int) -> bytes:
    """Return the row of the same page with these stored items."""
    changed = np.frombuffer(row, ROW).copy()
    changed["summary"]["items"] = items
    return changed.tobytes()


def site_in(row: bytes) -> int:
    """Return the digest of a row's site."""
    return int(np.frombuffer(row, ROW)["summary"]["site"][0])


def parts_of(row: bytes) -> tuple[int, bytes, bytes]:
    """Return a row's fingerprint, summary and first bins."""
    return _ROW.unpack(row)


def key_seed(secret: bytes) -> int:
    """Return the seed for :func:`key_digest`: only its owner can make keys of one digest."""
    return xxhash.xxh3_64_intdigest(secret)


def key_digest(key: str, seed: int) -> int:
    """Return 64 bits by which a page is found under its key."""
    return xxhash.xxh3_64_intdigest(utf8(key), seed)
