"""Decodes pages by their declared encoding if the bytes support it, else by the likeliest one.

Declared encodings (labels) are often wrong, above all on Chinese pages: a server's default header,
a template's meta element, a converted site. So a label is only a strong hint; the encoding that
makes the bytes most likely wins. The model of an encoding is coarse and needs no table: the
standards themselves separate common characters from rare ones (level 1 of GB 2312, of Big5 and of
JIS X 0208, the syllables of KS X 1001), and texts consist of common ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product

import numpy as np
from charset_normalizer import from_bytes
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

#: Returns the logarithm of the probability of words in an encoding.
Model = Callable[[bytes], float]

#: From the first high byte of a word to its end. Markup and white space are never the second byte
#: of a character.
_HIGH_WORD = re.compile(rb"[\x80-\xff][^\x00-\x20\"&';<>]*")
_SAMPLE_BYTES = 2**16

#: A body is UTF-8 if it has at least so many times as many valid sequences as invalid ones. Other
#: encodings seldom make a valid one, and a truncated body or a stray byte does not matter.
_VALID_TO_INVALID = 4

#: What stands for invalid bytes of UTF-8 in a text until they are decoded.
_ESCAPED = "\udc80-\udcff"
#: The beginning or end of a character that was cut off: beside others that are not ASCII, or at the
#: end of the body. A letter of another encoding stands beside ASCII or letters of its own.
_PIECE = "(?:[\udcc2-\udcf4][\udc80-\udcbf]{0,2}|[\udc80-\udcbf]{1,3})"
_CUT_OFF = re.compile(
    rf"(?<=[^\0-\x7f{_ESCAPED}]){_PIECE}(?![{_ESCAPED}])|"
    rf"(?<![{_ESCAPED}]){_PIECE}(?=[^\0-\x7f{_ESCAPED}]|\Z)"
)
#: The others as browsers read windows-1252.
_OF_WINDOWS_1252 = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte)
    for byte in range(0x80, 0x100)
}

#: Prior log-likelihood of the first label over other encodings; a later label gets half of it.
#: Two or three characters are enough evidence against it.
_LABEL_LEAD = 10.0
#: The same for the default of browsers.
_DEFAULT, _DEFAULT_LEAD = "cp1252", 3.0

#: Beginning of a page in UTF-16 without a byte order mark. The repetition is bounded because the
#: memory of an unbounded one grows with the input.
_UTF16 = {
    "utf-16-le": re.compile(rb"(?:[\t\n\r ]\0){0,9999}<\0[!?a-zA-Z]\0"),
    "utf-16-be": re.compile(rb"(?:\0[\t\n\r ]){0,9999}\0<\0[!?a-zA-Z]"),
}

#: Decodes to something else by codecs that are no text encodings, or none that pages use.
_PROBE = b"<p>+ADw-\\u0041-"

_HIGH_BYTES = bytes(range(0x80, 0x100))

#: Logarithm of the probability of an ASCII character within a word of a legacy encoding, and of a
#: byte that is invalid in the encoding.
_ASCII = math.log(1 / 60)
_INVALID = -12.0

#: Labels of encodings whose non-ASCII letters mostly stand alone among ASCII letters.
_LATIN = frozenset(
    "cp1250 cp1252 cp1254 cp1257 iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-9 iso8859-10 "
    "iso8859-13 iso8859-14 iso8859-15 iso8859-16 mac-roman".split()
)


def decode(body: bytes, content_type: str | None = None, encoding: str | None = None) -> str:
    """Decode an HTML body, without its byte order mark; invalid bytes become U+FFFD.

    In a page of UTF-8, those of a field in another encoding, such as an old database's, are read as
    windows-1252, so that different names stay different.

    :param content_type: the Content-Type header.
    :param encoding: given explicitly; only a byte order mark overrides it.
    """
    name, mark = read_bom(body)
    if name is not None and mark is not None:
        return _decoded(body[len(mark) :], name)
    explicit = _usable(encoding and resolve_encoding(encoding))
    return _decoded(body, explicit or encoding_of(body, content_type))


def _decoded(body: bytes, name: str) -> str:
    if name != "utf-8":
        return to_unicode(body, name)
    try:
        return body.decode()
    except UnicodeDecodeError:
        text = _CUT_OFF.sub("\ufffd", body.decode("utf-8", "surrogateescape"))
        return text.translate(_OF_WINDOWS_1252)


def encoding_of(body: bytes, content_type: str | None = None) -> str:
    """Return the likeliest codec of a body without a byte order mark.

    :param content_type: the Content-Type header.
    """
    for name, start in _UTF16.items():
        if start.match(body):
            return name
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
    """Return the codec's name if it is a text encoding that extends ASCII, else ``None``."""
    try:
        return name if name and _PROBE.decode(name, "replace") == _PROBE.decode() else None
    except (LookupError, UnicodeError):
        return None


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        invalid = text.count("\ufffd")
        valid = len(text) - len(body.translate(None, _HIGH_BYTES)) - invalid
        return valid >= _VALID_TO_INVALID * invalid
    return True


