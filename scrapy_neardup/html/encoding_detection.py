"""Bytes of a page to text: by its label where the bytes bear that out, else by the bytes.

Labels are wrong often enough, above all on Chinese pages: a server's default header, a template's
meta element, a converted site. So a label is a strong hint and no more; what decides is which
encoding makes the bytes most likely. The model of an encoding is coarse and needs no table: the
standards themselves set the common characters apart from the rare ones (level 1 of GB 2312, of
Big5 and of JIS X 0208, the syllables of KS X 1001), and a text consists of common ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from charset_normalizer import from_bytes
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

#: Logarithm of the probability of words in an encoding.
Model = Callable[[bytes], float]

#: From the first high byte of a word to its end. Markup and white space are never the second byte
#: of a character.
_HIGH_WORD = re.compile(rb"[\x80-\xff][^\x00-\x20\"&';<>]*")
_SAMPLE_BYTES = 2**16

#: A body is UTF-8 when it has at least so many times as many good sequences as bad ones; other
#: encodings seldom make a good one. A body that was cut off, or has a stray byte, is UTF-8 still.
_GOOD_TO_BAD = 4

#: How many times likelier the first label is than another encoding, as a logarithm; a later label
#: counts half. Two or three characters that speak against it are believed.
_LABEL = 10.0
#: The same for the default of browsers, where no label stands.
_DEFAULT, _DEFAULT_LEAD = "cp1252", 3.0

#: How a page in UTF-16 without a mark begins. Repeats without a bound take memory without one.
_UTF16 = {
    "utf-16-le": re.compile(rb"(?:[\t\n\r ]\0){0,9999}<\0[!?a-zA-Z]\0"),
    "utf-16-be": re.compile(rb"(?:\0[\t\n\r ]){0,9999}\0<\0[!?a-zA-Z]"),
}

#: Means something else to what is not an encoding of text, or is none of pages.
_PROBE = b"<p>+ADw-\\u0041-"

_HIGH_BYTES = bytes(range(0x80, 0x100))

#: Logarithm of the probability of an ASCII character within a word of a legacy encoding, and of a
#: byte that the encoding does not have.
_ASCII = math.log(1 / 60)
_BAD = -12.0

#: Labels of alphabets in which letters beyond ASCII stand alone among ASCII letters.
_LATIN = frozenset(
    "cp1250 cp1252 cp1254 cp1257 iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-9 iso8859-10 "
    "iso8859-13 iso8859-14 iso8859-15 iso8859-16 mac-roman".split()
)


def decode(body: bytes, content_type: str | None = None, encoding: str | None = None) -> str:
    """Text of an HTML body, without its byte order mark; what has no meaning becomes U+FFFD.

    :param content_type: the header of that name.
    :param encoding: what somebody said outright; only a byte order mark goes before it.
    """
    name, mark = read_bom(body)
    if name is not None and mark is not None:
        return to_unicode(body[len(mark) :], name)
    told = _usable(encoding and resolve_encoding(encoding))
    return to_unicode(body, told or encoding_of(body, content_type))


def encoding_of(body: bytes, content_type: str | None = None) -> str:
    """The codec that makes most of a body without a byte order mark.

    :param content_type: the header of that name.
    """
    if wide := _utf16(body):
        return wide
    labels = [
        label
        for label in (http_content_type_encoding(content_type), html_body_declared_encoding(body))
        if label and _usable(label)
    ]
    if body.isascii():
        return labels[0] if labels else "utf-8"
    if _is_utf8(body):
        return "utf-8"
    return _likeliest(body, [label for label in labels if label != "utf-8"])


def _usable(name: str | None) -> str | None:
    """The codec's name if it is one of text and reads ASCII as ASCII."""
    try:
        return name if name and _PROBE.decode(name, "replace") == _PROBE.decode() else None
    except (LookupError, UnicodeError):
        return None


def _utf16(body: bytes) -> str | None:
    return next((name for name, start in _UTF16.items() if start.match(body)), None)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        bad = text.count("\ufffd")
        good = len(text) - len(body.translate(None, _HIGH_BYTES)) - bad
        return good >= _GOOD_TO_BAD * bad
    return True


def _likeliest(body: bytes, labels: list[str]) -> str:
    """The encoding under which the body's words are likeliest, labels in order of their weight."""
    sample = _sample(body)
    scores = {name: model(sample) for name, model in _models().items()}
    best = max(scores, key=scores.__getitem__)
    leads = zip(labels, (_LABEL, _LABEL / 2), strict=False)
    for label, lead in (*leads, (_DEFAULT, _DEFAULT_LEAD)):
        if _score_of(label, sample) + lead >= scores[best]:
            return label
    return best if best != _UNKNOWN else _guessed(sample)


def _sample(body: bytes) -> bytes:
    """Distinct words with high bytes, parted by blanks."""
    words: dict[bytes, None] = {}
    size = 0
    for match in _HIGH_WORD.finditer(body):
        words[match[0]] = None
        size += len(match[0])
        if size > _SAMPLE_BYTES:
            break
    return b" ".join(words)[:_SAMPLE_BYTES]


def _score_of(label: str, sample: bytes) -> float:
    """The same for a label; an alphabet that is not modelled is taken for any alphabet."""
    if label in _models():
        return _models()[label](sample)
    return _latin(sample) if label in _LATIN else _any_alphabet(sample)


def _guessed(sample: bytes) -> str:
    """For an alphabet that is not modelled."""
    best = from_bytes(sample).best()
    return best.encoding if best else _DEFAULT