def _likeliest(body: bytes, labels: list[str]) -> str:
    """Return the encoding under which the body's words are likeliest.

    :param labels: in order of precedence.
    """
    sample = _sample(body)
    scores = {name: model(sample) for name, model in _models().items()}
    best = max(scores, key=scores.__getitem__)
    leads = zip(labels, (_LABEL_LEAD, _LABEL_LEAD / 2), strict=False)
    for label, lead in (*leads, (_DEFAULT, _DEFAULT_LEAD)):
        if label not in scores:
            scores[label] = (_latin if label in _LATIN else _any_alphabet)(sample)
        if scores[label] + lead >= scores[best]:
            return label
    if best != _UNKNOWN:
        return best
    guess = from_bytes(sample).best()
    return guess.encoding if guess else _DEFAULT


def _sample(body: bytes) -> bytes:
    """Return the distinct words with high bytes, separated by blanks."""
    words: dict[bytes, None] = {}
    size = 0
    for match in _HIGH_WORD.finditer(body):
        words[match[0]] = None
        size += len(match[0])
        if size > _SAMPLE_BYTES:
            break
    return b" ".join(words)[:_SAMPLE_BYTES]


def _double_byte(codec: str) -> Model:
    """Return the model of a double-byte encoding."""
    charset, shares, others = _DOUBLE_BYTE[codec]
    logs = np.full(0x10000, math.log(others))
    for (first, last), share in shares.items():
        pairs = map(bytes, product(range(first, last + 1), range(0x40, 0xFF)))
        characters = set().union(*(pair.decode(charset, "ignore") for pair in pairs))
        codes = [code for code in map(ord, characters) if 0x80 <= code < 0x10000]
        logs[codes] = math.log(share / len(codes))
    logs[:0x80] = _ASCII
    logs[0x80:0xA0] = logs[0xE000:0xF900] = logs[0xFFFD] = _INVALID

    def score(sample: bytes) -> float:
        units = sample.decode(codec, "replace").encode("utf-16-le", "replace")
        return float(logs[np.frombuffer(units, "<u2")].sum())

    return score


#: For cp932 and EUC-JP: hiragana, katakana, common Kanji and signs.
_JAPANESE = {(0xA4, 0xA4): 0.45, (0xA5, 0xA5): 0.12, (0xB0, 0xCF): 0.3, (0xA1, 0xA3): 0.1}
#: By codec: the character set that separates common characters from rare ones, for ranges of its
#: lead bytes the share of these characters in a text, and the probability of each other character.
_DOUBLE_BYTE: dict[str, tuple[str, dict[tuple[int, int], float], float]] = {
    "gb18030": ("gb2312", {(0xB0, 0xD7): 0.82, (0xA1, 0xA3): 0.1}, 0.08 / 20_000),
    "big5hkscs": ("big5", {(0xA4, 0xC6): 0.86, (0xA1, 0xA3): 0.1}, 0.04 / 12_000),
    "cp932": ("euc_jp", _JAPANESE, 0.03 / 8_000),
    "euc_jp": ("euc_jp", _JAPANESE, 0.03 / 8_000),
    "cp949": ("euc_kr", {(0xB0, 0xC8): 0.88, (0xA1, 0xA3): 0.09}, 0.03 / 14_000),
}


def _single_byte(
    within: Mapping[range, float],
    first: Mapping[range, float],
    others: float,
    ascii_after: float,
) -> Model:
    """Return the model of a single-byte encoding.

    :param within: for ranges of bytes, their share of the characters after a high byte.
    :param first: the same after an ASCII character.
    :param others: probability of each other high byte.
    :param ascii_after: probability of each ASCII character after a high byte.
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


_HIGH, _CONTROLS, _SIGNS = range(0x80, 0x100), range(0x80, 0xA0), range(0xA0, 0xC0)
_UPPER, _LOWER = range(0xC0, 0xE0), range(0xE0, 0x100)

#: Letters beyond ASCII stand alone, signs may follow each other.
_latin = _single_byte(
    within={_SIGNS: 0.2, _CONTROLS: 0.1, _UPPER: 0.03, _LOWER: 0.03},
    first={_LOWER: 0.5, _UPPER: 0.1, _SIGNS: 0.2, _CONTROLS: 0.2},
    others=1e-5,
    ascii_after=1 / 40,
)
_any_alphabet = _single_byte({_HIGH: 1.0}, {_HIGH: 1.0}, others=1e-3, ascii_after=1e-3)

#: Not a codec: any alphabet without a model, which charset-normalizer then guesses. It wins only if
#: its log-likelihood is ahead of all others by the lead.
_UNKNOWN = "unknown"
_UNKNOWN_LEAD = 20.0


@cache
def _models() -> dict[str, Model]:
    """Return the models by codec, common ones first: the first of equally likely ones wins."""
    return {
        "cp1252": _latin,
        **{codec: _double_byte(codec) for codec in _DOUBLE_BYTE},
        **{
            codec: _single_byte({lower: 0.88, upper: 0.1}, {lower: 0.4, upper: 0.4}, 2e-4, 1e-3)
            # In KOI8-R, lower case comes first.
            for codec, upper, lower in (("cp1251", _UPPER, _LOWER), ("koi8-r", _LOWER, _UPPER))
        },
        _UNKNOWN: lambda sample: _any_alphabet(sample) - _UNKNOWN_LEAD,
    }