def _rows(codec: str, first: int, last: int, start: int = 0xA1) -> str:
    """The two-byte characters whose first byte lies between these."""
    return "".join(
        bytes((lead, trail)).decode(codec, "ignore")
        for lead in range(first, last + 1)
        for trail in range(start, 0xFF)
    )


def _double_byte(codec: str, shares: Mapping[str, float], rare: tuple[float, int]) -> Model:
    """The model of an encoding of which one character takes two bytes.

    :param shares: for each class of characters, how much of a text is of it.
    :param rare: the same for all other characters, and how many these are.
    """
    logs = np.full(0x10000, math.log(rare[0] / rare[1]))
    for characters, share in shares.items():
        codes = [code for code in set(map(ord, characters)) if 0x80 <= code < 0x10000]
        logs[codes] = math.log(share / len(codes))
    logs[:0x80] = _ASCII
    logs[0x80:0xA0] = logs[0xE000:0xF900] = logs[0xFFFD] = _BAD

    def score(sample: bytes) -> float:
        units = sample.decode(codec, "replace").encode("utf-16-le", "replace")
        return float(logs[np.frombuffer(units, "<u2")].sum())

    return score


def _gb18030() -> Model:
    common, signs = _rows("gb2312", 0xB0, 0xD7), _rows("gb2312", 0xA1, 0xA3)
    return _double_byte("gb18030", {common: 0.82, signs: 0.1}, (0.08, 20_000))


def _big5() -> Model:
    common, signs = _rows("big5", 0xA4, 0xC6, 0x40), _rows("big5", 0xA1, 0xA3, 0x40)
    return _double_byte("big5hkscs", {common: 0.86, signs: 0.1}, (0.04, 12_000))


def _japanese(codec: str) -> Model:
    hiragana, katakana = _rows("euc_jp", 0xA4, 0xA4), _rows("euc_jp", 0xA5, 0xA5)
    common, signs = _rows("euc_jp", 0xB0, 0xCF), _rows("euc_jp", 0xA1, 0xA3)
    shares = {hiragana: 0.45, katakana: 0.12, common: 0.3, signs: 0.1}
    return _double_byte(codec, shares, (0.03, 8_000))


def _korean() -> Model:
    syllables, signs = _rows("euc_kr", 0xB0, 0xC8), _rows("euc_kr", 0xA1, 0xA3)
    return _double_byte("cp949", {syllables: 0.88, signs: 0.09}, (0.03, 14_000))


def _single_byte(
    within: Mapping[range, float],
    first: Mapping[range, float],
    others: float,
    ascii_after: float,
) -> Model:
    """The model of an encoding of which one character takes one byte.

    :param within: for ranges of bytes, how much of a text behind a high byte is of it.
    :param first: the same behind an ASCII character.
    :param others: probability of each other high byte.
    :param ascii_after: probability of each ASCII character behind a high byte.
    """
    logs = np.full((2, 0x100), math.log(others))
    for row, shares in enumerate((first, within)):
        for span, share in shares.items():
            logs[row, span] = math.log(share / len(span))
    logs[:, :0x80] = _ASCII
    logs[1, :0x80] = math.log(ascii_after)
    logs[:, ord(" ")] = _ASCII

    def score(sample: bytes) -> float:
        codes = np.frombuffer(sample, np.uint8)
        after_high = np.concatenate(([0], codes[:-1] >> 7))
        return float(logs[after_high, codes].sum())

    return score


_UPPER, _LOWER = range(0xC0, 0xE0), range(0xE0, 0x100)
_SIGNS, _CONTROLS = range(0xA0, 0xC0), range(0x80, 0xA0)

#: Letters beyond ASCII stand alone, signs may stand in rows.
_latin = _single_byte(
    within={_SIGNS: 0.2, _CONTROLS: 0.1, _UPPER: 0.03, _LOWER: 0.03},
    first={_LOWER: 0.5, _UPPER: 0.1, _SIGNS: 0.2, _CONTROLS: 0.2},
    others=1e-5,
    ascii_after=1 / 40,
)
_cp1251 = _single_byte(
    within={_LOWER: 0.88, _UPPER: 0.1},
    first={_LOWER: 0.4, _UPPER: 0.4},
    others=2e-4,
    ascii_after=1e-3,
)
_koi8_r = _single_byte(
    within={_UPPER: 0.88, _LOWER: 0.1},
    first={_UPPER: 0.4, _LOWER: 0.4},
    others=2e-4,
    ascii_after=1e-3,
)
_any_alphabet = _single_byte(
    within={range(0x80, 0x100): 1.0},
    first={range(0x80, 0x100): 1.0},
    others=1e-3,
    ascii_after=1e-3,
)

#: Not a codec: an alphabet that is not modelled. It has to be likelier than all others by so much,
#: as a logarithm.
_UNKNOWN = "unknown"
_UNKNOWN_LEAD = 20.0


@cache
def _models() -> dict[str, Model]:
    """The commonest encodings first; of equals the first is taken."""
    return {
        "cp1252": _latin,
        "gb18030": _gb18030(),
        "big5hkscs": _big5(),
        "cp932": _japanese("cp932"),
        "euc_jp": _japanese("euc_jp"),
        "cp949": _korean(),
        "cp1251": _cp1251,
        "koi8-r": _koi8_r,
        _UNKNOWN: lambda sample: _any_alphabet(sample) - _UNKNOWN_LEAD,
    }
